/* SPDX-License-Identifier: MIT */
#include "session/explain/explain_comparison.h"

#include "core/clock.h"
#include "explain/evidence.h"
#include "view/causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_LEAST_S = 2 };

/* ---- at hand ---- */

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

static void add_context(struct explain_case *c, const struct explain_request *r,
                        const struct compare_row *row)
{
    const struct explain_source *base = &r->side[EXPLAIN_BASE], *head = &r->side[EXPLAIN_HEAD];

    causes_add_sides(c, row, (const struct records *const[]) { base->records, head->records });
    if (base->words)
        evidence_add_words(c, base->words, head->words);
}

static void add_kept_profiles(const struct explain_request *r, struct explain_case *c,
                              const char *machine, enum explain_side side)
{
    struct records profiles;

    causes_profiles(r->store, r->side[side].records, machine, &profiles);
    evidence_add_records(c, &profiles, machine, side);
    records_release(&profiles);
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
    add_context(&c, r, row);
    int rc = measure_again(r, &c, budget, &notes, err);
    if (rc == 0 && notes.launches == 0)
        for (int side = 0; side < EXPLAIN_SIDES; side++)
            add_kept_profiles(r, &c, row->item->machine, (enum explain_side)side);
    if (rc == 0) {
        add_code(&c, code, &notes);
        explain_causes(&c, out);
        causes_name_machine(r->comparison, row, out);
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
static bool allot_time(const struct explain_request *r, double left, size_t rows, bool first,
                       double *part)
{
    double least = r->workload ? SHARED_LEAST_S : 0;

    *part = fmax(left / (double)rows, fmin(left, least));
    return first || left > least;
}

int explain_comparison(const struct explain_request *r, struct explanations *out, struct error *err)
{
    double budget = r->budget > 0 ? r->budget : EXPLAIN_BUDGET, part;
    struct explain_code code = { .why = { "" } };
    size_t nr, done = 0;
    const struct compare_row **rows = causes_red(r->comparison, &nr);
    uint64_t start = clock_ns();
    int rc = 0;

    note_plan(r, nr, budget);
    if (nr)
        compare_code(r, &code);
    for (; rc == 0 && done < nr; done++) {
        double left = budget - (double)(clock_ns() - start) * 1e-9;
        struct explanation e = { .key = NULL };
        if (!allot_time(r, left, nr - done, done == 0, &part))
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
