/* SPDX-License-Identifier: MIT */
/* Benchmarks that differ in a dim alone: the lines of a scaling plot, the cells of a heatmap. */
#include "chart/base/chart_base.h"

#include "base/memory.h"
#include "metrics/label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void chart_name_without(const struct benchmark_name *name, const char *dim,
                        struct benchmark_name *without)
{
    *without = *name;
    without->nr_dims = 0;
    for (int i = 0; i < name->nr_dims; i++) {
        if (strcmp(name->dims[i].name, dim) == 0)
            continue;
        without->dims[without->nr_dims++] = name->dims[i];
    }
    benchmark_name_make_key(without);
}

static bool family_is_family(const void *owner, size_t at, const char *key, size_t run)
{
    const struct chart_family *family = &((const struct chart_families *)owner)->items[at];

    return family->run == run && strcmp(family->name.key, key) == 0;
}

static struct chart_family *family_of(struct chart_families *families, struct chart_places *places,
                                      const struct benchmark_name *name, size_t run)
{
    size_t *place = chart_place(places, name->key, run);

    if (*place)
        return &families->items[*place - 1];
    struct chart_family *family = array_push(families);
    family->name = *name;
    family->run = run;
    *place = families->nr;
    return family;
}

static void family_add_member(struct chart_family *family, size_t item)
{
    family->members =
        array_grow(family->members, family->nr, &family->capacity, sizeof(*family->members));
    family->members[family->nr++] = item;
}

static void family_name(struct chart_families *families, const struct chart_items *items,
                        size_t nth, const char *own)
{
    const char *run = families->with_run && items->nr_rows > 1
                          ? chart_run_name(items->chart, families->items[nth].run)
                          : "";

    figure_set(&families->own[nth], "%s", own);
    /* The run stands behind where there are several. */
    figure_set(&families->labels[nth], "%s%s%s", own, *run ? " · " : "", run);
}

void chart_families_name(struct chart_families *families, const struct chart_items *items,
                         const bool *shown)
{
    const struct benchmark_name **names = memory_zeroed(families->nr + 1, sizeof(*names));
    size_t nr = 0, next = 0;

    for (size_t i = 0; i < families->nr; i++)
        if (!shown || shown[i])
            names[nr++] = &families->items[i].name;
    char **labels = labels_create(names, nr);
    for (size_t i = 0; i < families->nr; i++)
        if (!shown || shown[i])
            family_name(families, items, i, labels[next++]);
    labels_free(labels, nr);
    free(names);
}

static void family_name_families(struct chart_families *families, const struct chart_items *items,
                                 bool with_run)
{
    families->with_run = with_run;
    families->own = memory_zeroed(families->nr + 1, sizeof(*families->own));
    families->labels = memory_zeroed(families->nr + 1, sizeof(*families->labels));
    chart_families_name(families, items, NULL);
}

void chart_families_init(struct chart_families *families, const struct chart_items *items,
                         const char *dim, const char *second)
{
    struct chart_places places;

    chart_places_init(&places, families, family_is_family, items->nr);
    *families = (struct chart_families) { 0 };
    for (size_t i = 0; i < items->nr; i++) {
        const struct benchmark_name *name = items->items[i].bench;
        struct benchmark_name one, both;
        if (benchmark_name_dim(name, dim, -1) < 0 ||
            (second && benchmark_name_dim(name, second, -1) < 0))
            continue;
        chart_name_without(name, dim, &one);
        chart_name_without(&one, second ? second : dim, &both);
        family_add_member(family_of(families, &places, &both, items->items[i].run), i);
    }
    chart_places_release(&places);
    family_name_families(families, items, true);
}

void chart_families_of_code(struct chart_families *families, const struct chart_items *items)
{
    struct chart_places places;

    chart_places_init(&places, families, family_is_family, items->nr);
    *families = (struct chart_families) { 0 };
    for (size_t i = 0; i < items->nr; i++) {
        struct benchmark_name code = *items->items[i].bench;
        while (code.nr_dims > 0) {
            struct benchmark_name with = code;
            chart_name_without(&with, with.dims[0].name, &code);
        }
        family_add_member(family_of(families, &places, &code, items->items[i].run), i);
    }
    chart_places_release(&places);
    family_name_families(families, items, true);
}

/* The number of threads stands in the device's label. */
static void family_name_without_threads(const struct benchmark_name *name,
                                        struct benchmark_name *without)
{
    struct benchmark_name general = *name;

    general.device[strcspn(general.device, "0123456789")] = '\0';
    chart_name_without(&general, "", without);
}

/* All of a group are one family. */
static void family_name_of_group(const struct chart_items *items, const struct chart_item *item,
                                 struct benchmark_name *name)
{
    const char *group = items->chart->preset->group;
    char text[GROUP_SIZE];

    *name = (struct benchmark_name) { .nr_dims = 0 };
    snprintf(name->key, sizeof(name->key), "%s",
             chart_group_of(item, items->chart, group ? group : "variant", text));
    snprintf(name->kernel, sizeof(name->kernel), "%.63s", name->key);
}

static void family_name_over(const struct chart_items *items, const struct chart_item *item,
                             const struct chart_metric *x, struct benchmark_name *name)
{
    if (benchmark_name_dim(item->bench, x->name, -1) >= 0)
        chart_name_without(item->bench, x->name, name);
    else if (chart_metric_is_of_run(x))
        *name = *item->bench;
    else if (strcmp(x->name, "threads") == 0)
        family_name_without_threads(item->bench, name);
    else
        family_name_of_group(items, item, name);
}

void chart_families_over(struct chart_families *families, const struct chart_items *items,
                         const struct chart_metric *x)
{
    struct benchmark_name name;
    struct chart_places places;

    chart_places_init(&places, families, family_is_family, items->nr);
    *families = (struct chart_families) { 0 };
    for (size_t i = 0; i < items->nr; i++) {
        size_t run = chart_metric_is_of_run(x) ? 0 : items->items[i].run;
        family_name_over(items, &items->items[i], x, &name);
        family_add_member(family_of(families, &places, &name, run), i);
    }
    chart_places_release(&places);
    family_name_families(families, items, !chart_metric_is_of_run(x));
}

void chart_families_release(struct chart_families *families)
{
    for (size_t i = 0; i < families->nr; i++)
        free(families->items[i].members);
    labels_free(families->labels, families->nr);
    labels_free(families->own, families->nr);
    array_release(families);
}

static double sum_of_dims(const struct chart_family *family)
{
    double sum = 0;

    for (int i = 0; i < family->name.nr_dims; i++)
        sum += (double)family->name.dims[i].value;
    return sum;
}

/* Log mean of the metric, turned so that more is better. */
static double family_goodness(const struct chart_family *family, const struct chart_items *items,
                              const struct chart_metric *metric)
{
    double sum = 0;

    for (size_t i = 0; i < family->nr; i++)
        sum +=
            log(chart_value_of(metric, &items->items[family->members[i]], &items->context).value);
    sum /= (double)family->nr;
    return metric->direction == LOWER_IS_BETTER ? -sum : sum;
}

bool chart_family_leads(const struct chart_families *families, const struct chart_items *items,
                        size_t nth, const struct chart_metric *metric)
{
    const struct chart_family *family = &families->items[nth];

    for (size_t i = 0; i < families->nr; i++) {
        const struct chart_family *other = &families->items[i];
        if (i == nth || other->run != family->run ||
            strcmp(other->name.kernel, family->name.kernel) != 0)
            continue;
        double ahead = (double)other->nr - (double)family->nr;
        if (ahead == 0)
            ahead = sum_of_dims(other) - sum_of_dims(family);
        if (ahead == 0)
            ahead = family_goodness(other, items, metric) - family_goodness(family, items, metric);
        if (ahead > 0 || (ahead == 0 && i < nth))
            return false;
    }
    return true;
}

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

size_t chart_dim_values(const struct chart_items *items, const struct chart_family *family,
                        const char *dim, int64_t *values, size_t most, size_t *all)
{
    int64_t *met = memory_zeroed(family->nr + 1, sizeof(*met));

    for (size_t i = 0; i < family->nr; i++)
        met[i] = benchmark_name_dim(items->items[family->members[i]].bench, dim, -1);
    qsort(met, family->nr, sizeof(*met), compare_values);
    *all = 0;
    for (size_t i = 0; i < family->nr; i++)
        if (*all == 0 || met[i] != met[*all - 1])
            met[(*all)++] = met[i];
    size_t nr = *all < most ? *all : most;
    memcpy(values, met + *all - nr, nr * sizeof(*values));
    free(met);
    return nr;
}
