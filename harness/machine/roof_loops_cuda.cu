/* SPDX-License-Identifier: MIT */
/*
 * Bytes: every thread has UNROLL loads of 16 bytes in flight, neighbouring threads read
 * neighbouring pieces, 2048 threads an SM: 128 KiB in flight an SM, several times what latency x
 * bandwidth asks for.
 * Arithmetic: enough independent chains a warp to hide the latency of the units, 16 warps an SM.
 * What is computed goes nowhere, behind a comparison that is never true.
 */
#include "machine/roof_loops_cuda.h"

#include "kernels/cuda/mma.h"
#include "kernels/cuda/reduce.h"

constexpr int THREADS = 256;
constexpr int BLOCKS_A_SM = 8; /* of the loops over bytes */
constexpr int UNROLL = 4;
constexpr int FMA_BLOCKS_A_SM = 4;
constexpr int FMA_CHAINS = 8;
constexpr int FMA_UNROLL = 16;
constexpr int MMA_BLOCKS_A_SM = 2;
constexpr int MMA_CHAINS = 8;
constexpr int LINE = 128;
constexpr int TOUCH_STEPS = 32;

static const struct cuda_loop *loop_of(const struct call *call)
{
    return static_cast<const struct cuda_loop *>(call->state);
}

static unsigned blocks(const struct call *call, int a_sm)
{
    return (unsigned)(device_cuda_properties(call->device)->multiProcessorCount * a_sm);
}

__global__ void cuda_loop_empty_kernel(void)
{
}

void cuda_loop_empty(const struct call *call)
{
    cuda_launch<cuda_loop_empty_kernel>(dim3(1), dim3(CUDA_WARP), 0,
                                        device_cuda_stream(call->device));
}

__device__ __forceinline__ uint32_t mix(uint32_t sum, const uint4 &v)
{
    return sum ^ v.x ^ v.y ^ v.z ^ v.w;
}

/* No sum of what the loops read or compute comes out as this. */
__device__ __forceinline__ void use(uint32_t sum, uint32_t *sink)
{
    if (sum == 0x7fedcba9u)
        *sink = sum;
}

__global__ __launch_bounds__(THREADS) void cuda_loop_read_kernel(const uint4 *from, int64_t nr,
                                                                 int rounds, uint32_t *sink)
{
    int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int64_t stride = (int64_t)gridDim.x * THREADS;
    uint32_t sum = 0;

    for (int round = 0; round < rounds; round++)
        for (int64_t i = first; i < nr; i += UNROLL * stride) {
            uint4 v[UNROLL] = {};
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
                if (i + u * stride < nr)
                    v[u] = __ldcg(from + i + u * stride);
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
                sum = mix(sum, v[u]);
        }
    use(sum, sink);
}

void cuda_loop_read(const struct call *call)
{
    const struct cuda_loop *l = loop_of(call);

    cuda_launch<cuda_loop_read_kernel>(
        dim3(blocks(call, BLOCKS_A_SM)), dim3(THREADS), 0, device_cuda_stream(call->device),
        static_cast<const uint4 *>(l->from), l->bytes / (int64_t)sizeof(uint4), l->rounds, l->sink);
}

__global__ __launch_bounds__(THREADS) void cuda_loop_copy_kernel(const uint4 *from, uint4 *to,
                                                                 int64_t nr)
{
    int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    int64_t stride = (int64_t)gridDim.x * THREADS;

    for (int64_t i = first; i < nr; i += UNROLL * stride) {
        uint4 v[UNROLL] = {};
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            if (i + u * stride < nr)
                v[u] = from[i + u * stride];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            if (i + u * stride < nr)
                to[i + u * stride] = v[u];
    }
}

void cuda_loop_copy(const struct call *call)
{
    const struct cuda_loop *l = loop_of(call);

    cuda_launch<cuda_loop_copy_kernel>(
        dim3(blocks(call, BLOCKS_A_SM)), dim3(THREADS), 0, device_cuda_stream(call->device),
        static_cast<const uint4 *>(l->from), static_cast<uint4 *>(l->to),
        l->bytes / (int64_t)sizeof(uint4));
}

void cuda_loop_memcpy(const struct call *call)
{
    const struct cuda_loop *l = loop_of(call);

    (void)cudaMemcpyAsync(l->to, l->from, (size_t)l->bytes, cudaMemcpyDeviceToDevice,
                          device_cuda_stream(call->device)); /* the device looks at errors */
}

/* A warp reads a line at a time; where the next one lies follows from what was read (zeros). */
__global__ __launch_bounds__(THREADS) void cuda_loop_touch_kernel(const uint32_t *from,
                                                                  int64_t lines, uint32_t *sink)
{
    int64_t warp = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / CUDA_WARP;
    int64_t warps = (int64_t)gridDim.x * THREADS / CUDA_WARP;
    uint32_t read = 0;

    for (int64_t line = warp; line < lines; line += warps)
        read = __ldcg(from + (line + read) * (LINE / (int)sizeof(*from)) + cuda_lane());
    use(read, sink);
}

void cuda_loop_touch(const struct call *call)
{
    const struct cuda_loop *l = loop_of(call);
    int64_t lines = l->bytes / LINE;
    int64_t threads = cuda_pieces<int64_t>(lines, TOUCH_STEPS) * CUDA_WARP;

    cuda_launch<cuda_loop_touch_kernel>(dim3((unsigned)cuda_pieces<int64_t>(threads, THREADS)),
                                        dim3(THREADS), 0, device_cuda_stream(call->device),
                                        static_cast<const uint32_t *>(l->from), lines, l->sink);
}

__global__ __launch_bounds__(THREADS) void cuda_loop_fma_kernel(const float *values, int rounds,
                                                                uint32_t *sink)
{
    float sum[FMA_CHAINS], a = values[threadIdx.x] * 0.01f, b = values[threadIdx.x + THREADS];

#pragma unroll
    for (int i = 0; i < FMA_CHAINS; i++)
        sum[i] = values[(int)threadIdx.x + (i + 2) * THREADS];
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int j = 0; j < FMA_UNROLL; j++)
#pragma unroll
            for (int i = 0; i < FMA_CHAINS; i++)
                sum[i] = fmaf(sum[i], a, b);
    }
#pragma unroll
    for (int i = 1; i < FMA_CHAINS; i++)
        sum[0] += sum[i];
    use(cuda_float_bits(sum[0]), sink);
}

void cuda_loop_fma(const struct call *call)
{
    const struct cuda_loop *l = loop_of(call);

    cuda_launch<cuda_loop_fma_kernel>(dim3(blocks(call, FMA_BLOCKS_A_SM)), dim3(THREADS), 0,
                                      device_cuda_stream(call->device), l->values, l->rounds,
                                      l->sink);
}

double cuda_loop_fma_flops(const cudaDeviceProp *p, int rounds)
{
    return 2.0 * FMA_CHAINS * FMA_UNROLL * rounds * THREADS * FMA_BLOCKS_A_SM *
           p->multiProcessorCount;
}

/* Register `i` of a fragment: two bf16 or one tf32. */
template <bool BF16> __device__ __forceinline__ uint32_t operand(const float *values, int i)
{
    const float *v = values + 2 * ((i * THREADS + (int)threadIdx.x) % (CUDA_LOOP_VALUES / 2));

    return BF16 ? cuda_bf16x2(v[0], v[1]) : cuda_tf32(v[0]);
}

template <bool BF16>
__global__ __launch_bounds__(THREADS) void cuda_loop_mma_kernel(const float *values, int rounds,
                                                                uint32_t *sink)
{
    float c[MMA_CHAINS][4] = {};
    uint32_t a[4], b[MMA_CHAINS][2];

#pragma unroll
    for (int i = 0; i < 4; i++)
        a[i] = operand<BF16>(values, i);
#pragma unroll
    for (int i = 0; i < 2 * MMA_CHAINS; i++)
        b[i / 2][i % 2] = operand<BF16>(values, 4 + i);
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int i = 0; i < MMA_CHAINS; i++) {
            if constexpr (BF16)
                mma_bf16(c[i], a, b[i]);
            else
                mma_tf32(c[i], a, b[i]);
        }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 4 * MMA_CHAINS; i++)
        sum += c[i / 4][i % 4];
    use(cuda_float_bits(sum), sink);
}

template <bool BF16> static void launch_mma(const struct call *call)
{
    const struct cuda_loop *l = loop_of(call);

    cuda_launch<cuda_loop_mma_kernel<BF16>>(dim3(blocks(call, MMA_BLOCKS_A_SM)), dim3(THREADS), 0,
                                            device_cuda_stream(call->device), l->values, l->rounds,
                                            l->sink);
}

void cuda_loop_mma_tf32(const struct call *call)
{
    launch_mma<false>(call);
}

void cuda_loop_mma_bf16(const struct call *call)
{
    launch_mma<true>(call);
}

double cuda_loop_mma_flops(const cudaDeviceProp *p, int rounds, bool bf16)
{
    double one = 2.0 * 16 * 8 * (bf16 ? 16 : 8);

    return one * MMA_CHAINS * rounds * (THREADS / (int)CUDA_WARP) * MMA_BLOCKS_A_SM *
           p->multiProcessorCount;
}
