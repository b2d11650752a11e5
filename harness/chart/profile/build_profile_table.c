/* SPDX-License-Identifier: MIT */
/* The operations of a profile as a table; with one before it, the change of each. */
#include "chart/profile/profile_base.h"
#include "text/textwidth.h"
#include "timeline/timeline_diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 40, ROW_HEIGHT = 24, CELL_SIZE = QUANTITY_TEXT_SIZE };
/* Pixels; WIDTH: of all columns but the names, about. */
enum { TEXT_SIZE = 12, COLUMN_GAP = 16, WIDTH = 1000 };

/* A cell in words, "" for none, and the number that it is sorted by. */
struct cell {
    char text[CELL_SIZE];
    double value;
};

/* One row: of the summary, and of the difference where there is one. */
struct table_row {
    const struct prof_row *row;
    const struct diff_row *diff; /* NULL: no difference is shown */
    double whole;                /* self time of all operations of its side */
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

static double per_second(const struct prof_row *row, double work)
{
    double ns = timeline_row_ns(row);

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

#define CELL(name, quantity, base, value)                                                          \
    static void name##_cell(const struct table_row *r, struct cell *cell)                          \
    {                                                                                              \
        quantity_cell(cell, quantity, base, value);                                                \
    }
CELL(total, QUANTITY_TIME, "", (double)r->row->total)
CELL(self, QUANTITY_TIME, "", (double)r->row->self)
CELL(share, QUANTITY_SHARE, "", profile_table_ratio_of((double)r->row->self, r->whole))
CELL(mean, QUANTITY_TIME, "", r->row->mean)
CELL(p50, QUANTITY_TIME, "", (double)r->row->p50)
CELL(p95, QUANTITY_TIME, "", (double)r->row->p95)
CELL(flops, QUANTITY_RATE, "FLOP/s", per_second(r->row, r->row->flops))
CELL(bytes, QUANTITY_RATE, "B/s", per_second(r->row, (double)r->row->bytes))
CELL(peak, QUANTITY_BYTES, "", r->row->memory_peak < 0 ? NAN : (double)r->row->memory_peak)
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
    { "mean", "ns", mean_cell },
    { "p50", "ns", p50_cell },
    { "p95", "ns", p95_cell },
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

static void profile_table_add_table(const struct drawn *t, struct figure *f)
{
    const char **names = memory_zeroed(t->nr + 1, sizeof(*names));

    f->view = "table";
    for (size_t i = 0; i < t->nr; i++)
        names[i] = t->rows[i].row ? t->rows[i].row->name : t->rows[i].diff->name;
    struct panel *p = figure_table(f, "operation", names, t->nr, ROW_HEIGHT);
    free(names);
    /* Each has what it needs, and all the same share of the room that is left. */
    double all = 0, end = 0, shown = 0;
    for (size_t c = 0; c < t->nr_columns; c++) {
        if (profile_table_is_empty(t, &t->columns[c]))
            continue;
        all += column_width(t, &t->columns[c]);
        shown++;
    }
    double spare = fmax(0, WIDTH - all) / fmax(1, shown);
    for (size_t c = 0; c < t->nr_columns; c++) {
        if (profile_table_is_empty(t, &t->columns[c]))
            continue;
        end += column_width(t, &t->columns[c]) + spare;
        profile_table_add_column(t, p, &t->columns[c], end / (all + spare * shown));
    }
}

/* Host first, then device; each by self time. */
static void profile_table_draw_one(struct figure *f, const struct chart *chart, size_t limit)
{
    const struct profile_data *data = chart->profile;
    struct drawn t = { .columns = of_one, .nr_columns = sizeof(of_one) / sizeof(of_one[0]) };
    char words[PROFILE_WORDS_SIZE];

    t.rows = memory_zeroed(data->rows.nr_rows + 1, sizeof(*t.rows));
    for (size_t i = 0; i < data->rows.nr_rows && t.nr < limit; i++) {
        const struct prof_row *row = &data->rows.rows[i];
        t.rows[t.nr++] = (struct table_row) { row, NULL, (double)data->rows.total[row->side] };
    }
    profile_table_add_table(&t, f);
    struct profile_rows all = { NULL, t.nr, data->rows.nr_rows };
    profile_caption(f, chart,
                    "Self is an operation's own time, share its part of all self times of its "
                    "side, the host's operations first. Rates are the work that scopes say they "
                    "do.%s",
                    profile_rows_words(&all, words));
    figure_set(&f->alt, "Table of %zu operations; on top is %s.", t.nr, t.rows[0].row->name);
    free(t.rows);
}

static void profile_table_draw_two(struct figure *f, const struct chart *chart, size_t limit,
                                   const struct timeline_diff *diff)
{
    struct drawn t = { .columns = of_two, .nr_columns = sizeof(of_two) / sizeof(of_two[0]) };
    char words[PROFILE_WORDS_SIZE];

    t.rows = memory_zeroed(diff->nr_rows + 1, sizeof(*t.rows));
    for (size_t i = 0; i < diff->nr_rows && t.nr < limit; i++)
        t.rows[t.nr++] = (struct table_row) { NULL, &diff->rows[i], 0 };
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
                   t.rows[0].diff->name);
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
