/* SPDX-License-Identifier: MIT */
/* Memory over time: live and peak bytes; and the same with copies, above the lanes of outermost
 * operations and kernels. */
#include "chart/profile/profile_base.h"
#include "text/textwidth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1500, CALLS = 2, CURVES_MAX = 8 };

/* Counters of bytes, drawn as they come. Those of rates, clocks, power and temperature have other
 * units; they are for the viewers of traces, which put each on a scale of its own. */
static bool profile_memory_is_memory(const struct prof_counter *counter)
{
    return !strcmp(counter->unit, "bytes") || !strcmp(counter->unit, "B");
}

struct curve {
    double last, peak;
    bool any;
};

static void extend_layers(struct layer *live, struct layer *peak, struct curve *c, double at,
                          double value)
{
    layer_add(live, at, value);
    c->peak = c->any ? fmax(c->peak, value) : value;
    c->last = value;
    c->any = true;
    if (peak)
        layer_add(peak, at, c->peak);
}

/* The last value before the window holds when it begins, and the last one until it ends. */
static bool profile_memory_add_counter(struct panel *p, const struct profile_data *data,
                                       int counter, const struct profile_window *w, bool peaks,
                                       size_t nth)
{
    const struct prof_trace *trace = &data->trace;
    struct layer *live = panel_layer(p, MARK_STEPS, NULL), *peak = NULL;
    struct curve c = { .any = false };
    double before = NAN;

    figure_set(&live->label, "%s", trace->counters[counter].name);
    style_nth(&live->style, nth);
    if (peaks) {
        peak = panel_layer(p, MARK_STEPS, NULL);
        figure_set(&peak->label, "%s, highest so far", trace->counters[counter].name);
        style_nth(&peak->style, nth);
        peak->style.dash = DASH_SHORT;
        peak->style.width = 1.4;
    }
    for (size_t i = 0; i < trace->nr_samples; i++) {
        const struct prof_sample *s = &trace->samples[i];
        if (s->counter != counter || s->time >= w->high)
            continue;
        if (s->time < w->low) {
            before = s->value;
            continue;
        }
        if (isfinite(before))
            extend_layers(live, peak, &c, 0, before);
        before = NAN;
        extend_layers(live, peak, &c, profile_at(w, s->time), s->value);
    }
    if (isfinite(before))
        extend_layers(live, peak, &c, 0, before);
    if (c.any)
        extend_layers(live, peak, &c, profile_at(w, w->high), c.last);
    return c.any;
}

/* Where nothing counted bytes all the time, what scopes found when they ended. */
static bool profile_memory_add_scopes(struct panel *p, const struct profile_data *data,
                                      const struct profile_window *w)
{
    struct layer *live = panel_layer(p, MARK_POINTS, "live at the end of a scope");
    struct layer *peak = panel_layer(p, MARK_POINTS, "peak in a scope");
    bool any = false;

    style_nth(&live->style, 0);
    style_nth(&peak->style, 1);
    live->style.size = peak->style.size = 6;
    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        if (s->memory_peak < 0 || s->start < w->low || s->start >= w->high)
            continue;
        layer_add(live, profile_at(w, s->start + s->duration), (double)s->memory_live);
        layer_add(peak, profile_at(w, s->start + s->duration), (double)s->memory_peak);
        any = true;
    }
    return any;
}

static bool profile_memory_add_memory(struct panel *p, const struct profile_data *data,
                                      const struct profile_window *w, bool peaks)
{
    bool any = false;
    size_t nth = 0;

    for (size_t i = 0; i < data->trace.nr_counters && nth < CURVES_MAX; i++)
        if (profile_memory_is_memory(&data->trace.counters[i]))
            any |= profile_memory_add_counter(p, data, (int)i, w, peaks, nth++);
    return any || profile_memory_add_scopes(p, data, w);
}

static bool profile_memory_has_copies(const struct profile_data *data,
                                      const struct profile_window *w)
{
    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        if (profile_is_transfer(s) && s->start >= w->low && s->start < w->high)
            return true;
    }
    return false;
}

static void widen_range(double value, double *low, double *high)
{
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* Why memory over time says nothing: nobody followed it, or it never changed. NULL: it did. */
static const char *profile_memory_absence(const struct profile_data *data, char *words, size_t size)
{
    double low = INFINITY, high = -INFINITY;
    char text[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < data->main.nr_slices; i++)
        if (data->main.slices[i].memory_peak >= 0) {
            widen_range((double)data->main.slices[i].memory_live, &low, &high);
            widen_range((double)data->main.slices[i].memory_peak, &low, &high);
        }
    for (size_t i = 0; i < data->trace.nr_samples; i++)
        if (profile_memory_is_memory(&data->trace.counters[data->trace.samples[i].counter]))
            widen_range(data->trace.samples[i].value, &low, &high);
    if (low < high)
        return NULL;
    if (low > high)
        snprintf(words, size, "memory was not followed (prof_memory())");
    else
        snprintf(words, size, "memory stays at %s all the time",
                 quantity_text(QUANTITY_BYTES, "", high, text));
    return words;
}

static struct panel *memory_panel(struct figure *f, double height)
{
    struct panel *p = figure_panel(f);

    p->plot_height = height;
    profile_time_axis(&p->x);
    p->x.low = 0;
    axis_set(&p->y, "memory", QUANTITY_BYTES, "", AXIS_LINEAR);
    p->y.low = 0;
    return p;
}

void build_profile_memory(const struct chart *chart, struct figure *f)
{
    char text[QUANTITY_TEXT_SIZE];
    int64_t most = 0;

    if (!profile_has_slices(f, chart))
        return;
    const struct profile_data *data = chart->profile;
    struct profile_window w = profile_window_of(data, SIZE_MAX, SIZE_MAX);
    char why[PROFILE_WORDS_SIZE];
    if (profile_memory_absence(data, why, sizeof(why))) {
        chart_absent(f, "%s", why);
        return;
    }
    profile_memory_add_memory(memory_panel(f, 300), data, &w, true);
    for (size_t i = 0; i < data->main.nr_slices; i++)
        most = data->main.slices[i].memory_peak > most ? data->main.slices[i].memory_peak : most;
    for (size_t i = 0; i < data->trace.nr_samples; i++)
        if (profile_memory_is_memory(&data->trace.counters[data->trace.samples[i].counter]))
            most = (int64_t)fmax((double)most, data->trace.samples[i].value);
    profile_caption(f, chart, "Bytes that were allocated and not yet given back.");
    figure_set(&f->alt, "Lines of live memory over time; at most %s.",
               quantity_text(QUANTITY_BYTES, "", (double)most, text));
}

/* ---- lanes ---- */

enum lane { LANE_COPIES, LANE_SCOPES, LANE_KERNELS, LANE_NR };

static const char *const lane_names[LANE_NR] = {
    [LANE_COPIES] = "copies",
    [LANE_SCOPES] = "operations",
    [LANE_KERNELS] = "kernels",
};

/* Outermost operations: those right inside the outermost slice, or it itself where it is alone. A
 * scope of a stream would lie over its kernels. */
static int profile_memory_lane_of(const struct profile_data *data, const bool *holds, size_t i)
{
    const struct prof_slice *s = &data->main.slices[i];

    if (profile_is_transfer(s))
        return LANE_COPIES;
    if (profile_on_device(&data->main, s))
        return holds[i] && profile_kind_of(&data->main, s) == PROFILE_SCOPE ? -1 : LANE_KERNELS;
    bool is_second = s->parent >= 0 && data->main.slices[s->parent].parent < 0;
    return is_second && !profile_is_call(s) ? LANE_SCOPES : -1;
}

/* By slice the lane that it is seen in, or -1. Owned by the caller. */
static int *profile_memory_lanes(const struct profile_data *data, const struct profile_window *w)
{
    int *lanes = memory_zeroed(data->main.nr_slices + 1, sizeof(*lanes));
    bool *holds = profile_holders(&data->main);

    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        lanes[i] = s->start >= w->low && s->start < w->high && !(s->flags & PROF_INSTANT_POINT)
                       ? profile_memory_lane_of(data, holds, i)
                       : -1;
    }
    free(holds);
    return lanes;
}

/* A row for each lane with something in it: without a device there are operations alone. */
static void profile_memory_name_lanes(struct panel *p, const struct profile_data *data,
                                      const int *lanes, int rows[LANE_NR])
{
    const char *names[LANE_NR];
    bool used[LANE_NR] = { false };
    size_t nr = 0;

    for (size_t i = 0; i < data->main.nr_slices; i++) {
        if (lanes[i] >= 0)
            used[lanes[i]] = true;
    }
    for (int lane = 0; lane < LANE_NR; lane++) {
        rows[lane] = (int)nr;
        if (used[lane])
            names[nr++] = lane_names[lane];
    }
    axis_names(&p->y, names, nr, true);
    p->plot_height = fmax(36, (double)nr * 28);
}

static void profile_memory_add_lanes(struct panel *p, const struct profile_data *data,
                                     const struct profile_window *w, const int *lanes,
                                     const int rows[LANE_NR], size_t count[LANE_NR])
{
    double units = fmax(1, (double)(w->high - w->low));
    struct profile_blocks blocks;
    char words[400 + PROFILE_WHOLE_SIZE], whole[PROFILE_WHOLE_SIZE], shown[KERNEL_NAME_SIZE];
    char text[QUANTITY_TEXT_SIZE], bytes[QUANTITY_TEXT_SIZE];

    profile_blocks_init(&blocks, p, units, text_width("operations", 12, false));
    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        int lane = lanes[i];
        if (lane < 0)
            continue;
        const char *name =
            profile_shown_name(lane == LANE_KERNELS ? PROF_DEVICE : PROF_HOST, s->name, shown);
        snprintf(words, sizeof(words), "%.200s\n%s%s%s%s", name,
                 quantity_text(QUANTITY_TIME, "", (double)s->duration, text),
                 s->bytes > 0 ? ", " : "",
                 s->bytes > 0 ? quantity_text(QUANTITY_BYTES, "", (double)s->bytes, bytes) : "",
                 profile_whole_line(name, s->name, whole));
        profile_blocks_add(&blocks, profile_kind_of(&data->main, s), count[lane]++ % 2 != 0,
                           rows[lane], profile_at(w, s->start),
                           profile_at(w, s->start + s->duration), words);
    }
}

static void profile_memory_add_lane_panel(struct figure *f, const struct profile_data *data,
                                          const struct profile_window *w, size_t count[LANE_NR])
{
    struct panel *p = figure_panel(f);
    int *lanes = profile_memory_lanes(data, w), rows[LANE_NR];

    f->aligned = true;
    profile_memory_name_lanes(p, data, lanes, rows);
    profile_time_axis(&p->x);
    p->x.low = 0;
    p->x.high = (double)(w->high - w->low);
    profile_memory_add_lanes(p, data, w, lanes, rows, count);
    figure_set(&p->title, "what ran meanwhile");
    free(lanes);
}

/* Copies are shown where nothing followed memory, too. */
void build_profile_lanes(const struct chart *chart, struct figure *f)
{
    size_t count[LANE_NR] = { 0 };
    char words[PROFILE_WORDS_SIZE], why[PROFILE_WORDS_SIZE];

    if (!profile_has_slices(f, chart))
        return;
    const struct profile_data *data = chart->profile;
    struct profile_window w = profile_window_of(data, MOST, CALLS);
    const char *absence = profile_memory_absence(data, why, sizeof(why));
    if (absence && !profile_memory_has_copies(data, &w)) {
        chart_absent(f, "%s, and nothing was copied", absence);
        return;
    }
    if (!absence) {
        struct panel *memory = memory_panel(f, 180);
        profile_memory_add_memory(memory, data, &w, false);
        memory->x.high = (double)(w.high - w.low);
        figure_set(&memory->title, "live memory");
    }
    profile_memory_add_lane_panel(f, data, &w, count);
    profile_caption(f, chart, "%s%s%sOperations are those right inside the outermost one.%s",
                    absence ? "No line: " : "Both panels have the same time axis. ",
                    absence ? absence : "", absence ? ". " : "",
                    profile_window_words(data, &w, words));
    figure_set(&f->alt, "%s of %zu copies, %zu operations and %zu kernels.",
               absence ? "Lanes" : "Line of live memory over time, above lanes", count[LANE_COPIES],
               count[LANE_SCOPES], count[LANE_KERNELS]);
}
