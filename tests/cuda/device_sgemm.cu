/* SPDX-License-Identifier: MIT */
/*
 * gemm/cuda_simt on a device: tiles against a plain kernel, of odd and even sizes, with slices of K
 * and without; then all of them in turn beside cuBLAS in full float32. Needs nothing of the harness
 * but headers:
 *
 *     nvcc -std=c++20 -O3 -I. -Iharness -gencode=arch=compute_90a,code=sm_90a -cudart static \
 *         -o device_sgemm tests/cuda/device_sgemm.cu kernels/cuda/tma.cu -ldl
 *     device_sgemm [--check] [--time]
 *
 * The first three tiles are those that the variant chooses from; others differ from one of them in
 * one thing each: how a warp copies, or the thread's tile. Ends with 1 where anything was wrong,
 * with 3 after an error of CUDA, with 77 without a device of sm_90.
 */
#include "kernels/gemm/gemm_cuda_simt.h"

#include "device_products.h"

/* ---- Candidates ---- */

struct candidate {
    const char *name;
    int bm, bn, depth, blocks; /* of an SM */
    void (*enqueue)(const gemm_args<float> &, bool, cudaStream_t);
};

template <class TILE> static struct candidate candidate_of(const char *name)
{
    return {
        name, TILE::bm, TILE::bn, TILE::depth, TILE::resident, simt_enqueue_tile<TILE, false>
    };
}

static const struct candidate candidates[] = {
    candidate_of<simt_tile<128, 128, 8, 8, 2>>("128x128"),
    candidate_of<simt_tile<64, 64, 8, 4, 4, 16, 4, 16>>("64x64"),
    candidate_of<simt_tile<32, 64, 4, 4, 6, 16, 4, 16>>("32x64"),
    candidate_of<simt_tile<128, 128, 8, 8, 2, 16, 4, 16>>("128x128-16-lanes"),
    candidate_of<simt_tile<64, 64, 8, 4, 4>>("64x64-8-lanes"),
    candidate_of<simt_tile<32, 64, 4, 4, 6>>("32x64-8-lanes"),
    candidate_of<simt_tile<128, 128, 8, 16, 2>>("8x16-a-thread"),
};

constexpr int SPLIT_MOST = 8;
static unsigned *tickets;
static float *partials;

static void workspace_open(void)
{
    size_t elements = (size_t)2 * (size_t)sms * GEMM_CUDA_SPLIT_ELEMENTS;

    must(cudaMalloc(&tickets, (size_t)sms * 8), "tickets");
    must(cudaMemset(tickets, 0, (size_t)sms * 8), "tickets");
    must(cudaMalloc(&partials, elements * 4), "partial sums");
}

/* The slices that fill the device, as far as the workspace allows. */
static int slices_of(const struct candidate *t, const struct gemm_cuda *g)
{
    int tiles = cuda_pieces((int)g->m, t->bm) * cuda_pieces((int)g->n, t->bn);
    int room = std::min(t->blocks, GEMM_CUDA_SPLIT_BLOCKS_PER_SM) * sms / tiles;
    int steps = cuda_pieces((int)g->k, t->depth);

    if (t->bm * t->bn > GEMM_CUDA_SPLIT_ELEMENTS)
        return 1;
    return std::clamp(room, 1, std::min(SPLIT_MOST, std::max(1, steps / 4)));
}

static void run(const struct candidate *t, const struct gemm_cuda *g, int split,
                cudaStream_t stream)
{
    gemm_args<float> a = {};

    a.m = (int)g->m, a.n = (int)g->n, a.k = (int)g->k;
    a.x = static_cast<const float *>(g->x), a.ldx = g->ldx;
    a.w = static_cast<const float *>(g->w), a.ldw = g->ldw;
    a.bias = static_cast<const float *>(g->bias);
    a.residual = g->residual, a.ldr = g->ldr;
    a.y = g->y, a.ldy = g->ldy;
    a.gelu = g->activation == GEMM_GELU;
    a.vectors = g->n % 4 == 0 && g->ldy % 4 == 0 && g->ldr % 4 == 0;
    a.early = g->early;
    a.tiles_m = cuda_pieces(a.m, t->bm), a.tiles_n = cuda_pieces(a.n, t->bn), a.split = split;
    a.tickets = tickets, a.partials = partials;
    t->enqueue(a, true, stream);
}

/* ---- Checks ---- */

/* The same in float64, by a thread an output; out[m, n] dense. */
__global__ void plain(const struct gemm_cuda g, float *out)
{
    int64_t col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    double sum = 0;

    if (row >= g.m || col >= g.n)
        return;
    for (int64_t p = 0; p < g.k; p++)
        sum += (double)static_cast<const float *>(g.x)[row * g.ldx + p] *
               (double)static_cast<const float *>(g.w)[col * g.ldw + p];
    if (g.bias != nullptr)
        sum += (double)static_cast<const float *>(g.bias)[col];
    if (g.residual != nullptr)
        sum += (double)static_cast<const float *>(g.residual)[row * g.ldr + col];
    out[row * g.n + col] = (float)sum;
}

/* Alone, or with bias and residual. */
static bool check_one(const struct candidate *t, const struct size_case &c, bool more, int split,
                      double *worst)
{
    size_t ld = (size_t)(c.n + c.gap), m = (size_t)c.m, n = (size_t)c.n, k = (size_t)c.k;
    both<float> x(m * k), w(n * k), bias(n), other(m * ld), y(m * ld), want(m * n);
    struct gemm_cuda g = {};
    char what[120];

    fill<float>(x.device, m * k, 1, 1);
    fill<float>(w.device, n * k, 1 / sqrtf((float)c.k), 2);
    fill<float>(bias.device, n, 1, 3);
    fill<float>(other.device, m * ld, 1, 4);
    g.m = c.m, g.n = c.n, g.k = c.k;
    g.x = x.device, g.ldx = g.ldw = c.k, g.w = w.device;
    g.y = y.device, g.ldy = g.ldr = (int64_t)ld;
    if (more)
        g.bias = bias.device, g.residual = other.device;
    plain<<<dim3((unsigned)(c.n + 31) / 32, (unsigned)(c.m + 7) / 8), dim3(32, 8)>>>(g,
                                                                                     want.device);
    finish("reference");
    run(t, &g, split, nullptr);
    snprintf(what, sizeof(what), "%s %dx%dx%d+%d%s in %d slices", t->name, c.m, c.n, c.k, c.gap,
             more ? " with bias and residual" : "", split);
    finish(what);
    y.down(), want.down();
    return compare<float>(y.host, want.host, c, what, worst, 3e-5, 1e-6);
}

static void check(void)
{
    static const struct size_case sizes[] = { { 256, 128, 16, 0 },   { 512, 256, 512, 0 },
                                              { 1, 1, 1, 0 },        { 96, 250, 64, 6 },
                                              { 77, 131, 41, 0 },    { 300, 520, 1024, 4 },
                                              { 513, 257, 135, 2 },  { 255, 1003, 77, 0 },
                                              { 131, 1030, 264, 3 }, { 1030, 388, 100, 0 } };

    for (const struct candidate &t : candidates) {
        int right = 0, all = 0;
        double worst = 0;
        for (const struct size_case &c : sizes)
            for (int more = 0; more < 2; more++) {
                struct gemm_cuda g = {};
                g.m = c.m, g.n = c.n, g.k = c.k;
                right += check_one(&t, c, more, 1, &worst), all++;
                if (slices_of(&t, &g) > 1)
                    right += check_one(&t, c, more, slices_of(&t, &g), &worst), all++;
            }
        printf("%-20s %d of %d products %s, at most %.1e off\n", t.name, right, all,
               right == all ? "ok" : "WRONG", worst);
        fflush(stdout);
        probes_wrong += all - right;
    }
}

/* ---- Timing ---- */

static void shape_times(const struct vendor *v, cudaStream_t stream, const struct size_case &c)
{
    struct operands o(c, false);
    std::vector<recording> all;
    std::vector<std::string> names;
    double flop = 2.0 * c.m * c.n * c.k, s = 4e-6 + flop / 5e13;

    for (int pedantic = 0; v->there && pedantic < 2; pedantic++) {
        cublasComputeType_t how = pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
        all.emplace_back(o, stream, s,
                         [&](const struct gemm_cuda *g) { vendor_run(v, g, CUDA_R_32F, how); });
        names.push_back(pedantic ? "cuBLAS-pedantic" : "cuBLAS");
    }
    for (const struct candidate &t : candidates) {
        int split = slices_of(&t, &o.sets[0]);
        if (t.bm * t.bn < 128 * 128 && flop > 3e10)
            continue;
        all.emplace_back(o, stream, s,
                         [&](const struct gemm_cuda *g) { run(&t, g, split, stream); });
        names.emplace_back(t.name);
        if (split > 1)
            names.back().append("/").append(std::to_string(split));
    }
    for (int i = 0; i < 16; i++) /* the first time does not count */
        for (recording &r : all)
            r.replay(stream, i > 0);
    printf("fp32 %dx%dx%d: us, TFLOP/s, ratio to cuBLAS\n", c.m, c.n, c.k);
    for (size_t i = 0; i < all.size(); i++) {
        double us = all[i].median();
        printf("    %-22s %9.2f %6.1f %6.3f\n", names[i].c_str(), us, 1e-6 * flop / us,
               all[0].median() / us);
        cudaGraphExecDestroy(all[i].graph);
    }
    fflush(stdout);
}

/* About two seconds, so that clocks and power have settled. */
static void warm_up(cudaStream_t stream)
{
    const struct size_case c = { 4096, 4096, 4096, 0 };
    struct operands o(c, false);

    for (int i = 0; i < 600; i++)
        run(&candidates[0], &o.sets[0], 1, stream);
    finish("warm-up");
}

static void times(cudaStream_t stream)
{
    static const struct size_case sizes[] = { { 1024, 1024, 1024, 0 }, { 2048, 2048, 2048, 0 },
                                              { 4096, 4096, 4096, 0 }, { 8192, 8192, 8192, 0 },
                                              { 256, 3072, 768, 0 },   { 1024, 3072, 768, 0 },
                                              { 8192, 3072, 768, 0 } };
    struct vendor v = vendor_open(stream);

    warm_up(stream);
    for (const struct size_case &c : sizes)
        shape_times(&v, stream, c);
}

int main(int argc, char **argv)
{
    cudaDeviceProp p;
    cudaStream_t stream;
    bool checks = true, timing = true;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            timing = false;
        else if (strcmp(argv[i], "--time") == 0)
            checks = false;
    }
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 9 || p.minor != 0) {
        printf("no device of compute capability 9.0\n");
        return 77;
    }
    sms = p.multiProcessorCount, shared_limit = p.sharedMemPerBlockOptin;
    printf("%s, %d SMs, %zu bytes of shared memory a block\n", p.name, sms, shared_limit);
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    workspace_open();
    if (checks)
        check();
    if (timing)
        times(stream);
    printf(probes_wrong ? "%d WRONG\n" : "all right\n", probes_wrong);
    return probes_wrong > 0;
}
