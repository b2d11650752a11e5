/* SPDX-License-Identifier: MIT */
/*
 * The rate of wgmma, compiled for sm_90a alone: a block is one warpgroup, which multiplies the same
 * random tiles again and again. Two blocks an SM, so that one's products run while the other waits
 * for its own. A product of 64 x 256 with 32 bytes of K (8 of tf32, 16 of bf16, 32 of e4m3) reads
 * 10 KiB of shared memory, 80 clocks' worth, and keeps the tensor cores busy for 128.
 */
#include "machine/roof_loops_cuda.h"

#include "kernels/cuda/fp8.h"
#include "kernels/cuda/wgmma_fp8.h"

constexpr int THREADS = 128;
constexpr int BLOCKS_A_SM = 2;
constexpr int STEPS =
    WGMMA_ROW_BYTES / WGMMA_K_BYTES; /* products that a row of shared memory holds */

struct tiles {
    uint32_t a[WGMMA_M * WGMMA_ROW_BYTES / 4], b[WGMMA_N * WGMMA_ROW_BYTES / 4];
};

/* BYTES: of an element; 1 e4m3, 2 bf16, 4 tf32. */
template <int BYTES> __device__ __forceinline__ void fill(uint32_t *to, int nr, const float *values)
{
    for (int i = (int)threadIdx.x; i < nr; i += THREADS) {
        const float *v = values + 4 / BYTES * i % CUDA_LOOP_VALUES;
        to[i] = BYTES == 1   ? cuda_e4m3x4(v[0], v[1], v[2], v[3])
                : BYTES == 2 ? cuda_bf16x2(v[0], v[1])
                             : cuda_tf32(v[0]);
    }
}

template <int BYTES>
__device__ __forceinline__ void multiply(float (&d)[WGMMA_SUMS], uint64_t a, uint64_t b)
{
    if constexpr (BYTES == 1)
        wgmma_e4m3<WGMMA_N>(d, a, b, 1);
    else if constexpr (BYTES == 2)
        wgmma_bf16<WGMMA_N>(d, a, b, 1);
    else
        wgmma_tf32<WGMMA_N>(d, a, b, 1);
}

template <int BYTES>
__global__ __launch_bounds__(THREADS) void cuda_loop_wgmma_kernel(const float *values, int rounds,
                                                                  uint32_t *sink)
{
    struct tiles &shared = cuda_shared<struct tiles>();
    float d[WGMMA_SUMS] = {};

    fill<BYTES>(shared.a, sizeof(shared.a) / 4, values);
    fill<BYTES>(shared.b, sizeof(shared.b) / 4, values);
    wgmma_publish();
    __syncthreads();
    uint32_t a = cuda_shared_address(shared.a), b = cuda_shared_address(shared.b);
    for (int round = 0; round < rounds; round++) {
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            multiply<BYTES>(d, wgmma_matrix(a + (uint32_t)(k * WGMMA_K_BYTES)),
                            wgmma_matrix(b + (uint32_t)(k * WGMMA_K_BYTES)));
        wgmma_commit();
        wgmma_wait<0>();
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < WGMMA_SUMS; i++)
        sum += d[i];
    if (cuda_float_bits(sum) == 0x7fedcba9u) /* never: a NaN of another kind */
        *sink = 1;
}

template <int BYTES> static void launch(const struct call *call)
{
    const struct cuda_loop *l = static_cast<const struct cuda_loop *>(call->state);
    int sms = device_cuda_properties(call->device)->multiProcessorCount;

    cuda_launch<cuda_loop_wgmma_kernel<BYTES>>(
        dim3((unsigned)(sms * BLOCKS_A_SM)), dim3(THREADS), sizeof(struct tiles),
        device_cuda_stream(call->device), l->values, l->rounds, l->sink);
}

void cuda_loop_wgmma_tf32(const struct call *call)
{
    launch<4>(call);
}

void cuda_loop_wgmma_bf16(const struct call *call)
{
    launch<2>(call);
}

void cuda_loop_wgmma_fp8(const struct call *call)
{
    launch<1>(call);
}

double cuda_loop_wgmma_flops(const cudaDeviceProp *p, int rounds, int bytes)
{
    double one = 2.0 * WGMMA_M * WGMMA_N * WGMMA_K_BYTES / bytes;

    return one * STEPS * rounds * BLOCKS_A_SM * p->multiProcessorCount;
}
