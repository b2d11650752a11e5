/* SPDX-License-Identifier: MIT */
/*
 * Did it get slower? Base against head, benchmark by benchmark, decided from launches.
 *
 * Unit of evidence. One value per launch (fresh process): the log of its metric, by default the
 * median latency. Samples inside a launch share its memory layout, clocks and neighbours; tests
 * over them raise false alarms that more samples make worse. The same holds, a level up, for the
 * launches of one run (Kalibera and Jones 2013, "Rigorous benchmarking in reasonable time", on
 * levels of repetition). With fewer than COMPARE_LAUNCHES_MIN launches (or blocks) on a side a
 * benchmark is undecided, never guessed at.
 *
 * Effect. e = mean(head) - mean(base) of those logs, signed so that e > 0 is worse. The floor is
 * symmetric on this scale: d = log(1 + delta), so a factor (1 + delta) and its inverse count alike.
 * Metrics and benchmarks may have floors of their own.
 *
 * Verdicts. `same`: the whole 90 % interval of e lies inside (-d, d), which is two one-sided tests
 * at 5 % (Schuirmann 1987). Else `regressed` or `improved`: e is shown to lie outside the null
 * interval (below) by a two-sided t test, with q <= settings.q over the family, and no wild launch
 * did it alone: the exact one-sided rank test over launches (Mann and Whitney 1947) at 5 %, which
 * three launches against three can just reach (1/20). Since its interval reaches beyond the floor,
 * no change well inside it is named. Everything else is `undecided`.
 *
 * Family. Every benchmark and metric with enough launches on both sides is one family, whatever is
 * shown of it later; Benjamini and Hochberg (1995) control its false-discovery rate. What is `same`
 * or fails the rank test enters with p = 1: so many true changes too small to matter do not lower
 * the bar for chance.
 *
 * Error. It depends on how the launches of the two sides hang together (enum compare_design). Where
 * there are two estimates of it, one from coarse and few units and one from finer and more, a
 * verdict must hold by both.
 *
 *   DESIGN_LAUNCHES, one run a side. Welch's standard error and degrees of freedom (1947), and:
 *     - Three lucky launches look like certainty, so each variance is moderated towards those of
 *       its metric (Smyth 2004, scaled inverse chi-square prior), with at most COMPARE_BORROW_MAX
 *       degrees of freedom of prior, fewer where the family is small; a benchmark noisier than the
 *       prior allows (F test at 1 %) keeps its own.
 *     - Successive launches may be alike: their lag-1 correlation, pooled over the family and freed
 *       of its small-sample bias, widens the error of each mean as it would for an AR(1) process.
 *     - What lies between the two runs cannot be seen in one benchmark, but in the family, most of
 *       which did not change (Efron 2004 on empirical nulls). It is a distribution, not a number:
 *       a prior (nothing, or about 2.5 %), weighed by how well each size explains the scatter of
 *       the effects, where a share of them may have changed: one in ten, by anything, or as good as
 *       half of them, all the same way, about the densest half of the effects in place of their
 *       median, which lies in the gap then. Two modes of each row, from run to run, look like that
 *       to both sides, and are noise. p-values and intervals are means over it. So one rule holds
 *       for one benchmark and for a thousand (compare_between.c).
 *       Earlier runs of that machine (struct compare_sides) are comparisons of which nobody asks:
 *       each against the next speaks in the same way, all of them together at most as loudly as 20
 *       rows, and successive differences as two thirds (they share a run). A share of them may be
 *       changes. One row alone has no family, and lives by them.
 *     - What all rows share: the null interval reaches from 0 to the family's median effect, as far
 *       as that is shown and inside the floor, or inside what earlier runs had in common (98 %);
 *       the interval reaches over the whole of it.
 *     - The launches of each row, dealt out anew between its sides, show what chance does; where
 *       that is more than the p-values say, these are raised (compare_permutation.c).
 *     - Wild launches are drawn in (compare_outliers.c). What the interval allows to be 0 is no
 * change. No launch value is taken to be better known than the samples inside it say (the 95 %
 * interval of its metric): where these have two modes, three medians can agree by luck.
 *
 *   DESIGN_RUNS, a side with several runs. The unit is the run mean, all runs of a side
 *   weighing alike. Its variance is that between runs of a side, pooled over both sides; where a
 *   metric has ten rows or more, what a run has in common with the others of its side over all of
 *   them (the median) is taken out of it first, and the rest moderated as above; fewer rows are
 *   judged each by itself. What a run does to times it does not do to memory, and each class of
 *   machines has runs of its own: they are judged apart. The common part is of few degrees of
 *   freedom however many rows there are: its own interval is joined to that of the row (Zou and
 *   Donner 2008), and the null interval reaches from 0 to these rows' median effect as far as the
 *   common part (at 95 %) or the floor explain it. Components of the noise by analysis of variance,
 *   unbalanced counts allowed.
 *
 *   DESIGN_BLOCKS, interleaved launches (launch/ab.h). One difference a block, mean of head less
 *   mean of base: what drifts over the blocks falls out of it. t over the blocks; the launches of
 *   one side in one block tell the same variance if blocks add nothing, so both are pooled for
 *   each ratio that the two may have, weighed by how well it fits (compare_blocks.c). Where all
 *   values of a row are multiples of a step (whole ns, MB), no launch is better known than an
 *   error that is even over that step: differences that are equal to the last bit are not known so
 *   exactly. Nothing comes from the family but q, so a row depends on its own blocks alone.
 *   Whoever looks after each block and stops when he likes has many chances; look j (after block j
 *   + 2) pays with the factor j (j + 1) on its p-value and on the tails of its interval. The
 *   weights 1 / (j (j + 1)) add up to 1, so the smallest of the p-values so far is valid whenever
 *   one stops (Johari et al. 2017 on always-valid p-values; Lan and DeMets 1983 on spending an
 *   error over looks). So p never rises while blocks are added. A benchmark that is decided leaves
 *   (launch/ab.h) and keeps its data, but what was named need not stay named until the end: q
 *   depends on the other rows too, any of which may come out as `same` and enter with p = 1; and a
 *   benchmark that stays for the sake of another metric may see its whole interval move inside the
 *   floor.
 *     How often anybody looked is not in the evidence. So n blocks pay for n - 2 looks, also where
 *   their number was fixed before and nobody looked (`compare --runs`), or where the pairs are
 *   imported: there the error is smaller, and changes must be larger to be found.
 *
 * The machine. Beside every case a probe is timed, a fixed piece of work that is not under test
 * (TELEMETRY_MACHINE). Where the probe moved by more than the floor, beside the benchmark or
 * over the family, a change must stand beyond the floor with the probe's share taken out of it, and
 * nothing is called same: else undecided. Load does not slow everything alike (short kernels with
 * barriers suffer most): where the probe moved by more than COMPARE_MACHINE_MAX, a change must
 * stand with COMPARE_MACHINE_WORST times its share taken out, in logs and whichever way it went. Of
 * 604 rows of unchanged code whose probe moved that far, under none to 8 busy loops or 4 programs
 * that copy memory, a factor of 1 named 82, 2 named 20, 4 named 2 and 6 none. Within blocks, only
 * what of the probe's change goes beyond its own noise counts. The probe is a time: what the code
 * does however slow the machine is (metric.of_code) is decided without it.
 *
 * Placement. Where a self-test has shown that placement in memory alone moves a benchmark
 * (placement_noise.h), the floor is at least twice its part, and a change that is smaller than that
 * in itself is not called, however well it is known: two builds differ by one draw each. That is of
 * the time, and not of metric.of_code.
 *
 * Outcomes. WRONG or FAILED in any launch of head where base was OK is `broken` and counts as a
 * regression; the reverse is `fixed`; on both sides it is `failing`. `new` and `missing` have one
 * side only. What both sides cannot run is counted, not listed.
 *
 * Values of 0. There is no share of 0, and no log: such a benchmark is in no family. With enough
 * launches (or blocks) on both sides it is `same` where all are 0, and `regressed` or `improved`
 * where all of one side are 0 and none of the other; where a side has some of each, it is
 * undecided.
 *
 * Limits. A machine that slows all benchmarks alike, by more than the floor, between two runs and
 * not its probe, looks like a regression of all (see common_shift): interleave, or measure several
 * runs. A benchmark that has two even modes, in a family that is otherwise quiet, can split cleanly
 * between the sides by chance, better or worse: once in 32 with 3 launches a side, once in 512 with
 * 5. Earlier runs tell of the machine as it was: a night that is worse than those is not seen.
 */
#ifndef HARNESS_VERDICT_COMPARE_H
#define HARNESS_VERDICT_COMPARE_H

#include "base/error.h"
#include "base/strbuf.h"
#include "core/record.h"
#include "metrics/metric.h"
#include "verdict/exit_status.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    COMPARE_LAUNCHES_MIN = 3,
    COMPARE_BORROW_MAX = 60,
    COMPARE_METRICS_MAX = 8,
    COMPARE_ASKED_MAX = 32,   /* "[FILTER:]ID" texts that ask for these */
    COMPARE_EARLIER_MAX = 12, /* runs before the base that count */
    COMPARE_WHY_SIZE = 144,
};

#define COMPARE_MACHINE_MAX   0.2
#define COMPARE_MACHINE_WORST 6

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

/* Version of the rule that turns evidence into verdicts: kept with each recorded verdict, raised
 * whenever the same evidence could be decided otherwise. 6: counts of the code heed no probe, and
 * what a run does is told by metric and machine class. 7: half of the rows may have changed, and
 * values in blocks may be rounded. */
enum { COMPARE_RULE = 7 };

/* A floor of its own for the metrics or benchmarks that `pattern` fits: a metric's id, what
 * text_filter_matches() takes for a key, or both ("FILTER:ID"). The last row that fits counts. */
struct compare_floor {
    const char *pattern; /* borrowed */
    double delta;
};

/* What placement in memory alone moves of one benchmark's time (verdict/placement_noise.h). */
struct compare_placement {
    const char *key, *machine; /* exact; borrowed; machine "" fits any */
    double part;               /* sd that it adds to launches, as a fraction; 0: none is shown */
    double change;             /* no smaller change is called; 0: any */
};

/* By which it is compared where no metric is asked for. */
#define COMPARE_USUAL_METRIC "p50"

struct compare_settings {
    double delta; /* changes within +-delta do not matter; (0, 10) */
    bool for_all; /* that holds for metrics, too, that have a floor of their own (metric.floor) */
    const struct compare_floor *floors; /* nr_floors of them; borrowed */
    size_t nr_floors;
    const struct compare_placement *placements; /* nr_placements of them; borrowed */
    size_t nr_placements;
    double q; /* false-discovery rate; (0, 0.5) */
    /* "[FILTER:]ID" of comparable metrics with a direction, see compare_asked_fits(); NULL-ended */
    const char *const *metrics;
    bool rest_by_usual; /* what has none of these is compared by the usual one */
    bool any_machine;   /* compare across machine classes all the same */
};

#define COMPARE_DEFAULTS                                                                           \
    {                                                                                              \
        .delta = 0.03, .q = 0.05                                                                   \
    } /* metrics NULL: COMPARE_USUAL_METRIC */

/* How the launches of the two sides hang together. Both sides one run that were measured in turn
 * (run.ab of the same id): blocks, block = launch_seq / ab.block. With one launch a block, which is
 * how results of other programs come, both must have as many launches. */
enum compare_design {
    DESIGN_LAUNCHES, /* one run a side: what lies between the runs is judged from the family */
    DESIGN_RUNS,     /* several runs on a side: what lies between them is seen */
    DESIGN_BLOCKS,   /* interleaved A/B: pairs within blocks, a look after each */
};

/* What a verdict rests on, and all that it rests on: compare_decide() needs nothing else. */
struct evidence_value {
    double value; /* of one launch, in the metric's unit; >= 0 */
    int run;      /* that it belongs to, 0-based within its side; in DESIGN_BLOCKS the block */
    double inner; /* variance of log(value) that the samples inside the launch account for; 0: not
                   * known */
    double probe; /* ns: the machine probe beside it; NaN: not probed */
};

struct evidence_side {
    struct evidence_value *values; /* in the order measured; owned */
    size_t nr, capacity;
    size_t failures;  /* launches that were WRONG or FAILED */
    size_t negatives; /* launches below 0, which are none of the values: no ratio tells of them */
    enum outcome outcome; /* OK, or the worst one seen; UNSUPPORTED if it is in no launch */
    bool present;         /* the side has the benchmark at all */
    const char *message;  /* of the first failure; borrowed, may be NULL */
};

struct evidence {
    enum compare_design design;
    struct evidence_side base, head;
    /* Runs of that machine before the base, one value each: the run's mean, `inner` its variance as
     * its launches tell, `run` the number of the run, from 0, the same for all rows. Only of
     * DESIGN_LAUNCHES; may be empty. */
    struct evidence_side earlier;
};

/* One benchmark, one metric: a member of the family. Verdict records keep these. */
struct compare_item {
    const struct benchmark_name *bench; /* borrowed */
    const char *machine;                /* class name; borrowed; "" under any_machine */
    bool vendor;                        /* a reference library: it should not change */
    const struct metric *metric;
    struct evidence evidence;
};

/* One side of one benchmark. */
struct compare_side {
    double value; /* geometric mean of the launch values, in the metric's unit, their median where
                   * one is 0; NaN if none, and where one is below 0 */
    size_t launches;      /* that carry a value */
    size_t failures;      /* launches that were WRONG or FAILED */
    enum outcome outcome; /* OK, or the worst one seen */
    double spread; /* sd of the log values: launch-to-launch noise as a fraction; NaN if < 2, and
                    * where one is 0 */
    const char *message; /* of the first failure; borrowed from the records, may be NULL */
};

/* The noise of a change by where it comes from: sd of log(value), as fractions. NaN: this data
 * cannot tell. */
struct compare_noise {
    double within; /* of a launch's value, from the samples inside it */
    double launch; /* from launch to launch, beyond that */
    double run;    /* from run to run (or block to block), beyond that */
    /* What placement adds, which is in `launch` too; from compare_settings. 0: none is shown. */
    double placement;
};

/* Ratios are of the metric as it is shown, head / base - 1: +0.04 on a latency is slower, on a
 * rate it is faster; `worse` tells which. */
struct compare_row {
    const struct compare_item *item; /* in the comparison's items */
    enum verdict verdict;
    double delta;  /* the floor that holds for this row: at least `placed` */
    double placed; /* no smaller change is called: placement alone may move so much; 0: any */
    struct compare_side base, head;
    double change; /* NaN unless both sides have a value; infinite from 0 to more */
    bool worse;    /* the change is for the worse */
    double probe;  /* change of the machine probe's time; NaN: not probed, or metric.of_code */
    struct interval
        interval; /* 90 % of `change`, paying for looks; NaN limits outside the family */
    struct compare_noise noise;
    int looks;     /* that are paid for: one a block from the third on, whether anybody took it or
                    * not; 1 unless in blocks */
    double p, q;   /* NaN outside the family */
    double rank_p; /* one-sided, in the direction of the change; NaN outside the family and in
                    * blocks */
    double df;     /* degrees of freedom used */
    bool borrowed; /* the variance was moderated by the family's */
    double reach;  /* logs: a launch farther from the median of its side counts as this far; NaN:
                    * all count as they are */
    size_t wild;   /* launches that were drawn in so */
    double stays;  /* share of the error that more launches would not lessen: what lies between the
                    * runs; NaN outside the family */
    double detectable; /* smallest true change for the worse, found 4 times in 5 as the only change
                        * of the family; NaN outside the family, infinite beyond a factor of 10 */
    const char *accepted;       /* why this change is meant to be; borrowed; NULL: it is not */
    char why[COMPARE_WHY_SIZE]; /* of undecided, missing, broken ...; "": it needs no reason */
};

struct comparison {
    struct compare_settings settings;
    struct compare_item *items; /* all that was compared; owned */
    size_t nr_items;
    struct compare_row *rows; /* in reading order, one for each item, until compare_show(); owned */
    size_t nr;
    size_t count[VERDICT_NR];
    size_t accepted;     /* of those regressed or broken, how many are meant to be */
    size_t family;       /* rows judged together */
    double chance;       /* alarms that chance alone would give in this family, at most */
    size_t unsupported;  /* not runnable on both sides */
    double common_shift; /* median change of the family; NaN if it has fewer than 5 */
    double vendor_shift; /* median change of its vendor benchmarks; NaN if none */
    double probe_shift;  /* median change of the machine probe's time; NaN if not probed */
    double run_noise;    /* sd of a run against another beyond what launches show, as a fraction;
                          * NaN: cannot be told */
    double serial; /* correlation of successive launches, pooled over the family; NaN: cannot be
                    * told */
    bool shifted;  /* the family moved together: suspect the machine before the code */
    double noise;  /* median launch-to-launch spread of the family; NaN if empty */
    char **notes;  /* sentences to print below the table; owned */
    size_t nr_notes, notes_capacity;
    size_t nr_warnings; /* the first of them, which stand above it: read them before the verdicts */
    int exit_status;    /* 1 if anything regressed or is broken and is not accepted; 77 if nothing
                         * matched or nothing could be decided; else 0 */
};

/* -1 on a bad setting or a metric that is not a matter of speed: for whoever has yet to measure. */
int compare_check_settings(const struct compare_settings *settings, struct error *err);
/* Does this floor hold for that metric or benchmark? */
bool compare_floor_fits(const struct compare_floor *floor, const struct metric *metric,
                        const char *key);
/* Of "[FILTER:]ID" the id: what is behind the last colon that stands in no parentheses. */
const char *compare_asked_id(const char *asked);
/* Is that asked of this benchmark? Without a filter of each. "command/", with which the keys of
 * whole programs begin, may be missing in front of the filter. */
bool compare_asked_fits(const char *asked, const char *key);
/* Such a FILTER: text_filter_matches(), and what stands for a program, "command/", may be missing.
 */
bool compare_filter_fits(const char *filter, const char *key);
enum { COMPARE_FLOOR_TEXT = 512 };
/* A sentence on a floor that fits nothing of what is compared; names the nearest metric. */
void compare_floor_unfit(const struct compare_floor *floor, char text[COMPARE_FLOOR_TEXT]);

/* What is compared; borrowed. */
struct compare_sides {
    const struct records *base, *head;
    /* Runs of base's machine before it, in order of time, with the environment alike and as far
     * from each other in time as head is from base; they tell what two runs differ by where nothing
     * was changed. May be NULL. */
    const struct records *earlier;
};

/* Compares. Both record sets must outlive the result (`earlier` need not). -1 on a bad setting or a
 * metric that is not a matter of speed; a machine class mismatch is no error but a note and exit
 * status 77. */
int compare_run(const struct records *base, const struct records *head,
                const struct compare_settings *settings, struct comparison *c, struct error *err);
int compare_sides_run(const struct compare_sides *sides, const struct compare_settings *settings,
                      struct comparison *c, struct error *err);
/* Decides from evidence alone, as compare_run() does once it has it: replaying old verdicts. Takes
 * `items` and what they own. Notes about runs are missing. */
int compare_decide(struct compare_item *items, size_t nr, const struct compare_settings *settings,
                   struct comparison *c, struct error *err);
/* Is the row an alarm, and its change the one that was accepted, and no worse than that (beyond the
 * row's floor)? */
bool compare_acceptance_fits(const struct acceptance *a, const struct compare_row *row);
/* Marks such rows, and takes them out of the exit status. The reasons are borrowed. */
void compare_accept(struct comparison *c, const struct acceptance *accepted, size_t nr);
/* Drops the rows whose keys fit none of the filters (base/text.h), and counts again: what is left
 * sets the exit status. The verdicts stay: the family was fixed before. No filter keeps all. */
void compare_show(struct comparison *c, const char *const *filters, size_t nr);
/* A warning for each filter that fits none of the rows, if there is any: before compare_show(). */
void compare_warn_filters(struct comparison *c, const char *const *filters, size_t nr);
/* Adds a sentence to be printed below the table. */
void comparison_note(struct comparison *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void comparison_release(struct comparison *c);
void compare_items_release(struct compare_item *items, size_t nr); /* and free()s items */

/* Was the run one side of an interleaved comparison? */
bool compare_in_turn(const struct run *run);
/* Blocks in which both sides have a value; DESIGN_BLOCKS alone. */
size_t evidence_blocks(const struct evidence *e);
/* Runs of a side that have a value, however their numbers lie; not of DESIGN_BLOCKS. */
size_t evidence_runs(const struct evidence_side *side);
const char *compare_design_name(enum compare_design design); /* "launches", "occasions", "blocks" */
int compare_design_find(const char *name);                   /* -1 if unknown */
/* The metrics that were asked for, in their order; returns how many. */
size_t comparison_metrics(const struct comparison *c,
                          const struct metric *out[COMPARE_METRICS_MAX]);
const char *verdict_name(enum verdict verdict); /* "regressed" */
/* "slower", "the same"; for what is no speed (a standard deviation, memory, a number of a
 * program's own) "worse" and "better". */
const char *verdict_word(enum verdict verdict, const struct metric *metric);
/* The same for all rows with that verdict; where nobody needs to look at any, for all that is
 * compared. "worse" and "better" where that is not speed alone. */
const char *comparison_word(const struct comparison *c, enum verdict verdict);
/* The same of those alone that nobody accepted, for whoever counts these. */
const char *comparison_alarm_word(const struct comparison *c, enum verdict verdict);
/* Regressed or broken, and nobody said that it is meant to be. */
bool compare_row_is_alarm(const struct compare_row *row);
/* How many of these have that verdict. */
size_t comparison_alarms(const struct comparison *c, enum verdict verdict);
/* Counts what the rows say, and the exit status that follows: verdict/exit_status.c. */
void compare_count(struct comparison *c);
/* What rows of one benchmark differ by. */
struct compare_several {
    bool metrics, machines; /* there are several of them: of machines in all that was compared */
};
struct compare_several compare_several(const struct comparison *c);
/* How much worse the undecided rows look, found by the keys of their benchmarks. */
struct comparison_harms {
    struct comparison_harm_row *items; /* by key, of one key the worst first; owned */
    size_t nr;
};

void comparison_harms_init(struct comparison_harms *harms, const struct comparison *c);
/* How much worse the worst undecided row of a benchmark looks, as the log of a factor; 0: none
 * looks worse. Below 0: no row is undecided that has a value: where there is none, more measuring
 * brings none. */
double comparison_harm(const struct comparison_harms *harms, const char *key);
void comparison_harms_release(struct comparison_harms *harms);
/* One line: "2 regressed, 1 broken, 40 same, 17 undecided; 1 accepted". */
void comparison_summary(const struct comparison *c, struct strbuf *out);

#endif
