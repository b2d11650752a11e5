/* SPDX-License-Identifier: MIT */
/* What was read beside the measurements of a run over the time of the run, one panel a quantity:
 * throttling, a busy neighbour, a clock that sags, memory that grows. */
#include "analysis/thin.h"
#include "base/memory.h"
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 16, SERIES_MAX = 4, POINTS_MAX = 600, PANEL_HEIGHT = 120 };

/* Names as measure/telemetry.h and telemetry_nvml.h give them; a value times `factor` is in the
 * quantity's base unit. */
struct sensor {
    const char *name, *label;
    double factor;
};

static const struct sensed {
    const char *title, *axis; /* of the panel, and of what goes upward */
    enum quantity quantity;
    const char *base;
    struct sensor sensors[SERIES_MAX];
} sensed[] = {
    { .title = "processor clock",
      .axis = "clock",
      .quantity = QUANTITY_RATE,
      .base = "Hz",
      .sensors = { { "cpu_mhz", "mean of the processors", 1e6 } } },
    { .title = "GPU clock",
      .axis = "clock",
      .quantity = QUANTITY_RATE,
      .base = "Hz",
      .sensors = { { "gpu_sm_mhz", "multiprocessors", 1e6 },
                   { "gpu_memory_mhz", "memory", 1e6 } } },
    { .title = "power",
      .axis = "power",
      .base = "W",
      .sensors = { { "package_watts", "processor", 1 },
                   { "gpu_power_watts", "GPU", 1 },
                   { "gpu_power_max_watts", "GPU, peak", 1 },
                   { "gpu_power_limit_watts", "limit", 1 } } },
    { .title = "temperature",
      .axis = "temperature",
      .base = "°C",
      .sensors = { { "temperature_celsius", "processor", 1 },
                   { "gpu_temperature_celsius", "GPU", 1 },
                   { "gpu_memory_temperature_celsius", "GPU memory", 1 } } },
    { .title = "GPU clocks held back",
      .axis = "of the time",
      .quantity = QUANTITY_SHARE,
      .base = "",
      .sensors = { { "gpu_throttle_power", "by power", 1 },
                   { "gpu_throttle_thermal", "by heat", 1 },
                   { "gpu_throttle_hw", "by hardware", 1 } } },
    { .title = "GPU in use",
      .axis = "of the time",
      .quantity = QUANTITY_SHARE,
      .base = "",
      .sensors = { { "gpu_utilisation_percent", "utilisation", 0.01 } } },
    { .title = "probe: fixed work, timed beside each case",
      .axis = "time",
      .quantity = QUANTITY_TIME,
      .base = "",
      .sensors = { { "probe_ns", "probe", 1 } } },
    { .title = "stolen by the host",
      .axis = "of the time",
      .quantity = QUANTITY_SHARE,
      .base = "",
      .sensors = { { "steal_percent", "steal", 0.01 } } },
    { .title = "load average over one minute",
      .axis = "processes",
      .base = "",
      .sensors = { { "load1", "load", 1 } } },
    { .title = "processors used by the measuring process",
      .axis = "processors",
      .base = "",
      .sensors = { { "cpu_seconds_per_second", "used", 1 } } },
    { .title = "page faults",
      .axis = "faults",
      .base = "",
      .sensors = { { "minor_faults", "minor", 1 }, { "major_faults", "with I/O", 1 } } },
    { .title = "context switches",
      .axis = "switches",
      .base = "",
      .sensors = { { "involuntary_switches", "preempted", 1 },
                   { "voluntary_switches", "waited", 1 } } },
    { .title = "memory",
      .axis = "memory",
      .quantity = QUANTITY_BYTES,
      .base = "",
      .sensors = { { "max_rss_bytes", "process, peak", 1 },
                   { "device_memory_peak_bytes", "tensors, peak", 1 },
                   { "gpu_memory_used_bytes", "GPU, in use", 1 } } },
};

enum { NR_SENSED = sizeof(sensed) / sizeof(sensed[0]) };

/* The measurements looked at, in order of time. */
struct telemetry_chart {
    const struct chart *chart;
    const struct run *run;
    const struct record **items; /* owned */
    size_t nr;
    bool timed; /* they say when they were measured */
    size_t drawn, readings;
    struct strbuf absent;       /* titles of what was not read */
    const struct sensed *moves; /* the quantity that moves most, */
    double least, most;         /* and its range */
    struct figure *f;
};

static double time_of(const struct telemetry_chart *t, size_t i)
{
    if (!t->timed)
        return (double)i + 1;
    return 1e6 * (double)(t->items[i]->m.started_ms - t->run->started_ms);
}

/* Records come by launch; within one the order was random. */
static int by_time(const void *x, const void *y)
{
    const struct record *a = *(const struct record *const *)x;
    const struct record *b = *(const struct record *const *)y;

    if (a->m.started_ms != b->m.started_ms)
        return a->m.started_ms < b->m.started_ms ? -1 : 1;
    return (a > b) - (a < b);
}

static void find_records(struct telemetry_chart *t)
{
    const struct records *r = t->chart->records;

    t->items = memory_zeroed(r->nr + 1, sizeof(struct record *));
    for (size_t i = 0; i < r->nr; i++) {
        const struct record *record = &r->items[i];
        if (record->run != t->chart->run || !preset_takes(t->chart->preset, record->m.bench.key))
            continue;
        t->items[t->nr++] = record;
        t->timed |= record->m.started_ms > 0;
    }
    qsort(t->items, t->nr, sizeof(*t->items), by_time);
}

/* Values of one sensor, NaN where it was not read; false if it never was. */
static bool read_sensor(const struct telemetry_chart *t, const struct sensor *sensor,
                        double *values)
{
    bool any = false;

    for (size_t i = 0; i < t->nr; i++) {
        values[i] = measurement_telemetry(&t->items[i]->m, sensor->name) * sensor->factor;
        any |= isfinite(values[i]);
    }
    return any;
}

/* What was not OK is told apart by shape and ink. */
static void add_series(struct telemetry_chart *t, struct panel *p, size_t nth, const double *values)
{
    size_t *kept = memory_zeroed(t->nr + 1, sizeof(*kept));
    size_t nr = thin_series(values, t->nr, POINTS_MAX, kept);
    struct layer *points = panel_layer(p, MARK_POINTS, NULL);
    struct layer *failed = panel_layer(p, MARK_POINTS, "not OK: WRONG, FAILED or UNSUPPORTED");

    style_nth(&points->style, nth);
    points->style.size = 5;
    failed->style.ink = INK_VERMILLION;
    failed->style.shape = SHAPE_CROSS;
    for (size_t i = 0; i < nr; i++) {
        bool ok = t->items[kept[i]]->m.outcome == OUTCOME_OK;
        if (isfinite(values[kept[i]]))
            layer_add(ok ? points : failed, time_of(t, kept[i]), values[kept[i]]);
    }
    t->drawn += nr;
    t->readings += t->nr;
    free(kept);
}

/* Remembers the quantity whose values lie furthest apart, for the sentence about the whole. */
static void note_range(struct telemetry_chart *t, const struct sensed *what, const double *values)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < t->nr; i++) {
        if (!isfinite(values[i]))
            continue;
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    if (t->moves && !(least > 0 && (t->least <= 0 || most / least > t->most / t->least)))
        return;
    t->moves = what;
    t->least = least;
    t->most = most;
}

/* Where a panel has several series its title says which shape is which. */
static void name_series(struct panel *p, const struct sensed *what, size_t nth)
{
    static const char *const shapes[SERIES_MAX] = { "●", "■", "▲", "◆" };
    char *before = p->title;

    if (!what->sensors[1].name)
        return;
    p->title = NULL;
    figure_set(&p->title, "%s   %s %s", before, shapes[nth], what->sensors[nth].label);
    free(before);
}

static bool add_panel(struct telemetry_chart *t, const struct sensed *what)
{
    double *values = memory_zeroed(t->nr + 1, sizeof(*values));
    struct panel *p = NULL;

    for (size_t k = 0; k < SERIES_MAX && what->sensors[k].name; k++) {
        if (!read_sensor(t, &what->sensors[k], values))
            continue;
        if (!p) {
            p = figure_panel(t->f);
            figure_set(&p->title, "%s", what->title);
            axis_set(&p->y, what->axis, what->quantity, what->base, AXIS_LINEAR);
            p->plot_height = PANEL_HEIGHT;
        }
        add_series(t, p, k, values);
        name_series(p, what, k);
        note_range(t, what, values);
    }
    free(values);
    return p != NULL;
}

/* All panels show the same time, so that one moment is one place in all of them. */
static void set_time_axis(const struct telemetry_chart *t)
{
    double end = time_of(t, t->nr - 1), begin = fmin(time_of(t, 0), 0);
    double least = t->timed ? 1e9 : 1, span = end > begin ? end - begin : least;

    for (size_t i = 0; i < t->f->nr_panels; i++) {
        struct axis *x = &t->f->panels[i]->x;
        axis_set(x, t->timed ? "since the start of the run" : "measurement, in order",
                 t->timed ? QUANTITY_TIME : QUANTITY_PLAIN, "", AXIS_LINEAR);
        x->whole = !t->timed;
        x->low = begin - 0.015 * span;
        x->high = begin + 1.015 * span;
    }
}

/* A fault that the driver reported outshines everything else. */
static void add_faults(struct telemetry_chart *t)
{
    for (size_t i = 0; i < t->nr && !t->f->banner; i++) {
        double xid = measurement_telemetry(&t->items[i]->m, "gpu_xid");
        if (isfinite(xid))
            figure_set(&t->f->banner, "The GPU's driver reported the fault XID %.0f during %s.",
                       xid, t->items[i]->m.bench.key);
    }
}

static void add_words(struct telemetry_chart *t)
{
    char least[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE], when[TEXT_UNIT_SIZE];
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_addf(&sb, "Each point is one benchmark in one launch%s.",
                t->timed ? ", at the time its measurement began" : "");
    if (t->drawn < t->readings)
        strbuf_addf(&sb, " %zu of %zu points are drawn, the extremes among them.", t->drawn,
                    t->readings);
    if (t->absent.length)
        strbuf_addf(&sb, " Not read on this machine, so absent: %s.", t->absent.data);
    figure_set(&t->f->caption, "%s", sb.data);
    strbuf_release(&sb);
    quantity_text(t->moves->quantity, t->moves->base, t->least, least);
    quantity_text(t->moves->quantity, t->moves->base, t->most, most);
    figure_set(&t->f->alt,
               "%zu quantities read beside %zu measurements of a run over its time; %s goes from "
               "%s to %s.",
               t->f->nr_panels, t->nr, t->moves->title, least, most);
    figure_set(&t->f->subtitle, "%s%s%s  ·  %s", t->run->machine.cpu,
               t->run->machine.gpu[0] ? "  ·  " : "", t->run->machine.gpu,
               text_timestamp(t->run->started_ms, when));
}

static void draw(struct telemetry_chart *t)
{
    size_t limit = chart_limit(t->chart->preset, LIMIT);

    for (size_t i = 0; i < NR_SENSED && t->f->nr_panels < limit; i++)
        if (!add_panel(t, &sensed[i]))
            strbuf_addf(&t->absent, "%s%s", t->absent.length ? ", " : "", sensed[i].title);
    if (!t->f->nr_panels) {
        chart_absent(t->f, "none of the %zu measurements carries anything read beside it", t->nr);
        return;
    }
    t->f->columns = t->f->nr_panels > 1 ? 2 : 1;
    set_time_axis(t);
    add_faults(t);
    add_words(t);
    figure_finish(t->f);
}

struct figure *build_telemetry(const struct chart *chart)
{
    struct telemetry_chart t = { .chart = chart, .f = chart_figure(chart) };

    if (chart->run < 0)
        return chart_absent(t.f, "there is no run");
    t.run = &chart->records->runs[chart->run];
    strbuf_init(&t.absent);
    find_records(&t);
    if (t.nr)
        draw(&t);
    else
        chart_absent(t.f, "no measurement of the run matches the filter");
    strbuf_release(&t.absent);
    free(t.items);
    return t.f;
}
