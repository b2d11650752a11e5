/* SPDX-License-Identifier: MIT */
#include "chart/profile/profile_samples.h"

#include "base/memory.h"
#include "profile/name_map.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS_MIN = 2 };

bool profile_by_iteration(const struct profile_data *data)
{
    return data->found.layers.nr_iterations >= ITERATIONS_MIN;
}

static void profile_samples_add_value(struct sample_row *row, double value, double ns)
{
    if (!isfinite(value))
        return;
    row->values[row->nr++] = value;
    row->weight += ns;
}

/* Takes the row, or frees what it has. */
static void profile_samples_take_row(struct sample_rows *rows, struct sample_row *row)
{
    if (row->nr == 0) {
        free(row->values);
        return;
    }
    stats_sort(row->values, row->nr);
    rows->items[rows->nr++] = *row;
}

/* ---- by iteration ---- */

static double profile_samples_sum_of(const int64_t *ns, size_t nr)
{
    double sum = 0;

    for (size_t i = 0; i < nr; i++)
        sum += (double)ns[i];
    return sum;
}

static bool is_sampled(const struct layer_samples *layer, size_t nr, enum profile_samples_of of)
{
    double self = profile_samples_sum_of(layer->self_ns, nr);
    bool works = self > 0 && 2 * self >= profile_samples_sum_of(layer->total_ns, nr);

    return of == SAMPLES_OF_WORK ? works : !works && layer->depth == 0;
}

static void profile_samples_add_layer(struct sample_rows *rows, const struct layer_samples *layer,
                                      size_t nr, enum prof_side side, enum profile_sample what)
{
    bool on_device = profile_samples_sum_of(layer->gpu_ns, nr) > 0;
    const int64_t *ns = side == PROF_DEVICE ? layer->gpu_ns : layer->total_ns;
    double work = what == SAMPLE_FLOPS ? layer->flops : layer->bytes;
    struct sample_row row = { .name = layer->name };

    if (what != SAMPLE_TIME && on_device != (side == PROF_DEVICE))
        return;
    row.values = memory_zeroed(nr + 1, sizeof(*row.values));
    for (size_t i = 0; i < nr; i++) {
        double rate = work > 0 ? work / (double)ns[i] * 1e9 : NAN;
        if (ns[i] > 0)
            profile_samples_add_value(&row, what == SAMPLE_TIME ? (double)ns[i] : rate,
                                      (double)ns[i]);
    }
    row.weight = timeline_middle_of(ns, nr).median; /* one slow iteration heads no figure */
    profile_samples_take_row(rows, &row);
}

static void profile_samples_add_layers(struct sample_rows *rows,
                                       const struct timeline_layers *layers, enum prof_side side,
                                       enum profile_sample what, enum profile_samples_of of)
{
    rows->items = memory_zeroed(layers->nr + 1, sizeof(*rows->items));
    for (size_t i = 0; i < layers->nr; i++)
        if (is_sampled(&layers->items[i], layers->nr_iterations, of))
            profile_samples_add_layer(rows, &layers->items[i], layers->nr_iterations, side, what);
}

/* ---- by call ---- */

/* Of a name; -1 where none was given it. */
static int *profile_samples_place(struct prof_map *places, const char *name)
{
    int *place = prof_map_name(places, name, 0, -1);

    return place ? place : memory_zeroed(SIZE_MAX, sizeof(*place)); /* no memory: ends it */
}

/* Time between marks of the GPU where the scope has them: the host may be long gone. */
static double call_value(const struct prof_slice *s, enum profile_sample what, double *ns)
{
    double work = what == SAMPLE_FLOPS ? s->flops : (double)s->bytes;

    *ns = (double)(s->gpu > 0 ? s->gpu : s->duration);
    if (what == SAMPLE_TIME)
        return *ns;
    return work > 0 && *ns > 0 ? work / *ns * 1e9 : NAN;
}

/* Where the values of each row of the summary go; NULL: it is not one of those shown. */
static struct sample_row *profile_samples_rows_by_call(const struct profile_data *data,
                                                       enum prof_side side, struct prof_map *places)
{
    struct sample_row *rows = memory_zeroed(data->rows.nr_rows + 1, sizeof(*rows));

    for (size_t i = 0; i < data->rows.nr_rows; i++) {
        const struct prof_row *row = &data->rows.rows[i];
        if (row->side != side || !timeline_row_works(row))
            continue;
        rows[i] = (struct sample_row) { .name = row->name,
                                        .side = row->side,
                                        .values = memory_zeroed(row->calls + 1, sizeof(double)) };
        *profile_samples_place(places, row->name) = (int)i;
    }
    return rows;
}

static void profile_samples_add_rows(struct sample_rows *rows, const struct profile_data *data,
                                     enum prof_side side, enum profile_sample what)
{
    struct prof_map places = { .nr = 0 };
    struct sample_row *list = profile_samples_rows_by_call(data, side, &places);

    rows->items = memory_zeroed(data->rows.nr_rows + 1, sizeof(*rows->items));
    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        enum prof_side on = profile_on_device(&data->main, s) ? PROF_DEVICE : PROF_HOST;
        int at = on == side ? *profile_samples_place(&places, s->name) : -1;
        double ns, value = call_value(s, what, &ns);
        if (at >= 0 && !(s->flags & PROF_INSTANT_POINT) && !profile_is_call(s))
            profile_samples_add_value(&list[at], value, ns);
    }
    for (size_t i = 0; i < data->rows.nr_rows; i++)
        if (list[i].values)
            profile_samples_take_row(rows, &list[i]);
    free(list);
    prof_map_release(&places);
}

/* ---- both ---- */

static int profile_samples_by_weight(const void *x, const void *y)
{
    const struct sample_row *a = x, *b = y;

    return (a->weight < b->weight) - (a->weight > b->weight);
}

void profile_samples_init(struct sample_rows *rows, const struct profile_data *data,
                          enum prof_side side, enum profile_sample what, enum profile_samples_of of,
                          size_t limit)
{
    *rows = (struct sample_rows) { .nr = 0 };
    if (profile_by_iteration(data))
        profile_samples_add_layers(rows, &data->found.layers, side, what, of);
    else if (of == SAMPLES_OF_WORK)
        profile_samples_add_rows(rows, data, side, what);
    if (of == SAMPLES_OF_WORK && rows->nr > 1)
        qsort(rows->items, rows->nr, sizeof(*rows->items), profile_samples_by_weight);
    rows->of = rows->nr;
    while (rows->nr > limit)
        free(rows->items[--rows->nr].values);
}

void profile_samples_release(struct sample_rows *rows)
{
    for (size_t i = 0; i < rows->nr; i++)
        free(rows->items[i].values);
    free(rows->items);
    *rows = (struct sample_rows) { .nr = 0 };
}
