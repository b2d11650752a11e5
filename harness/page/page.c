/* SPDX-License-Identifier: MIT */
/* Which runs, benchmarks and metrics the page has, and what they are called. */
#include "page/page.h"

#include "base/array.h"
#include "metrics/epoch.h"
#include "metrics/group.h"
#include "metrics/label.h"
#include "metrics/run_label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The base of a view borrows from its records, so that of runs without uuid (files of others) the
 * texts are the same. */
static bool page_same_run(const struct run *a, const struct run *b)
{
    if (a == b || a->uuid[0] || b->uuid[0])
        return a == b || strcmp(a->uuid, b->uuid) == 0;
    return (a->environment && a->environment == b->environment) ||
           (a->settings && a->settings == b->settings);
}

int page_find_run(const struct page *page, const struct run *run)
{
    for (size_t i = 0; i < page->nr_runs; i++)
        if (page_same_run(page->runs[i].run, run))
            return (int)i;
    return -1;
}

static void page_push_run(struct page *page, const struct page_run *run)
{
    page->runs = array_grow(page->runs, page->nr_runs, &page->runs_capacity, sizeof(*page->runs));
    page->runs[page->nr_runs++] = *run;
}

static void page_add_records(struct page *page, const struct records *records, size_t part)
{
    page->own[part] = memory_zeroed(records->nr_runs + 1, sizeof(*page->own[part]));
    page->nr_own[part] = records->nr_runs;
    for (size_t i = 0; i < records->nr_runs; i++) {
        struct page_run run = {
            .run = &records->runs[i],
            .values = &page->own[part][i],
            .records = records,
            .index = (int)i,
        };
        if (page_find_run(page, run.run) >= 0)
            continue;
        run_values_init(&page->own[part][i], records, (int)i);
        page_push_run(page, &run);
    }
}

static int page_order_runs(const void *x, const void *y)
{
    const struct page_run *a = x, *b = y;
    int order =
        (a->run->started_ms > b->run->started_ms) - (a->run->started_ms < b->run->started_ms);

    if (!order)
        order = (a->run->id > b->run->id) - (a->run->id < b->run->id);
    return order ? order : strcmp(a->run->uuid, b->run->uuid);
}

static void page_name_runs(struct page *page)
{
    const struct run **runs = memory_zeroed(page->nr_runs + 1, sizeof(*runs));

    for (size_t i = 0; i < page->nr_runs; i++)
        runs[i] = page->runs[i].run;
    char **names = run_labels_create(runs, page->nr_runs, NULL);
    for (size_t i = 0; i < page->nr_runs; i++)
        page->runs[i].name = names[i];
    free(names);
    free(runs);
}

static void page_number_epochs(struct page *page)
{
    int nr = 0;

    for (size_t i = 0; i < page->nr_runs; i++) {
        size_t first = 0;
        while (page->runs[first].epoch_id != page->runs[i].epoch_id)
            first++;
        page->runs[i].epoch = first < i ? page->runs[first].epoch : nr++;
    }
}

static int page_newest(const struct records *records)
{
    int found = -1;

    for (size_t i = 0; i < records->nr_runs; i++)
        if (found < 0 || records->runs[i].started_ms >= records->runs[found].started_ms)
            found = (int)i;
    return found;
}

static void page_collect_runs(struct page *page)
{
    const struct view *view = page->view;
    int base = view->compared ? page_newest(&view->base) : -1;

    page_add_records(page, &view->records, 0);
    page_add_records(page, &view->base, 1);
    for (size_t i = 0; i < page->options.nr_more; i++)
        if (page_find_run(page, page->options.more[i].run) < 0)
            page_push_run(page, &page->options.more[i]);
    page_add_records(page, &view->history, 2);
    if (page->nr_runs)
        qsort(page->runs, page->nr_runs, sizeof(*page->runs), page_order_runs);
    for (size_t i = 0; i < page->nr_runs; i++)
        page->runs[i].epoch_id = epoch_id(page->runs[i].run);
    page_number_epochs(page);
    page_name_runs(page);
    page->head = view->head < 0 ? -1 : page_find_run(page, &view->records.runs[view->head]);
    page->base = base < 0 ? -1 : page_find_run(page, &view->base.runs[base]);
}

static int page_order_texts(const void *x, const void *y)
{
    const struct run_value *const *a = x, *const *b = y;

    return strcmp((*a)->key, (*b)->key);
}

static int page_order_benchmarks(const void *x, const void *y)
{
    const struct page_benchmark *a = x, *b = y;

    return benchmark_order(&a->name, &b->name);
}

static void page_add_benchmark(struct page *page, const struct run_value *value)
{
    struct page_benchmark *b = &page->benchmarks[page->nr_benchmarks];
    struct error ignored; /* too long for a key: then it never was one */

    if (benchmark_name_parse(value->key, &b->name, &ignored) == 0) {
        b->vendor = value->vendor;
        page->nr_benchmarks++;
    }
}

/* Each key once, from all rows of all runs. */
static void page_collect_benchmarks(struct page *page)
{
    ARRAY(const struct run_value *) all = ARRAY_EMPTY;
    size_t distinct = 0;

    for (size_t i = 0; i < page->nr_runs; i++)
        for (size_t k = 0; k < page->runs[i].values->nr; k++)
            *array_push(&all) = &page->runs[i].values->items[k];
    if (all.nr)
        qsort(all.items, all.nr, sizeof(*all.items), page_order_texts);
    for (size_t i = 0; i < all.nr; i++)
        if (i == 0 || strcmp(all.items[i]->key, all.items[distinct - 1]->key) != 0)
            all.items[distinct++] = all.items[i];
    page->benchmarks = memory_zeroed(distinct + 1, sizeof(*page->benchmarks));
    for (size_t i = 0; i < distinct; i++)
        page_add_benchmark(page, all.items[i]);
    if (page->nr_benchmarks)
        qsort(page->benchmarks, page->nr_benchmarks, sizeof(*page->benchmarks),
              page_order_benchmarks);
    array_release(&all);
}

static void page_label_benchmarks(struct page *page)
{
    size_t nr = page->nr_benchmarks;
    const struct benchmark_name **names = memory_zeroed(nr + 1, sizeof(*names));

    for (size_t i = 0; i < nr; i++)
        names[i] = &page->benchmarks[i].name;
    char **labels = nr ? labels_create(names, nr) : NULL;
    for (size_t i = 0; i < nr; i++)
        page->benchmarks[i].label = labels[i];
    free(labels);
    free(names);
}

struct keyed {
    const char *key;
    size_t index;
};

static int page_order_keyed(const void *x, const void *y)
{
    const struct keyed *a = x, *b = y;

    return strcmp(a->key, b->key);
}

static void page_index_benchmarks(struct page *page)
{
    struct keyed *keyed = memory_zeroed(page->nr_benchmarks + 1, sizeof(*keyed));

    for (size_t i = 0; i < page->nr_benchmarks; i++)
        keyed[i] = (struct keyed) { page->benchmarks[i].name.key, i };
    if (page->nr_benchmarks)
        qsort(keyed, page->nr_benchmarks, sizeof(*keyed), page_order_keyed);
    page->by_key = memory_zeroed(page->nr_benchmarks + 1, sizeof(*page->by_key));
    for (size_t i = 0; i < page->nr_benchmarks; i++)
        page->by_key[i] = keyed[i].index;
    free(keyed);
}

int page_find_benchmark(const struct page *page, const char *key)
{
    size_t low = 0, high = page->nr_benchmarks;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(key, page->benchmarks[page->by_key[middle]].name.key);
        if (order == 0)
            return (int)page->by_key[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

static void page_collect_metrics(struct page *page)
{
    size_t nr = run_values_metrics();

    page->nr_metrics = nr;
    page->has = memory_zeroed(nr, sizeof(*page->has));
    for (size_t i = 0; i < page->nr_runs; i++) {
        const struct run_values *values = page->runs[i].values;
        for (size_t k = 0; k < values->nr; k++)
            for (size_t m = 0; m < nr; m++)
                page->has[m] |= isfinite(run_value_of(&values->items[k], m)) != 0;
    }
}

void page_init(struct page *page, const struct view *view, const struct page_options *options)
{
    *page = (struct page) { .view = view, .options = *options, .head = -1, .base = -1 };
    page_collect_runs(page);
    page_collect_benchmarks(page);
    page_label_benchmarks(page);
    page_index_benchmarks(page);
    page_collect_metrics(page);
}

void page_release(struct page *page)
{
    for (size_t i = 0; i < page->nr_runs; i++)
        free(page->runs[i].name);
    for (size_t i = 0; i < page->nr_benchmarks; i++)
        free(page->benchmarks[i].label);
    for (size_t part = 0; part < sizeof(page->own) / sizeof(page->own[0]); part++) {
        for (size_t i = 0; i < page->nr_own[part]; i++)
            run_values_release(&page->own[part][i]);
        free(page->own[part]);
    }
    free(page->runs);
    free(page->benchmarks);
    free(page->by_key);
    free(page->has);
    *page = (struct page) { .head = -1, .base = -1 };
}
