/* SPDX-License-Identifier: MIT */
#include "serve/history_figure.h"

#include "base/array.h"
#include "base/memory.h"
#include "metrics/run_rows.h"
#include "page/figure_thin.h"

#include <inttypes.h>
#include <math.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

enum { DATES_MOST = 8, PLOT_HEIGHT = 300 };
static const double ms_of_a_day = 86400e3;

struct history_point {
    const struct run *run;
    double value; /* in base units; NaN where the run has none */
};

/* The runs are read once, and each is made one number of before the next is looked at: what a long
 * history has of one benchmark is more than one answer may hold. */
struct history_reading {
    const struct metric *metric;
    struct records records; /* all runs, and the measurements of the one that is being read */
    size_t run, bytes;      /* which that is, and what its samples take */
    ARRAY(struct history_point) points;
    ARRAY(struct records) roofs; /* roofs alone, one a machine: runs may come of any */
};

static const struct records *history_roofs_of(const struct history_reading *r, const char *machine)
{
    for (size_t i = 0; i < r->roofs.nr; i++)
        if (strcmp(r->roofs.items[i].roofs_of, machine) == 0)
            return &r->roofs.items[i];
    return NULL;
}

/* Beforehand: while runs are scanned nothing else may be asked of the history. */
static int history_load_roofs(struct store *store, struct history_reading *r, struct error *err)
{
    for (size_t i = 0; i < r->records.nr_runs; i++) {
        const char *machine = r->records.runs[i].machine.id;
        if (!history_roofs_of(r, machine) &&
            store_load_roofs(store, machine, NULL, NULL, array_push(&r->roofs), err))
            return -1;
    }
    return 0;
}

static struct metric_context history_context(const struct history_reading *r)
{
    const struct machine *machine = &r->records.runs[r->run].machine;
    const struct records *roofs = history_roofs_of(r, machine->id);

    return (struct metric_context) { machine, roofs->roofs, roofs->nr_roofs };
}

static double history_run_value(const struct history_reading *r)
{
    const struct metric_context context = history_context(r);
    struct run_rows rows;
    double value = NAN;

    run_rows_init(&rows, &r->records, (int)r->run);
    for (size_t i = 0; i < rows.nr; i++)
        if (rows.items[i].summary.n)
            value =
                metric_value(r->metric, &rows.items[i].summary, &context).value * r->metric->factor;
    run_rows_release(&rows);
    return value;
}

static void history_end_run(struct history_reading *r)
{
    if (r->records.nr == 0)
        return;
    *array_push(&r->points) =
        (struct history_point) { &r->records.runs[r->run], history_run_value(r) };
    for (size_t i = 0; i < r->records.nr; i++)
        measurement_release(&r->records.items[i].m);
    r->records.nr = r->bytes = 0;
}

static int history_read_measurement(void *context, size_t run, int launch_seq,
                                    struct measurement *m, struct error *err)
{
    struct history_reading *r = context;

    if (run != r->run)
        history_end_run(r);
    r->run = run;
    r->bytes += m->nr_samples * sizeof(*m->samples);
    if (r->bytes > LIVE_VIEW_BYTES_MAX)
        return error_set(err, "run %" PRId64 " alone has more than %d MB of this benchmark",
                         r->records.runs[run].id, LIVE_VIEW_BYTES_MAX >> 20);
    records_add(&r->records, (int)run, launch_seq)->m = *m;
    *m = (struct measurement) { .nr_samples = 0 };
    return 0;
}

static int history_read_points(struct store *store, const char *key, struct history_reading *r,
                               struct error *err)
{
    const struct store_filter filter = { .keys = &key, .nr_keys = 1 };
    const struct store_sink sink = { r, history_read_measurement };
    struct records *records = &r->records;

    if (store_finished_runs(store, NULL, records, err))
        return -1;
    int64_t *ids = memory_zeroed(records->nr_runs + 1, sizeof(*ids));
    for (size_t i = 0; i < records->nr_runs; i++)
        ids[i] = records->runs[i].id;
    int rc = history_load_roofs(store, r, err);
    if (rc == 0)
        rc = store_scan(store, ids, records->nr_runs, &filter, &sink, err);
    history_end_run(r);
    free(ids);
    return rc;
}

/* Days since the first run, and which days those are. */
static void history_figure_dates(struct axis *axis, int64_t first_ms, double days)
{
    axis_set(axis, "date of the run, UTC", QUANTITY_PLAIN, "", AXIS_LINEAR);
    axis->since_ms = first_ms;
    axis->low = -0.02 * days;
    axis->high = 1.02 * days;
    ticks_dates(&axis->ticks, first_ms, axis->low, axis->high, DATES_MOST);
}

static size_t history_figure_add_points(struct figure *f, struct panel *p,
                                        const struct history_reading *r, const char *key)
{
    struct layer *line = panel_stroke(p, MARK_LINE, NULL, INK_GREY, DASH_SOLID, 1);
    struct layer *points = panel_points(p, r->metric->label, INK_BLUE, SHAPE_CIRCLE, 7);
    int64_t first = r->points.nr ? r->points.items[0].run->started_ms : 0;

    for (size_t i = 0; i < r->points.nr; i++) {
        const struct history_point *point = &r->points.items[i];
        double at = (double)(point->run->started_ms - first) / ms_of_a_day;
        if (!isfinite(point->value))
            continue;
        figure_about(f, key, point->run->uuid);
        layer_add(line, at, point->value);
        layer_add(points, at, point->value);
    }
    figure_about(f, NULL, NULL);
    return points->nr;
}

static struct figure *history_figure_of(const struct history_reading *r, const char *key)
{
    const struct metric *metric = r->metric;
    struct figure *f = figure_create("history", NULL);
    struct panel *p = figure_panel(f);
    size_t nr = r->points.nr;
    int64_t first = nr ? r->points.items[0].run->started_ms : 0;
    int64_t last = nr ? r->points.items[nr - 1].run->started_ms : 0;

    figure_set(&f->title, "%s over all runs", metric->label);
    figure_set(&f->subtitle, "%s", key);
    p->plot_height = PLOT_HEIGHT;
    axis_set(&p->y, metric->label, metric->quantity, metric->base, AXIS_LINEAR);
    history_figure_dates(&p->x, first, fmax((double)(last - first) / ms_of_a_day, 1e-3));
    size_t shown = history_figure_add_points(f, p, r, key);
    figure_set(&f->alt, "%s of %zu of %zu runs that measured this benchmark.", metric->label, shown,
               nr);
    figure_set(&f->caption,
               "A point is a run of the whole history, whatever its machine, at the "
               "time when it began.");
    if (!shown)
        figure_set(&f->reason, "no run of this history has %s of it", metric->label);
    figure_finish(f);
    figure_thin_and_tell(f, PAGE_POINTS);
    figure_forget_names(f);
    return f;
}

struct figure *history_figure(struct store *store, const char *key, const struct metric *metric,
                              struct failure *failure)
{
    struct history_reading r = { .metric = metric };
    struct figure *f = NULL;

    failure->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
    if (history_read_points(store, key, &r, &failure->err) == 0)
        f = history_figure_of(&r, key);
    array_release(&r.points);
    for (size_t i = 0; i < r.roofs.nr; i++)
        records_release(&r.roofs.items[i]);
    array_release(&r.roofs);
    records_release(&r.records);
    return f;
}
