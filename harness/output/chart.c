/* SPDX-License-Identifier: MIT */
#include "output/chart.h"

#include "analysis/label.h"
#include "base/memory.h"
#include "base/text.h"
#include "output/chart_samples.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A dozen rows of a benchmark are read, eight lines or colours are told apart. */
enum { ANY = 0, AS_ROWS = 12, AS_SERIES = 8 };

static const struct plot_type types[] = {
    { "bars", "one bar a benchmark, with whiskers", build_bars, chart_check_metric, AS_ROWS },
    { "percentiles", "min to max of each benchmark as a line", build_percentiles, NULL, AS_SERIES },
    { "roofline", "performance against measured ceilings", build_roofline, NULL, AS_SERIES },
    { "heatmap", "batch against sequence length, coloured", build_heatmap, chart_check_metric,
      AS_SERIES },
    { "dumbbell", "change of each benchmark against the base", build_dumbbell, NULL, ANY },
    { "trend", "history, one panel a benchmark", build_trend, NULL, ANY },
    { "architecture", "layers, heads, width, parameters of models", build_architecture, NULL,
      AS_ROWS },
    { "lines", "a metric over a dim, or another number", build_lines, chart_check_metric, ANY },
    { "scatter", "a metric over another, or over any number", build_scatter, chart_check_metric,
      AS_SERIES },
    { "runs", "a metric from run to run, one panel a benchmark", build_runs, chart_check_metric,
      ANY },
    { "box", "median, quartiles and tails of the samples", build_box, chart_samples_check,
      AS_ROWS },
    { "violin", "density of the samples", build_violin, chart_samples_check, AS_SERIES },
    { "ecdf", "share of samples at or below a value", build_ecdf, chart_samples_check, AS_SERIES },
    { "quantiles", "value below which a share of the samples lies", build_quantiles,
      chart_samples_check, AS_SERIES },
    { "iterations", "samples in the order measured", build_iterations, chart_samples_check,
      AS_SERIES },
    { "telemetry", "what was read beside the measurements over time", build_telemetry, NULL, ANY },
    { "memory", "bytes of tensors, bytes that move, and how fast", build_memory, NULL, AS_ROWS },
    { "speedup", "times as fast as the base, or as the library", build_speedup, check_speedup,
      AS_SERIES },
    { "grouped", "bars of base and head, or of variants, side by side", build_grouped,
      check_grouped, AS_SERIES },
    { "sides", "base and head in two panels of one range", build_sides, NULL, ANY },
    { "table", "a comparison as a table", build_comparison_table, NULL, ANY },
    { "split", "several metrics of the same benchmarks side by side", build_split, check_split,
      AS_ROWS },
    { "matrix", "kernels over sizes, coloured", build_matrix, NULL, AS_ROWS },
    { "sizes", "matrix products over M = N = K", build_sizes, NULL, AS_SERIES },
    { "bottlenecks", "self time of operations, and what they add up to", build_profile_bottlenecks,
      NULL, ANY },
    { "shares", "operations as parts of the whole time", build_profile_shares, NULL, ANY },
    { "launches", "mean duration against number of calls", build_profile_launches, NULL, ANY },
    { "depth", "how deep the scopes are nested over time", build_profile_depth, NULL, ANY },
    { "times", "time of the calls of each operation", build_profile_times, NULL, ANY },
    { "rates", "rate of the calls of each operation", build_profile_rates, NULL, ANY },
    { "lanes", "memory and copies over scopes and kernels", build_profile_lanes, NULL, ANY },
    { "live", "live and peak memory over time", build_profile_memory, NULL, ANY },
    { "parts", "host and device time of operations by kind", build_profile_split, NULL, ANY },
    { "timeline", "each call in its place", build_profile_timeline, NULL, ANY },
    { "flame", "what called what, as wide as it took long", build_profile_flame, NULL, ANY },
    { "operations", "a table of the operations", build_profile_table, NULL, ANY },
    { "efficiency", "throughput for layers and work of models", build_efficiency, NULL, AS_SERIES },
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

/* A log axis cannot hold what is not positive, whatever the preset says. */
enum axis_scale chart_scale_of(enum scale_choice choice, double low, double high)
{
    if (choice == SCALE_LINEAR || !(low > 0))
        return AXIS_LINEAR;
    return choice == SCALE_LOG || high > 50 * low ? AXIS_LOG : AXIS_LINEAR;
}

enum axis_scale chart_scale(const struct preset *preset, double low, double high)
{
    return chart_scale_of(preset->y_scale, low, high);
}

struct figure *chart_figure(const struct chart *chart)
{
    struct figure *f = figure_create(chart->preset->name, chart->preset->title);

    f->no_legend = !chart->preset->show_legend;
    return f;
}

static bool has_run(const struct chart *chart, int run)
{
    for (size_t i = 0; i < chart->nr_runs; i++)
        if (chart->runs[i] == run)
            return true;
    return false;
}

struct figure *chart_build(const struct chart *chart)
{
    const struct plot_type *type = chart->preset->type;
    struct chart last = *chart;

    if (!chart->runs || !type->runs_max || chart->nr_runs <= type->runs_max)
        return type->build(chart);
    last.runs_left_out = chart->nr_runs - type->runs_max;
    last.nr_runs = type->runs_max;
    last.runs += last.runs_left_out;
    if (last.run_names)
        last.run_names += last.runs_left_out;
    if (!has_run(&last, last.run))
        last.run = last.runs[last.nr_runs - 1];
    /* cppcheck-suppress returnDanglingLifetime ; a figure points to nothing of its chart */
    return type->build(&last);
}

static void add_part(struct strbuf *sb, const char *text)
{
    if (*text)
        strbuf_addf(sb, "%s%s", sb->length ? "  ·  " : "", text);
}

static void add_common(struct strbuf *sb, const struct chart_items *items)
{
    const struct benchmark_name **names = memory_zeroed(items->nr + 1, sizeof(*names));
    char common[512] = "";

    for (size_t i = 0; i < items->nr; i++)
        names[i] = items->items[i].bench;
    if (items->nr > 1)
        labels_common(names, items->nr, common, sizeof(common));
    free(names);
    add_part(sb, common);
}

static const char *machine_of(const struct run *run)
{
    return run->machine.gpu[0] ? run->machine.gpu : run->machine.cpu;
}

static void add_run(struct strbuf *sb, const struct run *run)
{
    char text[COMMIT_SIZE + 32];

    add_part(sb, machine_of(run));
    snprintf(text, sizeof(text), "commit %.9s%s", run->build.commit,
             run->build.dirty ? " (dirty)" : "");
    if (run->build.commit[0])
        add_part(sb, text);
    add_part(sb, text_timestamp(run->started_ms, text));
}

/* The machine, if it is one; names, if they are few. */
static void add_runs(struct strbuf *sb, const struct chart *chart)
{
    bool one_machine = true, named = chart->run_names != NULL;
    size_t length = 0;

    for (size_t i = 0; i < chart->nr_runs; i++) {
        one_machine &=
            strcmp(machine_of(chart_run(chart, i)), machine_of(chart_run(chart, 0))) == 0;
        length += strlen(chart_run_name(chart, i)) + 2;
    }
    if (one_machine)
        add_part(sb, machine_of(chart_run(chart, 0)));
    strbuf_addf(sb, "%s%zu runs", sb->length ? "  ·  " : "", chart->nr_runs);
    for (size_t i = 0; named && length < 90 && i < chart->nr_runs; i++)
        strbuf_addf(sb, "%s%s", i ? ", " : ": ", chart_run_name(chart, i));
}

void chart_subtitle(struct figure *f, const struct chart *chart, const struct chart_items *items)
{
    struct strbuf sb;

    strbuf_init(&sb);
    add_common(&sb, items);
    if (chart_nr_runs(chart) > 1)
        add_runs(&sb, chart);
    else
        add_run(&sb, chart_run(chart, 0));
    figure_set(&f->subtitle, "%s", sb.data);
    strbuf_release(&sb);
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

/* Whoever looks closer at a line than a percentile should know what it is. */
static void add_thinned(struct strbuf *sb, const struct chart_items *items)
{
    size_t thinned = 0;

    for (size_t i = 0; i < items->nr; i++)
        thinned += items->items[i].summary->m->thinned;
    if (thinned)
        strbuf_addf(sb,
                    "%sOf %zu of %zu only a summary of the samples is kept: the "
                    "percentiles of a launch are exact, between them lie straight lines.",
                    sb->length ? " " : "", thinned, items->nr);
}

void chart_caption(struct figure *f, const struct chart_items *items, const char *how,
                   const char *which)
{
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb, how);
    if (items->left_out)
        strbuf_addf(&sb, " Showing %zu of %zu: %s.", items->nr, items->nr + items->left_out, which);
    if (items->chart->runs_left_out)
        strbuf_addf(&sb, " Of %zu runs the last %zu.",
                    items->chart->nr_runs + items->chart->runs_left_out, items->chart->nr_runs);
    add_thinned(&sb, items);
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
        chart_absent(f, "no benchmark of the run%s%s", sb.length ? " matches " : " was measured",
                     sb.data);
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
