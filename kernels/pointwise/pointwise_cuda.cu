/* SPDX-License-Identifier: MIT */
/*
 * A block takes a tile of the matrix, a thread one vector of 16 bytes in each of four rows:
 *
 *             across = 256 threads (fewer where rows are shorter: then several rows side by side)
 *           +----+----+-- ... --+----+
 *     row 0 | t0 | t1 |         |t255|     bias: read once, kept for the four rows
 *     row 1 | t0 | t1 |         |t255|
 *     row 2 | t0 | ...                      four reads (delta: eight) under way before the first
 *     row 3 | t0 | ...                      is waited for
 *           +----+----+-- ... --+----+
 *
 * Without a bias the matrix is one long run, cut into rows of one block's width where that comes
 * out even. Widths that 16 bytes do not divide go element by element.
 *
 * Limit: the bandwidth of a copy. The GELU takes two operations of the special function unit and
 * some 12 others an element (kernels/cuda/math.h), which fit under it for bf16 too.
 */
#include "kernels/cuda/cache.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/math.h"

#include "device/device_cuda.h"

extern "C" {
#include "kernels/pointwise/pointwise_call.h"
}

enum { THREADS = 256, ROWS = 4 };

template <class T> struct tiles {
    int64_t rows, width;
    const T *x, *operand;
    T *y;
    int across;     /* threads beside each other in a row, a power of two */
    unsigned a_row; /* tiles */
    bool streaming;
};

template <enum pointwise_op OP>
constexpr bool has_bias = OP == POINTWISE_BIAS || OP == POINTWISE_BIAS_GELU;
template <enum pointwise_op OP>
constexpr bool has_gelu = OP == POINTWISE_GELU || OP == POINTWISE_BIAS_GELU;

/* y of one vector; a GELU alone has no operand. */
template <enum pointwise_op OP, class T, int VEC>
__device__ __forceinline__ cuda_vector<T, VEC> apply(const cuda_vector<T, VEC> &x,
                                                     const cuda_vector<T, VEC> &operand)
{
    float v[VEC], w[VEC];

    cuda_unpack(x, v);
    cuda_unpack(operand, w);
#pragma unroll
    for (int i = 0; i < VEC; i++) {
        if constexpr (OP != POINTWISE_GELU)
            v[i] += w[i];
        if constexpr (has_gelu<OP>)
            v[i] = cuda_gelu(v[i]);
    }
    return cuda_pack<T>(v);
}

template <enum pointwise_op OP, class T, int VEC>
__global__ void __launch_bounds__(THREADS) pointwise_cuda_kernel(struct tiles<T> a)
{
    int thread = (int)threadIdx.x, down = THREADS / a.across;
    int64_t col = ((int64_t)(blockIdx.x % a.a_row) * a.across + thread % a.across) * VEC;
    int64_t row = (int64_t)(blockIdx.x / a.a_row) * (down * ROWS) + thread / a.across;
    cuda_vector<T, VEC> x[ROWS] = {}, operand[ROWS] = {};

    if (col >= a.width)
        return;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int64_t at = (row + i * down) * a.width + col;
        if (row + i * down < a.rows)
            x[i] = cuda_load<VEC>(a.x + at);
        if (has_bias<OP>)
            operand[i] = i == 0 ? cuda_load<VEC>(a.operand + col) : operand[0];
        else if (OP == POINTWISE_RESIDUAL && row + i * down < a.rows)
            operand[i] = cuda_load<VEC>(a.operand + at);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        if (row + i * down >= a.rows)
            return;
        T *to = a.y + (row + i * down) * a.width + col;
        cuda_vector<T, VEC> y = apply<OP>(x[i], operand[i]);
        if (a.streaming)
            cuda_store_streaming(to, y);
        else
            cuda_store(to, y);
    }
}

template <enum pointwise_op OP, class T, int VEC>
static void enqueue_tiles(struct tiles<T> a, cudaStream_t stream)
{
    constexpr int run = THREADS * VEC;
    int64_t elements = a.rows * a.width;

    if (!has_bias<OP> && elements % run == 0) {
        a.rows = elements / run;
        a.width = run;
    }
    for (a.across = 1; a.across < THREADS && a.across * VEC < a.width; a.across *= 2) {
    }
    a.a_row = (unsigned)cuda_pieces<int64_t>(a.width, a.across * VEC);
    a.streaming = elements > CUDA_STREAM_BYTES / (int64_t)sizeof(T);
    unsigned down = (unsigned)cuda_pieces<int64_t>(a.rows, THREADS / a.across * ROWS);
    cuda_launch<pointwise_cuda_kernel<OP, T, VEC>>(a.a_row * down, THREADS, 0, stream, a);
}

template <enum pointwise_op OP, class T>
static void enqueue(const struct pointwise *p, cudaStream_t stream)
{
    const void *x = p->x, *operand = p->operand;
    void *y = p->y;
    struct tiles<T> a = {
    };

    a.rows = p->rows;
    a.width = p->width;
    a.x = static_cast<const T *>(x);
    a.operand = static_cast<const T *>(operand);
    a.y = static_cast<T *>(y);
    constexpr int wide = cuda_wide<T>;
    if (cuda_aligned(a.x, a.width, wide) && cuda_aligned(a.operand, a.width, wide) &&
        cuda_aligned(a.y, a.width, wide))
        enqueue_tiles<OP, T, wide>(a, stream);
    else
        enqueue_tiles<OP, T, 1>(a, stream);
}

template <enum pointwise_op OP> static void launch(const struct call *call)
{
    struct pointwise p = pointwise_of(call);
    cudaStream_t stream = device_cuda_stream(call->device);

    if (call->variant->dtype == DTYPE_BF16)
        enqueue<OP, bf16>(&p, stream);
    else
        enqueue<OP, float>(&p, stream);
}

#define ROW(of, op, label, type, math_)                                                            \
    {                                                                                              \
        .name = (label), .summary = "a vector of four rows a thread; limit: copy bandwidth",       \
        .kernel = &(of), .device = DEVICE_CUDA, .dtype = (type), .math = (math_), .flags = 0,      \
        .supports = nullptr, .prepare = nullptr, .launch = launch<op>, .release = nullptr,         \
    }
#define VARIANTS(label, type, math_)                                                               \
    ROW(pointwise_gelu_kernel, POINTWISE_GELU, label, type, math_),                                \
        ROW(pointwise_bias_kernel, POINTWISE_BIAS, label, type, math_),                            \
        ROW(pointwise_bias_gelu_kernel, POINTWISE_BIAS_GELU, label, type, math_),                  \
        ROW(pointwise_residual_kernel, POINTWISE_RESIDUAL, label, type, math_)

extern "C" const struct variant pointwise_cuda[];
const struct variant pointwise_cuda[] = {
    VARIANTS("cuda", DTYPE_FP32, MATH_FP32),
    VARIANTS("cuda_bf16", DTYPE_BF16, MATH_BF16),
    {},
};
