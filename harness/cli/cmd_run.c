/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/choice.h"
#include "cli/command_options.h"
#include "cli/history_file.h"
#include "cli/interrupt.h"
#include "cli/recording.h"
#include "cli/roofs.h"
#include "cli/run_report.h"
#include "cli/sharding.h"
#include "cli/terminal.h"
#include "core/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run_options {
    struct choice_options what;
    struct command_options command;
    const char *db, *label, *shard, *durations, *sweep, *output, *format;
    int64_t launches, iterations, seed, memory_limit;
    double budget, min_time, max_time, timeout;
    bool json, gbench_json, dry_run, no_repeat;
};

/* Everything one `harness run` holds. */
struct session {
    const struct run_options *o;
    struct choice choice;
    struct store *store;
    struct run run;
    struct recording recording;
    struct sharding sharding;
    enum run_report_form form;
    struct progress progress;
    const volatile sig_atomic_t *interrupted;
};

static void adjust_sampling(struct session *s)
{
    const struct run_options *o = s->o;
    struct sampling *sampling = &s->choice.suite.sampling;

    if (o->launches)
        s->choice.suite.launches = (int)o->launches;
    if (o->min_time > 0)
        sampling->min_time = o->min_time;
    if (o->max_time > 0)
        sampling->max_time = o->max_time;
    if (sampling->max_time < sampling->min_time)
        sampling->max_time = sampling->min_time;
    if (o->iterations)
        sampling->iterations = o->iterations;
}

/* --json and --gbench-json are short for --format. */
static int choose_form(struct session *s, struct error *err)
{
    s->form = s->o->gbench_json ? RUN_REPORT_GBENCH
              : s->o->json      ? RUN_REPORT_JSON
                                : RUN_REPORT_TABLE;
    return s->o->format ? run_report_form_find(s->o->format, &s->form, err) : 0;
}

/* What the shards of one sweep have in common: told, or the job that runs them as an array. */
static void add_sweep(cJSON *json, const struct run_options *o)
{
    const char *told = getenv("HARNESS_SWEEP"), *job = getenv("SLURM_ARRAY_JOB_ID");
    struct strbuf name;

    if (!o->shard)
        return;
    strbuf_init(&name);
    if (o->sweep || (told && *told))
        strbuf_adds(&name, o->sweep ? o->sweep : told);
    else if (job && *job)
        strbuf_addf(&name, "slurm-%s", job);
    json_add_string(json, "sweep", name.data);
    strbuf_release(&name);
}

static int check_sweep(const struct run_options *o, struct error *err)
{
    if (o->sweep && !o->shard)
        return error_set(err,
                         "--sweep names what the parts of --shard I/N have in common; there "
                         "is no --shard");
    return 0;
}

static char *settings_json(const struct session *s)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "device", s->choice.device.spec);
    json_add_int(json, "launches", s->choice.suite.launches);
    add_sweep(json, s->o);
    sharding_describe(&s->sharding, json);
    recording_add_guests(json, &s->choice.guests);
    cJSON_AddItemToObject(json, "sampling", sampling_to_json(&s->choice.suite.sampling));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

static int measure(struct session *s, enum sweep_end *end, struct error *err)
{
    struct sweep sweep = {
        .device_spec = s->choice.device.spec,
        .benchmarks = s->choice.list.items,
        .nr = s->choice.list.nr,
        .launches = s->choice.suite.launches,
        .settings = { .sampling = s->choice.suite.sampling,
                      .seed = (uint64_t)s->o->seed,
                      .memory_limit = s->o->memory_limit,
                      .guests = &s->choice.guests },
        .case_timeout = s->o->timeout > 0 ? s->o->timeout : 300,
        .budget = s->o->budget,
        .once = s->o->no_repeat,
        .interrupted = s->interrupted,
    };
    struct sweep_sink sink = recording_sink(&s->recording);

    if (roofs_ensure(s->store, &s->run, &s->choice.device, false, s->interrupted, err) ||
        store_begin_run(s->store, &s->run, err))
        return -1;
    int rc = sweep_run(&sweep, &sink, end, err);
    progress_clear(&s->progress);
    if (rc == 0 && *end != SWEEP_INTERRUPTED)
        rc = recording_end(&s->recording, err);
    return rc;
}

static int report(struct session *s, struct error *err)
{
    struct records records = { 0 };
    int rc = store_load(s->store, &s->run.id, 1, NULL, &records, err);

    if (rc == 0)
        rc = run_report(&records, s->form, s->o->output, err);
    if (rc >= 0 && (s->form == RUN_REPORT_TABLE || s->o->output))
        terminal_print("run %lld in %s\n", (long long)s->run.id, store_path(s->store));
    records_release(&records);
    return rc;
}

static int conclude(struct session *s, enum sweep_end end, struct error *err)
{
    int rc = report(s, err);

    if (rc >= 0 && end == SWEEP_BUDGET)
        terminal_note("the budget of %g s was spent before all launches were made\n", s->o->budget);
    history_tell(s->store);
    if ((rc == EXIT_SAME || rc == EXIT_UNDECIDED) && store_is_elsewhere(s->store))
        rc = EXIT_REGRESSION; /* somebody has to bring it in */
    if (rc >= 0 && end == SWEEP_INTERRUPTED) {
        terminal_note("interrupted: what was finished is kept as run %lld (unfinished)\n",
                      (long long)s->run.id);
        return 128 + (int)*s->interrupted;
    }
    return rc;
}

static int choose(struct session *s, int argc, char **argv, struct error *err)
{
    const struct run_options *o = s->o;
    struct command_spec spec = { .name = "" };

    if (!o->command.argv.argv)
        return command_options_unused(&o->command, err) ||
                       choice_make(&s->choice, &o->what, argv, argc, "quick", err)
                   ? -1
                   : 0;
    if (argc > 0)
        return error_set(err, "a command is measured alone: leave out \"%s\"", argv[0]);
    int rc = command_options_spec(&o->command, &spec, err);
    if (rc == 0)
        rc = choice_make_command(&s->choice, &o->what, &spec, err);
    command_spec_release(&spec);
    return rc;
}

/* --dry-run reads the history where there is one, and makes none. */
static int open_history(struct session *s, struct error *err)
{
    struct strbuf path;

    if (!s->o->dry_run)
        return history_open(&s->store, s->o->db, STORE_WRITE, err);
    strbuf_init(&path);
    history_path(s->o->db, &path);
    int rc = file_exists(path.data) ? history_open(&s->store, s->o->db, STORE_READ, err) : 0;
    strbuf_release(&path);
    return rc;
}

/* What bad input refuses is refused before there is a history. */
static int open_and_divide(struct session *s, struct error *err)
{
    const char *durations = s->o->durations;

    if (sharding_check(&s->sharding, s->choice.list.nr, durations, err) ||
        (durations && sharding_keep(&s->sharding, &s->choice, durations, NULL, err)) ||
        open_history(s, err))
        return -1;
    return durations ? 0 : sharding_keep(&s->sharding, &s->choice, NULL, s->store, err);
}

/* What would be measured, a key a line. */
static int print_choice(const struct choice *choice)
{
    struct benchmark_name name;

    for (size_t i = 0; i < choice->list.nr; i++) {
        benchmark_name_of(&choice->list.items[i], &choice->device, &name);
        terminal_print("%s\n", name.key);
    }
    return EXIT_SAME;
}

static int run_session(struct session *s, int argc, char **argv, struct error *err)
{
    enum sweep_end end;

    if (choose_form(s, err) || check_sweep(s->o, err) ||
        recording_check_label(s->o->label, 0, err) ||
        sharding_parse(s->o->shard, &s->sharding, err) || choose(s, argc, argv, err) ||
        open_and_divide(s, err))
        return -1;
    if (s->o->dry_run)
        return print_choice(&s->choice);
    sharding_tell(&s->sharding, s->choice.list.nr);
    adjust_sampling(s);
    recording_describe(&s->run, s->choice.suite.name, s->o->label, settings_json(s),
                       &s->choice.guests);
    s->recording =
        (struct recording) { .store = s->store, .run = &s->run, .progress = &s->progress };
    if (measure(s, &end, err)) {
        if (!*s->interrupted || s->run.id)
            return -1;
        terminal_note("interrupted before the first measurement: nothing is kept\n");
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
    choice_release(&s.choice);
    return rc;
}

static const struct option_row rows[] = {
    CHOICE_OPTION_ROWS(struct run_options, what, "quick", 'b'),
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
    NO_REPEAT_ROW(struct run_options, no_repeat),
    OPTION_ROW("timeout", 0, OPTION_DURATION, struct run_options, timeout, "TIME",
               "kill a case, or a run of a command, that takes longer (default 5m)"),
    MEMORY_LIMIT_ROW(struct run_options, memory_limit),
    OPTION_ROW("shard", 0, OPTION_STRING, struct run_options, shard, "I/N",
               "measure the I-th of N parts, balanced by what benchmarks last took"),
    OPTION_ROW("durations", 0, OPTION_STRING, struct run_options, durations, "FILE",
               "balance --shard by a run's JSON or a history, not by --db"),
    OPTION_ROW("sweep", 0, OPTION_LINE, struct run_options, sweep, "NAME",
               "a name for all N parts, which makes them one REF (default: $HARNESS_SWEEP, or the "
               "Slurm array job)"),
    OPTION_RANGE_ROW("seed", 0, OPTION_INT, struct run_options, seed, 1, INT64_MAX, "N",
                     "of order and inputs (default: fresh)"),
    OPTION_ROW("label", 0, OPTION_LINE, struct run_options, label, "TEXT",
               "a name for the run, usable as a REF"),
    OPTION_ROW("db", 0, OPTION_STRING, struct run_options, db, "FILE",
               "the history (default .harness/history.db of the project)"),
    OPTION_ROW("dry-run", 0, OPTION_FLAG, struct run_options, dry_run, NULL,
               "print the keys of what would be measured, and measure nothing"),
    OPTION_ROW("format", 0, OPTION_STRING, struct run_options, format, "FORM",
               "text (default), markdown, json, summary-json, gbench, csv"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct run_options, json, NULL,
               "--format json: all records with their raw samples"),
    OPTION_ROW("gbench-json", 0, OPTION_FLAG, struct run_options, gbench_json, NULL,
               "--format gbench: Google Benchmark's JSON"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct run_options, output, "FILE",
               "write the result there"),
    COMMAND_OPTION_ROWS(struct run_options, command),
    OPTION_END,
};

extern const struct command cmd_run;
const struct command cmd_run = {
    .name = "run",
    .arguments = "[FILTER... | -- COMMAND [ARGUMENT...]]",
    .summary = "measure: check every result, then time it, into the history",
    .details =
        "  harness run                                   suite quick\n"
        "  harness run 'gemm/*' --batch 1,4 --seq 64,128\n"
        "  harness run --model nano,tile-large --batch 4 --seq 64\n"
        "  harness run --plugin ./mine.so                kernels of your own\n"
        "  harness run --dim n=1,2 -- ./program {n}      any program, a process a sample\n"
        "\n"
        "A FILTER is a glob over KERNEL/VARIANT/DTYPE/DIMS/DEVICE/CACHE or a leading run of\n"
        "its parts. Exit status 1 if any result was wrong or failed.",
    .options = rows,
    .options_size = sizeof(struct run_options),
    .run = run,
};
