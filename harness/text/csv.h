/* SPDX-License-Identifier: MIT */
/*
 * Comma-separated values of others, as RFC 4180 has them, row by row: quoted fields may hold
 * commas, doubled quotes and line ends.
 *
 *     struct csv csv;
 *     struct csv_row row = { 0 };
 *     csv_open(&csv, text, length, "times.csv");
 *     while ((rc = csv_next(&csv, &row, err)) > 0)
 *         use(csv_text(&row, 0));
 *     csv_row_release(&row);
 */
#ifndef HARNESS_TEXT_CSV_H
#define HARNESS_TEXT_CSV_H

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

/* `text` must live as long. A byte-order mark in front is passed over. */
void csv_open(struct csv *csv, const char *text, size_t length, const char *what);
/* Leaves out a line, whatever is in it. */
void csv_skip_line(struct csv *csv);
/* 1: a row, which replaces what `row` held; 0: no more; -1: an error with line and column. A row
 * starts as zeros and is released once. An empty line is a row of one empty field. */
int csv_next(struct csv *csv, struct csv_row *row, struct error *err);
/* "" where there is none. */
const char *csv_text(const struct csv_row *row, size_t field);
void csv_row_release(struct csv_row *row);

#endif
