/* SPDX-License-Identifier: MIT */
/* The benchmarks that a figure shows: of one run or of several, named, and not too many. */
#include "chart/base/chart_base.h"

#include "base/memory.h"
#include "metrics/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keyed {
    const char *key;
    size_t item;
};

static int items_order_keyed(const void *x, const void *y)
{
    const struct keyed *a = x, *b = y;
    int order = strcmp(a->key, b->key);

    return order ? order : (a->item > b->item) - (a->item < b->item);
}

/* For each item the first with the same benchmark: in one run it is itself. free() it. */
static size_t *items_find_firsts(const struct chart_items *items)
{
    size_t *firsts = memory_zeroed(items->nr + 1, sizeof(*firsts));

    for (size_t i = 0; i < items->nr; i++)
        firsts[i] = i;
    if (items->nr_rows < 2)
        return firsts;
    struct keyed *sorted = memory_zeroed(items->nr + 1, sizeof(*sorted));
    for (size_t i = 0; i < items->nr; i++)
        sorted[i] = (struct keyed) { items->items[i].bench->key, i };
    qsort(sorted, items->nr, sizeof(*sorted), items_order_keyed);
    for (size_t i = 0, begin = 0; i < items->nr; i++) {
        if (strcmp(sorted[i].key, sorted[begin].key) != 0)
            begin = i;
        firsts[sorted[i].item] = sorted[begin].item;
    }
    free(sorted);
    return firsts;
}

static void free_labels(struct chart_items *items)
{
    labels_free(items->own, items->nr_own);
    labels_free(items->labels, items->nr_labels);
    items->own = items->labels = NULL;
    items->nr_own = items->nr_labels = 0;
}

/* Of one benchmark in several runs the run is all that differs. */
static char *label_with_run(const struct chart_items *items, const struct chart_item *item)
{
    const char *run = chart_run_name(items->chart, item->run);
    struct strbuf label;

    strbuf_init(&label);
    if (items->nr_own > 1 || !*run)
        strbuf_adds(&label, item->own);
    if (*run)
        strbuf_addf(&label, "%s%s", label.length ? " · " : "", run);
    return strbuf_detach(&label);
}

static void items_add_runs_to_labels(struct chart_items *items)
{
    items->labels = memory_zeroed(items->nr, sizeof(*items->labels));
    items->nr_labels = items->nr;
    for (size_t i = 0; i < items->nr; i++) {
        items->labels[i] = label_with_run(items, &items->items[i]);
        items->items[i].label = items->labels[i];
    }
}

static void items_name_items(struct chart_items *items)
{
    const struct benchmark_name **names = memory_zeroed(items->nr + 1, sizeof(*names));
    size_t *firsts = items_find_firsts(items),
           *places = memory_zeroed(items->nr + 1, sizeof(*places));

    free_labels(items);
    for (size_t i = 0; i < items->nr; i++) {
        if (firsts[i] != i)
            continue;
        places[i] = items->nr_own;
        names[items->nr_own++] = items->items[i].bench;
    }
    items->own = items->nr_own ? labels_create(names, items->nr_own) : NULL;
    for (size_t i = 0; items->own && i < items->nr; i++) {
        struct chart_item *item = &items->items[i];
        item->own_at = places[firsts[i]];
        item->label = item->own = items->own[item->own_at];
    }
    if (items->nr_rows > 1 && items->nr)
        items_add_runs_to_labels(items);
    free(names);
    free(firsts);
    free(places);
}

bool plot_model_has(const struct plot_model *model, const struct benchmark_name *bench)
{
    size_t length = strcspn(bench->kernel, ":");

    for (int i = 0; i < PLOT_MODEL_KERNELS && model->kernels[i]; i++)
        if (strlen(model->kernels[i]) == length &&
            strncmp(model->kernels[i], bench->kernel, length) == 0)
            return true;
    return false;
}

static const struct plot_model *items_find_model(const struct chart *chart,
                                                 const struct benchmark_name *bench)
{
    for (size_t i = 0; i < chart->nr_models; i++)
        if (plot_model_has(&chart->models[i], bench))
            return &chart->models[i];
    return NULL;
}

static void items_add_rows(struct chart_items *items, const struct run_rows *rows, size_t run)
{
    for (size_t i = 0; i < rows->nr; i++) {
        const struct run_row *row = &rows->items[i];
        if (!preset_takes(items->chart->preset, row->bench->key))
            continue;
        items->outcomes[row->summary.n ? OUTCOME_OK : row->outcome]++;
        if (!row->summary.n)
            continue;
        *array_push(items) = (struct chart_item) {
            .bench = row->bench,
            .summary = &row->summary,
            .run = run,
            .row = i,
            .of = chart_run(items->chart, run),
            .context = &rows->context,
            .model = items_find_model(items->chart, row->bench),
        };
    }
}

/* Returns false where there is one too many. */
static bool items_add_variant(struct chart_items *items, const char *variant)
{
    size_t at = 0;

    while (at < items->nr_variants && strcmp(items->variants[at], variant) < 0)
        at++;
    if (at < items->nr_variants && strcmp(items->variants[at], variant) == 0)
        return true;
    if (items->nr_variants == VARIANTS_MAX)
        return false;
    for (size_t i = items->nr_variants++; i > at; i--)
        items->variants[i] = items->variants[i - 1];
    items->variants[at] = variant;
    return true;
}

static void items_find_variants(struct chart_items *items)
{
    for (size_t i = 0; i < items->nr_rows; i++) {
        for (size_t k = 0; k < items->rows[i].nr; k++) {
            if (items_add_variant(items, items->rows[i].items[k].bench->variant))
                continue;
            items->nr_variants = 0;
            return;
        }
    }
}

size_t chart_items_style(const struct chart_items *items, const char *group, const char *value,
                         size_t nth)
{
    for (size_t i = 0; strcmp(group, "variant") == 0 && i < items->nr_variants; i++)
        if (strcmp(items->variants[i], value) == 0)
            return i;
    return nth;
}

struct sized_item {
    struct chart_item item;
    size_t at;
};

static int items_by_parameters(const void *a, const void *b)
{
    const struct sized_item *x = a, *y = b;
    double one = x->item.model->parameters, other = y->item.model->parameters;

    return one != other ? (one > other) - (one < other) : (x->at > y->at) - (x->at < y->at);
}

/* Models are read from the small to the large, not by alphabet; all else stays where it is. */
static void items_sort_models(struct chart_items *items)
{
    struct sized_item *models = memory_zeroed(items->nr + 1, sizeof(*models));
    size_t nr = 0, next = 0;

    for (size_t i = 0; i < items->nr; i++)
        if (items->items[i].model)
            models[nr++] = (struct sized_item) { items->items[i], i };
    qsort(models, nr, sizeof(*models), items_by_parameters);
    for (size_t i = 0; i < items->nr; i++)
        if (items->items[i].model)
            items->items[i] = models[next++].item;
    free(models);
}

void chart_items_init(struct chart_items *items, const struct chart *chart)
{
    *items = (struct chart_items) { .chart = chart, .nr_rows = chart_nr_runs(chart) };
    items->rows = memory_zeroed(items->nr_rows + 1, sizeof(*items->rows));
    for (size_t i = 0; i < items->nr_rows; i++) {
        int run = chart->runs ? chart->runs[i] : chart->run;
        run_rows_init(&items->rows[i], chart->records, run);
        if (run == chart->run)
            items->context = items->rows[i].context;
        items_add_rows(items, &items->rows[i], i);
    }
    items_sort_models(items);
    items_find_variants(items);
    items_name_items(items);
}

void chart_items_release(struct chart_items *items)
{
    free_labels(items);
    for (size_t i = 0; i < items->nr_rows; i++)
        run_rows_release(&items->rows[i]);
    free(items->rows);
    array_release(items);
}

size_t chart_limit(const struct preset *preset, size_t otherwise)
{
    size_t limit = preset->limit > 0 ? (size_t)preset->limit : otherwise;

    return limit < LIMIT_ROWS_MAX ? limit : LIMIT_ROWS_MAX;
}

double chart_item_median(const struct chart_item *item)
{
    return stats_quantile(item->summary->sorted, item->summary->n, 0.5);
}

double chart_item_work(const struct chart_item *item)
{
    const struct measurement *m = item->summary->m;

    return m->flops > 0 ? m->flops : m->bytes > 0 ? m->bytes : chart_item_median(item);
}

/* A benchmark that may have to go, with all its runs. */
struct candidate {
    size_t first; /* item */
    const char *kernel;
    double weight; /* the heaviest of its runs */
    size_t nr;     /* items */
    bool gone;
};

static struct candidate *items_find_candidates(const struct chart_items *items,
                                               const size_t *firsts,
                                               double (*weight)(const struct chart_item *item),
                                               size_t *nr)
{
    struct candidate *all = memory_zeroed(items->nr + 1, sizeof(*all));
    size_t *places = memory_zeroed(items->nr + 1, sizeof(*places));

    *nr = 0;
    for (size_t i = 0; i < items->nr; i++) {
        double w = weight(&items->items[i]);
        if (firsts[i] == i) {
            places[i] = (*nr)++;
            all[places[i]] = (struct candidate) { i, items->items[i].bench->kernel, w, 0, false };
        }
        struct candidate *c = &all[places[firsts[i]]];
        c->nr++;
        if (w > c->weight)
            c->weight = w;
    }
    free(places);
    return all;
}

/* By kernel, the lightest first; of equal ones the first. */
static int items_by_kernel_and_weight(const void *a, const void *b)
{
    const struct candidate *const *one = a, *const *other = b;
    int order = strcmp((*one)->kernel, (*other)->kernel);

    if (order == 0)
        order = ((*one)->weight > (*other)->weight) - ((*one)->weight < (*other)->weight);
    return order ? order : ((*one)->first > (*other)->first) - ((*one)->first < (*other)->first);
}

/* Candidates of one kernel that are left, the lightest first. */
struct siblings {
    struct candidate **items;
    size_t nr;
};

/* Of the kernel that has most, and of several such of the one with the lightest. */
static bool items_goes_first(const struct siblings *a, const struct siblings *b)
{
    if (a->nr != b->nr)
        return a->nr > b->nr;
    if (a->items[0]->weight < b->items[0]->weight || a->items[0]->weight > b->items[0]->weight)
        return a->items[0]->weight < b->items[0]->weight;
    return a->items[0]->first < b->items[0]->first;
}

/* Puts the kernel at `at` of a heap of `nr` where it belongs below. */
static void items_sink(struct siblings *heap, size_t nr, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < nr; at = child) {
        struct siblings moved = heap[at];
        if (child + 1 < nr && items_goes_first(&heap[child + 1], &heap[child]))
            child++;
        if (!items_goes_first(&heap[child], &moved))
            return;
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

static size_t items_make_heap(struct candidate **sorted, size_t nr, struct siblings *heap)
{
    size_t kernels = 0;

    for (size_t i = 0; i < nr; i++) {
        if (i == 0 || strcmp(sorted[i]->kernel, sorted[i - 1]->kernel) != 0)
            heap[kernels++] = (struct siblings) { &sorted[i], 0 };
        heap[kernels - 1].nr++;
    }
    for (size_t i = kernels; i-- > 0;)
        items_sink(heap, kernels, i);
    return kernels;
}

/* Returns how many items go. Histories may have very many benchmarks: no loop over pairs of them.
 */
static size_t items_choose_leavers(struct candidate *all, size_t nr, size_t items, size_t limit)
{
    struct candidate **sorted = memory_zeroed(nr + 1, sizeof(struct candidate *));
    struct siblings *heap = memory_zeroed(nr + 1, sizeof(*heap));
    size_t left = items;

    for (size_t i = 0; i < nr; i++)
        sorted[i] = &all[i];
    qsort(sorted, nr, sizeof(struct candidate *), items_by_kernel_and_weight);
    size_t kernels = items_make_heap(sorted, nr, heap);
    for (size_t candidates = nr; left > limit && candidates > 1; candidates--) {
        heap[0].items[0]->gone = true;
        left -= heap[0].items[0]->nr;
        heap[0].items++;
        if (--heap[0].nr == 0)
            heap[0] = heap[--kernels];
        items_sink(heap, kernels, 0);
    }
    free(sorted);
    free(heap);
    return items - left;
}

/* One benchmark of very many runs: the first runs go. */
static void items_drop_first_runs(struct chart_items *items, size_t limit)
{
    if (items->nr <= limit)
        return;
    size_t gone = items->nr - limit;
    items->left_out += gone;
    items->nr = limit;
    memmove(items->items, items->items + gone, limit * sizeof(*items->items));
}

void chart_items_limit(struct chart_items *items, size_t limit,
                       double (*weight)(const struct chart_item *item))
{
    size_t nr, kept = 0;

    if (items->nr <= limit)
        return;
    size_t *firsts = items_find_firsts(items);
    struct candidate *all = items_find_candidates(items, firsts, weight, &nr);
    bool *gone = memory_zeroed(items->nr, sizeof(*gone));
    items->left_out += items_choose_leavers(all, nr, items->nr, limit);
    for (size_t i = 0; i < nr; i++)
        gone[all[i].first] = all[i].gone;
    for (size_t i = 0; i < items->nr; i++)
        if (!gone[firsts[i]])
            items->items[kept++] = items->items[i];
    items->nr = kept;
    items_drop_first_runs(items, LIMIT_ROWS_MAX);
    items_name_items(items);
    free(gone);
    free(firsts);
    free(all);
}

struct panel *chart_items_rows(const struct chart_items *items, struct figure *f, double row,
                               double room)
{
    const char **names = memory_zeroed(items->nr + 1, sizeof(*names));

    for (size_t i = 0; i < items->nr; i++)
        names[i] = items->items[i].label;
    struct panel *p = figure_rows(f, names, items->nr, row, room);
    for (size_t i = 0; i < items->nr; i++)
        panel_row_is_about(p, i, items->items[i].bench->key, items->items[i].of->uuid);
    free(names);
    return p;
}

int chart_rank_order(const void *a, const void *b)
{
    const struct chart_rank *one = a, *other = b;
    int order = (one->weight > other->weight) - (one->weight < other->weight);

    return order ? order : (one->at > other->at) - (one->at < other->at);
}

void chart_mark_heaviest(const double *weights, size_t nr, size_t limit, bool *keep)
{
    struct chart_rank *ranks = memory_zeroed(nr + 1, sizeof(*ranks));

    for (size_t i = 0; i < nr; i++)
        ranks[i] = (struct chart_rank) { weights[i], i };
    qsort(ranks, nr, sizeof(*ranks), chart_rank_order);
    for (size_t i = 0; i < nr; i++)
        keep[ranks[i].at] = i + limit >= nr;
    free(ranks);
}

size_t chart_keep_heaviest(void *items, size_t size, size_t nr, const double *weights, size_t limit)
{
    bool *keep = memory_zeroed(nr + 1, sizeof(*keep));
    size_t kept = 0;

    chart_mark_heaviest(weights, nr, limit, keep);
    for (size_t i = 0; i < nr; i++)
        if (keep[i])
            memmove((char *)items + size * kept++, (char *)items + size * i, size);
    free(keep);
    return kept;
}

void chart_items_keep(struct chart_items *items, const bool *keep)
{
    size_t kept = 0;

    for (size_t i = 0; i < items->nr; i++)
        if (keep[i])
            items->items[kept++] = items->items[i];
    items->left_out += items->nr - kept;
    items->nr = kept;
    items_name_items(items);
}
