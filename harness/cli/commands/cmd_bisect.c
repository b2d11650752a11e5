/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/render/bisect_report.h"
#include "cli/shared_options.h"
#include "session/compare/compare.h"
#include "session/measure/floors.h"
#include "session/tune/tuned_workload.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <string.h>

struct bisect_options {
    struct workload_options what;
    const char *good, *bad, *build_command, *build_program, *db, *output;
    const char *format;
    struct string_list deltas, benches;
    struct number_options numbers;
    double q, confidence;
    int64_t blocks;
    struct measuring measuring;
    bool json, tuned;
};

/* What one call holds. */
struct bisecting {
    struct bisect_options *o;
    struct bisect_job job;
    struct workload workload;
    struct tuned tuned;
    struct bench_list benches;
    struct compare_rule rule;
    struct progress progress;
    struct strbuf builds; /* the folder of builds */
};

/* Before anything is read from git or built. */
static int make_bisect_settings(struct bisecting *s, struct bisect_options *o, struct error *err)
{
    struct bisect_settings search = BISECT_DEFAULTS;
    struct compare_request asked = {
        .numbers = o->numbers,
        .deltas = o->deltas,
        .q = o->q,
        .build = true,
        .benches = o->benches.nr > 0,
    };

    if (o->q > 0 && !(o->q < 0.5))
        return error_set(err, "--fdr must be below 50 %%");
    if (o->confidence > 0 && !(o->confidence > 0.5 && o->confidence < 1))
        return error_set(err, "--confidence must lie between 50 %% and 100 %%");
    if (compare_request_rule(&asked, &s->rule, err))
        return -1;
    if (s->rule.numbers.nr > 0 && !asked.benches)
        return error_set(err, "--metric NAME=... goes with --bench COMMAND");
    search.false_alarm = s->rule.settings.q;
    search.confidence = o->confidence > 0 ? o->confidence : search.confidence;
    s->job.search.settings = search;
    s->job.request.compare = s->rule.settings;
    return 0;
}

/* Once the history is open. */
static int declare_bisect_numbers(struct bisecting *s, struct error *err)
{
    if (compare_rule_declare(&s->rule, err))
        return -1;
    s->job.request.compare = s->rule.settings;
    return 0;
}

static int find_ends(struct bisecting *s, struct error *err)
{
    struct bisect_settings settings = s->job.search.settings;
    struct git_commit bad;

    if (!s->o->good)
        return error_set(err, "give --good REF: a commit before it got slower");
    if (git_resolve(s->o->good, &s->job.good, err) ||
        git_resolve(s->o->bad ? s->o->bad : "HEAD", &bad, err) ||
        git_range(&s->job.good, &bad, &s->job.range, err))
        return -1;
    bisect_init(&s->job.search, s->job.range.nr, &settings);
    return 0;
}

static void make_bisect_request(struct bisecting *s)
{
    const struct bisect_options *o = s->o;
    struct bisect_job *job = &s->job;

    job->recipe = (struct build_recipe) {
        .command = o->build_command,
        .program = o->build_program,
        .foreign = s->benches.nr > 0,
        .folder = history_builds(o->db, &s->builds),
        .interrupted = o->measuring.interrupted,
        .begins = measuring_build_begins,
        .context = &o->measuring,
    };
    job->request.label = "bisect";
    job->request.measuring = o->measuring;
    job->request.blocks_max = (int)o->blocks;
    job->workload = &s->workload;
}

/* The settings that this program's own kernels, or a plugin's, were tuned to (--tuned) are those of
 * all commits. */
static int choose_bisect_kernels(struct bisecting *s, int argc, char **argv, struct error *err)
{
    const struct bisect_options *o = s->o;

    if (o->format)
        return error_set(err, "--format goes with --bench COMMAND");
    if ((o->tuned && history_tuned(&s->tuned, o->db, &s->o->what, err)) ||
        workload_make(&s->workload, &o->what, argv, argc, "ci", err))
        return -1;
    floors_warn(&s->job.request.compare, &s->workload, o->measuring.sink);
    return 0;
}

/* What is measured: benches of the project, or our own kernels. */
static int choose_bisect_work(struct bisecting *s, int argc, char **argv, struct error *err)
{
    const struct bisect_options *o = s->o;
    struct bench_ab_request *bench = &s->job.bench;
    const struct option_given settings[] = {
        { "--param", o->what.params.nr },
        { "--tuned", o->tuned },
    };

    if (o->benches.nr == 0)
        return choose_bisect_kernels(s, argc, argv, err);
    const char *beside = workload_option(&o->what);
    if (!beside)
        beside = options_first_given(settings, sizeof(settings) / sizeof(settings[0]));
    if (beside || o->build_program)
        return error_set(err, "%s is for harness's own kernels: it does not go with --bench",
                         beside ? beside : "--build-program");
    for (size_t i = 0; i < o->benches.nr; i++)
        if (bench_list_add(&s->benches, o->benches.items[i], err))
            return -1;
    *bench = (struct bench_ab_request) {
        .benches = &s->benches,
        .filters = (const char *const *)argv,
        .nr_filters = (size_t)argc,
        .build_command = o->build_command,
        .numbers = &s->rule.numbers,
        .betters = s->rule.numbers.nr ? NULL : &o->numbers.betters,
    };
    if (o->format && import_format_find(o->format, &bench->format, err))
        return -1;
    if (bench_check_numbers(&s->benches, &s->rule.numbers, &s->rule.judged, bench->format, err))
        return -1;
    return bench_any_without_judged(&s->benches, &s->rule.numbers)
               ? compare_rule_heed_rest(&s->rule, err)
               : 0;
}

/* Text goes out as it comes, so that a long search can be followed; JSON at the end. */
static void say_bisect(const struct bisecting *s, struct strbuf *text)
{
    struct error ignored; /* standard output is looked at in the end */

    if (!s->o->json) {
        output_page(text, NULL, &ignored);
        fflush(stdout);
    }
    strbuf_clear(text);
}

/* 1: interrupted. */
static int search_culprit(struct bisecting *s, enum bisect_state *state, struct strbuf *text,
                          struct error *err)
{
    struct bisect_question question;

    bisect_report_head(&s->job, text);
    say_bisect(s, text);
    while ((*state = bisect_next(&s->job.search, &question)) == BISECT_ASK) {
        int rc = bisect_job_step(&s->job, question, err);
        if (rc)
            return rc;
        bisect_report_step(&s->job, text);
        say_bisect(s, text);
    }
    return 0;
}

static int print_culprit(const struct bisecting *s, enum bisect_state state, struct strbuf *text,
                         struct error *err)
{
    int status = bisect_exit_status(&s->job, state);

    if (s->o->json) {
        cJSON *json = bisect_to_json(&s->job, state, err);
        return json ? output_json(json, s->o->output, err) ? -1 : status : -1;
    }
    if (bisect_report_end(&s->job, state, text, err))
        return -1;
    return output_page(text, NULL, err) ? -1 : status;
}

static int search_and_print(struct bisecting *s, struct strbuf *text, struct error *err)
{
    enum bisect_state state;

    make_bisect_request(s);
    int rc = search_culprit(s, &state, text, err);
    if (rc > 0) {
        terminal_note(
            "interrupted: what was built and measured is kept, and built commits are "
            "not built again\n");
        return 128 + (int)*s->o->measuring.interrupted;
    }
    return rc ? rc : print_culprit(s, state, text, err);
}

static int run_bisect(int argc, char **argv, void *options, struct error *err)
{
    struct bisect_options *o = options;
    struct bisecting s = { .o = o };
    struct strbuf text;

    if (o->output && !o->json)
        return error_set(err, "--output goes with --json");
    strbuf_init(&text);
    strbuf_init(&s.builds);
    progress_attach(&s.progress, &o->measuring, true);
    int rc = make_bisect_settings(&s, o, err);
    if (rc == 0)
        rc = find_ends(&s, err);
    if (rc == 0)
        rc = choose_bisect_work(&s, argc, argv, err);
    if (rc == 0)
        rc = history_open(&s.job.store, o->db, STORE_WRITE, err);
    if (rc == 0)
        rc = declare_bisect_numbers(&s, err);
    if (rc == 0)
        rc = search_and_print(&s, &text, err);
    store_close(s.job.store);
    bisect_job_release(&s.job);
    workload_release(&s.workload);
    tuned_close(&s.tuned);
    bench_list_release(&s.benches);
    compare_rule_release(&s.rule);
    strbuf_release(&s.builds);
    strbuf_release(&text);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("good", 0, OPTION_STRING, struct bisect_options, good, "REF",
               "a commit before it got slower"),
    OPTION_ROW("bad", 0, OPTION_STRING, struct bisect_options, bad, "REF",
               "a commit in which it is (default HEAD)"),
    OPTION_ROW("bench", 0, OPTION_TEXTS, struct bisect_options, benches, "COMMAND",
               "a project's own benchmark, as of `harness gate`; repeat for more"),
    OPTION_ROW("format", 0, OPTION_STRING, struct bisect_options, format, "NAME",
               "of its results, as of `harness import` (default: by content)"),
    JUDGED_OPTION_ROWS(struct bisect_options, numbers),
    OPTION_ROW("delta", 0, OPTION_TEXTS, struct bisect_options, deltas, "[FOR=]SHARE",
               "changes within this do not matter (default 3%); 'gemm/*=5%' for some"),
    OPTION_ROW("fdr", 0, OPTION_FRACTION, struct bisect_options, q, "SHARE",
               "share of false alarms among the alarms (default 5%)"),
    OPTION_ROW("confidence", 0, OPTION_FRACTION, struct bisect_options, confidence, "SHARE",
               "that a commit needs to be named (default 95%)"),
    OPTION_ROW("budget", 0, OPTION_DURATION, struct bisect_options, measuring.budget, "TIME",
               "most time of one comparison; its last block ends within it (default none)"),
    OPTION_RANGE_ROW("blocks", 0, OPTION_INT, struct bisect_options, blocks, 1, 1000, "N",
                     "most blocks of 2 launches a side in one comparison (default 40)"),
    TIMEOUT_ROW(struct bisect_options, measuring),
    MEMORY_LIMIT_ROW(struct bisect_options, measuring),
    SEED_ROW(struct bisect_options, measuring),
    OPTION_ROW("build-command", 0, OPTION_STRING, struct bisect_options, build_command, "COMMAND",
               "what builds $SOURCE in $BUILD (default: cmake, Release)"),
    OPTION_ROW("build-program", 0, OPTION_STRING, struct bisect_options, build_program, "PATH",
               "the harness that comes out, below $BUILD (default harness)"),
    WORKLOAD_OPTION_ROWS(struct bisect_options, what, "ci", 'b'),
    PARAM_ROW(struct bisect_options, what),
    TUNED_ROW(struct bisect_options, tuned),
    OPTION_ROW("json", 0, OPTION_FLAG, struct bisect_options, json, NULL,
               "the whole search as JSON, at its end"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct bisect_options, output, "FILE",
               "write the JSON there"),
    DB_ROW(struct bisect_options, db),
    OPTION_END,
};

extern const struct command cmd_bisect;
const struct command cmd_bisect = {
    .name = "bisect",
    .arguments = "--good REF [--bad REF] [FILTER...]",
    .summary = "find the commit that made something slower",
    .details =
        "  harness bisect --good v1.2 gemm/linear\n"
        "  harness bisect --good 3f2a91c --bad main --budget 2m 'gpt/*' --model nano\n"
        "  harness bisect --good v1.2 gemm/nn/simd --param depth=64\n"
        "  harness bisect --good v1.2 --bench '$BUILD/bench' BM_sort\n"
        "  harness bisect --good v1.2 --bench '$BUILD/app' --metric 'rate=/rate: (\\S+)/' \\\n"
        "    --better higher\n"
        "\n"
        "First the bad commit is compared with the good one; the search is for what got worse\n"
        "there. Each step builds a commit between (along first parents: a merge stands for all it\n"
        "brought), measures it and the good one in turn in fresh processes, and takes the most\n"
        "telling commit next. A verdict can be wrong, so nothing is ruled out by one; a commit\n"
        "is named when it has the wanted confidence and was compared with the one before it,\n"
        "too. Commits that do not build, or do not know a parameter, are passed over; where\n"
        "that hides the culprit, the answer is a range. The good and the bad one must know it.\n"
        "\n" BUILDS_DETAILS
        "Your checkout is not touched: sources and builds lie in .harness/builds, one folder a\n"
        "commit, and are used again, so a search that was broken off goes on quickly; remove\n"
        "the folder to have the room back. Every comparison is kept in the history.\n"
        "Exit status: 0 one commit is named, 77 several are left or cannot tell, 2 usage or\n"
        "failure.",
    .options = rows,
    .options_size = sizeof(struct bisect_options),
    .run = run_bisect,
};
