/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/history_open.h"
#include "cli/shared_options.h"
#include "judge/fault.h"
#include "judge/maps.h"
#include "judge/sandbox.h"
#include "machine/environment.h"
#include "session/measure/judging.h"
#include "session/measure/roofs.h"
#include "terminal/interrupt.h"
#include "terminal/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ROUNDS = 5, DEFAULT_OTHER_SHAPES = 4, DEFAULT_TIMEOUT = 60 };

struct judge_options {
    struct judging_options judging;
    const char *db;
    int64_t iterations;
    bool json;
};

/* Everything one `harness judge` holds. */
struct judge_session {
    const struct judge_options *o;
    struct judging judging;
    struct tuned tuned; /* what judging borrows its settings from */
    struct run machine; /* this one, for its roofs */
    struct records roofs;
    cJSON *json; /* what is printed at the end; NULL: text */
    size_t invalid;
};

/* ---- text ---- */

static void print_shape_name(const struct kernel *k, const struct shape *s)
{
    terminal_print("  ");
    for (int i = 0; i < kernel_nr_dims(k); i++)
        terminal_print("%s%s=%lld", i ? "," : "", k->dims[i], (long long)s->dim[i]);
}

static void print_range(struct interval i, bool ratio)
{
    char low[TEXT_UNIT_SIZE], high[TEXT_UNIT_SIZE];

    if (isnan(i.low) || isnan(i.high) || i.high <= 0)
        return;
    if (ratio)
        terminal_print(" [%.2f, %.2f]", i.low, i.high);
    else
        terminal_print(" [%s, %s]", text_time(i.low, low), text_time(i.high, high));
}

/* A reference that takes twice as long: "2.00x as fast as simd". */
static void print_shape_times(const struct judgement *j, const struct judged_shape *s, double roof)
{
    char text[TEXT_UNIT_SIZE];

    terminal_print("  %s", text_time(s->own.ns, text));
    print_range(s->own.interval, false);
    if (isfinite(roof))
        terminal_print(", %.0f %% of the roof%s", 100 * roof,
                       roof > 1 ? ": faster than the machine, think again" : "");
    if (s->clock_share > 0.02)
        terminal_print(", the clock's share is %.0f %%", 100 * s->clock_share);
    terminal_print("\n");
    for (int r = 0; r < j->job.nr_references; r++) {
        const struct judged_time *t = &s->references[r];
        if (!t->measured)
            continue;
        terminal_print("    %.2f times as fast as %s", t->ratio, t->variant->name);
        print_range(t->ratio_interval, true);
        terminal_print(", which takes %s\n", text_time(t->ns, text));
    }
}

static void print_errors(const struct judged_shape *s)
{
    terminal_print("    %llu launches, %.0f elements compared, error %.2e of %.2e, rms %.2e",
                   (unsigned long long)s->launches, s->compared, s->max_error, s->tolerance,
                   s->rms_error);
    if (s->textbook_rms > 0)
        terminal_print(" (the textbook variant's %.2e%s)", s->textbook_rms,
                       s->textbook_is_smaller ? " at a smaller size" : "");
    if (s->rounding_rms > 0)
        terminal_print(" (one rounding gives %.2e)", s->rounding_rms);
    terminal_print("\n");
}

static void print_shapes(const struct judgement *j, const double *roofs)
{
    for (size_t i = 0; i < j->shapes.nr; i++) {
        const struct judged_shape *s = &j->shapes.items[i];
        if (!s->launches && !s->unsupported)
            continue;
        print_shape_name(j->job.spec, &s->shape);
        if (s->unsupported)
            terminal_print("  UNSUPPORTED: %s\n", s->why);
        else if (s->timed)
            print_shape_times(j, s, roofs[i]);
        else
            terminal_print("  right\n");
        if (!s->unsupported)
            print_errors(s);
    }
}

static void print_confidence(const struct judgement *j)
{
    const struct judged_middle m = judgement_middle(j);
    const size_t unchecked = judgement_unchecked(j);

    if (judgement_confident(j))
        terminal_print("  confidence: full, %d windows were looked at in the middle\n",
                       m.looked_at);
    if (unchecked > 0)
        terminal_print(
            "  confidence: low, the precision of %zu %s was not checked: the textbook variant, "
            "whose errors are the measure, takes too long there, and none smaller has errors as "
            "large. Judge smaller sizes, too\n",
            unchecked, unchecked == 1 ? "size" : "sizes");
    if (m.missing > 0)
        terminal_print(
            "  confidence: low, of the windows that were to be looked at in the middle %d "
            "of %d are missing, after %d tries: whether each launch had its result when "
            "it returned is not known well. Judge again on a quieter machine; where that "
            "changes nothing, one launch takes nearly all of a window\n",
            m.missing, m.wanted, m.tried);
}

static void print_lot(const struct judgement *j)
{
    size_t others = 0;

    for (size_t i = 0; i < j->shapes.nr; i++)
        others += !j->shapes.items[i].timed;
    if (others > 0)
        terminal_print("  sizes by lot: --seed %llu draws them again\n",
                       (unsigned long long)j->job.lot);
    else
        terminal_print(
            "  no other sizes: all that were drawn take the oracle too long, so who "
            "knows the sizes that are timed is not found out\n");
}

/* A name that has no room for a setting has a hash in its place. */
static void print_setting(const struct judge_job *job)
{
    if (*job->setting)
        terminal_print("  with %s%s\n", job->setting,
                       job->tuned ? ", as `harness tune` kept it for these sizes" : "");
}

static void print_libraries(const struct judgement *j)
{
    bool gone = false;

    for (size_t i = 0; i < j->libraries.nr; i++) {
        terminal_print("  with code of %s\n", j->libraries.items[i]);
        gone |= maps_is_gone(j->libraries.items[i]);
    }
    if (j->vendor)
        terminal_print("  A vendor's library is among them: this is a time of theirs, too.\n");
    if (gone)
        terminal_print(
            "  (deleted): loaded from a file that has no such name any more, or never had "
            "one: replaced by an upgrade meanwhile, or hidden by who is judged\n");
}

static void print_judgement(const struct judgement *j, const double *roofs)
{
    const struct variant *v = j->job.variant;

    terminal_print("%s/%s/%s: %s", j->job.spec->name, v->name, math_name(v->math),
                   judgement_valid(j) ? "VALID" : "INVALID, ");
    if (j->fault.kind != FAULT_NONE) {
        terminal_print("%s: %s\n", fault_name(j->fault.kind), j->fault.words);
        print_setting(&j->job);
        if (!fault_has_size(j->fault.kind))
            return;
        terminal_print("  found at");
        print_shape_name(j->job.spec, &j->fault_shape);
        terminal_print("\n");
        print_lot(j);
        return;
    }
    terminal_print(j->supported ? "\n" : "unsupported: it takes none of the shapes timed\n");
    print_setting(&j->job);
    if (judgement_valid(j))
        print_confidence(j);
    print_lot(j);
    print_shapes(j, roofs);
    if (reach_beyond(j->job.device->kind)->name)
        terminal_print(
            "  on this device some things are beyond the judge's reach: --json lists them\n");
    if (!sandbox_keeps_files())
        terminal_print("  files: %s\n", reach_files.words);
    print_libraries(j);
}

/* ---- the work ---- */

/* Without a history, or without roofs in it, there is no share of them. */
static void load_roofs(struct judge_session *s)
{
    struct error ignored;
    struct store *store;
    struct strbuf path;

    strbuf_init(&path);
    history_path(s->o->db, &path);
    bool there = file_exists(path.data);
    strbuf_release(&path);
    if (!there || environment_machine(&s->machine.machine, &ignored) ||
        history_open(&store, s->o->db, STORE_READ, &ignored))
        return;
    environment_build(&s->machine.build);
    s->machine.environment = environment_json();
    if (roofs_load(store, &s->machine, &s->judging.workload.device, &s->roofs, &ignored))
        records_release(&s->roofs);
    store_close(store);
}

static void show_judgement(struct judge_session *s, const struct judgement *j)
{
    double *roofs = memory_zeroed(j->shapes.nr + 1, sizeof(*roofs));

    for (size_t i = 0; i < j->shapes.nr; i++)
        roofs[i] = judging_roof(&s->judging, j, i, &s->roofs, &s->machine.machine);
    if (s->json)
        cJSON_AddItemToArray(s->json, judgement_to_json(j, roofs));
    else
        print_judgement(j, roofs);
    fflush(stdout);
    s->invalid += !judgement_valid(j);
    free(roofs);
}

static int judge_all(struct judge_session *s, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->judging.variants.nr; i++) {
        struct judgement j;
        rc = judging_run(&s->judging, &s->judging.variants.items[i], &j, err);
        if (rc == 0)
            show_judgement(s, &j);
        judgement_release(&j);
    }
    return rc;
}

static int conclude_judge(struct judge_session *s, struct error *err)
{
    int status = s->invalid ? EXIT_REGRESSION : EXIT_SAME;

    if (!s->json)
        return status;
    cJSON *json = cJSON_CreateObject();
    json_add_int(json, "schema_version", 1);
    cJSON_AddItemToObject(json, "judgements", s->json);
    s->json = NULL;
    json_add_int(json, "exit_status", status);
    return output_json(json, NULL, err) ? -1 : status;
}

static void fill_defaults(struct judge_options *o)
{
    struct judging_options *j = &o->judging;

    j->sampling = sampling_default;
    if (o->iterations) {
        j->sampling.iterations = o->iterations;
        j->sampling.warmup = 0;
    }
    j->rounds = j->rounds ? j->rounds : DEFAULT_ROUNDS;
    j->other_shapes = j->other_shapes ? j->other_shapes : DEFAULT_OTHER_SHAPES;
    j->measuring.timeout = j->measuring.timeout > 0 ? j->measuring.timeout : DEFAULT_TIMEOUT;
    j->measuring.interrupted = interrupt_watch();
}

/* What a function of Python is like is what it is judged by. */
static int choose_guest(struct judging_options *o, const char *plugin, struct error *err)
{
    const char *like = o->workload.like;

    if (plugin && o->workload.python.nr)
        return error_set(err, "a plugin and --python are judged one after another: give one");
    if (plugin)
        string_list_add(&o->workload.plugins, plugin);
    else if (o->workload.python.nr == 0 && o->workload.variants.nr == 0)
        return error_set(err,
                         "what is to be judged? A plugin: `harness judge ./mine.so --spec "
                         "gemm/nt`, a function of Python: `--python mine.py::f --like gemm/nt`, or "
                         "by --variant NAME one of this build's");
    if (like && o->spec && strcmp(like, o->spec) != 0)
        return error_set(err,
                         "--like %s and --spec %s are two kernels: for a function of Python "
                         "--like is enough",
                         like, o->spec);
    o->spec = o->spec ? o->spec : like;
    if (o->workload.python.nr && o->spec)
        o->workload.like = o->spec;
    if (o->tuned && o->workload.python.nr)
        return error_set(err, "functions of Python have no parameters: leave out --tuned");
    return 0;
}

static int open_judging(struct judge_session *s, struct judge_options *o, struct error *err)
{
    struct judging_options *j = &o->judging;

    int rc = judging_begin(j, err);
    if (rc == 0 && j->tuned)
        rc = history_tuned(&s->tuned, o->db, &j->workload, err);
    if (rc == 0)
        rc = judging_open(&s->judging, j, err);
    judging_opened();
    return rc;
}

static int run_judge(int argc, char **argv, void *options, struct error *err)
{
    struct judge_options *o = options;
    struct judge_session s = { .o = o };

    if (command_no_more(argc, argv, 1, err) ||
        choose_guest(&o->judging, argc == 1 ? argv[0] : NULL, err))
        return -1;
    fill_defaults(o);
    int rc = open_judging(&s, o, err);
    if (rc == 0) {
        load_roofs(&s);
        s.json = o->json ? cJSON_CreateArray() : NULL;
        rc = judge_all(&s, err);
    }
    if (rc == 0)
        rc = conclude_judge(&s, err);
    if (rc < 0 && measuring_interrupted(&o->judging.measuring)) {
        terminal_note("interrupted: there is no judgement\n");
        rc = 128 + (int)*o->judging.measuring.interrupted;
    }
    cJSON_Delete(s.json);
    records_release(&s.roofs);
    run_release(&s.machine);
    judging_close(&s.judging);
    tuned_close(&s.tuned);
    string_list_release(&o->judging.workload.plugins); /* no option: nobody else does */
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("spec", 0, OPTION_STRING, struct judge_options, judging.spec, "KERNEL",
               "what is computed, a kernel of harness: its oracle and tolerance judge"),
    PYTHON_ROWS(struct judge_options, judging.workload),
    OPTION_ROW("variant", 0, OPTION_STRINGS, struct judge_options, judging.workload.variants,
               "NAME,...", "these alone; without a plugin, variants of this build"),
    PARAM_ROW(struct judge_options, judging.workload),
    TUNED_ROW(struct judge_options, judging.tuned),
    OPTION_ROW("dtype", 0, OPTION_STRINGS, struct judge_options, judging.workload.dtypes,
               "NAME,...",
               "arithmetic that is asked for: bf16, fp16, tf32, ... (default fp32, and of variants "
               "of this build what each has)"),
    OPTION_RANGE_ROW("batch", 'b', OPTION_INTS, struct judge_options, judging.workload.batch, 1,
                     DIM_LIMIT, "LIST", "batch sizes"),
    OPTION_RANGE_ROW("seq", 's', OPTION_INTS, struct judge_options, judging.workload.seq, 1,
                     DIM_LIMIT, "LIST", "sequence lengths"),
    OPTION_ROW("dim", 0, OPTION_STRINGS, struct judge_options, judging.workload.dims, "NAME=LIST",
               "any other dim; sizes that are timed (default: the kernel's)"),
    OPTION_RANGE_ROW(
        "other-shapes", 0, OPTION_INT, struct judge_options, judging.other_shapes, 1, 100, "N",
        "sizes drawn by lot that are checked, too (default 4; one more in each further round)"),
    OPTION_RANGE_ROW(
        "seed", 0, OPTION_INT, struct judge_options, judging.measuring.seed, 1, INT64_MAX, "N",
        "of these sizes, as a verdict told it (default: fresh); data are always fresh"),
    OPTION_ROW("against", 0, OPTION_STRINGS, struct judge_options, judging.against, "NAME,...",
               "variants to be timed beside it (default: all but the textbook's)"),
    OPTION_RANGE_ROW("rounds", 0, OPTION_INT, struct judge_options, judging.rounds, 1, JUDGE_ROUNDS,
                     "N", "rounds of fresh processes (default 5)"),
    OPTION_RANGE_ROW("iterations", 0, OPTION_INT, struct judge_options, iterations, 1, INT64_MAX,
                     "N", "so many windows in each, instead of the sampling rule"),
    OPTION_ROW("device", 'd', OPTION_STRING, struct judge_options, judging.workload.device,
               "DEVICE",
               "cpu (default, all cores), cpu:free (all but one), cpu:THREADS, cuda, cuda:N"),
    OPTION_ROW("timeout", 0, OPTION_DURATION, struct judge_options, judging.measuring.timeout,
               "TIME", "a window that takes longer is a fault (default 1m)"),
    DB_ROW(struct judge_options, db),
    JSON_ROW(struct judge_options, json),
    OPTION_END,
};

extern const struct command cmd_judge;
const struct command cmd_judge = {
    .name = "judge",
    .arguments = "[PLUGIN]",
    .summary = "judge somebody's kernel so that cheating does not pay",
    .details =
        "  harness judge ./mine.so --spec gemm/nt\n"
        "  harness judge ./mine.so --spec gemm/nt --dim n=768,k=256 --json\n"
        "  harness judge ./mine.so --spec gemm/nt --device cuda\n"
        "  harness judge --python mine.py::f --like gemm/nt\n"
        "  harness judge ./mine.so --spec gemm/nt --dtype bf16\n"
        "  harness judge --spec gemm/nt --variant simd\n"
        "  harness judge ./mine.so --spec gemm/nt --tuned\n"
        "\n"
        "The kernel runs in a process of its own, which is stopped while inputs are put in place\n"
        "and results are read, so that it cannot work outside the clock. It gets data that it\n"
        "cannot know beforehand, and is timed from outside, beside the kernel's other variants of\n"
        "the same arithmetic; every launch that is timed is checked. docs/judge.md lists the ways\n"
        "to cheat that are found.\n"
        "\n"
        "Exit status: 0 valid, 1 not valid, 2 usage or failure.",
    .options = rows,
    .options_size = sizeof(struct judge_options),
    .run = run_judge,
};
