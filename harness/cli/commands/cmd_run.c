/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/render/run_report.h"
#include "cli/shared_options.h"
#include "core/registry.h"
#include "session/measure/recording.h"
#include "session/measure/roofs.h"
#include "session/measure/sharding.h"
#include "session/measure/workload.h"
#include "session/tune/tuned_workload.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run_options {
    struct workload_options what;
    struct command_options command;
    const char *db, *label, *shard, *durations, *sweep, *output, *format;
    bool tuned;
    struct string_list min_time;
    int64_t launches, iterations;
    double max_time;
    bool json, gbench_json, dry_run;
    struct measuring measuring;
};

/* Values of --min-time: each is a run of its own, because it is a setting and no part of a key. */
enum { MIN_TIMES_MOST = 16 };

/* Everything one `harness run` holds. */
struct run_session {
    struct run_options *o;
    struct workload workload;
    struct store *store;
    struct run run;
    double min_times[MIN_TIMES_MOST]; /* s; 0: the suite's */
    size_t nr_min_times;
    int64_t runs[MIN_TIMES_MOST]; /* as they were made */
    size_t nr_runs;
    struct sharding sharding;
    struct tuned tuned;
    enum run_report_form form;
    struct progress progress;
};

/* "50ms,200ms", or the suite's own. */
static int parse_min_times(struct run_session *s, struct error *err)
{
    const struct string_list *words = &s->o->min_time;

    if (words->nr > MIN_TIMES_MOST)
        return error_set(err, "--min-time: at most %d times, not %zu", MIN_TIMES_MOST, words->nr);
    if (words->nr > 1 && s->o->shard)
        return error_set(err,
                         "--min-time with several times makes a run of each, and the parts of "
                         "--shard are one run: give one");
    if (words->nr > 1 && s->form != RUN_REPORT_JSON &&
        (s->form != RUN_REPORT_TABLE || !output_is_standard(s->o->output)))
        return error_set(err,
                         "--min-time with several times makes a run of each, and of the forms "
                         "for programs --json alone holds several: give that, or no --output");
    for (size_t i = 0; i < words->nr; i++) {
        if (text_parse_duration(words->items[i], "--min-time", &s->min_times[i], err))
            return -1;
        if (!(s->min_times[i] > 0))
            return error_set(err, "--min-time: \"%s\" is not above 0", words->items[i]);
        if (s->o->max_time > 0 && s->min_times[i] > s->o->max_time)
            return error_set(err, "--min-time %s is more than the %g s of --max-time",
                             words->items[i], s->o->max_time);
    }
    s->nr_min_times = words->nr ? words->nr : 1;
    return 0;
}

/* Of the suite's times that which was not asked for gives way. */
static void adjust_run_sampling(struct run_session *s, double min_time)
{
    const struct run_options *o = s->o;
    struct sampling *sampling = &s->workload.suite.sampling;

    if (o->launches)
        s->workload.suite.launches = (int)o->launches;
    if (min_time > 0)
        sampling->min_time = min_time;
    if (o->max_time > 0)
        sampling->max_time = o->max_time;
    if (sampling->max_time < sampling->min_time && o->max_time > 0)
        sampling->min_time = o->max_time;
    else if (sampling->max_time < sampling->min_time)
        sampling->max_time = sampling->min_time;
    if (o->iterations)
        sampling->iterations = o->iterations;
}

/* --json and --gbench-json are short for --format. */
static int choose_run_form(struct run_session *s, struct error *err)
{
    struct run_options *o = s->o;

    if (output_short_format(&o->format, o->json, "--json", "json", err) ||
        output_short_format(&o->format, o->gbench_json, "--gbench-json", "gbench", err))
        return -1;
    s->form = RUN_REPORT_TABLE;
    if (o->format && run_report_form_find(o->format, &s->form, err))
        return -1;
    if (o->dry_run && s->form != RUN_REPORT_TABLE)
        return error_set(err, "--dry-run prints keys, a line each: it has no form %s", o->format);
    return 0;
}

/* What the shards of one sweep have in common: told, or the job that runs them as an array. */
static int name_sweep(struct run_session *s, struct error *err)
{
    const char *told = getenv("HARNESS_SWEEP"), *job = getenv("SLURM_ARRAY_JOB_ID");
    const struct run_options *o = s->o;
    char *name = s->run.shard.sweep;
    size_t room = sizeof(s->run.shard.sweep);
    int length = 0;

    if (o->sweep && !o->shard)
        return error_set(err,
                         "--sweep names what the parts of --shard I/N have in common; there "
                         "is no --shard");
    if (!o->shard)
        return 0;
    if (o->sweep || (told && *told))
        length = snprintf(name, room, "%s", o->sweep ? o->sweep : told);
    else if (job && *job)
        length = snprintf(name, room, "slurm-%s", job);
    return length < (int)room ? 0
                              : error_set(err, "%s: at most %zu characters, not %d",
                                          o->sweep ? "--sweep" : "HARNESS_SWEEP", room - 1, length);
}

static int measure_run(struct run_session *s, enum sweep_end *end, struct error *err)
{
    struct recording recording = {
        .workload = &s->workload,
        .store = s->store,
        .measuring = &s->o->measuring,
        .run = &s->run,
    };

    return roofs_recording_run(&recording, end, err);
}

static int report_runs(struct run_session *s, const int64_t *runs, size_t nr, struct error *err)
{
    struct records records = { 0 };
    int rc = store_load(s->store, runs, nr, NULL, &records, err);

    if (rc == 0)
        rc = run_report(&records, s->form, s->o->output, err);
    if (rc >= 0 && (s->form == RUN_REPORT_TABLE || !output_is_standard(s->o->output)))
        for (size_t i = 0; i < nr; i++)
            terminal_print("run %lld in %s\n", (long long)runs[i], store_path(s->store));
    records_release(&records);
    return rc;
}

/* A table is of one run, and so are all forms but the records. The worst status counts. */
static int report_run_result(struct run_session *s, struct error *err)
{
    int worst = EXIT_SAME;

    if (s->form == RUN_REPORT_JSON)
        return report_runs(s, s->runs, s->nr_runs, err);
    for (size_t i = 0; i < s->nr_runs; i++) {
        int rc = report_runs(s, &s->runs[i], 1, err);
        if (rc < 0)
            return -1;
        worst = rc == EXIT_REGRESSION || worst == EXIT_SAME ? rc : worst;
    }
    return worst;
}

static int conclude_run(struct run_session *s, enum sweep_end end, struct error *err)
{
    int rc = report_run_result(s, err);

    if (rc >= 0 && end == SWEEP_BUDGET)
        terminal_note("the budget of %g s was spent before all launches were made\n",
                      s->o->measuring.budget);
    history_tell(s->store);
    if ((rc == EXIT_SAME || rc == EXIT_UNDECIDED) && store_is_elsewhere(s->store))
        rc = EXIT_REGRESSION; /* somebody has to bring it in */
    if (rc >= 0 && end == SWEEP_INTERRUPTED)
        terminal_note("interrupted: what was finished is kept as run %lld (unfinished)\n",
                      (long long)s->run.id);
    /* Behind the launches, too, while the roofs were measured: then the run is whole. */
    return rc >= 0 && *s->o->measuring.interrupted ? 128 + (int)*s->o->measuring.interrupted : rc;
}

static int choose_run_workload(struct run_session *s, int argc, char **argv, struct error *err)
{
    const struct run_options *o = s->o;
    struct command_spec specs[COMMANDS_MAX] = { { .name = "" } };
    struct param_list parameters = { 0 };
    size_t nr;

    if (!o->command.argv.argv) {
        struct workload_options what = o->what;
        what.params = o->command.params;
        what.beside = true;
        if (command_options_unused(&o->command, true, "run", err))
            return -1;
        if (o->tuned && history_tuned(&s->tuned, o->db, &what, err))
            return -1;
        int made = workload_make(&s->workload, &what, argv, argc, "quick", err);
        if (made)
            command_options_hint(argv, argc, "run", "", err);
        return made;
    }
    if (o->tuned)
        return error_set(err, "--tuned is of kernels: it does not go with a command");
    if (argc > 0)
        return error_set(err, "a command is measured alone: leave out \"%s\"", argv[0]);
    int rc = command_options_specs(&o->command, &o->what, false, specs, &nr, err);
    if (rc == 0)
        rc = param_parse(&o->command.params, &parameters, err);
    if (rc == 0)
        rc = workload_make_command(&s->workload, &o->what, &parameters, specs, 1, err);
    param_release(&parameters);
    command_spec_release(&specs[0]);
    return rc;
}

/* --dry-run reads the history where there is one, and makes none. */
static int open_run_history(struct run_session *s, struct error *err)
{
    struct strbuf path;

    if (!s->o->dry_run)
        return history_open(&s->store, s->o->db, STORE_WRITE, err);
    strbuf_init(&path);
    history_path(s->o->db, &path);
    int rc = file_look(path.data, err);
    if (rc > 0)
        rc = history_open(&s->store, s->o->db, STORE_READ, err);
    strbuf_release(&path);
    return rc;
}

/* What bad input refuses is refused before there is a history. */
static int open_and_shard(struct run_session *s, struct error *err)
{
    const char *durations = s->o->durations;

    s->sharding.sweep = s->run.shard.sweep;
    if (sharding_check(&s->sharding, s->workload.list.nr, durations, err) ||
        (durations && sharding_keep(&s->sharding, &s->workload, durations, NULL, err)) ||
        open_run_history(s, err) || number_specs_agree(&s->workload.guests.command.numbers, err))
        return -1;
    return durations ? 0 : sharding_keep(&s->sharding, &s->workload, NULL, s->store, err);
}

/* What would be measured, a key a line. */
static int print_workload(const struct workload *workload, const char *output, struct error *err)
{
    struct benchmark_name name;
    struct strbuf keys;

    strbuf_init(&keys);
    for (size_t i = 0; i < workload->list.nr; i++) {
        benchmark_name_of(&workload->list.items[i], workload_device(workload, i), &name);
        strbuf_addf(&keys, "%s\n", name.key);
    }
    int rc = output_text(&keys, output, err);
    strbuf_release(&keys);
    return rc ? -1 : EXIT_SAME;
}

/* A run for each value of --min-time, until one is stopped. */
static int measure_each(struct run_session *s, enum sweep_end *end, struct error *err)
{
    const struct run_options *o = s->o;
    const struct sampling of_suite = s->workload.suite.sampling;
    const struct run named = s->run; /* what the parts of a sweep have in common */

    for (size_t i = 0; i < s->nr_min_times; i++) {
        run_release(&s->run);
        s->run = named;
        s->workload.suite.sampling = of_suite;
        adjust_run_sampling(s, s->min_times[i]);
        const struct recorded what = { .kind = RUN_MEASURED,
                                       .suite = s->workload.suite.name,
                                       .label = o->label,
                                       .settings = recording_settings(&s->workload),
                                       .guests = &s->workload.guests,
                                       .sink = i ? NULL : o->measuring.sink };
        if (recording_describe(&s->run, &what, err))
            return -1;
        sharding_describe(&s->sharding, &s->run.shard);
        if (measure_run(s, end, err))
            return -1;
        s->runs[s->nr_runs++] = s->run.id;
        if (*end != SWEEP_DONE || *o->measuring.interrupted)
            break;
    }
    return 0;
}

static int run_and_report(struct run_session *s, int argc, char **argv, struct error *err)
{
    enum sweep_end end = SWEEP_DONE;

    if (choose_run_form(s, err) || name_sweep(s, err) || parse_min_times(s, err) ||
        recording_check_label(s->o->label, 0, err) ||
        sharding_parse(s->o->shard, &s->sharding, err) || choose_run_workload(s, argc, argv, err) ||
        open_and_shard(s, err))
        return -1;
    if (s->o->dry_run)
        return print_workload(&s->workload, s->o->output, err);
    sharding_note(&s->sharding, s->workload.list.nr, s->o->measuring.sink);
    if (measure_each(s, &end, err))
        return -1;
    return conclude_run(s, end, err);
}

static int run_run(int argc, char **argv, void *options, struct error *err)
{
    struct run_options *o = options;
    struct run_session s = { .o = o };

    o->what.several_devices = true;
    progress_attach(&s.progress, &s.o->measuring, true);
    int rc = run_and_report(&s, argc, argv, err);
    store_close(s.store);
    run_release(&s.run);
    workload_release(&s.workload);
    tuned_close(&s.tuned);
    return rc;
}

static const struct option_row rows[] = {
    WORKLOAD_OPTION_ROWS(struct run_options, what, "quick", 'b'),
    TUNED_ROW(struct run_options, tuned),
    OPTION_RANGE_ROW("launches", 'l', OPTION_INT, struct run_options, launches, 1, 1000, "N",
                     "fresh processes: the unit of evidence (default: the suite's, else 3)"),
    OPTION_RANGE_ROW("iterations", 0, OPTION_INT, struct run_options, iterations, 1, 1000000, "N",
                     "exactly N samples each, instead of the adaptive stop"),
    OPTION_ROW("min-time", 0, OPTION_STRINGS, struct run_options, min_time, "TIME,...",
               "least measured time a benchmark and launch; several: a run of each in turn"),
    OPTION_ROW("max-time", 0, OPTION_DURATION, struct run_options, max_time, "TIME",
               "most measured time a benchmark and launch"),
    OPTION_ROW("budget", 0, OPTION_DURATION, struct run_options, measuring.budget, "TIME",
               "start no further launch after this"),
    NO_REPEAT_ROW(struct run_options, measuring),
    OPTION_ROW("timeout", 0, OPTION_DURATION, struct run_options, measuring.timeout, "TIME",
               "kill a case, or a run of a command, that takes longer (default 5m)"),
    MEMORY_LIMIT_ROW(struct run_options, measuring),
    OPTION_ROW("shard", 0, OPTION_STRING, struct run_options, shard, "I/N",
               "measure the I-th of N parts, balanced by what benchmarks last took"),
    OPTION_ROW("durations", 0, OPTION_STRING, struct run_options, durations, "FILE",
               "balance --shard by a run's JSON or a history, not by --db"),
    OPTION_ROW("sweep", 0, OPTION_LINE, struct run_options, sweep, "NAME",
               "a name for all N parts, which makes them one REF (default: $HARNESS_SWEEP, or the "
               "Slurm array job)"),
    SEED_ROW(struct run_options, measuring),
    OPTION_ROW("label", 0, OPTION_LINE, struct run_options, label, "TEXT",
               "a name for the run, usable as a REF"),
    DB_ROW(struct run_options, db),
    OPTION_ROW("dry-run", 0, OPTION_FLAG, struct run_options, dry_run, NULL,
               "print the keys of what would be measured, and measure nothing"),
    FORM_ROW(struct run_options, format, "text,markdown,json,summary-json,gbench,csv",
             "text (default), markdown, json, summary-json, gbench, csv"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct run_options, json, NULL,
               "--format json: all records with their raw samples"),
    OPTION_ROW("gbench-json", 0, OPTION_FLAG, struct run_options, gbench_json, NULL,
               "--format gbench: Google Benchmark's JSON"),
    OUTPUT_ROW(struct run_options, output),
    COMMAND_OPTION_ROWS(struct run_options, command),
    NUMBER_OPTION_ROWS(struct run_options, command.numbers),
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
        "  harness run gemm --device cpu:1,cpu:2         devices or thread counts, swept\n"
        "  harness run gpt/nano/generate --dim new=4,16  a prompt and tokens, end to end\n"
        "  harness run --plugin ./mine.so                kernels of your own\n"
        "  harness run --dim n=1,2 -- ./program {n}      any program, a process a sample\n"
        "  harness run --metric 'rate=/rate: (\\S+)/' --better higher -- ./program\n"
        "\n"
        "A FILTER is a glob over KERNEL/VARIANT/DTYPE/DIMS/DEVICE/CACHE or a leading run of\n"
        "its parts. Exit status 1 if any result was wrong or failed, 77 if none was OK.",
    .options = rows,
    .options_size = sizeof(struct run_options),
    .run = run_run,
};
