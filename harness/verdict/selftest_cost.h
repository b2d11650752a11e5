/* SPDX-License-Identifier: MIT */
/*
 * What a decision costs: after how many blocks, and so seconds, a comparison in blocks (compare.h,
 * DESIGN_BLOCKS) calls a change of a known size in one benchmark, nine times in ten.
 *
 * From blocks that were measured here with nothing changed. A simulated comparison draws from them,
 * whole blocks with replacement (Efron 1979) and the sides by the toss of a coin, makes the head
 * slower by the size, and is decided by the rule itself, block by block. The floor asked for is
 * half of the size, so that "same" is no answer to it. So noise, its tails and what blocks have in
 * common are real; what is not real is that it goes on for longer than it was measured, and that
 * blocks do not know of each other: a machine that changes over an hour is not in it.
 */
#ifndef HARNESS_VERDICT_SELFTEST_COST_H
#define HARNESS_VERDICT_SELFTEST_COST_H

#include "stats/random.h"
#include "verdict/selftest.h"

enum { COST_BLOCKS_MAX = 400, COST_BLOCKS_MIN = 6 };

#define COST_POWER 0.9

/* Of one size. */
struct selftest_cost_row {
    double size, delta; /* 0.05: 5 % slower; the floor asked for */
    size_t trials;      /* simulated */
    int blocks;         /* that COST_POWER of them need; 0: COST_BLOCKS_MAX are not enough */
    struct selftest_rate alarms; /* of as many with nothing changed, after as many blocks */
    /* One real comparison with the size planted; real_blocks 0: there was none. */
    int real_blocks;
    double real_seconds;
    enum verdict real;
};

/* Of one benchmark. */
struct selftest_cost {
    char key[KEY_SIZE];
    double ns;            /* of a launch of the kernel, the median of launches */
    double launch_noise;  /* sd of launches within blocks, as a fraction */
    double block_noise;   /* sd of the differences of blocks */
    int blocks;           /* measured */
    double block_seconds; /* mean time of one */
    struct selftest_cost_row rows[SELFTEST_SIZES_MAX];
    size_t nr;
};

/* Facts of the blocks that were measured: all but rows. -1 where they are fewer than
 * COST_BLOCKS_MIN. */
int selftest_cost_measure(const struct evidence *e, double seconds, struct selftest_cost *c,
                          struct error *err);
/* A row for the size: blocks and alarms, from `trials` simulated comparisons each. */
int selftest_cost_simulate(const struct evidence *e, double size, size_t trials, struct random *r,
                           struct selftest_cost_row *row, struct error *err);

/* docs/formats/commands.md. */
cJSON *selftest_cost_to_json(const struct selftest_cost *c);

#endif
