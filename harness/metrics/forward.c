/* SPDX-License-Identifier: MIT */
#include "metrics/forward.h"

#include <math.h>
#include <string.h>

static const char family[] = "gpt/";

/* What a launch of the phase works on: the whole sequence, or the token that comes next. Unknown
 * phases count as the first. */
static const struct {
    const char *name;
    bool whole;
} phases[] = { { "/prefill", true }, { "/decode", false } };

const char *forward_model(const struct benchmark_name *bench, size_t *length)
{
    if (strncmp(bench->kernel, family, strlen(family)) != 0)
        return NULL;
    const char *model = bench->kernel + strlen(family);
    *length = strcspn(model, "/");
    return model;
}

double forward_tokens(const struct benchmark_name *bench)
{
    int64_t batch = benchmark_name_dim(bench, "batch", 0);
    bool whole = phases[0].whole;
    size_t length;

    if (!forward_model(bench, &length))
        return NAN;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
        if (strcmp(strrchr(bench->kernel, '/'), phases[i].name) == 0)
            whole = phases[i].whole;
    return (double)batch * (whole ? (double)benchmark_name_dim(bench, "seq", 0) : 1);
}
