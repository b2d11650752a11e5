/* SPDX-License-Identifier: MIT */
/* Is an operation slow, or is it called often? Mean duration against the number of calls; on a line
 * from the top left to the bottom right the total is the same. */
#include "chart/profile/profile_base.h"
#include "text/textwidth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 20, GUIDES = 3 };

struct extent {
    double fewest, most, shortest, longest;
};

/* Room for a name beside its point: twenty of them stand in one field. */
enum { NAME_ROOM = 230, NAME_TEXT = 12 };

static void launches_add_name(struct layer *names, const struct prof_row *row)
{
    char shown[KERNEL_NAME_SIZE];
    char *text = text_cut(profile_shown_name(row->side, row->name, shown), NAME_TEXT, NAME_ROOM);

    layer_add_text(names, (double)row->calls, row->mean, ANCHOR_LEFT, text);
    free(text);
}

static void launches_add_points(struct panel *p, const struct profile_rows *rows, const char *label,
                                size_t nth, struct extent *e)
{
    struct layer *points = panel_layer(p, MARK_POINTS, label);
    struct layer *names = panel_layer(p, MARK_TEXT, NULL);

    style_nth(&points->style, nth);
    points->style.size = 9;
    names->place = true;
    for (size_t i = 0; i < rows->nr; i++) {
        const struct prof_row *row = &rows->items[i];
        if (!(row->mean > 0))
            continue;
        e->fewest = fmin(e->fewest, (double)row->calls);
        e->most = fmax(e->most, (double)row->calls);
        e->shortest = fmin(e->shortest, row->mean);
        e->longest = fmax(e->longest, row->mean);
        layer_add(points, (double)row->calls, row->mean)->text = memory_string(row->name);
        launches_add_name(names, row);
    }
}

/* Lines of equal total time, a factor of ten between them, from the longest down. */
static void launches_add_guides(struct panel *p, const struct extent *e, double longest)
{
    char label[QUANTITY_TEXT_SIZE + 16];

    for (int i = 0; i < GUIDES; i++) {
        double total = longest / pow(10, i);
        struct layer *line = panel_stroke(p, MARK_LINE, NULL, INK_DARK, DASH_DOT, 1);
        struct layer *text = panel_layer(p, MARK_TEXT, NULL);
        double from = fmax(e->fewest / 2, total / (e->longest * 2));
        double to = fmin(e->most * 2, total / (e->shortest / 2));
        if (from >= to)
            continue;
        line->style.ink = text->style.ink = INK_GREY;
        layer_add(line, from, total / from);
        layer_add(line, to, total / to);
        quantity_text(QUANTITY_TIME, "", total, label);
        text->follow = true;
        struct datum *d = layer_add_text(text, from, total / from, ANCHOR_LEFT, label);
        d->low = to;
        d->high = total / to;
        d->dx = 8;
        d->dy = -5;
    }
}

void build_profile_launches(const struct chart *chart, struct figure *f)
{
    struct extent e = { INFINITY, 0, INFINITY, 0 };
    char words[PROFILE_WORDS_SIZE];

    size_t limit = chart_limit(chart->preset, LIMIT);
    struct profile_rows host = profile_rows(chart->profile, PROF_HOST, limit);
    struct profile_rows device = profile_rows(chart->profile, PROF_DEVICE, limit);
    struct panel *p = figure_panel(f);
    p->plot_height = 460;
    axis_set(&p->x, "calls", QUANTITY_PLAIN, "", AXIS_LOG);
    axis_set(&p->y, "mean duration", QUANTITY_TIME, "", AXIS_LOG);
    launches_add_points(p, &host, device.nr ? "operation of the host" : NULL, 0, &e);
    launches_add_points(p, &device, "on the device", 1, &e);
    if (!(e.most > 0)) {
        chart_absent(f, "no operation took any time");
        return;
    }
    p->x.low = e.fewest / 2;
    p->x.high = e.most * 2;
    p->y.low = e.shortest / 2;
    p->y.high = e.longest * 2;
    launches_add_guides(p, &e,
                        fmax(host.nr ? (double)host.items[0].calls * host.items[0].mean : 0,
                             device.nr ? (double)device.items[0].calls * device.items[0].mean : 0));
    profile_caption(f, chart,
                    "Mean duration of a call, what is inside it included, against the number of "
                    "calls. Dotted lines join equal totals. The operations of longest self "
                    "time.%s",
                    profile_rows_words(host.nr ? &host : &device, words));
    figure_set(&f->alt, "Scatter of mean duration against calls for %zu operations.",
               host.nr + device.nr);
}
