/* SPDX-License-Identifier: MIT */
/*
 * The overview: what a reader asks first, in the order in which he asks it.
 *
 *     verdict   did it get slower? One sentence; `counts` has the numbers behind it
 *     scores    how good is it? A row for each operation and model
 *     change    the change that matters most: since when, and by which commit
 *     health    can one trust the machine that said so?
 *
 *     overview_make(&input, &overview);
 *     ... draw ...
 *     overview_release(&overview);
 *
 * Everything is told here, in words and numbers; who draws it decides nothing. Works with one run
 * (nothing is compared then), with two, and with a history of any length.
 */
#ifndef HARNESS_OVERVIEW_OVERVIEW_H
#define HARNESS_OVERVIEW_OVERVIEW_H

#include "chart/base/chart_base.h"
#include "trend/trend.h"
#include "verdict/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How what is told is to be taken: `open` is not decided, or has to be minded. */
enum overview_tone { OVERVIEW_PLAIN, OVERVIEW_GOOD, OVERVIEW_OPEN, OVERVIEW_BAD, OVERVIEW_TONES };

/* "plain", "good", "open", "bad"; and the sign that goes with it: "●", "▼", "?", "▲". */
const char *overview_tone_name(enum overview_tone tone);
const char *overview_sign(enum overview_tone tone);

struct overview_input {
    const struct records *records; /* roofs are those of the head's machine */
    int run;                       /* the head, an index into records->runs; -1: there is none */
    const struct records *head;    /* all runs of the head, of which `run` is the newest; NULL: it
                                    * is the only one */
    const struct comparison *comparison; /* NULL: nothing is compared */
    const struct run *base;              /* newest run of its base; NULL: not known */
    const char *base_label;              /* what the base is called: "main"; may be NULL */
    const struct trends *trends;         /* of the median latency over the history; may be NULL */
    const struct plot_model *models;
    size_t nr_models;
};

/* An operation or model: all its sizes of one math, device and cache state (warm where there are
 * both). Of each size the fastest variant of our own counts. Ratios are geometric means over the
 * sizes that have both sides; NaN: none has. */
struct overview_score {
    char *name;                     /* "gemm/linear", "gpt/nano/prefill"; with what tells it from
                                     * another of that name: "bf16"; owned */
    const char *kernel;             /* borrowed */
    const struct plot_model *model; /* of a forward pass; NULL: an operation */
    char best[NAME_SIZE];           /* the variant, "" where it is not one for all sizes */
    size_t sizes;
    double weight_ns;                 /* one launch of each size, together */
    double median_ns;                 /* of the only size; NaN where there are several */
    double roof, roof_low, roof_high; /* share of the measured roof: mean, least, most */
    double vendor;                    /* times as fast as the vendor's library */
    char vendor_name[NAME_SIZE];
    size_t vendor_sizes;
    double past;     /* time now, by that in the oldest run of the last 31 days; > 1 is slower */
    int64_t past_ms; /* when that was */
    size_t past_sizes;
    bool past_worse, past_better; /* something of it is known to have got slower, faster: by the
                                   * comparison of times or rates, a step or a drift that nobody
                                   * accepted */
};

enum { OVERVIEW_DAYS = 31, OVERVIEW_SCORES = 6 };

struct overview_point {
    const struct run *run; /* NULL: a launch of one side of the comparison */
    double value;          /* in base units */
    bool head;             /* of the head: at the end */
    bool after;            /* at or after the step, or of the head */
};

enum overview_source { OVERVIEW_COMPARED, OVERVIEW_STEP, OVERVIEW_DRIFT };

/* The change that matters most: the worst that stands, else the largest gain. */
struct overview_change {
    bool found;
    enum overview_source source;
    const struct benchmark_name *bench; /* borrowed */
    char *label;                        /* short; owned */
    const struct metric *metric;
    double before, after;     /* in base units */
    double change;            /* after / before - 1 */
    struct interval interval; /* of it, NaN limits where there is none */
    bool worse;
    char *title;  /* "gemm/linear simd 4x64: 13 % slower"; owned */
    char *values; /* "40.3 ms → 45.6 ms, +11 to +15 %"; owned */
    char *since;  /* "since 2026-10-12, commits 3f2a91c..9be01aa"; owned */
    char *note;   /* what else speaks of it: environment, annotations; "" if nothing; owned */
    const struct run *from, *to;   /* the change lies after the first, the second has it; NULL: not
                                    * known */
    struct overview_point *points; /* oldest first; owned */
    size_t nr_points;
    size_t step;   /* the first point of the new level; 0: there is none */
    bool launches; /* points are launches of base and head: there is no history */
};

struct overview_fact {
    const char *name; /* "noise"; static */
    char *text;       /* "1.2 % from launch to launch"; owned */
    enum overview_tone tone;
};

struct overview {
    enum overview_tone tone;
    char *verdict; /* one sentence; owned */
    char *counts;  /* "3 slower, 57 the same of 60; ..."; "" where there is none; owned */
    size_t slower; /* benchmarks that stand slower over the history */
    char *past;    /* what the history adds, a sentence; "" where there is none; owned */
    struct overview_score *scores; /* operations, then models by size; owned */
    size_t nr_scores, scores_capacity;
    size_t scores_left_out; /* those that take least time, beyond OVERVIEW_SCORES of each kind */
    struct overview_change change;
    struct overview_fact *facts; /* of the machine; owned */
    size_t nr_facts, facts_capacity;
    enum overview_tone health; /* the worst of them */
};

void overview_make(const struct overview_input *input, struct overview *out);
void overview_release(struct overview *overview);

/* Cells of the scorecard, "–" where there is nothing to say: "84 %", "1.12×" (the library alone:
 * "openblas"), "3.1 % slower". Return `text`. */
char *overview_roof_text(const struct overview_score *score, char text[QUANTITY_TEXT_SIZE]);
char *overview_vendor_text(const struct overview_score *score, char text[QUANTITY_TEXT_SIZE]);
char *overview_past_text(const struct overview_score *score, char text[QUANTITY_TEXT_SIZE]);
/* Plain where nothing decided went that way. */
enum overview_tone overview_past_tone(const struct overview_score *score);
/* "simd, 12 sizes", "simd, 3.21 ms". */
char *overview_size_text(const struct overview_score *score, char *text, size_t size);
/* The library that all scores are held against; "" where there is none, or more than one. */
const char *overview_vendor(const struct overview *overview);
/* The oldest day that the scores are held against, ms; 0: none is. */
int64_t overview_past_ms(const struct overview *overview);

#endif
