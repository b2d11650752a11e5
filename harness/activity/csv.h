/* SPDX-License-Identifier: MIT */
/* Inside activity/: comma-separated values as RFC 4180 has them, row by row. Quoted fields may hold
 * commas, doubled quotes and line ends. */
#ifndef HARNESS_ACTIVITY_CSV_H
#define HARNESS_ACTIVITY_CSV_H

#include "base/error.h"

#include <stddef.h>

struct csv_field {
    size_t at;       /* of its text, in the row's text */
    unsigned column; /* in the file's line, from 1 */
};

struct csv_row {
    struct csv_field *items;
    size_t nr, capacity;
    char *text; /* the fields one behind the other, each NUL-terminated */
    size_t length, text_capacity;
    unsigned line; /* where it starts, from 1 */
};

struct csv {
    const char *text, *end;
    const char *what; /* in messages */
    unsigned line;    /* of the next row */
};

/* `text` must live as long. */
void csv_open(struct csv *csv, const char *text, size_t length, const char *what);
/* 1: a row, which replaces what `row` held; 0: no more; -1: an error with line and column. A row
 * starts as zeros and is released once. */
int csv_next(struct csv *csv, struct csv_row *row, struct error *err);
/* Leaves out a line, whatever is in it. */
void csv_skip_line(struct csv *csv);
const char *csv_text(const struct csv_row *row, size_t field); /* "" where there is none */
void csv_row_release(struct csv_row *row);

#endif
