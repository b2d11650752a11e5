/* SPDX-License-Identifier: MIT */
/* The fp32 product on the FMA units (gemm_cuda_simt.h): the tiles there are, and the variants. Few
 * outputs take smaller tiles and slices of K (gemm_cuda_plan.h), up to 8 rows of x
 * gemm_cuda_small.h, which only streams w. */
#include "kernels/gemm/gemm_cuda_simt.h"
#include "kernels/gemm/gemm_cuda_small.h"

using simt_large = simt_tile<128, 128, 8, 8, 2>;
/* 16 lanes a row touch half as many lines of memory a copy, and small tiles have more to copy for
 * what they multiply. The registers that the compiler takes have fewer conflicts with it, too (81
 * instead of 87 of 512 multiply-adds, 83 instead of 97 of 256); but in the large tile 218 instead
 * of 184 of 1024. */
using simt_medium = simt_tile<64, 64, 8, 4, 4, 16, 4, 16>;
using simt_low = simt_tile<32, 64, 4, 4, 6, 16, 4, 16>;

/* 128 multiply-adds a cycle at best, and what of that is reached: by a full SM, and by one that has
 * a single block (one that has half of its blocks takes hardly less for a step, so that this is
 * little). From times on an H200, see tests/kernels/test_cuda_choice.cc; but what a single large
 * block reaches is a guess. */
template <class TILE> static constexpr struct gemm_cuda_shape simt_shape(double full, double single)
{
    constexpr double cycles = TILE::bm * TILE::bn * TILE::depth / 128.0;

    return gemm_cuda_shape_of<TILE>(TILE::depth, cycles / full, cycles / single);
}

const struct gemm_cuda_shape gemm_cuda_simt_tiles[] = {
    simt_shape<simt_large>(0.725, 0.5),
    simt_shape<simt_medium>(0.61, 0.213),
    simt_shape<simt_low>(0.465, 0.1),
};

template <bool NN> static void simt_enqueue(const struct gemm_cuda *g, cudaStream_t stream)
{
    static void (*const tiles[])(const gemm_args<float> &, bool, cudaStream_t) = {
        simt_enqueue_tile<simt_large, NN>,
        simt_enqueue_tile<simt_medium, NN>,
        simt_enqueue_tile<simt_low, NN>,
    };
    /* Rows that are turned on their way are taken as they come. */
    bool wide = !NN || (cuda_aligned(static_cast<const float *>(g->w), g->ldw, 4) && g->n % 4 == 0);
    struct gemm_cuda_plan plan = gemm_cuda_plan_of(g, gemm_cuda_simt_tiles, GEMM_SIMT_TILES, wide);

    tiles[plan.tile](gemm_args_of<float>(g, &plan), wide, stream);
}

void gemm_linear_cuda_simt(const struct gemm_cuda *g, cudaStream_t stream)
{
    if (g->m <= GEMM_SMALL_ROWS)
        gemm_small_enqueue<float, false>(g, stream);
    else
        simt_enqueue<false>(g, stream);
}

void gemm_nn_cuda_simt(const struct gemm_cuda *g, cudaStream_t stream)
{
    simt_enqueue<true>(g, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return gemm_cuda_supports(k, s, d, simt_medium::shared, why);
}

static void linear_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    gemm_linear_cuda_simt(&g, device_cuda_stream(call->device));
}

static void nn_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_nn_of(call);

    gemm_nn_cuda_simt(&g, device_cuda_stream(call->device));
}

#define LINEAR(of)                                                                                 \
    GEMM_CUDA_VARIANT(                                                                             \
        of, "cuda_simt", "8x8 a thread, cp.async stages, slices of K; limit: the FMA units",       \
        DTYPE_FP32, MATH_FP32, 0, supports, gemm_cuda_prepare, linear_launch, gemm_cuda_release),

extern "C" const struct variant gemm_cuda_simt[];
const struct variant gemm_cuda_simt[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* and gemm/nn */
    GEMM_CUDA_VARIANT(gemm_nn_kernel, "cuda_simt",
                      "8x8 a thread, cp.async stages, slices of K; limit: the FMA units",
                      DTYPE_FP32, MATH_FP32, 0, supports, gemm_cuda_prepare, nn_launch,
                      gemm_cuda_release),
    {},
};
