/* SPDX-License-Identifier: MIT */
/* The operations of a profile as a table; with one before it, the change of each. */
#include "output/profile_parts.h"
#include "output/textwidth.h"
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

static void quantity_cell(struct cell *cell, enum quantity quantity, const char *base, double value)
{
    cell->value = value;
    quantity_text(quantity, base, value, cell->text);
}

static void calls_cell(const struct table_row *r, struct cell *cell)
{
    cell->value = (double)r->row->calls;
    snprintf(cell->text, CELL_SIZE, "%zu", r->row->calls);
}

static void total_cell(const struct table_row *r, struct cell *cell)
{
    quantity_cell(cell, QUANTITY_TIME, "", (double)r->row->total);
}

static void self_cell(const struct table_row *r, struct cell *cell)
{
    quantity_cell(cell, QUANTITY_TIME, "", (double)r->row->self);
}

static void share_cell(const struct table_row *r, struct cell *cell)
{
    if (r->whole > 0)
        quantity_cell(cell, QUANTITY_SHARE, "", (double)r->row->self / r->whole);
}

static void mean_cell(const struct table_row *r, struct cell *cell)
{
    quantity_cell(cell, QUANTITY_TIME, "", r->row->mean);
}

static void p50_cell(const struct table_row *r, struct cell *cell)
{
    quantity_cell(cell, QUANTITY_TIME, "", (double)r->row->p50);
}

static void p95_cell(const struct table_row *r, struct cell *cell)
{
    quantity_cell(cell, QUANTITY_TIME, "", (double)r->row->p95);
}

static void flops_cell(const struct table_row *r, struct cell *cell)
{
    if (r->row->flops > 0 && r->row->total > 0)
        quantity_cell(cell, QUANTITY_RATE, "FLOP/s", r->row->flops / (double)r->row->total * 1e9);
}

static void bytes_cell(const struct table_row *r, struct cell *cell)
{
    if (r->row->bytes > 0 && r->row->total > 0)
        quantity_cell(cell, QUANTITY_RATE, "B/s",
                      (double)r->row->bytes / (double)r->row->total * 1e9);
}

static void peak_cell(const struct table_row *r, struct cell *cell)
{
    if (r->row->memory_peak >= 0)
        quantity_cell(cell, QUANTITY_BYTES, "", (double)r->row->memory_peak);
}

static void before_cell(const struct table_row *r, struct cell *cell)
{
    quantity_cell(cell, QUANTITY_TIME, "", r->diff->self[0]);
}

static void after_cell(const struct table_row *r, struct cell *cell)
{
    quantity_cell(cell, QUANTITY_TIME, "", r->diff->self[1]);
}

static void change_cell(const struct table_row *r, struct cell *cell)
{
    if (r->diff->self[0] > 0)
        quantity_cell(cell, QUANTITY_PERCENT, "", r->diff->self[1] / r->diff->self[0] - 1);
}

static void part_cell(const struct table_row *r, struct cell *cell)
{
    quantity_cell(cell, QUANTITY_SHARE, "", r->diff->share);
}

struct column {
    const char *head;
    cell_fn *cell;
};

static const struct column of_one[] = {
    { "calls", calls_cell },      { "total", total_cell },    { "self", self_cell },
    { "share", share_cell },      { "mean", mean_cell },      { "p50", p50_cell },
    { "p95", p95_cell },          { "computes", flops_cell }, { "moves", bytes_cell },
    { "peak memory", peak_cell },
};
static const struct column of_two[] = {
    { "self before", before_cell },
    { "self after", after_cell },
    { "change", change_cell },
    { "part of all change", part_cell },
};

struct drawn {
    struct table_row *rows;
    size_t nr, of;
    const struct column *columns;
    size_t nr_columns;
};

/* A column that no row has anything in is left out. */
static bool is_empty(const struct drawn *t, const struct column *column)
{
    for (size_t i = 0; i < t->nr; i++) {
        struct cell cell = { "", NAN };
        column->cell(&t->rows[i], &cell);
        if (cell.text[0])
            return false;
    }
    return true;
}

static void add_ground(const struct drawn *t, struct panel *p)
{
    struct layer *ground = profile_bars(p, NULL, INK_LIGHT);
    struct layer *line = panel_layer(p, MARK_RULES, NULL);

    ground->thickness = 1;
    ground->style.opacity = 0.35;
    for (size_t i = 1; i < t->nr; i += 2)
        layer_add(ground, 1, (double)i)->low = 0;
    line->style.ink = INK_GREY;
    line->style.width = 1;
    layer_add(line, NAN, -0.5);
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
static void add_column(const struct drawn *t, struct panel *p, const struct column *column,
                       double at)
{
    struct layer *head = panel_layer(p, MARK_TEXT, NULL), *texts = panel_layer(p, MARK_TEXT, NULL);

    head->style.bold = true;
    layer_add_text(head, at, -1, ANCHOR_RIGHT, column->head);
    for (size_t i = 0; i < t->nr; i++) {
        struct cell cell = { "", NAN };
        column->cell(&t->rows[i], &cell);
        layer_add_text(texts, at, (double)i, ANCHOR_RIGHT, cell.text[0] ? cell.text : "–")->low =
            cell.value;
    }
}

/* Each has what it needs, and all the same share of the room that is left. */
static void add_columns(const struct drawn *t, struct panel *p)
{
    double all = 0, end = 0, shown = 0;

    for (size_t c = 0; c < t->nr_columns; c++) {
        if (is_empty(t, &t->columns[c]))
            continue;
        all += column_width(t, &t->columns[c]);
        shown++;
    }
    double spare = fmax(0, WIDTH - all) / fmax(1, shown);
    for (size_t c = 0; c < t->nr_columns; c++) {
        if (is_empty(t, &t->columns[c]))
            continue;
        end += column_width(t, &t->columns[c]) + spare;
        add_column(t, p, &t->columns[c], end / (all + spare * shown));
    }
}

static void add_table(const struct drawn *t, struct figure *f)
{
    const char **names = memory_zeroed(t->nr + 1, sizeof(*names));
    struct panel *p = figure_panel(f);

    f->view = "table";
    for (size_t i = 0; i < t->nr; i++)
        names[i] = t->rows[i].row ? t->rows[i].row->name : t->rows[i].diff->name;
    axis_names(&p->y, names, t->nr, true);
    free(names);
    p->y.bare = true;
    p->y.low = -1.5;
    ticks_add(&p->y.ticks, -1, "operation", false);
    axis_set(&p->x, NULL, QUANTITY_PLAIN, "", AXIS_LINEAR);
    p->x.low = 0;
    p->x.high = 1;
    p->x.bare = true;
    ticks_add(&p->x.ticks, 0, "", false);
    p->plot_height = ROW_HEIGHT * (double)(t->nr + 1) + 4;
    add_ground(t, p);
    add_columns(t, p);
}

/* Host first, then device; each by self time. */
static void draw_one(struct figure *f, const struct chart *chart, size_t limit)
{
    const struct profile_data *data = chart->profile;
    struct drawn t = { .columns = of_one, .nr_columns = sizeof(of_one) / sizeof(of_one[0]) };
    char words[PROFILE_WORDS_SIZE];

    t.rows = memory_zeroed(data->rows.nr_rows + 1, sizeof(*t.rows));
    for (size_t i = 0; i < data->rows.nr_rows && t.nr < limit; i++) {
        const struct prof_row *row = &data->rows.rows[i];
        t.rows[t.nr++] = (struct table_row) { row, NULL, (double)data->rows.total[row->side] };
    }
    add_table(&t, f);
    struct profile_rows all = { NULL, t.nr, data->rows.nr_rows };
    profile_caption(f, chart,
                    "Self is an operation's own time, share its part of all self times of its "
                    "side, the host's operations first. Rates are the work that scopes say they "
                    "do.%s",
                    profile_rows_words(&all, words));
    figure_set(&f->alt, "Table of %zu operations; on top is %s.", t.nr, t.rows[0].row->name);
    free(t.rows);
}

static void draw_two(struct figure *f, const struct chart *chart, size_t limit,
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
        add_table(&t, f);
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

struct figure *build_profile_table(const struct chart *chart)
{
    struct figure *f = profile_figure(chart);
    size_t limit = chart_limit(chart->preset, LIMIT);
    struct timeline_diff diff;
    struct error err;

    if (f->reason)
        return f;
    if (!chart->profile_base) {
        draw_one(f, chart, limit);
    } else if (timeline_diff(&chart->profile_base->trace, &chart->profile->trace, NULL, &diff,
                             &err)) {
        return chart_absent(f, "%s", err.message);
    } else {
        draw_two(f, chart, limit, &diff);
        timeline_diff_release(&diff);
    }
    figure_finish(f);
    return f;
}
