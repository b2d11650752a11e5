/* SPDX-License-Identifier: MIT */
/* How much room scenes and pasts take among what is kept: at least what they hold, and not much
 * more. */
#include "serve/scene.h"

#include <string.h>

enum {
    BLOCK = 32,   /* what a block of memory costs beside its bytes, at most */
    SMALL = 4096, /* what is small and not looked at one by one: names, notes, sets of indices */
};

static size_t size_of_text(const char *text)
{
    return text ? strlen(text) + 1 + BLOCK : 0;
}

static size_t size_of_records(const struct records *records)
{
    size_t size = records->capacity * sizeof(*records->items) +
                  records->runs_capacity * sizeof(*records->runs) +
                  records->ceilings_capacity * sizeof(*records->ceilings);

    for (size_t i = 0; i < records->nr_runs; i++)
        size +=
            size_of_text(records->runs[i].environment) + size_of_text(records->runs[i].settings);
    for (size_t i = 0; i < records->nr; i++)
        size += records->items[i].m.nr_samples * sizeof(uint64_t) + BLOCK +
                size_of_text(records->items[i].m.message);
    return size;
}

static size_t size_of_values(const struct page *page)
{
    size_t row = sizeof(struct run_value) + run_values_metrics() * sizeof(double) + 2 * BLOCK;
    size_t size = 0;

    for (size_t part = 0; part < sizeof(page->own) / sizeof(page->own[0]); part++)
        for (size_t i = 0; i < page->nr_own[part]; i++)
            size += page->own[part][i].nr * (row + KEY_SIZE);
    return size;
}

static size_t size_of_page(const struct page *page)
{
    size_t size = page->runs_capacity * sizeof(*page->runs) +
                  page->nr_benchmarks * (sizeof(*page->benchmarks) + KEY_SIZE + BLOCK);

    for (size_t i = 0; i < page->nr_runs; i++)
        size += size_of_text(page->runs[i].name);
    return size + size_of_values(page);
}

/* Each side of a comparison has room for all measurements again, without their samples; the items
 * may have been grown to twice of what they are. */
static size_t size_of_comparison(const struct view *view)
{
    const struct comparison *c = &view->comparison;
    size_t size = 0;

    if (!view->compared)
        return 0;
    for (size_t i = 0; i < c->nr_items; i++)
        size +=
            2 * BLOCK + (c->items[i].evidence.base.capacity + c->items[i].evidence.head.capacity) *
                            sizeof(struct evidence_value);
    return size + 2 * (view->records.nr + 1) * sizeof(*view->records.items) +
           2 * (view->records.nr_runs + 1) * sizeof(*view->records.runs) +
           c->nr * sizeof(*c->rows) + 2 * c->nr_items * sizeof(*c->items);
}

size_t scene_size(void *thing)
{
    const struct scene *scene = thing;
    const struct view *view = &scene->view;

    return sizeof(*scene) + SMALL + size_of_records(&view->records) +
           size_of_records(&scene->listed) + (scene->listed.nr_runs + 1) * sizeof(*scene->more) +
           size_of_page(&scene->page) + scene->keys.nr * (KEY_SIZE + BLOCK) +
           size_of_comparison(view);
}

/* Trends have the points of the series that they searched again, and their maker has each once
 * more. */
size_t past_size(const struct past *past)
{
    size_t size = sizeof(*past) + size_of_records(&past->runs);

    for (size_t i = 0; i < past->series.nr; i++)
        size += 2 * sizeof(struct benchmark_name) + 3 * sizeof(struct series) + BLOCK +
                3 * past->series.items[i].capacity * sizeof(struct series_point);
    for (size_t i = 0; i < past->trends.nr; i++)
        size += sizeof(past->trends.items[i]) +
                past->trends.items[i].capacity * sizeof(*past->trends.items[i].items);
    return size;
}
