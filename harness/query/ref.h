/* SPDX-License-Identifier: MIT */
/* REF: what people type to name runs of a history, such as "main", "latest" or "3f2a91c". */
#ifndef HARNESS_QUERY_REF_H
#define HARNESS_QUERY_REF_H

#include "store/store.h"

struct ref_scope {
    /* Only runs of these machine classes, of each those that REF means there: the newest of one
     * class need not be as new as those of another. */
    const char *const *classes; /* borrowed */
    size_t nr_classes;          /* 0: any */
    bool together;              /* they are not told apart: the newest of all of them is meant */
    const struct run *exclude;  /* runs to leave out, by uuid: the head of a comparison, wherever it
                                 * came from */
    size_t nr_exclude;
};

struct ref_runs {
    int64_t *ids; /* oldest first */
    size_t nr, capacity;
    char what[256]; /* for people: "branch main at 1f3a9c2 (3 runs)"; of several classes that
                     * have not the same, "... and ..." */
    bool nothing;   /* on -1: the file is fine, REF just names nothing here */
    bool elsewhere; /* and then: it does name runs, but none that the scope lets through */
};

/*
 * The first rule that finds runs wins; the name of a baseline is no other rule's, even where the
 * scope leaves none of its runs. "rule:NAME" asks one rule only.
 *
 *   baseline  the runs of a baseline
 *   latest    the newest run that counts ("latest" is the whole REF); of a sweep that was cut into
 *             shards (run.shard.sweep) all of them, each once
 *   run       a run id, or at least 6 characters of a uuid that fit one run only
 *   label     finished runs with this --label; of several builds, those of the newest
 *   branch    runs that count of the newest commit measured on that branch
 *   commit    at least 7 hex digits: runs of that commit that count
 *   sweep     the shards of that sweep that count, each once
 *
 * Of a part of a sweep that is left out, earlier measurements of the same build, label and machine
 * class are left out, too (but by baseline), where they are no whole sweep: they are no other one.
 *
 * A run counts if it is finished and no trial (core/run_kind.h): halves of A/B
 * comparisons and runs of self-tests are reached by baseline, run and label alone.
 * A branch or commit means what is committed: runs of a tree with uncommitted changes count only
 * where there is no other, and then the newest alone. `run` takes unfinished runs too and looks
 * neither at the machine class nor at `exclude`. Unknown: the error lists what there is and the
 * nearest name. `scope` may be NULL. Release `out` in any case.
 */
int ref_resolve(struct store *s, const char *ref, const struct ref_scope *scope,
                struct ref_runs *out, struct error *err);
void ref_runs_release(struct ref_runs *runs);

#endif
