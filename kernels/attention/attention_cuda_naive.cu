/* SPDX-License-Identifier: MIT */
/*
 * By the definition, a block a query: its threads share out the keys, then the columns of the
 * output.
 *
 *     q[i] . k[0..n)  -->  scores[0..n)  -->  softmax  -->  weights . v[0..n)      n = i + 1 or seq
 *     a thread a key       shared memory                    a thread a column
 *
 * Limit: keys are read in rows that the threads of a warp do not share, and every query reads all
 * of them again from the L1 or L2: a few per cent of the FMA units.
 */
#include "kernels/attention/attention_cuda_call.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/reduce.h"

#include <math.h>

namespace
{

enum { THREADS = 128, WARPS = THREADS / CUDA_WARP };

/* Every query of every sequence and head; `step` elements between positions. */
struct queries {
    const float *q, *k, *v;
    float *out;
    int64_t batch, seq, heads, headdim; /* seq: queries in a sequence */
    int64_t length;                     /* positions that the last query of a sequence sees */
    bool causal;
    int64_t ldq, q_sequence; /* elements between queries and between sequences of q */
    int64_t step, sequence;  /* the same of k and v */
    int64_t ldo, o_sequence; /* and of out */
};

/* Shared memory: partial results of the warps, then the scores. */
enum { MAXIMA = 0, SUMS = WARPS, SCORES = 2 * WARPS };

__device__ float block_max(float x, float *partial)
{
    x = cuda_warp_max(x);
    if (cuda_lane() == 0)
        partial[cuda_warp()] = x;
    __syncthreads();
    for (int i = 0; i < WARPS; i++)
        x = fmaxf(x, partial[i]);
    return x;
}

__global__ void __launch_bounds__(THREADS) naive(struct queries a)
{
    float *shared = &cuda_shared<float>(), *scores = shared + SCORES;
    int64_t query = blockIdx.x, i = query % a.seq, h = query / a.seq % a.heads;
    int64_t b = query / a.seq / a.heads, n = a.causal ? i + 1 : a.length;
    const float *q = a.q + b * a.q_sequence + i * a.ldq + h * a.headdim;
    const float *k = a.k + b * a.sequence + h * a.headdim;
    const float *v = a.v + b * a.sequence + h * a.headdim;
    float *out = a.out + b * a.o_sequence + i * a.ldo + h * a.headdim;
    float most = -INFINITY, sum = 0;

    for (int64_t j = threadIdx.x; j < n; j += THREADS) {
        float dot = 0;
        for (int64_t d = 0; d < a.headdim; d++)
            dot = fmaf(q[d], k[j * a.step + d], dot);
        scores[j] = dot / sqrtf((float)a.headdim);
        most = fmaxf(most, scores[j]);
    }
    most = block_max(most, shared + MAXIMA);
    for (int64_t j = threadIdx.x; j < n; j += THREADS) {
        scores[j] = expf(scores[j] - most);
        sum += scores[j];
    }
    sum = cuda_block_sum<WARPS>(sum, shared + SUMS); /* its barrier is for the scores, too */
    for (int64_t d = threadIdx.x; d < a.headdim; d += THREADS) {
        float weighted = 0;
        for (int64_t j = 0; j < n; j++)
            weighted = fmaf(scores[j], v[j * a.step + d], weighted);
        out[d] = weighted / sum;
    }
}

void enqueue(const struct queries *a, cudaStream_t stream)
{
    /* Whole vectors: the compiler reads the last scores by one, whatever is behind them. */
    size_t floats = (SCORES + (size_t)a->length + 3) / 4 * 4, bytes = floats * sizeof(float);

    cuda_launch<naive>((unsigned)(a->batch * a->heads * a->seq), THREADS, bytes, stream, *a);
}

} // namespace

void attention_prefill_cuda_naive(const struct attention_cuda *a, cudaStream_t stream)
{
    struct queries all = {
        .q = static_cast<const float *>(a->q),
        .k = static_cast<const float *>(a->k),
        .v = static_cast<const float *>(a->v),
        .out = static_cast<float *>(a->out),
        .batch = a->batch,
        .seq = a->seq,
        .heads = a->heads,
        .headdim = a->headdim,
        .length = a->seq,
        .causal = a->causal,
        .ldq = a->ld,
        .q_sequence = a->seq * a->ld,
        .step = a->ld,
        .sequence = a->seq * a->ld,
        .ldo = a->ldo,
        .o_sequence = a->seq * a->ldo,
    };

    enqueue(&all, stream);
}

static void decode_launch(const struct call *call)
{
    struct attention_cuda_decode a = attention_cuda_decode_of(call);
    struct queries all = {
        .q = static_cast<const float *>(a.q),
        .k = static_cast<const float *>(a.k),
        .v = static_cast<const float *>(a.v),
        .out = static_cast<float *>(a.out),
        .batch = a.batch,
        .seq = 1,
        .heads = a.heads,
        .headdim = a.headdim,
        .length = a.length,
        .causal = false,
        .ldq = 0,
        .q_sequence = a.ldq,
        .step = a.ld,
        .sequence = a.ld_sequence,
        .ldo = 0,
        .o_sequence = a.ldo,
    };

    enqueue(&all, device_cuda_stream(call->device));
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    if (s->dim[1] > ATTENTION_CUDA_NAIVE_SEQ_MAX) {
        error_set(why, "seq is %lld, at most %d scores fit in shared memory", (long long)s->dim[1],
                  (int)ATTENTION_CUDA_NAIVE_SEQ_MAX);
        return false;
    }
    return attention_cuda_counts(k, s, d, why);
}

static constexpr struct variant variant_of(const struct kernel *kernel,
                                           void (*launch)(const struct call *))
{
    struct variant v = attention_cuda_variant(
        "cuda_naive", "by the definition, a block a query; limit: reads of keys by many lines",
        kernel, DTYPE_FP32, launch);

    v.flags = VARIANT_PLAIN;
    v.supports = supports;
    return v;
}

extern "C" const struct variant attention_cuda_naive[];
const struct variant attention_cuda_naive[] = {
    variant_of(&attention_causal_kernel, attention_cuda_launch<attention_prefill_cuda_naive>),
    variant_of(&attention_full_kernel, attention_cuda_launch<attention_prefill_cuda_naive>),
    variant_of(&attention_decode_kernel, decode_launch),
    {},
};
