/* SPDX-License-Identifier: MIT */
/*
 * The work model of a kernel (core/kernel.h, struct work) against what the hardware counted. Pure.
 *
 * Bytes of the model are compulsory ones, so the counted ones say how the data moved: more of them
 * are re-reads or lines fetched and not used, fewer of them came from a cache. FLOPs of the model
 * should be done exactly: more of them are padding or recomputation, fewer of them were done by a
 * unit that no metric counted, or the model is wrong.
 */
#ifndef HARNESS_GPUTRACE_WORK_CHECK_H
#define HARNESS_GPUTRACE_WORK_CHECK_H

#include "core/kernel.h"
#include "gputrace/counter_list.h"

enum work_verdict { WORK_UNKNOWN, WORK_AGREES, WORK_FEWER, WORK_MORE };

struct work_bounds {
    double low, high; /* of counted over modelled, both inside "agrees" */
};

struct work_ratio {
    double modelled, counted, ratio; /* NaN where one is not known, or the model says 0 */
    enum work_verdict verdict;
    struct work_bounds bounds; /* those it was judged by */
};

struct work_check {
    struct work_ratio bytes, flops;
};

/* What is judged by where nobody says otherwise: bytes 0.9 to 1.25, FLOPs 0.99 to 1.05. */
extern const struct work_bounds work_bounds_bytes, work_bounds_flops;

/* Bounds may be NULL for those above. NaN in `counted` means not counted. */
struct work_check work_compare(struct work model, struct work counted,
                               const struct work_bounds *bytes, const struct work_bounds *flops);
/* Sums launches `first` to `first + nr - 1` of a list: one launch of a benchmark may be many
 * kernels. FLOPs are those of the FP32 units and the tensor cores, of whichever were collected. A
 * quantity that a kernel lacks is NaN, as is everything where launches are missing. */
struct work work_counted(const struct counter_list *list, size_t first, size_t nr);

const char *work_verdict_name(enum work_verdict verdict); /* "unknown", "agrees", "fewer", "more" */
/* "more bytes than the model: data was read again, or fetched and not used" and so on. */
const char *work_bytes_words(enum work_verdict verdict);
const char *work_flops_words(enum work_verdict verdict);

#endif
