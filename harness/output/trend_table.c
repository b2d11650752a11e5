/* SPDX-License-Identifier: MIT */
#include "output/trend_table.h"

#include "analysis/label.h"
#include "base/memory.h"
#include "base/text.h"
#include "output/chart.h"
#include "output/escape.h"
#include "output/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct table_column step_columns[] = {
    { "", TABLE_LEFT, false },
    { "benchmark", TABLE_LEFT, true },
    { "machine", TABLE_LEFT, true },
    { "when", TABLE_LEFT, false },
    { "commits", TABLE_LEFT, false },
    { "before", TABLE_RIGHT, false },
    { "after", TABLE_RIGHT, false },
    { "change", TABLE_RIGHT, false },
    { "95 % interval", TABLE_RIGHT, false },
    { "p", TABLE_RIGHT, false },
    { "q", TABLE_RIGHT, false },
    { "state", TABLE_LEFT, false },
    { "note", TABLE_LEFT, true },
};

static const struct table_column drift_columns[] = {
    { "", TABLE_LEFT, false },
    { "benchmark", TABLE_LEFT, true },
    { "machine", TABLE_LEFT, true },
    { "since", TABLE_LEFT, false },
    { "points", TABLE_RIGHT, false },
    { "drift in all", TABLE_RIGHT, false },
    { "95 % interval", TABLE_RIGHT, false },
    { "p", TABLE_RIGHT, false },
    { "q", TABLE_RIGHT, false },
};

static const struct table_column quiet_columns[] = {
    { "benchmark", TABLE_LEFT, true }, { "machine", TABLE_LEFT, true },
    { "since", TABLE_LEFT, false },    { "points", TABLE_RIGHT, false },
    { "noise", TABLE_RIGHT, false },   { "correlation", TABLE_RIGHT, false },
    { "p", TABLE_RIGHT, false },       { "q", TABLE_RIGHT, false },
    { "two modes", TABLE_LEFT, true },
};

static const struct table_column remark_columns[] = {
    { "when", TABLE_LEFT, false },
    { "run", TABLE_RIGHT, false },
    { "commit", TABLE_LEFT, false },
    { "annotation", TABLE_LEFT, true },
};

#define NR(columns) (sizeof(columns) / sizeof((columns)[0]))

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
    struct table steps, drifts, quiet, remarks;
    char common[512]; /* what all labels leave out */
};

static bool is_shown(const struct trend *trend, bool all)
{
    return !trend->hidden && (all || trend->kind == TREND_MOVED);
}

static void naming_init(struct naming *n, const struct trends *t, bool all)
{
    n->nr = 0;
    n->machines = false;
    n->names = memory_zeroed(t->nr + 1, sizeof(*n->names));
    n->label = memory_zeroed(t->nr + 1, sizeof(*n->label));
    for (size_t i = 0; i < t->nr; i++) {
        const struct series *s = t->items[i].series;
        n->machines |= strcmp(s->machine, t->items[0].series->machine) != 0;
        n->label[i] = n->nr;
        if (is_shown(&t->items[i], all))
            n->names[n->nr++] = s->bench;
    }
    n->labels = labels_create(n->names, n->nr);
}

static void naming_release(struct naming *n)
{
    labels_free(n->labels, n->nr);
    free(n->names);
    free(n->label);
}

static void add_name(struct table *table, const struct page *page, const struct trend *trend)
{
    const struct naming *n = &page->naming;

    table_cell(table, TABLE_PLAIN, "%s", n->labels[n->label[trend - page->t->items]]);
    table_cell(table, TABLE_PLAIN, "%s", n->machines ? trend->series->machine : "");
}

static void add_date(struct table *table, const struct trend *trend, size_t point)
{
    char when[TEXT_UNIT_SIZE];

    table_cell(table, TABLE_PLAIN, "%.10s",
               text_timestamp(trend->series->items[point].time_ms, when));
}

static void add_sign(struct table *table, bool up, enum table_tone tone)
{
    table_cell(table, tone, "%s", up ? "▲" : "▼");
}

static void add_value(struct table *table, const struct chart_metric *metric, double value)
{
    char text[QUANTITY_TEXT_SIZE];

    quantity_text(metric->quantity, metric->base, value * metric->factor, text);
    table_cell(table, TABLE_PLAIN, "%s", text);
}

static void add_change(struct table *table, enum table_tone tone, double change,
                       const struct interval *interval)
{
    char text[TEXT_UNIT_SIZE];

    table_cell(table, tone, "%s", text_percent(change, text));
    table_interval(table, interval);
}

static void add_evidence(struct table *table, double p, double q)
{
    table_cell(table, TABLE_PLAIN, "%.2g", p);
    table_cell(table, TABLE_PLAIN, "%.2g", q);
}

/* Red and green are for what counts; the rest is dim. */
static enum table_tone step_tone(const struct trend_step *step)
{
    if (step->back || step->epoch || step->accepted)
        return TABLE_DIM;
    return step->worse ? TABLE_BAD : TABLE_GOOD;
}

static void add_step(struct page *page, const struct trend_row *row)
{
    struct chart_metric metric = chart_metric_of(page->t->settings.metric);
    const struct trend_step *step = row->step;
    enum table_tone tone = step_tone(step);
    struct table *table = &page->steps;
    struct strbuf text;

    table_row(table);
    add_sign(table, step->change > 0, tone);
    add_name(table, page, row->trend);
    add_date(table, row->trend, step->index);
    strbuf_init(&text);
    trend_commits(page->t, row->trend, step, &text);
    table_cell(table, TABLE_PLAIN, "%s", text.data);
    add_value(table, &metric, step->before);
    add_value(table, &metric, step->after);
    add_change(table, tone, step->change, &step->interval);
    add_evidence(table, step->p, row->trend->q);
    strbuf_clear(&text);
    trend_state(page->t, row->trend, step, &text);
    table_cell(table, step->back ? TABLE_DIM : TABLE_PLAIN, "%s", text.data);
    strbuf_clear(&text);
    trend_note(page->t, row->trend, step, &text);
    table_cell(table, TABLE_PLAIN, "%s", text.data);
    strbuf_release(&text);
}

static void add_drift(struct page *page, const struct trend *trend)
{
    const struct trend_drift *drift = &trend->drift;
    enum table_tone tone = drift->worse ? TABLE_BAD : TABLE_GOOD;
    struct table *table = &page->drifts;

    table_row(table);
    add_sign(table, drift->total > 0, tone);
    add_name(table, page, trend);
    add_date(table, trend, 0);
    table_cell(table, TABLE_PLAIN, "%zu", trend->series->nr);
    add_change(table, tone, drift->total, &drift->interval);
    add_evidence(table, drift->p, drift->q);
}

static void add_modes(struct table *table, const struct trends *t, const struct modes *modes)
{
    struct chart_metric metric = chart_metric_of(t->settings.metric);
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];

    if (!modes->visits)
        return;
    quantity_text(metric.quantity, metric.base, modes->low * metric.factor, low);
    quantity_text(metric.quantity, metric.base, modes->high * metric.factor, high);
    table_cell(table, TABLE_PLAIN, "%s and %s, %zu visits", low, high, modes->visits);
}

static void add_quiet(struct page *page, const struct trend *trend)
{
    struct table *table = &page->quiet;

    table_row(table);
    add_name(table, page, trend);
    add_date(table, trend, 0);
    table_cell(table, TABLE_PLAIN, "%zu", trend->series->nr);
    if (trend->kind == TREND_SHORT)
        return;
    table_cell(table, TABLE_PLAIN, "%.2f %%", trend->noise * 100);
    table_cell(table, TABLE_PLAIN, "%.2f", trend->correlation);
    add_evidence(table, trend->p, trend->q);
    add_modes(table, page->t, &trend->modes);
}

/* Newest first, as the steps are. */
static void add_remarks(struct page *page)
{
    const struct trends *t = page->t;
    struct table *table = &page->remarks;
    char when[TEXT_UNIT_SIZE];

    for (size_t i = t->records->nr_runs; i-- > 0;) {
        const struct run *run = &t->records->runs[i];
        for (size_t k = 0; k < t->settings.nr_remarks; k++) {
            if (t->settings.remarks[k].run != run->id)
                continue;
            table_row(table);
            table_cell(table, TABLE_PLAIN, "%.10s", text_timestamp(run->started_ms, when));
            table_cell(table, TABLE_PLAIN, "%lld", (long long)run->id);
            table_cell(table, TABLE_PLAIN, "%.7s", run->build.commit);
            table_cell(table, TABLE_PLAIN, "%s", t->settings.remarks[k].text);
        }
    }
}

static void page_init(struct page *page, const struct trends *t, bool all)
{
    struct trend_row *rows = trends_newest(t);

    page->t = t;
    naming_init(&page->naming, t, all);
    labels_common(page->naming.names, page->naming.nr, page->common, sizeof(page->common));
    table_init(&page->steps, step_columns, NR(step_columns));
    table_init(&page->drifts, drift_columns, NR(drift_columns));
    table_init(&page->quiet, quiet_columns, NR(quiet_columns));
    table_init(&page->remarks, remark_columns, NR(remark_columns));
    for (size_t i = 0; i < t->steps; i++)
        add_step(page, &rows[i]);
    for (size_t i = 0; i < t->nr; i++)
        if (t->items[i].drifts)
            add_drift(page, &t->items[i]);
    for (size_t i = 0; i < t->nr; i++)
        if (is_shown(&t->items[i], all) && t->items[i].kind != TREND_MOVED)
            add_quiet(page, &t->items[i]);
    add_remarks(page);
    free(rows);
}

static void page_release(struct page *page)
{
    table_release(&page->steps);
    table_release(&page->drifts);
    table_release(&page->quiet);
    table_release(&page->remarks);
    naming_release(&page->naming);
}

static const char *plural(size_t nr)
{
    return nr == 1 ? "" : "s";
}

/* "3 steps in 2 series, no drift; 209 series quiet, 3 too short (under 10 points)" */
static void add_head(const struct trends *t, struct strbuf *out)
{
    if (t->steps)
        strbuf_addf(out, "%zu step%s in %zu series, ", t->steps, plural(t->steps), t->moved);
    else
        strbuf_adds(out, "no step, ");
    if (t->drifts)
        strbuf_addf(out, "%zu drift%s; ", t->drifts, plural(t->drifts));
    else
        strbuf_adds(out, "no drift; ");
    strbuf_addf(out, "%zu series quiet", t->count[TREND_QUIET]);
    if (t->modes)
        strbuf_addf(out, ", %zu with two modes", t->modes);
    if (t->count[TREND_SHORT])
        strbuf_addf(out, ", %zu too short (under %zu points)", t->count[TREND_SHORT],
                    t->points_min);
    strbuf_addf(out, "  (%s)", t->settings.metric->label);
}

static bool fits_any(const struct trends *t, const char *filter)
{
    for (size_t i = 0; i < t->nr; i++)
        if (text_filter_matches(filter, t->items[i].series->bench->key))
            return true;
    return false;
}

/* Filters that let nothing through, if there is anything at all. */
static void add_unfit(const struct trends *t, void (*escape)(struct strbuf *, const char *),
                      struct strbuf *out)
{
    for (size_t i = 0; t->nr && i < t->settings.nr_filters; i++) {
        if (fits_any(t, t->settings.filters[i]))
            continue;
        strbuf_addf(out, "\nno series of %zu fits \"", t->nr);
        escape(out, t->settings.filters[i]);
        strbuf_adds(out, "\"\n");
    }
}

/* How far the above can be trusted. */
static void add_chance(const struct trends *t, struct strbuf *out)
{
    if (t->family)
        strbuf_addf(out, "%zu series looked at, chance alone would give %.2g alarms", t->family,
                    t->chance);
    else
        strbuf_adds(out, "no series is long enough to be judged");
    if (t->small)
        strbuf_addf(out, "; %zu step%s smaller than %.3g %% left out", t->small, plural(t->small),
                    t->settings.delta * 100);
    if (t->unmerged)
        strbuf_addf(out, "; %zu run%s of other branches not searched", t->unmerged,
                    plural(t->unmerged));
}

static void add_text_table(const struct table *table, const char *title,
                           const struct trend_table_options *options, struct strbuf *out)
{
    if (table_rows(table) == 0)
        return;
    strbuf_addf(out, "\n%s\n", title);
    table_text(table, options->width, options->colour, out);
}

void trend_table_text(const struct trends *t, const struct trend_table_options *options,
                      struct strbuf *out)
{
    struct page page;

    page_init(&page, t, options->all);
    add_head(t, out);
    strbuf_addc(out, '\n');
    add_unfit(t, escape_plain, out);
    if (page.naming.nr && page.common[0]) {
        strbuf_adds(out, "\nall: ");
        escape_plain(out, page.common);
        strbuf_addc(out, '\n');
    }
    add_text_table(&page.steps, "steps", options, out);
    add_text_table(&page.drifts, "drifts", options, out);
    add_text_table(&page.quiet, "quiet", options, out);
    add_text_table(&page.remarks, "annotations", options, out);
    strbuf_addc(out, '\n');
    add_chance(t, out);
    strbuf_addc(out, '\n');
    page_release(&page);
}

static void add_markdown_table(const struct table *table, const char *title, struct strbuf *out)
{
    if (table_rows(table) == 0)
        return;
    strbuf_addf(out, "\n### %s\n\n", title);
    table_markdown(table, out);
}

void trend_table_markdown(const struct trends *t, const struct trend_table_options *options,
                          struct strbuf *out)
{
    struct page page;

    page_init(&page, t, options->all);
    strbuf_adds(out, "**");
    add_head(t, out);
    strbuf_adds(out, "**\n");
    add_unfit(t, escape_markdown, out);
    if (page.naming.nr && page.common[0]) {
        strbuf_adds(out, "\nAll: ");
        escape_markdown(out, page.common);
        strbuf_addc(out, '\n');
    }
    add_markdown_table(&page.steps, "Steps", out);
    add_markdown_table(&page.drifts, "Drifts", out);
    add_markdown_table(&page.quiet, "Quiet", out);
    add_markdown_table(&page.remarks, "Annotations", out);
    strbuf_addc(out, '\n');
    add_chance(t, out);
    strbuf_addc(out, '\n');
    page_release(&page);
}
