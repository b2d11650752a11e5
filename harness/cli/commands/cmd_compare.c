/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/file.h"
#include "cli/compare_commands.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/render/compare_print.h"
#include "cli/render/replay_report.h"
#include "cli/shared_options.h"
#include "session/builds/builds.h"
#include "session/compare/compare.h"
#include "session/replay.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <string.h>

struct compare_options {
    struct compare_request request;
    const char *db, *format, *output;
    bool all, json, replay;
    struct compare_comment_options comment;
    struct compare_commands_options commands;
};

/* The name of an option that --replay cannot heed: evidence and settings are what was recorded. */
static const char *option_beside_replay(const struct compare_options *o)
{
    const struct compare_request *r = &o->request;
    const struct option_given options[] = {
        { "--baseline", r->baseline },
        { "--head", r->head },
        { "--run", r->run },
        { "--tuned", r->tuned },
        { "--delta", r->deltas.nr },
        { "--fdr", r->q > 0 },
        { "--all", o->all },
        { "--no-record", r->no_record },
        { "--any-machine", r->any_machine },
        { "--build", r->build },
        { "--baseline-bin", r->baseline_bin },
        { "--head-bin", r->head_bin },
        { "--baseline-plugin", r->baseline_plugin },
        { "--baseline-python", r->baseline_python },
        { "--model", r->what.models.nr },
        { "--explain", r->explain },
        { "--explain-budget", r->explain_budget > 0 },
        { "-- COMMAND", o->commands.command.argv.argv },
    };

    const char *given = options_first_given(options, sizeof(options) / sizeof(options[0]));

    if (!given)
        given = compare_request_option(r);
    if (!given)
        given = number_options_given(&r->numbers);
    return given ? given : compare_comment_option(&o->comment);
}

static int replay_recorded(const struct compare_options *o, int argc, char **argv,
                           struct error *err)
{
    static const char *const forms[] = { "text", "json", NULL };
    const char *beside = option_beside_replay(o);
    struct replay replay = { .sink = &terminal_notes };

    if (beside)
        return error_set(err,
                         "--replay takes numbers of recorded comparisons, and decides each with "
                         "its own settings: no %s; `harness history verdicts` lists them",
                         beside);
    int form = output_choose_format(o->format, forms, err);
    if (form < 0)
        return error_prefix(err, "with --replay");
    if (history_open(&replay.store, o->db, STORE_READ, err))
        return -1;
    int rc = replay_run(&replay, argv, argc, err);
    if (rc == 0)
        rc = replay_report(&replay, form > 0, o->output, err);
    enum exit_status status = replay_exit_status(&replay);
    replay_release(&replay);
    store_close(replay.store);
    return rc ? -1 : (int)status;
}

/* Files on both sides need no history, where there is none. */
static bool compares_files_alone(const struct compare_options *o, const char *history)
{
    const struct compare_request *r = &o->request;

    return history_is_path(r->baseline) && r->head && history_is_path(r->head) &&
           !file_exists(history);
}

/* --run needs a base before it measures: without a history one of a file. What is there is read
 * once, behind the measuring: a pipe holds it once. */
static int open_measured(const struct compare_request *r, const char *db, struct store **store,
                         struct error *err)
{
    struct history_side base = { .nothing = false };
    struct strbuf path;
    int rc = 0;

    strbuf_init(&path);
    history_path(db, &path);
    if (r->run && !file_exists(path.data) && !compare_base_is_file(r))
        rc = history_load_side(NULL, r->baseline, NULL, NULL, &base, err);
    if (rc)
        error_prefix(err, "%s", path.data);
    history_side_release(&base);
    strbuf_release(&path);
    return rc ? -1 : history_open(store, db, STORE_WRITE, err);
}

/* For writing where it measures, and where verdicts are recorded if the file lets it; else why not
 * goes into `why`. */
static int open_compared(const struct compare_options *o, struct compared *c, struct error *why,
                         struct error *err)
{
    struct strbuf path;
    struct error first;

    if (compare_request_measures(&o->request) || o->request.run)
        return open_measured(&o->request, o->db, &c->store, err);
    strbuf_init(&path);
    history_path(o->db, &path);
    bool alone = compares_files_alone(o, path.data);
    bool writes = !o->request.no_record && file_exists(path.data);
    if (alone)
        error_set(why, ": there is no history %s", path.data);
    strbuf_release(&path);
    c->cannot_record = alone ? why->message : NULL;
    if (alone || (writes && history_open(&c->store, o->db, STORE_WRITE, &first) == 0))
        return 0;
    if (history_open(&c->store, o->db, STORE_READ, err))
        return -1;
    if (store_is_alone(c->store))
        error_set(why, ": the disk is full");
    else
        error_set(why, " (--no-record asks for that): %s", writes ? first.message : "");
    c->cannot_record = why->message;
    return 0;
}

static struct compare_print print_of(const struct compare_options *o, enum compare_format format,
                                     const struct compared *c)
{
    return (struct compare_print) {
        .format = format,
        .output = o->output,
        .all = o->all,
        .comment = { &o->comment, &o->request, c, o->db },
    };
}

static int print_nothing(const struct compare_options *o, enum compare_format format,
                         const struct compared *c, const char *reason, enum exit_status status,
                         struct error *err)
{
    const struct compare_print print = print_of(o, format, c);

    return compare_print_nothing(&print, reason, status, err) ? -1 : (int)status;
}

/* A known name with nothing to compare is no mistake. */
static int print_no_base(const struct compare_options *o, enum compare_format format,
                         const struct compared *c, struct error *err)
{
    struct error reason = *err;

    terminal_error(&reason);
    return print_nothing(o, format, c, reason.message, EXIT_UNDECIDED, err);
}

static int print_compared(const struct compare_options *o, enum compare_format format,
                          const struct compared *c, struct error *err)
{
    const struct compare_print print = print_of(o, format, c);

    if (compare_print(&print, err))
        return -1;
    return c->interrupted ? 128 + c->interrupted : (int)c->comparison.exit_status;
}

static int compare_and_print(struct compare_options *o, enum compare_format format,
                             struct compared *c, struct error *err)
{
    struct error why;

    if (open_compared(o, c, &why, err) ||
        (o->request.run && compare_head_measure(&o->request, c->store, err)))
        return -1;
    if (compare_sides_find(&o->request, c, err))
        return c->base.nothing ? print_no_base(o, format, c, err) : -1;
    if (c->idle) /* the sentence was said */
        return print_nothing(o, format, c, c->left_out, EXIT_SAME, err);
    if (compare_sides_decide(&o->request, c, err))
        return -1;
    compare_sides_explain(&o->request, c);
    return print_compared(o, format, c, err);
}

/* `harness compare 'sleep 1' 'sleep 2'`, as other programs have it, and `harness compare old new`.
 */
static int hint_at_commands(const struct compare_options *o, int rc, struct error *err)
{
    const struct compare_request *r = &o->request;
    size_t length = strlen(err->message);

    if (rc >= 0 || r->baseline || r->run || compare_request_measures(r))
        return rc;
    command_options_hint(r->filters, (int)r->nr_filters, "compare", " --versus OTHER", err);
    if (err->message[length] == '\0' && r->nr_filters > 0 && r->nr_filters <= 2)
        snprintf(err->message + length, sizeof(err->message) - length,
                 "\narguments are filters; two sides are: harness compare --baseline %s%s%s",
                 r->filters[0], r->nr_filters > 1 ? " --head " : "",
                 r->nr_filters > 1 ? r->filters[1] : "");
    return rc;
}

static int compare_two_commands(struct compare_options *o, struct error *err)
{
    const struct compare_commands_output output = { o->db, o->format, o->output };
    const char *of_comment = compare_comment_option(&o->comment);
    struct progress progress;

    if (of_comment)
        return error_set(err, "%s is of --format github, which commands do not have", of_comment);
    progress_attach(&progress, &o->request.measuring, true);
    return compare_commands(&o->commands, &o->request, &output, err);
}

static int run_compare(int argc, char **argv, void *options, struct error *err)
{
    struct compare_options *o = options;
    struct compare_request *r = &o->request;
    struct compared c = { .store = NULL };
    struct progress progress;
    struct strbuf builds;
    enum compare_format format;

    int commands = compare_commands_asked(&o->commands, r->what.plugins.nr > 0, err);
    if (commands < 0 || output_short_format(&o->format, o->json, "--json", "json", err))
        return -1;
    r->what.params = o->commands.command.params;
    r->filters = argv;
    r->nr_filters = (size_t)argc;
    if (o->replay)
        return replay_recorded(o, argc, argv, err);
    if (commands)
        return compare_two_commands(o, err);
    strbuf_init(&builds);
    r->builds = history_builds(o->db, &builds);
    progress_attach(&progress, &r->measuring, compare_request_measures(r) || r->run);
    int rc = compare_choose_format(o->format, &o->comment, &format, err);
    if (rc == 0)
        rc = compare_request_check(r, &c.rule, err);
    if (rc == 0)
        rc = compare_and_print(o, format, &c, err);
    compared_release(&c);
    store_close(c.store);
    strbuf_release(&builds);
    return hint_at_commands(o, rc, err);
}

static const struct option_row rows[] = {
    OPTION_ROW("baseline", 'b', OPTION_STRING, struct compare_options, request.baseline, "REF",
               "the old side: baseline, branch, commit, run, label or file"),
    OPTION_ROW("head", 0, OPTION_STRING, struct compare_options, request.head, "REF",
               "the new side (default latest)"),
    OPTION_ROW("run", 0, OPTION_FLAG, struct compare_options, request.run, NULL,
               "measure now, as `harness run` would, and take that run as the new side"),
    OPTION_ROW("tuned", 0, OPTION_FLAG, struct compare_options, request.tuned, NULL,
               "with --run: " TUNED_HELP),
    OPTION_ROW("delta", 0, OPTION_TEXTS, struct compare_options, request.deltas, "[FOR=]SHARE",
               "changes within this do not matter (default 3%); p95=10% or 'gemm/*=5%' for some"),
    OPTION_ROW("fdr", 0, OPTION_FRACTION, struct compare_options, request.q, "SHARE",
               "share of false alarms among the alarms (default 5%)"),
    JUDGED_OPTION_ROWS(struct compare_options, request.numbers),
    OPTION_ROW("all", 'a', OPTION_FLAG, struct compare_options, all, NULL,
               "also the rows that are the same"),
    EXPLAIN_OPTION_ROWS(struct compare_options, request),
    OPTION_ROW("no-record", 0, OPTION_FLAG, struct compare_options, request.no_record, NULL,
               "keep no record of the verdicts in the history"),
    OPTION_ROW("replay", 0, OPTION_FLAG, struct compare_options, replay, NULL,
               "decide recorded comparisons again (arguments: their numbers; default all)"),
    OPTION_ROW("any-machine", 0, OPTION_FLAG, struct compare_options, request.any_machine, NULL,
               "compare across machine classes, too"),
    FORM_ROW(struct compare_options, format,
             "text,markdown,github,json,junit,codequality,sarif,ctest",
             "text (default), markdown, github (a comment for a pull request), json, junit, "
             "codequality (GitLab), sarif, ctest"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct compare_options, json, NULL, "--format json"),
    OUTPUT_ROW(struct compare_options, output),
    DB_ROW(struct compare_options, db),
    COMPARE_COMMENT_OPTION_ROWS(struct compare_options, comment),
    OPTION_ROW("baseline-bin", 0, OPTION_STRING, struct compare_options, request.baseline_bin,
               "PATH", "measure this harness as the old side, in turn with the new one"),
    OPTION_ROW("head-bin", 0, OPTION_STRING, struct compare_options, request.head_bin, "PATH",
               "and this one as the new side (default: this program)"),
    OPTION_ROW("baseline-plugin", 0, OPTION_STRING, struct compare_options, request.baseline_plugin,
               "FILE", "measure this plugin as the old side, in turn with that of --plugin"),
    OPTION_ROW("baseline-python", 0, OPTION_STRING, struct compare_options, request.baseline_python,
               "FILE::NAME",
               "measure this function as the old side, in turn with that of --python"),
    OPTION_ROW("build", 0, OPTION_FLAG, struct compare_options, request.build, NULL,
               "build both REFs (default head: HEAD) and measure them in turn"),
    OPTION_ROW("build-command", 0, OPTION_STRING, struct compare_options, request.build_command,
               "COMMAND", "what builds $SOURCE in $BUILD (default: cmake, Release)"),
    OPTION_ROW("build-program", 0, OPTION_STRING, struct compare_options, request.build_program,
               "PATH", "the harness that comes out, below $BUILD (default harness)"),
    CHANGED_ROWS(struct compare_options, request),
    OPTION_ROW("budget", 0, OPTION_DURATION, struct compare_options, request.measuring.budget,
               "TIME",
               "measuring: after the first block only what should end within it, the worst first "
               "(default none)"),
    OPTION_RANGE_ROW("blocks", 0, OPTION_INT, struct compare_options, request.blocks, 1, 1000, "N",
                     "measuring: at most N blocks of 2 launches a side (default 40)"),
    OPTION_ROW("timeout", 0, OPTION_DURATION, struct compare_options, request.measuring.timeout,
               "TIME", "measuring: kill a case that takes longer (default 5m)"),
    NO_REPEAT_ROW(struct compare_options, request.measuring),
    MEMORY_LIMIT_ROW(struct compare_options, request.measuring),
    SEED_ROW(struct compare_options, request.measuring),
    OPTION_ROW("label", 0, OPTION_LINE, struct compare_options, request.label, "TEXT",
               "names the two runs \"TEXT base\" and \"TEXT head\" (default ab)"),
    WORKLOAD_OPTION_ROWS(struct compare_options, request.what, "ci", 0),
    COMPARE_COMMANDS_OPTION_ROWS(struct compare_options, commands),
    OPTION_END,
};

extern const struct command cmd_compare;
const struct command cmd_compare = {
    .name = "compare",
    .arguments = "{--baseline REF [FILTER...] | -- COMMAND... --versus COMMAND...}",
    .summary = "say whether something got slower",
    .details =
        "  harness compare --baseline main\n"
        "  harness compare --baseline 3f2a91c --head my-branch\n"
        "  harness compare --baseline main --run --suite ci      measure now, then compare\n"
        "  harness compare --baseline main --format github -o comment.md\n"
        "  harness compare --baseline main --build --suite ci --budget 10m\n"
        "  harness compare --baseline main --build --changed     what the change may reach\n"
        "  harness compare --baseline-bin old/harness --head-bin new/harness 'gemm/*'\n"
        "  harness compare --baseline-plugin old/mine.so --plugin ./mine.so\n"
        "  harness compare --baseline-python old.py::f --python new.py::f --like gemm/nt\n"
        "  harness compare --baseline main --build --explain     and why it got slower\n"
        "  harness compare --replay                  recorded verdicts by today's rule\n"
        "  harness compare -- ./old -n 5 --versus ./new -n 5     any commands, in turn\n"
        "  harness compare --param j=1,2,4 -- make -j{j} check   or values of one\n"
        "  harness compare --metric 'rate=/rate: (\\S+)/' --better higher -- A --versus B\n"
        "\n" BUILDS_DETAILS
        "Decided from launches (fresh processes), at least three a side, five for a gate.\n"
        "FILTERs choose what is shown and what the exit status covers. The false-discovery rate\n"
        "is still that of all benchmarks, so that a filter makes no alarm more likely.\n"
        "Exit status: 0 no regression, 1 regression, 77 cannot tell or nothing to compare\n"
        "with, 2 usage or failure.",
    .options = rows,
    .options_size = sizeof(struct compare_options),
    .run = run_compare,
};
