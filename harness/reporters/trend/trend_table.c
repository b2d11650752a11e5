/* SPDX-License-Identifier: MIT */
#include "reporters/trend/trend_table.h"

#include "base/memory.h"
#include "base/text.h"
#include "chart/base/chart_base.h"
#include "metrics/label.h"
#include "reporters/trend/trend_cards.h"
#include "reporters/trend/trend_summary.h"
#include "stats/stats.h"
#include "text/escape.h"
#include "text/table.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What is shown as a card; the rest are rows, but for --all. */
enum { CARDS = 8 };

enum { TABLES = 6, COLUMNS_MAX = 13 };

/* The tables, in the order in which they stand. */
enum trend_section { STEPS, WITHDRAWN, WATCH, DRIFTS, QUIET, ANNOTATIONS };

static const struct {
    const char *title;
    size_t nr;
    struct table_column columns[COLUMNS_MAX];
} sections[TABLES] = {
    [STEPS] = { "steps",
                13,
                { { "", TABLE_LEFT, TABLE_FIRM, 3 },
                  { "benchmark", TABLE_LEFT, TABLE_NAME, 0 },
                  { "machine", TABLE_LEFT, TABLE_NAME, 5 },
                  { "when", TABLE_LEFT, TABLE_FIRM, 1 },
                  { "commits", TABLE_LEFT, TABLE_FIRM, 4 },
                  { "before", TABLE_RIGHT, TABLE_FIRM, 7 },
                  { "after", TABLE_RIGHT, TABLE_FIRM, 6 },
                  { "change", TABLE_RIGHT, TABLE_FIRM, 0 },
                  { "95 % interval", TABLE_RIGHT, TABLE_FIRM, 9 },
                  { "p", TABLE_RIGHT, TABLE_FIRM, 11 },
                  { "q", TABLE_RIGHT, TABLE_FIRM, 10 },
                  { "state", TABLE_LEFT, TABLE_FIRM, 2 },
                  { "note", TABLE_LEFT, TABLE_PROSE, 8 } } },
    [WITHDRAWN] = { "withdrawn",
                    9,
                    { { "", TABLE_LEFT, TABLE_FIRM, 6 },
                      { "benchmark", TABLE_LEFT, TABLE_NAME, 0 },
                      { "machine", TABLE_LEFT, TABLE_NAME, 5 },
                      { "when", TABLE_LEFT, TABLE_FIRM, 1 },
                      { "before", TABLE_RIGHT, TABLE_FIRM, 4 },
                      { "after", TABLE_RIGHT, TABLE_FIRM, 3 },
                      { "change", TABLE_RIGHT, TABLE_FIRM, 0 },
                      { "told", TABLE_LEFT, TABLE_FIRM, 2 },
                      { "what became of it", TABLE_LEFT, TABLE_PROSE, 0 } } },
    [WATCH] = { "watch: not sure enough to be told as steps",
                8,
                { { "", TABLE_LEFT, TABLE_FIRM, 6 },
                  { "benchmark", TABLE_LEFT, TABLE_NAME, 0 },
                  { "machine", TABLE_LEFT, TABLE_NAME, 4 },
                  { "when", TABLE_LEFT, TABLE_FIRM, 1 },
                  { "before", TABLE_RIGHT, TABLE_FIRM, 3 },
                  { "after", TABLE_RIGHT, TABLE_FIRM, 2 },
                  { "change", TABLE_RIGHT, TABLE_FIRM, 0 },
                  { "p", TABLE_RIGHT, TABLE_FIRM, 5 } } },
    [DRIFTS] = { "drifts",
                 10,
                 { { "", TABLE_LEFT, TABLE_FIRM, 4 },
                   { "benchmark", TABLE_LEFT, TABLE_NAME, 0 },
                   { "machine", TABLE_LEFT, TABLE_NAME, 3 },
                   { "since", TABLE_LEFT, TABLE_FIRM, 1 },
                   { "points", TABLE_RIGHT, TABLE_FIRM, 2 },
                   { "drift in all", TABLE_RIGHT, TABLE_FIRM, 0 },
                   { "95 % interval", TABLE_RIGHT, TABLE_FIRM, 6 },
                   { "p", TABLE_RIGHT, TABLE_FIRM, 8 },
                   { "q", TABLE_RIGHT, TABLE_FIRM, 7 },
                   { "note", TABLE_LEFT, TABLE_PROSE, 5 } } },
    [QUIET] = { "quiet",
                10,
                { { "benchmark", TABLE_LEFT, TABLE_NAME, 0 },
                  { "machine", TABLE_LEFT, TABLE_NAME, 4 },
                  { "since", TABLE_LEFT, TABLE_FIRM, 3 },
                  { "points", TABLE_RIGHT, TABLE_FIRM, 1 },
                  { "noise", TABLE_RIGHT, TABLE_FIRM, 2 },
                  { "correlation", TABLE_RIGHT, TABLE_FIRM, 7 },
                  { "could see", TABLE_RIGHT, TABLE_FIRM, 0 },
                  { "p", TABLE_RIGHT, TABLE_FIRM, 9 },
                  { "q", TABLE_RIGHT, TABLE_FIRM, 8 },
                  { "two modes", TABLE_LEFT, TABLE_PROSE, 6 } } },
    [ANNOTATIONS] = { "annotations",
                      4,
                      { { "when", TABLE_LEFT, TABLE_FIRM, 1 },
                        { "run", TABLE_RIGHT, TABLE_FIRM, 0 },
                        { "commit", TABLE_LEFT, TABLE_FIRM, 2 },
                        { "annotation", TABLE_LEFT, TABLE_PROSE, 0 } } },
};

/* The series that are shown, and how they are called. */
struct naming {
    const struct benchmark_name **names;
    char **labels;
    size_t *label; /* of each trend: its place in labels */
    size_t nr;
    bool machines; /* there are several machine classes */
};

struct page {
    const struct trends *t;
    struct naming naming;
    struct trend_card *cards;     /* all, ranked; owned */
    size_t nr_cards, shown_cards; /* those that are shown as cards; the others are rows */
    struct table tables[TABLES];  /* by enum trend_section */
    char common[512];             /* what all labels leave out */
};

/* What is not listed among the quiet series. */
static bool trend_table_is_told(const struct trend *trend)
{
    return trend->kind == TREND_MOVED || trend->withdrawn.nr || trend->watch.found;
}

static bool trend_table_is_shown(const struct trend *trend, bool all)
{
    return !trend->hidden && (all || trend_table_is_told(trend));
}

static void trend_table_add_name(struct table *table, const struct page *page,
                                 const struct trend *trend)
{
    const struct naming *n = &page->naming;

    table_cell(table, TABLE_PLAIN, "%s", n->labels[n->label[trend - page->t->items]]);
    table_cell(table, TABLE_PLAIN, "%s", n->machines ? trend->series->machine : "");
}

static void trend_table_add_date(struct table *table, const struct trend *trend, size_t point)
{
    char when[TEXT_UNIT_SIZE];

    table_cell(table, TABLE_PLAIN, "%.10s",
               text_timestamp(trend->series->items[point].time_ms, when));
}

static void trend_table_add_sign(struct table *table, bool up, enum table_tone tone)
{
    table_cell(table, tone, "%s", up ? "▲" : "▼");
}

static void trend_table_add_value(struct table *table, const struct chart_metric *metric,
                                  double value)
{
    char text[QUANTITY_TEXT_SIZE];

    quantity_text(metric->quantity, metric->base, value * metric->factor, text);
    table_cell(table, TABLE_PLAIN, "%s", text);
}

static void trend_table_add_percent(struct table *table, enum table_tone tone, double change)
{
    char text[TEXT_UNIT_SIZE];

    table_cell(table, tone, "%s", text_percent(change, text));
}

static void trend_table_add_change(struct table *table, enum table_tone tone, double change,
                                   const struct interval *interval)
{
    trend_table_add_percent(table, tone, change);
    table_interval(table, interval);
}

static void trend_table_add_evidence(struct table *table, double p, double q)
{
    table_cell(table, TABLE_PLAIN, "%.2g", p);
    table_cell(table, TABLE_PLAIN, "%.2g", q);
}

/* Red and green are for what counts; the rest is dim. */
static enum table_tone trend_table_step_tone(const struct trend_step *step)
{
    if (step->back || step->epoch || step->accepted)
        return TABLE_DIM;
    return step->worse ? TABLE_BAD : TABLE_GOOD;
}

static void trend_table_add_step(struct page *page, const struct trend_row *row)
{
    struct chart_metric metric = chart_metric_of(page->t->settings.metric);
    const struct trend_step *step = row->step;
    enum table_tone tone = trend_table_step_tone(step);
    struct table *table = &page->tables[STEPS];
    struct strbuf text;

    table_row(table);
    trend_table_add_sign(table, step->change > 0, tone);
    trend_table_add_name(table, page, row->trend);
    trend_table_add_date(table, row->trend, step->index);
    strbuf_init(&text);
    trend_commits(page->t, row->trend, step, &text);
    table_cell(table, TABLE_PLAIN, "%s", text.data);
    trend_table_add_value(table, &metric, step->before);
    trend_table_add_value(table, &metric, step->after);
    trend_table_add_change(table, tone, step->change, &step->interval);
    trend_table_add_evidence(table, step->p, row->trend->q);
    strbuf_clear(&text);
    trend_state(page->t, row->trend, step, &text);
    table_cell(table, step->back ? TABLE_DIM : TABLE_PLAIN, "%s", text.data);
    strbuf_clear(&text);
    trend_note(page->t, row->trend, step, &text);
    table_cell(table, TABLE_PLAIN, "%s", text.data);
    strbuf_release(&text);
}

static void trend_table_add_withdrawn(struct page *page, const struct trend *trend,
                                      const struct trend_withdrawn *step)
{
    struct chart_metric metric = chart_metric_of(page->t->settings.metric);
    struct table *table = &page->tables[WITHDRAWN];
    struct strbuf text;

    table_row(table);
    trend_table_add_sign(table, step->change > 0, TABLE_DIM);
    trend_table_add_name(table, page, trend);
    trend_table_add_date(table, trend, step->index);
    trend_table_add_value(table, &metric, step->before);
    trend_table_add_value(table, &metric, step->after);
    trend_table_add_percent(table, TABLE_DIM, step->change);
    trend_table_add_date(table, trend, step->told - 1);
    strbuf_init(&text);
    trend_withdrawn_state(page->t, trend, step, &text);
    table_cell(table, TABLE_PLAIN, "%s", text.data);
    strbuf_release(&text);
}

static void trend_table_add_watch(struct page *page, const struct trend *trend)
{
    struct chart_metric metric = chart_metric_of(page->t->settings.metric);
    const struct trend_watch *watch = &trend->watch;
    struct table *table = &page->tables[WATCH];

    table_row(table);
    trend_table_add_sign(table, watch->change > 0, TABLE_PLAIN);
    trend_table_add_name(table, page, trend);
    trend_table_add_date(table, trend, watch->index);
    trend_table_add_value(table, &metric, watch->before);
    trend_table_add_value(table, &metric, watch->after);
    trend_table_add_percent(table, TABLE_PLAIN, watch->change);
    table_cell(table, TABLE_PLAIN, "%.2g", watch->p);
}

static void trend_table_add_drift(struct page *page, const struct trend *trend)
{
    const struct trend_drift *drift = &trend->drift;
    enum table_tone tone = drift->accepted ? TABLE_DIM : drift->worse ? TABLE_BAD : TABLE_GOOD;
    struct table *table = &page->tables[DRIFTS];

    table_row(table);
    trend_table_add_sign(table, drift->total > 0, tone);
    trend_table_add_name(table, page, trend);
    trend_table_add_date(table, trend, 0);
    table_cell(table, TABLE_PLAIN, "%zu", trend->series->nr);
    trend_table_add_change(table, tone, drift->total, &drift->interval);
    trend_table_add_evidence(table, drift->p, drift->q);
    if (drift->accepted)
        table_cell(table, TABLE_PLAIN, "accepted: %s", drift->accepted->reason);
}

static void trend_table_add_modes(struct table *table, const struct trends *t,
                                  const struct modes *modes)
{
    struct chart_metric metric = chart_metric_of(t->settings.metric);
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];

    if (!modes->visits)
        return;
    quantity_text(metric.quantity, metric.base, modes->low * metric.factor, low);
    quantity_text(metric.quantity, metric.base, modes->high * metric.factor, high);
    table_cell(table, TABLE_PLAIN, "%s and %s, %zu visits", low, high, modes->visits);
}

static void trend_table_add_quiet(struct page *page, const struct trend *trend)
{
    struct table *table = &page->tables[QUIET];
    char text[TEXT_UNIT_SIZE];

    table_row(table);
    trend_table_add_name(table, page, trend);
    if (trend->series->nr)
        trend_table_add_date(table, trend, 0);
    else
        table_cell(table, TABLE_PLAIN, "%s", "");
    table_cell(table, TABLE_PLAIN, "%zu", trend->series->nr);
    if (trend->kind == TREND_SHORT)
        return;
    table_cell(table, TABLE_PLAIN, "%.2f %%", trend->noise * 100);
    table_cell(table, TABLE_PLAIN, "%.2f", trend->correlation);
    if (isfinite(trend->detectable))
        table_cell(table, TABLE_PLAIN, "%s", text_about(trend->detectable, 2, text));
    else
        table_cell(table, TABLE_PLAIN, "?");
    trend_table_add_evidence(table, trend->p, trend->q);
    trend_table_add_modes(table, page->t, &trend->modes);
}

/* Newest first, as the steps are. */
static void trend_table_add_annotations(struct page *page)
{
    const struct trends *t = page->t;
    struct table *table = &page->tables[ANNOTATIONS];
    char when[TEXT_UNIT_SIZE];

    for (size_t i = t->records->nr_runs; i-- > 0;) {
        const struct run *run = &t->records->runs[i];
        for (size_t k = 0; k < t->settings.nr_annotations; k++) {
            if (t->settings.annotations[k].run != run->id)
                continue;
            table_row(table);
            table_cell(table, TABLE_PLAIN, "%.10s", text_timestamp(run->started_ms, when));
            table_cell(table, TABLE_PLAIN, "%lld", (long long)run->id);
            table_cell(table, TABLE_PLAIN, "%.7s", run->build.commit);
            table_cell(table, TABLE_PLAIN, "%s", t->settings.annotations[k].text);
        }
    }
}

/* What is a step no longer, or not yet. */
static void trend_table_add_provisional(struct page *page)
{
    const struct trends *t = page->t;

    for (size_t i = 0; i < t->nr; i++) {
        for (size_t k = 0; k < t->items[i].withdrawn.nr; k++)
            trend_table_add_withdrawn(page, &t->items[i], &t->items[i].withdrawn.items[k]);
        if (t->items[i].watch.found)
            trend_table_add_watch(page, &t->items[i]);
    }
}

static bool trend_table_is_card(const struct page *page, const struct trend *trend,
                                const struct trend_step *step)
{
    for (size_t i = 0; i < page->shown_cards; i++)
        if (page->cards[i].trend == trend && page->cards[i].step == step)
            return true;
    return false;
}

/* Steps and drifts that are no cards. */
static void trend_table_add_changes(struct page *page)
{
    const struct trends *t = page->t;
    struct trend_row *rows = trends_newest(t);

    for (size_t i = 0; i < t->steps; i++)
        if (!trend_table_is_card(page, rows[i].trend, rows[i].step))
            trend_table_add_step(page, &rows[i]);
    for (size_t i = 0; i < t->nr; i++)
        if (t->items[i].drifts && !trend_table_is_card(page, &t->items[i], NULL))
            trend_table_add_drift(page, &t->items[i]);
    free(rows);
}

static void trend_page_init(struct page *page, const struct trends *t, bool all, size_t cards)
{
    page->t = t;
    page->cards = trends_cards(t, &page->nr_cards);
    page->shown_cards = page->nr_cards < cards ? page->nr_cards : cards;
    page->naming.nr = 0;
    page->naming.machines = false;
    page->naming.names = memory_zeroed(t->nr + 1, sizeof(*page->naming.names));
    page->naming.label = memory_zeroed(t->nr + 1, sizeof(*page->naming.label));
    for (size_t i = 0; i < t->nr; i++) {
        const struct series *s = t->items[i].series;
        page->naming.machines |= strcmp(s->machine, t->items[0].series->machine) != 0;
        page->naming.label[i] = page->naming.nr;
        if (trend_table_is_shown(&t->items[i], all))
            page->naming.names[page->naming.nr++] = s->bench;
    }
    page->naming.labels = labels_create(page->naming.names, page->naming.nr);
    labels_common(page->naming.names, page->naming.nr, page->common, sizeof(page->common));
    for (int i = 0; i < TABLES; i++)
        table_init(&page->tables[i], sections[i].columns, sections[i].nr);
    trend_table_add_changes(page);
    trend_table_add_provisional(page);
    for (size_t i = 0; i < t->nr && all; i++)
        if (!t->items[i].hidden && t->items[i].kind != TREND_MOVED)
            trend_table_add_quiet(page, &t->items[i]);
    trend_table_add_annotations(page);
}

static void trend_page_release(struct page *page)
{
    for (int i = 0; i < TABLES; i++)
        table_release(&page->tables[i]);
    labels_free(page->naming.labels, page->naming.nr);
    free(page->cards);
    free(page->naming.names);
    free(page->naming.label);
}

/* As text where there are options, else as Markdown. */
static void trend_add_cards(const struct page *page, const struct trend_table_options *options,
                            struct strbuf *out)
{
    void (*escape)(struct strbuf *, const char *) = options ? escape_plain : escape_markdown;
    const struct naming *n = &page->naming;
    struct strbuf name;

    strbuf_init(&name);
    for (size_t i = 0; i < page->shown_cards; i++) {
        const struct trend *trend = page->cards[i].trend;
        strbuf_clear(&name);
        escape(&name, n->labels[n->label[trend - page->t->items]]);
        if (n->machines) {
            strbuf_adds(&name, options ? "  on " : " on ");
            escape(&name, trend->series->machine);
        }
        if (options || i == 0)
            strbuf_addc(out, '\n');
        if (options)
            trend_card_text(page->t, &page->cards[i], name.data,
                            &(struct trend_cards_options) { options->width, options->colour }, out);
        else
            trend_card_markdown(page->t, &page->cards[i], name.data, out);
    }
    strbuf_release(&name);
}

/* As text where there are options, else as Markdown. */
static void trend_add_tables(const struct page *page, const struct trend_table_options *options,
                             struct strbuf *out)
{
    for (int i = 0; i < TABLES; i++) {
        const struct table *table = &page->tables[i];
        const char *title = sections[i].title;
        int capital = toupper((unsigned char)title[0]);
        if (table_rows(table) == 0)
            continue;
        if (options) {
            strbuf_addf(out, "\n%s\n", title);
            table_text(table, options->width, options->colour, out);
        } else {
            strbuf_addf(out, "\n### %c%s\n\n", capital, title + 1);
            table_markdown(table, out);
        }
    }
}

static void trend_table(const struct trends *t, const struct trend_table_options *options,
                        bool markdown, struct strbuf *out)
{
    void (*escape)(struct strbuf *, const char *) = markdown ? escape_markdown : escape_plain;
    struct page page;

    trend_page_init(&page, t, options->all, options->all ? SIZE_MAX : CARDS);
    strbuf_adds(out, markdown ? "**" : "");
    trend_summary_head(t, out);
    strbuf_adds(out, markdown ? "**\n" : "\n");
    trend_summary_unfit(t, escape, out);
    if (page.naming.nr && page.common[0]) {
        strbuf_adds(out, markdown ? "\nAll: " : "\nall: ");
        escape(out, page.common);
        strbuf_addc(out, '\n');
    }
    trend_add_cards(&page, markdown ? NULL : options, out);
    trend_add_tables(&page, markdown ? NULL : options, out);
    strbuf_addc(out, '\n');
    trend_summary_foot(t, out);
    trend_page_release(&page);
}

void trend_table_text(const struct trends *t, const struct trend_table_options *options,
                      struct strbuf *out)
{
    trend_table(t, options, false, out);
}

void trend_table_markdown(const struct trends *t, const struct trend_table_options *options,
                          struct strbuf *out)
{
    trend_table(t, options, true, out);
}
