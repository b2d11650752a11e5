/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/file.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/render/compare_print.h"
#include "cli/shared_options.h"
#include "session/bench/locate.h"
#include "session/compare/gate.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gate_options {
    struct gate_request request;
    struct string_list benches;
    const char *format, *db, *output, *fail_on;
    int64_t number;
    bool all, quiet;
    struct compare_comment_options comment;
    struct strbuf image_base; /* that of `comment`, filled in */
};

/* ---- what is left behind ---- */

/* Files of the folder, in the forms of `harness compare --format`. */
static const struct gate_form {
    enum compare_format format;
    const char *name;
} gate_forms[] = {
    { COMPARE_GITHUB, "comment.md" },   { COMPARE_JSON, "compare.json" },
    { COMPARE_JUNIT, "junit.xml" },     { COMPARE_CODEQUALITY, "codequality.json" },
    { COMPARE_SARIF, "harness.sarif" },
};

enum { GATE_FORMS = sizeof(gate_forms) / sizeof(gate_forms[0]) };

/* One line of text; NULL takes away what an earlier call has left. */
static int leave_gate_line(const char *folder, const char *name, const char *line,
                           struct error *err)
{
    struct strbuf path, text;
    int rc = 0;

    strbuf_init(&path);
    strbuf_init(&text);
    strbuf_addf(&path, "%s/%s", folder, name);
    strbuf_addf(&text, "%s\n", line ? line : "");
    if (line)
        rc = file_write(path.data, text.data, text.length, err);
    else
        unlink(path.data);
    strbuf_release(&path);
    strbuf_release(&text);
    return rc;
}

/* What an earlier call has left is of another change. */
static void clear_gate_folder(const char *folder)
{
    static const char *const others[] = { "number", "head", "status", "quiet" };
    struct error ignored;

    for (size_t i = 0; i < GATE_FORMS; i++)
        leave_gate_line(folder, gate_forms[i].name, NULL, &ignored);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        leave_gate_line(folder, others[i], NULL, &ignored);
}

static int64_t gate_number(const struct gate_options *o, const struct gate *g)
{
    return o->number > 0 ? o->number : g->event.number;
}

/* What a comment is of: its change, and the commit that was measured. */
static int leave_gate_change(const struct gate_options *o, const struct gate *g, struct error *err)
{
    char number[24];

    snprintf(number, sizeof(number), "%lld", (long long)gate_number(o, g));
    if (gate_number(o, g) > 0 && leave_gate_line(o->output, "number", number, err))
        return -1;
    return g->head.hash[0] ? leave_gate_line(o->output, "head", g->head.hash, err) : 0;
}

/* Caches keep what an address once showed, so that of pictures may name the change: {number} and
 * {head}. Without a number there is no place for them. */
static void fill_image_base(struct gate_options *o, const struct gate *g)
{
    const char *rest = o->comment.image_base;
    bool numbered = rest && strstr(rest, "{number}");

    if (!rest)
        return;
    for (; *rest; rest++) {
        if (strncmp(rest, "{number}", 8) == 0) {
            strbuf_addf(&o->image_base, "%lld", (long long)gate_number(o, g));
            rest += 7;
        } else if (strncmp(rest, "{head}", 6) == 0) {
            strbuf_addf(&o->image_base, "%.12s", g->head.hash);
            rest += 5;
        } else {
            strbuf_addc(&o->image_base, *rest);
        }
    }
    o->comment.image_base = numbered && gate_number(o, g) <= 0 ? NULL : o->image_base.data;
}

static int leave_gate_status(const char *folder, int status, bool quiet, struct error *err)
{
    char text[24];

    snprintf(text, sizeof(text), "%d", status);
    if (quiet && leave_gate_line(folder, "quiet", "nothing changed", err))
        return -1;
    return leave_gate_line(folder, "status", text, err);
}

/* ---- printing ---- */

/* The folder's forms; `reason`: there is nothing to compare, which the comment alone says: what an
 * earlier call has left is gone. */
static int leave_gate_forms(const struct gate_options *o, const struct compared *c,
                            const char *reason, struct error *err)
{
    struct finding_place *places =
        reason ? NULL : places_find(&c->comparison, &c->head.records); /* once for all forms */
    struct strbuf path;
    int rc = 0;

    strbuf_init(&path);
    for (size_t i = 0; rc == 0 && i < GATE_FORMS; i++) {
        if (reason && gate_forms[i].format != COMPARE_GITHUB)
            continue;
        strbuf_clear(&path);
        strbuf_addf(&path, "%s/%s", o->output, gate_forms[i].name);
        const struct compare_print print = {
            .format = gate_forms[i].format,
            .output = path.data,
            .comment = { &o->comment, &o->request.compare, c, o->db },
            .places = places,
        };
        rc = reason ? compare_print_nothing(&print, reason, EXIT_SAME, err)
                    : compare_print(&print, err);
    }
    places_release(places, places ? c->comparison.nr : 0);
    strbuf_release(&path);
    return rc;
}

static int print_gate_table(const struct gate_options *o, const struct compared *c,
                            struct error *err)
{
    const struct compare_print print = {
        .format = COMPARE_TEXT,
        .all = o->all,
        .comment = { &o->comment, &o->request.compare, c, o->db },
    };

    return compare_print(&print, err);
}

/* Is there anything that a reader of the change has to know? */
static bool is_gate_quiet(const struct comparison *c)
{
    return c->count[VERDICT_SAME] + c->count[VERDICT_UNDECIDED] == c->nr;
}

static const char *gate_conclusion(int status)
{
    return status == 0   ? "no regression"
           : status == 1 ? "REGRESSION, see above"
                         : "cannot tell, see above";
}

static int conclude_gate(const struct gate_options *o, struct compared *c, struct error *err)
{
    int status = c->comparison.exit_status;
    bool quiet = o->quiet && is_gate_quiet(&c->comparison);

    if (print_gate_table(o, c, err))
        return -1;
    if (o->output &&
        (leave_gate_forms(o, c, NULL, err) || leave_gate_status(o->output, status, quiet, err)))
        return -1;
    terminal_print("gate: %s\n", gate_conclusion(status));
    return gate_exit_status(o->fail_on, status);
}

/* The change reaches nothing that is measured. */
static int conclude_idle_gate(const struct gate_options *o, const struct gate *g,
                              const struct compared *c, struct error *err)
{
    if (o->output && (leave_gate_forms(o, c, c->left_out, err) ||
                      leave_gate_status(o->output, 0, o->quiet, err)))
        return -1;
    terminal_print("gate: %.7s reaches no benchmark; nothing was measured\n", g->head.hash);
    return 0;
}

static int conclude_gate_of_nothing(const struct gate_options *o, const struct gate *g,
                                    struct error *err)
{
    if (o->output && (leave_gate_change(o, g, err) || leave_gate_status(o->output, 0, false, err)))
        return -1;
    if (g->event.closed)
        terminal_print("gate: the change is closed; nothing to measure\n");
    else
        terminal_print("gate: %.7s has nothing that %.7s does not have; nothing to measure\n",
                       g->head.hash, g->base.hash);
    return 0;
}

/* ---- the command ---- */

static int read_gate_benches(struct gate_options *o, struct error *err)
{
    struct gate_request *r = &o->request;
    const char *beside = workload_option(&r->compare.what);

    for (size_t i = 0; i < o->benches.nr; i++)
        if (bench_list_add(&r->benches, o->benches.items[i], err))
            return -1;
    if (r->benches.nr > 0 && (beside || r->compare.build_program))
        return error_set(err, "%s is for harness's own kernels: it does not go with --bench",
                         beside ? beside : "--build-program");
    if (r->benches.nr == 0 && o->format)
        return error_set(err, "--format goes with --bench COMMAND");
    return o->format ? import_format_find(o->format, &r->format, err) : 0;
}

static int check_gate_options(struct gate_options *o, struct compared *c, struct error *err)
{
    struct compare_request checked = o->request.compare;

    checked.build = true;
    checked.baseline = "";
    if (o->fail_on && strcmp(o->fail_on, "regression") != 0 && strcmp(o->fail_on, "undecided") != 0)
        return error_set(err, "--fail-on: \"%s\" is neither regression nor undecided", o->fail_on);
    if (!o->output && (o->comment.images || o->comment.image_base || o->quiet))
        return error_set(err, "%s goes with --output FOLDER",
                         o->quiet            ? "--quiet"
                         : o->comment.images ? "--images"
                                             : "--image-base");
    if (read_gate_benches(o, err) || compare_comment_check(&o->comment, true, err))
        return -1;
    checked.benches = o->request.benches.nr > 0;
    if (compare_request_check(&checked, &c->rule, err) ||
        bench_check_numbers(&o->request.benches, &c->rule.numbers, &c->rule.judged,
                            o->request.format, err))
        return -1;
    return bench_any_without_judged(&o->request.benches, &c->rule.numbers)
               ? compare_rule_heed_rest(&c->rule, err)
               : 0;
}

static int measure_and_conclude(struct gate_options *o, struct gate *g, struct compared *c,
                                struct error *err)
{
    struct compare_request *r = &o->request.compare;

    fill_image_base(o, g);
    if (history_open(&c->store, o->db, STORE_WRITE, err) || compare_rule_declare(&c->rule, err) ||
        gate_measure(g, c, err))
        return -1;
    if (o->output && leave_gate_change(o, g, err))
        return -1;
    if (c->idle)
        return conclude_idle_gate(o, g, c, err);
    if (compare_sides_decide(r, c, err))
        return -1;
    if (c->interrupted)
        return 128 + c->interrupted;
    compare_sides_explain(r, c);
    int rc = conclude_gate(o, c, err);
    return rc >= 0 && c->interrupted ? 128 + c->interrupted : rc;
}

static int run_gate(int argc, char **argv, void *options, struct error *err)
{
    struct gate_options *o = options;
    struct compare_request *r = &o->request.compare;
    struct gate g = { .request = &o->request };
    struct compared c = { .store = NULL };
    struct progress progress;
    struct strbuf builds;

    strbuf_init(&builds);
    strbuf_init(&o->image_base);
    r->filters = argv;
    r->nr_filters = (size_t)argc;
    r->label = r->label ? r->label : o->comment.id ? o->comment.id : "gate";
    r->builds = history_builds(o->db, &builds);
    o->comment.id = o->comment.id ? o->comment.id : r->label;
    progress_attach(&progress, &r->measuring, true);
    int rc = check_gate_options(o, &c, err);
    if (rc == 0 && o->output)
        clear_gate_folder(o->output);
    if (rc == 0)
        rc = gate_begin(&g, err);
    if (rc == 0 && o->output)
        rc = file_make_directory(o->output, err);
    if (rc == 0)
        rc =
            g.nothing ? conclude_gate_of_nothing(o, &g, err) : measure_and_conclude(o, &g, &c, err);
    compared_release(&c);
    store_close(c.store);
    gate_release(&g);
    strbuf_release(&builds);
    strbuf_release(&o->image_base);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("bench", 0, OPTION_TEXTS, struct gate_options, benches, "COMMAND",
               "measures once, in $SOURCE with what was built in $BUILD; 'NAME: COMMAND' names "
               "it; repeat for more"),
    OPTION_ROW("format", 0, OPTION_STRING, struct gate_options, format, "NAME",
               "of its results, as of `harness import` (default: by content)"),
    OPTION_ROW("build-command", 0, OPTION_STRING, struct gate_options,
               request.compare.build_command, "COMMAND",
               "what builds $SOURCE in $BUILD (default: cmake, Release)"),
    OPTION_ROW("base", 'b', OPTION_STRING, struct gate_options, request.base, "REF",
               "where the change goes to (default: what the forge says, else the main branch)"),
    OPTION_ROW("head", 0, OPTION_STRING, struct gate_options, request.head, "REF",
               "the change (default: what the forge says, else HEAD)"),
    CHANGED_ROWS(struct gate_options, request.compare),
    OPTION_ROW("budget", 0, OPTION_DURATION, struct gate_options, request.compare.measuring.budget,
               "TIME",
               "of measuring: after the first block only what should end within it, the worst "
               "first (default none)"),
    OPTION_RANGE_ROW("blocks", 0, OPTION_INT, struct gate_options, request.compare.blocks, 1, 1000,
                     "N", "at most N blocks of 2 launches a side (default 40)"),
    OPTION_ROW("timeout", 0, OPTION_DURATION, struct gate_options,
               request.compare.measuring.timeout, "TIME",
               "end a measurement that takes longer (default 30m; a kernel 5m)"),
    OPTION_ROW("delta", 0, OPTION_TEXTS, struct gate_options, request.compare.deltas, "[FOR=]SHARE",
               "changes within this do not matter (default 3%); p95=10% or 'sort/*=5%' for some"),
    OPTION_ROW("fdr", 0, OPTION_FRACTION, struct gate_options, request.compare.q, "SHARE",
               "share of false alarms among the alarms (default 5%)"),
    JUDGED_OPTION_ROWS(struct gate_options, request.compare.numbers),
    OPTION_ROW("fail-on", 0, OPTION_STRING, struct gate_options, fail_on, "WHAT",
               "regression (default), or undecided, too: then exit status 77"),
    OPTION_ROW("all", 'a', OPTION_FLAG, struct gate_options, all, NULL,
               "also the rows that are the same"),
    EXPLAIN_OPTION_ROWS(struct gate_options, request.compare),
    OPTION_ROW("output", 'o', OPTION_STRING, struct gate_options, output, "FOLDER",
               "gets comment.md, compare.json, junit.xml, codequality.json, harness.sarif"),
    OPTION_ROW("quiet", 0, OPTION_FLAG, struct gate_options, quiet, NULL,
               "mark a comment that has nothing to say, so that no new one is posted"),
    COMPARE_COMMENT_OPTION_ROWS(struct gate_options, comment),
    OPTION_RANGE_ROW("number", 0, OPTION_INT, struct gate_options, number, 1, 999999999, "N",
                     "of the pull request (default: what the forge says), for the comment"),
    OPTION_ROW("label", 0, OPTION_LINE, struct gate_options, request.compare.label, "TEXT",
               "names the two runs \"TEXT base\" and \"TEXT head\" (default gate)"),
    DB_ROW(struct gate_options, db),
    SEED_ROW(struct gate_options, request.compare.measuring),
    NO_REPEAT_ROW(struct gate_options, request.compare.measuring),
    MEMORY_LIMIT_ROW(struct gate_options, request.compare.measuring),
    OPTION_ROW("build-program", 0, OPTION_STRING, struct gate_options,
               request.compare.build_program, "PATH",
               "without --bench: the harness that comes out, below $BUILD (default harness)"),
    WORKLOAD_OPTION_ROWS(struct gate_options, request.compare.what, "ci", 0),
    OPTION_END,
};

extern const struct command cmd_gate;
const struct command cmd_gate = {
    .name = "gate",
    .arguments = "[--bench COMMAND] [FILTER...]",
    .summary = "say whether a change makes something slower, for a pull request",
    .details =
        "  harness gate --bench '$BUILD/bench'\n"
        "  harness gate --bench 'sh bench.sh'         which writes its results to $OUT\n"
        "  harness gate --bench '$BUILD/app input.txt' --build-command 'make O=$BUILD'\n"
        "  harness gate --bench '$BUILD/app' --metric 'rate=/rate: (\\S+)/' --better higher\n"
        "  harness gate --bench 'sort: $BUILD/sort' --bench 'parse: $BUILD/parse' --changed\n"
        "  harness gate --bench 'a: $BUILD/a' --bench 'b: $BUILD/b' --better higher \\\n"
        "    --metric 'a:rate=/rate: (\\S+)/' --metric 'b:rate=$.rate'\n"
        "  harness gate --base main --suite ci --budget 10m      harness's own kernels\n"
        "\n"
        "Builds the commit that the change branched off and the change itself, each in a\n"
        "worktree of its own, and measures both in turn with the project's own benchmarks,\n"
        "until all is decided or the budget ends; what is decided is not measured again.\n"
        "Your checkout is not touched.\n"
        "\n"
        "COMMAND is for the shell. It runs once a launch in $SOURCE, the sources of one side,\n"
        "with what was built of them in $BUILD. Its result is what it writes to $OUT or to its\n"
        "standard output, in any form that `harness import` reads; where that is none, the whole\n"
        "command is timed. A program of Google Benchmark needs no options. With --metric\n"
        "NAME=/PATTERN/ its own numbers are what is judged; of several, with BENCH:NAME=/PATTERN/\n"
        "those of the one that is called BENCH; the others are judged by their time. BENCH:NAME\n"
        "judges a metric in that one's own results: --metric sort:file_size.\n"
        "\n"
        "In a job of GitHub, GitLab or a compatible forge the change is the one that the job is\n"
        "for; elsewhere it is HEAD against the main branch. --output leaves behind what a forge\n"
        "shows; docs/ci.md has the files to adopt.\n"
        "Exit status: 0 no regression, or none that could be told (see --fail-on), 1 regression,\n"
        "2 usage or failure, such as a build or a benchmark that fails.",
    .options = rows,
    .options_size = sizeof(struct gate_options),
    .run = run_gate,
};
