/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/json.h"
#include "base/random.h"
#include "cli/history_file.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/roofs.h"
#include "cli/run_report.h"
#include "core/clock.h"
#include "core/registry.h"
#include "measure/environment.h"

#include <stdio.h>
#include <string.h>

struct run_options {
    const char *suite, *device, *db, *label, *shard, *output, *format;
    struct string_list models, variants, dtypes, caches, dims;
    struct int_list batch, seq;
    int64_t launches, iterations, seed;
    double budget, min_time, max_time, timeout;
    bool json, gbench_json, test_shapes;
};

/* Everything one `harness run` holds. */
struct session {
    const struct run_options *o;
    struct suite suite; /* also holds the selection of the command line */
    struct device device;
    struct benchmark_list list;
    struct store *store;
    struct run run;
    int64_t launch_id;
    enum run_report_form form;
    struct progress progress;
    const volatile sig_atomic_t *interrupted;
};

/* "heads=8,16": dim names of kernels that have no option of their own. */
static int add_dim_option(struct selection *s, const char *text, struct error *err)
{
    char name[32];
    const char *equals = strchr(text, '=');
    struct int_list values = { 0 };

    if (!equals || equals == text || equals - text >= (long)sizeof(name))
        return error_set(err, "--dim: \"%s\" is not NAME=LIST", text);
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    int rc = text_parse_ints(equals + 1, 1, DIM_LIMIT, name, &values, err);
    if (rc == 0)
        rc = selection_add_dim(s, name, &values, err);
    array_release(&values);
    return rc;
}

static int set_caches(struct selection *s, const struct string_list *caches, struct error *err)
{
    for (size_t i = 0; i < caches->nr; i++) {
        bool cold = strcmp(caches->items[i], "cold") == 0;
        if (!cold && strcmp(caches->items[i], "warm") != 0)
            return error_set(err, "--cache: \"%s\" is neither warm nor cold", caches->items[i]);
        s->cold |= cold;
        s->warm |= !cold;
    }
    return 0;
}

static void copy_strings(struct string_list *to, const struct string_list *from)
{
    for (size_t i = 0; i < from->nr; i++)
        string_list_add(to, from->items[i]);
}

static int select_by_options(struct session *s, int argc, char **argv, struct error *err)
{
    const struct run_options *o = s->o;
    struct selection *selection;

    s->suite = (struct suite) { .sampling = sampling_default, .launches = 3 };
    s->suite.selections = array_grow(NULL, 0, &s->suite.capacity, sizeof(*selection));
    s->suite.nr = 1;
    selection = s->suite.selections;
    for (int i = 0; i < argc; i++)
        string_list_add(&selection->filters, argv[i]);
    copy_strings(&selection->models, &o->models);
    copy_strings(&selection->variants, &o->variants);
    copy_strings(&selection->maths, &o->dtypes);
    selection->test_shapes = o->test_shapes;
    if (set_caches(selection, &o->caches, err) ||
        (o->batch.nr && selection_add_dim(selection, "batch", &o->batch, err)) ||
        (o->seq.nr && selection_add_dim(selection, "seq", &o->seq, err)))
        return -1;
    for (size_t i = 0; i < o->dims.nr; i++)
        if (add_dim_option(selection, o->dims.items[i], err))
            return -1;
    return 0;
}

/* A suite is a complete statement of what to measure; mixing it with a selection would make runs
 * of the "same" suite incomparable. */
static int choose(struct session *s, int argc, char **argv, struct error *err)
{
    const struct run_options *o = s->o;
    bool selects = argc > 0 || o->models.nr || o->variants.nr || o->dtypes.nr || o->caches.nr ||
                   o->dims.nr || o->batch.nr || o->seq.nr || o->test_shapes;

    if (o->suite && selects)
        return error_set(err,
                         "--suite says what to measure: leave out filters, --model, "
                         "--variant, --dtype, --cache, --batch, --seq and --dim");
    if (selects ? select_by_options(s, argc, argv, err)
                : suite_load(&s->suite, o->suite ? o->suite : "quick", err))
        return -1;
    if (o->launches)
        s->suite.launches = (int)o->launches;
    struct sampling *sampling = &s->suite.sampling;
    if (o->min_time > 0)
        sampling->min_time = o->min_time;
    if (o->max_time > 0)
        sampling->max_time = o->max_time;
    if (sampling->max_time < sampling->min_time)
        sampling->max_time = sampling->min_time;
    if (o->iterations)
        sampling->iterations = o->iterations;
    return 0;
}

/* --json and --gbench-json are short for --format. */
static int choose_form(struct session *s, struct error *err)
{
    s->form = s->o->gbench_json ? RUN_REPORT_GBENCH
              : s->o->json      ? RUN_REPORT_JSON
                                : RUN_REPORT_TABLE;
    return s->o->format ? run_report_form_find(s->o->format, &s->form, err) : 0;
}

static bool known(const struct benchmark_list *list, const struct benchmark *b)
{
    for (size_t i = 0; i < list->nr; i++)
        if (list->items[i].variant == b->variant && list->items[i].cache == b->cache &&
            shape_equal(&list->items[i].shape, &b->shape))
            return true;
    return false;
}

/* --shard I/N keeps every N-th benchmark, starting with the I-th. */
static int keep_shard(struct benchmark_list *list, const char *shard, struct error *err)
{
    long index, count;
    char rest;

    if (!shard)
        return 0;
    if (sscanf(shard, "%ld/%ld%c", &index, &count, &rest) != 2 || index < 1 || index > count)
        return error_set(err, "--shard: \"%s\" is not I/N with 1 <= I <= N", shard);
    size_t kept = 0;
    for (size_t i = 0; i < list->nr; i++)
        if (i % (size_t)count == (size_t)index - 1)
            list->items[kept++] = list->items[i];
    list->nr = kept;
    return kept ? 0 : error_set(err, "--shard %s leaves nothing to measure", shard);
}

/* Selections of a suite may overlap: every benchmark is measured once. */
static int expand(struct session *s, struct error *err)
{
    struct benchmark_list all = { 0 };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->suite.nr; i++)
        rc = selection_expand(&s->suite.selections[i], registry_builtin(), &s->device, &all, err);
    for (size_t i = 0; rc == 0 && i < all.nr; i++)
        if (!known(&s->list, &all.items[i]))
            *array_push(&s->list) = all.items[i];
    array_release(&all);
    return rc ? rc : keep_shard(&s->list, s->o->shard, err);
}

static char *settings_json(const struct session *s)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "device", s->device.spec);
    json_add_int(json, "launches", s->suite.launches);
    json_add_string(json, "shard", s->o->shard);
    cJSON_AddItemToObject(json, "sampling", sampling_to_json(&s->suite.sampling));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

static void describe_run(struct session *s)
{
    struct run *run = &s->run;

    random_uuid(run->uuid);
    run->started_ms = clock_epoch_ms();
    snprintf(run->suite, sizeof(run->suite), "%s", s->suite.name);
    snprintf(run->label, sizeof(run->label), "%s", s->o->label ? s->o->label : "");
    environment_machine(&run->machine);
    environment_build(&run->build);
    run->environment = environment_json();
    run->settings = settings_json(s);
}

static int on_launch_begin(void *context, const struct launch *l, struct error *err)
{
    struct session *s = context;

    return store_begin_launch(s->store, s->run.id, l, &s->launch_id, err);
}

static int on_launch_end(void *context, const struct launch *l, struct error *err)
{
    struct session *s = context;

    return store_end_launch(s->store, s->launch_id, l, err);
}

static int on_measurement(void *context, const struct launch *l, const struct measurement *m,
                          struct error *err)
{
    struct session *s = context;

    (void)l;
    return store_add_measurement(s->store, s->launch_id, m, err);
}

static void on_progress(void *context, const struct sweep_progress *p)
{
    progress_show(&((struct session *)context)->progress, p);
}

static int measure(struct session *s, enum sweep_end *end, struct error *err)
{
    struct sweep sweep = {
        .device_spec = s->device.spec,
        .benchmarks = s->list.items,
        .nr = s->list.nr,
        .launches = s->suite.launches,
        .settings = { .sampling = s->suite.sampling, .seed = (uint64_t)s->o->seed },
        .case_timeout = s->o->timeout > 0 ? s->o->timeout : 300,
        .budget = s->o->budget,
        .interrupted = s->interrupted,
    };
    struct sweep_sink sink = {
        .context = s,
        .launch_begin = on_launch_begin,
        .launch_end = on_launch_end,
        .measurement = on_measurement,
        .progress = on_progress,
    };

    if (roofs_ensure(s->store, &s->run, &s->device, false, s->interrupted, err) ||
        store_begin_run(s->store, &s->run, err))
        return -1;
    int rc = sweep_run(&sweep, &sink, end, err);
    progress_clear(&s->progress);
    if (rc == 0 && *end != SWEEP_INTERRUPTED)
        rc = store_end_run(s->store, s->run.id, clock_epoch_ms(), err);
    return rc;
}

static int report(struct session *s, struct error *err)
{
    struct records records = { 0 };
    int rc = store_load(s->store, &s->run.id, 1, NULL, &records, err);

    if (rc == 0)
        rc = run_report(&records, s->form, s->o->output, err);
    if (rc >= 0 && (s->form == RUN_REPORT_TABLE || s->o->output))
        printf("run %lld in %s\n", (long long)s->run.id, store_path(s->store));
    records_release(&records);
    return rc;
}

static int conclude(struct session *s, enum sweep_end end, struct error *err)
{
    int rc = report(s, err);

    if (rc >= 0 && end == SWEEP_BUDGET)
        fprintf(stderr, "the budget of %g s was spent before all launches were made\n",
                s->o->budget);
    if (rc >= 0 && end == SWEEP_INTERRUPTED) {
        fprintf(stderr, "interrupted: what was finished is kept as run %lld (unfinished)\n",
                (long long)s->run.id);
        return 128 + (int)*s->interrupted;
    }
    return rc;
}

static int run_session(struct session *s, int argc, char **argv, struct error *err)
{
    enum sweep_end end;

    if (choose_form(s, err) || choose(s, argc, argv, err) ||
        device_open(&s->device, s->o->device ? s->o->device : "cpu", err) || expand(s, err) ||
        history_open(&s->store, s->o->db, STORE_WRITE, err))
        return -1;
    describe_run(s);
    if (measure(s, &end, err)) {
        if (!*s->interrupted || s->run.id)
            return -1;
        fprintf(stderr, "interrupted before the first measurement: nothing is kept\n");
        return 128 + (int)*s->interrupted;
    }
    return conclude(s, end, err);
}

static int run(int argc, char **argv, void *options, struct error *err)
{
    struct session s = { .o = options };

    progress_init(&s.progress);
    s.interrupted = interrupt_watch();
    int rc = run_session(&s, argc, argv, err);
    store_close(s.store);
    run_release(&s.run);
    array_release(&s.list);
    if (s.device.ops)
        device_close(&s.device);
    suite_release(&s.suite);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("suite", 0, OPTION_STRING, struct run_options, suite, "NAME",
               "quick (default), ci, full, or a file of your own"),
    OPTION_ROW("model", 'm', OPTION_STRINGS, struct run_options, models, "NAME,...",
               "GPT configurations: prefill and decode"),
    OPTION_RANGE_ROW("batch", 'b', OPTION_INTS, struct run_options, batch, 1, DIM_LIMIT, "LIST",
                     "batch sizes: 1,4,16 or 1:64:*2"),
    OPTION_RANGE_ROW("seq", 's', OPTION_INTS, struct run_options, seq, 1, DIM_LIMIT, "LIST",
                     "sequence lengths: 64,128 or 32:512:*2 or 64:256:+64"),
    OPTION_ROW("dim", 0, OPTION_STRINGS, struct run_options, dims, "NAME=SIZE",
               "any other dim, such as heads=8; repeat for more values"),
    OPTION_ROW("variant", 0, OPTION_STRINGS, struct run_options, variants, "NAME,...",
               "variants: naive, simd, openblas, ..."),
    OPTION_ROW("dtype", 0, OPTION_STRINGS, struct run_options, dtypes, "NAME,...",
               "arithmetic: fp32, ..."),
    OPTION_ROW("cache", 0, OPTION_STRINGS, struct run_options, caches, "warm,cold",
               "caches as they are (default), flushed before each sample, or both"),
    OPTION_ROW("test-shapes", 0, OPTION_FLAG, struct run_options, test_shapes, NULL,
               "the kernels' odd sizes instead of the default ones"),
    OPTION_ROW("device", 'd', OPTION_STRING, struct run_options, device, "DEVICE",
               "cpu (default, all cores), cpu:THREADS, cuda, cuda:N, cuda:graph"),
    OPTION_RANGE_ROW("launches", 'l', OPTION_INT, struct run_options, launches, 1, 1000, "N",
                     "fresh processes: the unit of evidence (default: the suite's, else 3)"),
    OPTION_RANGE_ROW("iterations", 0, OPTION_INT, struct run_options, iterations, 1, 1000000, "N",
                     "exactly N samples each, instead of the adaptive stop"),
    OPTION_ROW("min-time", 0, OPTION_DURATION, struct run_options, min_time, "TIME",
               "least measured time a benchmark and launch"),
    OPTION_ROW("max-time", 0, OPTION_DURATION, struct run_options, max_time, "TIME",
               "most measured time a benchmark and launch"),
    OPTION_ROW("budget", 0, OPTION_DURATION, struct run_options, budget, "TIME",
               "start no further launch after this"),
    OPTION_ROW("timeout", 0, OPTION_DURATION, struct run_options, timeout, "TIME",
               "kill a case that takes longer (default 5m)"),
    OPTION_ROW("shard", 0, OPTION_STRING, struct run_options, shard, "I/N",
               "measure the I-th of N parts"),
    OPTION_RANGE_ROW("seed", 0, OPTION_INT, struct run_options, seed, 1, INT64_MAX, "N",
                     "of order and inputs (default: fresh)"),
    OPTION_ROW("label", 0, OPTION_STRING, struct run_options, label, "TEXT",
               "a name for the run, usable as a REF"),
    OPTION_ROW("db", 0, OPTION_STRING, struct run_options, db, "FILE",
               "the history (default .harness/history.db of the project)"),
    OPTION_ROW("format", 0, OPTION_STRING, struct run_options, format, "FORM",
               "text (default), markdown, json, summary-json, gbench, csv"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct run_options, json, NULL,
               "--format json: all records with their raw samples"),
    OPTION_ROW("gbench-json", 0, OPTION_FLAG, struct run_options, gbench_json, NULL,
               "--format gbench: Google Benchmark's JSON"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct run_options, output, "FILE",
               "write the result there"),
    OPTION_END,
};

extern const struct command cmd_run;
const struct command cmd_run = {
    .name = "run",
    .arguments = "[FILTER...]",
    .summary = "measure: check every result, then time it, into the history",
    .details =
        "  harness run                                   suite quick\n"
        "  harness run 'gemm/*' --batch 1,4 --seq 64,128\n"
        "  harness run --model nano,tile-large --batch 4 --seq 64\n"
        "\n"
        "A FILTER is a glob over KERNEL/VARIANT/DTYPE/DIMS/DEVICE/CACHE or a leading run of\n"
        "its parts. Exit status 1 if any result was wrong or failed.",
    .options = rows,
    .options_size = sizeof(struct run_options),
    .run = run,
};
