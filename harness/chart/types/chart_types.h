/* SPDX-License-Identifier: MIT */
/* The types of figures by name, for the table in chart.c: each is defined in a build_<type>.c,
 * those of distributions in build_distribution.c and build_cumulative.c. */
#ifndef HARNESS_CHART_TYPES_CHART_TYPES_H
#define HARNESS_CHART_TYPES_CHART_TYPES_H

#include "chart/base/chart_base.h"

chart_items_fn build_bars, build_percentiles, build_roofline, build_heatmap, build_lines,
    build_scatter, build_runs, build_box, build_violin, build_ecdf, build_quantiles,
    build_iterations, build_memory, build_speedup_groups, build_grouped_groups, build_split,
    build_matrix, build_sizes, build_efficiency;

chart_draw_fn build_architecture, build_comparison_table, build_dumbbell, build_grouped_sides,
    build_overview, build_sides, build_speedup_sides, build_telemetry, build_trend;

/* What presets of these types must have. */
chart_check_fn check_speedup, check_grouped, check_split;

#endif
