/* SPDX-License-Identifier: MIT */
/*
 * What can be derived from stored facts. A metric is one row of the table in metric.c; a new one
 * works on old history, because history keeps facts only.
 *
 *     id          unit      from
 *     min p5 p25 p50 p75 p90 p95 p99 max mean sd    ns, latency of one kernel launch
 *     n           samples   raw samples behind the percentiles
 *     gflops      GFLOP/s   work model FLOPs / median latency
 *     gbs         GB/s      compulsory bytes / median latency
 *     intensity   FLOP/byte work model
 *     tokens      tokens/s  of a forward pass (measurement.tokens) / median
 *     roof        fraction  of the binding measured roof, see metrics/roofline.h
 *     joules      J         mean power of GPU or processor while sampling x median latency
 *     memory      B         most of the GPU's memory; else of the program's, or of the process
 *     instructions cycles cache_misses branch_misses
 *                           of one launch, counted by the processor; absent where it cannot
 *     error       rms       largest difference from the float64 oracle over the output's rms
 *     others                what was read beside the first measurement, by name (steal_percent,
 * ...)
 *
 * Behind the table come the metrics that programs say of themselves (core/number.h), with the unit
 * and the direction that their user gave. They are there from when a history or file that has them
 * was opened, and stay.
 *
 * "median" is an alias of p50. Intervals are 95 %:
 *   - percentiles: distribution-free, from order statistics of the pooled samples;
 *   - p50, mean and the rates built on p50, if there are 3 or more launches: Student's t over the
 *     launches, widened to hold the displayed value, because samples of one process share its luck;
 *   - what is counted (memory, instructions, ...) has the one over launches, and a program's own
 *     metric that or, with fewer launches, the one of its median;
 *   - min, max, sd and the other facts have none (NaN limits).
 */
#ifndef HARNESS_METRICS_METRIC_H
#define HARNESS_METRICS_METRIC_H

#include "base/error.h"
#include "core/record.h"
#include "metrics/summary.h"
#include "stats/stats.h"
#include "text/ticks.h"

#include <stdbool.h>
#include <stddef.h>

enum direction { LOWER_IS_BETTER, HIGHER_IS_BETTER, NO_DIRECTION };

enum metric_kind {
    METRIC_LATENCY, /* a time; comparable */
    METRIC_RATE,    /* work over time; comparable */
    METRIC_FACT,    /* what was computed, counted or read; comparable where it has a direction */
};

/* What a metric may need beside the times. All of it may be absent. */
struct metric_context {
    const struct machine *machine;
    const struct roof *roofs; /* of that machine */
    size_t nr_roofs;
};

struct metric_value {
    double value;             /* NaN: does not apply, or is not known */
    struct interval interval; /* 95 %; NaN limits where there is none */
    bool few;                 /* n is too small to carry this percentile: mark it */
    bool above_roof;          /* faster than the measured roof: an error to explain */
};

struct metric;
struct metric_input {
    const struct metric *metric;
    const struct summary *s;
    const struct metric_context *context; /* never NULL here */
};

struct metric {
    const char *id, *label, *unit; /* "p50", "median latency", "ns" */
    enum direction direction;
    enum metric_kind kind;
    enum quantity quantity; /* a value times `factor` is in its base unit: "FLOP/s" */
    const char *base;
    double factor;
    double p;     /* for percentiles */
    double floor; /* changes within this share do not matter, unless somebody says otherwise; 0:
                   * what holds for all (compare_settings.delta) */
    /* What the code does, however slow or shared the machine is: instructions, memory. What is
     * known of times (the machine probe, what placement moves) says nothing of it. Times, rates,
     * cycles, misses and energy are what the machine makes of the code, and false is the careful
     * answer for what nobody knows. */
    bool of_code;
    const struct number_kind *number;            /* of a program's own; else NULL */
    double (*read)(const struct measurement *m); /* what is counted; NaN: it is not there */
    double (*work)(
        const struct measurement *m); /* for rates: of one launch; over ns it is giga-work per s */
    void (*derive)(const struct metric_input *in, struct metric_value *value);
};

/* The i-th row of the table; NULL past the end. */
const struct metric *metric_at(size_t i);
/* Does it look at what was read beside the times (measurement.telemetry)? */
bool metric_needs_telemetry(const struct metric *metric);
/* By id or alias; an unknown one is an error that names the nearest, or lists all. */
const struct metric *metric_find(const char *id, struct error *err);

/* `context` may be NULL. */
struct metric_value metric_value(const struct metric *metric, const struct summary *s,
                                 const struct metric_context *context);
/* metric_find() and metric_value() for an id known to exist; NaN otherwise. */
struct metric_value metric_get(const char *id, const struct summary *s,
                               const struct metric_context *context);

/* The context for records of run `run`: its machine, and the roofs if they are that machine's
 * (records carry those of the newest run's machine). */
struct metric_context metric_context_of(const struct records *records, int run);

#endif
