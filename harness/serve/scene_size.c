/* SPDX-License-Identifier: MIT */
/* How much room a scene takes among those that are kept. */
#include "serve/scene.h"

#include <string.h>

static size_t size_of_text(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t size_of_records(const struct records *records)
{
    size_t size = records->capacity * sizeof(*records->items);

    for (size_t i = 0; i < records->nr_runs; i++)
        size += sizeof(records->runs[i]) + size_of_text(records->runs[i].environment) +
                size_of_text(records->runs[i].settings);
    for (size_t i = 0; i < records->nr; i++)
        size += records->items[i].m.nr_samples * sizeof(uint64_t);
    return size;
}

static size_t size_of_values(const struct page *page)
{
    size_t row = sizeof(struct run_value) + run_values_metrics() * sizeof(double), size = 0;

    for (size_t part = 0; part < sizeof(page->own) / sizeof(page->own[0]); part++)
        for (size_t i = 0; i < page->nr_own[part]; i++)
            size += page->own[part][i].nr * (row + KEY_SIZE);
    return size + page->nr_benchmarks * sizeof(*page->benchmarks);
}

/* Not to the byte. The sides of a comparison have the measurements again, without their samples. */
size_t scene_size(const void *thing)
{
    const struct scene *scene = thing;
    const struct view *view = &scene->view;
    size_t sides = !view->compared
                       ? 0
                       : view->records.nr * 2 * sizeof(*view->records.items) +
                             view->comparison.nr * sizeof(*view->comparison.rows) +
                             view->comparison.nr_items * sizeof(*view->comparison.items);

    return sizeof(*scene) + size_of_records(&view->records) + size_of_records(&scene->listed) +
           size_of_values(&scene->page) + scene->keys.nr * KEY_SIZE + sides;
}
