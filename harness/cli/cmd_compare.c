/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "analysis/compare.h"
#include "cli/builds.h"
#include "cli/compare_ab.h"
#include "cli/compare_print.h"
#include "cli/floors.h"
#include "cli/gate_warning.h"
#include "cli/history_file.h"
#include "cli/placements.h"
#include "cli/replay.h"
#include "cli/terminal.h"
#include "cli/verdict_record.h"
#include "measure/environment.h"

#include <stdio.h>
#include <string.h>

struct compare_options {
    const char *db, *baseline, *head, *format, *output;
    struct string_list metrics, deltas;
    double q;
    bool all, json, any_machine, replay, no_record;
    struct compare_ab_options measuring;
    struct compare_comment_options comment;
};

/* How it is to be decided; the settings borrow from the rest and from the options. */
struct rule {
    struct compare_settings settings;
    const char *metrics[COMPARE_METRICS_MAX + 1];
    struct floors floors;
    struct placement_part *parts; /* that floors are of; NULL: none */
};

struct sides {
    struct history_side base, head;
    struct machine machine;
};

/* One comparison on its way: what was asked for, and of what. */
struct job {
    const struct compare_options *o;
    enum compare_format format;
    struct rule *rule;
    struct store *store;
    struct sides *sides; /* released by whoever made the job */
    char **filters;
    size_t nr_filters;
};

/* The head first: its own runs must not stand in for the baseline "main" of the same branch. */
static int load_sides(struct store *store, const struct compare_options *o, struct sides *s,
                      struct error *err)
{
    struct store_scope scope = { .machine_class = s->machine.class_name };

    if (history_load_side(store, o->head ? o->head : "latest", NULL, NULL, &s->head, err))
        return -1;
    scope.exclude = s->head.runs.ids;
    scope.nr_exclude = s->head.runs.nr;
    if (s->head.records.nr_runs > 0)
        scope.machine_class = s->head.records.runs[0].machine.class_name;
    return history_load_side(store, o->baseline, &scope, NULL, &s->base, err);
}

/* With a comparison its result, else the reason why there is none. */
static int print(const struct comparison *c, const char *reason, const struct job *job,
                 struct error *err)
{
    const struct compare_options *o = job->o;
    const struct compare_asked asked = {
        .baseline = o->baseline,
        .head = o->head,
        .metrics = &o->metrics,
        .q = o->q,
        .any_machine = o->any_machine,
        .filters = job->filters,
        .nr_filters = job->nr_filters,
    };
    const struct compare_print print = {
        .format = job->format,
        .output = o->output,
        .all = o->all,
        .comment = { &o->comment, &asked, job->store, &job->sides->base, &job->sides->head },
    };

    return c ? compare_print(&print, c, err) : compare_print_nothing(&print, reason, err);
}

static int make_rule(struct compare_options *o, struct rule *rule, struct error *err)
{
    *rule = (struct rule) { .settings = COMPARE_DEFAULTS };
    rule->settings.any_machine = o->any_machine;
    if (o->q > 0)
        rule->settings.q = o->q;
    for (size_t i = 0; i < o->metrics.nr; i++) {
        if (i == COMPARE_METRICS_MAX)
            return error_set(err, "--metric: at most %d at a time", COMPARE_METRICS_MAX);
        rule->metrics[i] = o->metrics.items[i];
    }
    if (o->metrics.nr > 0)
        rule->settings.metrics = rule->metrics;
    if (floors_parse(&o->deltas, &rule->floors, &rule->settings, err))
        return -1;
    return compare_check_settings(&rule->settings, err); /* before anything is built or measured */
}

/* Where the last self-test of the machine shows that it cannot carry this floor. */
static void warn_of_gate(struct store *store, struct comparison *c)
{
    const struct compare_item *item = c->nr ? c->rows[0].item : NULL;
    char text[SELFTEST_TEXT_SIZE];

    if (item && gate_warning(store, item->machine, item->bench->device,
                             item->evidence.design == DESIGN_BLOCKS, c->settings.delta, text))
        comparison_note(c, "The last self-test here: %s", text);
}

/* Where a second handle can be had. */
static void record(const struct store *store, const struct verdict_sides *sides,
                   const struct comparison *c)
{
    if (store_is_alone(store))
        fprintf(stderr, "harness: these verdicts are not recorded: the disk is full\n");
    else
        verdict_record(store_path(store), sides, c);
}

/* What placement alone may move is no change of the code: rule->floors rise to it. */
static size_t heed_placement(const struct job *job)
{
    const struct records *head = &job->sides->head.records;
    struct rule *rule = job->rule;

    if (head->nr == 0)
        return 0;
    return placements_heed(job->store, head->runs[0].machine.class_name,
                           head->items[0].m.bench.device, &rule->floors, &rule->settings,
                           &rule->parts);
}

static int decide(const struct job *job, struct error *err)
{
    const struct sides *s = job->sides;
    struct comparison c = { 0 };
    struct store_acceptances accepted = { 0 };
    struct verdict_sides sides = { s->base.what, s->head.what, &s->base.records, &s->head.records };
    size_t raised = heed_placement(job);

    int rc = compare_run(&s->base.records, &s->head.records, &job->rule->settings, &c, err);
    if (rc == 0)
        rc = verdict_accept(job->store, &sides, &c, &accepted, err);
    if (rc == 0 && !job->o->no_record) /* the whole family, whatever is shown of it */
        record(job->store, &sides, &c);
    if (rc == 0) {
        warn_of_gate(job->store, &c);
        placements_tell(&c, raised);
        compare_show(&c, (const char *const *)job->filters, job->nr_filters);
        rc = print(&c, NULL, job, err);
    }
    int status = c.exit_status;
    comparison_release(&c);
    store_acceptances_release(&accepted);
    return rc ? -1 : status;
}

/* A known name with nothing to compare is no mistake. */
static int tell_nothing(const struct job *job, struct error *err)
{
    struct error reason = *err;

    terminal_error(&reason);
    return print(NULL, reason.message, job, err) ? -1 : EXIT_UNDECIDED;
}

/* The name of an option that --replay cannot heed: evidence and settings are what was recorded. */
static const char *option_beside_replay(const struct compare_options *o)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        { "--baseline", o->baseline },
        { "--head", o->head },
        { "--delta", o->deltas.nr },
        { "--fdr", o->q > 0 },
        { "--metric", o->metrics.nr },
        { "--all", o->all },
        { "--no-record", o->no_record },
        { "--any-machine", o->any_machine },
        { "--build", o->measuring.build },
        { "--baseline-bin", o->measuring.baseline_bin },
        { "--head-bin", o->measuring.head_bin },
        { "--baseline-plugin", o->measuring.baseline_plugin },
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (options[i].given)
            return options[i].name;
    return compare_ab_option(&o->measuring);
}

static int replay(const struct compare_options *o, int argc, char **argv, struct error *err)
{
    const char *beside = option_beside_replay(o);
    bool json = o->json || (o->format && strcmp(o->format, "json") == 0);
    struct store *store;

    if (beside)
        return error_set(err,
                         "--replay takes numbers of recorded comparisons, and decides each with "
                         "its own settings: no %s; `harness history verdicts` lists them",
                         beside);
    if (output_check_format(o->format, err) || history_open(&store, o->db, STORE_READ, err))
        return -1;
    int rc = replay_run(store, argv, argc, json, o->output, err);
    store_close(store);
    return rc;
}

/* What the history has. */
static int compare_stored(const struct compare_options *o, struct job *job, struct error *err)
{
    struct sides *s = job->sides;

    if (!o->baseline)
        return error_set(err, "give --baseline REF: a baseline, branch, commit, run or file");
    if (history_open(&job->store, o->db, STORE_READ, err))
        return -1;
    environment_machine(&s->machine);
    if (load_sides(job->store, o, s, err) == 0)
        return decide(job, err);
    return s->base.nothing ? tell_nothing(job, err) : -1;
}

/* What is measured now, in turn. */
static int compare_measured(const struct compare_options *o, struct job *job, struct error *err)
{
    struct compare_ab ab = {
        .options = &o->measuring,
        .baseline = o->baseline,
        .head = o->head,
        .db = o->db,
        .settings = &job->rule->settings,
        .filters = job->filters,
        .nr_filters = (int)job->nr_filters,
    };

    if (history_open(&job->store, o->db, STORE_WRITE, err))
        return -1;
    ab.store = job->store;
    int stopped = compare_ab_run(&ab, &job->sides->base, &job->sides->head, err);
    job->nr_filters = 0; /* they chose what is measured: all of it is shown */
    int rc = stopped < 0 ? -1 : decide(job, err);
    return rc >= 0 && stopped > 0 ? stopped : rc;
}

static int run(int argc, char **argv, void *options, struct error *err)
{
    struct compare_options *o = options;
    struct sides sides = { .base = { .nothing = false } };
    struct rule rule;
    struct job job = {
        .o = o, .rule = &rule, .sides = &sides, .filters = argv, .nr_filters = (size_t)argc
    };

    if (o->replay)
        return replay(o, argc, argv, err);
    if (compare_choose_format(o->json ? "json" : o->format, &o->comment, &job.format, err) ||
        compare_ab_check(&o->measuring, o->baseline, o->head, err))
        return -1;
    int rc = make_rule(o, &rule, err);
    if (rc == 0)
        rc = compare_ab_wanted(&o->measuring) ? compare_measured(o, &job, err)
                                              : compare_stored(o, &job, err);
    history_side_release(&sides.base);
    history_side_release(&sides.head);
    store_close(job.store);
    floors_release(&rule.floors);
    free(rule.parts);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("baseline", 'b', OPTION_STRING, struct compare_options, baseline, "REF",
               "the old side: baseline, branch, commit, run, label or file"),
    OPTION_ROW("head", 0, OPTION_STRING, struct compare_options, head, "REF",
               "the new side (default latest)"),
    OPTION_ROW("delta", 0, OPTION_TEXTS, struct compare_options, deltas, "[FOR=]SHARE",
               "changes within this do not matter (default 3%); p95=10% or 'gemm/*=5%' for some"),
    OPTION_ROW("fdr", 0, OPTION_FRACTION, struct compare_options, q, "SHARE",
               "share of false alarms among the alarms (default 5%)"),
    OPTION_ROW("metric", 0, OPTION_STRINGS, struct compare_options, metrics, "NAME,...",
               "what is compared (default p50), see `harness list metrics`"),
    OPTION_ROW("all", 'a', OPTION_FLAG, struct compare_options, all, NULL,
               "also the rows that are the same"),
    OPTION_ROW("no-record", 0, OPTION_FLAG, struct compare_options, no_record, NULL,
               "keep no record of the verdicts in the history"),
    OPTION_ROW("replay", 0, OPTION_FLAG, struct compare_options, replay, NULL,
               "decide recorded comparisons again (arguments: their numbers; default all)"),
    OPTION_ROW("any-machine", 0, OPTION_FLAG, struct compare_options, any_machine, NULL,
               "compare across machine classes, too"),
    OPTION_ROW(
        "format", 0, OPTION_STRING, struct compare_options, format, "FORM",
        "text (default), markdown, github (a comment for a pull request), json, junit, ctest"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct compare_options, json, NULL, "--format json"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct compare_options, output, "FILE",
               "write the result there"),
    OPTION_ROW("db", 0, OPTION_STRING, struct compare_options, db, "FILE",
               "the history (default .harness/history.db of the project)"),
    COMPARE_COMMENT_OPTION_ROWS(struct compare_options, comment),
    COMPARE_AB_OPTION_ROWS(struct compare_options, measuring),
    OPTION_END,
};

extern const struct command cmd_compare;
const struct command cmd_compare = {
    .name = "compare",
    .arguments = "--baseline REF [FILTER...]",
    .summary = "say whether something got slower",
    .details =
        "  harness compare --baseline main\n"
        "  harness compare --baseline 3f2a91c --head my-branch\n"
        "  harness compare --baseline main --format github -o comment.md\n"
        "  harness compare --baseline main --build --suite ci --budget 10m\n"
        "  harness compare --baseline-bin old/harness --head-bin new/harness 'gemm/*'\n"
        "  harness compare --baseline-plugin old/mine.so --plugin ./mine.so\n"
        "  harness compare --replay                  recorded verdicts by today's rule\n"
        "\n" BUILDS_DETAILS
        "Decided from launches (fresh processes), at least three a side, five for a gate.\n"
        "FILTERs choose what is shown and what the exit status speaks of; all benchmarks are\n"
        "judged together all the same, so that choosing afterwards makes no alarm likelier.\n"
        "Exit status: 0 no regression, 1 regression, 77 cannot tell or nothing to compare\n"
        "with, 2 usage or failure.",
    .options = rows,
    .options_size = sizeof(struct compare_options),
    .run = run,
};
