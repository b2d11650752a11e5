/* SPDX-License-Identifier: MIT */
#include "output/chart.h"

#include "analysis/label.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct plot_type types[] = {
    { "bars", "one bar a benchmark, with whiskers", build_bars, chart_check_metric },
    { "percentiles", "min to max of each benchmark as a line", build_percentiles, NULL },
    { "roofline", "performance against measured ceilings", build_roofline, NULL },
    { "heatmap", "batch against sequence length, coloured", build_heatmap, chart_check_metric },
    { "dumbbell", "change of each benchmark against the base", build_dumbbell, NULL },
    { "trend", "history, one panel a benchmark", build_trend, NULL },
    { "architecture", "layers, heads, width, parameters of models", build_architecture, NULL },
    { "lines", "a metric over a dim", build_lines, chart_check_metric },
    { "scatter", "a metric over another", build_scatter, chart_check_metric },
    { 0 },
};

const struct plot_type *plot_type_at(size_t i)
{
    return i < sizeof(types) / sizeof(types[0]) - 1 ? &types[i] : NULL;
}

const struct plot_type *plot_type_find(const char *name, struct error *err)
{
    const char *names[sizeof(types) / sizeof(types[0])] = { NULL };

    for (size_t i = 0; types[i].name; i++) {
        names[i] = types[i].name;
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    }
    const char *nearest = text_nearest(name, names);
    error_set(err, "unknown plot type \"%.60s\"; did you mean \"%s\"?", name,
              nearest ? nearest : names[0]);
    return NULL;
}

int chart_check_metric(const struct preset *preset, struct error *err)
{
    if (!preset->y)
        return error_set(err, "\"y\" must name a metric");
    return metric_find(preset->y, err) ? 0 : -1;
}

static void name_items(struct chart_items *items)
{
    const struct benchmark_name **names = memory_zeroed(items->nr + 1, sizeof(*names));

    for (size_t i = 0; i < items->nr; i++)
        names[i] = items->items[i].bench;
    labels_free(items->labels, items->nr_labels);
    items->labels = items->nr ? labels_create(names, items->nr) : NULL;
    items->nr_labels = items->nr;
    for (size_t i = 0; i < items->nr; i++)
        items->items[i].label = items->labels[i];
    free(names);
}

void chart_items_init(struct chart_items *items, const struct chart *chart)
{
    *items = (struct chart_items) { 0 };
    run_rows_init(&items->rows, chart->records, chart->run);
    items->context = items->rows.context;
    for (size_t i = 0; i < items->rows.nr; i++) {
        const struct run_row *row = &items->rows.items[i];
        if (!preset_takes(chart->preset, row->bench->key))
            continue;
        items->outcomes[row->summary.n ? OUTCOME_OK : row->outcome]++;
        if (row->summary.n)
            *array_push(items) = (struct chart_item) { row->bench, &row->summary, NULL };
    }
    name_items(items);
}

void chart_items_release(struct chart_items *items)
{
    array_release(items);
    labels_free(items->labels, items->nr_labels);
    run_rows_release(&items->rows);
}

size_t chart_limit(const struct preset *preset, size_t otherwise)
{
    size_t limit = preset->limit > 0 ? (size_t)preset->limit : otherwise;

    return limit < LIMIT_ROWS_MAX ? limit : LIMIT_ROWS_MAX;
}

double chart_item_median(const struct chart_item *item)
{
    return stats_quantile(item->summary->sorted, item->summary->n, 0.5);
}

static size_t count_kernel(const struct chart_items *items, const char *kernel)
{
    size_t nr = 0;

    for (size_t i = 0; i < items->nr; i++)
        nr += strcmp(items->items[i].bench->kernel, kernel) == 0;
    return nr;
}

/* The lightest item of the kernel that has most. */
static size_t least_missed(const struct chart_items *items,
                           double (*weight)(const struct chart_item *item))
{
    size_t least = 0, most = 0;

    for (size_t i = 0; i < items->nr; i++) {
        size_t nr = count_kernel(items, items->items[i].bench->kernel);
        if (nr > most || (nr == most && weight(&items->items[i]) < weight(&items->items[least]))) {
            most = nr;
            least = i;
        }
    }
    return least;
}

void chart_items_limit(struct chart_items *items, size_t limit,
                       double (*weight)(const struct chart_item *item))
{
    while (items->nr > limit) {
        size_t least = least_missed(items, weight);
        items->nr--;
        items->left_out++;
        memmove(&items->items[least], &items->items[least + 1],
                (items->nr - least) * sizeof(items->items[0]));
    }
    if (items->left_out)
        name_items(items);
}

struct chart_metric chart_metric_of(const struct metric *metric)
{
    static const struct {
        const char *unit;
        enum quantity quantity;
        const char *base;
        double factor;
    } rows[] = {
        { "ns", QUANTITY_TIME, "", 1 },        { "GFLOP/s", QUANTITY_RATE, "FLOP/s", 1e9 },
        { "GB/s", QUANTITY_RATE, "B/s", 1e9 }, { "tokens/s", QUANTITY_RATE, " tokens/s", 1 },
        { "fraction", QUANTITY_SHARE, "", 1 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].unit, metric->unit) == 0)
            return (struct chart_metric) { metric, rows[i].quantity, rows[i].base, rows[i].factor };
    return (struct chart_metric) { metric, QUANTITY_PLAIN, metric->unit, 1 };
}

struct chart_value chart_value_of(const struct chart_metric *metric, const struct chart_item *item,
                                  const struct metric_context *context)
{
    const struct summary *s = item->summary;
    struct metric_value v = metric_value(metric->metric, s, context);
    struct chart_value value = { v.value * metric->factor, NAN, NAN, v.few };
    double p5 = stats_quantile(s->sorted, s->n, 0.05), p50 = stats_quantile(s->sorted, s->n, 0.5);
    double p95 = stats_quantile(s->sorted, s->n, 0.95);

    if (metric->metric->kind == METRIC_LATENCY) {
        value.low = p5;
        value.high = p95;
    } else if (metric->metric->kind == METRIC_RATE) { /* a slow sample is a low rate */
        value.low = value.value * p50 / p95;
        value.high = value.value * p50 / p5;
    }
    return value;
}

enum axis_scale chart_scale(const struct preset *preset, double low, double high)
{
    if (preset->y_scale != SCALE_AUTO)
        return preset->y_scale == SCALE_LOG ? AXIS_LOG : AXIS_LINEAR;
    return low > 0 && high > 50 * low ? AXIS_LOG : AXIS_LINEAR;
}

struct figure *chart_figure(const struct chart *chart)
{
    struct figure *f = figure_create(chart->preset->name, chart->preset->title);

    f->no_legend = !chart->preset->show_legend;
    return f;
}

struct figure *chart_build(const struct chart *chart)
{
    return chart->preset->type->build(chart);
}

void chart_subtitle(struct figure *f, const struct chart *chart, const struct chart_items *items)
{
    const struct benchmark_name **names = memory_zeroed(items->nr + 1, sizeof(*names));
    const struct run *run = &chart->records->runs[chart->run];
    char common[512] = "", when[TEXT_UNIT_SIZE];

    for (size_t i = 0; i < items->nr; i++)
        names[i] = items->items[i].bench;
    if (items->nr > 1)
        labels_common(names, items->nr, common, sizeof(common));
    free(names);
    const char *machine = run->machine.gpu[0] ? run->machine.gpu : run->machine.cpu;
    figure_set(&f->subtitle, "%s%s%s%s%.9s%s%s%s", common, common[0] ? "  ·  " : "", machine,
               run->build.commit[0] ? "  ·  commit " : "", run->build.commit,
               run->build.dirty ? " (dirty)" : "",
               machine[0] || run->build.commit[0] ? "  ·  " : "",
               text_timestamp(run->started_ms, when));
}

static void add_outcomes(struct strbuf *sb, const struct chart_items *items)
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

void chart_caption(struct figure *f, const struct chart_items *items, const char *how,
                   const char *which)
{
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb, how);
    if (items->left_out)
        strbuf_addf(&sb, " Showing %zu of %zu: %s.", items->nr, items->nr + items->left_out, which);
    add_outcomes(&sb, items);
    figure_set(&f->caption, "%s", sb.data);
    strbuf_release(&sb);
}

struct figure *chart_absent(struct figure *f, const char *format, ...)
{
    char reason[512];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    figure_set(&f->reason, "%s", reason);
    return f;
}

struct figure *chart_absent_items(struct figure *f, const struct chart *chart,
                                  const struct chart_items *items)
{
    struct strbuf sb;
    size_t any = 0;

    for (int i = 0; i < OUTCOME_NR; i++)
        any += items->outcomes[i];
    if (chart->run < 0)
        return chart_absent(f, "there is no run");
    strbuf_init(&sb);
    if (any) {
        add_outcomes(&sb, items);
        chart_absent(f, "no benchmark has a time. %s", sb.data);
    } else {
        for (size_t i = 0; i < chart->preset->filter.nr; i++)
            strbuf_addf(&sb, "%s%s", i ? ", " : "", chart->preset->filter.items[i]);
        chart_absent(f, "no benchmark of the run matches %s", sb.length ? sb.data : "anything");
    }
    strbuf_release(&sb);
    return f;
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
