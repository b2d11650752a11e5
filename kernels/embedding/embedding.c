/* SPDX-License-Identifier: MIT */
#include "kernels/embedding/embedding.h"

#include "kernels/embedding/embedding_call.h"
#include "kernels/host.h"

enum { BATCH, SEQ, WIDTH, VOCAB };

static struct work work(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)kernel, (void)math;
    double tokens = (double)s->dim[BATCH] * (double)s->dim[SEQ], width = (double)s->dim[WIDTH];
    double vocab = (double)s->dim[VOCAB], rows = tokens < vocab ? tokens : vocab;
    double floats = (rows + (double)s->dim[SEQ] + tokens) * width;

    return (struct work) {
        .flops = tokens * width,
        .bytes = floats * (double)dtype_size(dtype) + tokens * (double)sizeof(int32_t),
    };
}

static int layout(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                  struct tensor *t)
{
    (void)kernel;
    int64_t width = s->dim[WIDTH], vocab = s->dim[VOCAB], tokens = s->dim[BATCH] * s->dim[SEQ];

    t[EMBEDDING_TOKENS] = (struct tensor) { .name = "tokens",
                                            .role = TENSOR_IN,
                                            .dtype = DTYPE_INT32,
                                            .rank = 2,
                                            .extent = { s->dim[BATCH], s->dim[SEQ] },
                                            .fill = FILL_TOKENS,
                                            .limit = vocab };
    t[EMBEDDING_WTE] = (struct tensor) { .name = "wte",
                                         .role = TENSOR_WEIGHT,
                                         .dtype = dtype,
                                         .rank = 2,
                                         .extent = { vocab, width },
                                         .scale = 1 };
    t[EMBEDDING_WPE] = (struct tensor) { .name = "wpe",
                                         .role = TENSOR_WEIGHT,
                                         .dtype = dtype,
                                         .rank = 2,
                                         .extent = { s->dim[SEQ], width },
                                         .scale = 1 };
    t[EMBEDDING_OUT] = (struct tensor) {
        .name = "out", .role = TENSOR_OUT, .dtype = dtype, .rank = 2, .extent = { tokens, width }
    };
    return EMBEDDING_NR;
}

static void oracle(const struct kernel *kernel, const struct shape *s, const struct tensor *t,
                   int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)kernel, (void)out;
    int64_t width = s->dim[WIDTH], seq = s->dim[SEQ];
    const int32_t *tokens = t[EMBEDDING_TOKENS].data;

    for (size_t i = 0; i < nr_rows; i++) {
        double *row = expected + i * (size_t)width;
        host_doubles(&t[EMBEDDING_WTE], tokens[rows[i]] * width, width, row);
        for (int64_t j = 0; j < width; j++)
            row[j] += tensor_get(&t[EMBEDDING_WPE], rows[i] % seq * width + j);
    }
}

static void oracle_cost(const struct kernel *kernel, const struct shape *s, double *fixed,
                        double *per_row)
{
    (void)kernel;
    *fixed = 0;
    *per_row = 2 * (double)s->dim[WIDTH];
}

/* One addition, rounded once: eps/2 of at most 8, against an rms of 1.4. */
static double tolerance(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)kernel, (void)s, (void)math;
    return 4 * host_epsilon(dtype);
}

struct embedding embedding_of(const struct call *call)
{
    const struct tensor *t = call->tensor;

    return (struct embedding) {
        .batch = t[EMBEDDING_TOKENS].extent[0],
        .seq = t[EMBEDDING_TOKENS].extent[1],
        .width = tensor_cols(&t[EMBEDDING_OUT]),
        .tokens = t[EMBEDDING_TOKENS].data,
        .wte = t[EMBEDDING_WTE].data,
        .wpe = t[EMBEDDING_WPE].data,
        .out = t[EMBEDDING_OUT].data,
        .threads = host_threads(call),
    };
}

static const struct shape shapes[] = {
    { { 4, 64, 48, 50257 } },
    { { 4, 64, 256, 50257 } },
    { { 4, 1024, 768, 50257 } },
};

static const struct shape test_shapes[] = {
    { { 1, 1, 1, 1 } },      { { 1, 255, 17, 3 } },  { { 3, 1, 48, 50257 } },
    { { 2, 63, 100, 257 } }, { { 1, 65, 768, 33 } }, { { 4, 64, 33, 1000 } },
};

const struct kernel embedding_gpt_kernel = {
    .name = "embedding/gpt",
    .summary = "out = wte[token] + wpe[position]",
    .dims = { "batch", "seq", "width", "vocab" },
    .work = work,
    .layout = layout,
    .oracle = oracle,
    .oracle_cost = oracle_cost,
    .tolerance = tolerance,
    .shapes = shapes,
    .nr_shapes = sizeof(shapes) / sizeof(shapes[0]),
    .test_shapes = test_shapes,
    .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),
};

const struct kernel *const embedding_kernels[] = { &embedding_gpt_kernel, NULL };
