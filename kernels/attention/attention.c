/* SPDX-License-Identifier: MIT */
#include "kernels/attention/attention.h"

#include "base/memory.h"
#include "kernels/host.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH, SEQ, HEADS, HEADDIM };

static int64_t width_of(const struct shape *s)
{
    return s->dim[HEADS] * s->dim[HEADDIM];
}

/* 2 headdim FLOPs for the score of a pair, and as many for its share of the output. */
static struct work work_of(const struct shape *s, double pairs, double rows, enum dtype dtype)
{
    double width = (double)width_of(s), batch = (double)s->dim[BATCH];

    return (struct work) { .flops = 4 * batch * pairs * width,
                           .bytes = batch * rows * width * (double)dtype_size(dtype) };
}

static struct work causal_work(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                               enum math math)
{
    (void)kernel, (void)math;
    double seq = (double)s->dim[SEQ];

    return work_of(s, seq * (seq + 1) / 2, 4 * seq, dtype);
}

static struct work full_work(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                             enum math math)
{
    (void)kernel, (void)math;
    double seq = (double)s->dim[SEQ];

    return work_of(s, seq * seq, 4 * seq, dtype);
}

static struct work decode_work(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                               enum math math)
{
    (void)kernel, (void)math;
    double seq = (double)s->dim[SEQ];

    return work_of(s, seq, 2 * seq + 2, dtype);
}

static int prefill_layout(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                          struct tensor *t)
{
    (void)kernel;
    int64_t tokens = s->dim[BATCH] * s->dim[SEQ], width = width_of(s);

    t[ATTENTION_QKV] = (struct tensor) { .name = "qkv",
                                         .role = TENSOR_IN,
                                         .dtype = dtype,
                                         .rank = 2,
                                         .extent = { tokens, 3 * width },
                                         .scale = 1 };
    t[ATTENTION_OUT] = (struct tensor) {
        .name = "out", .role = TENSOR_OUT, .dtype = dtype, .rank = 2, .extent = { tokens, width }
    };
    return ATTENTION_NR;
}

static int decode_layout(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                         struct tensor *t)
{
    (void)kernel;
    int64_t width = width_of(s);
    const struct tensor cache = { .role = TENSOR_IN,
                                  .dtype = dtype,
                                  .rank = 3,
                                  .extent = { s->dim[BATCH], s->dim[SEQ], width },
                                  .scale = 1 };
    const struct tensor token = {
        .role = TENSOR_IN, .dtype = dtype, .rank = 2, .extent = { s->dim[BATCH], width }, .scale = 1
    };

    t[ATTENTION_DECODE_Q] = token;
    t[ATTENTION_DECODE_Q].name = "q";
    t[ATTENTION_DECODE_K] = cache;
    t[ATTENTION_DECODE_K].name = "k";
    t[ATTENTION_DECODE_V] = cache;
    t[ATTENTION_DECODE_V].name = "v";
    t[ATTENTION_DECODE_OUT] = token;
    t[ATTENTION_DECODE_OUT].name = "out";
    t[ATTENTION_DECODE_OUT].role = TENSOR_OUT;
    return ATTENTION_DECODE_NR;
}

/* Where one query finds its keys and values. */
struct view {
    const struct tensor *q, *k, *v;
    int64_t q_at, k_at, v_at; /* of the first position */
    int64_t step;             /* between positions */
    int64_t length, headdim;
};

/* One query of one head, by the definition; the largest score is taken off first. */
static void attend(const struct view *w, double *out)
{
    double *scores = memory_zeroed((size_t)(w->length + 2 * w->headdim), sizeof(*scores));
    double *q = scores + w->length, *row = q + w->headdim;
    double most = -INFINITY, sum = 0;

    host_doubles(w->q, w->q_at, w->headdim, q);
    for (int64_t j = 0; j < w->length; j++) {
        host_doubles(w->k, w->k_at + j * w->step, w->headdim, row);
        scores[j] = host_dot(q, row, w->headdim) / sqrt((double)w->headdim);
        most = fmax(most, scores[j]);
    }
    for (int64_t d = 0; d < w->headdim; d++)
        out[d] = 0;
    for (int64_t j = 0; j < w->length; j++) {
        double p = exp(scores[j] - most);
        sum += p;
        host_doubles(w->v, w->v_at + j * w->step, w->headdim, row);
        for (int64_t d = 0; d < w->headdim; d++)
            out[d] += p * row[d];
    }
    for (int64_t d = 0; d < w->headdim; d++)
        out[d] /= sum;
    free(scores);
}

static void prefill_oracle(const struct kernel *kernel, const struct shape *s,
                           const struct tensor *t, int out, const int64_t *rows, size_t nr_rows,
                           double *expected)
{
    (void)out;
    const struct tensor *qkv = &t[ATTENTION_QKV];
    int64_t width = width_of(s), seq = s->dim[SEQ], headdim = s->dim[HEADDIM];
    bool causal = kernel == &attention_causal_kernel;

    for (size_t i = 0; i < nr_rows; i++)
        for (int64_t h = 0; h < s->dim[HEADS]; h++) {
            int64_t position = rows[i] % seq, head = h * headdim;
            int64_t first = (rows[i] - position) * 3 * width + head;
            struct view w = { .q = qkv,
                              .k = qkv,
                              .v = qkv,
                              .q_at = rows[i] * 3 * width + head,
                              .k_at = first + width,
                              .v_at = first + 2 * width,
                              .step = 3 * width,
                              .length = causal ? position + 1 : seq,
                              .headdim = headdim };
            attend(&w, expected + (int64_t)i * width + head);
        }
}

static void decode_oracle(const struct kernel *kernel, const struct shape *s,
                          const struct tensor *t, int out, const int64_t *rows, size_t nr_rows,
                          double *expected)
{
    (void)kernel, (void)out;
    int64_t width = width_of(s), headdim = s->dim[HEADDIM];

    for (size_t i = 0; i < nr_rows; i++)
        for (int64_t h = 0; h < s->dim[HEADS]; h++) {
            int64_t first = rows[i] * s->dim[SEQ] * width + h * headdim;
            struct view w = { .q = &t[ATTENTION_DECODE_Q],
                              .k = &t[ATTENTION_DECODE_K],
                              .v = &t[ATTENTION_DECODE_V],
                              .q_at = rows[i] * width + h * headdim,
                              .k_at = first,
                              .v_at = first,
                              .step = width,
                              .length = s->dim[SEQ],
                              .headdim = headdim };
            attend(&w, expected + (int64_t)i * width + h * headdim);
        }
}

/* An exponential counts as 20. */
static void oracle_cost(const struct kernel *kernel, const struct shape *s, double *fixed,
                        double *per_row)
{
    (void)kernel;
    *fixed = 0;
    *per_row = (double)s->dim[SEQ] * (6 * (double)width_of(s) + 20 * (double)s->dim[HEADS]);
}

/*
 * Scores are N(0, 1), the largest of a row near 5, differences of two below 10. A weight errs by
 * 5 eps for rounding the difference, 2 for the exponential, and by what the sum of headdim
 * products behind its score does: 0.2 eps sqrt(headdim) of the score in the standard (see gemm.c),
 * so 3 eps sqrt(headdim) at most for a score of 5. Errors of many weights average out as the
 * values themselves do, and count against the rms of the output one to one; where one weight
 * rules, output and error are sqrt(seq) rms large at most. Adding up seq weighted values errs by
 * another 0.2 eps sqrt(seq) in the standard.
 *
 * bf16 and tf32 round what enters both products and (bf16) the output, by half an eps each, of
 * values that are some 5 rms large. Under a causal mask the first rows are not: a mean of n values
 * has the square E[w^2] / n = e / n, that of all rows is e ln(seq) / seq, but row 0 is a v itself,
 * up to 4, of which an eps is lost to rounding, and in the next rows as much again to the weights.
 * tf32 also cuts queries and keys: 2 eps of a score, which errs as much as all the rest.
 *
 * fp8 rounds queries, keys, values and weights to e4m3's 4 bits, by half a 2^-3 at most, in the
 * standard 0.026 of each: a score errs by sqrt(2) of that, so does its weight, and with the
 * roundings of weights and values an output of one rms by 0.053, which is 0.3 for the 5.5 standard
 * deviations of a million values; 8 times 2^-4 is 0.5. But with so coarse a type what one weight
 * has in a row counts: the largest of some millions, e^5.5 of seq e^0.5, with a value of 4, is up
 * to 0.3 sqrt(seq) rms, of which score and weight lose an eighth: sqrt(seq) / 2 times 2^-4.
 */
static double tolerance(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    bool decode = kernel == &attention_decode_kernel, causal = kernel == &attention_causal_kernel;
    double rows = (double)s->dim[BATCH] * (decode ? 1 : (double)s->dim[SEQ]);
    double few = host_few_values(rows * (double)width_of(s)), seq = (double)s->dim[SEQ];
    double chains = sqrt((double)s->dim[HEADDIM]) + sqrt(seq);
    double rounding = HOST_FP32_EPS * (32 + 4 * chains);
    double first = causal && seq > 2 ? 2 * sqrt(seq / (2.718 * log(seq))) : 0;
    double coarse = host_coarse_epsilon(dtype, math) * (math == MATH_TF32 ? 2 : 1);

    if (math == MATH_FP8)
        return few * (rounding + (8 + first + sqrt(seq) / 2) * 0x1p-4);
    return few * (rounding + (8 + first) * coarse);
}

/* nano (3 heads of 16), mini and tile-large (32), gpt2 (12 of 64), and a long one. */
static const struct shape prefill_shapes[] = {
    { { 4, 64, 3, 16 } },  { { 4, 64, 6, 32 } },  { { 4, 64, 8, 32 } },
    { { 4, 64, 12, 64 } }, { { 1, 512, 8, 32 } }, { { 1, 1024, 12, 64 } },
};

static const struct shape decode_shapes[] = {
    { { 4, 64, 3, 16 } },    { { 4, 64, 8, 32 } },     { { 4, 512, 8, 32 } },
    { { 1, 1024, 12, 64 } }, { { 16, 1024, 12, 64 } },
};

/* One position, one off every tile edge, head sizes that fill no vector and several; then as many
 * queries as a GPU with few SMs takes large tiles for, and a cache cut into many pieces; as many
 * heads as 132 SMs take tiles of 128 queries for, and a queue; last, for one SM, a queue of tiles
 * of 192 queries, and one such tile in place of two of 128. */
static const struct shape test_shapes[] = {
    { { 1, 1, 1, 1 } },     { { 2, 1, 3, 16 } },   { { 1, 2, 2, 17 } },    { { 1, 5, 1, 8 } },
    { { 1, 63, 1, 32 } },   { { 3, 64, 3, 16 } },  { { 2, 65, 2, 17 } },   { { 1, 127, 2, 8 } },
    { { 1, 129, 1, 64 } },  { { 1, 65, 1, 128 } }, { { 1, 200, 2, 100 } }, { { 1, 300, 1, 1 } },
    { { 3, 257, 1, 16 } },  { { 2, 300, 2, 32 } }, { { 4, 129, 1, 64 } },  { { 2, 200, 2, 128 } },
    { { 1, 1025, 1, 16 } }, { { 4, 9, 36, 128 } }, { { 11, 5, 72, 128 } }, { { 2, 200, 2, 64 } },
    { { 1, 131, 2, 128 } },
};

const struct kernel attention_causal_kernel = {
    .name = "attention/causal",
    .summary = "multi-head attention over packed qkv, position i sees 0..i",
    .dims = { "batch", "seq", "heads", "headdim" },
    .work = causal_work,
    .layout = prefill_layout,
    .oracle = prefill_oracle,
    .oracle_cost = oracle_cost,
    .tolerance = tolerance,
    .shapes = prefill_shapes,
    .nr_shapes = sizeof(prefill_shapes) / sizeof(prefill_shapes[0]),
    .test_shapes = test_shapes,
    .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),
};

const struct kernel attention_full_kernel = {
    .name = "attention/full",
    .summary = "multi-head attention over packed qkv, every position sees all",
    .dims = { "batch", "seq", "heads", "headdim" },
    .work = full_work,
    .layout = prefill_layout,
    .oracle = prefill_oracle,
    .oracle_cost = oracle_cost,
    .tolerance = tolerance,
    .shapes = prefill_shapes,
    .nr_shapes = sizeof(prefill_shapes) / sizeof(prefill_shapes[0]),
    .test_shapes = test_shapes,
    .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),
};

const struct kernel attention_decode_kernel = {
    .name = "attention/decode",
    .summary = "one query a sequence against a cache of seq positions",
    .dims = { "batch", "seq", "heads", "headdim" },
    .work = decode_work,
    .layout = decode_layout,
    .oracle = decode_oracle,
    .oracle_cost = oracle_cost,
    .tolerance = tolerance,
    .shapes = decode_shapes,
    .nr_shapes = sizeof(decode_shapes) / sizeof(decode_shapes[0]),
    .test_shapes = test_shapes,
    .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),
};

const struct kernel *const attention_kernels[] = {
    &attention_causal_kernel,
    &attention_full_kernel,
    &attention_decode_kernel,
    NULL,
};
