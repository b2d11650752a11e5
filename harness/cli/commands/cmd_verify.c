/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "session/measure/measuring.h"
#include "session/measure/workload.h"

#include "core/registry.h"
#include "device/devices.h"
#include "launch/sweep.h"
#include "machine/environment.h"
#include "session/tune/tuned_workload.h"
#include "session/verified_variants.h"
#include "terminal/terminal.h"

#include <math.h>
#include <stdio.h>

struct verify_options {
    bool test_shapes, isolate, all_settings, tuned;
    const char *device, *record, *db;
    struct measuring measuring;
    struct int_list batch, seq;
    struct string_list models, variants, fills;
    struct workload_options guests; /* of these those that bring guests, dims and dtypes */
};

/* Everything one `harness verify` holds. */
struct verifying {
    struct verify_options *o;
    struct device device;
    struct benchmark_list list;
    struct guests guests;
    struct tuned tuned;
    struct fill_list fills; /* the list points into it */
    struct build build;
    struct verification_list record;
    size_t counts[OUTCOME_NR];
};

static int fill_verify_selection(const struct verify_options *o, int argc, char **argv,
                                 struct selection *s, struct error *err)
{
    s->test_shapes = o->test_shapes;
    for (int i = 0; i < argc; i++)
        string_list_add(&s->filters, argv[i]);
    for (size_t i = 0; i < o->models.nr; i++)
        string_list_add(&s->models, o->models.items[i]);
    for (size_t i = 0; i < o->variants.nr; i++)
        string_list_add(&s->variants, o->variants.items[i]);
    for (size_t i = 0; i < o->guests.dtypes.nr; i++)
        string_list_add(&s->maths, o->guests.dtypes.items[i]);
    if (o->batch.nr && selection_add_dim(s, "batch", &o->batch, err))
        return -1;
    if (o->seq.nr && selection_add_dim(s, "seq", &o->seq, err))
        return -1;
    return workload_add_dims(s, &o->guests.dims, err);
}

static void print_verification(const struct measurement *m)
{
    terminal_print("%-11s %-64s", outcome_name(m->outcome), m->bench.key);
    if (isfinite(m->max_error))
        terminal_print(" error %.2e of %.2e", m->max_error, m->tolerance);
    if (isfinite(measurement_telemetry(m, "weights_error")))
        terminal_print(", %.2e with that of rounded weights",
                       measurement_telemetry(m, "weights_error"));
    terminal_print("%s%s\n", m->message ? " " : "", m->message ? m->message : "");
    fflush(stdout);
}

static void take_verification(struct verifying *s, const struct measurement *m)
{
    print_verification(m);
    s->counts[m->outcome]++;
    if (s->o->record || s->o->all_settings)
        verification_note(&s->record, registry_builtin(), &s->build, &s->device, m);
}

static void verify_one(struct verifying *s, size_t i, uint64_t seed, struct problem *problem)
{
    const struct case_settings settings = { .seed = seed, .verify_only = true, .problem = problem };
    struct measurement m;

    if (s->device.broken) {
        case_describe(&s->list.items[i], &s->device, &m);
        m.outcome = OUTCOME_FAILED;
        m.message = memory_string("not run: the device is broken, try --isolate");
    } else {
        case_measure(&s->list.items[i], &s->device, &settings, &m);
    }
    take_verification(s, &m);
    measurement_release(&m);
}

static bool asks_the_same(const struct benchmark *a, const struct benchmark *b)
{
    return a->variant->kernel == b->variant->kernel && a->variant->dtype == b->variant->dtype &&
           a->inputs == b->inputs &&
           math_rounds_weights(a->variant->math) == math_rounds_weights(b->variant->math) &&
           shape_equal(&a->shape, &b->shape);
}

/* One after the other in this process: those that ask the same, by the same tensors and with one
 * answer of the oracle, behind the first of them. */
static void verify_here(struct verifying *s)
{
    bool *done = memory_zeroed(s->list.nr ? s->list.nr : 1, sizeof(*done));
    struct problem problem = { .stands = false };

    for (size_t i = 0; i < s->list.nr; i++) {
        for (size_t j = i; j < s->list.nr && !done[i]; j++) {
            if (done[j] || !asks_the_same(&s->list.items[i], &s->list.items[j]))
                continue;
            verify_one(s, j, (uint64_t)s->o->measuring.seed + i, &problem);
            done[j] = j > i;
        }
    }
    problem_release(&problem);
    free(done);
}

static int on_verify_measurement(void *context, const struct launch *l, const struct measurement *m,
                                 struct error *err)
{
    (void)l;
    (void)err;
    take_verification(context, m);
    return 0;
}

/* In a process of their own, and the rest in a new one after each that crashed or hung. */
static int verify_isolated(struct verifying *s, struct error *err)
{
    struct sweep sweep = {
        .what = { .device_spec = s->device.spec,
                  .benchmarks = s->list.items,
                  .nr = s->list.nr,
                  .settings = { .sampling = sampling_default,
                                .seed = (uint64_t)s->o->measuring.seed,
                                .memory_limit = s->o->measuring.memory_limit,
                                .verify_only = true,
                                .guests = &s->guests },
                  .limits = measuring_limits(&s->o->measuring) },
        .launches = 1,
        .in_order = true,
    };
    struct measurement_sink sink = { .context = s, .measurement = on_verify_measurement };
    enum sweep_end end;

    return sweep_run(&sweep, &sink, &end, err);
}

static bool was_printed(const struct benchmark_list *list, size_t which)
{
    for (size_t i = 0; i < which; i++)
        if (list->items[i].variant == list->items[which].variant)
            return true;
    return false;
}

/* What has no setting is covered as far as its own plan goes at these shapes. */
static void print_unforced(const struct verifying *s)
{
    const struct registry *own = registry_builtin();

    for (size_t i = 0; s->o->all_settings && i < s->list.nr; i++) {
        const struct variant *v = s->list.items[i].variant;
        bool of_setting = v->values != NULL;
        if (!of_setting && !registry_forced(own, v)->params && !was_printed(&s->list, i))
            terminal_print("not forced  %s/%s: it has no settings\n", v->kernel->name, v->name);
    }
}

/* Which settings were looked at, and on how many shapes each was right. */
static void print_coverage(const struct verification_list *list)
{
    for (size_t i = 0; i < list->settings.nr; i++) {
        const struct verification_setting *s = &list->settings.items[i];
        if (s->shapes > 0)
            terminal_print("covered     %s/%s %s: right on %lld shapes\n", s->kernel, s->variant,
                           s->setting, (long long)s->shapes);
        else
            terminal_print("NOT COVERED %s/%s %s: on none of these shapes\n", s->kernel, s->variant,
                           s->setting);
    }
}

static int conclude_verify(const struct verifying *s, struct error *err)
{
    const size_t *counts = s->counts;

    print_unforced(s);
    print_coverage(&s->record);
    terminal_print("%zu OK, %zu wrong, %zu failed, %zu unsupported\n", counts[OUTCOME_OK],
                   counts[OUTCOME_WRONG], counts[OUTCOME_FAILED], counts[OUTCOME_UNSUPPORTED]);
    if (s->o->record && verification_write(s->o->record, &s->record, err))
        return error_prefix(err, "--record");
    if (counts[OUTCOME_WRONG] + counts[OUTCOME_FAILED] > 0)
        return EXIT_REGRESSION;
    return counts[OUTCOME_OK] > 0 ? EXIT_SAME : EXIT_UNDECIDED;
}

/* Of what is chosen, by names that know of no settings. */
static void add_all_settings(struct verifying *s)
{
    const struct builtin_settings *all = &s->guests.builtin;
    struct benchmark_list chosen = s->list;

    s->list = (struct benchmark_list) { .items = NULL };
    for (size_t i = 0; i < chosen.nr; i++) {
        *array_push(&s->list) = chosen.items[i];
        for (size_t j = 0; j < all->nr; j++) {
            if (all->each[j].of != chosen.items[i].variant)
                continue;
            struct benchmark *b = array_push(&s->list);
            *b = chosen.items[i];
            b->variant = &all->variants[j];
        }
    }
    array_release(&chosen);
}

/* Without a filter, a plugin's kernels and no others, as workload_make() chooses. */
static int choose_verified(struct verifying *s, int argc, char **argv, struct error *err)
{
    const struct registry *registry = s->o->all_settings ? registry_builtin()
                                      : workload_has_guests(&s->o->guests) && argc == 0
                                          ? &s->guests.own
                                          : &s->guests.all;
    struct selection selection = { 0 };

    if ((s->o->tuned && history_tuned(&s->tuned, s->o->db, &s->o->guests, err)) ||
        workload_open_guests(&s->guests, &s->o->guests, err))
        return -1;
    if (registry == &s->guests.own && plugins_check_device(&s->guests, &s->device, err))
        return -1;
    selection.fills = &s->fills;
    int rc = fill_list_parse(&s->fills, "--fill", &s->o->fills, err) ||
             fill_verify_selection(s->o, argc, argv, &selection, err);
    if (rc == 0)
        rc = selection_expand(&selection, registry, &s->device, &s->list, err);
    if (rc == 0 && s->o->all_settings)
        add_all_settings(s);
    if (rc == 0 && s->o->tuned)
        rc = tuned_keep(&s->tuned, &s->guests, &s->device, &s->list, err);
    selection_release(&selection);
    return rc ? -1 : 0;
}

/* A plugin's code is not run in this process. */
static int verify_benchmarks(struct verifying *s, int argc, char **argv, struct error *err)
{
    bool isolate = s->o->isolate || workload_has_guests(&s->o->guests);

    if (s->o->all_settings && (s->o->guests.params.nr || workload_has_guests(&s->o->guests)))
        return error_set(err,
                         "--all-settings is of this build's own variants: leave out --param, "
                         "--plugin and --python");
    if (s->o->all_settings && s->o->tuned)
        return error_set(err, "--all-settings has those of --tuned, too: leave one out");
    if (s->o->record && s->o->fills.nr)
        return error_set(err, "--record is of the kernels' own inputs: leave out --fill");
    if (s->o->record && verification_allowed(&s->device, err))
        return error_prefix(err, "--record");
    environment_build(&s->build);
    if (choose_verified(s, argc, argv, err))
        return -1;
    if (isolate ? verify_isolated(s, err) : device_start(&s->device, err))
        return -1;
    if (!isolate)
        verify_here(s);
    return conclude_verify(s, err);
}

static int run_verify(int argc, char **argv, void *options, struct error *err)
{
    struct verify_options *o = options;
    struct verifying s = { .o = o };

    o->guests.device = o->device;
    int rc = device_open(&s.device, o->device ? o->device : DEVICE_SPEC_USUAL, err);
    if (rc == DEVICE_UNAVAILABLE) { /* nothing can be said of its variants on this machine */
        terminal_error(err);
        return EXIT_UNDECIDED;
    }
    if (rc)
        return rc;
    struct string_list every = { 0 };
    string_list_add(&every, BUILTIN_SETTINGS_EVERY);
    if (o->all_settings)
        o->guests.settings = every;
    rc = verify_benchmarks(&s, argc, argv, err);
    string_list_release(&every);
    tuned_close(&s.tuned);
    array_release(&s.list);
    verification_release(&s.record);
    guests_close(&s.guests);
    fill_list_release(&s.fills);
    device_close(&s.device);
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
    OPTION_ROW("dtype", 0, OPTION_STRINGS, struct verify_options, guests.dtypes, "NAME,...",
               "arithmetic: fp32, ..."),
    OPTION_RANGE_ROW("batch", 'b', OPTION_INTS, struct verify_options, batch, 1, DIM_LIMIT, "LIST",
                     "batch sizes"),
    OPTION_RANGE_ROW("seq", 's', OPTION_INTS, struct verify_options, seq, 1, DIM_LIMIT, "LIST",
                     "sequence lengths"),
    OPTION_ROW("dim", 0, OPTION_STRINGS, struct verify_options, guests.dims, "NAME=LIST",
               "any other dim: heads=8,16; repeat for more dims"),
    OPTION_RANGE_ROW("seed", 0, OPTION_INT, struct verify_options, measuring.seed, 0, INT64_MAX,
                     "N", "of the random inputs"),
    FILL_ROW(struct verify_options, fills),
    OPTION_ROW("isolate", 0, OPTION_FLAG, struct verify_options, isolate, NULL,
               "in processes of their own: one that crashes or hangs does not end the others"),
    OPTION_ROW("timeout", 0, OPTION_DURATION, struct verify_options, measuring.timeout, "TIME",
               "with --isolate, end a case that takes longer (default 5m)"),
    MEMORY_LIMIT_ROW(struct verify_options, measuring),
    OPTION_ROW("plugin", 0, OPTION_TEXTS, struct verify_options, guests.plugins, "FILE",
               "kernels of your own, from a shared object (implies --isolate)"),
    PARAM_ROW(struct verify_options, guests),
    TUNED_ROW(struct verify_options, tuned),
    PYTHON_ROWS(struct verify_options, guests),
    OPTION_ROW(
        "all-settings", 0, OPTION_FLAG, struct verify_options, all_settings, NULL,
        "each variant also with each of its tiles, slices and blocks; says which were covered"),
    OPTION_ROW("record", 0, OPTION_STRING, struct verify_options, record, "FILE",
               "note in FILE which variants this CUDA device verified"),
    DB_ROW(struct verify_options, db),
    OPTION_END,
};

extern const struct command cmd_verify;
const struct command cmd_verify = {
    .name = "verify",
    .arguments = "[FILTER...]",
    .summary = "check variants against the float64 oracles, without timing",
    .details =
        "Every output row is compared, inputs are random, outputs are poisoned first.\n"
        "Exit status 1 if any result was wrong or failed, 77 if none was OK.\n"
        "\n"
        "  harness verify --device cuda --test-shapes --isolate \\\n"
        "      --record baselines/verification.json\n"
        "\n"
        "The record goes into the next build; `harness list variants` shows it.",
    .options = rows,
    .options_size = sizeof(struct verify_options),
    .run = run_verify,
};
