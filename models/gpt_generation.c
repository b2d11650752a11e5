/* SPDX-License-Identifier: MIT */
/*
 * Work. Of the prefill what its last position needs: in the last layer keys and values of all
 * tokens and the rest of one a sequence; then a decode step for each token but the first. Bytes are
 * the compulsory ones of a launch: weights once, although every step reads them again where no
 * cache holds them.
 *
 * Tolerance. That of the other forwards (models/gpt.c): the same sums, and the same products.
 */
#include "base/memory.h"
#include "core/clock.h"
#include "core/record.h"
#include "kernels/host.h"
#include "models/generation/generation.h"
#include "models/gpt_generate.h"
#include "profile/profile.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct gpt_config *generation_config(const struct kernel *k)
{
    return k->config;
}

static double generation_tokens(const struct kernel *k, const struct shape *s)
{
    (void)k;
    return (double)s->dim[GPT_DIM_BATCH] * (double)s->dim[GPT_DIM_NEW];
}

/* Of one sequence, without the head. */
static double generation_prefill_flops(const struct gpt_config *c, double seq)
{
    double layers = (double)c->layers, width = (double)c->width;
    double whole = 24 * width * width, keys = 4 * width * width;

    return (layers - 1) * (seq * whole + 2 * width * seq * (seq + 1)) + (seq - 1) * keys + whole +
           4 * width * seq;
}

static struct work generation_work(const struct kernel *k, const struct shape *s, enum dtype dtype,
                                   enum math math)
{
    (void)math;
    const struct gpt_config *c = generation_config(k);
    double batch = (double)s->dim[GPT_DIM_BATCH], seq = (double)s->dim[GPT_DIM_SEQ];
    double nr = (double)s->dim[GPT_DIM_NEW], width = (double)c->width, vocab = (double)c->vocab;
    double pairs = (nr - 1) * seq + nr * (nr - 1) / 2; /* step i attends to seq + i positions */
    double positions = seq + nr - 1, tokens = batch * positions;
    double embedded = (tokens < vocab ? tokens : vocab) + positions;
    double weights = (double)gpt_weights_count(c, false) - (vocab + (double)c->block) * width;

    return (struct work) {
        .flops =
            batch * (generation_prefill_flops(c, seq) + gpt_config_linear_flops(c, nr - 1, nr) +
                     gpt_config_attention_flops(c, pairs)),
        .bytes = 4 * batch * (seq + nr) +
                 (double)dtype_size(dtype) * (weights + embedded * width + batch * vocab),
    };
}

static int generation_layout(const struct kernel *k, const struct shape *s, enum dtype dtype,
                             struct tensor *t)
{
    const struct shape prompt = { { s->dim[GPT_DIM_BATCH], s->dim[GPT_DIM_SEQ] } };

    gpt_kernels[0]->layout(k, &prompt, dtype, t); /* a prefill's: tokens, parameters, logits */
    t[GPT_GENERATE_LOGITS] = t[GPT_PREFILL_LOGITS];
    t[GPT_GENERATE_LOGITS].extent[0] = prompt.dim[GPT_DIM_BATCH];
    t[GPT_GENERATE_CHOSEN] =
        (struct tensor) { .name = "chosen",
                          .role = TENSOR_OUT,
                          .dtype = DTYPE_INT32,
                          .rank = 2,
                          .extent = { prompt.dim[GPT_DIM_BATCH], s->dim[GPT_DIM_NEW] } };
    return GPT_GENERATE_NR;
}

static void generation_fill(const struct kernel *k, const struct shape *s, struct tensor *t,
                            uint64_t seed)
{
    gpt_kernels[0]->fill(k, s, t, seed);
}

static double generation_tolerance(const struct kernel *k, const struct shape *s, enum dtype dtype,
                                   enum math math)
{
    return gpt_kernels[0]->tolerance(k, s, dtype, math);
}

static void generation_oracle_cost(const struct kernel *k, const struct shape *s, double *fixed,
                                   double *per_row)
{
    *fixed = 0;
    *per_row = generation_work(k, s, DTYPE_FP32, MATH_FP32).flops / (double)s->dim[GPT_DIM_BATCH];
}

#define GENERATION_TOO_LONG(id, name_, layers_, heads_, width_, block_)                            \
    "seq and new tokens are beyond the block size " #block_ " of " name_,

static const char *generation_refuses(const struct kernel *k, const struct shape *s)
{
    static const char *const too_long[] = { GPT_MODELS(GENERATION_TOO_LONG) };
    const struct gpt_config *c = generation_config(k);

    return s->dim[GPT_DIM_SEQ] + s->dim[GPT_DIM_NEW] - 1 > c->block ? too_long[c - gpt_configs]
                                                                    : NULL;
}

/* ---- the launch ---- */

enum { FIRST, SECOND, FURTHER, NR_PHASES, KEPT = 1024 };

struct generation {
    struct gpt_forward forward; /* first, where gpt_call_release() looks for it */
    struct gpt_cache cache;
    int32_t *next; /* [batch] */
    uint64_t launches;
    double ns[NR_PHASES][KEPT]; /* of the last launches, by number; a further token's is the mean */
};

/* Positions that are seen: the last token is fed to nothing. */
static int64_t length_of(const struct call *call)
{
    return call->shape.dim[GPT_DIM_SEQ] + call->shape.dim[GPT_DIM_NEW] - 1;
}

int64_t gpt_generation_workspace(const struct call *call, const struct gpt_ops *ops)
{
    const struct gpt_config *c = generation_config(call->kernel);
    int64_t batch = call->shape.dim[GPT_DIM_BATCH], length = length_of(call);
    size_t pass = gpt_forward_floats(c, ops, batch * call->shape.dim[GPT_DIM_SEQ], length,
                                     host_threads(call));
    size_t cache = 2 * (size_t)c->layers * (size_t)(batch * length) * (size_t)c->width;

    return host_bytes(pass < SIZE_MAX - cache ? pass + cache : SIZE_MAX);
}

int gpt_generation_prepare(struct call *call, const struct gpt_ops *ops, struct error *err)
{
    const struct gpt_config *c = generation_config(call->kernel);
    struct gpt_weights weights = { .config = c, .data = call->tensor[GPT_GENERATE_PARAMS].data };
    struct generation *g = memory_zeroed(1, sizeof(*g));
    int64_t batch = call->shape.dim[GPT_DIM_BATCH], seq = call->shape.dim[GPT_DIM_SEQ];
    int64_t length = length_of(call);

    call->state = g;
    g->next = memory_zeroed((size_t)batch, sizeof(*g->next));
    if (gpt_forward_init(&g->forward, c, &weights, ops, batch * seq, length, host_threads(call),
                         err))
        return -1;
    return gpt_cache_init(&g->cache, c, batch, length, err);
}

void gpt_generation_release(struct call *call)
{
    struct generation *g = call->state;

    if (!g)
        return;
    gpt_forward_release(&g->forward);
    gpt_cache_release(&g->cache);
    free(g->next);
    free(g);
    call->state = NULL;
}

/* The i-th new token of each sequence. */
static void generation_choose(const struct call *call, struct generation *g, int64_t i)
{
    const struct gpt_sampling largest = { .temperature = 0 };
    const struct gpt_config *c = g->forward.config;
    const float *logits = call->tensor[GPT_GENERATE_LOGITS].data;
    int32_t *chosen = call->tensor[GPT_GENERATE_CHOSEN].data;

    PROF_SCOPE("choose");
    for (int64_t b = 0; b < call->shape.dim[GPT_DIM_BATCH]; b++) {
        g->next[b] = gpt_sample(logits + b * c->vocab, c->vocab, &largest, NULL, NULL);
        chosen[b * call->shape.dim[GPT_DIM_NEW] + i] = g->next[b];
    }
}

static void generation_first(const struct call *call, struct generation *g)
{
    PROF_SCOPE("first token");
    gpt_prefill(&g->forward, call->tensor[GPT_GENERATE_TOKENS].data, call->shape.dim[GPT_DIM_BATCH],
                call->shape.dim[GPT_DIM_SEQ], &g->cache, GPT_LOGITS_LAST,
                call->tensor[GPT_GENERATE_LOGITS].data);
    generation_choose(call, g, 0);
}

static void generation_step(const struct call *call, struct generation *g, int64_t i)
{
    gpt_decode(&g->forward, g->next, call->shape.dim[GPT_DIM_BATCH],
               call->shape.dim[GPT_DIM_SEQ] + i - 1, &g->cache,
               call->tensor[GPT_GENERATE_LOGITS].data);
    generation_choose(call, g, i);
}

static void generation_second(const struct call *call, struct generation *g)
{
    PROF_SCOPE("second token");
    generation_step(call, g, 1);
}

static void generation_further(const struct call *call, struct generation *g, int64_t i)
{
    PROF_SCOPE("further token");
    generation_step(call, g, i);
}

void gpt_generation_launch(const struct call *call)
{
    struct generation *g = call->state;
    int64_t nr = call->shape.dim[GPT_DIM_NEW];
    size_t at = (size_t)(g->launches++ % KEPT);
    uint64_t times[NR_PHASES + 1] = { clock_ns() };

    generation_first(call, g);
    times[SECOND] = clock_ns();
    if (nr > 1)
        generation_second(call, g);
    times[FURTHER] = clock_ns();
    for (int64_t i = 2; i < nr; i++)
        generation_further(call, g, i);
    times[NR_PHASES] = clock_ns();
    for (int phase = FIRST; phase < NR_PHASES; phase++)
        g->ns[phase][at] = (double)(times[phase + 1] - times[phase]);
    g->ns[FURTHER][at] /= nr > 2 ? (double)(nr - 2) : 1;
}

/* Of the launches that were sampled, as far as they are kept. */
void gpt_generation_facts(const struct call *call, struct measurement *m)
{
    static const char *const names[] = { "first_token_ns", "second_token_ns", "further_token_ns" };
    const struct generation *g = call->state;
    double sorted[KEPT];
    uint64_t sampled = (uint64_t)m->nr_samples * (uint64_t)(m->batch > 0 ? m->batch : 1);
    size_t nr = (size_t)(sampled < g->launches ? sampled : g->launches);

    nr = nr < KEPT ? nr : KEPT;
    for (int phase = FIRST; phase < NR_PHASES; phase++) {
        if (nr == 0 || call->shape.dim[GPT_DIM_NEW] <= phase)
            continue;
        for (size_t i = 0; i < nr; i++)
            sorted[i] = g->ns[phase][(g->launches - 1 - i) % KEPT];
        stats_sort(sorted, nr);
        measurement_add_telemetry(m, names[phase], stats_quantile(sorted, nr, 0.5));
    }
}

/* ---- the kernels ---- */

/* They are no forward pass, so --model does not choose them, nor do suites that name models. */

/* A prompt of one token, one new token; an odd batch; a step behind a block of 64. */
static const struct shape test_shapes[] = { { { 1, 1, 2 } }, { { 3, 7, 4 } }, { { 1, 64, 1 } } };
static const struct shape large_test_shapes[] = { { { 1, 4, 2 } } };

enum { LARGE_WIDTH = 512 };

#define NR(array)      (sizeof(array) / sizeof((array)[0]))
#define INDEX(id, ...) INDEX_##id,
enum { GPT_MODELS(INDEX) INDEX_NR };

#define KERNEL(id, name_, layers_, heads_, width_, block_)                                         \
    static const struct shape shapes_##id[] = { { { 1, (block_) / 4, 16 } } };                     \
    const struct kernel gpt_generate_##id = {                                                      \
        .name = "gpt/" name_ "/generate",                                                          \
        .summary = "a prompt of seq tokens and new tokens behind it, by " name_ ", end to end",    \
        .dims = { "batch", "seq", "new" },                                                         \
        .config = &gpt_configs[INDEX_##id],                                                        \
        .work = generation_work,                                                                   \
        .tokens = generation_tokens,                                                               \
        .layout = generation_layout,                                                               \
        .fill = generation_fill,                                                                   \
        .oracle = gpt_generate_oracle,                                                             \
        .oracle_cost = generation_oracle_cost,                                                     \
        .tolerance = generation_tolerance,                                                         \
        .refuses = generation_refuses,                                                             \
        .shapes = shapes_##id,                                                                     \
        .nr_shapes = NR(shapes_##id),                                                              \
        .test_shapes = (width_) < LARGE_WIDTH ? test_shapes : large_test_shapes,                   \
        .nr_test_shapes = (width_) < LARGE_WIDTH ? NR(test_shapes) : NR(large_test_shapes),        \
    };

GPT_MODELS(KERNEL)
