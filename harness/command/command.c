/* SPDX-License-Identifier: MIT */
/* What a command is: its spec, its check, its tables. command_run.c runs it. */
#include "command/command.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "command/command_run.h"
#include "command/command_words.h"
#include "command/output_check.h"
#include "text/name.h"

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
    for (size_t i = 0; i < spec->texts.nr; i++)
        string_list_release(&spec->texts.items[i].values);
    array_release(&spec->texts);
    array_release(&spec->ignored);
    free(spec->prepare);
    free(spec->conclude);
    free(spec->input);
    free(spec->expect);
    number_specs_release(&spec->numbers);
    *spec = (struct command_spec) { .name = "" };
}

static void copy_words(struct string_list *to, const struct string_list *from)
{
    for (size_t i = 0; i < from->nr; i++)
        string_list_add(to, from->items[i]);
}

void command_spec_copy_parameters(struct command_spec *to, const struct command_spec *from)
{
    copy_words(&to->dims, &from->dims);
    for (size_t i = 0; i < from->texts.nr; i++) {
        struct command_text *text = array_push(&to->texts);
        snprintf(text->name, sizeof(text->name), "%s", from->texts.items[i].name);
        copy_words(&text->values, &from->texts.items[i].values);
    }
}

void command_spec_copy(struct command_spec *to, const struct command_spec *from)
{
    snprintf(to->name, sizeof(to->name), "%s", from->name);
    copy_words(&to->argv, &from->argv);
    command_spec_copy_parameters(to, from);
    for (size_t i = 0; i < from->ignored.nr; i++)
        *array_push(&to->ignored) = from->ignored.items[i];
    to->prepare = memory_string(from->prepare);
    to->conclude = memory_string(from->conclude);
    to->input = memory_string(from->input);
    to->expect = memory_string(from->expect);
    to->ignore_status = from->ignore_status;
    number_specs_copy(&to->numbers, &from->numbers);
}

/* ---- parameters ---- */

static bool mentions_parameter(const char *text, const char *parameter)
{
    struct strbuf word;

    strbuf_init(&word);
    strbuf_addf(&word, "{%s}", parameter);
    bool found = text && strstr(text, word.data);
    strbuf_release(&word);
    return found;
}

static bool is_used(const struct command_spec *spec, const char *parameter)
{
    bool used =
        mentions_parameter(spec->prepare, parameter) || mentions_parameter(spec->input, parameter);

    for (size_t i = 0; i < spec->argv.nr; i++)
        used |= mentions_parameter(spec->argv.items[i], parameter);
    return used;
}

static int check_use(const struct command_spec *specs, size_t nr, const char *parameter,
                     struct error *err)
{
    for (size_t i = 0; i < nr; i++)
        if (is_used(&specs[i], parameter))
            return 0;
    return error_set(err, "nothing in the command says {%s}: its value would change nothing",
                     parameter);
}

int command_spec_check_use(const struct command_spec *specs, size_t nr, struct error *err)
{
    for (size_t d = 0; d < specs[0].dims.nr; d++)
        if (check_use(specs, nr, specs[0].dims.items[d], err))
            return -1;
    for (size_t t = 0; t < specs[0].texts.nr; t++)
        if (check_use(specs, nr, specs[0].texts.items[t].name, err))
            return -1;
    return 0;
}

static int check_parameter(const struct command_spec *spec, const char *name, struct error *err)
{
    int times = 0;

    if (name_check_dim(name, err))
        return -1;
    for (size_t i = 0; i < spec->dims.nr; i++)
        times += strcmp(name, spec->dims.items[i]) == 0;
    for (size_t i = 0; i < spec->texts.nr; i++)
        times += strcmp(name, spec->texts.items[i].name) == 0;
    return times == 1 ? 0 : error_set(err, "the parameter \"%s\" is there twice", name);
}

static size_t count_variants(const struct command_spec *spec)
{
    size_t nr = 1;

    for (size_t i = 0; i < spec->texts.nr && nr <= COMMAND_VARIANTS_MAX; i++)
        nr *= spec->texts.items[i].values.nr;
    return nr;
}

static int check_parameters(const struct command_spec *spec, struct error *err)
{
    if (spec->dims.nr > SHAPE_MAX)
        return error_set(err, "a command has at most %d dims", SHAPE_MAX);
    for (size_t d = 0; d < spec->dims.nr; d++)
        if (check_parameter(spec, spec->dims.items[d], err))
            return -1;
    for (size_t t = 0; t < spec->texts.nr; t++)
        if (check_parameter(spec, spec->texts.items[t].name, err))
            return -1;
    size_t nr = count_variants(spec);
    if (nr == 0)
        return error_set(err, "a parameter has no values");
    return nr <= COMMAND_VARIANTS_MAX
               ? 0
               : error_set(
                     err, "the parameters that are no whole numbers have more than %d combinations",
                     COMMAND_VARIANTS_MAX);
}

/* ---- the check ---- */

/* Does the name depend on a parameter? Then it is only known case by case. */
static bool is_open(const char *name)
{
    return strchr(name, '{') != NULL;
}

static int check_file(const char *option, const char *path, struct error *err)
{
    if (!path || is_open(path) || access(path, R_OK) == 0)
        return 0;
    return error_set(err, "%s: %s: %s", option, path, strerror(errno));
}

static int check_expected(const char *path, struct error *err)
{
    size_t length;

    if (!path || is_open(path))
        return 0;
    if (check_file("--expect", path, err))
        return -1;
    char *expected = output_expected(path, &length, err);
    free(expected);
    return expected ? 0 : error_prefix(err, "--expect");
}

static int check_numbers(const struct command_spec *spec, struct error *err)
{
    const struct number_specs *all = &spec->numbers;

    for (size_t i = 0; i < all->nr; i++)
        for (size_t d = 0; d < spec->dims.nr; d++)
            if (strcmp(all->items[i].name, spec->dims.items[d]) == 0)
                return error_set(err,
                                 "\"%s\" is a dim of the command: give the metric another name",
                                 all->items[i].name);
    return number_specs_check(all, err);
}

/* A place that depends on a size is only known case by case. */
static int check_files(const struct command_spec *spec, struct error *err)
{
    if (!is_open(spec->argv.items[0])) {
        char *program = command_find_program(spec->argv.items[0], err);
        if (!program)
            return -1;
        free(program);
    }
    return check_expected(spec->expect, err) || check_file("--input", spec->input, err) ? -1 : 0;
}

int command_spec_check(const struct command_spec *spec, struct error *err)
{
    if (spec->argv.nr == 0)
        return error_set(err, "there is no command behind --");
    if (name_check_variant(spec->name, err))
        return error_prefix(err, "--name");
    if (check_parameters(spec, err) ||
        name_check_key(spec->name, variant_name, (const char *const *)spec->dims.items,
                       spec->dims.nr, err) ||
        check_numbers(spec, err))
        return -1;
    return check_files(spec, err);
}

/* ---- its tables ---- */

static struct work command_work(const struct kernel *k, const struct shape *s, enum dtype dtype,
                                enum math math)
{
    (void)k, (void)s, (void)dtype, (void)math;
    return (struct work) { 0, 0 }; /* nobody knows */
}

static int command_layout(const struct kernel *k, const struct shape *s, enum dtype dtype,
                          struct tensor *t)
{
    (void)k;
    (void)s;
    t[0] = (struct tensor) {
        .name = "wrong", .role = TENSOR_OUT, .dtype = dtype, .rank = 1, .extent = { 1 }
    };
    return 1;
}

/* No run is to be wrong. */
static void command_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                           int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)k;
    (void)s;
    (void)t;
    (void)out;
    (void)rows;
    for (size_t i = 0; i < nr_rows; i++)
        expected[i] = 0;
}

static void command_oracle_cost(const struct kernel *k, const struct shape *s, double *fixed,
                                double *per_row)
{
    (void)k;
    (void)s;
    *fixed = *per_row = 0;
}

static double command_tolerance(const struct kernel *k, const struct shape *s, enum dtype dtype,
                                enum math math)
{
    (void)k;
    (void)s;
    (void)dtype;
    (void)math;
    return 0;
}

static void write_summary(struct command_guest *g)
{
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < g->spec->argv.nr; i++)
        strbuf_addf(&text, "%s%s", i ? " " : "", g->spec->argv.items[i]);
    snprintf(g->summary, sizeof(g->summary), "%s", text.data);
    strbuf_release(&text);
}

static void make_variants(struct command_guest *g)
{
    g->nr_variants = count_variants(g->spec);
    g->variants = memory_zeroed(g->nr_variants + 1, sizeof(*g->variants));
    g->variant_names = memory_zeroed(g->nr_variants, sizeof(*g->variant_names));
    for (size_t i = 0; i < g->nr_variants; i++) {
        if (g->spec->texts.nr)
            command_variant_name(g->spec, i, g->variant_names[i]);
        else
            snprintf(g->variant_names[i], sizeof(g->variant_names[i]), "%s", variant_name);
        g->variants[i] = (struct variant) {
            .name = g->variant_names[i],
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
    }
}

void command_guest_release(struct command_guest *g)
{
    free(g->variants);
    free(g->variant_names);
    g->variants = NULL;
    g->variant_names = NULL;
}

void command_guest_init(struct command_guest *g, const struct command_spec *spec)
{
    *g = (struct command_guest) { .spec = spec };
    snprintf(g->name, sizeof(g->name), "command/%s", spec->name);
    write_summary(g);
    for (int i = 0; i < SHAPE_MAX; i++)
        g->shape.dim[i] = (size_t)i < spec->dims.nr; /* each is given by its option */
    g->kernel = (struct kernel) {
        .name = g->name,
        .summary = g->summary,
        .config = g,
        .work = command_work,
        .layout = command_layout,
        .oracle = command_oracle,
        .oracle_cost = command_oracle_cost,
        .tolerance = command_tolerance,
        .shapes = &g->shape,
        .nr_shapes = 1,
        .test_shapes = &g->shape,
        .nr_test_shapes = 1,
    };
    for (size_t d = 0; d < spec->dims.nr; d++)
        g->kernel.dims[d] = spec->dims.items[d];
    make_variants(g);
    g->kernels[0] = &g->kernel;
}
