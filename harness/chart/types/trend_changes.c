/* SPDX-License-Identifier: MIT */
/* What the search for change points found, in a panel of a trend: orange for the worse, blue for
 * the better, grey where it is accepted or went back. Signs and words say the same. */
#include "base/memory.h"
#include "base/text.h"
#include "chart/types/trend_marks.h"
#include "reporters/trend/trend_cards.h"
#include "text/textwidth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. Labels of steps side by side take rows of two lines below each other. */
enum { TEXT_SIZE = 12, LINE = 15, LABEL_ROWS = 3 };

struct drawing {
    struct panel *p;
    const struct trends *t;
    const struct trend *trend;
    const struct trend_runs *runs;
    double top, width;        /* of the panel: its highest value; pixels, about */
    int row;                  /* of the first label; those below are taken */
    double taken[LABEL_ROWS]; /* where the newest label of each row ends, pixels */
    double first, last;       /* x of the panel's ends */
};

static double place_of(const struct drawing *d, size_t point)
{
    return d->runs->position[d->trend->series->items[point].run];
}

/* Between the last run of the old level and the first one of the new. */
static double border_of(const struct drawing *d, size_t point)
{
    return (place_of(d, point - 1) + place_of(d, point)) / 2;
}

/* ---- labels ---- */

/* Two lines: what it is, and which commits when. */
struct change_label {
    char what[TEXT_UNIT_SIZE + 96], where[96];
    double width; /* pixels */
};

static void label_measure(struct change_label *l)
{
    l->width = fmax(text_width(l->what, TEXT_SIZE, true), text_width(l->where, TEXT_SIZE, false));
}

static void label_of_step(const struct drawing *d, const struct trend_step *step,
                          struct change_label *l)
{
    char change[TEXT_UNIT_SIZE], when[TEXT_UNIT_SIZE];
    const struct run *after = trend_run_after(d->t, d->trend, step);
    struct strbuf commits;

    snprintf(l->what, sizeof(l->what), "%s %s%s%.60s", step->worse ? "▲" : "▼",
             text_percent(step->change, change),
             step->accepted ? ", accepted: "
             : step->back   ? ", went back"
             : step->epoch  ? ", environment changed"
                            : "",
             step->accepted ? step->accepted->reason : "");
    strbuf_init(&commits);
    if (after->build.commit[0])
        trend_commits(d->t, d->trend, step, &commits);
    snprintf(l->where, sizeof(l->where), "%s%s%.10s", commits.length ? commits.data : "",
             commits.length ? ", " : "", text_timestamp(after->started_ms, when));
    strbuf_release(&commits);
    label_measure(l);
}

/* What is too long for the wider side of the line loses its end. */
static void label_cut(const struct drawing *d, struct change_label *l, double share)
{
    enum { AIR = 30 }; /* bold is wider than what text_cut() reckons with, and there is a gap */
    double room = fmax(share, 1 - share) * d->width - AIR;

    if (l->width <= room)
        return;
    char *cut = text_cut(l->what, TEXT_SIZE * 1.1, room);
    snprintf(l->what, sizeof(l->what), "%s", cut);
    free(cut);
    label_measure(l);
}

/* The first row in which a label has room from `begin` on. */
static int free_row(struct drawing *d, double begin, double end)
{
    int row = 0;

    while (row + 1 < LABEL_ROWS && d->taken[row] > begin)
        row++;
    d->taken[row] = end;
    return row;
}

enum { LABEL_GAP = 6 }; /* pixels between a label and its line */

static double pixel_of(const struct drawing *d, double x)
{
    return (x - d->first) / (d->last - d->first) * d->width;
}

/* The pixel at which a label beside `x` begins. */
static double label_begin(const struct drawing *d, const struct change_label *l, double x,
                          bool left)
{
    return pixel_of(d, x) + (left ? -l->width - LABEL_GAP : LABEL_GAP);
}

static void add_label(struct drawing *d, const struct change_label *l, double x, bool left,
                      enum ink ink)
{
    enum { GAP = LABEL_GAP };
    double begin = label_begin(d, l, x, left);
    int row = d->row + 2 * free_row(d, begin, begin + l->width + GAP);
    const char *const lines[] = { l->what, l->where };

    for (int i = 0; i < 2; i++) {
        struct layer *texts = panel_layer(d->p, MARK_TEXT, NULL);
        texts->style.ink = i ? INK_GREY : ink;
        texts->style.bold = !i;
        struct datum *datum =
            layer_add_text(texts, x, d->top, left ? ANCHOR_RIGHT : ANCHOR_LEFT, lines[i]);
        datum->dx = left ? -GAP : GAP;
        datum->dy = -9 - LINE * (row + 1 - i);
    }
}

/* On the side of the lower level there is most air, unless it has no room for the text. */
static bool stands_left(const struct drawing *d, const struct change_label *l, double x, bool rises)
{
    double share = (x - d->first) / (d->last - d->first), need = l->width / d->width;

    if (share >= need && 1 - share >= need)
        return rises;
    return share > 1 - share;
}

/* ---- steps ---- */

static enum ink ink_of_change(bool worse, bool excused)
{
    if (excused)
        return INK_GREY;
    return worse ? INK_VERMILLION : INK_BLUE;
}

static enum ink ink_of(const struct trend_step *step)
{
    return ink_of_change(step->worse, step->accepted || step->back);
}

static const char *legend_of(enum ink ink)
{
    return ink == INK_GREY         ? "accepted, or went back"
           : ink == INK_VERMILLION ? "step for the worse"
                                   : "step for the better";
}

static void add_level(struct layer *levels, double from, double to, double level)
{
    layer_add(levels, from, level);
    layer_add(levels, to, level);
    layer_add(levels, NAN, NAN);
}

/* Where the step may have come: after the run before `low`, by `high`. */
static void add_window(const struct drawing *d, const struct trend_step *step)
{
    struct layer *window = panel_layer(d->p, MARK_BAND, NULL);
    size_t from = step->low > 0 ? step->low - 1 : 0;

    window->style.ink = ink_of(step);
    window->style.opacity = 0.14;

    layer_add_interval(window, place_of(d, from), -INFINITY, INFINITY);
    layer_add_interval(window, place_of(d, step->high), -INFINITY, INFINITY);
}

/* The level before the first step is grey; each other has the colour of the step to it. */
static void add_levels(const struct drawing *d)
{
    const struct trend *trend = d->trend;
    struct layer *before = panel_stroke(d->p, MARK_LINE, "level", INK_GREY, DASH_SHORT, 1.6);

    add_level(before, d->first, border_of(d, trend->items[0].index), trend->items[0].before);
    for (size_t i = 0; i < trend->nr; i++) {
        const struct trend_step *step = &trend->items[i];
        double to = i + 1 < trend->nr ? border_of(d, step[1].index) : d->last;
        struct layer *since = panel_stroke(d->p, MARK_LINE, NULL, ink_of(step), DASH_SHORT, 2);
        add_level(since, border_of(d, step->index), to, step->after);
    }
}

/* The label of the i-th step, and the side of its line on which it stands. */
static bool label_place(const struct drawing *d, size_t i, struct change_label *label)
{
    const struct trend_step *step = &d->trend->items[i];
    double x = border_of(d, step->index);

    label_of_step(d, step, label);
    label_cut(d, label, (x - d->first) / (d->last - d->first));
    return stands_left(d, label, x, step->after > step->before);
}

/* Would the line of the i-th step strike through the label of another? */
static bool line_strikes(const struct drawing *d, size_t i)
{
    double at = pixel_of(d, border_of(d, d->trend->items[i].index));

    for (size_t k = 0; k < d->trend->nr; k++) {
        struct change_label label;
        bool left = label_place(d, k, &label);
        double begin = label_begin(d, &label, border_of(d, d->trend->items[k].index), left);
        if (k != i && at > begin && at < begin + label.width)
            return true;
    }
    return false;
}

/* From top to bottom, or below the labels. */
static void add_step_line(const struct drawing *d, size_t i, double x, enum ink ink)
{
    bool whole = !line_strikes(d, i);
    struct layer *line =
        panel_stroke(d->p, whole ? MARK_RULES : MARK_LINE, legend_of(ink), ink, DASH_SOLID, 1.8);

    layer_add(line, x, whole ? NAN : d->p->y.low);
    if (!whole)
        layer_add(line, x, d->top);
}

static void add_steps(struct drawing *d)
{
    const struct trend *trend = d->trend;

    add_levels(d);
    for (size_t i = 0; i < trend->nr; i++) {
        const struct trend_step *step = &trend->items[i];
        double x = border_of(d, step->index);
        enum ink ink = ink_of(step);
        struct change_label label;
        add_step_line(d, i, x, ink);
        add_window(d, step);
        bool left = label_place(d, i, &label);
        add_label(d, &label, x, left, ink);
    }
}

/* ---- the drift ---- */

static void add_drift(struct drawing *d)
{
    const struct trend *trend = d->trend;
    const struct trend_drift *drift = &trend->drift;
    enum ink ink = ink_of_change(drift->worse, drift->accepted != NULL);
    struct layer *line = panel_stroke(d->p, MARK_LINE,
                                      ink == INK_GREY         ? "drift, accepted"
                                      : ink == INK_VERMILLION ? "drift for the worse"
                                                              : "drift for the better",
                                      ink, DASH_LONG, 2);
    struct change_label label;
    char change[TEXT_UNIT_SIZE], when[TEXT_UNIT_SIZE];

    for (size_t i = 0, step = 0; i < trend->series->nr; i++) {
        bool new_level = step < trend->nr && trend->items[step].index == i;
        step += new_level;
        if (new_level)
            layer_add(line, NAN, NAN);
        layer_add(line, place_of(d, i), trend_drift_at(trend, i));
    }
    snprintf(label.what, sizeof(label.what), "%s drift, %s in all%s", drift->worse ? "▲" : "▼",
             text_percent(drift->total, change), drift->accepted ? ", accepted" : "");
    snprintf(label.where, sizeof(label.where), "bit by bit since %.10s",
             text_timestamp(trend->series->items[0].time_ms, when));
    label_measure(&label);
    /* At the end that the line is further from. */
    bool rises = drift->total > 0;
    add_label(d, &label, rises ? d->first : d->last, !rises, ink);
}

void trend_marks_add(struct panel *p, const struct trends *t, const struct trend *trend,
                     const struct trend_runs *runs, double top, int rows, double width)
{
    struct drawing d = {
        .p = p, .t = t, .trend = trend, .runs = runs, .top = top, .row = rows, .width = width
    };

    for (int i = 0; i < LABEL_ROWS; i++)
        d.taken[i] = -INFINITY;
    if (!trend->nr && !trend->drifts)
        return;
    d.first = place_of(&d, 0) - 0.5;
    d.last = place_of(&d, trend->series->nr - 1) + 0.5;
    if (trend->drifts)
        add_drift(&d);
    if (trend->nr)
        add_steps(&d);
}
