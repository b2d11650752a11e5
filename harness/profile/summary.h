/* SPDX-License-Identifier: MIT */
/* What a sorted trace comes to, per operation: a table, its worst entries, and how much of it is
 * the cost of recording. Nothing here is kept between calls; any thread may use it on its own
 * trace. */
#ifndef HARNESS_PROFILE_SUMMARY_H
#define HARNESS_PROFILE_SUMMARY_H

#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Slices of threads are the host's, those of streams the device's: their times overlap, so they are
 * never added up. */
enum prof_side { PROF_HOST, PROF_DEVICE };

/* All slices of a name on one side. Times in ns. */
struct prof_row {
    const char *name;    /* belongs to the trace, as the next one */
    const char *backend; /* of the first one that has any; NULL */
    enum prof_side side;
    int device;
    size_t calls;
    int64_t total; /* those inside one of the same name do not count twice */
    int64_t self;  /* without what is nested in it */
    int64_t min, max;
    double mean, sd;       /* sd: n - 1 in the denominator, 0 for one call */
    int64_t p50, p95, p99; /* the smallest duration that so many are at or below (nearest rank) */
    int64_t gpu;           /* kernels launched inside, by the flows; without any flow, its marks */
    int64_t transfer;      /* copies and fills, likewise */
    int64_t launch;        /* in calls of the runtime or driver inside */
    int64_t cpu;           /* total without launch */
    int64_t bytes;         /* sum over calls */
    double flops;          /* sum over calls */
    int64_t memory_peak;   /* bytes; -1: not followed */
    int64_t memory_mean;   /* the mean over its calls of the most that was live in each; -1 */
    const char *category;  /* of the first one; belongs to the trace */
};

struct prof_summary {
    struct prof_row *rows; /* the host's first; each side by self time, the longest first */
    size_t nr_rows;
    int64_t total[2]; /* by side: the sum of self times, which is that of outermost slices */
    size_t calls[2];
    struct prof_meta meta;
};

/* -1: no memory. Release it before the trace. */
int prof_summarise(const struct prof_trace *trace, struct prof_summary *summary);
/* For rows that were made elsewhere: puts them in that order. */
void prof_summary_sort(struct prof_summary *summary);
void prof_summary_release(struct prof_summary *summary);
/* An estimate of how much of its time a host's operation had a GPU at work: that of the kernels it
 * started over its own, at most 1. Kernels may run side by side, and go on when it has ended. 0:
 * none is known. */
double prof_row_utilisation(const struct prof_row *row);
/* NULL: no such operation. */
const struct prof_row *prof_summary_row(const struct prof_summary *summary, enum prof_side side,
                                        const char *name);

enum prof_by { PROF_BY_SELF, PROF_BY_TOTAL };
struct prof_bottleneck {
    const struct prof_row *row;
    double share;      /* of the side's total: of its self or its total time */
    double cumulative; /* what this and those before it cover, nothing counted twice */
};
/* The first `n` of a side, into `out`; returns how many there are, or -1: no memory. The summary
 * must be of this trace, which is read for PROF_BY_TOTAL alone. */
int prof_bottlenecks(const struct prof_trace *trace, const struct prof_summary *summary,
                     enum prof_side side, enum prof_by by, struct prof_bottleneck *out, size_t n);
/* The same, were the own time of a row weights[its place among the rows] of what it is, wherever
 * that counts: of itself, of what it is in, of the whole. Medians over sums, say, so that one slow
 * call heads no list. */
int prof_bottlenecks_weighed(const struct prof_trace *trace, const struct prof_summary *summary,
                             enum prof_side side, enum prof_by by, const double *weights,
                             struct prof_bottleneck *out, size_t n);

/* Cost of an empty scope, measured now: medians, in ns. */
struct prof_cost {
    double on, off, clock; /* clock: one reading, of which a scope that is on has two */
    const char *clock_name;
    double memory; /* on, where memory is followed; 0: not measured */
};
/* What a scope is meant to cost at most, in ns: `on` and `memory`, `off`. */
#define PROF_TARGET_ON  60.0
#define PROF_TARGET_OFF 5.0
/* Takes some 20 ms on profilers of its own. -1: no memory. */
int prof_overhead(struct prof_cost *cost);
/* The same of a scope with these hooks on, on that device and stream, which hooks may be dear:
 * marks of a GPU take a microsecond each. The median, ns. Waits for nothing; -1: no memory. */
int prof_overhead_hooked(const struct prof_hooks *hooks, int device, void *stream, double *ns);
/* Of the host's calls those that the program's scopes made: none of the CUDA runtime or driver,
 * which CUPTI told. */
size_t prof_summary_scopes(const struct prof_summary *summary);
/* A scope's cost in this recording: with memory where the summary has any, else without. */
double prof_cost_of(const struct prof_cost *cost, const struct prof_summary *summary);
/* "51.27 ns a scope, 0.758 ns when off (targets: 60 and 5 ns, met)". `buffer` is returned. */
enum { PROF_COST_SIZE = 128 };
char *prof_cost_text(const struct prof_cost *cost, const struct prof_summary *summary,
                     char buffer[PROF_COST_SIZE]);

/* Tables on `file`; -1 where it cannot be written. `cost` may be NULL; with it, the share of the
 * host's time that recording itself took is said. */
int prof_print_summary(FILE *file, const struct prof_summary *summary,
                       const struct prof_cost *cost);
int prof_print_bottlenecks(FILE *file, const struct prof_bottleneck *list, size_t n);

/* Four significant digits and the unit that fits: "12.30 us". `buffer` is returned. */
enum { PROF_TEXT_SIZE = 32 };
char *prof_time_text(double ns, char buffer[PROF_TEXT_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
