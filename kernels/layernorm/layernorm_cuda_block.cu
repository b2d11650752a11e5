/* SPDX-License-Identifier: MIT */
/*
 * A block a row, for rows of up to 16384 elements: 16 of them in the registers of every thread,
 * 128 to 1024 threads. Each warp adds up by shuffles and leaves its part in shared memory; every
 * thread sums those. Two barriers a row, one for the mean, one for the variance.
 *
 *   row      | thread 0 | thread 1 | ... | thread 127 | thread 0 | ...          16 bytes each
 *            |  warp 0: sum --> shared[0] |  warp 1: sum --> shared[1] | ...
 *   barrier  mean = sum of shared / width
 *            |  squares of x - mean --> shared, again
 *   barrier  y = (x - mean) / sqrt(variance + eps) gain + bias                  from registers
 *
 *   width     <= 2048    <= 4096    <= 8192    <= 16384
 *   threads      128        256        512        1024
 *
 * Limit: the bandwidth of a copy (x read once, y written once; the residual form reads and writes
 * two). While one block waits at a barrier the others of its SM read: at 45 to 54 registers a
 * thread an SM holds 1024 to 1280 of them, each with 64 bytes (float; bf16: 32) under way.
 */
#include "kernels/layernorm/layernorm_cuda_part.h"

enum { ELEMENTS = 16 }; /* of a thread */

template <int WARPS> struct layernorm_cuda_shared {
    float sums[WARPS], squares[WARPS];
};

template <class S, class T, int VEC, int THREADS>
__global__ void __launch_bounds__(THREADS) layernorm_cuda_block_kernel(struct layernorm_cuda a)
{
    constexpr int warps = THREADS / CUDA_WARP;
    auto &shared = cuda_shared<layernorm_cuda_shared<warps>>();
    layernorm_part<S, T, VEC, ELEMENTS / VEC, THREADS> part(a, blockIdx.x, (int)threadIdx.x);

    float mean = cuda_block_sum<warps>(part.sum(), shared.sums) / (float)a.width;
    float squares = cuda_block_sum<warps>(part.squares(mean), shared.squares);
    part.store(a, mean, rsqrtf(squares / (float)a.width + (float)LAYERNORM_EPS));
}

template <class S, class T, int VEC, int THREADS>
static void enqueue(const struct layernorm_cuda *l, cudaStream_t stream)
{
    cuda_launch<layernorm_cuda_block_kernel<S, T, VEC, THREADS>>(
        (unsigned)l->rows, THREADS, sizeof(layernorm_cuda_shared<THREADS / CUDA_WARP>), stream, *l);
}

void layernorm_rows_cuda_block(const struct layernorm_cuda *l, cudaStream_t stream)
{
    layernorm_cuda_typed(l, [&]<class S, class T, int VEC>() {
        if (l->width <= 128 * ELEMENTS)
            enqueue<S, T, VEC, 128>(l, stream);
        else if (l->width <= 256 * ELEMENTS)
            enqueue<S, T, VEC, 256>(l, stream);
        else if (l->width <= 512 * ELEMENTS)
            enqueue<S, T, VEC, 512>(l, stream);
        else
            enqueue<S, T, VEC, 1024>(l, stream);
    });
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    (void)d;
    return layernorm_cuda_reaches(k, s, LAYERNORM_CUDA_BLOCK_MAX, why);
}

static void launch(const struct call *call)
{
    struct layernorm_cuda l = layernorm_cuda_of(call);

    layernorm_rows_cuda_block(&l, device_cuda_stream(call->device));
}

extern "C" const struct variant layernorm_cuda_block[];
const struct variant layernorm_cuda_block[] = {
    LAYERNORM_CUDA_VARIANTS("cuda_block",
                            "a block a row, kept in registers; limit: copy bandwidth"),
    {},
};
