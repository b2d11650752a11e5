/* SPDX-License-Identifier: MIT */
/*
 * A block computes 32 x 32 outputs from tiles of x and w that it puts into shared memory, 32 deep.
 *
 *              k                       n
 *          +---+---+---+         +---------+
 *     m 32 |   | > |   |     k 32|  v      |       16 x 16 threads, each 2 x 2 outputs:
 *          +---+---+---+         +---------+       rows y, y + 16, columns x, x + 16
 *
 * Every element that comes from memory serves 32 multiply-adds, and every element that comes from
 * shared memory serves 2.
 *
 * Limit: the loads from shared memory: 4 for 4 multiply-adds, at a quarter of the rate of those, so
 * near a quarter of the FMA peak; and two barriers a tile with nothing to do in between.
 */
#include "kernels/gemm/gemm_cuda_launch.h"

static const int tile = 32, side = 16; /* side: threads, in both directions */

/* One more column: then the 32 elements of a column lie on 32 banks. */
struct tiled_shared {
    float x[tile][tile + 1]; /* [m][k] */
    float w[tile][tile + 1]; /* [n][k] */
};

static __device__ float tiled_element(const float *from, int64_t ld, int row, int rows, int col,
                                      int cols)
{
    return row < rows && col < cols ? from[row * ld + col] : 0;
}

/* Threads along a row of memory: of x and w along k, of w in gemm/nn along n. */
template <bool NN>
static __device__ void tiled_copy(struct tiled_shared &s, const gemm_args<float> &g, int row,
                                  int col, int k)
{
    int thread = (int)threadIdx.x, along = thread % tile;

    for (int i = thread / tile; i < tile; i += side * side / tile) {
        s.x[i][along] = tiled_element(g.x, g.ldx, row + i, g.m, k + along, g.k);
        if (NN)
            s.w[along][i] = tiled_element(g.w, g.ldw, k + i, g.k, col + along, g.n);
        else
            s.w[i][along] = tiled_element(g.w, g.ldw, col + i, g.n, k + along, g.k);
    }
}

static __device__ void tiled_step(const struct tiled_shared &s, int y, int x, float (&sums)[2][2])
{
#pragma unroll 8
    for (int p = 0; p < tile; p++) {
        float left[2] = { s.x[y][p], s.x[y + side][p] };
        float right[2] = { s.w[x][p], s.w[x + side][p] };
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
    }
}

template <bool NN>
__global__ void __launch_bounds__(side *side) gemm_tiled_kernel(const gemm_args<float> g)
{
    struct tiled_shared &s = cuda_shared<struct tiled_shared>();
    int row = (int)blockIdx.x % g.tiles_m * tile, col = (int)blockIdx.x / g.tiles_m * tile;
    int y = (int)threadIdx.x / side, x = (int)threadIdx.x % side;
    float sums[2][2] = {};

    for (int k = 0; k < g.k; k += tile) {
        tiled_copy<NN>(s, g, row, col, k);
        __syncthreads();
        tiled_step(s, y, x, sums);
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            int at_row = row + y + i * side, at_col = col + x + j * side;
            float sum[1] = { sums[i][j] };
            if (at_row < g.m && at_col < g.n)
                gemm_finish<float>(g, at_row, at_col, sum);
        }
}

template <bool NN> static void tiled_enqueue(const struct gemm_cuda *g, cudaStream_t stream)
{
    struct gemm_cuda_plan plan = { 0, (int)cuda_pieces<int64_t>(g->m, tile),
                                   (int)cuda_pieces<int64_t>(g->n, tile), 1 };

    cuda_launch<gemm_tiled_kernel<NN>>((unsigned)plan.tiles_m * (unsigned)plan.tiles_n,
                                       (unsigned)(side * side), sizeof(struct tiled_shared), stream,
                                       gemm_args_of<float>(g, &plan));
}

void gemm_linear_cuda_tiled(const struct gemm_cuda *g, cudaStream_t stream)
{
    tiled_enqueue<false>(g, stream);
}

void gemm_nn_cuda_tiled(const struct gemm_cuda *g, cudaStream_t stream)
{
    tiled_enqueue<true>(g, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return gemm_cuda_supports(k, s, d, 0, why);
}

static void linear_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    gemm_linear_cuda_tiled(&g, device_cuda_stream(call->device));
}

static void nn_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_nn_of(call);

    gemm_nn_cuda_tiled(&g, device_cuda_stream(call->device));
}

#define LINEAR(of)                                                                                 \
    GEMM_CUDA_VARIANT(                                                                             \
        of, "cuda_tiled", "32x32 tiles in shared memory, 2x2 a thread; limit: shared memory",      \
        DTYPE_FP32, MATH_FP32, VARIANT_PLAIN, supports, nullptr, linear_launch, nullptr),

extern "C" const struct variant gemm_cuda_tiled[];
const struct variant gemm_cuda_tiled[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* and gemm/nn */
    GEMM_CUDA_VARIANT(gemm_nn_kernel, "cuda_tiled",
                      "32x32 tiles in shared memory, 2x2 a thread; limit: shared memory",
                      DTYPE_FP32, MATH_FP32, VARIANT_PLAIN, supports, nullptr, nn_launch, nullptr),
    {},
};
