/* SPDX-License-Identifier: MIT */
/*
 * By the definition, one query of one head after the other:
 *
 *   q[i] . k[0..n) --> scores --> softmax --> weights . v[0..n)        n = i + 1 or seq
 *
 * Limit: additions that wait for one another, and libm's expf.
 */
#include "kernels/attention/attention_call.h"
#include "kernels/host.h"

#include <math.h>
#include <omp.h>

/* One query against `length` positions that lie `step` floats apart. */
struct query {
    const float *q, *k, *v;
    int64_t step, length, headdim;
};

static float score(const struct query *u, int64_t j)
{
    float sum = 0;

    for (int64_t d = 0; d < u->headdim; d++)
        sum += u->q[d] * u->k[j * u->step + d];
    return sum / sqrtf((float)u->headdim);
}

static void attend(const struct query *u, float *scores, float *out)
{
    float most = -INFINITY, sum = 0;

    for (int64_t j = 0; j < u->length; j++) {
        scores[j] = score(u, j);
        most = fmaxf(most, scores[j]);
    }
    for (int64_t j = 0; j < u->length; j++) {
        scores[j] = expf(scores[j] - most);
        sum += scores[j];
    }
    for (int64_t d = 0; d < u->headdim; d++) {
        float weighted = 0;
        for (int64_t j = 0; j < u->length; j++)
            weighted += scores[j] * u->v[j * u->step + d];
        out[d] = weighted / sum;
    }
}

/* This thread's row of scores. */
static float *own(float *scratch, size_t all, int threads)
{
    return scratch + all / (size_t)threads * (size_t)omp_get_thread_num();
}

void attention_prefill_naive(const struct attention *a)
{
    size_t all = attention_scratch(a->seq, a->headdim, a->threads);

#pragma omp parallel for num_threads(a->threads)
    for (int64_t task = 0; task < a->batch * a->heads * a->seq; task++) {
        int64_t i = task % a->seq, h = task / a->seq % a->heads, b = task / a->seq / a->heads;
        int64_t first = b * a->seq * a->ld + h * a->headdim;
        struct query u = { .q = a->q + first + i * a->ld,
                           .k = a->k + first,
                           .v = a->v + first,
                           .step = a->ld,
                           .length = a->causal ? i + 1 : a->seq,
                           .headdim = a->headdim };
        attend(&u, own(a->scratch, all, a->threads),
               a->out + (b * a->seq + i) * a->ldo + h * a->headdim);
    }
}

void attention_decode_naive(const struct attention_decode *a)
{
    size_t all = attention_decode_scratch(a->length, a->threads);

#pragma omp parallel for num_threads(a->threads)
    for (int64_t task = 0; task < a->batch * a->heads; task++) {
        int64_t b = task / a->heads, head = task % a->heads * a->headdim;
        struct query u = { .q = a->q + b * a->ldq + head,
                           .k = a->k + b * a->ld_sequence + head,
                           .v = a->v + b * a->ld_sequence + head,
                           .step = a->ld,
                           .length = a->length,
                           .headdim = a->headdim };
        attend(&u, own(a->scratch, all, a->threads), a->out + b * a->ldo + head);
    }
}

static void prefill_launch(const struct call *call)
{
    struct attention a = attention_of(call);

    attention_prefill_naive(&a);
}

static void decode_launch(const struct call *call)
{
    struct attention_decode a = attention_decode_of(call);

    attention_decode_naive(&a);
}

#define NAIVE(of, ready, run, needs)                                                               \
    {                                                                                              \
        .name = "naive",                                                                           \
        .summary = "by the definition, query by query; limit: latency of one add",                 \
        .kernel = &(of), .device = DEVICE_CPU, .dtype = DTYPE_FP32, .math = MATH_FP32,             \
        .flags = VARIANT_PLAIN, .prepare = (ready), .launch = (run),                               \
        .release = host_state_release, .workspace = (needs),                                       \
    }

const struct variant attention_naive[] = {
    NAIVE(attention_causal_kernel, attention_prepare, prefill_launch, attention_workspace),
    NAIVE(attention_full_kernel, attention_prepare, prefill_launch, attention_workspace),
    NAIVE(attention_decode_kernel, attention_decode_prepare, decode_launch, NULL),
    { .name = NULL },
};
