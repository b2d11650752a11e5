/* SPDX-License-Identifier: MIT */
/* Samples in the order measured, one panel a benchmark: warm-up that never ended, drift, modes in
 * time and outliers are seen here and nowhere else. Launches are fresh processes and stand one
 * after the other, with a light rule between. */
#include "base/memory.h"
#include "chart/base/chart_samples.h"
#include "chart/types/chart_types.h"
#include "figure/figure_axis.h"
#include "metrics/thin_series.h"
#include "text/textwidth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sequence {
    const struct chart_item *item;
    double *values; /* as the chart draws them; NaN for the rate of 0 ns. Owned */
    size_t n;
    size_t *starts; /* first value of each launch, then n; owned */
    size_t nr_launches;
    /* How much there is to see: how far medians of stretches lie apart (drift, modes in time,
     * launches that differ), and a part of how long the tail is; both relative to the median. */
    double interest;
};

enum { SEQUENCE_NAME_SIZE = 32 };

enum { TEXT_SIZE = 12 };

static const struct group *iterations_group_of(const struct chart_samples *s,
                                               const struct chart_item *item)
{
    return &s->items->rows[item->run].groups.items[item->row];
}

static bool iterations_has_samples(const struct chart_samples *s, const struct chart_item *item,
                                   const struct record *r)
{
    return &s->chart->records->runs[r->run] == item->of && r->m.outcome == OUTCOME_OK &&
           r->m.nr_samples > 0 && r->m.batch > 0;
}

/* Keeps the items whose samples have an order. Where none is left the figure says why; false. */
static bool sequence_keep_ordered(struct chart_samples *s)
{
    size_t kept = 0, all = s->items->nr;

    for (size_t i = 0; i < all; i++)
        if (!s->items->items[i].summary->m->thinned)
            s->items->items[kept++] = s->items->items[i];
    s->items->nr = kept;
    if (kept == 0)
        chart_absent(s->f,
                     "of %zu benchmark%s only summaries of the samples are kept (`harness history "
                     "prune`): the order in which they were measured is gone",
                     all, all == 1 ? "" : "s");
    return kept > 0;
}

/* A quantile of the values in [begin, end); NaN where there is none. */
static double sequence_quantile(const struct sequence *sequence, size_t begin, size_t end, double p)
{
    double *part = memory_zeroed(end - begin + 1, sizeof(*part));
    size_t nr = 0;

    for (size_t i = begin; i < end; i++)
        if (isfinite(sequence->values[i]))
            part[nr++] = sequence->values[i];
    double value = stats_select_quantile(part, nr, p);
    free(part);
    return value;
}

static double iterations_interest_of(const struct sequence *sequence)
{
    enum { STRETCHES = 10 };
    double least = INFINITY, most = 0, median = sequence_quantile(sequence, 0, sequence->n, 0.5);

    for (size_t i = 0; i < STRETCHES; i++) {
        size_t begin = i * sequence->n / STRETCHES, end = (i + 1) * sequence->n / STRETCHES;
        double value = sequence_quantile(sequence, begin, end, 0.5);
        if (end - begin < 5 || !isfinite(value))
            continue;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    double moves = most > 0 ? (most - least) / median : 0;
    double tail = sequence_quantile(sequence, 0, sequence->n, 0.99) / median - 1;
    return moves + 0.25 * fmin(fmax(tail, 0), 4);
}

static void iterations_add_launch(struct sequence *sequence, const struct measurement *m,
                                  struct sample_unit unit)
{
    sequence->starts[sequence->nr_launches++] = sequence->n;
    for (size_t i = 0; i < m->nr_samples; i++)
        sequence->values[sequence->n++] = sample_value(unit, (double)m->samples[i] / m->batch);
}

/* Launches that are not OK or have no samples are not there. */
static void sequence_init(struct sequence *sequence, const struct chart_samples *s,
                          const struct chart_item *item)
{
    const struct group *group = iterations_group_of(s, item);
    struct sample_unit unit = chart_samples_unit(s, item);

    *sequence = (struct sequence) { .item = item };
    sequence->starts = memory_zeroed(group->nr + 1, sizeof(*sequence->starts));
    sequence->values = memory_zeroed(item->summary->n + 1, sizeof(*sequence->values));
    for (size_t i = 0; i < group->nr; i++)
        if (iterations_has_samples(s, item, group->items[i]))
            iterations_add_launch(sequence, &group->items[i]->m, unit);
    sequence->starts[sequence->nr_launches] = sequence->n;
    sequence->interest = iterations_interest_of(sequence);
}

static void sequence_release(struct sequence *sequence)
{
    free(sequence->values);
    free(sequence->starts);
}

static double launch_room(const struct sequence *sequence, double width, size_t k)
{
    double samples = (double)(sequence->starts[k + 1] - sequence->starts[k]);

    return width * samples / (double)sequence->n - 6;
}

/* What is too narrow for its number has no name and need not have room for one. */
static bool iterations_has_room_for_words(const struct sequence *sequence, double width)
{
    double number = text_width("00", TEXT_SIZE, false);
    double words = text_width("launch 00", TEXT_SIZE, false);

    for (size_t k = 0; k < sequence->nr_launches; k++) {
        double room = launch_room(sequence, width, k);
        if (room >= number && room < words)
            return false;
    }
    return true;
}

enum {
    LIMIT = 6,
    ROLLING_LEAST = 5,  /* of fewer samples a moving median only follows them */
    POINTS_MAX = 800,   /* a panel */
    MEDIANS_MAX = 300,  /* points of the moving median */
    WINDOWS_MAX = 12,   /* a launch */
    WINDOW_MIN = 59,    /* samples that carry a p95, see stats_quantile_needs() */
    PANEL_WIDTH = 1000, /* of all plot areas side by side, about */
    TITLE_SIZE = 14,
    TITLE_BESIDE = 50, /* a title begins above the axis' own texts */
    PANEL_HEIGHT = 200,
    PANEL_HEIGHT_ALONE = 380,
};

/* The part of a panel above its values. */
#define HEAD 0.14
/* Values further than this many widths of p5 to p95 outside of it are drawn at the frame. */
#define BEYOND 2.0

/* Values outside of these are drawn at the frame. */
struct limits {
    double low, high;
};

/* What the title of a panel says, as far as there is room. */
enum title { TITLE_ALL, TITLE_MEDIAN, TITLE_NAME };

struct iterations {
    struct chart_samples s;
    struct sequence *items; /* one each of s.items */
    size_t nr;
    size_t drawn, samples, beyond; /* of the panels shown */
    bool banded, rolled, several;  /* there are windows, moving medians, several launches */
    enum title titles;             /* of all panels alike */
};

static void iterations_read_all(struct iterations *it)
{
    it->items = memory_zeroed(it->s.items->nr, sizeof(*it->items));
    for (size_t i = 0; i < it->s.items->nr; i++)
        sequence_init(&it->items[it->nr++], &it->s, &it->s.items->items[i]);
}

/* The least interesting go first; those that stay keep their order. */
static void iterations_choose(struct iterations *it, size_t limit)
{
    bool *keep = memory_zeroed(it->nr + 1, sizeof(*keep));
    double *interests = memory_zeroed(it->nr + 1, sizeof(*interests));
    size_t kept = 0;

    for (size_t i = 0; i < it->nr; i++)
        interests[i] = it->items[i].interest;
    chart_mark_heaviest(interests, it->nr, limit, keep);
    free(interests);
    for (size_t i = 0; i < it->nr; i++) {
        if (keep[i])
            it->items[kept++] = it->items[i];
        else
            sequence_release(&it->items[i]);
    }
    it->nr = kept;
    chart_items_keep(it->s.items, keep);
    for (size_t i = 0; i < it->nr; i++)
        it->items[i].item = &it->s.items->items[i];
    free(keep);
}

/* The frame holds the body; what lies far outside would flatten it. Above the values there is a row
 * for what lies beyond and one for the names of launches. */
static struct limits iterations_set_frame(const struct iterations *it, struct panel *p,
                                          const struct sequence *sequence)
{
    double p5 = sequence_quantile(sequence, 0, sequence->n, 0.05);
    double p95 = sequence_quantile(sequence, 0, sequence->n, 0.95);
    double low = sequence_quantile(sequence, 0, sequence->n, 0);
    double high = sequence_quantile(sequence, 0, sequence->n, 1);
    const struct preset *preset = it->s.chart->preset;

    if (p95 > p5) {
        high = fmin(high, p95 + BEYOND * (p95 - p5));
        low = fmax(low, p5 - BEYOND * (p95 - p5));
    }
    chart_samples_axis(&it->s, &p->y, preset->y_label,
                       preset->y_scale == SCALE_LOG ? SCALE_LOG : SCALE_LINEAR, low, high);
    struct limits limits = { p->y.low, p->y.high };
    p->y.high = axis_value(&p->y, 1 / (1 - HEAD));
    p->x.low = 0.5 - 0.01 * (double)sequence->n;
    p->x.high = (double)sequence->n * 1.01 + 0.5;
    return limits;
}

static void iterations_add_launches(const struct iterations *it, struct panel *p,
                                    const struct sequence *sequence)
{
    struct layer *rules = panel_stroke(p, MARK_RULES, NULL, INK_LIGHT, DASH_SOLID, 1.4);
    struct layer *names = panel_layer(p, MARK_TEXT, NULL);
    double width = it->s.f->columns > 1 ? PANEL_WIDTH / 2.0 : PANEL_WIDTH;
    char text[SEQUENCE_NAME_SIZE];

    names->style.ink = INK_GREY;
    for (size_t k = 0; sequence->nr_launches > 1 && k < sequence->nr_launches; k++) {
        double at = (double)sequence->starts[k] + 0.5;
        if (k > 0)
            layer_add(rules, at, NAN);
        /* The name of a launch above its part of a plot this wide, in pixels: "launch 2" where the
         * launches have room for that, else "2" after "launch 1"; "" for one that is too narrow for
         * its number. */
        double room = launch_room(sequence, width, k);
        bool words = k == 0 || iterations_has_room_for_words(sequence, width);
        snprintf(text, SEQUENCE_NAME_SIZE, "launch %zu", k + 1);
        if (!words || text_width(text, TEXT_SIZE, false) > room)
            snprintf(text, SEQUENCE_NAME_SIZE, "%zu", k + 1);
        if (text_width(text, TEXT_SIZE, false) > room)
            text[0] = '\0';
        if (!text[0])
            continue;
        struct datum *d = layer_add_text(names, at, p->y.high, ANCHOR_LEFT, text);
        d->dx = 4;
        d->dy = 8;
    }
}

/* Points outside the frame are drawn at it, as arrow heads that say so. */
static void iterations_add_points(struct iterations *it, struct panel *p,
                                  const struct sequence *sequence, struct limits limits)
{
    size_t kept[POINTS_MAX], nr = thin_series(sequence->values, sequence->n, POINTS_MAX, kept);
    struct layer *points = panel_layer(p, MARK_POINTS, "a sample");
    struct layer *above = panel_layer(p, MARK_POINTS, "a sample above the frame");
    struct layer *below = panel_layer(p, MARK_POINTS, "a sample below the frame");

    points->style.size = nr > 300 ? 3 : 4;
    points->style.opacity = 0.6;
    above->style.ink = below->style.ink = INK_VERMILLION;
    above->style.shape = SHAPE_TRIANGLE_UP;
    below->style.shape = SHAPE_TRIANGLE_DOWN;
    above->style.size = below->style.size = 6;
    for (size_t i = 0; i < nr; i++) {
        double value = sequence->values[kept[i]], at = (double)kept[i] + 1;
        bool over = value > limits.high, under = value < limits.low;
        if (over || under)
            layer_add(over ? above : below, at, axis_value(&p->y, over ? 1 - 0.75 * HEAD : 0.02));
        else if (isfinite(value))
            layer_add(points, at, value);
    }
    it->drawn += nr;
    it->samples += sequence->n;
    for (size_t i = 0; i < sequence->n; i++) {
        double value = sequence->values[i];
        it->beyond += value > limits.high || value < limits.low;
    }
}

/* A gap after what a launch has drawn; none after nothing. */
static void iterations_end_part(struct layer *s)
{
    if (s->nr && !isnan(s->items[s->nr - 1].x))
        layer_add(s, NAN, NAN);
}

/* Medians of `window` samples, fewer at both ends and of a short launch, around places that are
 * evenly apart; each launch on its own. */
static void iterations_add_rolling(struct iterations *it, struct panel *p,
                                   const struct sequence *sequence, struct limits limits)
{
    size_t most = (size_t)it->s.chart->preset->rolling_window;
    size_t every = 1 + sequence->n / MEDIANS_MAX;
    char label[48];

    snprintf(label, sizeof(label), "moving median of %zu", most);
    struct layer *line = panel_layer(p, MARK_LINE, label);
    line->style.ink = INK_VERMILLION;
    for (size_t k = 0; most > 1 && k < sequence->nr_launches; k++) {
        size_t begin = sequence->starts[k], end = sequence->starts[k + 1];
        size_t window = (end - begin) / 4 < most ? (end - begin) / 4 : most;
        for (size_t at = begin; window >= ROLLING_LEAST && at < end; at += every) {
            size_t first = at - begin < window / 2 ? begin : at - window / 2;
            size_t last = at + window / 2 + 1 < end ? at + window / 2 + 1 : end;
            double median = sequence_quantile(sequence, first, last, 0.5);
            layer_add(line, (double)at + 1, median <= limits.high ? median : (double)NAN);
        }
        iterations_end_part(line);
    }
    it->rolled |= line->nr > 0;
}

/* Per-window statistics: p50 to p95 of each stretch that has samples enough for a p95. */
static void iterations_add_windows(struct iterations *it, struct panel *p,
                                   const struct sequence *sequence, struct limits limits)
{
    struct layer *band =
        panel_layer(p, MARK_BAND, it->s.rate ? "p5 to p50 of a window" : "p50 to p95 of a window");

    band->style = (struct style) { .ink = INK_GREEN, .opacity = 0.25, .width = 1 };
    for (size_t k = 0; k < sequence->nr_launches; k++) {
        size_t begin = sequence->starts[k], n = sequence->starts[k + 1] - begin;
        size_t nr = n / WINDOW_MIN < WINDOWS_MAX ? n / WINDOW_MIN : WINDOWS_MAX;
        for (size_t w = 0; w < nr; w++) {
            size_t from = begin + w * n / nr, to = begin + (w + 1) * n / nr;
            double low = sequence_quantile(sequence, from, to, 0.5);
            double high = sequence_quantile(sequence, from, to, it->s.rate ? 0.05 : 0.95);
            for (int side = 0; side < 2; side++) {
                struct datum *d = layer_add(band, (double)(side ? to : from) + 0.5, NAN);
                d->low = fmin(low, high);
                d->high = fmin(fmax(low, high), limits.high); /* names stand above */
            }
        }
        iterations_end_part(band);
        it->banded |= nr > 0;
    }
}

static void iterations_make_title(const struct iterations *it, const struct sequence *sequence,
                                  enum title words, char **title)
{
    const char *name = it->nr == 1 ? sequence->item->bench->key : sequence->item->label;
    char text[QUANTITY_TEXT_SIZE];

    chart_samples_median_text(&it->s, sequence->item, text);
    if (words == TITLE_ALL)
        figure_set(title, "%s  (p50 %s, n %zu)", name, text, sequence->n);
    else if (words == TITLE_MEDIAN)
        figure_set(title, "%s  (p50 %s)", name, text);
    else
        figure_set(title, "%s", name);
}

/* Numbers go before names lose their middle. */
static enum title iterations_choose_titles(const struct iterations *it)
{
    double room = it->s.f->columns > 1 ? PANEL_WIDTH / 2.0 : PANEL_WIDTH;
    enum title words = TITLE_ALL;
    char *title = NULL;

    for (size_t i = 0; i < it->nr && words < TITLE_NAME; i++) {
        for (; words < TITLE_NAME; words++) {
            iterations_make_title(it, &it->items[i], words, &title);
            if (text_width(title, TITLE_SIZE, true) <= room + TITLE_BESIDE)
                break;
        }
    }
    free(title);
    return words;
}

static void iterations_add_panel(struct iterations *it, const struct sequence *sequence)
{
    struct panel *p = figure_panel(it->s.f);

    chart_about(it->s.f, sequence->item);
    iterations_make_title(it, sequence, it->titles, &p->title);
    axis_set(&p->x,
             it->s.chart->preset->x_label ? it->s.chart->preset->x_label
                                          : "sample, in the order measured",
             QUANTITY_PLAIN, "", AXIS_LINEAR);
    p->x.whole = true;
    p->plot_height = it->nr > 2 ? PANEL_HEIGHT : PANEL_HEIGHT_ALONE;
    it->several |= sequence->nr_launches > 1;
    struct limits limits = iterations_set_frame(it, p, sequence);
    iterations_add_windows(it, p, sequence, limits);
    iterations_add_launches(it, p, sequence);
    iterations_add_points(it, p, sequence, limits);
    iterations_add_rolling(it, p, sequence, limits);
    chart_about(it->s.f, NULL);
}

static void iterations_add_caption(struct iterations *it)
{
    int window = it->s.chart->preset->rolling_window;
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb, "Points: samples in the order measured");
    if (it->drawn < it->samples)
        strbuf_addf(&sb,
                    ", %zu of %zu drawn (of each stretch the least, the largest and two others)",
                    it->drawn, it->samples);
    strbuf_addf(&sb, ".%s",
                it->several ? " Upright lines part the launches, which are fresh "
                              "processes."
                            : "");
    if (it->rolled)
        strbuf_addf(&sb, " Line: moving median of %d, of fewer where a launch is short.", window);
    if (it->banded)
        strbuf_addf(&sb, " Band: %s of stretches of %d samples or more.",
                    it->s.rate ? "p5 to p50" : "p50 to p95", WINDOW_MIN);
    if (it->beyond)
        strbuf_addf(&sb, " Triangles at the frame: %zu sample%s beyond it.", it->beyond,
                    it->beyond == 1 ? "" : "s");
    chart_samples_explain(&it->s, &sb);
    chart_caption(it->s.f, it->s.items, "those whose medians move most, or with the longest tails",
                  "%s", sb.data);
    strbuf_release(&sb);
}

static void iterations_draw(struct iterations *it)
{
    it->s.f->columns = it->nr > 1 ? 2 : 1;
    it->titles = iterations_choose_titles(it);
    for (size_t i = 0; i < it->nr; i++)
        iterations_add_panel(it, &it->items[i]);
    const struct sequence *most = &it->items[0];
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    for (size_t i = 1; i < it->nr; i++)
        if (it->items[i].interest > most->interest)
            most = &it->items[i];
    chart_text(&it->s.metric, sequence_quantile(most, 0, most->n, 0.05), low);
    chart_text(&it->s.metric, sequence_quantile(most, 0, most->n, 0.95), high);
    iterations_add_caption(it);
    figure_set(&it->s.f->alt,
               "%zu samples of %zu benchmark%s in the order measured, as %s; the least steady is "
               "%s, with 9 of 10 samples from %s to %s.",
               it->samples, it->nr, it->nr == 1 ? "" : "s",
               it->s.rate ? it->s.metric.label : "latency", most->item->label, low, high);
}

void build_iterations(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct iterations it = { .nr = 0 };

    if (!chart_samples_init(&it.s, chart, items, f, SCALE_LINEAR) || !sequence_keep_ordered(&it.s))
        return;
    iterations_read_all(&it);
    iterations_choose(&it, chart_limit(chart->preset, LIMIT));
    iterations_draw(&it);
    for (size_t i = 0; i < it.nr; i++)
        sequence_release(&it.items[i]);
    free(it.items);
}
