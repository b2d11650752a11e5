/* SPDX-License-Identifier: MIT */
/* The residual stream of gpt_cuda_decode.h, whole in each warp, and its norm. For .cu files. */
#ifndef HARNESS_MODELS_GPT_CUDA_DECODE_NORM_H
#define HARNESS_MODELS_GPT_CUDA_DECODE_NORM_H

#include "models/gpt_cuda_decode_stream.h"

template <class P>
__device__ __forceinline__ void gpt_decode_take_x(gpt_decode_row<P> &x, const float *from)
{
    x.origin = from[0];
#pragma unroll
    for (int i = 0; i < P::spans; i++) {
        const float4 *f = reinterpret_cast<const float4 *>(from + 8 * (x.has(i) ? x.piece(i) : 0));
        float4 a = f[0], b = f[1];
        float v[8] = { a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w };
#pragma unroll
        for (int j = 0; j < 8; j++)
            x.at[i][j] = x.has(i) ? v[j] : 0.0f;
    }
}

template <class P>
__device__ __forceinline__ void gpt_decode_embed(gpt_decode_row<P> &x, const bf16 *token,
                                                 const bf16 *position)
{
#pragma unroll
    for (int i = 0; i < P::spans; i++) {
        cuda_vector<bf16, 8> t = {}, p = {};
        if (x.has(i)) {
            t = cuda_load_constant<8>(token + 8 * x.piece(i));
            p = cuda_load_constant<8>(position + 8 * x.piece(i));
        }
#pragma unroll
        for (int j = 0; j < 8; j++)
            x.at[i][j] = cuda_float(t.at[j]) + cuda_float(p.at[j]);
    }
    x.origin = __shfl_sync(0xffffffffu, x.at[0][0], 0);
}

/* Here, and not where the compiler would rather have them: behind the wait. */
__device__ __forceinline__ void gpt_decode_unpack(uint4 from, float (&to)[8])
{
    uint32_t word[4] = { from.x, from.y, from.z, from.w };

#pragma unroll
    for (int i = 0; i < 4; i++) {
        to[2 * i] = cuda_bf16_low(word[i]);
        to[2 * i + 1] = cuda_bf16_high(word[i]);
#ifdef __CUDA_ARCH__
        asm volatile("" : "+f"(to[2 * i]), "+f"(to[2 * i + 1]));
#endif
    }
}

/* Gain and bias, asked for before x is there, and made floats while the warp waits for it. */
template <class P> struct gpt_decode_norm {
    uint4 raw[2][P::spans];
    float gain[P::spans][8], shift[P::spans][8];

    __device__ __forceinline__ void fetch(const bf16 *from)
    {
#pragma unroll
        for (int i = 0; i < P::spans; i++) {
            int at = gpt_decode_row<P>::has(i) ? gpt_decode_row<P>::piece(i) : 0;
            raw[0][i] = __ldg(reinterpret_cast<const uint4 *>(from) + at);
            raw[1][i] = __ldg(reinterpret_cast<const uint4 *>(from + P::width) + at);
        }
    }
    __device__ __forceinline__ void unpack(void)
    {
#pragma unroll
        for (int i = 0; i < P::spans; i++) {
            gpt_decode_unpack(raw[0][i], gain[i]);
            gpt_decode_unpack(raw[1][i], shift[i]);
        }
    }

    /* Both sums in one pass, of distances from an element of the row: within some deviations of
     * the mean, so that E[d^2] - E[d]^2 loses a few bits at most. */
    __device__ __forceinline__ void apply(gpt_decode_row<P> &x) const
    {
        float sum[2] = {}, squares[2] = {};

#pragma unroll
        for (int i = 0; i < P::spans; i++)
#pragma unroll
            for (int j = 0; j < 8; j++) {
                x.at[i][j] = x.has(i) ? x.at[i][j] - x.origin : 0.0f;
                sum[j % 2] += x.at[i][j];
                squares[j % 2] = fmaf(x.at[i][j], x.at[i][j], squares[j % 2]);
            }
        constexpr float each = 1.0f / P::width;
        float mean = cuda_warp_sum(sum[0] + sum[1]) * each;
        float square = cuda_warp_sum(squares[0] + squares[1]) * each;
        float scale = rsqrtf(fmaxf(square - mean * mean, 0.0f) + 1e-5f), back = -mean * scale;
#pragma unroll
        for (int i = 0; i < P::spans; i++)
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float y = fmaf(fmaf(x.at[i][j], scale, back), gain[i][j], shift[i][j]);
                x.at[i][j] = x.has(i) ? y : 0.0f;
            }
    }
};

#endif
