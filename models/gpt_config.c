/* SPDX-License-Identifier: MIT */
#include "models/gpt_config.h"

#include "base/strbuf.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_ROW(id, name_, layers_, heads_, width_, block_)                                     \
    { .name = (name_),                                                                             \
      .layers = (layers_),                                                                         \
      .heads = (heads_),                                                                           \
      .width = (width_),                                                                           \
      .block = (block_),                                                                           \
      .vocab = GPT_VOCAB },
#define CONFIG_NAME(id, name_, ...)       name_,
#define CONFIG_COMMA_NAME(id, name_, ...) ", " name_

const struct gpt_config gpt_configs[] = {
    GPT_MODELS(CONFIG_ROW) /* the rest is the end mark */
    { .name = NULL },
};

static const char *const names[] = { GPT_MODELS(CONFIG_NAME) NULL };

const struct gpt_config *gpt_config_find(const char *name, struct error *err)
{
    for (const struct gpt_config *c = gpt_configs; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;

    const char *near = text_nearest(name, names);
    static const char all[] = "" GPT_MODELS(CONFIG_COMMA_NAME);
    error_set(err, "no model is called \"%s\"%s%s%s; there are: %s", name,
              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", all + 2);
    return NULL;
}

/* a * b, or -1 where that overflows or either is -1. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

static bool countable(const struct gpt_config *c)
{
    /* An upper bound of 4 * (2VC + TC + 26 L C^2) bytes, term by term. */
    int64_t limit = INT64_MAX / 16;
    int64_t table = times(c->vocab, times(c->width, 8)), wpe = times(c->block, times(c->width, 4));
    int64_t layers = times(times(c->layers, 104), times(c->width, c->width));

    return table >= 0 && table < limit && wpe >= 0 && wpe < limit && layers >= 0 && layers < limit;
}

int gpt_config_check(const struct gpt_config *c, struct error *err)
{
    if (c->layers < 1 || c->heads < 1 || c->width < 1 || c->block < 1 || c->vocab < 1)
        return error_set(err, "%s: layers, heads, width, block and vocab must be at least 1",
                         c->name);
    if (c->width % c->heads)
        return error_set(err, "%s: the width %lld is not a multiple of its %lld heads", c->name,
                         (long long)c->width, (long long)c->heads);
    if (c->vocab > INT32_MAX || !countable(c))
        return error_set(err, "%s: the sizes are too large to be counted", c->name);
    return 0;
}

int64_t gpt_config_parameters(const struct gpt_config *c)
{
    int64_t layer = 12 * c->width * c->width + 13 * c->width;

    return (c->vocab + c->block) * c->width + c->layers * layer + 2 * c->width;
}

int64_t gpt_config_head_parameters(const struct gpt_config *c)
{
    return c->vocab * c->width;
}

double gpt_config_linear_flops(const struct gpt_config *c, double tokens, double head_rows)
{
    double width = (double)c->width;

    return 24 * tokens * width * width * (double)c->layers +
           2 * head_rows * width * (double)c->vocab;
}

double gpt_config_attention_flops(const struct gpt_config *c, double pairs)
{
    return 4 * pairs * (double)c->width * (double)c->layers;
}

double gpt_config_flops_per_token(const struct gpt_config *c, int64_t seq)
{
    double pairs = ((double)seq + 1) / 2; /* S(S+1)/2 over S tokens */

    return gpt_config_linear_flops(c, 1, 1) + gpt_config_attention_flops(c, pairs);
}
