/* SPDX-License-Identifier: MIT */
/* What was read beside the measurements of a run over the time of the run, one panel a quantity:
 * throttling, a busy neighbour, a clock that sags, memory that grows. */
#include "base/memory.h"
#include "chart/types/chart_types.h"
#include "metrics/thin_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What moves by a smaller part of itself is constant: a panel would say nothing. */
#define MOVES_LEAST 0.005

enum { LIMIT = 16, SERIES_MAX = 4, POINTS_MAX = 600, PANEL_HEIGHT = 120 };

/* Names as machine/telemetry.h gives them; a value times `factor` is in the
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
    { "processor clock",
      "clock",
      QUANTITY_RATE,
      "Hz",
      { { "cpu_mhz", "mean of the processors", 1e6 } } },
    { "GPU clock",
      "clock",
      QUANTITY_RATE,
      "Hz",
      { { "gpu_sm_mhz", "multiprocessors", 1e6 }, { "gpu_memory_mhz", "memory", 1e6 } } },
    { "power",
      "power",
      QUANTITY_PLAIN,
      "W",
      { { "package_watts", "processor", 1 },
        { "gpu_power_watts", "GPU", 1 },
        { "gpu_power_max_watts", "GPU, peak", 1 },
        { "gpu_power_limit_watts", "limit", 1 } } },
    { "temperature",
      "temperature",
      QUANTITY_PLAIN,
      "°C",
      { { "temperature_celsius", "processor", 1 },
        { "gpu_temperature_celsius", "GPU", 1 },
        { "gpu_memory_temperature_celsius", "GPU memory", 1 } } },
    { "GPU clocks held back",
      "of the time",
      QUANTITY_SHARE,
      "",
      { { "gpu_throttle_power", "by power", 1 },
        { "gpu_throttle_thermal", "by heat", 1 },
        { "gpu_throttle_hw", "by hardware", 1 } } },
    { "GPU in use",
      "of the time",
      QUANTITY_SHARE,
      "",
      { { "gpu_utilisation_percent", "utilisation", 0.01 } } },
    { "probe: fixed work, timed beside each case",
      "time",
      QUANTITY_TIME,
      "",
      { { TELEMETRY_MACHINE, "probe", 1 }, { TELEMETRY_MACHINE_OLD, "older probe", 1 } } },
    { "stolen by the host",
      "of the time",
      QUANTITY_SHARE,
      "",
      { { "steal_percent", "steal", 0.01 } } },
    { "load average over one minute", "processes", QUANTITY_PLAIN, "", { { "load1", "load", 1 } } },
    { "processors used by the measuring process",
      "processors",
      QUANTITY_PLAIN,
      "",
      { { "cpu_seconds_per_second", "used", 1 } } },
    { "page faults",
      "faults",
      QUANTITY_PLAIN,
      "",
      { { "minor_faults", "minor", 1 }, { "major_faults", "with I/O", 1 } } },
    { "context switches",
      "switches",
      QUANTITY_PLAIN,
      "",
      { { "involuntary_switches", "preempted", 1 }, { "voluntary_switches", "waited", 1 } } },
    { "memory",
      "memory",
      QUANTITY_BYTES,
      "",
      { { "max_rss_bytes", "process, peak", 1 },
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
    struct strbuf absent;       /* titles of what was not read, */
    struct strbuf constant;     /* and of what never changed, with its value */
    const struct sensed *moves; /* the quantity that moves most, */
    struct range range;         /* and its range */
    struct figure *f;
};

static double telemetry_time_of(const struct telemetry_chart *t, size_t i)
{
    if (!t->timed)
        return (double)i + 1;
    return 1e6 * (double)(t->items[i]->m.started_ms - t->run->started_ms);
}

/* Records come by launch; within one the order was random. */
static int telemetry_by_time(const void *x, const void *y)
{
    const struct record *a = *(const struct record *const *)x;
    const struct record *b = *(const struct record *const *)y;

    if (a->m.started_ms != b->m.started_ms)
        return a->m.started_ms < b->m.started_ms ? -1 : 1;
    return (a > b) - (a < b);
}

/* Values of one sensor, NaN where it was not read; false if it never was. */
static bool telemetry_read_sensor(const struct telemetry_chart *t, const struct sensor *sensor,
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
static void telemetry_add_series(struct telemetry_chart *t, struct panel *p, size_t nth,
                                 const double *values)
{
    size_t *kept = memory_zeroed(t->nr + 1, sizeof(*kept));
    size_t nr = thin_series(values, t->nr, POINTS_MAX, kept);
    struct layer *points = panel_layer(p, MARK_POINTS, NULL);
    struct layer *failed =
        panel_points(p, "not OK: WRONG, FAILED or UNSUPPORTED", INK_VERMILLION, SHAPE_CROSS, 8);

    style_nth(&points->style, nth);
    points->style.size = 5;
    for (size_t i = 0; i < nr; i++) {
        bool ok = t->items[kept[i]]->m.outcome == OUTCOME_OK;
        figure_about(t->f, t->items[kept[i]]->m.bench.key, t->run->uuid);
        if (isfinite(values[kept[i]]))
            layer_add(ok ? points : failed, telemetry_time_of(t, kept[i]), values[kept[i]]);
    }
    figure_about(t->f, NULL, NULL);
    t->drawn += nr;
    t->readings += t->nr;
    free(kept);
}

/* Remembers the quantity whose values lie furthest apart, for the sentence about the whole. */
static void note_range(struct telemetry_chart *t, const struct sensed *what, const double *values)
{
    struct range r = RANGE_NONE, last = t->range;

    for (size_t i = 0; i < t->nr; i++)
        if (isfinite(values[i]))
            range_include(&r, values[i]);
    if (t->moves && !(r.low > 0 && (last.low <= 0 || r.high / r.low > last.high / last.low)))
        return;
    t->moves = what;
    t->range = r;
}

/* Where a panel has several series its title says which shape is which. */
static void telemetry_name_series(struct panel *p, const struct sensed *what, size_t nth)
{
    static const char *const shapes[SERIES_MAX] = { "●", "■", "▲", "◆" };
    char *before = p->title;

    if (!what->sensors[1].name)
        return;
    p->title = NULL;
    figure_set(&p->title, "%s   %s %s", before, shapes[nth], what->sensors[nth].label);
    free(before);
}

/* "page faults 0": adds what was read of each sensor, where no reading differs from another; false
 * where one does, or nothing was read. */
static bool telemetry_is_constant(struct telemetry_chart *t, const struct sensed *what)
{
    double *values = memory_zeroed(t->nr + 1, sizeof(*values));
    struct strbuf words;
    bool any = false, same = true;
    char text[QUANTITY_TEXT_SIZE];

    strbuf_init(&words);
    for (size_t k = 0; k < SERIES_MAX && what->sensors[k].name; k++) {
        struct range r = RANGE_NONE;
        if (!telemetry_read_sensor(t, &what->sensors[k], values))
            continue;
        for (size_t i = 0; i < t->nr; i++)
            range_include(&r, values[i]);
        same &= r.high - r.low <= MOVES_LEAST * fabs(r.high);
        strbuf_addf(&words, "%s%s", any ? " and " : " ",
                    quantity_unit_text(what->quantity, what->base, r.high, text));
        any = true;
    }
    if (any && same)
        strbuf_addf(&t->constant, "%s%s%s", t->constant.length ? "; " : "", what->title,
                    words.data);
    strbuf_release(&words);
    free(values);
    return any && same;
}

/* False where nothing was read of it. */
static bool telemetry_add_panel(struct telemetry_chart *t, const struct sensed *what)
{
    double *values = memory_zeroed(t->nr + 1, sizeof(*values));
    struct panel *p = NULL;

    for (size_t k = 0; k < SERIES_MAX && what->sensors[k].name; k++) {
        if (!telemetry_read_sensor(t, &what->sensors[k], values))
            continue;
        if (!p) {
            p = figure_panel(t->f);
            figure_set(&p->title, "%s", what->title);
            axis_set(&p->y, what->axis, what->quantity, what->base, AXIS_LINEAR);
            p->plot_height = PANEL_HEIGHT;
        }
        telemetry_add_series(t, p, k, values);
        telemetry_name_series(p, what, k);
        note_range(t, what, values);
    }
    free(values);
    return p != NULL;
}

static void telemetry_add_words(struct telemetry_chart *t)
{
    char least[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE], when[TEXT_UNIT_SIZE];
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_addf(&sb, "Each point is one benchmark in one launch%s.",
                t->timed ? ", at the time its measurement began" : "");
    if (t->drawn < t->readings)
        strbuf_addf(&sb, " %zu of %zu points are drawn, the extremes among them.", t->drawn,
                    t->readings);
    if (t->constant.length)
        strbuf_addf(&sb, " Constant, so not drawn: %s.", t->constant.data);
    if (t->absent.length)
        strbuf_addf(&sb, " Not read on this machine, so absent: %s.", t->absent.data);
    chart_take(&t->f->caption, &sb);
    quantity_unit_text(t->moves->quantity, t->moves->base, t->range.low, least);
    quantity_unit_text(t->moves->quantity, t->moves->base, t->range.high, most);
    figure_set(&t->f->alt,
               "%zu quantit%s read beside %zu measurements of a run over its time; %s goes from "
               "%s to %s.",
               t->f->nr_panels, t->f->nr_panels == 1 ? "y" : "ies", t->nr, t->moves->title, least,
               most);
    if (t->range.high > t->range.low)
        chart_conclude(t->f, t->chart, "%s moved between %s and %s", t->moves->title, least, most);
    figure_set(&t->f->subtitle, "%s%s%s  ·  %s", t->run->machine.cpu,
               t->run->machine.gpu[0] ? "  ·  " : "", t->run->machine.gpu,
               text_timestamp(t->run->started_ms, when));
}

static void telemetry_draw(struct telemetry_chart *t)
{
    size_t limit = chart_limit(t->chart->preset, LIMIT);

    for (size_t i = 0; i < NR_SENSED && t->f->nr_panels < limit; i++)
        if (!telemetry_is_constant(t, &sensed[i]) && !telemetry_add_panel(t, &sensed[i]))
            strbuf_addf(&t->absent, "%s%s", t->absent.length ? ", " : "", sensed[i].title);
    if (!t->f->nr_panels && t->constant.length)
        chart_absent(t->f, "nothing that was read beside the %zu measurements changed: %s", t->nr,
                     t->constant.data);
    else if (!t->f->nr_panels)
        chart_absent(t->f, "none of the %zu measurements carries anything read beside it", t->nr);
    if (!t->f->nr_panels)
        return;
    t->f->columns = t->f->nr_panels > 1 ? 2 : 1;
    /* All panels show the same time, so that one moment is one place in all of them. */
    double end = telemetry_time_of(t, t->nr - 1), begin = fmin(telemetry_time_of(t, 0), 0);
    double least = t->timed ? 1e9 : 1, span = end > begin ? end - begin : least;
    for (size_t i = 0; i < t->f->nr_panels; i++) {
        struct axis *x = &t->f->panels[i]->x;
        axis_set(x, t->timed ? "since the start of the run" : "measurement, in order",
                 t->timed ? QUANTITY_TIME : QUANTITY_PLAIN, "", AXIS_LINEAR);
        x->whole = !t->timed;
        x->low = begin - 0.015 * span;
        x->high = begin + 1.015 * span;
    }
    /* A fault that the driver reported outshines everything else. */
    for (size_t i = 0; i < t->nr && !t->f->banner; i++) {
        double xid = measurement_telemetry(&t->items[i]->m, "gpu_xid");
        if (isfinite(xid))
            figure_set(&t->f->banner, "The GPU's driver reported the fault XID %.0f during %s.",
                       xid, t->items[i]->m.bench.key);
    }
    telemetry_add_words(t);
}

void build_telemetry(const struct chart *chart, struct figure *f)
{
    struct telemetry_chart t = { .chart = chart, .f = f, .run = &chart->records->runs[chart->run] };

    strbuf_init(&t.absent);
    strbuf_init(&t.constant);
    const struct records *r = t.chart->records;
    t.items = memory_zeroed(r->nr + 1, sizeof(struct record *));
    for (size_t i = 0; i < r->nr; i++) {
        const struct record *record = &r->items[i];
        if (record->run != t.chart->run || !preset_takes(t.chart->preset, record->m.bench.key))
            continue;
        t.items[t.nr++] = record;
        t.timed |= record->m.started_ms > 0;
    }
    qsort(t.items, t.nr, sizeof(*t.items), telemetry_by_time);
    if (t.nr)
        telemetry_draw(&t);
    else
        chart_absent(f, "no measurement of the run matches the filter");
    strbuf_release(&t.absent);
    strbuf_release(&t.constant);
    free(t.items);
}
