/* SPDX-License-Identifier: MIT */
#include "metrics/run_rows.h"

#include "base/array.h"
#include "metrics/label.h"

#include <stdlib.h>
#include <string.h>

bool run_is_on(const struct run *run, const char *machine)
{
    return !machine[0] || strcmp(run->machine.class_name, machine) == 0;
}

int run_newest_on(const struct records *records, const char *machine)
{
    int newest = -1;

    for (size_t i = 0; i < records->nr; i++) {
        int run = records->items[i].run;
        if (!run_is_on(&records->runs[run], machine))
            continue;
        if (newest < 0 || records->runs[run].started_ms > records->runs[newest].started_ms ||
            /* cppcheck-suppress arrayIndexThenCheck ; of two at one time it is the later one */
            (records->runs[run].started_ms == records->runs[newest].started_ms && run > newest))
            newest = run;
    }
    return newest;
}

int run_newest(const struct records *records)
{
    return run_newest_on(records, "");
}

static void run_rows_add(struct run_rows *rows, const struct group *g)
{
    const struct record *const *part = (const struct record *const *)g->items;
    struct run_row *row = array_push(rows);

    row->bench = g->bench;
    row->launches = g->nr;
    summary_init(&row->summary, part, g->nr);
    for (size_t i = 0; i < g->nr; i++) {
        const struct measurement *m = &part[i]->m;
        if (m->outcome == OUTCOME_OK)
            continue;
        if (!row->message)
            row->message = m->message;
        if (m->outcome > row->outcome)
            row->outcome = m->outcome;
        row->failures++;
    }
}

static void run_rows_form(struct run_rows *rows, const struct records *records, int run)
{
    rows->context = metric_context_of(records, run);
    for (size_t i = 0; i < rows->groups.nr; i++)
        run_rows_add(rows, &rows->groups.items[i]);
}

void run_rows_init(struct run_rows *rows, const struct records *records, int run)
{
    *rows = (struct run_rows) { 0 };
    if (run < 0)
        return;
    groups_init_run(&rows->groups, records, run);
    run_rows_form(rows, records, run);
}

static void keep_groups_of(struct groups *g, const char *machine)
{
    size_t kept = 0;

    for (size_t i = 0; i < g->nr; i++)
        if (strcmp(g->items[i].machine, machine) == 0)
            g->items[kept++] = g->items[i];
    g->nr = kept;
}

void run_rows_init_all(struct run_rows *rows, const struct records *records, int run)
{
    *rows = (struct run_rows) { 0 };
    groups_init(&rows->groups, records, false);
    keep_groups_of(&rows->groups, records->runs[run].machine.class_name);
    run_rows_form(rows, records, run);
}

void run_rows_name(struct run_rows *rows)
{
    const struct benchmark_name **names = memory_zeroed(rows->nr + 1, sizeof(*names));
    for (size_t i = 0; i < rows->nr; i++)
        names[i] = rows->items[i].bench;
    rows->labels = rows->nr ? labels_create(names, rows->nr) : NULL;
    free(names);
}

void run_rows_release(struct run_rows *rows)
{
    for (size_t i = 0; i < rows->nr; i++)
        summary_release(&rows->items[i].summary);
    if (rows->labels)
        labels_free(rows->labels, rows->nr);
    groups_release(&rows->groups);
    array_release(rows);
    *rows = (struct run_rows) { 0 };
}
