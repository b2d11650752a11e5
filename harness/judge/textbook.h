/* SPDX-License-Identifier: MIT */
/*
 * How large errors of honest code in fp32 are: as the textbook variant's (judge/checking.h). Its
 * loops take too long at large sizes. There it computes a smaller one, at which its errors are as
 * large: of a product one with fewer rows and columns, and the same sums.
 */
#ifndef HARNESS_JUDGE_TEXTBOOK_H
#define HARNESS_JUDGE_TEXTBOOK_H

#include "judge/judge.h"

struct judge_round;
struct tally;

/* The size at which it is asked about errors at `s`: `s` itself where that is quick. false: at none
 * that is quick its errors are known to be as large. */
bool textbook_size(const struct judge_job *job, const struct shape *s, struct shape *size);
/* Its errors at a size, by a window in a cell of its own; none compared where it does not run. -1:
 * the judge's own failure. */
int textbook_errors(const struct judge_round *t, const struct shape *size, struct tally *errors,
                    struct error *err);

#endif
