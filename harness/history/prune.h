/* SPDX-License-Identifier: MIT */
/*
 * A history that has grown for years, made smaller: raw samples of old runs become summaries
 * (store/samples.h), and runs that nobody keeps are removed.
 *
 * Left alone, whatever the rules say: runs that a baseline names; runs of a commit in which a
 * recorded comparison found something (regressed, broken, improved, fixed), or against which it
 * did; unfinished runs that began within the last two days. Verdicts, acceptances and roofs stay.
 *
 * Each run is one transaction, which also asks again whether something names the run: a pruning
 * that is killed leaves a sound history, and one beside which a baseline is saved leaves its runs
 * whole.
 */
#ifndef HARNESS_HISTORY_PRUNE_H
#define HARNESS_HISTORY_PRUNE_H

#include "store/store.h"

struct store_prune {
    int64_t now_ms;
    /* Runs: one that either rule keeps stays; without any rule all stay. */
    int64_t keep_ms;    /* those that began within this time; 0: no such rule */
    int64_t keep_runs;  /* those than which fewer finished ones are newer: the newest finished ones,
                         * and unfinished ones among them; 0: no such rule */
    int64_t samples_ms; /* samples of older runs become summaries; 0: none do */
    bool dry_run;       /* only look; STORE_READ will do */
    bool trust_clock;   /* do it although now_ms looks wrong */
};

struct store_pruned {
    int64_t runs;                          /* looked at */
    int64_t removed;                       /* runs */
    int64_t removed_results;               /* their measurements */
    int64_t thinned;                       /* runs */
    int64_t thinned_results;               /* measurements of which only a summary is left */
    int64_t samples_before, samples_after; /* bytes of those */
    int64_t named;                         /* runs that would have gone, or be thinned, but for a
                                            * baseline or verdict */
};

/* Refuses, before anything is changed, where the clock looks wrong and ages decide: now is more
 * than a day before the newest run; or between the newest run that would go and the next newer one
 * (or now, where there is none) lie a year and the age limit, as after a leap of the clock. */
int store_prune(struct store *s, const struct store_prune *rules, struct store_pruned *pruned,
                struct error *err);

#endif
