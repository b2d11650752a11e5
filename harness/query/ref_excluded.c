/* SPDX-License-Identifier: MIT */
/* What a scope leaves out, and which parts of sweeps go with it. */
#include "base/memory.h"
#include "query/ref_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is excluded ---- */

static int order_uuids(const void *x, const void *y)
{
    const char *const *a = x, *const *b = y;

    return strcmp(*a, *b);
}

static void mark_excluded(struct ref_lookup *l)
{
    size_t nr = l->scope->nr_exclude;
    const char **uuids =
        memory_zeroed(nr + 1, sizeof(*uuids)); /* NOLINT(bugprone-sizeof-expression) */

    for (size_t i = 0; i < nr; i++)
        uuids[i] = l->scope->exclude[i].uuid;
    qsort(uuids, nr, sizeof(*uuids), order_uuids); /* NOLINT(bugprone-sizeof-expression) */
    for (size_t i = 0; i < l->runs.nr; i++) {
        struct ref_run *c = &l->runs.items[i];
        const char *uuid = c->uuid;
        c->excluded = bsearch(&uuid, uuids, nr, sizeof(*uuids), order_uuids) != NULL; /* NOLINT */
        c->repeated = c->left_over = false;
    }
    free(uuids);
}

/* ---- parts of sweeps, sorted ---- */

struct parts {
    struct ref_run **items;
    size_t nr;
};

static int order_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Alike: of one sweep of one build, called the same, whichever part of it. */
static int order_sweep(const struct ref_run *a, const struct ref_run *b)
{
    int order = strcmp(a->sweep, b->sweep);

    order = order ? order : strcmp(a->commit, b->commit);
    order = order ? order : strcmp(a->label, b->label);
    order = order ? order : order_numbers(a->shards, b->shards);
    return order ? order : a->dirty - b->dirty;
}

static int order_part(const struct ref_run *a, const struct ref_run *b)
{
    int order = order_sweep(a, b);

    return order ? order : order_numbers(a->shard, b->shard);
}

/* Of one machine class, newest first, as they lie. */
static int order_by_class(const void *x, const void *y)
{
    const struct ref_run *const *a = x, *const *b = y;
    int order = order_part(*a, *b);

    order = order ? order : strcmp((*a)->class_name, (*b)->class_name);
    return order ? order : (*a > *b) - (*a < *b);
}

/* Of all classes, oldest first. */
static int order_by_age(const void *x, const void *y)
{
    const struct ref_run *const *a = x, *const *b = y;
    int order = order_part(*a, *b);

    return order ? order : (*a < *b) - (*a > *b);
}

/* Where the first behind item `at` stands that differs from it. */
static size_t end_of(const struct parts *p, size_t at,
                     int (*order)(const struct ref_run *a, const struct ref_run *b))
{
    size_t end = at + 1;

    while (end < p->nr && order(p->items[at], p->items[end]) == 0)
        end++;
    return end;
}

/* ---- what was measured again ---- */

static void take_parts(struct ref_lookup *l, struct parts *p)
{
    p->items =
        memory_zeroed(l->runs.nr + 1, sizeof(*p->items)); /* NOLINT(bugprone-sizeof-expression) */
    for (size_t i = 0; i < l->runs.nr; i++)
        if (l->runs.items[i].shard && l->runs.items[i].sweep[0])
            p->items[p->nr++] = &l->runs.items[i];
}

/* By one that is excluded: as where a task was started again, or the whole sweep was. */
static void mark_repeated(struct parts *p)
{
    bool again = false;

    qsort(p->items, p->nr, sizeof(*p->items),
          order_by_class); /* NOLINT(bugprone-sizeof-expression) */
    for (size_t i = 0; i < p->nr; i++) {
        struct ref_run *c = p->items[i];
        again &= i > 0 && order_part(p->items[i - 1], c) == 0 &&
                 strcmp(p->items[i - 1]->class_name, c->class_name) == 0;
        again |= c->excluded;
        c->repeated = again && c->finished && !c->excluded;
    }
}

static void keep_repeated(struct parts *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->nr; i++)
        if (p->items[i]->repeated)
            p->items[kept++] = p->items[i];
    p->nr = kept;
    qsort(p->items, p->nr, sizeof(*p->items),
          order_by_age); /* NOLINT(bugprone-sizeof-expression) */
}

/* How often the part is there that is there least often. */
static size_t count_whole(const struct parts *p, size_t begin, size_t end)
{
    size_t whole = end - begin, next;
    int64_t nr = 0;

    for (size_t i = begin; i < end; i = next, nr++) {
        next = end_of(p, i, order_part);
        whole = next - i < whole ? next - i : whole;
    }
    return nr < p->items[begin]->shards ? 0 : whole;
}

/* A name that is used again, as each night, has whole sweeps: as many as there are of the part that
 * is there least often, and of each part the oldest are theirs. The others are what is left of one.
 */
static void mark_left_over(const struct parts *p, size_t begin, size_t end)
{
    size_t whole = count_whole(p, begin, end), next;

    for (size_t part = begin; part < end; part = next) {
        next = end_of(p, part, order_part);
        for (size_t i = part + whole; i < next; i++)
            p->items[i]->left_over = true;
    }
}

void ref_mark_excluded(struct ref_lookup *l)
{
    struct parts p = { .nr = 0 };

    mark_excluded(l);
    take_parts(l, &p);
    mark_repeated(&p);
    keep_repeated(&p);
    for (size_t i = 0, end; i < p.nr; i = end) {
        end = end_of(&p, i, order_sweep);
        mark_left_over(&p, i, end);
    }
    free(p.items);
}
