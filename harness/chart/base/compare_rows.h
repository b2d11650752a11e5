/* SPDX-License-Identifier: MIT */
/*
 * What figures of a comparison share: the rows that are shown, in which order, the marks of
 * verdicts, the words.
 *
 *     struct compare_rows rows;
 *     if (compare_rows_init(&rows, chart, f, limit, false)) {
 *         ... one mark for each of rows.items ...
 *         compare_rows_words(&rows, chart, f, "How to read it.");
 *     }
 *     compare_rows_release(&rows);
 */
#ifndef HARNESS_CHART_BASE_COMPARE_ROWS_H
#define HARNESS_CHART_BASE_COMPARE_ROWS_H

#include "base/strbuf.h"
#include "chart/base/chart_base.h"
#include "chart/base/compare_labels.h"

struct compare_rows {
    const struct comparison *comparison;
    const struct metric *metric;      /* the first of the comparison's; NULL: there is none */
    const struct compare_row **items; /* worst first; what has one side only is last. Owned array */
    size_t nr, all;                   /* shown, and before the limit */
    bool one_sided;                   /* what has no change is among them */
    struct compare_several several;   /* rows have one metric; of what machines, names say */
    char **labels;                    /* short, unique; one each; owned */
};

/* Rows of the first metric that the preset takes: those with a change, and with `one_sided` the
 * broken, new and missing ones too. Where there is no room, undecided ones and small changes go
 * first. The chart must have a comparison. False where the figure got a reason: there is none. */
bool compare_rows_init(struct compare_rows *rows, const struct chart *chart, struct figure *f,
                       size_t limit, bool one_sided);
void compare_rows_release(struct compare_rows *rows);
/* The row of this benchmark and metric on that machine class, or NULL. */
const struct compare_row *compare_rows_find(const struct comparison *c, const char *key,
                                            const char *machine, const char *metric);

/* How often each verdict was given, on the metric and the benchmarks that the figure is about,
 * drawn or not. Returns how many of them were accepted. */
size_t compare_rows_count(const struct compare_rows *rows, const struct chart *chart,
                          size_t count[VERDICT_NR]);

/* Says what the rows of a panel stand for. */
void compare_rows_are_about(const struct compare_rows *rows, struct panel *p);
/* A panel with a row each; see figure_rows(). */
struct panel *compare_rows_panel(const struct compare_rows *rows, struct figure *f);
/* The subtitle: "2 slower, 40 the same  ·  base main  ·  head 3f2a91c  ·  CPU"; the caption: how to
 * read it, how many are not shown, what has no change; the conclusion in the title; a banner where
 * all moved together. */
void compare_rows_words(const struct compare_rows *rows, const struct chart *chart,
                        struct figure *f, const char *how, ...)
    __attribute__((format(printf, 4, 5)));

/* Points by verdict: a triangle up is worse, one down better, a grey circle anything else. The word
 * must stand beside them. */
struct verdict_points {
    struct layer *worse, *better, *open;
};
void verdict_points_init(struct verdict_points *points, struct panel *p);
struct layer *verdict_points_of(const struct verdict_points *points, enum verdict verdict);
enum ink verdict_ink(enum verdict verdict);

#endif
