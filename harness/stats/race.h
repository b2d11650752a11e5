/* SPDX-License-Identifier: MIT */
/*
 * A race: which of several alternatives takes the least time, found by measuring those alone of
 * which that is still open.
 *
 * In each round every runner is measured once, in an order drawn afresh. After each round a leader
 * is named, and every other is held against it, by the differences of their logs over the rounds
 * that both have run. One that can no longer beat the leader by more than `tolerance` is settled,
 * and leaves: it is slower, or so near that the choice does not matter. If another leads later, all
 * are held against that one, and who is not settled against it comes back. Where the leader and all
 * that are open are taken out, the best of those that were settled leads. The race is decided once
 * all are settled against one leader.
 *
 * The promise: P(some alternative is faster than the winner by more than `tolerance`) <= alpha, for
 * a race that is decided. Let b be the fastest. The winner l is wrong only if at some look the test
 * of "l is slower than b by the tolerance or more" rejected what is true. Each such test is
 * one-sided, by Student's t on the differences; of n alternatives there are n - 1 that b may be
 * held against (Bonferroni), and the l-th look may spend alpha / (n - 1) * h / ((l + h - 1)(l + h))
 * with h = RACE_HALF_LOOKS, which adds up to alpha over all looks, however many there will be. So
 * neither peeking nor who happens to lead, nor an order of leaving, costs anything beyond. That
 * takes rounds that are independent: where a setting's noise correlates by 0.6 with that of the
 * round before, one of 15 that is 1.02 % faster is missed in a third of the races (simulated).
 *
 * What a look spends is, for normal deviates, the probability that a pair reaches its bar there and
 * did not in the look before: P(Z' < z', Z >= z), where all rounds but one are in both, so that the
 * two correlate with sqrt((n - 1) / n) after n rounds. A first crossing at any look is within that,
 * and the bar may be lower than if each look were paid for alone (spending error over looks: Lan
 * and DeMets 1983; nominal levels carried over to t: Pocock 1977). With few degrees of freedom the
 * t's of successive looks agree less, so that the first looks of a race of two spend a fifth more
 * than their share; all looks together stay within alpha (tests/statistics). A pair that was not
 * measured in all rounds pays for each look alone.
 *
 * Races by elimination: Maron and Moore 1994 ("Hoeffding races"), Even-Dar, Mannor and Mansour
 * 2006; the indifference zone: Bechhofer 1954.
 *
 * Variances of few differences are moderated by those of all (stats_variance_prior(), Smyth 2004),
 * but for those that are far noisier than the others. A difference farther from the median of its
 * own than RACE_REACH usual standard deviations counts as that far, and who has such ones is judged
 * by its own variance alone.
 */
#ifndef HARNESS_STATS_RACE_H
#define HARNESS_STATS_RACE_H

#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>

#define RACE_REACH 4.0
/* Looks over which half of the error is spread. */
#define RACE_HALF_LOOKS 10.0

struct race_rule {
    double tolerance; /* 0.01: what is within 1 % is as good */
    double alpha;     /* of the promise */
    size_t least;     /* rounds before the first look, 2 or more: a look after each from then on */
};

#define RACE_DEFAULTS                                                                              \
    {                                                                                              \
        .tolerance = 0.01, .alpha = 0.05, .least = 2                                               \
    }

enum race_state {
    RACE_OPEN,   /* not told from the leader yet */
    RACE_LEADS,  /* the winner, once the race is decided */
    RACE_SLOWER, /* settled: slower than the leader */
    RACE_WITHIN, /* settled: the leader is at most `tolerance` slower, which of them is not told */
    RACE_OUT,    /* taken out: it has no right result */
};

struct race_runner {
    enum race_state state;
    size_t rounds;            /* that it was measured in, and has a time of */
    size_t left;              /* the round after which it was settled, or in which it was taken out,
                               * from 1; 0: neither */
    double behind;            /* its time over the leader's, less 1; NaN: not known */
    struct interval interval; /* of that: either limit misses with `alpha` at most, over all looks
                               * and runners together; NaN before the first look */
};

struct race {
    struct race_rule rule;
    struct race_runner *runners; /* nr of them; owned */
    size_t nr;
    double *logs; /* [round * nr + runner]; NaN: not measured; owned */
    size_t rounds, capacity;
    double bar; /* that the last look asked of pairs that were in all rounds, as a normal deviate */
    size_t leader; /* meaningful once a round is over */
    bool decided;
};

void race_init(struct race *r, size_t nr, const struct race_rule *rule);
void race_release(struct race *r);
/* Is that one to be measured in the next round? */
bool race_wants(const struct race *r, size_t runner);
/* It has no right result, or none at all, in the round that is going on: the rest races on. */
void race_take_out(struct race *r, size_t runner);
/* One round: a time for each runner, above 0; NaN where it was not measured. Then a look. Returns
 * whether the race is decided, which it is, too, where fewer than two are in it. */
bool race_round(struct race *r, const double *times);
/* How many are in it: not taken out. */
size_t race_count(const struct race *r);

const char *race_state_name(enum race_state state); /* "open", "leads", "slower", "within", "out" */

#endif
