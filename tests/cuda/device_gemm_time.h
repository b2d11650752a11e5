/* SPDX-License-Identifier: MIT */
/* The times of device_gemm.cu: recorded launches over operands that are not in L2, in turn with
 * those of NVIDIA's library, whose results they are compared with. */
#ifndef HARNESS_TESTS_CUDA_DEVICE_GEMM_TIME_H
#define HARNESS_TESTS_CUDA_DEVICE_GEMM_TIME_H

#include "device_gemm_vendor.h"

#include <memory>

/* ---- Results ---- */

/* Outputs that are further off than two ways to round and to add up k products explain. */
template <class OUT>
__global__ void count_off(const OUT *y, const OUT *want, size_t nr, float absolute, unsigned *off)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < nr;
         i += (size_t)gridDim.x * blockDim.x) {
        float a = cuda_float(y[i]), b = cuda_float(want[i]);
        if (!(fabsf(a - b) <= absolute + fabsf(b) * (1.0f / 64)))
            atomicAdd(off, 1u);
    }
}

/* What the first one to come has made of the first operands, for the others. */
struct expectation {
    void *want = nullptr;
    unsigned *off = nullptr;

    expectation(void) = default;
    expectation(const expectation &) = delete;
    expectation &operator=(const expectation &) = delete;
    ~expectation(void)
    {
        cudaFree(want), cudaFree(off);
    }
    /* Whether y is as it was the first time. */
    bool met(const struct gemm_cuda *g)
    {
        size_t nr = (size_t)(g->m * g->n), size = g->out == DTYPE_BF16 ? 2 : 4;
        float absolute = 0.01f * sqrtf((float)g->k);
        unsigned wrong = 0;

        if (want == nullptr) {
            must(cudaMalloc(&want, nr * size), "expectation");
            must(cudaMalloc(&off, sizeof(*off)), "expectation");
            must(cudaMemcpy(want, g->y, nr * size, cudaMemcpyDeviceToDevice), "expectation");
        }
        cudaMemset(off, 0, sizeof(*off));
        if (size == 2)
            count_off<<<1024, 256>>>(static_cast<const bf16 *>(g->y),
                                     static_cast<const bf16 *>(want), nr, absolute, off);
        else
            count_off<<<1024, 256>>>(static_cast<const float *>(g->y),
                                     static_cast<const float *>(want), nr, absolute, off);
        must(cudaMemcpy(&wrong, off, sizeof(wrong), cudaMemcpyDeviceToHost), "comparison");
        return wrong == 0;
    }
};

/* ---- Launches ---- */

/* A recording whose result was compared first. */
struct timed : recording {
    const char *name;
    bool right;

    template <class RUN>
    timed(const char *who, const struct operands &o, struct expectation *e, cudaStream_t stream,
          double seconds, RUN run)
        : recording(o, stream, seconds, run), name(who), right(is_right(o, e, run))
    {
    }
    template <class RUN>
    static bool is_right(const struct operands &o, struct expectation *e, RUN run)
    {
        const struct gemm_cuda *g = &o.sets[0];

        must(cudaMemset(g->y, 0xff, (size_t)(g->m * g->n) * (g->out == DTYPE_BF16 ? 2 : 4)),
             "poison");
        finish("poison"); /* on another stream */
        run(g);
        finish("result");
        return e->met(g);
    }
};

/* What is asked for. */
struct wishes {
    bool bf, tf, tiles, suite;
};

/* The tile that is chosen, and others where `tiles`. */
static void record_tiles(std::vector<timed> *all, const struct operands &o, struct expectation *e,
                         cudaStream_t stream, const struct size_case &c, bool bf, bool tiles)
{
    const struct gemm_cuda *first = &o.sets[0];
    const struct wgmma_plan chosen = wgmma_plan_of(first, depth_of(bf));
    double least = wgmma_cost(first, &wgmma_shapes[chosen.tile], &chosen, depth_of(bf));
    double seconds = 4e-6 + 2.0 * c.m * c.n * c.k / (bf ? 6e14 : 3e14);

    for (const struct candidate &t : all_candidates()) {
        struct wgmma_plan p = wgmma_plan_for(first, t.shape, depth_of(bf));
        bool other = tiles && wgmma_cost(first, t.shape, &p, depth_of(bf)) < 1.5 * least;
        if (!can(t, c, bf) || (t.shape != &wgmma_shapes[chosen.tile] && !other))
            continue;
        all->emplace_back(t.shape->name, o, e, stream, seconds,
                          [&](const struct gemm_cuda *g) { (bf ? t.bf : t.tf)(g, &p, stream); });
    }
}

static void print_times(std::vector<timed> *all, const struct size_case &c, bool bf, enum way way,
                        const char *chosen)
{
    double flop = 2.0 * c.m * c.n * c.k;

    printf("%s %dx%dx%d %s, %s:", bf ? "bf16" : "tf32", c.m, c.n, c.k, way_names[way], chosen);
    for (timed &r : *all) {
        double us = r.median();
        printf(" %s %.2f us (%.1f TFLOP/s, ratio %.3f%s)", r.name, us, 1e-6 * flop / us,
               (*all)[0].median() / us, r.right ? "" : ", WRONG");
        probes_wrong += !r.right;
        cudaGraphExecDestroy(r.graph);
    }
    printf("\n");
    fflush(stdout);
}

/* Microseconds of what a launch chooses beside the vendor's, and of other tiles, in turn. */
static void shape_times(const struct vendors *v, const struct size_case &c, bool bf, enum way way,
                        bool tiles)
{
    struct operands o(c, bf, way);
    struct expectation e;
    std::vector<timed> all;
    double seconds = 4e-6 + 2.0 * c.m * c.n * c.k / (bf ? 6e14 : 3e14);
    std::unique_ptr<vendor_fused> fused;

    if (way != PLAIN)
        fused = std::make_unique<vendor_fused>(&v->lt, &o.sets[0], bf);
    if (way == PLAIN && v->blas.there)
        all.emplace_back("cuBLAS", o, &e, v->lt.stream, seconds,
                         [&](const struct gemm_cuda *g) { vendor_product(&v->blas, g, bf); });
    else if (fused && fused->there && fused->run(&o.sets[0]))
        all.emplace_back("cuBLASLt", o, &e, v->lt.stream, seconds,
                         [&](const struct gemm_cuda *g) { fused->run(g); });
    record_tiles(&all, o, &e, v->lt.stream, c, bf, tiles);
    for (int i = 0; i < 11; i++) /* the first time does not count */
        for (timed &r : all)
            r.replay(v->lt.stream, i > 0);
    print_times(&all, c, bf, way, wgmma_shapes[wgmma_plan_of(&o.sets[0], depth_of(bf)).tile].name);
}

static void warm_up(const struct vendors *v)
{
    const struct size_case c = { 4096, 4096, 4096, 0 };
    struct operands o(c, true, PLAIN);
    struct wgmma_plan p = wgmma_plan_for(&o.sets[0], &wgmma_shapes[0], 64);

    for (int i = 0; i < 400; i++)
        if (v->blas.there)
            vendor_product(&v->blas, &o.sets[0], true);
        else
            all_candidates()[0].bf(&o.sets[0], &p, v->lt.stream);
    finish("warm-up");
}

/* ---- Sizes ---- */

/* The suite's and a GPT's layers, with all that may follow. */
static void suite_times(const struct vendors *v, bool bf, bool tiles)
{
    static const struct size_case sizes[] = {
        { 1024, 1024, 1024, 0 }, { 4096, 4096, 4096, 0 }, { 8192, 8192, 8192, 0 },
        { 8192, 2304, 768, 0 },  { 8192, 3072, 768, 0 },  { 8192, 768, 3072, 0 },
        { 8192, 768, 768, 0 },   { 1024, 2304, 768, 0 },  { 1024, 3072, 768, 0 },
        { 1024, 768, 3072, 0 },  { 1024, 768, 768, 0 },   { 256, 2304, 768, 0 },
        { 256, 3072, 768, 0 },   { 256, 768, 3072, 0 },   { 256, 768, 768, 0 },
        { 256, 768, 256, 0 },    { 256, 1024, 256, 0 },   { 256, 256, 1024, 0 },
    };

    for (const struct size_case &c : sizes)
        for (enum way way : { PLAIN, BIAS, BIAS_GELU, BIAS_RESIDUAL })
            shape_times(v, c, bf, way, tiles);
}

/* What test_cuda_choice.cc has the times of. */
static void choice_times(const struct vendors *v, bool bf, bool tiles)
{
    static const int squares[] = { 1024, 2048, 4096, 8192 }, tokens[] = { 256, 1024, 8192 };
    static const int layers[][2] = { { 768, 256 },  { 256, 256 },  { 1024, 256 }, { 256, 1024 },
                                     { 2304, 768 }, { 3072, 768 }, { 768, 3072 }, { 768, 768 } };

    for (int n : squares)
        shape_times(v, { n, n, n, 0 }, bf, PLAIN, tiles);
    for (int m : tokens)
        for (auto &layer : layers)
            shape_times(v, { m, layer[0], layer[1], 0 }, bf, PLAIN, tiles);
    shape_times(v, { 256, 50257, 256, 0 }, bf, PLAIN, tiles);
    shape_times(v, { 1024, 50257, 768, 0 }, bf, PLAIN, tiles);
}

static void times(cudaStream_t stream, const struct wishes &w)
{
    const struct vendors v = vendors_open(stream);

    warm_up(&v);
    for (int bf = 1; bf >= 0; bf--) {
        if (bf ? !w.bf : !w.tf)
            continue;
        suite_times(&v, bf, w.tiles);
        if (!w.suite)
            choice_times(&v, bf, w.tiles);
    }
}

#endif
