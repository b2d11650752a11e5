/* SPDX-License-Identifier: MIT */
#include "session/explain/explain_comparison.h"

#include "core/clock.h"
#include "explain/evidence.h"
#include "metrics/run_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILES_MOST = 3, SHARED_LEAST_S = 2 };

/* ---- which benchmarks ---- */

/* A change that is meant to be needs no cause, and what broke has no time. */
static bool is_red(const struct compare_row *row)
{
    return row->verdict == VERDICT_REGRESSED && !row->accepted;
}

static bool is_of_time(const struct compare_row *row)
{
    return row->item->metric->kind != METRIC_FACT;
}

static int by_badness(const void *x, const void *y)
{
    const struct compare_row *const *a = x, *const *b = y;
    double size_a = fabs(log1p((*a)->change)), size_b = fabs(log1p((*b)->change));

    if (size_a < size_b || size_a > size_b)
        return size_a > size_b ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

/* One row a benchmark, the worst of its metrics. */
static size_t find_red(const struct comparison *c, const struct compare_row **rows)
{
    size_t nr = 0, kept = 0;

    for (size_t i = 0; i < c->nr; i++)
        if (is_red(&c->rows[i]) && is_of_time(&c->rows[i]))
            rows[nr++] = &c->rows[i];
    if (nr)
        qsort(rows, nr, sizeof(*rows), by_badness);
    for (size_t i = 0; i < nr; i++) {
        size_t same = 0;
        while (same < kept && strcmp(rows[same]->item->bench->key, rows[i]->item->bench->key) != 0)
            same++;
        if (same == kept)
            rows[kept++] = rows[i];
    }
    return kept;
}

/* ---- what is at hand ---- */

static const struct run *newest_run(const struct explain_source *side)
{
    int run = run_newest(side->records);

    return run < 0 ? NULL : &side->records->runs[run];
}

/* Of one commit, on that machine, with nothing planted. */
static bool is_profile_of(const struct run *profile, const struct run *run)
{
    return profile->kind == RUN_PROFILE && profile->build.commit[0] &&
           strcmp(profile->build.commit, run->build.commit) == 0 &&
           profile->build.dirty == run->build.dirty &&
           strcmp(profile->machine.class_name, run->machine.class_name) == 0;
}

/* The newest of them; what cannot be read is not there. */
static void add_kept_profiles(const struct explain_request *r, struct explain_case *c,
                              enum explain_side side)
{
    const struct run *run = newest_run(&r->side[side]);
    struct records runs = { 0 }, profiles = { 0 };
    int64_t ids[PROFILES_MOST];
    struct error ignored;
    size_t nr = 0;

    if (!r->store || !run ||
        store_finished_runs(r->store, run->machine.class_name, &runs, &ignored))
        return;
    for (size_t i = runs.nr_runs; i-- > 0 && nr < PROFILES_MOST;)
        if (is_profile_of(&runs.runs[i], run))
            ids[nr++] = runs.runs[i].id;
    if (nr && store_load(r->store, ids, nr, NULL, &profiles, &ignored) == 0)
        evidence_add_records(c, &profiles, side);
    records_release(&profiles);
    records_release(&runs);
}

/* Once for all benchmarks. */
struct explain_code {
    struct code_diff diff;
    struct error why; /* it could not be compared; "" if it could, or there is nothing to compare */
};

static void compare_code(const struct explain_request *r, struct explain_code *code)
{
    const char *base = r->side[EXPLAIN_BASE].binary, *head = r->side[EXPLAIN_HEAD].binary;

    if (!base || !head || strcmp(base, head) == 0)
        return;
    if (code_diff_files(base, head, &code->diff, &code->why) == 0 && !code->diff.known)
        error_set(&code->why, "no symbols in %s or %s", base, head);
}

static void add_code(struct explain_case *c, const struct explain_code *code,
                     struct explanation *notes)
{
    if (code->why.message[0])
        explanation_note(notes, "machine code was not compared: %s", code->why.message);
    c->code = code->diff;
    evidence_add_builds(c, &code->diff);
}

static const struct benchmark *find_benchmark(const struct workload *w, const char *key)
{
    struct benchmark_name name;

    for (size_t i = 0; w && i < w->list.nr; i++) {
        benchmark_name_of(&w->list.items[i], &w->device, &name);
        if (strcmp(name.key, key) == 0)
            return &w->list.items[i];
    }
    return NULL;
}

/* ---- measured again ---- */

static void note_scopes(const struct explain_case *c, struct explanation *e)
{
    struct explain_change with = explain_change_of(&c->of[EXPLAIN_SCOPED]);
    double all = e->change.mid;

    if (isfinite(with.mid) && all > 0 && with.mid < 0.5 * all)
        explanation_note(
            e,
            "with scopes on the change was %+.0f %%, not %+.0f %%: it may have passed, "
            "or it is hidden by what scopes cost",
            100 * expm1(with.mid), 100 * expm1(all));
}

/* A program that is no harness of ours has no scopes that we could turn on. */
static int measure_again(const struct explain_request *r, struct explain_case *c, double budget,
                         struct explanation *e, struct error *err)
{
    const struct benchmark *bench = find_benchmark(r->workload, c->key);
    struct scoped_launches s = {
        .workload = r->workload,
        .bench = bench,
        .side = { r->side[EXPLAIN_BASE].scoped, r->side[EXPLAIN_HEAD].scoped },
        .measuring = r->measuring,
        .iteration_ns = explain_change_of(&c->of[EXPLAIN_TIME]).head,
        .budget = budget,
    };
    struct error why;

    if (!bench) {
        if (!r->side[EXPLAIN_BASE].words)
            explanation_note(e,
                             "the programs of both sides are not at hand, so nothing was "
                             "measured again: compare --build or --baseline-bin does that");
        return 0;
    }
    if (scoped_launches_run(&s, c, &e->launches, &why, err))
        return -1;
    if (why.message[0])
        explanation_note(e, "%s: %s", e->launches ? "scopes ended early" : "no scopes",
                         why.message);
    else if (e->launches < SCOPED_PAIRS_LEAST)
        explanation_note(e,
                         "the time sufficed for %zu of %d pairs of launches with scopes on: give "
                         "more by --explain-budget",
                         e->launches, SCOPED_PAIRS_LEAST);
    return 0;
}

/* ---- one after the other ---- */

static void add_context(struct explain_case *c, const struct explain_request *r)
{
    const struct run *base = newest_run(&r->side[EXPLAIN_BASE]);
    const struct run *head = newest_run(&r->side[EXPLAIN_HEAD]);

    for (int side = 0; side < EXPLAIN_SIDES; side++)
        evidence_add_records(c, r->side[side].records, (enum explain_side)side);
    if (r->side[EXPLAIN_BASE].words)
        evidence_add_words(c, r->side[EXPLAIN_BASE].words, r->side[EXPLAIN_HEAD].words);
    if (base && head)
        evidence_add_runs(c, base, head);
}

/* Notes are made while the causes are not known yet. */
static void take_notes(struct explanation *from, struct explanation *to)
{
    to->notes.items = from->notes.items;
    to->notes.nr = from->notes.nr;
    to->notes.capacity = from->notes.capacity;
    to->launches = from->launches;
}

static int explain_row(const struct explain_request *r, const struct compare_row *row,
                       const struct explain_code *code, double budget, struct explanation *out,
                       struct error *err)
{
    struct explanation notes = { .key = NULL };
    uint64_t start = clock_ns();
    struct explain_case c;

    explain_case_init(&c, row->item->bench->key);
    add_context(&c, r);
    int rc = measure_again(r, &c, budget, &notes, err);
    if (rc == 0 && notes.launches == 0)
        for (int side = 0; side < EXPLAIN_SIDES; side++)
            add_kept_profiles(r, &c, (enum explain_side)side);
    if (rc == 0) {
        add_code(&c, code, &notes);
        explain_causes(&c, out);
        take_notes(&notes, out);
        note_scopes(&c, out);
        out->seconds = (double)(clock_ns() - start) * 1e-9;
    } else {
        explanation_release(&notes);
    }
    explain_case_release(&c);
    return rc;
}

static void note_plan(const struct explain_request *r, size_t nr, double budget)
{
    if (nr && r->workload)
        sink_note(r->measuring->sink,
                  "explaining %zu benchmark%s that got slower: both sides again, with scopes on, "
                  "for %.0f s at most\n",
                  nr, nr == 1 ? "" : "s", budget);
}

/* Its part of what is left; false where that is too little to begin with. */
static bool allot(const struct explain_request *r, double left, size_t rows, bool first,
                  double *part)
{
    double least = r->workload ? SHARED_LEAST_S : 0;

    *part = fmax(left / (double)rows, fmin(left, least));
    return first || left > least;
}

int explain_comparison(const struct explain_request *r, struct explanations *out, struct error *err)
{
    const struct compare_row **rows = memory_zeroed(r->comparison->nr + 1, sizeof(*rows));
    double budget = r->budget > 0 ? r->budget : EXPLAIN_BUDGET, part;
    struct explain_code code = { .why = { "" } };
    size_t nr = find_red(r->comparison, rows), done = 0;
    uint64_t start = clock_ns();
    int rc = 0;

    note_plan(r, nr, budget);
    if (nr)
        compare_code(r, &code);
    for (; rc == 0 && done < nr; done++) {
        double left = budget - (double)(clock_ns() - start) * 1e-9;
        struct explanation e = { .key = NULL };
        if (!allot(r, left, nr - done, done == 0, &part))
            break;
        rc = explain_row(r, rows[done], &code, part, &e, err);
        if (rc == 0)
            *array_push(&out->items) = e;
    }
    out->left_out += nr - done;
    code_diff_release(&code.diff);
    free(rows);
    return rc;
}
