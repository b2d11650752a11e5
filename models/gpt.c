/* SPDX-License-Identifier: MIT */
/*
 * The seven GPTs as kernels, a prefill and a decode step each; generation of both is in
 * gpt_generation.c.
 *
 * Work. A multiplication of [M,K] by [N,K]^T is 2MNK FLOPs, attention 4C for each (query, key)
 * pair that the causal mask leaves, counted exactly: S(S+1)/2 a sequence and layer in a prefill,
 * S in a decode step. Bytes are the compulsory ones: every weight once, of the two embeddings the
 * rows that can be touched at most, tokens and logits once, in a decode step the cache once
 * (S - 1 positions read and one written).
 *
 * Tolerance. Let u = 2^-24 be the largest relative error of one fp32 rounding, u / sqrt(3) its rms.
 * A dot product of K terms of random sign, summed one after the other, has partial sums that grow
 * as sqrt(i), so its error is (u / sqrt(3)) sqrt(sum i / K) = u sqrt(K / 6) relative to its own
 * rms; lanes and blocks make it less. A layer goes through four products, K <= 4C, and adds to the
 * residual stream, where independent errors add as their squares; the head is one more product.
 * Together u sqrt((4L + 1) 4C / 6), rms. Logits are about normal and the largest of up to 10^8
 * errors lies 6 standard deviations out: max |error| / rms <= 6 u sqrt((4L + 1) 4C / 6).
 * int8 is held against the rounded weights (kernel.round_weight), so what errs more than fp32 does
 * is what enters a product, rounded to 16 bits of its row's largest: to half a step of 2^-15 of
 * that, which is 8 rms at most (a GELU's output; normals reach 5), so v = 2^-13 in what follows,
 * with four operands a layer and the head's. What avx512_vnni leaves out of weights of 10 bits (two
 * bits of w by a low byte of x: 1.1 / 155 of w by 74 / 32512 of the largest, 4 rms as a rule) is
 * 6.5e-5 rms, where v / sqrt(3) is 7e-5: within the same bound. bf16 and tf32 also round what
 * enters each product, to an rms of v / sqrt(3) with their own v: five operands a layer (both
 * norms, q k v, attention's output, the GELU's), and three around the head. None is amplified on
 * its way to the logits, so these add 6 v sqrt((5L + 3) / 3).
 */
#include "base/memory.h"
#include "kernels/host.h"
#include "models/generation/generation.h"

#include <math.h>
#include <stdlib.h>

static const struct gpt_config *config_of(const struct kernel *k)
{
    return k->config;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* Elements that every launch must read: all weights but the embeddings, and of those the rows that
 * `tokens` tokens at `positions` positions can touch. */
static double weights_read(const struct gpt_config *c, double tokens, double positions)
{
    double width = (double)c->width, vocab = (double)c->vocab;
    double all = (double)gpt_weights_count(c, false);
    double embeddings = (vocab + (double)c->block) * width;

    return all - embeddings + (lesser(tokens, vocab) + positions) * width;
}

/* A prefill works on whole sequences, a decode step on the token that comes next in each. */
static double prefill_tokens(const struct kernel *k, const struct shape *s)
{
    (void)k;
    return (double)s->dim[GPT_DIM_BATCH] * (double)s->dim[GPT_DIM_SEQ];
}

static double decode_tokens(const struct kernel *k, const struct shape *s)
{
    (void)k;
    return (double)s->dim[GPT_DIM_BATCH];
}

/* What int8 takes off the bytes of the matrices: some bits an element are read, and a scale an
 * output. */
static double rounded_bytes(const struct gpt_config *c, enum dtype dtype, enum math math)
{
    double bytes = 0;

    for (int i = 0; math == MATH_INT8 && i < GPT_TENSOR_NR; i++) {
        const enum gpt_tensor which = (enum gpt_tensor)i;
        double copies = gpt_weight_is_linear(which) ? (double)c->layers : which == GPT_LM_HEAD;
        int64_t n, k;
        gpt_weight_extents(c, which, &n, &k);
        double elements = (double)n * (double)k;
        bytes += copies * (ceil(elements * (double)gpt_weight_bits(which) / 8) -
                           elements * (double)dtype_size(dtype) + (double)n * sizeof(float));
    }
    return bytes;
}

static struct work prefill_work(const struct kernel *k, const struct shape *s, enum dtype dtype,
                                enum math math)
{
    const struct gpt_config *c = config_of(k);
    double batch = (double)s->dim[GPT_DIM_BATCH], seq = (double)s->dim[GPT_DIM_SEQ];
    double tokens = batch * seq, element = (double)dtype_size(dtype);

    return (struct work) {
        .flops = gpt_config_linear_flops(c, tokens, tokens) +
                 gpt_config_attention_flops(c, batch * seq * (seq + 1) / 2),
        .bytes = 4 * tokens + element * (weights_read(c, tokens, seq) + tokens * (double)c->vocab) +
                 rounded_bytes(c, dtype, math),
    };
}

static struct work decode_work(const struct kernel *k, const struct shape *s, enum dtype dtype,
                               enum math math)
{
    const struct gpt_config *c = config_of(k);
    double batch = (double)s->dim[GPT_DIM_BATCH], seq = (double)s->dim[GPT_DIM_SEQ];
    double cache = 2 * (double)c->layers * batch * seq * (double)c->width;
    double element = (double)dtype_size(dtype);

    return (struct work) {
        .flops =
            gpt_config_linear_flops(c, batch, batch) + gpt_config_attention_flops(c, batch * seq),
        .bytes = 4 * batch +
                 element * (weights_read(c, batch, 1) + cache + batch * (double)c->vocab) +
                 rounded_bytes(c, dtype, math),
    };
}

static struct tensor tokens_tensor(const struct gpt_config *c, int64_t batch, int64_t seq)
{
    return (struct tensor) { .name = "tokens",
                             .role = TENSOR_IN,
                             .dtype = DTYPE_INT32,
                             .rank = 2,
                             .extent = { batch, seq },
                             .fill = FILL_TOKENS,
                             .limit = c->vocab };
}

static struct tensor params_tensor(const struct gpt_config *c, enum dtype dtype)
{
    return (struct tensor) { .name = "params",
                             .role = TENSOR_WEIGHT,
                             .dtype = dtype,
                             .rank = 1,
                             .extent = { gpt_weights_count(c, false) },
                             .fill = FILL_KERNEL };
}

static struct tensor logits_tensor(const struct gpt_config *c, enum dtype dtype, int64_t rows)
{
    return (struct tensor) { .name = "logits",
                             .role = TENSOR_OUT,
                             .dtype = dtype,
                             .rank = 2,
                             .extent = { rows, c->vocab } };
}

/* Keys and values of unit size: much larger than the model's own, so that a mistake in attention
 * shows in the logits. */
static struct tensor cache_tensor(const struct gpt_config *c, enum dtype dtype, const char *name,
                                  const struct shape *s)
{
    return (struct tensor) { .name = name,
                             .role = TENSOR_INOUT,
                             .dtype = dtype,
                             .rank = 4,
                             .extent = { c->layers, s->dim[GPT_DIM_BATCH], s->dim[GPT_DIM_SEQ],
                                         c->width },
                             .fill = FILL_NORMAL,
                             .scale = 1 };
}

static int prefill_layout(const struct kernel *k, const struct shape *s, enum dtype dtype,
                          struct tensor *t)
{
    const struct gpt_config *c = config_of(k);
    int64_t batch = s->dim[GPT_DIM_BATCH], seq = s->dim[GPT_DIM_SEQ];

    t[GPT_PREFILL_TOKENS] = tokens_tensor(c, batch, seq);
    t[GPT_PREFILL_PARAMS] = params_tensor(c, dtype);
    t[GPT_PREFILL_LOGITS] = logits_tensor(c, dtype, batch * seq);
    return GPT_PREFILL_NR;
}

static int decode_layout(const struct kernel *k, const struct shape *s, enum dtype dtype,
                         struct tensor *t)
{
    const struct gpt_config *c = config_of(k);
    int64_t batch = s->dim[GPT_DIM_BATCH];

    t[GPT_DECODE_TOKENS] = tokens_tensor(c, batch, 1);
    t[GPT_DECODE_PARAMS] = params_tensor(c, dtype);
    t[GPT_DECODE_K] = cache_tensor(c, dtype, "k_cache", s);
    t[GPT_DECODE_V] = cache_tensor(c, dtype, "v_cache", s);
    t[GPT_DECODE_LOGITS] = logits_tensor(c, dtype, batch);
    return GPT_DECODE_NR;
}

static void fill(const struct kernel *k, const struct shape *s, struct tensor *t, uint64_t seed)
{
    struct gpt_weights w = { .config = config_of(k), .data = t->data };

    (void)s;
    if (t->dtype != DTYPE_FP32)
        w.data = memory_zeroed((size_t)tensor_elements(t), sizeof(float));
    gpt_weights_seed(&w, seed);
    gpt_weights_spread(&w, seed);
    if (t->dtype == DTYPE_FP32)
        return;
    for (int64_t i = 0; i < tensor_elements(t); i++)
        tensor_set(t, i, (double)w.data[i]);
    free(w.data);
}

static void round_weight(const struct kernel *k, const struct shape *s, struct tensor *t,
                         enum math math)
{
    const struct gpt_config *c = config_of(k);
    const struct gpt_weights w = { .config = c, .data = t->data };

    (void)s, (void)math;
    for (int64_t i = 0; i < c->layers * GPT_TENSOR_NR; i++) {
        const enum gpt_tensor which = (enum gpt_tensor)(i % GPT_TENSOR_NR);
        int64_t n, cols;
        if (!gpt_weight_is_linear(which) && (which != GPT_LM_HEAD || i != GPT_LM_HEAD))
            continue;
        gpt_weight_extents(c, which, &n, &cols);
        for (int64_t j = 0; j < n; j++)
            host_int_round_row(gpt_weight(&w, which, i / GPT_TENSOR_NR) + j * cols, cols,
                               gpt_weight_bits(which));
    }
}

static void prefill_oracle_cost(const struct kernel *k, const struct shape *s, double *fixed,
                                double *per_row)
{
    const struct gpt_config *c = config_of(k);
    double batch = (double)s->dim[GPT_DIM_BATCH], seq = (double)s->dim[GPT_DIM_SEQ];

    *fixed = gpt_config_linear_flops(c, batch * seq, 0) +
             gpt_config_attention_flops(c, batch * seq * (seq + 1) / 2);
    *per_row = gpt_config_linear_flops(c, 0, 1);
}

/* Here a row is a sequence, and those not asked for are not evaluated. */
static void decode_oracle_cost(const struct kernel *k, const struct shape *s, double *fixed,
                               double *per_row)
{
    const struct gpt_config *c = config_of(k);

    *fixed = 0;
    *per_row = gpt_config_linear_flops(c, 1, 1) +
               gpt_config_attention_flops(c, (double)s->dim[GPT_DIM_SEQ]);
}

static double tolerance(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    const struct gpt_config *c = config_of(k);

    (void)s;
    double layers = (double)c->layers, width = (double)c->width;
    double sums = HOST_FP32_EPS / 2 * sqrt((4 * layers + 1) * 4 * width / 6);
    double stores = host_coarse_epsilon(dtype, math) / 2 * sqrt((5 * layers + 3) / 3);

    double rounded = math == MATH_INT8 ? 0x1p-13 * sqrt((4 * layers + 1) / 3) : 0;

    return 6 * (sums + stores + rounded);
}

#define TOO_LONG(id, name_, layers_, heads_, width_, block_)                                       \
    "seq is beyond the block size " #block_ " of " name_,

static const char *refuses(const struct kernel *k, const struct shape *s)
{
    static const char *const too_long[] = { GPT_MODELS(TOO_LONG) };
    const struct gpt_config *c = config_of(k);

    return s->dim[GPT_DIM_SEQ] > c->block ? too_long[c - gpt_configs] : NULL;
}

static const struct shape prefill_shapes[] = { { { 4, 64 } } };

/* One token, an odd batch, one more than a block of 64; a step, an odd number and a block. Nine
 * sequences are more than an H200 has clusters of 16 blocks at a time: gpt_cuda_cluster_bf16.cu
 * takes those of 8 then. */
static const struct shape test_shapes[] = {
    { { 1, 1 } },
    { { 3, 17 } },
    { { 1, 65 } },
    { { 9, 3 } },
};
/* Evaluating the large model in float64 takes a second even so. */
static const struct shape large_test_shapes[] = { { { 1, 8 } } };

enum { LARGE_WIDTH = 512 };

#define NR(array)      (sizeof(array) / sizeof((array)[0]))
#define INDEX(id, ...) INDEX_##id,
enum { GPT_MODELS(INDEX) INDEX_NR };

#define COMMON(id, name_, width_)                                                                  \
    .dims = { "batch", "seq" }, .config = &gpt_configs[INDEX_##id], .model = (name_),              \
    .fill = fill, .round_weight = round_weight, .tolerance = tolerance, .refuses = refuses,        \
    .test_shapes = (width_) < LARGE_WIDTH ? test_shapes : large_test_shapes,                       \
    .nr_test_shapes = (width_) < LARGE_WIDTH ? NR(test_shapes) : NR(large_test_shapes)

#define KERNELS(id, name_, layers_, heads_, width_, block_)                                        \
    const struct kernel gpt_prefill_##id = {                                                       \
        .name = "gpt/" name_ "/prefill",                                                           \
        .summary = "forward of " name_ " (" #layers_ " layers, " #heads_ " heads, width " #width_  \
                   "): batch x seq tokens to all logits",                                          \
        .work = prefill_work,                                                                      \
        .tokens = prefill_tokens,                                                                  \
        .layout = prefill_layout,                                                                  \
        .oracle = gpt_prefill_oracle,                                                              \
        .oracle_cost = prefill_oracle_cost,                                                        \
        .shapes = prefill_shapes,                                                                  \
        .nr_shapes = NR(prefill_shapes),                                                           \
        COMMON(id, name_, width_),                                                                 \
    };                                                                                             \
    static const struct shape decode_shapes_##id[] = { { { 1, (block_) / 2 } } };                  \
    const struct kernel gpt_decode_##id = {                                                        \
        .name = "gpt/" name_ "/decode",                                                            \
        .summary = "one token of " name_ " (" #layers_ " layers, " #heads_                         \
                   " heads, width " #width_ ") against a cache of seq positions",                  \
        .work = decode_work,                                                                       \
        .tokens = decode_tokens,                                                                   \
        .layout = decode_layout,                                                                   \
        .oracle = gpt_decode_oracle,                                                               \
        .oracle_cost = decode_oracle_cost,                                                         \
        .shapes = decode_shapes_##id,                                                              \
        .nr_shapes = NR(decode_shapes_##id),                                                       \
        COMMON(id, name_, width_),                                                                 \
    };

GPT_MODELS(KERNELS)

#define ADDRESSES(id, ...) &gpt_prefill_##id, &gpt_decode_##id,

#define GENERATE_ADDRESS(id, ...) &gpt_generate_##id,

const struct kernel *const gpt_kernels[] = { GPT_MODELS(ADDRESSES) GPT_MODELS(GENERATE_ADDRESS)
                                                 NULL };
