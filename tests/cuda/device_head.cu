/* SPDX-License-Identifier: MIT */
/*
 * The head of a GPT (gemm/cuda_wgmma_head_bf16) on a device: every depth against a plain kernel,
 * with rows that start anywhere and poison around them; then its times at 50257 logits beside those
 * of a memset of as many bytes.
 *
 *     nvcc -std=c++20 -O3 -I. -Iharness -gencode=arch=compute_90a,code=sm_90a -cudart static \
 *         -o device_head tests/cuda/device_head.cu kernels/cuda/tma.cu
 *     device_head [--check] [--time]
 *
 * With -DCUDA_WATCHDOG a wait without end becomes an error that names it. Ends with 1 where
 * anything was wrong, with 3 after an error of CUDA, with 77 without such a device.
 */
#include "kernels/gemm/gemm_cuda_wgmma_head.h"

#include "device_memory.h"
#include "device_noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <vector>

static int sms, wrong_cases;

/* ---- Reference ---- */

/* want[m, n], dense. */
__global__ void plain_kernel(const bf16 *x, const bf16 *w, float *want, int m, int n, int k)
{
    int col = (int)(blockIdx.x * 32 + threadIdx.x), row = (int)(blockIdx.y * 8 + threadIdx.y);
    float sum = 0;

    if (row >= m || col >= n)
        return;
    for (int p = 0; p < k; p++)
        sum += cuda_float(x[(int64_t)row * k + p]) * cuda_float(w[(int64_t)col * k + p]);
    want[(int64_t)row * n + col] = sum;
}

struct outcome {
    unsigned long long wrong, touched, first; /* first: row 2^32 + column */
    unsigned rows[16], cols[16];              /* wrong ones by row and column % 16 */
};

/* Elements [0, nr) of a buffer in which y starts at `guard`: y's as wanted, the others poison. */
__global__ void compare_kernel(const uint16_t *buffer, int64_t nr, int64_t guard, int64_t ld,
                               const float *want, int m, int n, struct outcome *o)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < nr;
         i += (int64_t)gridDim.x * blockDim.x) {
        int64_t at = i - guard, row = at < 0 ? -1 : at / ld, col = at - row * ld;
        if (row < 0 || row >= m || col >= n) {
            if (buffer[i] != 0xffff)
                atomicAdd(&o->touched, 1ull);
            continue;
        }
        float got = cuda_float(bf16 { buffer[i] }), w = want[row * n + col];
        if (fabsf(got - w) <= 2e-3f + fabsf(w) / 200)
            continue;
        atomicAdd(&o->wrong, 1ull);
        atomicMin(&o->first, (unsigned long long)row << 32 | (unsigned long long)col);
        atomicAdd(&o->rows[row % 16], 1u);
        atomicAdd(&o->cols[col % 16], 1u);
    }
}

/* ---- Checks ---- */

static const int most_m = 1000, most_n = 50257, guard = 64;

struct bench {
    bf16 *x, *w;
    uint16_t *buffer;
    float *want;
    struct outcome *outcome;
};

static void describe_wrong(const struct bench *b, const struct outcome *o,
                           const struct head_operands &c, int offset)
{
    unsigned row = (unsigned)(o->first >> 32), col = (unsigned)o->first;
    uint16_t got = 0;
    float want = 0;

    if (o->touched)
        printf("    %llu elements around y were written\n", o->touched);
    if (o->wrong == 0)
        return;
    must(
        cudaMemcpy(&got, b->buffer + guard + offset + row * c.ldy + col, 2, cudaMemcpyDeviceToHost),
        "got");
    must(cudaMemcpy(&want, b->want + (int64_t)row * c.n + col, 4, cudaMemcpyDeviceToHost), "want");
    printf("    first at (%u, %u): got %g, want %g; %.3f %% of all\n    by row %% 16:", row, col,
           (double)cuda_float(bf16 { got }), (double)want,
           100.0 * (double)o->wrong / (double)(c.m * c.n));
    for (unsigned r : o->rows)
        printf(" %u", r);
    printf("\n    by column %% 16:");
    for (unsigned r : o->cols)
        printf(" %u", r);
    printf("\n");
}

static bool check_one(const struct bench *b, int m, int n, int k, int offset)
{
    int gap = offset % 4 == 3 ? 5 : 0; /* columns of a wider matrix between the rows */
    struct head_operands c = { b->x, b->w, nullptr, m, n, k, k, k, n + gap, sms };
    int64_t nr = 2 * guard + offset + m * c.ldy;
    struct outcome o = {};

    c.y = reinterpret_cast<bf16 *>(b->buffer + guard + offset);
    o.first = ~0ull;
    must(cudaMemsetAsync(b->buffer, 0xff, (size_t)nr * 2), "poison");
    must(cudaMemcpyAsync(b->outcome, &o, sizeof(o), cudaMemcpyHostToDevice), "outcome");
    must(head_enqueue(c, nullptr), "head");
    compare_kernel<<<1024, 256>>>(b->buffer, nr, guard + offset, c.ldy, b->want, m, n, b->outcome);
    must(cudaGetLastError(), "comparison");
    must(cudaMemcpy(&o, b->outcome, sizeof(o), cudaMemcpyDeviceToHost), "head");
    if (o.wrong == 0 && o.touched == 0)
        return true;
    printf("  WRONG %dx%dx%d, y + %d, pitch %lld\n", m, n, k, offset, (long long)c.ldy);
    describe_wrong(b, &o, c, offset);
    fflush(stdout);
    return false;
}

/* Every number of rows and start of y; the large ones take turns. */
static void check_size(const struct bench *b, int n, int k, int *cases)
{
    static const int rows[] = { 1, 65, 200, 256, 300, 1000 };

    for (int m : rows)
        for (int offset = 0; offset < 8 && wrong_cases < 3; offset++) {
            if (n > 1 && m > 1 && (offset + m / 64 + k / 16) % 4 != 0)
                continue;
            wrong_cases += !check_one(b, m, n, k, offset);
            ++*cases;
        }
}

static void check_depth(const struct bench *b, int k)
{
    static const int columns[] = { 1, 7, 255, 256, 1003, 4099, most_n };
    int cases = 0, before = wrong_cases;

    fill_kernel<<<1024, 256>>>(b->x, (size_t)most_m * (size_t)k, 1, 1);
    fill_kernel<<<1024, 256>>>(b->w, (size_t)most_n * (size_t)k, 1 / sqrtf((float)k), 2);
    for (int n : columns) {
        plain_kernel<<<dim3((unsigned)(n + 31) / 32, (most_m + 7) / 8), dim3(32, 8)>>>(
            b->x, b->w, b->want, most_m, n, k);
        finish("reference");
        check_size(b, n, k, &cases);
    }
    printf("K %3d: %s, %d cases\n", k, wrong_cases > before ? "WRONG" : "ok", cases);
    fflush(stdout);
}

static void check(void)
{
    static const int depths[] = { 8, 48, 64, 128, 192, 256 };
    struct bench b;

    must(cudaMalloc(&b.x, sizeof(bf16) * most_m * 256), "x");
    must(cudaMalloc(&b.w, sizeof(bf16) * most_n * 256), "w");
    must(cudaMalloc(&b.buffer, 2 * ((size_t)most_m * (most_n + 5) + 4 * guard)), "y");
    must(cudaMalloc(&b.want, sizeof(float) * (size_t)most_m * most_n), "want");
    must(cudaMalloc(&b.outcome, sizeof(struct outcome)), "outcome");
    for (int k : depths)
        check_depth(&b, k);
    cudaFree(b.x), cudaFree(b.w), cudaFree(b.buffer), cudaFree(b.want), cudaFree(b.outcome);
}

/* ---- Times ---- */

/* Operands several times over: none is in L2 when its turn comes again. */
struct sets {
    std::vector<struct head_operands> all;

    sets(int m, int k)
    {
        size_t y = (size_t)m * most_n, x = (size_t)m * (size_t)k, w = (size_t)most_n * (size_t)k;
        size_t nr = (size_t)(160 << 20) / (2 * (x + y + w)) + 2;

        for (size_t i = 0; i < nr; i++) {
            bf16 *px, *pw, *py;
            must(cudaMalloc(&px, 2 * x), "x");
            must(cudaMalloc(&pw, 2 * w), "w");
            must(cudaMalloc(&py, 2 * y), "y");
            fill_kernel<<<1024, 256>>>(px, x, 1, i);
            fill_kernel<<<1024, 256>>>(pw, w, 1, i + 100);
            all.push_back({ px, pw, py, m, most_n, k, k, k, most_n, sms });
        }
        finish("operands");
    }
    ~sets(void)
    {
        for (const struct head_operands &o : all) {
            cudaFree(const_cast<bf16 *>(o.x));
            cudaFree(const_cast<bf16 *>(o.w));
            cudaFree(o.y);
        }
    }
};

/* Launches recorded once and replayed. */
struct recording {
    const char *name;
    cudaGraphExec_t graph;
    int launches;
    std::vector<float> us;

    template <class RUN>
    recording(const char *called, const struct sets &s, cudaStream_t stream, RUN run) : name(called)
    {
        cudaGraph_t made;

        launches = (int)s.all.size() * 4;
        run(s.all[0]);
        finish(called);
        must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        for (int i = 0; i < launches; i++)
            run(s.all[(size_t)i % s.all.size()]);
        must(cudaStreamEndCapture(stream, &made), "end of capture");
        must(cudaGraphInstantiate(&graph, made, 0), "graph");
        cudaGraphDestroy(made);
    }
    void replay(cudaStream_t stream, bool keep)
    {
        static cudaEvent_t from, to;
        float ms;

        if (from == nullptr)
            cudaEventCreate(&from), cudaEventCreate(&to);
        cudaEventRecord(from, stream);
        must(cudaGraphLaunch(graph, stream), name);
        cudaEventRecord(to, stream);
        must(cudaEventSynchronize(to), name);
        cudaEventElapsedTime(&ms, from, to);
        if (keep)
            us.push_back(ms * 1e3f / (float)launches);
    }
};

static double median(struct recording *r)
{
    std::sort(r->us.begin(), r->us.end());
    cudaGraphExecDestroy(r->graph);
    return (double)r->us[r->us.size() / 2];
}

static void time_size(cudaStream_t stream, int m, int k)
{
    struct sets s(m, k);
    double bytes = 2.0 * ((double)m * most_n + (double)most_n * k + (double)m * k);
    recording memset_y("memset", s, stream, [&](const struct head_operands &o) {
        must(cudaMemsetAsync(o.y, 0, (size_t)(o.m * o.n) * 2, stream), "memset");
    });
    recording head("head", s, stream,
                   [&](const struct head_operands &o) { must(head_enqueue(o, stream), "head"); });

    for (int i = -60; i < 21; i++) { /* the first ones for the clock */
        memset_y.replay(stream, i >= 0);
        head.replay(stream, i >= 0);
    }
    double us = median(&head);
    printf("M %4d, K %3d: %6.2f us, %.2f TB/s; memset of y %6.2f us\n", m, k, us, bytes / us / 1e6,
           median(&memset_y));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const int depths[] = { 48, 64, 128, 192, 256 };
    cudaDeviceProp p;
    cudaStream_t stream;
    bool checks = true, timing = true;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            timing = false;
        else if (strcmp(argv[i], "--time") == 0)
            checks = false;
    }
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess || p.major != 9) {
        printf("no device of compute capability 9.0\n");
        return 77;
    }
    sms = p.multiProcessorCount;
    printf("%s, %d SMs\n", p.name, sms);
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    if (checks)
        check();
    for (int m = 256; timing && m <= 1024; m *= 4)
        for (int k : depths)
            time_size(stream, m, k);
    printf(wrong_cases ? "%d WRONG\n" : "all right\n", wrong_cases);
    return wrong_cases > 0;
}
