/* SPDX-License-Identifier: MIT */
/* What a command is: its spec, its check, its tables. command_run.c runs it. */
#include "plugin/command.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "plugin/command_run.h"
#include "plugin/name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char variant_name[] = "exec";

void command_spec_release(struct command_spec *spec)
{
    string_list_release(&spec->argv);
    string_list_release(&spec->dims);
    free(spec->prepare);
    free(spec->expect);
    *spec = (struct command_spec) { .name = "" };
}

static bool mentions(const char *text, const char *dim)
{
    struct strbuf word;

    strbuf_init(&word);
    strbuf_addf(&word, "{%s}", dim);
    bool found = text && strstr(text, word.data);
    strbuf_release(&word);
    return found;
}

static int check_dim(const struct command_spec *spec, size_t d, struct error *err)
{
    const char *dim = spec->dims.items[d];
    bool used = mentions(spec->prepare, dim);

    if (name_check_dim(dim, err))
        return -1;
    for (size_t i = 0; i < d; i++)
        if (strcmp(dim, spec->dims.items[i]) == 0)
            return error_set(err, "the dim \"%s\" is there twice", dim);
    for (size_t i = 0; i < spec->argv.nr; i++)
        used |= mentions(spec->argv.items[i], dim);
    return used ? 0
                : error_set(err, "nothing in the command says {%s}: its value would change nothing",
                            dim);
}

/* A place that depends on a size is only known case by case. */
static int check_files(const struct command_spec *spec, struct error *err)
{
    if (!strchr(spec->argv.items[0], '{')) {
        char *program = command_find_program(spec->argv.items[0], err);
        if (!program)
            return -1;
        free(program);
    }
    if (spec->expect && !strchr(spec->expect, '{') && access(spec->expect, R_OK))
        return error_set(err, "--expect: %s: %s", spec->expect, strerror(errno));
    return 0;
}

int command_spec_check(const struct command_spec *spec, struct error *err)
{
    if (spec->argv.nr == 0)
        return error_set(err, "there is no command behind --");
    if (name_check_variant(spec->name, err))
        return error_prefix(err, "--name");
    if (spec->dims.nr > SHAPE_MAX)
        return error_set(err, "a command has at most %d dims", SHAPE_MAX);
    for (size_t d = 0; d < spec->dims.nr; d++)
        if (check_dim(spec, d, err))
            return -1;
    if (name_check_key(spec->name, variant_name, (const char *const *)spec->dims.items,
                       spec->dims.nr, err))
        return -1;
    return check_files(spec, err);
}

/* ---- its tables ---- */

static struct work work(const struct kernel *k, const struct shape *s, enum dtype dtype)
{
    (void)k;
    (void)s;
    (void)dtype;
    return (struct work) { 0, 0 }; /* nobody knows */
}

static int layout(const struct kernel *k, const struct shape *s, enum dtype dtype, struct tensor *t)
{
    (void)k;
    (void)s;
    t[0] = (struct tensor) {
        .name = "wrong", .role = TENSOR_OUT, .dtype = dtype, .rank = 1, .extent = { 1 }
    };
    return 1;
}

/* No run is to be wrong. */
static void oracle(const struct kernel *k, const struct shape *s, const struct tensor *t, int out,
                   const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)k;
    (void)s;
    (void)t;
    (void)out;
    (void)rows;
    for (size_t i = 0; i < nr_rows; i++)
        expected[i] = 0;
}

static void oracle_cost(const struct kernel *k, const struct shape *s, double *fixed,
                        double *per_row)
{
    (void)k;
    (void)s;
    *fixed = *per_row = 0;
}

static double tolerance(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)k;
    (void)s;
    (void)dtype;
    (void)math;
    return 0;
}

static void summarise(struct command_guest *g)
{
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < g->spec->argv.nr; i++)
        strbuf_addf(&text, "%s%s", i ? " " : "", g->spec->argv.items[i]);
    snprintf(g->summary, sizeof(g->summary), "%s", text.data);
    strbuf_release(&text);
}

void command_guest_init(struct command_guest *g, const struct command_spec *spec)
{
    *g = (struct command_guest) { .spec = spec };
    snprintf(g->name, sizeof(g->name), "command/%s", spec->name);
    summarise(g);
    for (int i = 0; i < SHAPE_MAX; i++)
        g->shape.dim[i] = (size_t)i < spec->dims.nr; /* each is given by its option */
    g->kernel = (struct kernel) {
        .name = g->name,
        .summary = g->summary,
        .config = spec,
        .work = work,
        .layout = layout,
        .oracle = oracle,
        .oracle_cost = oracle_cost,
        .tolerance = tolerance,
        .shapes = &g->shape,
        .nr_shapes = 1,
        .test_shapes = &g->shape,
        .nr_test_shapes = 1,
    };
    for (size_t d = 0; d < spec->dims.nr; d++)
        g->kernel.dims[d] = spec->dims.items[d];
    g->variants[0] = (struct variant) {
        .name = variant_name,
        .summary = "a process of its own each time",
        .kernel = &g->kernel,
        .device = DEVICE_PROCESS,
        .dtype = DTYPE_FP32,
        .math = MATH_NONE,
        .prepare = command_prepare,
        .release = command_release,
        .execute = command_execute,
        .explain = command_explain,
        .facts = command_facts,
    };
    g->kernels[0] = &g->kernel;
}
