/* SPDX-License-Identifier: MIT */
/*
 * What a usual iteration takes: medians over the iterations, which a few slow ones do not move,
 * with 95 % intervals and the means beside them.
 *
 *     timeline_typical(&layers, &summary, &typical);
 *     double ns = timeline_typical_self(&typical, row);     all iterations as long as the median
 * one timeline_typical_release(&typical);
 *
 * An operation has medians where all its calls lie in the iterations and more than half of these
 * have it. For others the sums of the summary hold.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_TYPICAL_H
#define HARNESS_TIMELINE_TIMELINE_TYPICAL_H

#include "profile/summary.h"
#include "timeline/timeline_layers.h"

#include <stdbool.h>

struct timeline_middle {
    double median, mean;
    double low, high; /* 95 % interval of the median; NAN: fewer than 6 values */
};

/* Of `nr` numbers; all NAN without any. The interval lies between two order statistics, so it holds
 * whatever the distribution (David and Nagaraja 2003, "Order Statistics", 7.1). */
struct timeline_middle timeline_middle_of(const int64_t *values, size_t nr);
/* Of values[i] - taken[i]. */
struct timeline_middle timeline_middle_without(const int64_t *values, const int64_t *taken,
                                               size_t nr);

/* ns of an iteration that an operation takes itself, the median: on a GPU where `gpu` says so and
 * any work was started there inside it, since the host goes on meanwhile. Of timeline_layers(). */
double timeline_typical_own(const struct timeline_layers *layers, const struct layer_samples *layer,
                            bool gpu);

/* ns of one iteration; median NAN: not known. */
struct typical_row {
    struct timeline_middle self, total, gpu;
};

struct timeline_typical {
    const struct prof_summary *summary; /* must outlive it */
    struct typical_row *rows;           /* one a row of the summary */
    size_t nr_iterations;
    double host_ns; /* sum of timeline_typical_self() over the host's rows */
};

/* `layers` and `summary` are of one trace. Fewer than two iterations leave everything unknown. */
void timeline_typical(const struct timeline_layers *layers, const struct prof_summary *summary,
                      struct timeline_typical *typical);
void timeline_typical_release(struct timeline_typical *typical);

/* ns of the whole trace, `row` being one of its summary: medians times iterations, else the sum.
 * work: the GPU's time where the row has some, else its total. */
double timeline_typical_self(const struct timeline_typical *typical, const struct prof_row *row);
double timeline_typical_work(const struct timeline_typical *typical, const struct prof_row *row);
/* The same of the work that it started on a GPU, copies too. */
double timeline_typical_gpu(const struct timeline_typical *typical, const struct prof_row *row);
/* prof_bottlenecks() of the typical times: one slow iteration heads no list. `trace` is that of the
 * summary, and read for PROF_BY_TOTAL alone. Rows without medians weigh what they took. Without
 * memory the process ends, as in base/memory.h: an empty list would say that nothing takes time. */
size_t timeline_typical_bottlenecks(const struct timeline_typical *typical,
                                    const struct prof_trace *trace, enum prof_side side,
                                    enum prof_by by, struct prof_bottleneck *out, size_t n);
/* Its medians. */
const struct typical_row *timeline_typical_row(const struct timeline_typical *typical,
                                               const struct prof_row *row);

#endif
