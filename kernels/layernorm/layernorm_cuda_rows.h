/* SPDX-License-Identifier: MIT */
/*
 * Rows in registers, as packed as they come: the kernel behind a table of configurations, one for
 * each width, type and form (layernorm_cuda_rows_plan.h). LANES threads share a row, each PIECES
 * vectors of 16 bytes; a warp or a block a row.
 *
 *   row      | thread 0 | thread 1 | ... | thread LANES-1 | thread 0 | ...         16 bytes each
 *   bf16     stays two in a register; unpacked anew for the squares and for the result
 *   mean     each warp by shuffles --> shared --> every thread adds up; bf16 may use the matrix
 *            unit, vectors times ones: one instruction for 8 elements, and four lanes' sums at once
 *   squares  of the differences from the mean, in a second pass
 *
 * What bounds it: bytes under way, which are threads an SM times bytes a thread, so registers; and
 * for bf16 the instructions an element (8 to 9 here), of which 128 an SM are issued each cycle.
 */
#ifndef HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_ROWS_H
#define HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_ROWS_H

#include "kernels/cuda/cache.h"
#include "kernels/cuda/pdl.h"
#include "kernels/cuda/reduce.h"
#include "kernels/layernorm/layernorm_cuda.h"
#include "kernels/layernorm/layernorm_cuda_rows_plan.h"

/* N elements of T as words. */
template <class T, int N> struct layernorm_piece {
    static constexpr int words = N * (int)sizeof(T) / 4, per = N / words;
    uint32_t at[words];

    __device__ __forceinline__ float operator[](int i) const
    {
        if constexpr (sizeof(T) == 4)
            return cuda_bits_float(at[i]);
        else
            return i % 2 ? cuda_bf16_high(at[i / 2]) : cuda_bf16_low(at[i / 2]);
    }

    __device__ __forceinline__ void clear(void)
    {
#pragma unroll
        for (uint32_t &w : at)
            w = 0;
    }

    /* The same by another instruction: the compiler cannot know that it has these floats already,
     * so it does not keep them since then. */
    __device__ __forceinline__ float again(int i) const
    {
#ifdef __CUDA_ARCH__
        if constexpr (sizeof(T) == 2) {
            uint32_t bits;
            if (i % 2)
                asm("prmt.b32 %0, %1, 0, 0x3244;" : "=r"(bits) : "r"(at[i / 2]));
            else
                asm("prmt.b32 %0, %1, 0, 0x1044;" : "=r"(bits) : "r"(at[i / 2]));
            return cuda_bits_float(bits);
        }
#endif
        return (*this)[i];
    }

    /* Once: no line of it stays in L1, where gain and bias live. */
    template <bool ONCE> __device__ __forceinline__ void load(const T *from)
    {
#ifdef __CUDA_ARCH__
        if constexpr (ONCE && words == 4)
            asm volatile("ld.global.L1::no_allocate.L2::256B.v4.b32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(at[0]), "=r"(at[1]), "=r"(at[2]), "=r"(at[3])
                         : "l"(from));
        else if constexpr (words == 4)
            asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(at[0]), "=r"(at[1]), "=r"(at[2]), "=r"(at[3])
                         : "l"(from));
        else
            asm volatile("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(at[0]), "=r"(at[1]) : "l"(from));
#else
        __builtin_memcpy(at, from, sizeof(at));
#endif
    }

    /* Word i; of floats the first alone. */
    __device__ __forceinline__ void set(int i, float first, float second)
    {
        at[i] = per == 1 ? cuda_float_bits(first) : cuda_bf16x2(first, second);
    }

    __device__ __forceinline__ void store(T *to, bool streaming) const
    {
        cuda_vector<T, N> v;

        __builtin_memcpy(&v, at, sizeof(v));
        if (streaming)
            cuda_store_as<true>(to, v);
        else
            cuda_store_as<false>(to, v);
    }
};

/* sums += the sums of a row's four lanes and 8 elements each, in sums[0] and [2]. */
__device__ __forceinline__ void layernorm_matrix_sum(float (&sums)[4], const uint32_t (&x)[4])
{
#ifdef __CUDA_ARCH__
    constexpr uint32_t ones = 0x3f803f80u;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %8}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(ones));
#else
    (void)sums, (void)x;
#endif
}

struct layernorm_rows_arguments {
    layernorm_cuda l;
    float inverse; /* of the width */
    bool streaming;
};

/* S is the type of the stream, T that of gain, bias and y. FULL: the row fills all vectors. */
template <class S, class T, layernorm_rows_config C, int LANES, bool RESIDUAL, bool FULL>
class layernorm_rows_thread
{
    static constexpr int VEC = cuda_wide<S> < cuda_wide<T> ? cuda_wide<S> : cuda_wide<T>;
    static constexpr int P = C.pieces, STEP = LANES * VEC;
    static constexpr int WARPS = LANES / CUDA_WARP;
    static constexpr bool PACKED = sizeof(S) == 2 && !RESIDUAL;
#ifdef CUDA_HOST_LAYER
    static constexpr bool MATRIX = false; /* it has no matrix unit */
#else
    static constexpr bool MATRIX = PACKED && C.matrix && VEC == 8;
#endif
    using piece = layernorm_piece<S, VEC>;
    using weight = layernorm_piece<T, VEC>;

  public:
    struct shared {
        float partial[2][WARPS < 4 ? 4 : WARPS];
    };

    __device__ __forceinline__ layernorm_rows_thread(const layernorm_rows_arguments &a, int row)
        : a_(a.l), inverse_(a.inverse), streaming_(a.streaming),
          lane_((int)threadIdx.x % LANES * VEC)
    {
        first_ = row * width() + lane_;
    }

    /* Gain and bias, if they are kept. */
    __device__ __forceinline__ void weights(void)
    {
        if constexpr (C.keep)
#pragma unroll
            for (int i = 0; i < P; i++)
                weigh(i, gain_[i], bias_[i]);
    }

    __device__ __forceinline__ void work(void)
    {
        read(x_, static_cast<const S *>(a_.x));
        if constexpr (!PACKED)
            unpack();
        float mean = sum() * inverse_;
        write(mean, rsqrtf(squares(mean) * inverse_ + (float)LAYERNORM_EPS));
    }

  private:
    __device__ __forceinline__ int64_t width(void) const
    {
        return FULL ? P * STEP : a_.width;
    }

    __device__ __forceinline__ bool inside(int i) const
    {
        return FULL || lane_ + i * STEP < (int)a_.width;
    }

    __device__ __forceinline__ void read(piece (&to)[P], const S *from) const
    {
#pragma unroll
        for (int i = 0; i < P; i++) {
            if constexpr (!FULL)
                to[i].clear();
            if (inside(i))
                to[i].template load<!C.lines>(from + first_ + i * STEP);
        }
    }

    __device__ __forceinline__ void weigh(int i, weight &gain, weight &bias) const
    {
        int at = inside(i) ? lane_ + i * STEP : 0;

        gain.template load<false>(static_cast<const T *>(a_.gain) + at);
        bias.template load<false>(static_cast<const T *>(a_.bias) + at);
    }

    /* x, or x + delta, which is also the first result. */
    __device__ __forceinline__ void unpack(void)
    {
        piece delta[RESIDUAL ? P : 1];

        if constexpr (RESIDUAL)
            read(delta, static_cast<const S *>(a_.delta));
#pragma unroll
        for (int i = 0; i < P; i++) {
#pragma unroll
            for (int j = 0; j < VEC; j++)
                v_[i][j] = x_[i][j] + (RESIDUAL ? delta[RESIDUAL ? i : 0][j] : 0);
            if constexpr (RESIDUAL) {
                piece packed;
#pragma unroll
                for (int j = 0; j < VEC; j += piece::per)
                    packed.set(j / piece::per, v_[i][j], v_[i][j + piece::per - 1]);
                if (inside(i))
                    packed.store(static_cast<S *>(a_.sum) + first_ + i * STEP, streaming_);
            }
        }
    }

    __device__ __forceinline__ float value(int i, int j) const
    {
        if constexpr (PACKED)
            return x_[i][j];
        else
            return v_[i][j];
    }

    __device__ __forceinline__ float again(int i, int j) const
    {
        if constexpr (PACKED)
            return x_[i].again(j);
        else
            return v_[i][j];
    }

    __device__ __forceinline__ float sum(void) const
    {
        if constexpr (MATRIX) {
            float c[4] = {};
#pragma unroll
            for (int i = 0; i < P; i++)
                layernorm_matrix_sum(c, x_[i].at);
            return exchange<4>(c[0] + c[2], 0);
        }
        float sum = 0;
#pragma unroll
        for (int i = 0; i < P; i++) {
            float part = 0;
#pragma unroll
            for (int j = 0; j < VEC; j++)
                part += value(i, j);
            sum += part; /* what is outside is 0 */
        }
        return exchange<1>(sum, 0);
    }

    /* Leaves the differences in place of the values, except of packed ones. */
    __device__ __forceinline__ float squares(float mean)
    {
        float sum = 0;

#pragma unroll
        for (int i = 0; i < P; i++) {
            float part = 0;
#pragma unroll
            for (int j = 0; j < VEC; j++) {
                float d = value(i, j) - mean;
                part = fmaf(d, d, part);
                if constexpr (!PACKED)
                    v_[i][j] = d;
            }
            sum += inside(i) ? part : 0;
        }
        return exchange<1>(sum, 1);
    }

    /* The sum over the row; those of FROM neighbouring lanes are the same already. */
    template <int FROM> static __device__ __forceinline__ float exchange(float sum, int set)
    {
#pragma unroll
        for (int offset = CUDA_WARP / 2; offset >= FROM; offset /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, offset);
        if constexpr (WARPS == 1)
            return sum;
        auto &partial = cuda_shared<shared>().partial[set];
        if (cuda_lane() == 0)
            partial[cuda_warp()] = sum;
        __syncthreads();
        return total(partial);
    }

    static __device__ __forceinline__ float total(const float *partial)
    {
        if constexpr (WARPS < 4)
            return partial[0] + partial[1];
        float4 sum = reinterpret_cast<const float4 *>(partial)[0];
#pragma unroll
        for (int i = 1; i < WARPS / 4; i++) {
            float4 more = reinterpret_cast<const float4 *>(partial)[i];
            sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
        }
        return (sum.x + sum.y) + (sum.z + sum.w);
    }

    /* Packed values are not differences from the mean yet: the mean goes in with the scale. What
     * cancels then are 24 bits, of values that have 8. */
    static __device__ __forceinline__ float scaled(float x, float mean, float scale, float gain,
                                                   float bias)
    {
        return fmaf(PACKED ? fmaf(x, scale, -mean * scale) : x * scale, gain, bias);
    }

    __device__ __forceinline__ void write(float mean, float scale)
    {
#pragma unroll
        for (int i = 0; i < P; i++) {
            weight gain, bias, packed;
            if constexpr (C.keep)
                gain = gain_[i], bias = bias_[i];
            else
                weigh(i, gain, bias);
#pragma unroll
            for (int j = 0; j < VEC; j += weight::per) {
                int k = j + weight::per - 1;
                packed.set(j / weight::per, scaled(again(i, j), mean, scale, gain[j], bias[j]),
                           scaled(again(i, k), mean, scale, gain[k], bias[k]));
            }
            if (inside(i))
                packed.store(static_cast<T *>(a_.y) + first_ + i * STEP, streaming_);
        }
    }

    const layernorm_cuda &a_;
    float inverse_;
    bool streaming_;
    int lane_;      /* first element of the first vector */
    int64_t first_; /* the same in the matrix */
    piece x_[P];
    float v_[PACKED ? 1 : P][VEC];
    weight gain_[C.keep ? P : 1], bias_[C.keep ? P : 1];
};

template <class S, class T, layernorm_rows_config C, int LANES, bool RESIDUAL, bool FULL>
__global__ void __launch_bounds__(layernorm_rows_threads<LANES>, layernorm_rows_blocks<C, LANES>())
    layernorm_cuda_rows_kernel(const __grid_constant__ layernorm_rows_arguments a)
{
    constexpr int teams = layernorm_rows_threads<LANES> / LANES;
    int row = (int)blockIdx.x * teams + (int)threadIdx.x / LANES;
    layernorm_rows_thread<S, T, C, LANES, RESIDUAL, FULL> thread(a, row);

    thread.weights();
    cuda_pdl_wait();
    cuda_pdl_launch();
    if (teams == 1 || row < a.l.rows) /* a warp's whole row */
        thread.work();
}

/* ---- On the host ---- */

template <class S, class T, layernorm_rows_config C, int LANES, bool RESIDUAL, bool FULL>
void layernorm_rows_enqueue(const layernorm_cuda &l, cudaStream_t stream)
{
    constexpr auto kernel = layernorm_cuda_rows_kernel<S, T, C, LANES, RESIDUAL, FULL>;
    constexpr int threads = layernorm_rows_threads<LANES>;
    using thread = layernorm_rows_thread<S, T, C, LANES, RESIDUAL, FULL>;
    int64_t blocks = cuda_pieces<int64_t>(l.rows, threads / LANES);
    layernorm_rows_arguments a = { l, 1.0f / (float)l.width,
                                   l.rows * l.width * (int)sizeof(T) > CUDA_STREAM_BYTES };

    cuda_launch_with<kernel>({ .early = l.early }, (unsigned)blocks, threads,
                             LANES > CUDA_WARP ? sizeof(typename thread::shared) : 0, stream, a);
}

/* Rows of up to WIDTH elements. */
template <class S, class T, layernorm_rows_config C, int WIDTH, bool RESIDUAL>
void layernorm_rows_of(const layernorm_cuda &l, cudaStream_t stream)
{
    constexpr int lanes = layernorm_rows_lanes<S, T, C, WIDTH>();
    static_assert(lanes > 0, "a choice fits the widths that it is made for");

    if (l.width == WIDTH)
        layernorm_rows_enqueue<S, T, C, lanes, RESIDUAL, true>(l, stream);
    else
        layernorm_rows_enqueue<S, T, C, lanes, RESIDUAL, false>(l, stream);
}

/* By the case of the number of rows, where there is one from CASE on, or the table. */
template <class S, class T, bool RESIDUAL, int I, int CASE>
void layernorm_rows_cut(const layernorm_cuda &l, int found, cudaStream_t stream)
{
    constexpr int width = LAYERNORM_ROWS_NARROW << I;

    if constexpr (CASE == LAYERNORM_ROWS_CASES) {
        layernorm_rows_of<S, T, layernorm_rows_choice[sizeof(S) == 2][RESIDUAL][I], width,
                          RESIDUAL>(l, stream);
    } else {
        constexpr const layernorm_rows_case &of = layernorm_rows_cases[CASE];
        if constexpr (of.width == width)
            if (found == CASE)
                return layernorm_rows_of<S, T, of.config, width, RESIDUAL>(l, stream);
        layernorm_rows_cut<S, T, RESIDUAL, I, CASE + 1>(l, found, stream);
    }
}

template <class S, class T, bool RESIDUAL, int I = 0>
void layernorm_rows_chosen(const layernorm_cuda &l, cudaStream_t stream)
{
    constexpr int width = LAYERNORM_ROWS_NARROW << I;
    constexpr bool by_number = sizeof(S) == 2 && !RESIDUAL;

    if constexpr (I < LAYERNORM_ROWS_WIDTHS - 1)
        if (l.width > width)
            return layernorm_rows_chosen<S, T, RESIDUAL, I + 1>(l, stream);
    layernorm_rows_cut<S, T, RESIDUAL, I, by_number ? 0 : LAYERNORM_ROWS_CASES>(
        l, layernorm_rows_case_of(width, l.rows), stream);
}

#endif
