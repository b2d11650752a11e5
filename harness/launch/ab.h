/* SPDX-License-Identifier: MIT */
/*
 * Two programs in turn: the same benchmarks, measured in blocks of four fresh processes, base head
 * head base or head base base head by the toss of a coin. A drift that is straight within a block
 * hits both sides alike, one that is not hits either side first equally often. After each block the
 * caller looks at what there is and says which benchmarks need more; those that are decided leave.
 *
 * The first two processes of a block are a pair, and the last two: one of each side. A pair goes
 * through the benchmarks in the same order, drawn afresh for each pair, with the same inputs: who
 * ran before whom is a source of differences that means nothing.
 *
 * What would not end within the budget is passed over, those first that look least bad, so a block
 * but the first may lack some: each benchmark pays for the looks at its own blocks alone.
 *
 * Each side is a harness of its own, a path to an executable that knows `internal-launch`; a
 * benchmark that one of them lacks is UNSUPPORTED there. What is UNSUPPORTED or FAILED on a side is
 * not tried again; after that block it leaves. Launches of a side are numbered 2 x block and
 * 2 x block + 1, so that the block can be told from what is stored. A process that dies takes its
 * case with it; another goes on under the same number. What was disturbed is made again at the end
 * of its block, by one rule for both sides (launch/remeasure.h), and handed up then, behind the end
 * of its launch.
 *
 * There may be more than two sides, each of which is compared with the base: a block goes through
 * them in an order that is drawn for it, and back. A benchmark leaves that the base cannot run, or
 * none of the others.
 */
#ifndef HARNESS_LAUNCH_AB_H
#define HARNESS_LAUNCH_AB_H

#include "launch/launch.h"
#include "launch/sink.h"

enum ab_side { AB_BASE, AB_HEAD, AB_SIDES };
enum { AB_SIDES_MAX = 16 };

enum { AB_LAUNCHES = 2 }; /* of each side in a block */

struct ab_progress {
    int block;              /* 1-based */
    size_t left, of;        /* benchmarks that still need evidence */
    size_t done, total;     /* cases of this block */
    double elapsed, budget; /* s; budget 0: none */
    const char *key;        /* the case that starts now */
};

struct ab {
    /* Of a block but the first, only what should end within its budget, by what each benchmark took
     * last. */
    struct measured_set what;
    int nr_sides;                      /* 0: AB_SIDES */
    const char *program[AB_SIDES_MAX]; /* paths, in place of limits.program; NULL: this one */
    const double *plant[AB_SIDES_MAX]; /* see struct job; NULL: nothing is planted on that side */
    const struct guests *guests[AB_SIDES_MAX]; /* in place of settings.guests */
    bool fixed[AB_SIDES_MAX];                  /* settings.fixed_placement of that side */
    int blocks_max;                            /* 0: no limit */
    int blocks_least;                          /* so many whatever the budget; 0: one */
    bool whole; /* a block that cannot have all that is needed is not made */

    void *context; /* of the two below */
    /* After each block: says of each benchmark how bad it looks, 0 or more; below 0: it is decided,
     * and stays so. Comes with 0 for all that may be undecided. */
    int (*look)(void *context, int blocks, double *harm, size_t nr, struct error *err);
    void (*progress)(void *context, const struct ab_progress *p); /* may be NULL */
};

enum ab_end { AB_DECIDED, AB_BUDGET, AB_BLOCKS, AB_INTERRUPTED };

/* `sinks` has one for each side. -1 where a process could not be started, a program is no harness
 * of this protocol, or a sink failed; what was finished has been handed up before. */
int ab_run(const struct ab *ab, const struct measurement_sink *sinks, enum ab_end *end,
           struct error *err);

/* Of what is to be taken, leaves what ends within `left` seconds: the one with the most `harm`
 * first, then whatever fits beside it. `seconds`: what a block of each takes. Returns how many are
 * left. */
size_t ab_fit(const double *seconds, const double *harm, size_t nr, double left, bool *take);

#endif
