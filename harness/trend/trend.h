/* SPDX-License-Identifier: MIT */
/*
 * What the history says: which benchmarks got slower or faster for good, when, and between which
 * commits. One struct trend a series, with its steps and its drift as trend/changepoint.h finds
 * them in the logs of the points: a factor counts the same up and down.
 *
 * Family. A night looks at every series, so every series long enough is one family, whatever is
 * shown of it. Benjamini and Hochberg (1995) over the p-value of each series' clearest step decides
 * which series changed. Within those a step needs p <= R fdr / m (R of m series selected), so that
 * what is said of a series that was picked for looking odd stays honest (Benjamini and Bogomolov
 * 2014, "Selective inference on multiple families of hypotheses"). Drifts are a second family,
 * judged alike, and what may be a step a third.
 *
 * Memory. The nights are gone through one after the other (trend_standing.c): a step is told from
 * the first night on in which the family selects it, and told on while it stands, also where the
 * family has grown since, others went, or the estimate fell below `delta`. Its p is that of all
 * nights so far and never grows, so that this costs nothing. It ends by a fact: it went back, it
 * was accepted, or it was withdrawn, which is told with the reason.
 *
 * Branches. Points are searched that are of the branch that the history is of, see
 * trend/mainline.h: a pull request that waits, or never comes, makes no step.
 *
 * Environment. A step whose window holds the border to an epoch (compiler, driver, governor, see
 * metrics/epoch.h) that the level before does not know is "with a change of environment": it is
 * listed with what changed and is never a plain regression.
 *
 * Ratios. Steps are told as shares, and there is none of 0: points at 0 or below are left out whole
 * and counted, of allocations and scores. So 0 for a year and then 3 is no step.
 *
 * State. A step stands until a later level undoes it, of which at most a quarter is left in any
 * night; it stands again where more than half of it does.
 *
 * Acceptance. Of the same key, metric and machine; its commit was measured in the step's window or
 * at the level that the step led to; where it was measured before that, too, or there is none, what
 * was accepted was measured then; and the step is no worse than what was accepted, by the near end
 * of its interval and TREND_ACCEPT_MARGIN. A drift likewise; it has no window, so any run of
 * the series will do.
 */
#ifndef HARNESS_TREND_TREND_H
#define HARNESS_TREND_TREND_H

#include "base/strbuf.h"
#include "trend/changepoint.h"
#include "trend/series.h"
#include "verdict/exit_status.h"

#define TREND_ACCEPT_MARGIN 0.03
#define TREND_FDR           0.05 /* the false-discovery rate, where nobody asks for another */

/* What somebody wrote about a run: told beside the steps, and no part of the search. */
struct trend_annotation {
    int64_t run;      /* its id in the history */
    const char *text; /* borrowed */
};

/* What is known of commits beside their hashes, by git and a forge. */
struct trend_repository {
    void *context;
    /* What stands before the commit's hash to make an address, "https://forge/owner/name/commit/";
     * NULL: nobody knows one. */
    const char *(*address)(void *context, const char *commit);
    /* Are both here, and does one lead to the other, so that a search can go between them? */
    bool (*leads)(void *context, const char *good, const char *bad);
    bool (*measures)(const struct benchmark_name *bench); /* can this program measure it again? */
};

struct trend_settings {
    const struct metric *metric;       /* what the points' values are; has a direction */
    double fdr;                        /* false-discovery rate over the series; (0, 0.5) */
    double delta;                      /* steps smaller than this are only counted; >= 0 */
    size_t min_segment;                /* points that a level needs; 0: the usual number */
    const struct acceptance *accepted; /* nr_accepted of them; borrowed */
    size_t nr_accepted;
    const struct trend_annotation *annotations; /* nr_annotations of them; borrowed */
    size_t nr_annotations;
    const char *const *filters; /* show and count series that fit one of these, see base/text.h; the
                                 * family stays whole. nr_filters of them, 0: all */
    size_t nr_filters;
    const struct trend_repository *repository; /* for cards; borrowed. NULL: nothing is known */
};

/* Points are indices into the series. Ratios are of the metric as it is shown: +0.04 on a latency
 * is slower, on a rate it is faster; `worse` tells which. */
struct trend_step {
    size_t index;             /* first point of the new level */
    size_t low, high;         /* 95 % interval of it: the change came after low - 1, by `high` */
    double before, after;     /* levels, in the metric's unit */
    double change;            /* after / before - 1 */
    struct interval interval; /* 95 %, of `change` */
    double p;                 /* see struct changepoint */
    bool worse;
    size_t epoch; /* point of the window that begins a new epoch; 0: none does */
    size_t told;  /* points that the series had when the family first selected the step */
    size_t back;  /* point at which a later step had undone this one; 0: it stands */
    double left;  /* share of the step, in logs, that is left at the last level */
    const struct acceptance *accepted; /* NULL: nobody did */
};

struct trend_drift {
    double total;             /* last / first - 1, along the line */
    double middle;            /* log of the line half way, of a point over the level of its step */
    struct interval interval; /* 95 %, of `total` */
    double p, q;
    bool worse;
    const struct acceptance *accepted; /* NULL: nobody did */
};

/* A step that an earlier night told and that does not stand. */
struct trend_withdrawn {
    size_t index;         /* first point of what was the new level */
    size_t low, high;     /* within which it was: the change came after low - 1, by `high` */
    size_t told, gone;    /* points that the series had when it was told first, and withdrawn */
    double before, after; /* levels when it was withdrawn, in the metric's unit */
    double change;        /* after / before - 1 */
    bool worse;
    enum step_end why;
};

/* What may be a step: too few points say so, or too few for so many series. */
struct trend_watch {
    bool found;
    size_t index;
    double before, after, change; /* as of a step */
    double p;                     /* of this night alone, or that of a step of this series alone */
    bool worse;
};

enum trend_kind {
    TREND_SHORT, /* too few points to judge; outside the family */
    TREND_QUIET,
    TREND_MOVED, /* has steps, or drifts */
};

struct trend {
    const struct series *series; /* its points above 0 of the history's branch; indices are into
                                  * these */
    bool hidden;                 /* by the filters: a member of the family, and no more */
    size_t left_out;             /* further points of that branch, at 0 or below */
    enum trend_kind kind;
    struct trend_step *items; /* steps, in order of time; owned */
    size_t nr, capacity;
    size_t small; /* steps that were told but for settings.delta */
    struct {
        struct trend_withdrawn *items;
        size_t nr, capacity;
    } withdrawn; /* in the order in which they were withdrawn; owned */
    struct trend_watch watch;
    bool drifts;
    struct trend_drift drift;
    struct modes modes; /* in the metric's unit, see trend/changepoint.h */
    double p, q;        /* of the clearest step, named or not; NaN outside the family */
    double noise;       /* sd of a point about its level, as a fraction; NaN outside the family */
    double correlation; /* of neighbouring points; NaN outside the family */
    double detectable; /* a step for the worse so large, as a fraction, CHANGEPOINT_DETECTABLE_AFTER
                        * points before the end, would have been told 3 times in 4, were it the only
                        * one; NaN where too few points say so, or it would be more than double or
                        * half the level */
};

struct trends {
    struct trend_settings settings;
    const struct records *records; /* borrowed */
    struct trend *items;           /* one for each series, in its order; owned */
    struct series *searched;       /* one for each series, owned */
    size_t nr;
    size_t unmerged; /* runs of other branches, whose points are not searched */
    size_t family;   /* series judged together, the hidden ones too */
    size_t shown;    /* series that the filters let through; all below is of these */
    size_t count[TREND_MOVED + 1];
    size_t points_min; /* a series with fewer is short */
    size_t left_out;   /* points at 0 or below, which are not searched */
    size_t steps;      /* named */
    size_t small;      /* steps left out because of settings.delta */
    size_t standing;   /* for the worse, still there, not accepted, environment unchanged */
    size_t moved;      /* series with steps */
    size_t withdrawn;  /* steps that were told and do not stand */
    size_t watched;    /* series with what may be a step */
    size_t drifts;     /* series that drift */
    size_t modes;      /* series that switch between two modes */
    double chance;     /* alarms that chance alone would give, at most: in the family: fdr x max(1,
                        * selected) for steps, and the same for drifts */
    int exit_status;   /* 1 if any is standing, 77 if no series is long enough, else 0 */
};

/* The metric by its id, for the series and settings: one with a better and a worse. */
const struct metric *trend_metric(const char *id, struct error *err);

/* `list` must have been made from `records`; both must outlive the result. Release `out` in any
 * case. */
int trends_find(const struct series_list *list, const struct records *records,
                const struct trend_settings *settings, struct trends *out, struct error *err);
void trends_release(struct trends *t);

/* The drift's line at a point: where there are steps, too, about their levels. */
double trend_drift_at(const struct trend *trend, size_t point);

/* How a change stands in the newest run: the order of the cards, what matters most first. */
enum trend_rank {
    TREND_REGRESSION,  /* for the worse, and there */
    TREND_ENVIRONMENT, /* the same, with another compiler, driver or governor */
    TREND_IMPROVEMENT, /* for the better, and there */
    TREND_ACCEPTED,    /* somebody said that it is meant to be */
    TREND_GONE,        /* a later step has undone it */
};

/* A step or a drift as a story: how it stands, how large, between which runs. */
struct trend_card {
    const struct trend *trend;
    const struct trend_step *step; /* NULL: the drift of the series */
    enum trend_rank rank;
    bool worse;
    double before, after;     /* levels; of a drift the ends of its line, about the newest level */
    double change;            /* after / before - 1 */
    struct interval interval; /* 95 %, of `change` */
    double p;
    size_t low, high; /* it came after point low - 1, by `high`; of a drift all points but one */
    double weight;    /* what there is of it in the newest run, in logs, >= 0 */
};

/* All steps and drifts, ranked; of a rank the largest in the newest run first, then the newest.
 * free() it. */
struct trend_card *trends_cards(const struct trends *t, size_t *nr);
/* Who said that it is meant to be; NULL: nobody. */
const struct acceptance *trend_card_acceptance(const struct trend_card *card);
/* That its change is meant to be, as seen in the first run that has all of it; without reason,
 * author and time of their own. Borrows. */
struct acceptance trend_card_accept(const struct trends *t, const struct trend_card *card);
/* Would it be accepted by who accepts this change, as far as its size goes? */
bool trend_card_within(const struct trend_card *card, double accepted);
/* "regression", "surroundings", "improvement", "accepted", "gone" */
const char *trend_rank_name(enum trend_rank rank);
/* The last run before it, and the first that has all of it. */
const struct run *trend_card_good(const struct trends *t, const struct trend_card *card);
const struct run *trend_card_bad(const struct trends *t, const struct trend_card *card);

/* The series of a card in at most `most` columns: each the median of neighbours. A step lies
 * between two columns. */
struct trend_line {
    double *values; /* of the metric; owned */
    size_t nr;
    size_t from, at, to; /* columns [from, at) are at the level before, [at, to) after; of a drift
                          * `at` is 0, and the line goes from 0 to nr */
};
void trend_line_init(struct trend_line *line, const struct trend_card *card, size_t most);
void trend_line_release(struct trend_line *line);

/* The named steps of all series, newest first; nr is t->steps. free() it. */
struct trend_row {
    const struct trend *trend;
    const struct trend_step *step;
};
struct trend_row *trends_newest(const struct trends *t);

/* The run of a point. */
const struct run *trend_point_run(const struct trends *t, const struct trend *trend, size_t point);
/* The runs on either side of the step's window: the change lies after the first, and the second
 * has it. */
const struct run *trend_run_before(const struct trends *t, const struct trend *trend,
                                   const struct trend_step *step);
const struct run *trend_run_after(const struct trends *t, const struct trend *trend,
                                  const struct trend_step *step);
/* "3f2a91c..9be01aa": the commits between which the step lies, "+" for a dirty tree, "?" for an
 * unknown one; one commit alone where both sides are the same. */
void trend_commits(const struct trends *t, const struct trend *trend, const struct trend_step *step,
                   struct strbuf *out);
/* "still there", "still there, 60 % of it", or "went back at 9be01aa, 2026-11-21". */
void trend_state(const struct trends *t, const struct trend *trend, const struct trend_step *step,
                 struct strbuf *out);
/* "withdrawn at 9be01aa, 2026-11-21: a slope, a curve or wilder noise explains the points better".
 */
void trend_withdrawn_state(const struct trends *t, const struct trend *trend,
                           const struct trend_withdrawn *step, struct strbuf *out);
/* "compiler: gcc 12 -> gcc 13; ..." where the step's window holds such a change, else nothing. */
void trend_environment(const struct trends *t, const struct trend *trend,
                       const struct trend_step *step, struct strbuf *out);
/* "the same commit on both sides", "when it came is not sure", "how large it is now is not sure"
 * where the intervals are that wide, "annotated: ..." of the runs in the step's window; several are
 * joined by "; ". Nothing where there is nothing to say. */
void trend_doubts(const struct trends *t, const struct trend *trend, const struct trend_step *step,
                  struct strbuf *out);
/* "with a change of environment: ...", "accepted: ...", and the doubts. */
void trend_note(const struct trends *t, const struct trend *trend, const struct trend_step *step,
                struct strbuf *out);

#endif
