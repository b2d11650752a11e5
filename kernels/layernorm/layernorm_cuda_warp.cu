/* SPDX-License-Identifier: MIT */
/*
 * A warp a row, for rows of up to 1024 elements; below 256 a half or a quarter of a warp, so that
 * every lane has its two vectors. No shared memory, no barrier: lanes add up by shuffles, and warps
 * never wait for each other. The row stays in registers for the mean, the variance and the result.
 *
 *   warp   | lane 0 | lane 1 | ... | lane 31 | lane 0 | ...             16 bytes each
 *   row    |=================================|=================|
 *                mean --> (x - mean)^2 --> y                    all from registers
 *
 *   widths       <= 64       <= 128       <= 256       <= 512      <= 1024        (float)
 *   lanes a row   8           16            32           32           32
 *   vectors each  2            2             2            4            8
 *
 * Limit: the bandwidth of a copy (x read once, y written once; the residual form reads and writes
 * two). At 48 registers a lane (two vectors) to 96 (eight) an SM holds 40 to 20 warps, so that 40
 * to 80 KiB are under way; 4.3 TB/s over 132 SMs at 0.7 us of latency ask for 23 KiB.
 */
#include "kernels/layernorm/layernorm_cuda_part.h"

enum { THREADS = 4 * CUDA_WARP };

template <class S, class T, int VEC, int PIECES, int LANES>
__global__ void __launch_bounds__(THREADS) layernorm_cuda_warp_kernel(struct layernorm_cuda a)
{
    int thread = (int)threadIdx.x;
    int64_t row = (int64_t)blockIdx.x * (THREADS / LANES) + thread / LANES;
    layernorm_part<S, T, VEC, PIECES, LANES> part(a, row, thread % LANES);

    float mean = cuda_warp_sum<LANES>(part.sum()) / (float)a.width;
    float variance = cuda_warp_sum<LANES>(part.squares(mean)) / (float)a.width;
    part.store(a, mean, rsqrtf(variance + (float)LAYERNORM_EPS));
}

template <class S, class T, int VEC, int PIECES, int LANES>
static void enqueue(const struct layernorm_cuda *l, cudaStream_t stream)
{
    unsigned blocks = (unsigned)cuda_pieces<int64_t>(l->rows, THREADS / LANES);

    cuda_launch<layernorm_cuda_warp_kernel<S, T, VEC, PIECES, LANES>>(blocks, THREADS, 0, stream,
                                                                      *l);
}

void layernorm_rows_cuda_warp(const struct layernorm_cuda *l, cudaStream_t stream)
{
    layernorm_cuda_typed(l, [&]<class S, class T, int VEC>() {
        /* Vectors of a lane at the widths of a warp; single elements come in eights. */
        constexpr int few = VEC == 1 ? 8 : 2, reach = CUDA_WARP * VEC * few;

        if (l->width <= reach / 4)
            enqueue<S, T, VEC, few, 8>(l, stream);
        else if (l->width <= reach / 2)
            enqueue<S, T, VEC, few, 16>(l, stream);
        else if (l->width <= reach)
            enqueue<S, T, VEC, few, 32>(l, stream);
        else if (l->width <= 2 * reach)
            enqueue<S, T, VEC, 2 * few, 32>(l, stream);
        else if constexpr (2 * reach < LAYERNORM_CUDA_WARP_MAX)
            enqueue<S, T, VEC, 4 * few, 32>(l, stream);
    });
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    (void)d;
    return layernorm_cuda_reaches(k, s, LAYERNORM_CUDA_WARP_MAX, why);
}

static void launch(const struct call *call)
{
    struct layernorm_cuda l = layernorm_cuda_of(call);

    layernorm_rows_cuda_warp(&l, device_cuda_stream(call->device));
}

extern "C" const struct variant layernorm_cuda_warp[];
const struct variant layernorm_cuda_warp[] = {
    LAYERNORM_CUDA_VARIANTS("cuda_warp", "a warp a row, kept in registers; limit: copy bandwidth"),
    {},
};
