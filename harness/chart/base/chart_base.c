/* SPDX-License-Identifier: MIT */
#include "chart/base/chart_base.h"

#include "base/digest.h"
#include "base/memory.h"
#include "base/text.h"
#include "metrics/label.h"
#include "text/shorten.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void chart_places_init(struct chart_places *places, const void *owner, chart_place_fn *is,
                       size_t most)
{
    *places = (struct chart_places) { .owner = owner, .is = is, .nr = 2 * most + 1 };
    places->slots = memory_zeroed(places->nr, sizeof(*places->slots));
}

size_t *chart_place(struct chart_places *places, const char *key, size_t run)
{
    struct digest d;

    digest_init(&d);
    digest_add_text(&d, key);
    digest_add(&d, &run, sizeof(run));
    for (size_t i = (size_t)d.low;; i++) {
        size_t *slot = &places->slots[i % places->nr];
        if (*slot == 0 || places->is(places->owner, *slot - 1, key, run))
            return slot;
    }
}

void chart_places_release(struct chart_places *places)
{
    free(places->slots);
}

int chart_check_metric(const struct preset *preset, struct error *err)
{
    return preset->y ? 0 : error_set(err, "\"y\" must name a metric, parameter or expression");
}

size_t chart_nr_runs(const struct chart *chart)
{
    return chart->runs ? chart->nr_runs : chart->run >= 0;
}

const char *chart_run_name(const struct chart *chart, size_t nth)
{
    return chart->runs && chart->run_names && nth < chart->nr_runs ? chart->run_names[nth] : "";
}

const struct run *chart_run(const struct chart *chart, size_t nth)
{
    return &chart->records->runs[chart->runs ? chart->runs[nth] : chart->run];
}

void chart_take(char **member, struct strbuf *text)
{
    free(*member);
    *member = strbuf_detach(text);
}

void range_include(struct range *range, double value)
{
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static void chart_add_part(struct strbuf *sb, const char *text)
{
    if (*text)
        strbuf_addf(sb, "%s%s", sb->length ? "  ·  " : "", text);
}

static const char *chart_machine_of(const struct run *run)
{
    return run->machine.gpu[0] ? run->machine.gpu : run->machine.cpu;
}

static void chart_add_run(struct strbuf *sb, const struct run *run)
{
    char text[COMMIT_SIZE + 32];

    chart_add_part(sb, chart_machine_of(run));
    snprintf(text, sizeof(text), "commit %.9s%s", run->build.commit,
             run->build.dirty ? " (dirty)" : "");
    if (run->build.commit[0])
        chart_add_part(sb, text);
    chart_add_part(sb, text_timestamp(run->started_ms, text));
}

/* The machine, if it is one; names, if they are few. */
static void chart_add_runs(struct strbuf *sb, const struct chart *chart)
{
    bool one_machine = true, named = chart->run_names != NULL;
    size_t length = 0;

    for (size_t i = 0; i < chart->nr_runs; i++) {
        one_machine &= strcmp(chart_machine_of(chart_run(chart, i)),
                              chart_machine_of(chart_run(chart, 0))) == 0;
        length += strlen(chart_run_name(chart, i)) + 2;
    }
    if (one_machine)
        chart_add_part(sb, chart_machine_of(chart_run(chart, 0)));
    strbuf_addf(sb, "%s%zu runs", sb->length ? "  ·  " : "", chart->nr_runs);
    for (size_t i = 0; named && length < 90 && i < chart->nr_runs; i++)
        strbuf_addf(sb, "%s%s", i ? ", " : ": ", chart_run_name(chart, i));
}

void chart_subtitle(struct figure *f, const struct chart *chart, const struct chart_items *items)
{
    struct strbuf sb;

    strbuf_init(&sb);
    const struct benchmark_name **names = memory_zeroed(items->nr + 1, sizeof(*names));
    char common[512] = "";
    for (size_t i = 0; i < items->nr; i++)
        names[i] = items->items[i].bench;
    if (items->nr > 1)
        labels_common(names, items->nr, common, sizeof(common));
    free(names);
    chart_add_part(&sb, common);
    if (chart_nr_runs(chart) > 1)
        chart_add_runs(&sb, chart);
    else
        chart_add_run(&sb, chart_run(chart, 0));
    chart_take(&f->subtitle, &sb);
}

static void chart_add_outcomes(struct strbuf *sb, const struct chart_items *items)
{
    const size_t *nr = items->outcomes;
    size_t absent = nr[OUTCOME_UNSUPPORTED] + nr[OUTCOME_WRONG] + nr[OUTCOME_FAILED];
    const char *comma = "";

    if (!absent)
        return;
    strbuf_addf(sb, "%sWithout a time, so not shown: ", sb->length ? " " : "");
    for (int i = OUTCOME_UNSUPPORTED; i < OUTCOME_NR; i++) {
        if (!nr[i])
            continue;
        strbuf_addf(sb, "%s%zu %s", comma, nr[i], outcome_name((enum outcome)i));
        comma = ", ";
    }
    strbuf_addc(sb, '.');
}

void chart_caption(struct figure *f, const struct chart_items *items, const char *which,
                   const char *how, ...)
{
    char words[4096];
    struct strbuf sb;
    va_list args;

    va_start(args, how);
    vsnprintf(words, sizeof(words), how, args);
    va_end(args);
    strbuf_init(&sb);
    strbuf_adds(&sb, words);
    if (items->left_out)
        strbuf_addf(&sb, " Showing %zu of %zu: %s.", items->nr, items->nr + items->left_out, which);
    if (items->chart->runs_left_out)
        strbuf_addf(&sb, " Of %zu runs the last %zu.",
                    items->chart->nr_runs + items->chart->runs_left_out, items->chart->nr_runs);
    /* Whoever looks closer at a line than a percentile should know what it is. */
    size_t thinned = 0;
    for (size_t i = 0; i < items->nr; i++)
        thinned += items->items[i].summary->m->thinned;
    if (thinned)
        strbuf_addf(&sb,
                    "%sOf %zu of %zu only a summary of the samples is kept: the "
                    "percentiles of a launch are exact, between them lie straight lines.",
                    sb.length ? " " : "", thinned, items->nr);
    chart_add_outcomes(&sb, items);
    chart_take(&f->caption, &sb);
}

void chart_conclude(struct figure *f, const struct chart *chart, const char *format, ...)
{
    char words[512];
    va_list args;

    if (chart->preset->from)
        return;
    va_start(args, format);
    vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    figure_set(&f->title, "%s%s %s", chart->preset->title,
               strchr(chart->preset->title, ':') ? "," : ":", words);
}

const char *chart_variant_of(const struct benchmark_name *name)
{
    return strcmp(name->variant, "-") != 0 ? name->variant : "";
}

char *chart_name_of(const struct benchmark_name *name, char text[CHART_NAME_SIZE])
{
    enum { KERNEL_WIDTH = 40, VARIANT_WIDTH = 30 };
    char *kernel = shorten_text(name->kernel, KERNEL_WIDTH);
    char *variant = shorten_text(chart_variant_of(name), VARIANT_WIDTH);

    snprintf(text, CHART_NAME_SIZE, "%s%s%s", kernel, *variant ? " " : "", variant);
    free(kernel);
    free(variant);
    return text;
}

void chart_absent(struct figure *f, const char *format, ...)
{
    char reason[512];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    figure_set(&f->reason, "%s", reason);
}

void chart_absent_base(struct figure *f)
{
    chart_absent(f, "there is no base to compare with; name one, or save a baseline");
}

/* What is said of a run none of whose benchmarks the preset takes; globs may follow. */
static const char *chart_base_left(const struct preset *preset)
{
    if (preset->filter.nr)
        return preset->only ? " in the range matches " : " matches ";
    return preset->only ? " is in the range" : " was measured";
}

void chart_absent_items(struct figure *f, const struct chart *chart,
                        const struct chart_items *items)
{
    struct strbuf sb;
    size_t any = 0;

    for (int i = 0; i < OUTCOME_NR; i++)
        any += items->outcomes[i];
    if (chart->run < 0) {
        chart_absent(f, "there is no run");
        return;
    }
    strbuf_init(&sb);
    if (any) {
        chart_add_outcomes(&sb, items);
        chart_absent(f, "no benchmark has a time. %s", sb.data);
    } else {
        for (size_t i = 0; i < chart->preset->filter.nr; i++)
            strbuf_addf(&sb, "%s%s", i ? ", " : "", chart->preset->filter.items[i]);
        chart_absent(f, "no benchmark of the run%s%s", chart_base_left(chart->preset), sb.data);
    }
    strbuf_release(&sb);
}

void chart_about(struct figure *f, const struct chart_item *item)
{
    figure_about(f, item ? item->bench->key : NULL, item ? item->of->uuid : NULL);
}

struct chart_line chart_line(struct panel *p, const char *label, size_t nth)
{
    struct chart_line l = { panel_layer(p, MARK_INTERVALS, NULL), panel_layer(p, MARK_LINE, label),
                            panel_layer(p, MARK_POINTS, label) };

    style_nth(&l.line->style, nth);
    style_nth(&l.points->style, nth);
    l.spread->style = l.line->style;
    l.spread->style.width = 1;
    l.spread->style.dash = DASH_SOLID;
    return l;
}

void chart_line_add(const struct chart_line *line, double x, struct chart_value v)
{
    layer_add(line->line, x, v.value);
    layer_add(line->points, x, v.value);
    if (isfinite(v.low) && isfinite(v.high))
        layer_add_interval(line->spread, x, v.low, v.high);
}

static bool chart_bars_touch(const struct layer *a, const struct layer *b)
{
    for (size_t i = 0; i < a->nr; i++)
        for (size_t k = 0; k < b->nr; k++)
            if (a->items[i].x == b->items[k].x && a->items[i].low <= b->items[k].high &&
                b->items[k].low <= a->items[i].high)
                return true;
    return false;
}

/* Do bars of two lines lie on each other? */
static bool chart_line_touches(const struct panel *p)
{
    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->mark == MARK_INTERVALS && k < i; k++)
            if (p->layers[k]->mark == MARK_INTERVALS &&
                chart_bars_touch(p->layers[i], p->layers[k]))
                return true;
    return false;
}

void chart_lines_apart(struct panel *p)
{
    static const double step = 5, room = 24; /* pixels */
    size_t lines = 0, nth = 0;

    for (size_t i = 0; i < p->nr; i++)
        lines += p->layers[i]->mark == MARK_INTERVALS;
    if (!chart_line_touches(p))
        return;
    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->mark == MARK_INTERVALS)
            p->layers[i]->shift =
                ((double)nth++ - (double)(lines - 1) / 2) * fmin(step, room / (double)(lines - 1));
}

size_t chart_names_index(struct chart_names *names, const char *name)
{
    for (size_t i = 0; i < names->nr; i++)
        if (strcmp(names->names[i], name) == 0)
            return i;
    if (names->nr == sizeof(names->names) / sizeof(names->names[0]))
        return names->nr - 1; /* more than can be told apart anyway */
    names->names[names->nr] = name;
    return names->nr++;
}

bool preset_takes(const struct preset *preset, const char *key)
{
    return (!preset->only || string_list_has_sorted(preset->only, key)) &&
           text_filters_take((const char *const *)preset->filter.items, preset->filter.nr, key);
}
