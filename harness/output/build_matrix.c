/* SPDX-License-Identifier: MIT */
/* All kernels over all sizes in one map: a row for each of what differs in batch and sequence
 * length alone (or in the dim that the preset names as "x"), a column for each size. Where that
 * leaves most of the map empty, as for matrix products of many shapes, a row a kernel and variant
 * and a column a shape. The value stands in each cell and sets its colour; what was not measured is
 * grey and says so. */
#include "base/memory.h"
#include "output/map_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 20, COLUMNS_MAX = 14, CELL_HEIGHT = 30 };

/* Below this share of measured cells other rows and columns are tried. */
static const double sparse = 0.5;

struct size {
    int64_t batch, seq;                 /* or the value of the dim, and 0 */
    const struct benchmark_name *shape; /* whose dims are the column, or NULL */
    size_t count;
};

struct matrix {
    const struct chart *chart;
    struct chart_items items;
    struct chart_families families;
    struct chart_metric metric;
    const char *dim; /* NULL: batch and seq */
    bool shapes;     /* columns are whole shapes */
    struct size *columns;
    size_t nr_columns, all_columns, columns_capacity;
    size_t *rows; /* indices of families */
    size_t nr, all;
    struct map_scale scale;
    struct figure *f;
};

static struct size size_of(const struct matrix *m, const struct chart_item *item)
{
    struct size size = { .count = 1 };

    if (m->shapes)
        size.shape = item->bench;
    size.batch = benchmark_name_dim(item->bench, m->dim ? m->dim : "batch", 0);
    size.seq = m->dim ? 0 : benchmark_name_dim(item->bench, "seq", 0);
    return size;
}

static double value_of(const struct matrix *m, size_t item)
{
    return chart_value_of(&m->metric, &m->items.items[item], &m->items.context).value;
}

static int by_shape(const struct benchmark_name *x, const struct benchmark_name *y)
{
    /* analyzer: columns have shapes all or none, see size_of() */
    for (int i = 0; i < x->nr_dims && i < y->nr_dims; i++) {
        int names = strcmp(x->dims[i].name, y->dims[i].name);
        if (names != 0)
            return names;
        if (x->dims[i].value != y->dims[i].value)
            return x->dims[i].value < y->dims[i].value ? -1 : 1;
    }
    return x->nr_dims - y->nr_dims; /* analyzer: as above */
}

static int by_size(const void *a, const void *b)
{
    const struct size *x = a, *y = b;

    if (x->shape)
        return by_shape(x->shape, y->shape);
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void count_size(struct matrix *m, struct size size)
{
    for (size_t i = 0; i < m->nr_columns; i++) {
        if (by_size(&m->columns[i], &size) == 0) {
            m->columns[i].count++;
            return;
        }
    }
    m->columns = array_grow(m->columns, m->nr_columns, &m->columns_capacity, sizeof(*m->columns));
    m->columns[m->nr_columns++] = size;
}

/* The sizes that most rows have, in order. */
static void find_columns(struct matrix *m)
{
    for (size_t i = 0; i < m->nr; i++) {
        const struct chart_family *family = &m->families.items[m->rows[i]];
        for (size_t k = 0; k < family->nr; k++)
            if (isfinite(value_of(m, family->members[k])))
                count_size(m, size_of(m, &m->items.items[family->members[k]]));
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
        qsort(m->columns, m->nr_columns, sizeof(*m->columns), by_size);
}

static size_t count_values(const struct matrix *m, size_t family)
{
    size_t nr = 0;

    for (size_t i = 0; i < m->families.items[family].nr; i++)
        nr += isfinite(value_of(m, m->families.items[family].members[i])) ? 1 : 0;
    return nr;
}

/* Of equal ones the last go first: weights stand in the order from the last on. */
static void keep_rows(struct matrix *m, size_t limit)
{
    double *weights = memory_zeroed(m->nr + 1, sizeof(*weights));
    bool *keep = memory_zeroed(m->nr + 1, sizeof(*keep));
    size_t kept = 0, nr = m->nr;

    for (size_t i = 0; i < nr; i++)
        weights[nr - 1 - i] = (double)count_values(m, m->rows[i]);
    chart_mark_heaviest(weights, nr, limit, keep);
    for (size_t i = 0; i < nr; i++)
        if (keep[nr - 1 - i])
            m->rows[kept++] = m->rows[i];
    m->nr = kept;
    free(weights);
    free(keep);
}

/* Rows with a value; of too many those with the fewest sizes go first. */
static void find_rows(struct matrix *m, size_t limit)
{
    m->rows = memory_zeroed(m->families.nr + 1, sizeof(*m->rows));
    for (size_t i = 0; i < m->families.nr; i++)
        if (count_values(m, i) > 0)
            m->rows[m->nr++] = i;
    m->all = m->nr;
    keep_rows(m, limit);
}

static double value_at(const struct matrix *m, size_t row, size_t column)
{
    const struct chart_family *family = &m->families.items[m->rows[row]];

    for (size_t i = 0; i < family->nr; i++) {
        struct size size = size_of(m, &m->items.items[family->members[i]]);
        if (by_size(&size, &m->columns[column]) == 0)
            return value_of(m, family->members[i]);
    }
    return NAN;
}

static void find_families(struct matrix *m)
{
    if (m->shapes)
        chart_families_of_code(&m->families, &m->items);
    else
        chart_families_init(&m->families, &m->items, m->dim ? m->dim : "batch",
                            m->dim ? NULL : "seq");
}

static void lay_out(struct matrix *m, bool shapes)
{
    m->shapes = shapes;
    find_families(m);
    find_rows(m, chart_limit(m->chart->preset, LIMIT));
    find_columns(m);
}

static void release_layout(struct matrix *m)
{
    free(m->rows);
    free(m->columns);
    m->rows = NULL;
    m->columns = NULL;
    m->nr = m->nr_columns = m->columns_capacity = 0;
    chart_families_release(&m->families);
}

/* Share of the cells that were measured. */
static double filled(const struct matrix *m)
{
    size_t nr = 0;

    for (size_t row = 0; row < m->nr; row++)
        for (size_t column = 0; column < m->nr_columns; column++)
            nr += isfinite(value_at(m, row, column)) ? 1 : 0;
    return m->nr ? (double)nr / (double)(m->nr * m->nr_columns) : 1;
}

static void choose_layout(struct matrix *m)
{
    lay_out(m, false);
    double first = filled(m);
    if (m->dim || first >= sparse)
        return;
    release_layout(m);
    lay_out(m, true);
    if (filled(m) > first)
        return;
    release_layout(m);
    lay_out(m, false);
}

static void find_range(struct matrix *m)
{
    m->scale = (struct map_scale) { .metric = &m->metric, .least = INFINITY };
    for (size_t row = 0; row < m->nr; row++)
        for (size_t column = 0; column < m->nr_columns; column++)
            map_scale_include(&m->scale, value_at(m, row, column));
}

/* Do all columns have this dim, with this value? */
static bool is_common(const struct matrix *m, const char *dim, int64_t value)
{
    for (size_t i = 0; i < m->nr_columns; i++)
        if (benchmark_name_dim(m->columns[i].shape, dim, -1) != value)
            return false;
    return m->nr_columns > 1;
}

/* Then their names stand once, at the axis. */
static bool all_have_the_same_dims(const struct matrix *m)
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
        if (is_common(m, d->name, d->value))
            continue;
        strbuf_adds(text, !text->length ? "" : parts == (PART_NAME | PART_VALUE) ? " " : " × ");
        strbuf_adds(text, parts & PART_NAME ? d->name : "");
        if (parts & PART_VALUE)
            strbuf_addf(text, "%s%lld", parts & PART_NAME ? "=" : "", (long long)d->value);
    }
}

static void name_columns(const struct matrix *m, struct axis *axis)
{
    bool same = m->shapes && all_have_the_same_dims(m);
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

static void name_axes(struct matrix *m, struct panel *p)
{
    const char **rows = memory_zeroed(m->nr + 1, sizeof(*rows));

    for (size_t i = 0; i < m->nr; i++)
        rows[i] = m->families.labels[m->rows[i]];
    name_columns(m, &p->x);
    axis_names(&p->y, rows, m->nr, true);
    free(rows);
    p->x.bare = p->y.bare = true;
    /* As high as the label of the colour scale is long. */
    p->plot_height = fmax(CELL_HEIGHT * (double)m->nr, m->nr > 1 ? 160 : 0);
}

static void add_words(struct matrix *m)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], how[500], rows[96] = "",
                                                                      columns[96] = "";

    chart_subtitle(m->f, m->chart, &m->items);
    quantity_text(m->metric.quantity, m->metric.base, m->scale.least, low);
    quantity_text(m->metric.quantity, m->metric.base, m->scale.most, high);
    if (m->all > m->nr)
        snprintf(rows, sizeof(rows), " Showing %zu of %zu rows: those with most sizes.", m->nr,
                 m->all);
    if (m->all_columns > m->nr_columns)
        snprintf(columns, sizeof(columns), " Showing %zu of %zu sizes: those that most rows have.",
                 m->nr_columns, m->all_columns);
    snprintf(how, sizeof(how),
             "Each cell is %.80s in %s; a row holds what differs in %.30s alone. Grey n/a: not "
             "measured.%s%s",
             m->metric.label, map_scale_unit(&m->scale).name,
             m->dim      ? m->dim
             : m->shapes ? "shape"
                         : "batch and sequence length",
             rows, columns);
    chart_caption(m->f, &m->items, how, "");
    figure_set(&m->f->alt, "Map of %s, %zu row%s of kernels over %zu size%s, from %s to %s.",
               m->metric.label, m->nr, m->nr == 1 ? "" : "s", m->nr_columns,
               m->nr_columns == 1 ? "" : "s", low, high);
}

static void draw(struct matrix *m)
{
    struct panel *p = figure_panel(m->f);
    struct layer *cells = panel_layer(p, MARK_CELLS, NULL);

    name_axes(m, p);
    for (size_t row = 0; row < m->nr; row++)
        for (size_t column = 0; column < m->nr_columns; column++)
            map_cell_add(cells, &m->scale, column, row, value_at(m, row, column));
    map_scale_add_bar(&m->scale, m->f);
    add_words(m);
    figure_finish(m->f);
}

struct figure *build_matrix(const struct chart *chart)
{
    struct matrix m = { .chart = chart,
                        .metric = chart_metric_chosen(chart->preset->y, "gflops"),
                        .dim = chart->preset->x,
                        .f = chart_figure(chart) };

    chart_items_init(&m.items, chart);
    choose_layout(&m);
    find_range(&m);
    if (!m.items.nr)
        chart_absent_items(m.f, chart, &m.items);
    else if (!m.nr)
        chart_absent(m.f, "no benchmark has %s and %s", m.dim ? m.dim : "both batch and seq",
                     m.metric.label);
    else if (!(m.scale.most > 0))
        chart_absent(m.f, "no value of %s is positive", m.metric.label);
    else
        draw(&m);
    release_layout(&m);
    chart_items_release(&m.items);
    chart_metric_release(&m.metric);
    return m.f;
}
