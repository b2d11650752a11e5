/* SPDX-License-Identifier: MIT */
/*
 * What figures of a comparison share: the rows that are shown, in which order, the marks of
 * verdicts, the words.
 *
 *     struct compare_rows rows;
 *     compare_rows_init(&rows, chart, limit, false);
 *     ... one mark for each of rows.items ...
 *     compare_rows_release(&rows);
 */
#ifndef HARNESS_OUTPUT_COMPARE_ROWS_H
#define HARNESS_OUTPUT_COMPARE_ROWS_H

#include "base/strbuf.h"
#include "output/chart.h"

struct compare_rows {
    const struct comparison *comparison;
    const struct metric *metric;      /* the first of the comparison's; NULL: there is none */
    const struct compare_row **items; /* worst first; what has one side only is last. Owned array */
    size_t nr, all;                   /* shown, and before the limit */
    char **labels;                    /* short, unique; one each; owned */
};

/* Rows of the first metric that the preset takes: those with a change, and with `one_sided` the
 * broken, new and missing ones too. Where there is no room, undecided ones and small changes go
 * first. The chart must have a comparison. */
void compare_rows_init(struct compare_rows *rows, const struct chart *chart, size_t limit,
                       bool one_sided);
void compare_rows_release(struct compare_rows *rows);
/* The row of this benchmark and metric, or NULL. */
const struct compare_row *compare_rows_find(const struct comparison *c, const char *key,
                                            const char *metric);

/* Is there something to draw? Gives the figure its reason if not. */
bool compare_rows_any(const struct compare_rows *rows, struct figure *f);

/* Names of the rows as the panel's y axis, and its height. */
void compare_rows_axis(const struct compare_rows *rows, struct panel *p);
/* "2 regressed, 40 same  ·  base main  ·  head 3f2a91c  ·  CPU". */
void compare_rows_subtitle(const struct compare_rows *rows, struct figure *f,
                           const struct chart *chart);
/* Appends how many are not shown and, unless `one_sided`, what has no change. */
void compare_rows_caption(const struct compare_rows *rows, bool one_sided, struct strbuf *out);
/* A banner where all moved together. */
void compare_rows_banner(const struct compare_rows *rows, struct figure *f);

/* Points by verdict: a triangle up is worse, one down better, a grey circle anything else. The word
 * must stand beside them. */
struct verdict_points {
    struct layer *worse, *better, *open;
};
void verdict_points_init(struct verdict_points *points, struct panel *p);
struct layer *verdict_points_of(const struct verdict_points *points, enum verdict verdict);
enum ink verdict_ink(enum verdict verdict);

#endif
