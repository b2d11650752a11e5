/* SPDX-License-Identifier: MIT */
/* What the parts of a round share: its cells, and windows of launches in them. */
#ifndef HARNESS_JUDGE_ROUND_BASE_H
#define HARNESS_JUDGE_ROUND_BASE_H

#include "judge/checking.h"
#include "judge/judge.h"
#include "stats/random.h"

enum { CELLS_MAX = JUDGE_REFERENCES + 2 };

struct judge_round {
    const struct judge_job *job;
    struct judgement *judgement;
    struct judged_shape *shape; /* that is filled */
    struct test_vectors vectors;
    /* The judged variant's first; behind it the textbook's, and where time is taken the
     * references'.
     */
    struct cell_job jobs[CELLS_MAX];
    struct cell cells[CELLS_MAX];
    struct tally tallies[CELLS_MAX];
    int batch[CELLS_MAX]; /* launches of a window at most; 0: one in each slot */
    int nr_cells;
    struct processors processors; /* that cells may use */
    struct fault *fault;
    int interrupted; /* windows of this part that were stopped with launches returned and to come */
    struct random random;
};

/* The fault of a cell to the judgement, where it is the judged variant's; -1. A reference that goes
 * wrong is a failure of this program. */
int round_pass_on(struct judge_round *t, int cell, struct error *err);
/* Adds a cell of a variant. 0, or -1 with its fault or an error. */
int round_add_cell(struct judge_round *t, const struct variant *v, struct error *err);
/* How many of `most` slots a cell launches in a window: a slow variant fewer. */
int round_batch(const struct judge_round *t, int cell, int most);
/* Makes test vectors of a kind to these slots of all cells, and has them launched, each cell in
 * turn; `ns[i]` is the window of cell i. `backward`: the last cell first. Then looks at the
 * outputs, of each launch as many rows as `flops` allow. */
int round_window(struct judge_round *t, enum inputs_kind kind, const int *slots, int nr,
                 double flops, bool backward, uint64_t *ns, struct error *err);
/* A window of the judged variant alone, without a time, that is stopped in the middle, at some
 * moment before `within_ns`: work of a launch that is left to the next ones is not there when it
 * returns, and what is done for the next ones is of inputs that they do not get. Until then nobody
 * can tell it from other windows. */
int round_interrupt(struct judge_round *t, const int *slots, int nr, uint64_t within_ns,
                    struct error *err);
/* At the end of a part that wanted so many of these windows looked at. */
void round_note_middle(struct judge_round *t, int wanted);
/* Samples until they are enough (judge/round_times.c). */
int round_times(struct judge_round *t, struct error *err);

#endif
