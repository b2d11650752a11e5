/* SPDX-License-Identifier: MIT */
/*
 * Did it get slower? Base against head, benchmark by benchmark, decided from launches.
 *
 * Unit of evidence. One value per launch (fresh process): the log of its metric, by default the
 * median latency. Samples inside a launch share its memory layout, clocks and neighbours; tests
 * over them raise false alarms that more samples make worse.
 *
 * Effect. e = mean(head) - mean(base) of those logs, signed so that e > 0 is worse. The floor is
 * symmetric on this scale: d = log(1 + delta). A change of x is regressed or improved only if it
 * is shown to be beyond the floor, so a factor (1 + delta) and its inverse count alike.
 *
 * Noise. Welch's standard error and degrees of freedom (Welch 1947). With 3 launches a side a
 * benchmark's own variance is poorly known, and 3 lucky launches look like certainty. Where the
 * family has COMPARE_BORROW_MIN benchmarks or more, each variance is moderated towards the family's
 * (Smyth 2004, "Linear models and empirical Bayes", scaled inverse chi-square prior fitted to the
 * family by quantiles): s~^2 = (d0 s0^2 + df s^2) / (d0 + df) with d0 + df degrees of freedom, d0
 * no more than COMPARE_BORROW_MAX. A benchmark that is noisier than the prior allows (F test at
 * 1 %) keeps its own variance alone. Last, no launch value is taken to be better known than the
 * samples inside the launch say (the 95 % interval of its metric): where these have two modes,
 * three medians can agree by luck.
 *
 * Regressed, improved. One-sided t tests of H0: e <= d and H0: e >= -d. The smaller p-value,
 * doubled for the choice between the two, goes into Benjamini and Hochberg (1995) over the whole
 * family: every benchmark with enough launches on both sides, whatever is shown of it later.
 * A verdict needs q <= settings.q, and in addition the exact one-sided rank test over launches
 * (Mann and Whitney 1947) at 5 %: one wild launch moves a mean, not the ranks. Three launches
 * against three can just reach it (1/20).
 *
 * The machine. Beside every case a probe is timed, a fixed piece of work that is not under test
 * (telemetry "probe_ns"). Where the probe moved by more than the floor, beside the benchmark or
 * over the family, a change must stand beyond the floor with the probe's share taken out of it, and
 * nothing is called same: else undecided. Where it moved by more than COMPARE_MACHINE_MAX, nothing
 * is decided: load does not slow everything alike (short kernels with barriers suffer most), so no
 * share can be taken out.
 *
 * Same. The 90 % two-sided interval of e lies inside (-d, d): two one-sided tests at 5 %
 * (Schuirmann 1987). Everything else is undecided. Fewer than COMPARE_LAUNCHES_MIN launches on a
 * side: undecided.
 *
 * Outcomes. WRONG or FAILED in any launch of head where base was OK is `broken` and counts as a
 * regression; the reverse is `fixed`; on both sides it is `failing`. `new` and `missing` have one
 * side only. What both sides cannot run is counted, not listed.
 *
 * Limits. Launches of one session share a state of the machine (see common_shift). A benchmark that
 * has two modes, in a family that is otherwise quiet, can split cleanly between the sides by
 * chance: once in 64 with 3 launches a side, once in 1024 with 5.
 */
#ifndef HARNESS_ANALYSIS_COMPARE_H
#define HARNESS_ANALYSIS_COMPARE_H

#include "analysis/metric.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    COMPARE_LAUNCHES_MIN = 3,
    COMPARE_BORROW_MIN = 10,
    COMPARE_BORROW_MAX = 30,
};

#define COMPARE_MACHINE_MAX 0.2

enum verdict {
    VERDICT_REGRESSED,
    VERDICT_BROKEN,
    VERDICT_FAILING,
    VERDICT_IMPROVED,
    VERDICT_FIXED,
    VERDICT_UNDECIDED,
    VERDICT_SAME,
    VERDICT_NEW,
    VERDICT_MISSING,
    VERDICT_NR,
};

enum compare_exit { COMPARE_EXIT_OK = 0, COMPARE_EXIT_REGRESSION = 1, COMPARE_EXIT_NOTHING = 77 };

struct compare_settings {
    double delta;       /* changes within +-delta do not matter; (0, 10) */
    double q;           /* false-discovery rate; (0, 0.5) */
    const char *metric; /* id of a comparable metric with a direction */
    bool any_machine;   /* compare across machine classes all the same */
};

#define COMPARE_DEFAULTS                                                                           \
    {                                                                                              \
        .delta = 0.03, .q = 0.05, .metric = "p50"                                                  \
    }

/* One side of one benchmark. */
struct compare_side {
    double value;    /* geometric mean of the launch values, in the metric's unit; NaN if none */
    size_t launches; /* that carry a value */
    size_t failures; /* launches that were WRONG or FAILED */
    enum outcome outcome; /* OK, or the worst one seen */
    double spread; /* sd of the log values: launch-to-launch noise as a fraction; NaN if < 2 */
    const char *message; /* of the first failure; borrowed from the records, may be NULL */
};

/* Ratios are of the metric as it is shown, head / base - 1: +0.04 on a latency is slower, on a
 * rate it is faster; `worse` tells which. */
struct compare_row {
    const struct benchmark_name *bench; /* borrowed from the records */
    const char *machine;                /* class name; borrowed; "" under any_machine */
    bool vendor;                        /* a reference library: it should not change */
    enum verdict verdict;
    struct compare_side base, head;
    double change;            /* NaN unless both sides have a value */
    bool worse;               /* the change is for the worse */
    double probe;             /* change of the machine probe's time; NaN if not probed */
    struct interval interval; /* 90 % of `change`; NaN limits below 3 launches a side */
    double p, q;              /* NaN outside the family */
    double rank_p;     /* one-sided, in the direction of the change; NaN outside the family */
    double df;         /* degrees of freedom used */
    bool borrowed;     /* the variance was moderated by the family's */
    double detectable; /* smallest true change for the worse, found 4 times in 5 as the only change
                        * of the family; NaN outside the family */
    char why[128]; /* why undecided, missing, broken ...; "" where the verdict needs no reason */
};

struct comparison {
    struct compare_settings settings;
    const struct metric *metric;
    struct compare_row *rows; /* in reading order; owned */
    size_t nr;
    size_t count[VERDICT_NR];
    size_t family;       /* benchmarks judged together */
    size_t unsupported;  /* not runnable on both sides */
    double common_shift; /* median change of the family; NaN if it has fewer than 5 */
    double vendor_shift; /* median change of its vendor benchmarks; NaN if none */
    double probe_shift;  /* median change of the machine probe's time; NaN if not probed */
    bool shifted;        /* the family moved together: suspect the machine before the code */
    double noise;        /* median launch-to-launch spread of the family; NaN if empty */
    char **notes;        /* sentences to print below the table; owned */
    size_t nr_notes, notes_capacity;
    int exit_status; /* 1 if anything regressed or is broken; 77 if nothing matched or nothing
                      * could be decided; else 0 */
};

/* Compares. Both record sets must outlive the result. -1 on a bad setting or a metric that is not
 * a matter of speed; a machine class mismatch is no error but a note and exit status 77. */
int compare_run(const struct records *base, const struct records *head,
                const struct compare_settings *settings, struct comparison *c, struct error *err);
void comparison_release(struct comparison *c);

const char *verdict_name(enum verdict verdict); /* "regressed" */
/* One line: "2 regressed, 1 broken, 40 same, 17 undecided". */
void comparison_summary(const struct comparison *c, struct strbuf *out);

#endif
