/* SPDX-License-Identifier: MIT */
#include "view/causes.h"

#include "base/array.h"
#include "base/memory.h"
#include "explain/evidence.h"
#include "metrics/run_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CAUSES_PROFILES = 3 };

/* ---- which benchmarks ---- */

/* A change that is meant to be needs no cause, and what broke has no time. */
static bool causes_wants(const struct compare_row *row)
{
    return row->verdict == VERDICT_REGRESSED && !row->accepted &&
           row->item->metric->kind != METRIC_FACT;
}

static int causes_by_badness(const void *x, const void *y)
{
    const struct compare_row *const *a = x, *const *b = y;
    double size_a = fabs(log1p((*a)->change)), size_b = fabs(log1p((*b)->change));

    if (size_a < size_b || size_a > size_b)
        return size_a > size_b ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static bool causes_are_of_one(const struct compare_row *a, const struct compare_row *b)
{
    return strcmp(a->item->bench->key, b->item->bench->key) == 0 &&
           strcmp(a->item->machine, b->item->machine) == 0;
}

const struct compare_row **causes_red(const struct comparison *c, size_t *nr)
{
    const struct compare_row **rows = memory_zeroed(c->nr + 1, sizeof(*rows));
    size_t red = 0;

    *nr = 0;
    for (size_t i = 0; i < c->nr; i++)
        if (causes_wants(&c->rows[i]))
            rows[red++] = &c->rows[i];
    if (red)
        qsort(rows, red, sizeof(*rows), causes_by_badness);
    for (size_t i = 0; i < red; i++) {
        size_t same = 0;
        while (same < *nr && !causes_are_of_one(rows[same], rows[i]))
            same++;
        if (same == *nr)
            rows[(*nr)++] = rows[i];
    }
    return rows;
}

/* ---- what is at hand ---- */

static const struct run *causes_newest(const struct records *side, const char *machine)
{
    int run = run_newest_on(side, machine);

    return run < 0 ? NULL : &side->runs[run];
}

/* Of one commit, on that machine, with nothing planted. */
static bool causes_is_profile_of(const struct run *profile, const struct run *run)
{
    return profile->kind == RUN_PROFILE && profile->build.commit[0] &&
           strcmp(profile->build.commit, run->build.commit) == 0 &&
           profile->build.dirty == run->build.dirty &&
           strcmp(profile->machine.class_name, run->machine.class_name) == 0;
}

void causes_profiles(struct store *store, const struct records *side, const char *machine,
                     struct records *profiles)
{
    const struct run *run = causes_newest(side, machine);
    struct records runs = { 0 };
    int64_t ids[CAUSES_PROFILES];
    struct error ignored;
    size_t nr = 0;

    *profiles = (struct records) { 0 };
    if (!store || !run || store_finished_runs(store, run->machine.class_name, &runs, &ignored)) {
        records_release(&runs);
        return;
    }
    for (size_t i = runs.nr_runs; i-- > 0 && nr < CAUSES_PROFILES;)
        if (causes_is_profile_of(&runs.runs[i], run))
            ids[nr++] = runs.runs[i].id;
    if (nr && store_load(store, ids, nr, NULL, profiles, &ignored)) {
        records_release(profiles);
        *profiles = (struct records) { 0 };
    }
    records_release(&runs);
}

void causes_add_sides(struct explain_case *c, const struct compare_row *row,
                      const struct records *const side[EXPLAIN_SIDES])
{
    const char *machine = row->item->machine;
    const struct run *base = causes_newest(side[EXPLAIN_BASE], machine);
    const struct run *head = causes_newest(side[EXPLAIN_HEAD], machine);

    for (int s = 0; s < EXPLAIN_SIDES; s++)
        evidence_add_records(c, side[s], machine, (enum explain_side)s);
    if (base && head)
        evidence_add_runs(c, base, head);
}

void causes_name_machine(const struct comparison *c, const struct compare_row *row,
                         struct explanation *out)
{
    if (compare_several(c).machines)
        out->machine = memory_string(row->item->machine);
}

/* ---- together ---- */

static void causes_explain(const struct compare_row *row,
                           const struct records *const side[EXPLAIN_SIDES],
                           const struct records profiles[EXPLAIN_SIDES], struct explanation *out)
{
    struct explain_case c;

    explain_case_init(&c, row->item->bench->key);
    causes_add_sides(&c, row, side);
    for (int s = 0; s < EXPLAIN_SIDES; s++)
        evidence_add_records(&c, &profiles[s], row->item->machine, (enum explain_side)s);
    explain_causes(&c, out);
    explain_case_release(&c);
}

/* Those of the machine class of a row, which are kept for the next. */
static void causes_load_profiles(struct store *store, const struct compare_row *row,
                                 const struct compare_row *before,
                                 const struct records *const side[EXPLAIN_SIDES],
                                 struct records profiles[EXPLAIN_SIDES])
{
    if (before && strcmp(before->item->machine, row->item->machine) == 0)
        return;
    for (int s = 0; s < EXPLAIN_SIDES; s++) {
        records_release(&profiles[s]);
        causes_profiles(store, side[s], row->item->machine, &profiles[s]);
    }
}

void causes_find(struct store *store, const struct comparison *c,
                 const struct records *const side[EXPLAIN_SIDES], size_t most,
                 struct explanations *out)
{
    struct records profiles[EXPLAIN_SIDES] = { 0 };
    size_t nr;
    const struct compare_row **rows = causes_red(c, &nr);

    for (size_t i = 0; i < nr && i < most; i++) {
        struct explanation e = { .key = NULL };
        causes_load_profiles(store, rows[i], i ? rows[i - 1] : NULL, side, profiles);
        causes_explain(rows[i], side, profiles, &e);
        causes_name_machine(c, rows[i], &e);
        *array_push(&out->items) = e;
    }
    out->left_out += nr > most ? nr - most : 0;
    for (int s = 0; s < EXPLAIN_SIDES; s++)
        records_release(&profiles[s]);
    free(rows);
}
