/* SPDX-License-Identifier: MIT */
/* How the rows of a comparison are called and what signs they carry, the same in every form. */
#ifndef HARNESS_REPORTERS_COMPARE_WORDS_H
#define HARNESS_REPORTERS_COMPARE_WORDS_H

#include "base/strbuf.h"
#include "chart/base/compare_labels.h"
#include "text/table.h"
#include "text/ticks.h"
#include "verdict/compare.h"

#include <stddef.h>

/* A sign and a tone for each verdict, so that the colour is never alone. */
struct verdict_look {
    const char *sign; /* "▲" */
    enum table_tone tone;
};

const struct verdict_look *verdict_look(enum verdict verdict);

/* The short label of each row, unique; with its metric and its machine where there are several.
 * Free with labels_free(labels, c->nr). */
char **compare_labels(const struct comparison *c);
/* What all labels leave out: "gemm/linear simd fp32 cpu-2t warm". */
void compare_common(const struct comparison *c, char *text, size_t size);

/* A value of the row's metric with its unit; "" where there is none. Returns `text`. */
char *compare_value(const struct compare_row *row, double value, char text[QUANTITY_TEXT_SIZE]);
/* "+3.2 %", "+818 %", or "". Returns `text`. */
char *compare_change(const struct compare_row *row, char text[QUANTITY_TEXT_SIZE]);
/* What a decided change is called: "3.2 % slower", "16.8 % faster", for the word says which way.
 * Of what is no speed "-12.0 % better", and of what is not decided "+3.2 % undecided". Returns
 * `text`. */
char *compare_change_words(double change, enum verdict verdict, const struct metric *metric,
                           char text[QUANTITY_TEXT_SIZE]);
/* "+1.0 to +3.2 %", or "". Returns `text`. */
char *compare_interval(const struct compare_row *row, char text[QUANTITY_TEXT_SIZE]);
/* "0.004", "≤0.001" or "". Returns `text`. */
char *compare_q(const struct compare_row *row, char text[QUANTITY_TEXT_SIZE]);
/* compare_row.detectable: "12.5 %", "nothing", or "" where it is unknown. Returns `text`. */
char *compare_detectable(double change, char text[QUANTITY_TEXT_SIZE]);
/* "5/5", or "12 blocks". Returns `text`. */
char *compare_launches(const struct compare_row *row, char text[QUANTITY_TEXT_SIZE]);

/* Appends the text with spaces at which no line is broken (U+00A0): a number stays with its unit.
 */
void compare_firm(struct strbuf *out, const char *text);

#endif
