/* SPDX-License-Identifier: MIT */
/*
 * Which commit did it, where every answer may be wrong? The search alone: it says what to compare
 * next and takes the answers; building and measuring are the caller's.
 *
 * Commits are places in a row: 0 is the good one, 1 to nr come after it, nr is the bad one. Exactly
 * one place, the culprit, is the first that is worse than good; or none is, and what was seen of
 * the bad one was chance. Each of these nr + 1 cases has a probability, equal at first (but
 * BISECT_DOUBT for none).
 *
 * A question is "is place `to` worse than place `from`?": yes if the culprit lies in (from, to]. An
 * answer is wrong with at most a stated probability, so it never rules a place out: Bayes' rule
 * shifts probability, and a wrong answer can be made good later. The next question is the one whose
 * answer is expected to tell most (in bits, through the binary channel that the two error rates
 * make). Among comparisons with good that is the commit nearest to the median of the probability:
 * bisection with noise (Horstein 1963, "Sequential transmission using noiseless feedback";
 * Burnashev and Zigangirov 1974; Waeber, Frazier and Henderson 2013, "Bisection search with noisy
 * responses"). Once a place has half of the probability, its comparison with the place before it is
 * a question among the others, and the last word: without it nothing is found.
 *
 * Commits that do not build, or whose comparison could not tell, cannot be told apart from the next
 * one that can; such places form one cell, and the answer can be a cell of several. A comparison
 * that could not tell is worth half as much at the next try and is tried BISECT_UNTOLD_MAX times
 * (good against bad, which everything hangs on, BISECT_UNTOLD_FIRST times); one that told is asked
 * BISECT_TOLD_MAX times at most, because what is the same in all of its repetitions (a layout by
 * luck) they cannot mend.
 */
#ifndef HARNESS_TREND_BISECT_H
#define HARNESS_TREND_BISECT_H

#include "verdict/compare.h"

#include <stdbool.h>
#include <stddef.h>

#define BISECT_DOUBT 0.25

enum { BISECT_UNTOLD_FIRST = 2, BISECT_UNTOLD_MAX = 3, BISECT_TOLD_MAX = 3 };

enum bisect_answer { BISECT_WORSE, BISECT_NOT_WORSE, BISECT_UNTOLD };

struct bisect_question {
    size_t from, to; /* places, from < to */
};

struct bisect_step {
    struct bisect_question question;
    enum bisect_answer answer;
};

struct bisect_settings {
    double false_alarm; /* probability of "worse" where it is not; (0, 0.5) */
    double missed;      /* of "not worse" where it is; (0, 0.5) */
    double confidence;  /* that a culprit must have; (0.5, 1) */
};

#define BISECT_DEFAULTS                                                                            \
    {                                                                                              \
        .false_alarm = 0.05, .missed = 0.05, .confidence = 0.95                                    \
    }

struct bisect {
    size_t nr; /* places after the good one, at least 1 */
    struct bisect_settings settings;
    bool *unbuilt; /* [0, nr] */
    double *share; /* [1, nr] probability that this place is the culprit; [nr + 1]: none is */
    struct {
        struct bisect_step *items;
        size_t nr, capacity;
    } steps; /* in the order told */
};

enum bisect_state {
    BISECT_ASK,     /* there is a question */
    BISECT_FOUND,   /* one cell has the wanted confidence and stood against what is before it */
    BISECT_NOTHING, /* the bad one is not worse */
    BISECT_STUCK,   /* no question is left that could tell */
};

/* Places of which one is the culprit, and how probable that is. */
struct bisect_range {
    size_t first, last;
    double confidence;
};

/* What the row of a comparison answers. Of a step that asks whether a known change is there,
 * `floor` is half of that change, and what regressed by less than it is not told: builds differ a
 * little by chance (their layout), so that some change is there nearly always. 0: any regression
 * counts. */
enum bisect_answer bisect_read(const struct compare_row *row, double floor);

void bisect_init(struct bisect *b, size_t nr, const struct bisect_settings *settings);
void bisect_release(struct bisect *b);
/* What to do next. Sets the question for BISECT_ASK. The first is good against bad. */
enum bisect_state bisect_next(const struct bisect *b, struct bisect_question *question);
void bisect_tell(struct bisect *b, struct bisect_question question, enum bisect_answer answer);
/* This place cannot be built. Not for the good and the bad one: without these there is no search.
 */
void bisect_unbuilt(struct bisect *b, size_t place);
/* The shortest run of cells that has the wanted confidence; all places where even these lack it. */
struct bisect_range bisect_range(const struct bisect *b);
/* How many commits are left, for people: as many equally likely ones would be as uncertain (2 to
 * the entropy in bits). nr at first, 1 where one is certain. */
double bisect_left(const struct bisect *b);

#endif
