/* SPDX-License-Identifier: MIT */
/* The residual stream of gpt_cuda_decode.h, whole in each warp, and its norm. For .cu files. */
#ifndef HARNESS_MODELS_GPT_CUDA_DECODE_NORM_H
#define HARNESS_MODELS_GPT_CUDA_DECODE_NORM_H

#include "models/gpt_cuda_decode_stream.h"

template <class P>
__device__ __forceinline__ void gpt_decode_take_x(gpt_decode_row<P> &x, const float *from)
{
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
}

/* Gain and bias, asked for before x is there. */
template <class P> struct gpt_decode_norm {
    uint4 gain[P::spans], shift[P::spans];

    __device__ __forceinline__ void fetch(const bf16 *from)
    {
#pragma unroll
        for (int i = 0; i < P::spans; i++) {
            int at = gpt_decode_row<P>::has(i) ? gpt_decode_row<P>::piece(i) : 0;
            gain[i] = __ldg(reinterpret_cast<const uint4 *>(from) + at);
            shift[i] = __ldg(reinterpret_cast<const uint4 *>(from + P::width) + at);
        }
    }

    /* Both sums in one pass, of distances from an element of the row: within some deviations of
     * the mean, so that E[d^2] - E[d]^2 loses a few bits at most. */
    __device__ __forceinline__ void apply(gpt_decode_row<P> &x) const
    {
        float from = __shfl_sync(0xffffffffu, x.at[0][0], 0), sum = 0.0f, squares = 0.0f;

#pragma unroll
        for (int i = 0; i < P::spans; i++)
#pragma unroll
            for (int j = 0; j < 8; j++) {
                x.at[i][j] = x.has(i) ? x.at[i][j] - from : 0.0f;
                sum += x.at[i][j];
                squares = fmaf(x.at[i][j], x.at[i][j], squares);
            }
        sum = cuda_warp_sum(sum);
        squares = cuda_warp_sum(squares);
        constexpr float each = 1.0f / P::width;
        float mean = sum * each, variance = fmaxf(squares * each - mean * mean, 0.0f);
        float scale = rsqrtf(variance + 1e-5f);
#pragma unroll
        for (int i = 0; i < P::spans; i++)
            scaled(x.at[i], gain[i], shift[i], mean, scale, x.has(i));
    }

  private:
    static __device__ __forceinline__ void scaled(float (&x)[8], uint4 gain, uint4 shift,
                                                  float mean, float scale, bool has)
    {
        uint32_t g[4] = { gain.x, gain.y, gain.z, gain.w };
        uint32_t b[4] = { shift.x, shift.y, shift.z, shift.w };

#pragma unroll
        for (int j = 0; j < 8; j++) {
            float by = j % 2 ? cuda_bf16_high(g[j / 2]) : cuda_bf16_low(g[j / 2]);
            float plus = j % 2 ? cuda_bf16_high(b[j / 2]) : cuda_bf16_low(b[j / 2]);
            x[j] = has ? fmaf((x[j] - mean) * scale, by, plus) : 0.0f;
        }
    }
};

#endif
