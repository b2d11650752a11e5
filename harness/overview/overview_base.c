/* SPDX-License-Identifier: MIT */
/* Where the parts look up what the head measured, and what its history says of it. */
#include "overview/overview_parts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int overview_order_rows(const void *x, const void *y)
{
    const struct run_row *const *a = x, *const *b = y;

    return strcmp((*a)->bench->key, (*b)->bench->key);
}

static int overview_order_trends(const void *x, const void *y)
{
    const struct trend *const *a = x, *const *b = y;

    return strcmp((*a)->series->bench->key, (*b)->series->bench->key);
}

static int overview_find_row(const void *key, const void *entry)
{
    const struct run_row *const *row = entry;

    return strcmp(key, (*row)->bench->key);
}

static int overview_find_trend(const void *key, const void *entry)
{
    const struct trend *const *trend = entry;

    return strcmp(key, (*trend)->series->bench->key);
}

const struct run_row *overview_row_of(const struct overview_making *m, const char *key)
{
    const struct run_row **found =
        bsearch(key, m->by_key, m->rows.nr, sizeof(*m->by_key), overview_find_row);

    return found ? *found : NULL;
}

const struct trend *overview_trend_of(const struct overview_making *m, const char *key)
{
    const struct trend **found = m->nr_trends ? bsearch(key, m->trends, m->nr_trends,
                                                        sizeof(*m->trends), overview_find_trend)
                                              : NULL;

    return found ? *found : NULL;
}

/* The runs of a head are pooled, and what came before them came before the first. */
static void overview_index_head(struct overview_making *m)
{
    const struct records *head = m->input->head;
    int newest = head ? run_newest(head) : -1;

    m->head_began_ms = m->head->started_ms;
    if (newest < 0) {
        run_rows_init(&m->rows, m->input->records, m->input->run);
        return;
    }
    run_rows_init_all(&m->rows, head, newest);
    for (size_t i = 0; i < head->nr_runs; i++)
        if (head->runs[i].started_ms < m->head_began_ms)
            m->head_began_ms = head->runs[i].started_ms;
}

void overview_index(struct overview_making *m)
{
    const struct trends *t = m->input->trends;

    overview_index_head(m);
    m->by_key = memory_zeroed(m->rows.nr + 1, sizeof(*m->by_key));
    for (size_t i = 0; i < m->rows.nr; i++)
        m->by_key[i] = &m->rows.items[i];
    qsort(m->by_key, m->rows.nr, sizeof(*m->by_key), overview_order_rows);
    m->trends = memory_zeroed(t ? t->nr + 1 : 1, sizeof(*m->trends));
    for (size_t i = 0; t && i < t->nr; i++)
        if (!t->items[i].hidden &&
            strcmp(t->items[i].series->machine, m->head->machine.class_name) == 0 &&
            overview_row_of(m, t->items[i].series->bench->key))
            m->trends[m->nr_trends++] = &t->items[i];
    qsort(m->trends, m->nr_trends, sizeof(*m->trends), overview_order_trends);
}
