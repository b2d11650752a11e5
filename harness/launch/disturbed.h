/* SPDX-License-Identifier: MIT */
/*
 * Which measurements are made again: those that were disturbed, by facts other than their own time.
 * The time is never looked at, so the rule can prefer neither a fast nor a slow one, and what is
 * left is as honest a sample of what the code does as before. One rule, for both sides of a
 * comparison, and nothing of it is set by hand:
 *
 *   machine  the probe beside the case (machine/probe.h), over the lower fifth of all probes of the
 *            session so far, both sides together, less 1
 *   waited   the time for which threads of ours were ready and had no processor, as a share of the
 *            span of the samples; where the scheduler does not tell, DISTURBED_SLICE for each
 *            involuntary switch. It counts where switches hit at least one sample in
 *            DISTURBED_HITS: fewer do not move a median
 *   stolen   the share that the host took away (/proc/stat)
 *
 * Their sum is the degree, about the share by which work was held up. A measurement with more than
 * DISTURBED_LIMIT is made again, in a process of its own and under the same launch
 * (launch/remeasure.h): in a sweep behind all launches, when it is known what was quiet, in blocks
 * at the end of the block. The less disturbed one stays. A benchmark is made again no more often,
 * on each side, than it was measured in the first place: never more than twice the launches.
 *
 * What stays tells of it in its telemetry: `repeats`, how often it was made again;
 * `repeats_machine`, `repeats_waited`, `repeats_stolen`, which part was the largest in what was set
 * aside; `set_aside_ns`, the median time of the first that was; `disturbed_percent`, the degree
 * where it is above the limit all the same.
 *
 * Without a probe (a GPU, which has clocks of its own to tell) nothing is made again.
 */
#ifndef HARNESS_LAUNCH_DISTURBED_H
#define HARNESS_LAUNCH_DISTURBED_H

#include "base/array.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>

#define DISTURBED_LIMIT 0.06  /* between the 2 % of a quiet probe and what a neighbour costs */
#define DISTURBED_SLICE 0.003 /* s */

enum { DISTURBED_HITS = 2, DISTURBED_PROBES_MIN = 5 };

enum disturbed_part { DISTURBED_MACHINE, DISTURBED_WAITED, DISTURBED_STOLEN, DISTURBED_PARTS };

/* The probes of a session, by size. Zeroed it is empty; release it. */
struct disturbed_watch {
    ARRAY(double) probes;
};

/* Whether there is a probe to judge it by. */
bool disturbed_can_tell(const struct measurement *m);
void disturbed_watch_note(struct disturbed_watch *w, const struct measurement *m);
/* Whether there are enough probes to tell what is usual. */
bool disturbed_watch_ready(const struct disturbed_watch *w);
void disturbed_watch_release(struct disturbed_watch *w);

/* 0 where nothing is told. `largest` may be NULL. */
double disturbed_degree(const struct disturbed_watch *w, const struct measurement *m,
                        enum disturbed_part *largest);
bool disturbed_is(const struct disturbed_watch *w, const struct measurement *m);

/* One case of a launch, from try to try. Zeroed it has none; release it. */
struct disturbed_case {
    struct measurement best; /* owned; meaningful if `held` */
    bool held;
    int tries;                  /* beyond the first */
    int parts[DISTURBED_PARTS]; /* of what was set aside, by the largest */
    double set_aside;           /* ns, median of a launch of the first; 0: nothing was */
};

/* Takes in a try, and what `m` owns. What is not OK stands, whatever was before it. */
void disturbed_case_take(struct disturbed_case *c, const struct disturbed_watch *w,
                         struct measurement *m);
/* What stays, with its telemetry; the caller's from now on. */
struct measurement disturbed_case_end(struct disturbed_case *c, const struct disturbed_watch *w);
void disturbed_case_release(struct disturbed_case *c);

#endif
