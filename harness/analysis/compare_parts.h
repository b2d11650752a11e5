/* SPDX-License-Identifier: MIT */
/* What the files of compare share; compare.h is for everyone else. */
#ifndef HARNESS_ANALYSIS_COMPARE_PARTS_H
#define HARNESS_ANALYSIS_COMPARE_PARTS_H

#include "analysis/compare.h"

/* Launch values of one row as logs, signed so that larger is worse. */
struct evidence {
    double *base, *head; /* rows[i].base.launches and .head.launches of them; owned */
    /* Mean squared standard error of a launch value from the samples inside the launch; 0 where
     * they are too few to tell. */
    double base_inner, head_inner;
    /* Mean log time of the machine probe beside the launches; NaN where there was none. */
    double base_probe, head_probe;
};

/* Judges the family: every row that is still undecided and has enough launches. evidence[i]
 * belongs to rows[i]. */
void compare_judge(struct comparison *c, const struct evidence *evidence);

/* Adds the notes. Needs the counts. */
void compare_notes(struct comparison *c, const struct records *base, const struct records *head);
void compare_note(struct comparison *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool compare_in_family(const struct compare_row *row);
/* +1 where a larger value is worse, else -1. */
double compare_sign(const struct comparison *c);

#endif
