/* SPDX-License-Identifier: MIT */
#include "session/model_agreement.h"

#include "base/memory.h"
#include "kernels/simd.h"
#include "stats/random.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* The largest of a row, and by how much it leads. */
static int64_t agreement_largest(const float *row, int64_t vocab, double *lead)
{
    int64_t best = 0;
    double second = -INFINITY;

    for (int64_t i = 1; i < vocab; i++) {
        const bool is_best = row[i] > row[best];
        second = fmax(second, (double)row[is_best ? best : i]);
        best = is_best ? i : best;
    }
    *lead = (double)row[best] - second;
    return best;
}

static double agreement_rms(const float *a, const float *b, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++) {
        const double d = (double)a[i] - (b ? (double)b[i] : 0);
        sum += d * d;
    }
    return sqrt(sum / (double)n);
}

/* Logits [rows, vocab], row by row. */
static struct agreement agreement_of(const float *fp32, const float *other, int64_t rows,
                                     int64_t vocab)
{
    struct agreement a = { .tokens = rows };
    const double error = agreement_rms(fp32, other, rows * vocab);

    a.error = error / agreement_rms(fp32, NULL, rows * vocab);
    for (int64_t i = 0; i < rows; i++) {
        double lead, unused;
        const int64_t first = agreement_largest(fp32 + i * vocab, vocab, &lead);
        const bool same = first == agreement_largest(other + i * vocab, vocab, &unused);
        const bool clear = lead > AGREEMENT_CLEAR * error;
        a.same += same;
        a.clear += clear;
        a.clear_same += clear && same;
    }
    return a;
}

void agreement_tokens(struct gpt_tokens *t, const struct gpt_config *c, uint64_t seed)
{
    const int64_t seq = c->block < AGREEMENT_SEQUENCE ? c->block : AGREEMENT_SEQUENCE;
    struct random random;

    *t = (struct gpt_tokens) { .seq = seq, .batch = AGREEMENT_TOKENS / seq };
    t->ids = memory_zeroed((size_t)(t->batch * t->seq), sizeof(*t->ids));
    random_seed(&random, seed);
    for (int64_t i = 0; i < t->batch * t->seq; i++)
        t->ids[i] = (int32_t)random_below(&random, (uint64_t)c->vocab);
}

static bool agreement_rounds(const struct model_backend *b, const struct gpt_model *m)
{
    const struct variant *v = b->variant;

    if (math_rounds_weights(v->math) && !v->kernel->round_weight)
        return false;
    if (m->weights.tied && (math_rounds_weights(v->math) || b->ops))
        return false; /* the head's matrix is rounded there, and the embedding is not */
    return math_rounds_weights(v->math) || v->dtype == DTYPE_BF16 || v->dtype == DTYPE_FP16;
}

static void agreement_narrow(float *data, int64_t n, enum dtype dtype)
{
    uint16_t one = 0;
    struct tensor narrow = { .dtype = dtype, .rank = 1, .extent = { 1 }, .data = &one };

    for (int64_t i = 0; i < n; i++) {
        tensor_set(&narrow, 0, (double)data[i]);
        data[i] = (float)tensor_get(&narrow, 0);
    }
}

/* To the storage type of the variant, of the host's forward the matrices alone; or as its
 * arithmetic keeps them. */
static void agreement_round(const struct model_backend *b, const struct gpt_model *m)
{
    const struct variant *v = b->variant;
    const struct shape none = { { 0 } };
    struct tensor blob = { .dtype = DTYPE_FP32, .rank = 1, .data = m->weights.data };

    blob.extent[0] = gpt_weights_count(m->config, m->weights.tied);
    if (math_rounds_weights(v->math))
        v->kernel->round_weight(v->kernel, &none, &blob, v->math);
    else if (!b->ops)
        agreement_narrow(m->weights.data, blob.extent[0], v->dtype);
    for (int64_t i = 0; b->ops && v->dtype != DTYPE_FP32 && i < m->config->layers * GPT_TENSOR_NR;
         i++) {
        const enum gpt_tensor which = (enum gpt_tensor)(i % GPT_TENSOR_NR);
        if (gpt_weight_is_linear(which) || i == GPT_LM_HEAD)
            agreement_narrow(gpt_weight(&m->weights, which, i / GPT_TENSOR_NR),
                             gpt_weight_elements(m->config, which), v->dtype);
    }
}

int model_agreement_check(const struct model_backend *b, const struct gpt_tokens *tokens,
                          struct error *err)
{
    int rc = model_backend_check_logits(b, tokens, err);

    if (rc == 0 && !simd_supports(NULL, NULL, NULL, err))
        rc = CALL_UNSUPPORTED;
    return rc;
}

int model_agreement_measure(struct model_backend *b, const struct gpt_model *m,
                            const struct gpt_tokens *tokens, struct model_agreement *a,
                            struct error *err)
{
    const int64_t rows = tokens->batch * tokens->seq, vocab = m->config->vocab;
    const int threads =
        b->variant->device == DEVICE_CPU ? b->device.threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
    float *rounded = NULL, *other = NULL;
    float *fp32 = gpt_model_logits(m, &gpt_ops_simd, tokens, threads, err);
    int rc = fp32 ? model_backend_logits(b, m, tokens, &other, err) : -1;

    *a = (struct model_agreement) { .weights = { .tokens = 0 } };
    if (rc)
        goto out;
    a->backend = agreement_of(fp32, other, rows, vocab);
    if (!agreement_rounds(b, m))
        goto out;
    agreement_round(b, m);
    rounded = gpt_model_logits(m, &gpt_ops_simd, tokens, threads, err);
    if (rounded)
        a->weights = agreement_of(fp32, rounded, rows, vocab);
    rc = rounded ? 0 : -1;
out:
    free(fp32);
    free(other);
    free(rounded);
    return rc;
}
