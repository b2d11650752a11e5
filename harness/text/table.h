/* SPDX-License-Identifier: MIT */
/*
 * Plain tables: columns two spaces apart, a title line, no boxes, so that they survive pipes, mails
 * and logs. Cells are cleaned of control characters on their way out.
 *
 * A terminal that is too narrow gets no line that is wider than it: columns are left out by their
 * rank, names lose their middle, sentences go on in the next line. Into files and pipes a table
 * goes whole.
 *
 *     struct table t;
 *     table_init(&t, columns, nr);
 *     table_row(&t);
 *     table_cell(&t, TABLE_PLAIN, "%s", label);
 *     table_cell(&t, TABLE_BAD, "WRONG");
 *     table_text(&t, width, colour, &out);
 *     table_release(&t);
 */
#ifndef HARNESS_TEXT_TABLE_H
#define HARNESS_TEXT_TABLE_H

#include "base/strbuf.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>

enum table_align { TABLE_LEFT, TABLE_RIGHT };

/* What a column does where the table is too wide. */
enum table_fit {
    TABLE_FIRM, /* keeps its width: numbers */
    TABLE_NAME, /* short forms, no two alike (text/shorten.h); the first such column always stays */
    TABLE_PROSE, /* goes on in the next line */
};

struct table_column {
    const char *title;
    enum table_align align;
    enum table_fit fit;
    int rank; /* the highest is left out first; of equal ones the rightmost */
};

enum { TABLE_COLUMNS_MAX = 32 };

/* What a cell means; a colour only where colours are wanted, so never the only sign. */
enum table_tone { TABLE_PLAIN, TABLE_GOOD, TABLE_BAD, TABLE_DIM };

struct table_cell {
    char *text; /* owned, never NULL from table_at() */
    enum table_tone tone;
};

struct table {
    const struct table_column *columns; /* borrowed */
    size_t nr_columns;
    struct table_cell *cells; /* row by row */
    size_t nr, capacity;
    size_t indent; /* of the rows, below the first column's title; 0 from table_init() */
};

void table_init(struct table *t, const struct table_column *columns, size_t nr);
void table_release(struct table *t);
size_t table_rows(const struct table *t);
/* Starts a row; cells that are not given stay empty. */
void table_row(struct table *t);
void table_cell(struct table *t, enum table_tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void table_empty(struct table *t); /* a cell without text */
/* A cell "+1.0 to +3.2 %" for an interval of fractions; empty where a limit is not finite. */
void table_interval(struct table *t, const struct interval *interval);

/* Never NULL; an empty cell where none was given. */
const struct table_cell *table_at(const struct table *t, size_t row, size_t column);
/* What each column needs in characters, with its title; 0 where it is empty in every row. */
void table_widths(const struct table *t, size_t widths[TABLE_COLUMNS_MAX]);

/* Columns that are empty in every row are left out. `width` is that of the terminal in characters;
 * 0 means any. Titles of columns that it has no room for are listed below. `colour` asks for ANSI
 * colours. */
void table_text(const struct table *t, size_t width, bool colour, struct strbuf *out);
/* A Markdown (GFM) table; every cell is escaped. */
void table_markdown(const struct table *t, struct strbuf *out);

#endif
