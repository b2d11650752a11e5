/* SPDX-License-Identifier: MIT */
#include "cli/compare_history.h"

#include "base/array.h"
#include "base/memory.h"
#include "cli/history_series.h"
#include "output/run_rows.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 200, HISTORIES_MAX = 400 };

static bool has_run(const struct records *r, const char *uuid)
{
    for (size_t i = 0; i < r->nr_runs; i++)
        if (strcmp(r->runs[i].uuid, uuid) == 0)
            return true;
    return false;
}

/* Marks what is earlier; with a branch, what is of it. Returns how many. */
static size_t mark(const struct compare_past *past, const char *branch, bool *keep)
{
    int64_t begin = history_first_start(&past->head->records);
    size_t nr = 0;

    for (size_t i = past->runs.nr_runs; i-- > 0;) {
        const struct run *run = &past->runs.runs[i];
        keep[i] = nr < RUNS_MAX && run->started_ms < begin && series_takes(run) &&
                  !has_run(&past->head->records, run->uuid) &&
                  (!branch || strcmp(run->build.branch, branch) == 0);
        nr += keep[i];
    }
    return nr;
}

int compare_past_load(struct compare_past *past, struct store *store,
                      const struct history_side *base, const struct history_side *head,
                      struct error *err)
{
    int newest = run_newest(&head->records), old = run_newest(&base->records);

    *past = (struct compare_past) { .store = store, .head = head };
    if (newest < 0)
        return 0;
    const char *machine = head->records.runs[newest].machine.class_name;
    const char *branch = old < 0 ? "" : base->records.runs[old].build.branch;
    if (store_finished_runs(store, machine, &past->runs, err))
        return -1;
    bool *keep = memory_zeroed(past->runs.nr_runs + 1, sizeof(*keep));
    if (!branch[0] || mark(past, branch, keep) == 0)
        mark(past, NULL, keep);
    history_keep_runs(&past->runs, keep);
    free(keep);
    return 0;
}

void compare_past_release(struct compare_past *past)
{
    records_release(&past->runs);
}

static const struct series *find(const struct series_list *list, const struct compare_item *item)
{
    for (size_t i = 0; i < list->nr; i++) {
        const struct series *s = &list->items[i];
        bool here = !item->machine[0] || strcmp(s->machine, item->machine) == 0;
        if (here && strcmp(s->bench->key, item->bench->key) == 0)
            return s;
    }
    return NULL;
}

/* The rows of one metric: one look at the history. */
static int load_metric(const struct compare_past *past, const struct metric *metric,
                       const struct compare_row *const *rows, size_t nr,
                       struct comment_histories *out, struct error *err)
{
    const char **keys = memory_zeroed(nr + 1, sizeof(*keys));
    struct store_filter filter = { .keys = keys };
    struct series_list list = { 0 };

    for (size_t i = 0; i < nr; i++)
        if (rows[i]->item->metric == metric)
            keys[filter.nr_keys++] = rows[i]->item->bench->key;
    int rc =
        filter.nr_keys ? history_series(past->store, &past->runs, metric, &filter, &list, err) : 0;
    for (size_t i = 0; rc == 0 && i < nr; i++) {
        const struct series *s =
            rows[i]->item->metric == metric ? find(&list, rows[i]->item) : NULL;
        if (!s)
            continue;
        struct comment_history *h = array_push(out);
        h->item = rows[i]->item;
        h->values = memory_zeroed(s->nr, sizeof(*h->values));
        for (; h->nr < s->nr; h->nr++)
            h->values[h->nr] = s->items[h->nr].value;
    }
    series_list_release(&list);
    free(keys);
    return rc;
}

int compare_past_series(const struct compare_past *past, const struct comparison *c,
                        struct comment_histories *out, struct error *err)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    size_t nr_metrics = comparison_metrics(c, metrics);
    const struct compare_row **rows;
    size_t nr = comment_changes(c, &rows);
    int rc = 0;

    if (nr > HISTORIES_MAX)
        nr = HISTORIES_MAX;
    for (size_t i = 0; rc == 0 && past->runs.nr_runs && i < nr_metrics; i++)
        rc = load_metric(past, metrics[i], rows, nr, out, err);
    free(rows);
    return rc;
}
