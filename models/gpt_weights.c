/* SPDX-License-Identifier: MIT */
#include "models/gpt_weights.h"

#include "stats/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An extent as a multiple of one of the configuration's sizes; 0 times anything is "none". */
struct extent {
    size_t member; /* offset in struct gpt_config */
    int64_t times;
};

enum init { INIT_ZERO, INIT_ONE, INIT_NORMAL, INIT_PROJECTION };

struct tensor_row {
    const char *name; /* with the layer's number as %lld, if it is in a layer */
    struct extent rows, cols;
    enum init init;
    bool in_layer, linear;
};

#define TIMES(member_, times_)                                                                     \
    {                                                                                              \
        .member = offsetof(struct gpt_config, member_), .times = (times_)                          \
    }
#define VECTOR(name_, times_, init_, layer_)                                                       \
    {                                                                                              \
        .name = (name_), .rows = TIMES(width, times_), .cols = TIMES(width, 0), .init = (init_),   \
        .in_layer = (layer_)                                                                       \
    }
#define LINEAR(name_, out_, in_, init_)                                                            \
    {                                                                                              \
        .name = (name_), .rows = TIMES(width, out_), .cols = TIMES(width, in_), .init = (init_),   \
        .in_layer = true, .linear = true                                                           \
    }
#define TABLE(name_, rows_)                                                                        \
    {                                                                                              \
        .name = (name_), .rows = TIMES(rows_, 1), .cols = TIMES(width, 1), .init = INIT_NORMAL     \
    }

static const struct tensor_row rows[GPT_TENSOR_NR] = {
    [GPT_WTE] = TABLE("wte.weight", vocab),
    [GPT_WPE] = TABLE("wpe.weight", block),
    [GPT_LN_1_WEIGHT] = VECTOR("h.%lld.ln_1.weight", 1, INIT_ONE, true),
    [GPT_LN_1_BIAS] = VECTOR("h.%lld.ln_1.bias", 1, INIT_ZERO, true),
    [GPT_ATTN_WEIGHT] = LINEAR("h.%lld.attn.c_attn.weight", 3, 1, INIT_NORMAL),
    [GPT_ATTN_BIAS] = VECTOR("h.%lld.attn.c_attn.bias", 3, INIT_ZERO, true),
    [GPT_PROJ_WEIGHT] = LINEAR("h.%lld.attn.c_proj.weight", 1, 1, INIT_PROJECTION),
    [GPT_PROJ_BIAS] = VECTOR("h.%lld.attn.c_proj.bias", 1, INIT_ZERO, true),
    [GPT_LN_2_WEIGHT] = VECTOR("h.%lld.ln_2.weight", 1, INIT_ONE, true),
    [GPT_LN_2_BIAS] = VECTOR("h.%lld.ln_2.bias", 1, INIT_ZERO, true),
    [GPT_FC_WEIGHT] = LINEAR("h.%lld.mlp.c_fc.weight", 4, 1, INIT_NORMAL),
    [GPT_FC_BIAS] = VECTOR("h.%lld.mlp.c_fc.bias", 4, INIT_ZERO, true),
    [GPT_FC_PROJ_WEIGHT] = LINEAR("h.%lld.mlp.c_proj.weight", 1, 4, INIT_PROJECTION),
    [GPT_FC_PROJ_BIAS] = VECTOR("h.%lld.mlp.c_proj.bias", 1, INIT_ZERO, true),
    [GPT_LN_F_WEIGHT] = VECTOR("ln_f.weight", 1, INIT_ONE, false),
    [GPT_LN_F_BIAS] = VECTOR("ln_f.bias", 1, INIT_ZERO, false),
    [GPT_LM_HEAD] = TABLE("lm_head.weight", vocab),
};

static int64_t extent(const struct gpt_config *c, const struct extent *e)
{
    int64_t size;

    memcpy(&size, (const char *)c + e->member, sizeof(size));
    return size * e->times;
}

void gpt_weight_extents(const struct gpt_config *c, enum gpt_tensor which, int64_t *nr_rows,
                        int64_t *nr_cols)
{
    *nr_rows = extent(c, &rows[which].rows);
    *nr_cols = extent(c, &rows[which].cols);
}

int64_t gpt_weight_elements(const struct gpt_config *c, enum gpt_tensor which)
{
    int64_t nr_rows, nr_cols;

    gpt_weight_extents(c, which, &nr_rows, &nr_cols);
    return nr_rows * (nr_cols ? nr_cols : 1);
}

bool gpt_weight_in_layer(enum gpt_tensor which)
{
    return rows[which].in_layer;
}

bool gpt_weight_is_linear(enum gpt_tensor which)
{
    return rows[which].linear;
}

int gpt_weight_bits(enum gpt_tensor which)
{
    return gpt_weight_is_linear(which) ? 10 : which == GPT_LM_HEAD ? 8 : 0;
}

char *gpt_weight_name(enum gpt_tensor which, int64_t layer, char name[GPT_NAME_SIZE])
{
    const char *format = rows[which].name, *hole = strstr(format, "%lld");

    if (!hole)
        snprintf(name, GPT_NAME_SIZE, "%s", format);
    else
        snprintf(name, GPT_NAME_SIZE, "%.*s%lld%s", (int)(hole - format), format, (long long)layer,
                 hole + strlen("%lld"));
    return name;
}

/* Floats of the tensors [from, to). */
static int64_t span(const struct gpt_config *c, int from, int to)
{
    int64_t sum = 0;

    for (int i = from; i < to; i++)
        sum += gpt_weight_elements(c, (enum gpt_tensor)i);
    return sum;
}

int64_t gpt_weights_count(const struct gpt_config *c, bool tied)
{
    return gpt_config_parameters(c) + (tied ? 0 : gpt_config_head_parameters(c));
}

int64_t gpt_weight_offset(const struct gpt_config *c, bool tied, enum gpt_tensor which,
                          int64_t layer)
{
    int64_t layer_size = span(c, GPT_LN_1_WEIGHT, GPT_LN_F_WEIGHT);

    if (which == GPT_LM_HEAD && tied)
        which = GPT_WTE;
    if (which < GPT_LN_1_WEIGHT)
        return span(c, 0, (int)which);
    int64_t layers = span(c, 0, GPT_LN_1_WEIGHT);
    if (which < GPT_LN_F_WEIGHT)
        return layers + layer * layer_size + span(c, GPT_LN_1_WEIGHT, (int)which);
    return layers + c->layers * layer_size + span(c, GPT_LN_F_WEIGHT, (int)which);
}

float *gpt_weight(const struct gpt_weights *w, enum gpt_tensor which, int64_t layer)
{
    return w->data + gpt_weight_offset(w->config, w->tied, which, layer);
}

int gpt_weights_init(struct gpt_weights *w, const struct gpt_config *c, bool tied,
                     struct error *err)
{
    *w = (struct gpt_weights) { .config = c, .tied = tied };
    if (gpt_config_check(c, err))
        return -1;
    size_t bytes = (size_t)gpt_weights_count(c, tied) * sizeof(float);
    if (posix_memalign((void **)&w->data, 64, bytes)) {
        w->data = NULL;
        return error_set(err, "%s: no memory for %zu bytes of parameters", c->name, bytes);
    }
    return 0;
}

void gpt_weights_release(struct gpt_weights *w)
{
    free(w->data);
    w->data = NULL;
}

/* Every piece has a stream of its own, so that pieces can be drawn in any order by any thread. */
enum { PIECE = 16384 };

/* A seed for part `index` of what `seed` stands for. */
static uint64_t part_seed(uint64_t seed, uint64_t index)
{
    struct random random;

    random_seed(&random, seed);
    return random_u64(&random) ^ index;
}

/*
 * The standard normal quantile of (bits + 1/2) / 2^32 to about 1e-7: Wichura's AS 241, PPND7
 * (1988), whose last branch lies beyond 32 bits. Millions of weights are drawn before every
 * measurement, and this takes a quarter of the time of stats/random.h's normal deviates.
 */
static double normal_of_bits(uint32_t bits)
{
    double p = ((double)bits + 0.5) * 0x1p-32, q = p - 0.5;

    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
               (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
    }
    double r = sqrt(-log(q < 0 ? p : 1 - p)) - 1.6;
    double tail = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
                  ((0.12021132975 * r + 0.73700164250) * r + 1);
    return q < 0 ? -tail : tail;
}

static void seed_piece(float *data, int64_t nr, double sd, uint64_t seed)
{
    struct random random;

    random_seed(&random, seed);
    for (int64_t i = 0; i < nr; i += 2) {
        uint64_t bits = random_u64(&random);
        data[i] = (float)(sd * normal_of_bits((uint32_t)bits));
        if (i + 1 < nr)
            data[i + 1] = (float)(sd * normal_of_bits((uint32_t)(bits >> 32)));
    }
}

/* Of a matrix's elements. */
static double spread_of(const struct gpt_config *c, enum gpt_tensor which)
{
    return rows[which].init == INIT_PROJECTION ? 0.02 / sqrt(2 * (double)c->layers) : 0.02;
}

static void seed_constant(float *data, int64_t nr, float value)
{
    for (int64_t i = 0; i < nr; i++)
        data[i] = value;
}

static void seed_tensor(const struct gpt_weights *w, enum gpt_tensor which, int64_t layer,
                        uint64_t seed)
{
    float *data = gpt_weight(w, which, layer);
    int64_t nr = gpt_weight_elements(w->config, which);
    double sd = spread_of(w->config, which);

    if (rows[which].init == INIT_ZERO || rows[which].init == INIT_ONE) {
        seed_constant(data, nr, rows[which].init == INIT_ONE);
        return;
    }
    uint64_t tensor = part_seed(part_seed(seed, (uint64_t)which), (uint64_t)layer);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < nr; i += PIECE)
        seed_piece(data + i, nr - i < PIECE ? nr - i : PIECE, sd,
                   part_seed(tensor, (uint64_t)(i / PIECE)));
}

typedef void seed_fn(const struct gpt_weights *w, enum gpt_tensor which, int64_t layer,
                     uint64_t seed);

static void seed_all(const struct gpt_weights *w, uint64_t seed, seed_fn *one)
{
    for (int i = 0; i < GPT_TENSOR_NR; i++) {
        enum gpt_tensor which = (enum gpt_tensor)i;
        if (which == GPT_LM_HEAD && w->tied)
            continue;
        int64_t layers = rows[which].in_layer ? w->config->layers : 1;
        for (int64_t layer = 0; layer < layers; layer++)
            one(w, which, layer, seed);
    }
}

void gpt_weights_seed(const struct gpt_weights *w, uint64_t seed)
{
    seed_all(w, seed, seed_tensor);
}

/* A vector's, by the matrix before it, whose bias it is, or of a layernorm. */
static void spread_tensor(const struct gpt_weights *w, enum gpt_tensor which, int64_t layer,
                          uint64_t seed)
{
    const struct tensor_row *row = &rows[which];
    float *data = gpt_weight(w, which, layer);
    int64_t nr = gpt_weight_elements(w->config, which);
    double sd = 0.25;

    if (row->init != INIT_ZERO && row->init != INIT_ONE)
        return;
    if (row[-1].linear)
        sd = sqrt((double)extent(w->config, &row[-1].cols)) *
             spread_of(w->config, (enum gpt_tensor)(which - 1)) / 2;
    seed_piece(data, nr, sd, part_seed(part_seed(seed, (uint64_t)which), (uint64_t)layer));
    for (int64_t i = 0; row->init == INIT_ONE && i < nr; i++)
        data[i] += 1;
}

void gpt_weights_spread(const struct gpt_weights *w, uint64_t seed)
{
    seed_all(w, seed, spread_tensor);
}
