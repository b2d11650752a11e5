/* SPDX-License-Identifier: MIT */
/*
 * What the layer norms on CUDA share: the part of a row that one of LANES threads keeps in
 * registers, PIECES vectors of VEC neighbours:
 *
 *   row   | 0 | 1 | .. |LANES-1| 0 | 1 | .. |LANES-1| 0 ..        the thread that holds a vector
 *         |----- piece 0 ------|------ piece 1 -----|
 *
 * so that neighbouring threads read neighbouring vectors. All reads of a part are under way
 * together before the first is waited for. What lies beyond the row's end counts as nothing.
 *
 * Gain and bias are the same for all rows and soon in L1, so they are read where they are used:
 * kept as well they would take twice the row's registers. Where a row is short enough for that, a
 * small matrix is done sooner if they are on their way together with the row.
 */
#ifndef HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_PART_H
#define HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_PART_H

#include "kernels/cuda/cache.h"
#include "kernels/cuda/reduce.h"
#include "kernels/layernorm/layernorm_cuda.h"

extern "C" {
#include "kernels/layernorm/layernorm_call.h"
}

/* S is the type of the stream, T that of gain, bias and y. */
template <class S, class T, int VEC, int PIECES, int LANES> class layernorm_part
{
  public:
    /* A row beyond the last one is an empty one. */
    __device__ __forceinline__ layernorm_part(const struct layernorm_cuda &a, int64_t row, int lane)
        : base_(row * a.width), first_(lane * VEC), end_(row < a.rows ? (int)a.width : 0)
    {
        cuda_vector<S, VEC> x[PIECES] = {};

        fetch(static_cast<const S *>(a.x) + base_, x);
        if constexpr (EARLY) {
            fetch(static_cast<const T *>(a.gain), gain_);
            fetch(static_cast<const T *>(a.bias), bias_);
        }
#pragma unroll
        for (int i = 0; i < PIECES; i++)
            cuda_unpack(x[i], x_[i]);
        if (a.delta != nullptr)
            add(static_cast<const S *>(a.delta) + base_, static_cast<S *>(a.sum) + base_);
    }

    __device__ __forceinline__ float sum(void) const
    {
        return total([](float x) { return x; });
    }

    /* Of the differences from the mean. */
    __device__ __forceinline__ float squares(float mean) const
    {
        return total([=](float x) { return (x - mean) * (x - mean); });
    }

    __device__ __forceinline__ void store(const struct layernorm_cuda &a, float mean,
                                          float scale) const
    {
        if (VEC > 1 && a.rows * a.width > CUDA_STREAM_BYTES / (int)sizeof(T))
            write<true>(a, mean, scale);
        else
            write<false>(a, mean, scale);
    }

  private:
    static constexpr bool EARLY = VEC > 1 && VEC *PIECES <= 8 && LANES <= CUDA_WARP;

    __device__ __forceinline__ int at(int piece) const
    {
        return first_ + piece * (LANES * VEC);
    }

    /* Vectors are whole: VEC divides the width. */
    __device__ __forceinline__ bool inside(int piece) const
    {
        return at(piece) < end_;
    }

    /* A vector at a time, so that the additions of the pieces do not all wait for each other. */
    template <class TERM> __device__ __forceinline__ float total(const TERM &term) const
    {
        float sum = 0;

#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            float piece = 0;
#pragma unroll
            for (int j = 0; j < VEC; j++)
                piece += term(x_[i][j]);
            sum += inside(i) ? piece : 0;
        }
        return sum;
    }

    template <class E>
    __device__ __forceinline__ void fetch(const E *from, cuda_vector<E, VEC> (&to)[PIECES]) const
    {
#pragma unroll
        for (int i = 0; i < PIECES; i++)
            if (inside(i))
                to[i] = cuda_load<VEC>(from + at(i));
    }

    __device__ __forceinline__ cuda_vector<T, VEC> weight(const T *from,
                                                          const cuda_vector<T, VEC> *kept,
                                                          int i) const
    {
        if constexpr (EARLY)
            return kept[i];
        else
            return cuda_load_constant<VEC>(from + (inside(i) ? at(i) : 0));
    }

    __device__ __forceinline__ void add(const S *from, S *sum)
    {
        cuda_vector<S, VEC> delta[PIECES] = {};

        fetch(from, delta);
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            float d[VEC];
            cuda_unpack(delta[i], d);
#pragma unroll
            for (int j = 0; j < VEC; j++)
                x_[i][j] += d[j];
            if (inside(i))
                cuda_store(sum + at(i), cuda_pack<S>(x_[i]));
        }
    }

    template <bool STREAMING>
    __device__ __forceinline__ void write(const struct layernorm_cuda &a, float mean,
                                          float scale) const
    {
        const T *gains = static_cast<const T *>(a.gain), *biases = static_cast<const T *>(a.bias);
        T *y = static_cast<T *>(a.y) + base_;

#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            float gain[VEC], bias[VEC], out[VEC];
            cuda_unpack(weight(gains, gain_, i), gain);
            cuda_unpack(weight(biases, bias_, i), bias);
#pragma unroll
            for (int j = 0; j < VEC; j++)
                out[j] = fmaf((x_[i][j] - mean) * scale, gain[j], bias[j]);
            if (inside(i)) /* the store alone: reads of the next pieces go on ahead of it */
                cuda_store_as<STREAMING>(y + at(i), cuda_pack<T>(out));
        }
    }

    int64_t base_;
    int first_, end_;
    float x_[PIECES][VEC];
    cuda_vector<T, VEC> gain_[EARLY ? PIECES : 1] = {}, bias_[EARLY ? PIECES : 1] = {};
};

/* Calls run<S, T, VEC>() with the types of `l` and the widest vectors that its pointers and its
 * width allow: 16 bytes of the larger type, or single elements. */
template <class S, class T, class RUN>
inline void layernorm_cuda_widest(const struct layernorm_cuda *l, const RUN &run)
{
    constexpr int wide = cuda_wide<S> < cuda_wide<T> ? cuda_wide<S> : cuda_wide<T>;
    auto stream = [&](const void *p) {
        return cuda_aligned(static_cast<const S *>(p), l->width, wide);
    };
    auto other = [&](const void *p) {
        return cuda_aligned(static_cast<const T *>(p), l->width, wide);
    };

    if (stream(l->x) && stream(l->delta) && stream(l->sum) && other(l->gain) && other(l->bias) &&
        other(l->y))
        run.template operator()<S, T, wide>();
    else
        run.template operator()<S, T, 1>();
}

template <class RUN>
inline void layernorm_cuda_typed(const struct layernorm_cuda *l, const RUN &run)
{
    if (l->stream == DTYPE_BF16)
        layernorm_cuda_widest<bf16, bf16>(l, run);
    else if (l->dtype == DTYPE_BF16)
        layernorm_cuda_widest<float, bf16>(l, run);
    else
        layernorm_cuda_widest<float, float>(l, run);
}

/* The arguments of a prepared call of layernorm/plain and layernorm/residual. */
inline struct layernorm_cuda layernorm_cuda_of(const struct call *call)
{
    struct layernorm l = layernorm_of(call);
    enum dtype dtype = call->variant->dtype;

    return {
        .rows = l.rows,
        .width = l.width,
        .x = l.x,
        .delta = l.delta,
        .sum = l.sum,
        .gain = l.gain,
        .bias = l.bias,
        .y = l.y,
        .stream = dtype,
        .dtype = dtype,
    };
}

/* Whether the widths of a variant reach that far; for supports(). */
inline bool layernorm_cuda_reaches(const struct kernel *k, const struct shape *s, int64_t most,
                                   struct error *why)
{
    int64_t width = kernel_dim(k, s, "width", 1);
    int64_t rows = kernel_dim(k, s, "batch", 1) * kernel_dim(k, s, "seq", 1);

    if (width > most)
        error_set(why, "width %lld is beyond the %lld that it keeps in registers", (long long)width,
                  (long long)most);
    else if (rows > INT32_MAX)
        error_set(why, "%lld rows are more than a grid has blocks", (long long)rows);
    return width <= most && rows <= INT32_MAX;
}

/* An entry of a variant's table: the same function for both kernels and types. */
#define LAYERNORM_CUDA_VARIANT(of, label, text, type, math_)                                       \
    {                                                                                              \
        .name = (label), .summary = (text), .kernel = &(of), .device = DEVICE_CUDA,                \
        .dtype = (type), .math = (math_), .flags = 0, .supports = supports, .prepare = nullptr,    \
        .launch = launch, .release = nullptr,                                                      \
    }
#define LAYERNORM_CUDA_VARIANTS(label, text)                                                       \
    LAYERNORM_CUDA_VARIANT(layernorm_plain_kernel, label, text, DTYPE_FP32, MATH_FP32),            \
        LAYERNORM_CUDA_VARIANT(layernorm_residual_kernel, label, text, DTYPE_FP32, MATH_FP32),     \
        LAYERNORM_CUDA_VARIANT(layernorm_plain_kernel, label "_bf16", text, DTYPE_BF16,            \
                               MATH_BF16),                                                         \
        LAYERNORM_CUDA_VARIANT(layernorm_residual_kernel, label "_bf16", text, DTYPE_BF16,         \
                               MATH_BF16)

#endif
