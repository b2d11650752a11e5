/* SPDX-License-Identifier: MIT */
#include "serve/history_figure.h"

#include "base/memory.h"
#include "metrics/run_rows.h"

#include <math.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

enum { DATES_MOST = 8, PLOT_HEIGHT = 300 };
static const double ms_of_a_day = 86400e3;

/* The measurements of one benchmark, weighed before they are read. */
static int history_figure_read(struct store *store, const char *key, struct records *out,
                               struct failure *f)
{
    const struct store_filter filter = { .keys = &key, .nr_keys = 1 };
    struct records runs = { 0 };

    f->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    int rc = store_finished_runs(store, NULL, &runs, &f->err);
    int64_t *ids = memory_zeroed(runs.nr_runs + 1, sizeof(*ids));
    for (size_t i = 0; i < runs.nr_runs; i++)
        ids[i] = runs.runs[i].id;
    if (rc == 0)
        rc = live_view_weigh(store, ids, runs.nr_runs, &filter, f);
    if (rc == 0)
        rc = store_series(store, NULL, &filter, out, &f->err);
    free(ids);
    records_release(&runs);
    return rc;
}

/* A run's value in base units; NaN where it has none. */
static double history_figure_value(const struct records *records, size_t run,
                                   const struct metric *metric)
{
    struct run_rows rows;
    double value = NAN;

    run_rows_init(&rows, records, (int)run);
    for (size_t i = 0; i < rows.nr; i++)
        if (rows.items[i].summary.n)
            value =
                metric_value(metric, &rows.items[i].summary, &rows.context).value * metric->factor;
    run_rows_release(&rows);
    return value;
}

/* Days since the first run, and what days those are; within two days their times. */
static void history_figure_dates(struct axis *axis, int64_t first_ms, double days)
{
    char text[TEXT_UNIT_SIZE];

    axis_set(axis, "date of the run, UTC", QUANTITY_PLAIN, "", AXIS_LINEAR);
    axis->low = -0.02 * days;
    axis->high = 1.02 * days;
    for (int i = 0; i < DATES_MOST; i++) {
        double at = days * i / (DATES_MOST - 1);
        text_timestamp(first_ms + (int64_t)(at * ms_of_a_day), text);
        text[strlen("2026-11-21 13:05")] = '\0';
        if (days > 2)
            text[strlen("2026-11-21")] = '\0';
        ticks_add(&axis->ticks, at, days > 2 ? text : text + strlen("2026-11-21 "), false);
    }
}

static size_t history_figure_add_points(struct figure *f, struct panel *p,
                                        const struct records *records, const char *key,
                                        const struct metric *metric)
{
    struct layer *line = panel_stroke(p, MARK_LINE, NULL, INK_GREY, DASH_SOLID, 1);
    struct layer *points = panel_points(p, metric->label, INK_BLUE, SHAPE_CIRCLE, 7);

    for (size_t i = 0; i < records->nr_runs; i++) {
        const struct run *run = &records->runs[i];
        double value = history_figure_value(records, i, metric);
        double at = (double)(run->started_ms - records->runs[0].started_ms) / ms_of_a_day;
        if (!isfinite(value))
            continue;
        figure_about(f, key, run->uuid);
        layer_add(line, at, value);
        layer_add(points, at, value);
    }
    figure_about(f, NULL, NULL);
    return points->nr;
}

struct figure *history_figure(struct store *store, const char *key, const struct metric *metric,
                              struct failure *failure)
{
    struct records records = { 0 };
    struct figure *f = NULL;

    if (history_figure_read(store, key, &records, failure) == 0) {
        f = figure_create("history", NULL);
        figure_set(&f->title, "%s over all runs", metric->label);
        figure_set(&f->subtitle, "%s", key);
        struct panel *p = figure_panel(f);
        int64_t first = records.nr_runs ? records.runs[0].started_ms : 0;
        int64_t last = records.nr_runs ? records.runs[records.nr_runs - 1].started_ms : 0;
        p->plot_height = PLOT_HEIGHT;
        axis_set(&p->y, metric->label, metric->quantity, metric->base, AXIS_LINEAR);
        history_figure_dates(&p->x, first, fmax((double)(last - first) / ms_of_a_day, 1e-3));
        size_t nr = history_figure_add_points(f, p, &records, key, metric);
        figure_set(&f->alt, "%s of %zu of %zu runs that measured this benchmark.", metric->label,
                   nr, records.nr_runs);
        figure_set(&f->caption,
                   "A point is a run of the whole history, whatever its machine, at the "
                   "time when it began.");
        if (!nr)
            figure_set(&f->reason, "no run of this history has %s of it", metric->label);
        figure_finish(f);
    }
    records_release(&records);
    return f;
}
