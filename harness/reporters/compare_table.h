/* SPDX-License-Identifier: MIT */
/* A comparison as a table of verdicts. */
#ifndef HARNESS_REPORTERS_COMPARE_TABLE_H
#define HARNESS_REPORTERS_COMPARE_TABLE_H

#include "base/strbuf.h"
#include "text/table.h"
#include "verdict/compare.h"

#include <stdbool.h>
#include <stddef.h>

struct compare_table_options {
    size_t width;                      /* of the terminal; 0: any */
    bool colour;                       /* ANSI colours */
    bool all;                          /* rows that are `same` too; else they are only counted */
    const char *base_name, *head_name; /* for the head line; may be NULL */
};

/* Appends a Markdown table with a line a row, in the order of enum verdict: what needs attention
 * first. Without `all` those that are `same` are left out; nothing where none is left. */
void compare_table_rows(const struct comparison *c, bool all, struct strbuf *out);

/* Head line, rows (what needs attention first), notes, and the sentence about chance. */
void compare_table_text(const struct comparison *c, const struct compare_table_options *options,
                        struct strbuf *out);
void compare_table_markdown(const struct comparison *c, const struct compare_table_options *options,
                            struct strbuf *out);

#endif
