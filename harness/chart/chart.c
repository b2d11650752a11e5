/* SPDX-License-Identifier: MIT */
#include "chart/chart.h"

#include "base/text.h"
#include "chart/base/chart_samples.h"
#include "chart/profile/profile_base.h"
#include "chart/types/chart_types.h"

#include <string.h>

/* A dozen rows of a benchmark are read, eight lines or colours are told apart. */
enum { AS_ROWS = 12, AS_SERIES = 8 };

static const struct plot_type types[] = {
    { "overview", "the answers in one picture", .history = build_overview },
    { "bars", "one bar a benchmark, with whiskers", .items = build_bars,
      .check = chart_check_metric, .runs_max = AS_ROWS, .rows = true },
    { "percentiles", "min to max of each benchmark as a line", .items = build_percentiles,
      .runs_max = AS_SERIES },
    { "roofline", "performance against measured roofs", .items = build_roofline,
      .runs_max = AS_SERIES },
    { "heatmap", "batch against sequence length, coloured", .items = build_heatmap,
      .check = chart_check_metric, .runs_max = AS_SERIES },
    { "dumbbell", "change of each benchmark against the base", .comparison = build_dumbbell,
      .draws = "p50", .rows = true },
    { "trend", "history, one panel a benchmark", .history = build_trend, .draws = "p50" },
    { "architecture", "layers, heads, width, parameters of models", .history = build_architecture,
      .runs_max = AS_ROWS },
    { "lines", "a metric over a dim, or another number", .items = build_lines,
      .check = chart_check_metric },
    { "scatter", "a metric over another, or over any number", .items = build_scatter,
      .check = chart_check_metric, .runs_max = AS_SERIES },
    { "runs", "a metric from run to run, one panel a benchmark", .items = build_runs,
      .check = chart_check_metric, .runs_min = 2 },
    { "box", "median, quartiles and tails of the samples", .items = build_box,
      .check = chart_samples_check, .runs_max = AS_ROWS, .rows = true },
    { "violin", "density of the samples", .items = build_violin, .check = chart_samples_check,
      .runs_max = AS_SERIES },
    { "ecdf", "share of samples at or below a value", .items = build_ecdf,
      .check = chart_samples_check, .runs_max = AS_SERIES },
    { "quantiles", "value below which a share of the samples lies", .items = build_quantiles,
      .check = chart_samples_check, .runs_max = AS_SERIES },
    { "iterations", "samples in the order measured", .items = build_iterations,
      .check = chart_samples_check, .runs_max = AS_SERIES },
    { "telemetry", "what was read beside the measurements over time", .history = build_telemetry },
    { "memory", "bytes of tensors, bytes that move, and how fast", .items = build_memory,
      .runs_max = AS_ROWS, .rows = true },
    { "speedup", "times as fast as the base, or as the library", .items = build_speedup_groups,
      .comparison = build_speedup_sides, .check = check_speedup, .draws = "p50",
      .runs_max = AS_SERIES, .rows = true },
    { "grouped", "bars of base and head, or of variants, side by side",
      .items = build_grouped_groups, .comparison = build_grouped_sides, .check = check_grouped,
      .draws = "p50", .runs_max = AS_SERIES, .rows = true },
    { "sides", "base and head in two panels of one range", .comparison = build_sides,
      .draws = "p50", .rows = true },
    { "table", "a comparison as a table", .comparison = build_comparison_table, .draws = "p50",
      .rows = true },
    { "split", "several metrics of the same benchmarks side by side", .items = build_split,
      .check = check_split, .runs_max = AS_ROWS, .rows = true },
    { "matrix", "kernels over sizes, coloured", .items = build_matrix, .runs_max = AS_ROWS },
    { "sizes", "matrix products over M = N = K", .items = build_sizes, .runs_max = AS_SERIES },
    { "bottlenecks", "self time of operations, and what they add up to",
      .profile = build_profile_bottlenecks },
    { "shares", "operations as parts of the whole time", .profile = build_profile_shares },
    { "launches", "mean duration against number of calls", .profile = build_profile_launches },
    { "depth", "how deep the scopes are nested over time", .profile = build_profile_depth },
    { "times", "time of the calls of each operation", .profile = build_profile_times },
    { "rates", "rate of the calls of each operation", .profile = build_profile_rates },
    { "lanes", "memory and copies over scopes and kernels", .profile = build_profile_lanes },
    { "live", "live and peak memory over time", .profile = build_profile_memory },
    { "parts", "host and device time of operations by kind", .profile = build_profile_split },
    { "timeline", "each call in its place", .profile = build_profile_timeline },
    { "flame", "what called what, as wide as it took long", .profile = build_profile_flame },
    { "operations", "a table of the operations", .profile = build_profile_table },
    { "efficiency", "throughput for layers and work of models", .items = build_efficiency,
      .runs_max = AS_SERIES },
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

/* Does the type draw the benchmarks of the runs, not a comparison? */
static bool chart_is_of_items(const struct preset *preset)
{
    const struct plot_type *type = preset->type;

    return type->items && !(type->comparison && !preset->group);
}

int plot_type_check(const struct preset *preset, struct error *err)
{
    const struct plot_type *type = preset->type;

    if (type->check && type->check(preset, err))
        return -1;
    if (!type->draws || !preset->y || chart_is_of_items(preset))
        return 0;
    const struct metric *y = metric_find(preset->y, NULL);
    if (y && strcmp(y->id, type->draws) == 0)
        return 0;
    return error_set(err,
                     "\"%s\"%s draws %s alone: leave \"y\": \"%.60s\" out, or take a type that "
                     "draws any metric, such as \"runs\" or \"bars\"",
                     type->name, type->items ? " without \"group\"" : "", type->draws, preset->y);
}

static bool chart_has_run(const struct chart *chart, int run)
{
    for (size_t i = 0; i < chart->nr_runs; i++)
        if (chart->runs[i] == run)
            return true;
    return false;
}

static void chart_draw_items(const struct chart *chart, struct figure *f)
{
    struct chart_items items;

    chart_items_init(&items, chart);
    if (items.nr)
        chart->preset->type->items(chart, &items, f);
    else
        chart_absent_items(f, chart, &items);
    if (!f->reason && !f->subtitle)
        chart_subtitle(f, chart, &items);
    chart_items_release(&items);
}

static struct figure *chart_draw(const struct chart *chart)
{
    const struct plot_type *type = chart->preset->type;
    struct figure *f = figure_create(chart->preset->name, chart->preset->title);

    f->no_legend = !chart->preset->show_legend;
    if (type->runs_min && (chart_nr_runs(chart) < type->runs_min || !chart->run_names))
        chart_absent(f, "there is one run, and this needs two or more");
    else if (chart_is_of_items(chart->preset))
        chart_draw_items(chart, f);
    else if (type->comparison && (!chart->comparison || chart->run < 0))
        chart_absent_base(f);
    else if (type->history && chart->run < 0)
        chart_absent(f, "there is no run");
    else if (type->comparison)
        type->comparison(chart, f);
    else if (type->history)
        type->history(chart, f);
    else if (type->profile && profile_head(f, chart))
        type->profile(chart, f);
    figure_finish(f);
    return f;
}

struct figure *chart_build(const struct chart *chart)
{
    size_t most = chart->preset->type->runs_max;
    struct chart last = *chart;

    if (!chart->runs || !most || chart->nr_runs <= most)
        return chart_draw(chart);
    last.runs_left_out = chart->nr_runs - most;
    last.nr_runs = most;
    last.runs += last.runs_left_out;
    if (last.run_names)
        last.run_names += last.runs_left_out;
    if (!chart_has_run(&last, last.run))
        last.run = last.runs[last.nr_runs - 1];
    /* cppcheck-suppress returnDanglingLifetime ; a figure points to nothing of its chart */
    return chart_draw(&last);
}
