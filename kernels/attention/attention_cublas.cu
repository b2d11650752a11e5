/* SPDX-License-Identifier: MIT */
/*
 * Attention by NVIDIA's matrix products, for reference: what one writes without a kernel of one's
 * own for it.
 *
 *     scores  [batch][heads][seq][seq]  = q k^T / sqrt(headdim)     cublasGemmStridedBatchedEx
 *     weights                           = softmax of each row       a kernel, a warp a row
 *     out     [batch][seq][heads * headdim] = weights v             cublasGemmStridedBatchedEx
 *
 * q, k, v and out are used where they lie: a call takes all heads of a sequence, or all sequences
 * of a head, whichever are more. Scores are float, weights of the type of v. Under a causal mask
 * all scores are computed all the same, and half of the weights are zeros.
 *
 * Limit: the bandwidth for scores and weights, each written and read, as soon as they do not stay
 * in the L2: 4 seq^2 accesses a head against 4 seq headdim for q, k, v and out.
 */
#include "kernels/attention/attention_cuda_call.h"
#include "kernels/cuda/cublas.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/vector.h"

#include <math.h>
#include <stdlib.h>

extern "C" {
#include "base/memory.h"
}

namespace
{

constexpr int THREADS = 128, ROWS = THREADS / CUDA_WARP, WIDTH = 4;

/* More than that is no reference for anybody. */
constexpr int64_t MOST_BYTES = INT64_C(8) << 30;

/* Of one call; all matrices of scores have rows of `pitch` elements, which are whole vectors. */
struct scratch {
    struct cuda_cublas blas;
    void *scores, *weights; /* the same memory for fp32 */
};

struct rows {
    const float *scores;
    void *weights;
    int64_t rows, pitch;
    int seq;
    bool causal;
};

int64_t pitch_of(int64_t seq)
{
    return cuda_pieces<int64_t>(seq, 8) * 8;
}

int64_t elements_of(const struct shape *s)
{
    return s->dim[0] * s->dim[2] * s->dim[1] * pitch_of(s->dim[1]);
}

/* Four scores in units of log2, of which those from key `n` on count for nothing. */
__device__ __forceinline__ void scores_at(const float *row, int key, int n, float (&x)[WIDTH])
{
    cuda_unpack(cuda_load<WIDTH>(row + key), x);
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
        x[i] = key + i < n ? x[i] * 1.44269504f : -INFINITY;
}

/* One pass for maximum and sum, another one for the weights, out of the L1. */
template <class T> __global__ void __launch_bounds__(THREADS) softmax(struct rows a)
{
    const int64_t index = (int64_t)blockIdx.x * ROWS + cuda_warp();
    const int query = (int)(index % a.seq), n = a.causal ? query + 1 : a.seq;
    const float *row = a.scores + index * a.pitch;
    T *weights = static_cast<T *>(a.weights) + index * a.pitch;
    float most = -INFINITY, sum = 0, x[WIDTH];

    if (index >= a.rows)
        return;
    for (int key = WIDTH * cuda_lane(); key < n; key += WIDTH * CUDA_WARP) {
        scores_at(row, key, n, x);
        float before = most;
        most = fmaxf(most, fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3])));
        sum *= cuda_exp2(before - most);
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            sum += cuda_exp2(x[i] - most);
    }
    float all = cuda_warp_max(most);
    sum = cuda_warp_sum(most == -INFINITY ? 0.0f : sum * cuda_exp2(most - all));
    for (int key = WIDTH * cuda_lane(); key < a.seq; key += WIDTH * CUDA_WARP) {
        scores_at(row, key, n, x);
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            x[i] = cuda_exp2(x[i] - all) / sum;
        cuda_store(weights + key, cuda_pack<T>(x));
    }
}

const struct scratch *scratch_of(const struct call *call)
{
    return static_cast<const struct scratch *>(call->state);
}

void enqueue_softmax(const struct call *call)
{
    const struct shape *s = &call->shape;
    const struct rows a = {
        .scores = static_cast<const float *>(scratch_of(call)->scores),
        .weights = scratch_of(call)->weights,
        .rows = s->dim[0] * s->dim[2] * s->dim[1],
        .pitch = pitch_of(s->dim[1]),
        .seq = (int)s->dim[1],
        .causal = call->kernel == &attention_causal_kernel,
    };
    unsigned blocks = (unsigned)cuda_pieces<int64_t>(a.rows, ROWS);
    cudaStream_t stream = device_cuda_stream(call->device);

    if (call->variant->dtype == DTYPE_BF16)
        cuda_launch<softmax<bf16>>(blocks, THREADS, 0, stream, a);
    else
        cuda_launch<softmax<float>>(blocks, THREADS, 0, stream, a);
}

/* The heads that one call of the library takes: all of sequence i, or head i of all sequences. */
struct heads {
    int64_t calls, count;
    /* From one call to the next, and from one head to the next within it, both counted in */
    int64_t view_step, view_stride;     /* elements of q, k and v, */
    int64_t out_step, out_stride;       /* of out, */
    int64_t scores_step, scores_stride; /* of scores and weights. */
};

struct heads heads_of(const struct attention_cuda *a)
{
    int64_t matrix = a->seq * pitch_of(a->seq), sequence = a->heads * matrix;

    if (a->heads >= a->batch)
        return { a->batch,        a->heads,   a->seq * a->ld, a->headdim,
                 a->seq * a->ldo, a->headdim, sequence,       matrix };
    return { a->heads,   a->batch,        a->headdim, a->seq * a->ld,
             a->headdim, a->seq * a->ldo, matrix,     sequence };
}

/* A view's heads of call i. */
struct cuda_cublas_matrix view(const struct call *call, const struct heads *h, const void *from,
                               int64_t ld, int64_t i)
{
    const void *at =
        attention_cuda_at(const_cast<void *>(from), call->variant->dtype, i * h->view_step);

    return { at, ld, h->view_stride, false };
}

struct cuda_cublas_product score_product(const struct call *call, const struct attention_cuda *a,
                                         const struct heads *h, int64_t i)
{
    struct cuda_cublas_product p = {};

    p.m = p.n = a->seq, p.k = a->headdim;
    p.a = view(call, h, a->q, a->ld, i);
    p.b = view(call, h, a->k, a->ld, i);
    p.b.transposed = true;
    p.c = attention_cuda_at(scratch_of(call)->scores, DTYPE_FP32, i * h->scores_step);
    p.ldc = pitch_of(a->seq), p.stride_c = h->scores_stride;
    p.count = h->count;
    p.alpha = (float)(1 / sqrt((double)a->headdim)), p.beta = 0;
    p.in = call->variant->dtype, p.out = DTYPE_FP32;
    p.math = call->variant->math;
    return p;
}

struct cuda_cublas_product value_product(const struct call *call, const struct attention_cuda *a,
                                         const struct heads *h, int64_t i)
{
    enum dtype dtype = call->variant->dtype;
    struct cuda_cublas_product p = {};

    p.m = p.k = a->seq, p.n = a->headdim;
    p.a = { attention_cuda_at(scratch_of(call)->weights, dtype, i * h->scores_step),
            pitch_of(a->seq), h->scores_stride, false };
    p.b = view(call, h, a->v, a->ld, i);
    p.c = attention_cuda_at(a->out, dtype, i * h->out_step);
    p.ldc = a->ldo, p.stride_c = h->out_stride;
    p.count = h->count;
    p.alpha = 1, p.beta = 0;
    p.in = p.out = dtype;
    p.math = call->variant->math;
    return p;
}

/* All of it by multiply(product, bytes from its result to the end of what that is part of), which
 * returns whether to go on. */
template <class F> void enqueue(const struct call *call, const F &multiply)
{
    const struct attention_cuda a = attention_cuda_of(call);
    const struct heads h = heads_of(&a);
    int64_t scores = elements_of(&call->shape) * (int64_t)sizeof(float);
    int64_t out = tensor_bytes(&call->tensor[ATTENTION_OUT]);

    for (int64_t i = 0; i < h.calls; i++) {
        struct cuda_cublas_product p = score_product(call, &a, &h, i);
        if (!multiply(&p, scores - i * h.scores_step * (int64_t)sizeof(float)))
            return;
    }
    enqueue_softmax(call);
    for (int64_t i = 0; i < h.calls; i++) {
        struct cuda_cublas_product p = value_product(call, &a, &h, i);
        if (!multiply(&p, out - i * h.out_step * (int64_t)dtype_size(p.out)))
            return;
    }
}

} // namespace

static void launch(const struct call *call)
{
    enqueue(call, [&](const struct cuda_cublas_product *p, int64_t bytes) {
        cuda_cublas_multiply_or_spoil(&scratch_of(call)->blas, p, (size_t)bytes);
        return true;
    });
}

static void release(struct call *call)
{
    struct scratch *s = static_cast<struct scratch *>(call->state);

    if (s->weights != s->scores)
        device_free(call->device, s->weights);
    device_free(call->device, s->scores);
    if (s->blas.library)
        cuda_cublas_close(&s->blas);
    free(s);
    call->state = nullptr;
}

static int fill(const struct call *call, struct scratch *s, struct error *err)
{
    size_t elements = (size_t)elements_of(&call->shape);
    bool apart = call->variant->dtype == DTYPE_BF16;

    if (cuda_cublas_open(&s->blas, call->device, err))
        return -1;
    s->scores = device_alloc(call->device, elements * sizeof(float), err);
    s->weights = s->scores;
    if (s->scores && apart)
        s->weights = device_alloc(call->device, elements * dtype_size(DTYPE_BF16), err);
    return s->scores && s->weights ? 0 : error_prefix(err, "scores");
}

/* Runs it once, for the library to load its code and to say what it cannot do. */
static int prepare(struct call *call, struct error *err)
{
    struct scratch *s = static_cast<struct scratch *>(memory_zeroed(1, sizeof(*s)));
    int rc = fill(call, s, err);

    call->state = s;
    if (rc == 0)
        enqueue(call, [&](const struct cuda_cublas_product *p, int64_t bytes) {
            (void)bytes;
            rc = cuda_cublas_multiply(&s->blas, p, err);
            return rc == 0;
        });
    if (rc)
        release(call);
    return rc;
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    int64_t bytes = elements_of(s) * (int64_t)sizeof(float);

    if (!attention_cuda_counts(k, s, d, why))
        return false;
    if (bytes > MOST_BYTES) {
        error_set(why, "scores would take %lld MiB, at most %lld are given",
                  (long long)(bytes >> 20), (long long)(MOST_BYTES >> 20));
        return false;
    }
    return cuda_cublas_library(why) != nullptr;
}

static constexpr struct variant variant_of(const struct kernel *kernel, const char *name,
                                           enum dtype dtype, enum math math)
{
    struct variant v = attention_cuda_variant(
        name,
        "two batched products and a softmax; limit: bandwidth for scores; the vendor reference",
        kernel, dtype, launch);

    v.math = math;
    v.flags = VARIANT_VENDOR;
    v.supports = supports;
    v.prepare = prepare;
    v.release = release;
    return v;
}

extern "C" const struct variant attention_cublas[];
const struct variant attention_cublas[] = {
    variant_of(&attention_causal_kernel, "cublas", DTYPE_FP32, MATH_FP32),
    variant_of(&attention_causal_kernel, "cublas_tf32", DTYPE_FP32, MATH_TF32),
    variant_of(&attention_causal_kernel, "cublas_bf16", DTYPE_BF16, MATH_BF16),
    variant_of(&attention_full_kernel, "cublas", DTYPE_FP32, MATH_FP32),
    variant_of(&attention_full_kernel, "cublas_tf32", DTYPE_FP32, MATH_TF32),
    variant_of(&attention_full_kernel, "cublas_bf16", DTYPE_BF16, MATH_BF16),
    {},
};
