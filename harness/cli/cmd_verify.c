/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "core/registry.h"
#include "measure/case.h"
#include "measure/selection.h"

#include <math.h>
#include <stdio.h>

struct verify_options {
    bool test_shapes;
    const char *device;
    int64_t seed;
    struct int_list batch, seq;
    struct string_list models, variants;
};

static int fill_selection(const struct verify_options *o, int argc, char **argv,
                          struct selection *s, struct error *err)
{
    s->test_shapes = o->test_shapes;
    for (int i = 0; i < argc; i++)
        string_list_add(&s->filters, argv[i]);
    for (size_t i = 0; i < o->models.nr; i++)
        string_list_add(&s->models, o->models.items[i]);
    for (size_t i = 0; i < o->variants.nr; i++)
        string_list_add(&s->variants, o->variants.items[i]);
    if (o->batch.nr && selection_add_dim(s, "batch", &o->batch, err))
        return -1;
    return o->seq.nr ? selection_add_dim(s, "seq", &o->seq, err) : 0;
}

static void print_result(const struct measurement *m)
{
    printf("%-11s %-64s", outcome_name(m->outcome), m->bench.key);
    if (isfinite(m->max_error))
        printf(" error %.2e of %.2e", m->max_error, m->tolerance);
    printf("%s%s\n", m->message ? " " : "", m->message ? m->message : "");
    fflush(stdout);
}

static int verify_all(const struct benchmark_list *list, struct device *device, uint64_t seed)
{
    size_t counts[OUTCOME_NR] = { 0 };

    for (size_t i = 0; i < list->nr; i++) {
        struct case_settings settings = { .seed = seed + i, .verify_only = true };
        struct measurement m;
        case_measure(&list->items[i], device, &settings, &m);
        print_result(&m);
        counts[m.outcome]++;
        measurement_release(&m);
    }
    printf("%zu OK, %zu wrong, %zu failed, %zu unsupported\n", counts[OUTCOME_OK],
           counts[OUTCOME_WRONG], counts[OUTCOME_FAILED], counts[OUTCOME_UNSUPPORTED]);
    if (counts[OUTCOME_WRONG] + counts[OUTCOME_FAILED] > 0)
        return EXIT_REGRESSION;
    return counts[OUTCOME_OK] > 0 ? EXIT_SAME : EXIT_UNDECIDED;
}

static int run(int argc, char **argv, void *options, struct error *err)
{
    const struct verify_options *o = options;
    struct selection selection = { 0 };
    struct benchmark_list list = { 0 };
    struct device device;
    int rc = -1;

    if (device_open(&device, o->device ? o->device : "cpu", err))
        return -1;
    if (fill_selection(o, argc, argv, &selection, err) == 0 &&
        selection_expand(&selection, registry_builtin(), &device, &list, err) == 0)
        rc = verify_all(&list, &device, (uint64_t)o->seed);
    array_release(&list);
    selection_release(&selection);
    device_close(&device);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("test-shapes", 0, OPTION_FLAG, struct verify_options, test_shapes, NULL,
               "the odd sizes instead of the default ones"),
    OPTION_ROW("device", 'd', OPTION_STRING, struct verify_options, device, "DEVICE",
               "cpu, cpu:THREADS, cuda, cuda:N (default cpu)"),
    OPTION_ROW("model", 'm', OPTION_STRINGS, struct verify_options, models, "NAME,...",
               "GPT configurations"),
    OPTION_ROW("variant", 0, OPTION_STRINGS, struct verify_options, variants, "NAME,...",
               "variants by name"),
    OPTION_RANGE_ROW("batch", 'b', OPTION_INTS, struct verify_options, batch, 1, DIM_LIMIT, "LIST",
                     "batch sizes"),
    OPTION_RANGE_ROW("seq", 's', OPTION_INTS, struct verify_options, seq, 1, DIM_LIMIT, "LIST",
                     "sequence lengths"),
    OPTION_RANGE_ROW("seed", 0, OPTION_INT, struct verify_options, seed, 0, INT64_MAX, "N",
                     "of the random inputs"),
    OPTION_END,
};

extern const struct command cmd_verify;
const struct command cmd_verify = {
    .name = "verify",
    .arguments = "[FILTER...]",
    .summary = "check variants against the float64 oracles, without timing",
    .details =
        "Every output row is compared, inputs are random, outputs are poisoned first.\n"
        "Exit status 1 if any result was wrong or failed.",
    .options = rows,
    .options_size = sizeof(struct verify_options),
    .run = run,
};
