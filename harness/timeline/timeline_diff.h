/* SPDX-License-Identifier: MIT */
/*
 * Two profiles side by side: by operation, and by stack for a differential flame graph.
 *
 * Each side's numbers are divided by its number of iterations, so that 30 of one compare with 100
 * of the other; they are ns per iteration then, and doubles. An operation of the host whose
 * iterations are known on both sides is ranked by its median over them, which a few slow ones do
 * not move; the means stand beside it. Nothing here says whether a change is more than noise: that
 * needs launches, see the verdicts of `compare`.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_DIFF_H
#define HARNESS_TIMELINE_TIMELINE_DIFF_H

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/summary.h"
#include "profile/trace.h"

#include <stddef.h>

/* An operation on one side of the machine. [0] is before (A), [1] after (B). */
struct diff_row {
    const char *name;
    enum prof_side side;
    double calls[2], self[2], total[2];
    double median[2];    /* of self over iterations; NAN: they are not known on both sides */
    double change;       /* of the medians, else of self */
    double change_of[2]; /* 95 % interval of that; NAN: too few iterations, or none */
    double share; /* change over the sum of all rows' |change| on that side: where all go one way,
                   * the share of the whole change; 0 where nothing changed */
};

/* A frame of the flame graph: a name below a stack of names. */
struct diff_frame {
    const char *name;
    int parent;      /* index of the frame below it, which comes before; -1: outermost */
    int depth;       /* 0: outermost */
    double self[2];  /* clamped at 0 */
    double total[2]; /* self and all that is above it */
};

struct timeline_diff {
    double iterations[2];
    double total[2][2];    /* [enum prof_side][A, B]: sum of self times */
    double iteration[2];   /* median time of one, of the host; NAN: not known on both sides */
    struct diff_row *rows; /* the host's first; each side by |change|, the largest first */
    size_t nr_rows;
    struct diff_frame *frames[2]; /* by side, in the order of their first appearance, A's first */
    size_t nr_frames[2];
    struct prof_trace names; /* private: owner of the texts */
};

/* Of two sorted traces: the main thread of each, and all streams. `iterations` may be NULL (then
 * those of timeline_layers() on each, or 1 where there are none) or two positive numbers. -1: no
 * memory. The traces may go afterwards. */
int timeline_diff(const struct prof_trace *before, const struct prof_trace *after,
                  const double iterations[2], struct timeline_diff *diff, struct error *err);
void timeline_diff_release(struct timeline_diff *diff);

/* Lines "forward;qkv 1200 1900": self times in whole ns per iteration, before and after, as
 * difffolded.pl writes and flamegraph.pl and inferno read them, with names as in
 * prof_write_folded(). */
void timeline_diff_folded(const struct timeline_diff *diff, enum prof_side side,
                          struct strbuf *out);

#endif
