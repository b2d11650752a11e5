/* SPDX-License-Identifier: MIT */
/* Operations and layers as boxes over the iterations (or calls) of a profile: their times, or the
 * rates of those whose work is known, with the roofs of the machine where these are. */
#include "chart/base/chart_scale.h"
#include "chart/profile/profile_base.h"
#include "chart/profile/profile_samples.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 24, BOX_MIN = 5, STRIP_MAX = 20, ROOF_SIZE = QUANTITY_TEXT_SIZE + 40 };

/* A roof of a panel: "FMA roof (fp32), 61.2 GFLOP/s". */
struct roof_line {
    double value;
    char words[ROOF_SIZE];
};

struct boxes {
    struct sample_rows rows;
    bool by_iteration;
    struct roof_line roofs[TIMELINE_LEVELS];
    size_t nr_roofs;
};

struct box_layers {
    struct layer *whiskers, *boxes, *medians, *means, *ends, *points, *texts;
};

/* Few values are drawn one by one: quartiles of them would be a guess. */
static void profile_boxes_add_box(const struct box_layers *l, const double *values, size_t nr,
                                  size_t row)
{
    double median = stats_quantile(values, nr, 0.5), y = (double)row;

    layer_add_interval(l->medians, median, y - 0.34, y + 0.34);
    for (size_t i = 0; nr < BOX_MIN && i < nr; i++)
        layer_add(l->points, values[i], y);
    if (nr < BOX_MIN)
        return;
    layer_add(l->boxes, stats_quantile(values, nr, 0.75), y)->low =
        stats_quantile(values, nr, 0.25);
    layer_add(l->means, stats_mean(values, nr), y);
    layer_add(l->ends, values[0], y);
    layer_add(l->ends, values[nr - 1], y);
    if (nr >= STRIP_MAX)
        layer_add_interval(l->whiskers, y, stats_quantile(values, nr, 0.05),
                           stats_quantile(values, nr, 0.95));
    else
        layer_add_interval(l->whiskers, y, values[0], values[nr - 1]);
}

/* Where a value would be lost beside another that is 50 times as large. */
static enum axis_scale profile_boxes_scale_of(const struct boxes *b, const struct preset *preset)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < b->rows.nr; i++) {
        const struct sample_row *row = &b->rows.items[i];
        least = fmin(least, row->values[0]);
        most = fmax(most, row->values[row->nr - 1]);
    }
    for (size_t i = 0; i < b->nr_roofs; i++) {
        least = fmin(least, b->roofs[i].value);
        most = fmax(most, b->roofs[i].value);
    }
    return chart_scale(preset, least, most);
}

static struct panel *rows_panel(const struct boxes *b, struct figure *f)
{
    struct prof_row *rows = memory_zeroed(b->rows.nr + 1, sizeof(*rows));

    for (size_t i = 0; i < b->rows.nr; i++)
        rows[i] =
            (struct prof_row) { .name = b->rows.items[i].name, .side = b->rows.items[i].side };
    const struct profile_rows named = { rows, b->rows.nr, b->rows.of };
    struct panel *p = profile_rows_panel(f, &named, false);
    free(rows);
    return p;
}

static void profile_boxes_add_panel(const struct boxes *b, struct figure *f,
                                    const struct preset *preset, const char *label,
                                    enum quantity quantity, const char *base)
{
    struct panel *p = rows_panel(b, f);
    struct box_layers l;
    char text[QUANTITY_TEXT_SIZE + 24], median[QUANTITY_TEXT_SIZE];

    axis_set(&p->x, label, quantity, base, profile_boxes_scale_of(b, preset));
    static const enum dash dashes[] = { DASH_LONG, DASH_SHORT, DASH_DOT };
    for (size_t i = 0; i < b->nr_roofs; i++) {
        struct layer *line = panel_layer(p, MARK_RULES, b->roofs[i].words);
        line->style.ink = INK_VERMILLION;
        line->style.dash = dashes[i % (sizeof(dashes) / sizeof(dashes[0]))];
        line->style.width = 1.6;
        layer_add(line, b->roofs[i].value, NAN);
    }
    l.whiskers = panel_layer(p, MARK_INTERVALS, "p5 to p95");
    l.whiskers->across = true;
    l.whiskers->style.width = 1.4;
    l.boxes = panel_layer(p, MARK_BOXES, "p25 to p75");
    l.boxes->across = true;
    l.boxes->style.ink = INK_BLUE;
    l.boxes->style.opacity = 0.6;
    l.medians = panel_layer(p, MARK_SEGMENTS, "median");
    l.medians->style.width = 2.4;
    l.means = panel_layer(p, MARK_POINTS, "mean");
    l.means->style.ink = INK_VERMILLION;
    l.means->style.shape = SHAPE_DIAMOND;
    l.means->style.size = 6;
    l.ends = panel_layer(p, MARK_POINTS, "min and max");
    l.ends->style.size = 3;
    l.points = panel_layer(p, MARK_POINTS, b->by_iteration ? "an iteration" : "a call");
    l.points->style.size = 5;
    l.points->style.hollow = true;
    l.texts = panel_outside(p);
    for (size_t i = 0; i < b->rows.nr; i++) {
        const struct sample_row *row = &b->rows.items[i];
        profile_boxes_add_box(&l, row->values, row->nr, i);
        snprintf(text, sizeof(text), "%s, n %zu",
                 quantity_text(quantity, base, stats_quantile(row->values, row->nr, 0.5), median),
                 row->nr);
        layer_add_outside(l.texts, i, text);
    }
}

static const struct variety {
    enum profile_sample what;
    const char *title, *label, *base;
    enum quantity quantity;
} varieties[] = {
    { SAMPLE_TIME, "time", "time", "", QUANTITY_TIME },
    { SAMPLE_FLOPS, "computing", "rate", "FLOP/s", QUANTITY_RATE },
    { SAMPLE_BYTES, "moving bytes", "rate", "B/s", QUANTITY_RATE },
};

static void profile_boxes_add_roof(struct boxes *b, const char *name, double value,
                                   const char *base)
{
    struct roof_line *roof = &b->roofs[b->nr_roofs++];
    char text[QUANTITY_TEXT_SIZE];

    roof->value = value;
    snprintf(roof->words, sizeof(roof->words), "%s, %s", name,
             quantity_text(QUANTITY_RATE, base, value, text));
}

/* Of memory the slowest level, and each faster one where some operation is beyond the one before:
 * its operands came from there. */
static void profile_boxes_find_memory_roofs(struct boxes *b, const struct timeline_roofs *roofs,
                                            const char *base)
{
    double most = 0;
    char name[32];

    for (size_t i = 0; i < b->rows.nr; i++)
        most = fmax(most, stats_quantile(b->rows.items[i].values, b->rows.items[i].nr, 0.5));
    for (int i = 0; i < TIMELINE_LEVELS; i++) {
        if (!(roofs->bandwidth[i] > 0) || (b->nr_roofs && b->roofs[b->nr_roofs - 1].value >= most))
            continue;
        snprintf(name, sizeof(name), "bandwidth of %s", timeline_level_name(i));
        profile_boxes_add_roof(b, name, roofs->bandwidth[i], base);
    }
}

static void profile_boxes_find_roofs(struct boxes *b, const struct profile_data *data,
                                     const struct variety *v)
{
    const struct timeline_roofs *roofs = &data->facts.roofs;
    char name[32];

    if (v->what == SAMPLE_FLOPS && roofs->flops > 0) {
        snprintf(name, sizeof(name), "FMA roof%s%s", *roofs->math ? " of " : "", roofs->math);
        profile_boxes_add_roof(b, name, roofs->flops, v->base);
    } else if (v->what == SAMPLE_BYTES) {
        profile_boxes_find_memory_roofs(b, roofs, v->base);
    }
}

/* What a figure came to. */
struct drawn {
    size_t rows, of, roofs, layers, device;
};

static void profile_boxes_add_side(struct figure *f, const struct chart *chart,
                                   const struct variety *v, enum prof_side side,
                                   enum profile_samples_of of, struct drawn *drawn)
{
    struct boxes b = { .by_iteration = profile_by_iteration(chart->profile) };

    profile_samples_init(&b.rows, chart->profile, side, v->what, of,
                         chart_limit(chart->preset, LIMIT));
    profile_boxes_find_roofs(&b, chart->profile, v);
    if (b.rows.nr) {
        profile_boxes_add_panel(&b, f, chart->preset, v->label, v->quantity, v->base);
        figure_set(&f->panels[f->nr_panels - 1]->title, "%s%s %s",
                   of == SAMPLES_OF_LAYERS ? "layers: " : "", v->title, profile_side_name(side));
        drawn->rows += b.rows.nr;
        drawn->of += b.rows.of;
        drawn->roofs += b.nr_roofs;
        drawn->device += side == PROF_DEVICE ? b.rows.nr : 0;
        drawn->layers += of == SAMPLES_OF_LAYERS ? b.rows.nr : 0;
    }
    profile_samples_release(&b.rows);
}

/* A panel for each side that has rows, of operations and then of the layers that hold them. */
static void profile_boxes_add_variety(struct figure *f, const struct chart *chart,
                                      const struct variety *v, struct drawn *drawn)
{
    for (int of = SAMPLES_OF_WORK; of <= SAMPLES_OF_LAYERS; of++)
        for (int side = PROF_HOST; side <= PROF_DEVICE; side++)
            profile_boxes_add_side(f, chart, v, (enum prof_side)side, (enum profile_samples_of)of,
                                   drawn);
}

static const char *how_values(const struct profile_data *data)
{
    return profile_by_iteration(data)
               ? "One value an iteration: all calls of an operation in it together."
               : "One value a call, because there are not two iterations of one name.";
}

static const char how_boxes[] =
    "Whiskers p5 to p95 (all values where there are fewer than 20), box p25 to p75, stroke the "
    "median, diamond the mean, dots the least and the most; fewer than five values are points. "
    "Operations that do most of their work themselves, "
    "those of most time first.";

static void profile_boxes_add_words(struct figure *f, const struct chart *chart,
                                    const struct drawn *drawn, const char *more)
{
    char words[PROFILE_WORDS_SIZE];
    const struct profile_rows all = { NULL, drawn->rows, drawn->of };

    profile_caption(f, chart, "%s %s%s%s%s%s", how_values(chart->profile), how_boxes, more,
                    drawn->layers ? " Layers have the time and the work of all that is in them, in "
                                    "the order in which they run."
                                  : "",
                    drawn->roofs ? " Dashed: what the machine can do, measured when the profile "
                                   "was made."
                                 : "",
                    profile_rows_words(&all, words));
}

void build_profile_times(const struct chart *chart, struct figure *f)
{
    struct drawn drawn = { 0 };

    profile_boxes_add_variety(f, chart, &varieties[0], &drawn);
    if (!drawn.rows) {
        chart_absent(f, "no operation took any time of its own");
        return;
    }
    profile_boxes_add_words(f, chart, &drawn,
                            drawn.device > 0 ? " On the device: what an operation started there."
                                             : "");
    figure_set(&f->alt, "Boxes of the time of %s for %zu operations.",
               profile_by_iteration(chart->profile) ? "an iteration" : "a call", drawn.rows);
}

void build_profile_rates(const struct chart *chart, struct figure *f)
{
    struct drawn drawn = { 0 };

    profile_boxes_add_variety(f, chart, &varieties[1], &drawn);
    profile_boxes_add_variety(f, chart, &varieties[2], &drawn);
    if (!drawn.rows) {
        chart_absent(f,
                     "no scope says how many operations or bytes it is worth "
                     "(.flops, .bytes)");
        return;
    }
    profile_boxes_add_words(f, chart, &drawn,
                            " Rates are the work that scopes say they do over their time.");
    figure_set(&f->alt, "Boxes of computing and memory rates for operations, %zu rows%s.",
               drawn.rows, drawn.roofs ? ", with the roofs of the machine" : "");
}
