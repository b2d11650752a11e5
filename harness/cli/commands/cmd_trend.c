/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/json.h"
#include "cli/history_open.h"
#include "cli/shared_options.h"
#include "reporters/trend/trend_json.h"
#include "reporters/trend/trend_table.h"
#include "session/builds/repository.h"
#include "session/trend_history.h"
#include "terminal/terminal.h"
#include "view/annotations.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct trend_options {
    const char *db, *metric, *since, *machine, *format, *output;
    int64_t last, min_segment;
    double delta, fdr;
    bool all, alone, json;
};

/* The history, and what was made of it; its trends borrow from the rest. */
struct subject {
    struct store *store;
    struct annotations annotations;
    struct repository *repository;
    struct trend_history history;
};

/* "2026-01-31", midnight UTC, as ms since the epoch. */
static int parse_date(const char *text, int64_t *ms, struct error *err)
{
    struct tm given = { 0 };
    const char *end = strptime(text, "%Y-%m-%d", &given);
    struct tm date = given;
    time_t time = timegm(&date);

    /* timegm() makes 3 March of 31 February. */
    if (!end || *end || date.tm_mday != given.tm_mday)
        return error_set(err, "--since: \"%s\" is no date such as 2026-01-31", text);
    *ms = (int64_t)time * 1000;
    return 0;
}

static int print_trends(const struct trends *t, const struct trend_options *o, struct error *err)
{
    struct trend_table_options table = { .all = o->all };
    struct strbuf text;

    if (o->format && strcmp(o->format, "json") == 0)
        return output_json(trends_to_json(t, o->all), o->output, err);
    strbuf_init(&text);
    bool markdown = o->format && strcmp(o->format, "markdown") == 0;
    if (markdown) {
        trend_table_markdown(t, &table, &text);
    } else {
        table.width = output_width(o->output);
        table.colour = output_colour(o->output);
        trend_table_text(t, &table, &text);
    }
    int rc = markdown ? output_text(&text, o->output, err) : output_page(&text, o->output, err);
    strbuf_release(&text);
    return rc;
}

static int check_options(const struct trend_options *o, const struct trend_settings *settings,
                         struct error *err)
{
    if (!settings->metric)
        return -1;
    if (o->alone && settings->nr_filters == 0)
        return error_set(err, "--alone is about the series of a FILTER; there is none");
    return settings->fdr >= 0.5 ? error_set(err, "--fdr must be below 50%%") : 0;
}

static int find_and_print(struct subject *s, const struct trend_options *o, int argc, char **argv,
                          struct error *err)
{
    struct trend_scope scope = {
        .since = INT64_MIN, .last = o->last, .machine = o->machine, .alone = o->alone
    };

    if (history_open(&s->store, o->db, STORE_READ, err)) /* it may bring metrics of programs */
        return -1;
    struct trend_settings settings = {
        .metric = trend_metric(o->metric ? o->metric : "p50", err),
        .fdr = o->fdr > 0 ? o->fdr : TREND_FDR,
        .delta = o->delta,
        .min_segment = (size_t)o->min_segment,
        .filters = (const char *const *)argv,
        .nr_filters = (size_t)argc,
    };

    if (check_options(o, &settings, err) || (o->since && parse_date(o->since, &scope.since, err)) ||
        trend_history_load(s->store, &scope, &settings, &s->history, err) ||
        annotations_load(s->store, &s->annotations, err))
        return -1;
    annotations_apply(&s->annotations, &settings);
    s->repository = repository_create();
    settings.repository = repository_for_trends(s->repository);
    if (trend_history_find(&s->history, &settings, err))
        return -1;
    return print_trends(&s->history.trends, o, err) ? -1 : s->history.trends.exit_status;
}

static int run_trend(int argc, char **argv, void *options, struct error *err)
{
    struct trend_options *o = options;
    struct subject s = { 0 };

    if (output_short_format(&o->format, o->json, "--json", "json", err) ||
        output_check_format(o->format, err))
        return -1;
    if (o->since && o->last)
        return error_set(err, "--since and --last both say where the history begins; give one");
    int rc = find_and_print(&s, o, argc, argv, err);
    trend_history_release(&s.history);
    repository_free(s.repository);
    annotations_release(&s.annotations);
    store_close(s.store);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("since", 0, OPTION_STRING, struct trend_options, since, "DATE",
               "runs from that day on: 2026-01-31 (UTC)"),
    OPTION_RANGE_ROW("last", 'n', OPTION_INT, struct trend_options, last, 1, INT32_MAX, "N",
                     "the newest N runs of each machine class"),
    OPTION_ROW("machine", 0, OPTION_STRING, struct trend_options, machine, "CLASS",
               "of this machine class only, as `harness history system` tells it"),
    OPTION_ROW("metric", 0, OPTION_STRING, struct trend_options, metric, "NAME",
               "what is looked at (default p50), see `harness list metrics`"),
    OPTION_ROW("delta", 0, OPTION_FRACTION, struct trend_options, delta, "SHARE",
               "leave out steps smaller than this (default: none)"),
    OPTION_ROW("fdr", 0, OPTION_FRACTION, struct trend_options, fdr, "SHARE",
               "share of false alarms among the alarms (default 5%)"),
    OPTION_RANGE_ROW("min-segment", 0, OPTION_INT, struct trend_options, min_segment, 2, INT32_MAX,
                     "N", "points that a level needs to count as one (default 5)"),
    OPTION_ROW("alone", 0, OPTION_FLAG, struct trend_options, alone, NULL,
               "look at FILTER's series alone: quick, for what was chosen beforehand"),
    OPTION_ROW("all", 'a', OPTION_FLAG, struct trend_options, all, NULL,
               "a card for each change, and the quiet series with their noise"),
    FORM_ROW(struct trend_options, format, "text,markdown,json", "text (default), markdown, json"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct trend_options, json, NULL, "--format json"),
    OUTPUT_ROW(struct trend_options, output),
    DB_ROW(struct trend_options, db),
    OPTION_END,
};

extern const struct command cmd_trend;
const struct command cmd_trend = {
    .name = "trend",
    .arguments = "[FILTER...]",
    .summary = "say when the history changed: steps and drifts, with their commits",
    .details =
        "  harness trend\n"
        "  harness trend gemm --last 90 --metric p95\n"
        "\n"
        "A series is one benchmark on one machine class; a point is a run. The false-discovery\n"
        "rate covers all series, whichever FILTER shows; with --alone it covers those of FILTER\n"
        "only. A step where compiler, driver or governor changed says so, and is no regression.\n"
        "Runs of A/B comparisons and self-tests are left out, and so are those of other branches\n"
        "than most runs (or, failing that, main) are of. A step that was reported once is told\n"
        "until the level goes back, the step is accepted or it is withdrawn; each end is printed.\n"
        "What is on watch may be a step, but is not certain enough to count as one.\n"
        "Each step and drift is a card: its line, cut at the step, how large it is, the commits\n"
        "it lies between, what else changed there, and the command that looks for the commit,\n"
        "where it would work in this folder. What got worse and is still there comes first, then\n"
        "what got better, what was accepted, and what went back. More than eight are a table,\n"
        "and cards with --all.\n"
        "Exit status: 0 no step for the worse stands, 1 one stands (not accepted, and neither\n"
        "compiler, driver nor governor changed), 77 no series is long enough, 2 usage or\n"
        "failure.",
    .options = rows,
    .options_size = sizeof(struct trend_options),
    .run = run_trend,
};
