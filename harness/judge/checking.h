/* SPDX-License-Identifier: MIT */
/*
 * Outputs of a cell that stands still, against what the test vectors expect: the rows that were
 * drawn after the launch by their values, every other element by being a number. What was read only
 * is compared with the judge's copies, and the memory behind all tensors with what was put there.
 */
#ifndef HARNESS_JUDGE_CHECKING_H
#define HARNESS_JUDGE_CHECKING_H

#include "judge/cell.h"

/* The errors so far, in units of rms(expected). */
struct tally {
    double tolerance;
    double squares, nr;  /* of the compared elements */
    double once_squares; /* of one rounding of the same elements; 0: it measures nothing here */
    double max;
    uint64_t launches;
};

double tally_rms(const struct tally *t);
double tally_once_rms(const struct tally *t);

/* Looks at the slots of the last window. -1: the cell's fault says what is wrong. */
int check_slots(struct cell *c, const struct test_vectors *v, const int *slots, int nr,
                struct tally *t);
/* The window is interrupted, and its first launches have returned: is what they gave there? */
int check_returned(struct cell *c, const struct test_vectors *v, const int *slots, int nr,
                   struct tally *t);
/* Lets the cell sleep a little without a launch: what changes meanwhile was written by something
 * that nobody waited for. With a fault already, "late" replaces those that this explains. */
int check_quiet(struct cell *c, struct error *err);

/*
 * Roundoff has a size: the root mean square error of a variant is near that of honest code on the
 * same data, and at any rate well under the tolerance, which is derived for the largest of many
 * errors. Of fp32 honest code is the textbook variant; of what rounds more, one rounding
 * (judge/rounding.h).
 */
struct honest_errors {
    double rms, nr;    /* of so many elements; few tell nothing */
    double factor;     /* that many times as large is no longer honest */
    double least;      /* errors up to that are: where honest code happens to have none */
    const char *whose; /* "the textbook variant's is" */
};
enum { CHECK_RMS_FACTOR = 4, CHECK_RMS_LEAST = 200 };
/* 0, or the fault PRECISION. */
int check_precision(struct fault *f, const struct tally *of, const struct honest_errors *honest);

#endif
