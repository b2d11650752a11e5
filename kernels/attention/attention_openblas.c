/* SPDX-License-Identifier: MIT */
/*
 * Attention as a library without a fused kernel computes it: two products of OpenBLAS and a softmax
 * between them, for reference.
 *
 *     scores = Q K^T log2(e) / sqrt(D)      cblas_sgemm, q and k where they lie
 *     weights = 2^(scores - max), row sums  vectorised, the row in the first-level cache
 *     out = weights V                       cblas_sgemm; then rows are divided by their sums
 *
 * 512 queries at a time, so that scores of long sequences stay in the caches: as fast as all at
 * once up to 1024 positions, faster by 1.2 to 1.3 at 2048. A head a thread, each with scores of its
 * own, and OpenBLAS on one thread; its own threads are used where there are fewer heads than
 * threads. Under a causal mask both products are those of full attention and hidden weights are 0,
 * as libraries without a fused kernel do it.
 */
#include "kernels/attention/attention_call.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"

#include <math.h>
#include <omp.h>

/* Scores [rows][positions] of queries `first` on, to weights that are not divided by their sum yet;
 * under a causal mask query i has only its first i + 1. */
struct weighing {
    int64_t first, rows, positions;
    int64_t begin, end; /* the rows of this share */
    bool causal;
    float *scores, *sum;
};

typedef void weighing_fn(const struct weighing *w);
SIMD_DECLARE(weighing_fn, attention_weights);

#ifdef SIMD_ISA

static float highest(const float *x, int64_t n)
{
    simd_float most[2] = { simd_set(-INFINITY), simd_set(-INFINITY) };
    float lanes[SIMD_WIDTH];
    int64_t j = 0;

    for (; j + 2 * SIMD_WIDTH <= n; j += 2 * SIMD_WIDTH) {
        most[0] = simd_max(most[0], simd_load(x + j));
        most[1] = simd_max(most[1], simd_load(x + j + SIMD_WIDTH));
    }
    simd_store(lanes, simd_max(most[0], most[1]));
    for (int i = 1; i < SIMD_WIDTH; i++)
        lanes[0] = fmaxf(lanes[0], lanes[i]);
    for (; j < n; j++)
        lanes[0] = fmaxf(lanes[0], x[j]);
    return lanes[0];
}

static float weigh_row(float *x, int64_t n)
{
    const simd_float most = simd_set(highest(x, n));
    simd_float sum = simd_set(0);
    int64_t j = 0;

    for (; j + SIMD_WIDTH <= n; j += SIMD_WIDTH) {
        simd_float p = simd_exp2(simd_load(x + j) - most);
        simd_store(x + j, p);
        sum += p;
    }
    if (j < n) {
        simd_store_part(x + j, simd_exp2(simd_load_part(x + j, n - j) - most), n - j);
        sum += simd_load_part(x + j, n - j);
    }
    return simd_sum(sum);
}

void SIMD_NAME(attention_weights)(const struct weighing *w)
{
    for (int64_t i = w->begin; i < w->end; i++) {
        float *row = w->scores + i * w->positions;
        int64_t seen = w->causal ? w->first + i + 1 : w->positions;

        w->sum[i] = weigh_row(row, seen);
        memset(row + seen, 0, (size_t)(w->positions - seen) * sizeof(*row));
    }
}

#else

#include "kernels/openblas.h"

#include <limits.h>

enum { ROWS = 512 }; /* queries at a time */

static int64_t rows_of(int64_t seq)
{
    return seq < ROWS ? seq : ROWS;
}

/* The matrix of scores of some queries, and its rows' sums. */
static size_t head_scratch(int64_t seq)
{
    return (size_t)(rows_of(seq) * (seq + 1) + 15) / 16 * 16;
}

size_t attention_openblas_scratch(int64_t seq, int threads)
{
    return (size_t)threads * head_scratch(seq);
}

static void scale_rows(const struct attention *a, const struct weighing *w, float *out)
{
    for (int64_t i = 0; i < w->rows; i++) {
        float scale = 1 / w->sum[i];
        for (int64_t d = 0; d < a->headdim; d++)
            out[i * a->ldo + d] *= scale;
    }
}

/* The rows of `w`, a share for each thread. */
static void weigh(const struct weighing *w, int threads)
{
    weighing_fn *share = SIMD_CHOOSE(attention_weights);

#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        struct weighing part = *w;
        part.begin = t * w->rows / threads;
        part.end = (t + 1) * w->rows / threads;
        share(&part);
    }
}

/* Queries w->first on of one head, whose q, k and v are at `at` and its output at `out`. */
static void attend(const struct attention *a, int64_t at, const struct weighing *w, float *out,
                   int threads)
{
    const float scale = (float)(1.4426950408889634 / sqrt((double)a->headdim));
    blasint rows = (blasint)w->rows, n = (blasint)a->seq, d = (blasint)a->headdim;
    blasint ld = (blasint)a->ld;

    openblas()->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, n, d, scale,
                      a->q + at + w->first * a->ld, ld, a->k + at, ld, 0, w->scores, n);
    weigh(w, threads);
    openblas()->sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, d, n, 1, w->scores, n,
                      a->v + at, ld, 0, out, (blasint)a->ldo);
    scale_rows(a, w, out);
}

static void head(const struct attention *a, int64_t task, float *scratch, int threads)
{
    int64_t b = task / a->heads, at = task % a->heads * a->headdim, rows = rows_of(a->seq);
    float *out = a->out + b * a->seq * a->ldo + at;

    for (int64_t first = 0; first < a->seq; first += rows) {
        struct weighing w = { .first = first,
                              .rows = a->seq - first < rows ? a->seq - first : rows,
                              .positions = a->seq,
                              .causal = a->causal,
                              .scores = scratch,
                              .sum = scratch + rows * a->seq };
        attend(a, b * a->seq * a->ld + at, &w, out + first * a->ldo, threads);
    }
}

/* Threads that OpenBLAS is to use itself, of those for the heads of all sequences. */
static int inner_threads(int64_t heads, int threads)
{
    return heads < threads ? threads : 1;
}

void attention_prefill_openblas(const struct attention *a)
{
    int inner = inner_threads(a->batch * a->heads, a->threads);
    size_t each = head_scratch(a->seq);

    openblas_use_threads(inner);
#pragma omp parallel for num_threads(inner > 1 ? 1 : a->threads) schedule(dynamic)
    for (int64_t task = 0; task < a->batch * a->heads; task++)
        head(a, task, a->scratch + each * (size_t)omp_get_thread_num(), inner);
}

static int64_t workspace(const struct call *call)
{
    return host_bytes(attention_openblas_scratch(call->shape.dim[1], host_threads(call)));
}

static int prepare(struct call *call, struct error *err)
{
    struct attention a = attention_of(call);

    if (openblas_ready(inner_threads(a.batch * a.heads, a.threads), err) != 0)
        return -1;
    return host_state(call, attention_openblas_scratch(a.seq, a.threads), err);
}

/* BLAS counts in blasint, an int of 32 bits in the usual build. */
static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    if (s->dim[1] > INT_MAX)
        return error_set(why, "seq=%lld is beyond OpenBLAS's integers", (long long)s->dim[1]) == 0;
    if (s->dim[2] * s->dim[3] > INT_MAX / 3)
        return error_set(why, "heads x headdim is beyond OpenBLAS's integers") == 0;
    return simd_supports(k, s, d, why) &&
           openblas_ready(inner_threads(s->dim[0] * s->dim[2], d->threads), why) == 0;
}

static void launch(const struct call *call)
{
    struct attention a = attention_of(call);

    attention_prefill_openblas(&a);
}

#define OPENBLAS(of)                                                                               \
    {                                                                                              \
        .name = "openblas", .summary = "two cblas_sgemm and a softmax; the vendor reference",      \
        .kernel = &(of), .device = DEVICE_CPU, .dtype = DTYPE_FP32, .math = MATH_FP32,             \
        .flags = VARIANT_VENDOR, .supports = supports, .prepare = prepare, .launch = launch,       \
        .release = host_state_release, .workspace = workspace,                                     \
    }

const struct variant attention_openblas[] = {
    OPENBLAS(attention_causal_kernel),
    OPENBLAS(attention_full_kernel),
    { .name = NULL },
};

#endif
