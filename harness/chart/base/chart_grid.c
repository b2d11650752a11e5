/* SPDX-License-Identifier: MIT */
#include "chart/base/chart_grid.h"

#include "base/memory.h"
#include "base/text.h"
#include "metrics/label.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of the name; the run is none of them. */
static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    { "variant", offsetof(struct benchmark_name, variant) },
    { "math", offsetof(struct benchmark_name, math) },
    { "device", offsetof(struct benchmark_name, device) },
    { "cache", offsetof(struct benchmark_name, cache) },
    { "fill", offsetof(struct benchmark_name, fill) },
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

int chart_grid_check(const char *field, struct error *err)
{
    const char *words[FIELDS + 2] = { "run" };

    for (size_t i = 0; i < FIELDS; i++)
        words[i + 1] = fields[i].name;
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], field) == 0)
            return 0;
    const char *nearest = text_nearest(field, words);
    return error_set(
        err, "\"group\": \"%.60s\" is none of variant, math, device, cache, fill, run%s%s%s", field,
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

/* The name with an empty field, and a key that says so. */
static void strip_field(const struct benchmark_name *name, const char *field,
                        struct benchmark_name *stripped)
{
    *stripped = *name;
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].name, field) == 0)
            ((char *)stripped)[fields[i].offset] = '\0';
    benchmark_name_make_key(stripped);
}

/* The column of this value; GRID_SERIES_MAX where there is no room for another. */
static size_t grid_series_of(struct chart_grid *grid, const char *value)
{
    for (size_t i = 0; i < grid->nr_series; i++)
        if (strcmp(grid->series[i], value) == 0)
            return i;
    if (grid->nr_series < GRID_SERIES_MAX)
        snprintf(grid->series[grid->nr_series++], GROUP_SIZE, "%s", value);
    else
        return GRID_SERIES_MAX;
    return grid->nr_series - 1;
}

static bool grid_is_row(const void *owner, size_t at, const char *key, size_t run)
{
    const struct chart_grid_row *row = &((const struct chart_grid *)owner)->items[at];

    return row->run == run && strcmp(row->name.key, key) == 0;
}

static struct chart_grid_row *grid_row_of(struct chart_grid *grid, struct chart_places *places,
                                          const struct benchmark_name *name, size_t run)
{
    size_t *place = chart_place(places, name->key, run);

    if (*place)
        return &grid->items[*place - 1];
    struct chart_grid_row *row = array_push(grid);
    *row = (struct chart_grid_row) { .name = *name, .run = run };
    *place = grid->nr;
    return row;
}

static void grid_name_rows(struct chart_grid *grid)
{
    const struct benchmark_name **names = memory_zeroed(grid->nr + 1, sizeof(*names));

    for (size_t i = 0; i < grid->nr; i++)
        names[i] = &grid->items[i].name;
    labels_free(grid->labels, grid->nr_labels);
    grid->labels = grid->nr ? labels_create(names, grid->nr) : NULL;
    grid->nr_labels = grid->nr;
    free(names);
}

static void grid_fill(struct chart_grid *grid, const struct chart_items *items, const char *field)
{
    bool by_run = strcmp(field, "run") == 0;
    struct chart_places places;

    chart_places_init(&places, grid, grid_is_row, items->nr);
    *grid = (struct chart_grid) { .field = field };
    for (size_t i = 0; i < items->nr; i++) {
        const struct chart_item *item = &items->items[i];
        struct benchmark_name name;
        char value[GROUP_SIZE];
        size_t series = grid_series_of(grid, chart_group_of(item, items->chart, field, value));
        if (series == GRID_SERIES_MAX) {
            grid->crowded++;
            continue;
        }
        strip_field(item->bench, field, &name);
        grid_row_of(grid, &places, &name, by_run ? 0 : item->run)->items[series] = item;
    }
    chart_places_release(&places);
}

void chart_grid_release(struct chart_grid *grid)
{
    labels_free(grid->labels, grid->nr_labels);
    array_release(grid);
}

static size_t grid_count(const struct chart_grid_row *row)
{
    size_t nr = 0;

    for (size_t i = 0; i < GRID_SERIES_MAX; i++)
        nr += row->items[i] != NULL;
    return nr;
}

size_t chart_grid_base(const struct chart_grid_row *row)
{
    size_t first = GRID_SERIES_MAX;

    for (size_t i = GRID_SERIES_MAX; i-- > 0;)
        first = row->items[i] ? i : first;
    for (size_t i = 0; i < GRID_SERIES_MAX; i++)
        if (row->items[i] && row->items[i]->summary->m->vendor)
            return i;
    return first;
}

bool chart_grid_init_pairs(struct chart_grid *grid, const struct chart_items *items,
                           struct figure *f)
{
    size_t kept = 0;

    grid_fill(grid, items, items->chart->preset->group);
    for (size_t i = 0; i < grid->nr; i++)
        if (grid_count(&grid->items[i]) > 1)
            grid->items[kept++] = grid->items[i];
    grid->nr = grid->all = kept;
    grid_name_rows(grid);
    if (!grid->nr)
        chart_absent(f, "no two benchmarks are alike but for their %s", grid->field);
    return grid->nr > 0;
}

static double grid_weight(const struct chart_grid_row *row)
{
    double longest = 0;

    for (size_t i = 0; i < GRID_SERIES_MAX; i++)
        if (row->items[i] && chart_item_median(row->items[i]) > longest)
            longest = chart_item_median(row->items[i]);
    return longest;
}

void chart_grid_limit(struct chart_grid *grid, size_t limit)
{
    struct chart_rank *rows = memory_zeroed(grid->nr + 1, sizeof(*rows));
    bool *gone = memory_zeroed(grid->nr + 1, sizeof(*gone));
    size_t items = 0, kept = 0;

    for (size_t i = 0; i < grid->nr; i++) {
        items += grid_count(&grid->items[i]);
        rows[i] = (struct chart_rank) { grid_weight(&grid->items[i]), i };
    }
    qsort(rows, grid->nr, sizeof(*rows), chart_rank_order);
    for (size_t i = 0; items > limit && i + 1 < grid->nr; i++) {
        items -= grid_count(&grid->items[rows[i].at]);
        gone[rows[i].at] = true;
    }
    for (size_t i = 0; i < grid->nr; i++)
        if (!gone[i])
            grid->items[kept++] = grid->items[i];
    grid->nr = kept;
    free(rows);
    free(gone);
    grid_name_rows(grid);
}

void chart_grid_left_out(const struct chart_grid *grid, char *words, size_t size)
{
    char rows[80] = "", series[110] = "";

    if (grid->all > grid->nr)
        snprintf(rows, sizeof(rows), " Showing %zu of %zu: those that take longest.", grid->nr,
                 grid->all);
    if (grid->crowded)
        snprintf(series, sizeof(series),
                 " More than %d kinds of %.20s: %zu of further ones %s not shown.", GRID_SERIES_MAX,
                 grid->field, grid->crowded, grid->crowded == 1 ? "is" : "are");
    snprintf(words, size, "%s%s", rows, series);
}
