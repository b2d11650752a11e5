/* SPDX-License-Identifier: MIT */
/* The operations of a profile as a table; with one before it, the change of each. */
#include "chart/profile/profile_base.h"
#include "text/textwidth.h"
#include "timeline/timeline_diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 40, ROW_HEIGHT = 24, CELL_SIZE = 2 * QUANTITY_TEXT_SIZE + 8 };
/* Pixels; WIDTH: of all columns but the names, about; BESIDE: what stands beside names and columns.
 */
enum { TEXT_SIZE = 12, COLUMN_GAP = 16, WIDTH = 1000, BESIDE = 72 };
static const double names_most = 0.42; /* of the width: more of it a layout never gives to names */

/* A cell in words, "" for none, and the number that it is sorted by. */
struct cell {
    char text[CELL_SIZE];
    double value;
};

/* One row: of the summary, and of the difference where there is one. */
struct table_row {
    const struct prof_row *row;
    const struct timeline_findings *found; /* beside `row` */
    const struct diff_row *diff;           /* NULL: no difference is shown */
    double share;                          /* of the own time of its side */
    const char *name;
    enum prof_side side;
};

typedef void cell_fn(const struct table_row *r, struct cell *cell);

/* NAN is no value, and no text. */
static void quantity_cell(struct cell *cell, enum quantity quantity, const char *base, double value)
{
    if (isnan(value))
        return;
    cell->value = value;
    quantity_text(quantity, base, value, cell->text);
}

static double per_second(const struct table_row *r, double work)
{
    double ns = timeline_row_ns(r->found, r->row);

    return work > 0 && ns > 0 ? work / ns * 1e9 : NAN;
}

static double profile_table_ratio_of(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

static void profile_table_calls_cell(const struct table_row *r, struct cell *cell)
{
    cell->value = (double)r->row->calls;
    snprintf(cell->text, CELL_SIZE, "%zu", r->row->calls);
}

static double time_or_none(int64_t ns)
{
    return ns > 0 ? (double)ns : NAN;
}

static double profile_table_median(const struct table_row *r)
{
    return timeline_typical_row(&r->found->typical, r->row)->self.median;
}

/* The number that it is sorted by is its width. */
static void interval_cell(const struct table_row *r, struct cell *cell)
{
    const struct timeline_middle *m = &timeline_typical_row(&r->found->typical, r->row)->self;
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];

    if (isnan(m->low))
        return;
    cell->value = m->high - m->low;
    snprintf(cell->text, CELL_SIZE, "%s to %s", quantity_text(QUANTITY_TIME, "", m->low, low),
             quantity_text(QUANTITY_TIME, "", m->high, high));
}

#define CELL(name, quantity, base, value)                                                          \
    static void name##_cell(const struct table_row *r, struct cell *cell)                          \
    {                                                                                              \
        quantity_cell(cell, quantity, base, value);                                                \
    }
CELL(total, QUANTITY_TIME, "", (double)r->row->total)
CELL(self, QUANTITY_TIME, "", (double)r->row->self)
CELL(share, QUANTITY_SHARE, "", r->share)
CELL(mean, QUANTITY_TIME, "", r->row->mean)
CELL(median, QUANTITY_TIME, "", profile_table_median(r))
CELL(mean_iteration, QUANTITY_TIME, "", timeline_typical_row(&r->found->typical, r->row)->self.mean)
CELL(min, QUANTITY_TIME, "", (double)r->row->min)
CELL(max, QUANTITY_TIME, "", (double)r->row->max)
CELL(sd, QUANTITY_TIME, "", r->row->calls > 1 ? r->row->sd : NAN)
CELL(gpu, QUANTITY_TIME, "", time_or_none(r->row->gpu))
CELL(p50, QUANTITY_TIME, "", (double)r->row->p50)
CELL(p95, QUANTITY_TIME, "", (double)r->row->p95)
CELL(flops, QUANTITY_RATE, "FLOP/s", per_second(r, r->row->flops))
CELL(bytes, QUANTITY_RATE, "B/s", per_second(r, (double)r->row->bytes))
CELL(peak, QUANTITY_BYTES, "", r->row->memory_peak <= 0 ? NAN : (double)r->row->memory_peak)
CELL(before, QUANTITY_TIME, "", r->diff->self[0])
CELL(after, QUANTITY_TIME, "", r->diff->self[1])
CELL(change, QUANTITY_PERCENT, "", profile_table_ratio_of(r->diff->self[1], r->diff->self[0]) - 1)
CELL(part, QUANTITY_SHARE, "", r->diff->share)

struct column {
    const char *head, *unit; /* of the number */
    cell_fn *cell;
};

static const struct column of_one[] = {
    { "calls", NULL, profile_table_calls_cell },
    { "total", "ns", total_cell },
    { "self", "ns", self_cell },
    { "share", "share", share_cell },
    { "iteration", "ns", median_cell },
    { "95 % interval", "ns", interval_cell },
    { "its mean", "ns", mean_iteration_cell },
    { "mean", "ns", mean_cell },
    { "sd", "ns", sd_cell },
    { "min", "ns", min_cell },
    { "p50", "ns", p50_cell },
    { "p95", "ns", p95_cell },
    { "max", "ns", max_cell },
    { "GPU", "ns", gpu_cell },
    { "computes", "FLOP/s", flops_cell },
    { "moves", "B/s", bytes_cell },
    { "peak memory", "bytes", peak_cell },
};
static const struct column of_two[] = {
    { "self before", "ns", before_cell },
    { "self after", "ns", after_cell },
    { "change", "share", change_cell },
    { "part of all change", "share", part_cell },
};

struct drawn {
    struct table_row *rows;
    size_t nr, of;
    const struct column *columns;
    size_t nr_columns;
};

/* A column that no row has anything in is left out. */
static bool profile_table_is_empty(const struct drawn *t, const struct column *column)
{
    for (size_t i = 0; i < t->nr; i++) {
        struct cell cell = { "", NAN };
        column->cell(&t->rows[i], &cell);
        if (cell.text[0])
            return false;
    }
    return true;
}

/* Pixels of its widest text, with what parts it from the column before. */
static double column_width(const struct drawn *t, const struct column *column)
{
    double widest = text_width(column->head, TEXT_SIZE, true);

    for (size_t i = 0; i < t->nr; i++) {
        struct cell cell = { "", NAN };
        column->cell(&t->rows[i], &cell);
        widest = fmax(widest, text_width(cell.text, TEXT_SIZE, false));
    }
    return widest + COLUMN_GAP;
}

/* The number behind the words is its `low`: what a reader sorts by. */
static void profile_table_add_column(const struct drawn *t, struct panel *p,
                                     const struct column *column, double at)
{
    struct layer *head = panel_layer(p, MARK_TEXT, NULL), *texts = panel_layer(p, MARK_TEXT, NULL);

    head->style.bold = true;
    texts->unit = column->unit;
    layer_add_text(head, at, -1, ANCHOR_RIGHT, column->head);
    for (size_t i = 0; i < t->nr; i++) {
        struct cell cell = { "", NAN };
        column->cell(&t->rows[i], &cell);
        layer_add_text(texts, at, (double)i, ANCHOR_RIGHT, cell.text[0] ? cell.text : "–")->low =
            cell.value;
    }
}

/* Columns do not go over each other: where names and they need more, the figure is wider. */
static double profile_table_width(const char *const *names, size_t nr, double columns)
{
    double widest = 0;

    for (size_t i = 0; i < nr; i++)
        widest = fmax(widest, text_width(names[i], TEXT_SIZE, false));
    return fmin(widest + columns + BESIDE, (columns + BESIDE) / (1 - names_most));
}

static void profile_table_add_table(const struct drawn *t, struct figure *f)
{
    const char **names = memory_zeroed(t->nr + 1, sizeof(*names));
    char(*cut)[KERNEL_NAME_SIZE] = memory_zeroed(t->nr + 1, sizeof(*cut));

    f->view = "table";
    for (size_t i = 0; i < t->nr; i++)
        names[i] = profile_shown_name(t->rows[i].side, t->rows[i].name, cut[i]);
    struct panel *p = figure_table(f, "operation", names, t->nr, ROW_HEIGHT);
    /* Each has what it needs, and all the same share of the room that is left. */
    double all = 0, end = 0, shown = 0;
    for (size_t c = 0; c < t->nr_columns; c++) {
        if (profile_table_is_empty(t, &t->columns[c]))
            continue;
        all += column_width(t, &t->columns[c]);
        shown++;
    }
    f->width = fmax(f->width, profile_table_width(names, t->nr, all));
    double spare = fmax(0, WIDTH - all) / fmax(1, shown);
    for (size_t c = 0; c < t->nr_columns; c++) {
        if (profile_table_is_empty(t, &t->columns[c]))
            continue;
        end += column_width(t, &t->columns[c]) + spare;
        profile_table_add_column(t, p, &t->columns[c], end / (all + spare * shown));
    }
    free(names);
    free(cut);
}

static void profile_table_take_side(struct drawn *t, const struct profile_data *data,
                                    enum prof_side side, size_t limit)
{
    struct profile_worst w;

    profile_worst_init(&w, data, side, true, limit - t->nr);
    for (size_t i = 0; i < w.nr; i++)
        t->rows[t->nr++] = (struct table_row) { w.list[i].row,   &data->found,        NULL,
                                                w.list[i].share, w.list[i].row->name, side };
    profile_worst_release(&w);
}

/* Host first, then device. */
static void profile_table_draw_one(struct figure *f, const struct chart *chart, size_t limit)
{
    const struct profile_data *data = chart->profile;
    struct drawn t = { .columns = of_one, .nr_columns = sizeof(of_one) / sizeof(of_one[0]) };
    char words[PROFILE_WORDS_SIZE], top[KERNEL_NAME_SIZE];

    t.rows = memory_zeroed(data->rows.nr_rows + 1, sizeof(*t.rows));
    profile_table_take_side(&t, data, PROF_HOST, limit);
    profile_table_take_side(&t, data, PROF_DEVICE, limit);
    profile_table_add_table(&t, f);
    struct profile_rows all = { NULL, t.nr, data->rows.nr_rows };
    profile_caption(f, chart,
                    "Self is an operation's own time; share its part of all of its side, of the "
                    "median iteration where there are some, and the order is by it, the host's "
                    "operations first. Iteration is the own time in the median iteration, with its "
                    "95 %% interval and the mean; mean, sd, min, p50, p95 and max are of single "
                    "calls. Rates are the work that scopes say they do.%s",
                    profile_rows_words(&all, words));
    figure_set(&f->alt, "Table of %zu operations; on top is %s.", t.nr,
               profile_shown_name(t.rows[0].side, t.rows[0].name, top));
    free(t.rows);
}

static void profile_table_draw_two(struct figure *f, const struct chart *chart, size_t limit,
                                   const struct timeline_diff *diff)
{
    struct drawn t = { .columns = of_two, .nr_columns = sizeof(of_two) / sizeof(of_two[0]) };
    char words[PROFILE_WORDS_SIZE], top[KERNEL_NAME_SIZE];

    t.rows = memory_zeroed(diff->nr_rows + 1, sizeof(*t.rows));
    for (size_t i = 0; i < diff->nr_rows && t.nr < limit; i++)
        t.rows[t.nr++] = (struct table_row) {
            NULL, NULL, &diff->rows[i], 0, diff->rows[i].name, diff->rows[i].side
        };
    if (!t.nr) {
        chart_absent(f, "neither profile has an operation");
    } else {
        profile_table_add_table(&t, f);
        struct profile_rows all = { NULL, t.nr, diff->nr_rows };
        profile_caption(f, chart,
                        "From %s to %s, for one iteration, by the size of the change. Two "
                        "profiles are no verdict: `harness compare` judges by several launches.%s",
                        chart->profile_base->name, chart->profile->name,
                        profile_rows_words(&all, words));
        figure_set(&f->alt, "Table of %zu operations before and after; %s changed most.", t.nr,
                   profile_shown_name(t.rows[0].side, t.rows[0].name, top));
    }
    free(t.rows);
}

void build_profile_table(const struct chart *chart, struct figure *f)
{
    size_t limit = chart_limit(chart->preset, LIMIT);
    struct timeline_diff diff;
    struct error err;

    if (!chart->profile_base) {
        profile_table_draw_one(f, chart, limit);
    } else if (timeline_diff(&chart->profile_base->trace, &chart->profile->trace, NULL, &diff,
                             &err)) {
        chart_absent(f, "%s", err.message);
    } else {
        profile_table_draw_two(f, chart, limit, &diff);
        timeline_diff_release(&diff);
    }
}
