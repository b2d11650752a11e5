/* SPDX-License-Identifier: MIT */
/*
 * All kernels over all sizes in one map: a row for each of what differs in batch and sequence
 * length alone (or in the dim that the preset names as "x"), a column for each size. Where that
 * leaves most of the map empty, as for matrix products of many shapes, a row a kernel and variant
 * and a column a shape.
 */
#include "base/memory.h"
#include "chart/types/map_base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MATRIX_LIMIT = 20, COLUMNS_MAX = 14, MATRIX_CELL_HEIGHT = 30 };

/* Below this share of measured cells other rows and columns are tried. */
static const double sparse = 0.5;

struct size {
    int64_t batch, seq;                 /* or the value of the dim, and 0 */
    const struct benchmark_name *shape; /* whose dims are the column, or NULL */
    size_t count;
};

struct matrix {
    struct map map;
    const char *dim; /* NULL: batch and seq */
    bool shapes;     /* columns are whole shapes */
    struct size *columns;
    size_t nr_columns, all_columns, columns_capacity;
    size_t *rows; /* indices of families */
    size_t nr, all;
    struct range seen;
};

static struct size matrix_size_of(const struct matrix *m, const struct chart_item *item)
{
    struct size size = { .count = 1 };

    if (m->shapes)
        size.shape = item->bench;
    size.batch = benchmark_name_dim(item->bench, m->dim ? m->dim : "batch", 0);
    size.seq = m->dim ? 0 : benchmark_name_dim(item->bench, "seq", 0);
    return size;
}

static int matrix_by_shape(const struct benchmark_name *x, const struct benchmark_name *y)
{
    /* analyzer: columns have shapes all or none, see matrix_size_of() */
    for (int i = 0; i < x->nr_dims && i < y->nr_dims; i++) {
        int names = strcmp(x->dims[i].name, y->dims[i].name);
        if (names != 0)
            return names;
        if (x->dims[i].value != y->dims[i].value)
            return x->dims[i].value < y->dims[i].value ? -1 : 1;
    }
    return x->nr_dims - y->nr_dims; /* analyzer: as above */
}

static int matrix_by_size(const void *a, const void *b)
{
    const struct size *x = a, *y = b;

    if (x->shape)
        return matrix_by_shape(x->shape, y->shape);
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void matrix_count_size(struct matrix *m, struct size size)
{
    for (size_t i = 0; i < m->nr_columns; i++) {
        if (matrix_by_size(&m->columns[i], &size) == 0) {
            m->columns[i].count++;
            return;
        }
    }
    m->columns = array_grow(m->columns, m->nr_columns, &m->columns_capacity, sizeof(*m->columns));
    m->columns[m->nr_columns++] = size;
}

/* The sizes that most rows have, in order. */
static void matrix_find_columns(struct matrix *m)
{
    for (size_t i = 0; i < m->nr; i++) {
        const struct chart_family *family = &m->map.families.items[m->rows[i]];
        for (size_t k = 0; k < family->nr; k++)
            if (isfinite(map_value(&m->map, family->members[k])))
                matrix_count_size(m, matrix_size_of(m, &m->map.items->items[family->members[k]]));
    }
    m->all_columns = m->nr_columns;
    while (m->nr_columns > COLUMNS_MAX) {
        size_t least = 0;
        for (size_t i = 1; i < m->nr_columns; i++)
            if (m->columns[i].count < m->columns[least].count)
                least = i;
        m->columns[least] = m->columns[--m->nr_columns];
    }
    if (m->nr_columns)
        qsort(m->columns, m->nr_columns, sizeof(*m->columns), matrix_by_size);
}

static size_t matrix_count_values(const struct matrix *m, size_t family)
{
    size_t nr = 0;

    for (size_t i = 0; i < m->map.families.items[family].nr; i++)
        nr += isfinite(map_value(&m->map, m->map.families.items[family].members[i])) ? 1 : 0;
    return nr;
}

/* Of equal ones the last go first: weights stand in the order from the last on. */
static void matrix_keep_rows(struct matrix *m, size_t limit)
{
    double *weights = memory_zeroed(m->nr + 1, sizeof(*weights));
    bool *keep = memory_zeroed(m->nr + 1, sizeof(*keep));
    size_t kept = 0, nr = m->nr;

    for (size_t i = 0; i < nr; i++)
        weights[nr - 1 - i] = (double)matrix_count_values(m, m->rows[i]);
    chart_mark_heaviest(weights, nr, limit, keep);
    for (size_t i = 0; i < nr; i++)
        if (keep[nr - 1 - i])
            m->rows[kept++] = m->rows[i];
    m->nr = kept;
    free(weights);
    free(keep);
}

/* Rows with a value; of too many those with the fewest sizes go first. */
static void matrix_find_rows(struct matrix *m, size_t limit)
{
    m->rows = memory_zeroed(m->map.families.nr + 1, sizeof(*m->rows));
    for (size_t i = 0; i < m->map.families.nr; i++)
        if (matrix_count_values(m, i) > 0)
            m->rows[m->nr++] = i;
    m->all = m->nr;
    matrix_keep_rows(m, limit);
}

static size_t matrix_item_at(const struct matrix *m, size_t row, size_t column)
{
    const struct chart_family *family = &m->map.families.items[m->rows[row]];

    for (size_t i = 0; i < family->nr; i++) {
        struct size size = matrix_size_of(m, &m->map.items->items[family->members[i]]);
        if (matrix_by_size(&size, &m->columns[column]) == 0)
            return family->members[i];
    }
    return m->map.items->nr;
}

static double matrix_value_at(const struct matrix *m, size_t row, size_t column)
{
    return map_value(&m->map, matrix_item_at(m, row, column));
}

static void lay_out(struct matrix *m, bool shapes)
{
    m->shapes = shapes;
    if (m->shapes)
        chart_families_of_code(&m->map.families, m->map.items);
    else
        chart_families_init(&m->map.families, m->map.items, m->dim ? m->dim : "batch",
                            m->dim ? NULL : "seq");
    matrix_find_rows(m, chart_limit(m->map.chart->preset, MATRIX_LIMIT));
    matrix_find_columns(m);
}

static void release_layout(struct matrix *m)
{
    free(m->rows);
    free(m->columns);
    m->rows = NULL;
    m->columns = NULL;
    m->nr = m->nr_columns = m->columns_capacity = 0;
    chart_families_release(&m->map.families);
}

/* Share of the cells that were measured. */
static double measured_share(const struct matrix *m)
{
    size_t nr = 0;

    for (size_t row = 0; row < m->nr; row++)
        for (size_t column = 0; column < m->nr_columns; column++)
            nr += isfinite(matrix_value_at(m, row, column)) ? 1 : 0;
    return m->nr ? (double)nr / (double)(m->nr * m->nr_columns) : 1;
}

static void matrix_choose_layout(struct matrix *m)
{
    lay_out(m, false);
    double first = measured_share(m);
    if (m->dim || first >= sparse)
        return;
    release_layout(m);
    lay_out(m, true);
    if (measured_share(m) > first)
        return;
    release_layout(m);
    lay_out(m, false);
}

static size_t matrix_count_column(const struct matrix *m, size_t column)
{
    size_t nr = 0;

    for (size_t row = 0; row < m->nr; row++)
        nr += isfinite(matrix_value_at(m, row, column)) ? 1 : 0;
    return nr;
}

static size_t matrix_count_row(const struct matrix *m, size_t row)
{
    size_t nr = 0;

    for (size_t column = 0; column < m->nr_columns; column++)
        nr += isfinite(matrix_value_at(m, row, column)) ? 1 : 0;
    return nr;
}

static size_t half_full(const struct matrix *m)
{
    size_t nr = 0;

    for (size_t row = 0; row < m->nr; row++)
        nr += 2 * matrix_count_row(m, row) >= m->nr_columns;
    return nr;
}

static void matrix_keep_full(struct matrix *m, size_t least)
{
    size_t kept = 0;

    for (size_t row = 0; row < m->nr; row++)
        if (matrix_count_row(m, row) >= least)
            m->rows[kept++] = m->rows[row];
    m->nr = kept;
}

/* The emptiest columns go first, then rows that are mostly holes in those left. */
static void matrix_drop_holes(struct matrix *m)
{
    while (m->nr_columns > 2 && measured_share(m) < MAP_FULL) {
        size_t least = 0;
        for (size_t i = 1; i < m->nr_columns; i++)
            if (matrix_count_column(m, i) <= matrix_count_column(m, least))
                least = i;
        m->nr_columns--;
        memmove(&m->columns[least], &m->columns[least + 1],
                (m->nr_columns - least) * sizeof(*m->columns));
    }
    matrix_keep_full(m, half_full(m) > 1 ? (m->nr_columns + 1) / 2 : 1);
}

static void matrix_find_range(struct matrix *m)
{
    for (size_t row = 0; row < m->nr; row++)
        for (size_t column = 0; column < m->nr_columns; column++)
            map_include(&m->map, matrix_value_at(m, row, column));
    m->seen = m->map.values;
    map_widen(&m->map);
}

/* Do all columns have this dim, with this value? */
static bool matrix_is_common(const struct matrix *m, const char *dim, int64_t value)
{
    for (size_t i = 0; i < m->nr_columns; i++)
        if (benchmark_name_dim(m->columns[i].shape, dim, -1) != value)
            return false;
    return m->nr_columns > 1;
}

/* Then their names stand once, at the axis. */
static bool matrix_all_have_the_same_dims(const struct matrix *m)
{
    const struct benchmark_name *first = m->columns[0].shape;

    for (size_t i = 0; i < m->nr_columns; i++) {
        const struct benchmark_name *other = m->columns[i].shape;
        for (int k = 0; k < first->nr_dims; k++)
            if (other->nr_dims != first->nr_dims ||
                strcmp(other->dims[k].name, first->dims[k].name) != 0)
                return false;
    }
    return true;
}

enum part { PART_NAME = 1, PART_VALUE = 2 };

/* The dims that tell columns apart: "seq × n", "64 × 144", or "seq=64 n=144". */
static void shape_text(const struct matrix *m, const struct benchmark_name *shape, int parts,
                       struct strbuf *text)
{
    strbuf_clear(text);
    for (int i = 0; i < shape->nr_dims; i++) {
        const struct benchmark_dim *d = &shape->dims[i];
        if (matrix_is_common(m, d->name, d->value))
            continue;
        strbuf_adds(text, !text->length ? "" : parts == (PART_NAME | PART_VALUE) ? " " : " × ");
        strbuf_adds(text, parts & PART_NAME ? d->name : "");
        if (parts & PART_VALUE)
            strbuf_addf(text, "%s%lld", parts & PART_NAME ? "=" : "", (long long)d->value);
    }
}

static void matrix_name_columns(const struct matrix *m, struct axis *axis)
{
    bool same = m->shapes && matrix_all_have_the_same_dims(m);
    struct strbuf name;

    strbuf_init(&name);
    strbuf_adds(&name, m->dim ? m->dim : m->shapes ? "shape" : "batch × seq");
    if (same)
        shape_text(m, m->columns[0].shape, PART_NAME, &name);
    axis_set(axis, name.data, QUANTITY_PLAIN, "", AXIS_CATEGORY);
    axis_names(axis, NULL, 0, false);
    axis->high = (double)m->nr_columns - 0.5;
    for (size_t i = 0; i < m->nr_columns; i++) {
        const struct size *s = &m->columns[i];
        strbuf_clear(&name);
        if (s->shape)
            shape_text(m, s->shape, same ? PART_VALUE : PART_NAME | PART_VALUE, &name);
        else if (m->dim)
            strbuf_addf(&name, "%lld", (long long)s->batch);
        else
            strbuf_addf(&name, "%lld × %lld", (long long)s->batch, (long long)s->seq);
        ticks_add(&axis->ticks, (double)i, name.data, false);
    }
    strbuf_release(&name);
}

static void matrix_words(struct matrix *m)
{
    const struct chart_metric *metric = &m->map.metric;
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], rows[120] = "", columns[96] = "";

    if (m->all > m->nr)
        snprintf(rows, sizeof(rows),
                 " Showing %zu of %zu rows: those with most sizes, the first of equals.", m->nr,
                 m->all);
    if (m->all_columns > m->nr_columns)
        snprintf(columns, sizeof(columns), " Showing %zu of %zu sizes: those that most rows have.",
                 m->nr_columns, m->all_columns);
    map_conclude(&m->map);
    chart_caption(m->map.f, m->map.items, "",
                  "Each cell is %.80s in %s; a row holds what differs in %.30s alone.%s%s%s",
                  metric->label, map_unit(&m->map).name,
                  m->dim      ? m->dim
                  : m->shapes ? "shape"
                              : "batch and sequence length",
                  map_hole_text(&m->map), rows, columns);
    figure_set(&m->map.f->alt, "Map of %s, %zu row%s of kernels over %zu size%s, from %s to %s.",
               metric->label, m->nr, m->nr == 1 ? "" : "s", m->nr_columns,
               m->nr_columns == 1 ? "" : "s", chart_text(metric, m->seen.low, low),
               chart_text(metric, m->seen.high, high));
}

static void matrix_draw(struct matrix *m)
{
    struct panel *p = figure_panel(m->map.f);
    struct layer *cells = panel_layer(p, MARK_CELLS, NULL);

    const char **rows = memory_zeroed(m->nr + 1, sizeof(*rows));
    bool *shown = memory_zeroed(m->map.families.nr + 1, sizeof(*shown));
    for (size_t i = 0; i < m->nr; i++)
        shown[m->rows[i]] = true;
    chart_families_name(&m->map.families, m->map.items, shown);
    free(shown);
    for (size_t i = 0; i < m->nr; i++)
        rows[i] = m->map.families.labels[m->rows[i]];
    matrix_name_columns(m, &p->x);
    axis_names(&p->y, rows, m->nr, true);
    free(rows);
    p->x.bare = p->y.bare = true;
    /* As high as the label of the colour scale is long. */
    p->plot_height = fmax(MATRIX_CELL_HEIGHT * (double)m->nr, m->nr > 1 ? 160 : 0);
    for (size_t row = 0; row < m->nr; row++)
        for (size_t column = 0; column < m->nr_columns; column++)
            map_add_cell(&m->map, cells, column, row, matrix_item_at(m, row, column));
    chart_about(m->map.f, NULL);
    map_add_scale(&m->map);
    matrix_words(m);
}

void build_matrix(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct matrix m = { .map = map_of(chart, items, f, "gflops"), .dim = chart->preset->x };

    matrix_choose_layout(&m);
    matrix_drop_holes(&m);
    matrix_find_range(&m);
    if (!m.nr)
        chart_absent(f, "no benchmark has %s and %s", m.dim ? m.dim : "both batch and seq",
                     m.map.metric.label);
    else if (!(m.map.values.high > 0))
        chart_absent(f, "no value of %s is positive", m.map.metric.label);
    else if (m.nr > 1 && measured_share(&m) < MAP_FULL)
        chart_absent(f, "no two sizes were measured of most kernels");
    else
        matrix_draw(&m);
    release_layout(&m);
    chart_metric_release(&m.map.metric);
}
