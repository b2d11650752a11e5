/* SPDX-License-Identifier: MIT */
/* How much room views and histories take among what is kept: at least what they hold, and not much
 * more. */
#include "serve/live_view.h"

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
                  records->roofs_capacity * sizeof(*records->roofs);

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
    for (size_t i = 0; i < c->nr_items; i++) {
        const struct evidence *e = &c->items[i].evidence;
        size += 3 * BLOCK + (e->base.capacity + e->head.capacity + e->earlier.capacity) *
                                sizeof(struct evidence_value);
    }
    return size + 2 * (view->records.nr + 1) * sizeof(*view->records.items) +
           2 * (view->records.nr_runs + 1) * sizeof(*view->records.runs) +
           c->nr * sizeof(*c->rows) + 2 * c->nr_items * sizeof(*c->items);
}

size_t live_view_size(void *thing)
{
    const struct live_view *live = thing;
    const struct view *view = &live->view;

    return sizeof(*live) + SMALL + size_of_records(&view->records) +
           size_of_records(&live->listed) + (live->listed.nr_runs + 1) * sizeof(*live->more) +
           size_of_page(&live->page) + live->keys.nr * (KEY_SIZE + BLOCK) +
           size_of_comparison(view);
}

/* Trends have the points of the series that they searched again, and their maker has each once
 * more. */
size_t class_history_size(const struct class_history *history)
{
    size_t size = sizeof(*history) + size_of_records(&history->runs);

    for (size_t i = 0; i < history->series.nr; i++)
        size += 2 * sizeof(struct benchmark_name) + 3 * sizeof(struct series) + BLOCK +
                3 * history->series.items[i].capacity * sizeof(struct series_point);
    for (size_t i = 0; i < history->trends.nr; i++)
        size += sizeof(history->trends.items[i]) +
                history->trends.items[i].capacity * sizeof(*history->trends.items[i].items);
    return size;
}
