/* SPDX-License-Identifier: MIT */
/* One round of a judgement at one shape: fresh cells, fresh weights. */
#ifndef HARNESS_JUDGE_ROUND_H
#define HARNESS_JUDGE_ROUND_H

#include "judge/judge.h"

/* `timed`: beside the references; else it is only checked. `begins`: with all kinds of data, which
 * one round looks at. -1: the judge's own failure; what is found is in the judgement. */
int round_run(const struct judge_job *job, struct judgement *j, struct judged_shape *shape,
              bool timed, bool begins, struct error *err);

#endif
