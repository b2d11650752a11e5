/* SPDX-License-Identifier: MIT */
/* What the files of the comment share; comment.h is for everyone else. */
#ifndef HARNESS_REPORTERS_COMMENT_COMMENT_PARTS_H
#define HARNESS_REPORTERS_COMMENT_COMMENT_PARTS_H

#include "reporters/comment/comment.h"

#include <stdbool.h>
#include <stdint.h>

enum comment_rows { ROWS_NONE, ROWS_NOT_SAME, ROWS_ALL };

/* How much is said: a step of the shortening. */
struct comment_level {
    bool charts, environment;
    enum comment_rows rows;
    size_t changes, broken; /* most rows in the table, and in each list */
};

struct comment {
    const struct comparison *c;
    const struct comment_options *o;
    const struct comment_level *level;
    char **labels;                      /* one a row of the comparison */
    const struct compare_row **changes; /* see comment_changes() */
    size_t nr_changes;
    struct strbuf *out;
};

const char *comment_label(const struct comment *k, const struct compare_row *row);
/* "### ▲ ...", the worst, counts, doubts, sides. */
void comment_verdict(const struct comment *k);
/* Is there such a picture, and a place where it is seen? `picture` may be NULL. */
bool comment_is_shown(const struct comment *k, const struct comment_picture *picture);
/* An address, so that nothing in it ends the link or the table. */
void comment_address(const struct comment *k, const char *address);
/* "[words](address)"; the words are plain. */
void comment_link(const struct comment *k, const char *words, const char *address);
/* The newest run of a side, or NULL. */
const struct run *comment_newest(const struct records *records);
/* Lists of what has no time to compare. */
void comment_broken(const struct comment *k);
/* The table of what got slower or faster. */
void comment_table(const struct comment *k);
/* The history of the worst change. */
void comment_trend(const struct comment *k);
void comment_all_rows(const struct comment *k);
/* <details> with a summary in plain words of our own, and its end. */
void comment_open(const struct comment *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void comment_close(const struct comment *k);

#endif
