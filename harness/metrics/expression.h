/* SPDX-License-Identifier: MIT */
/*
 * Small arithmetic over names, so that a preset or the page can ask for a number that no metric
 * has: "p99 / p50", "tokens / package_watts", "log2(batch * seq)", "max(p95, p90) - p50".
 *
 *     sum     = product { ("+" | "-") product }
 *     product = factor { ("*" | "/") factor }
 *     factor  = ["-" | "+"] ( number | name | "(" sum ")" | function "(" sum { "," sum } ")" )
 *     function: min and max of two or more, log2, sqrt of one
 *
 * Names are letters, digits and "_", and do not start with a digit. "min" and "max" are functions
 * where a "(" follows and else names like any other, so that "max - min" is what it says. There are
 * no constants, no assignments and no loops: a text from a stranger costs at most what
 * EXPRESSION_LENGTH_MAX and EXPRESSION_DEPTH_MAX allow.
 */
#ifndef HARNESS_METRICS_EXPRESSION_H
#define HARNESS_METRICS_EXPRESSION_H

#include "base/error.h"

#include <stdbool.h>

enum { EXPRESSION_LENGTH_MAX = 256, EXPRESSION_DEPTH_MAX = 24, EXPRESSION_NAME_SIZE = 48 };

struct expression;

/* NULL and an error that names the column for what is no expression, is too long or too deep, or
 * has a name that `known` refuses ('column 7: unknown name "p98"'; a caller who knows a nearer name
 * can say so in its place). `known` NULL takes every name. */
struct expression *expression_parse(const char *text, bool (*known)(void *ctx, const char *name),
                                    void *ctx, struct error *err);
void expression_free(struct expression *e); /* NULL is fine */

/* NaN where a name that counts has no value (`get` gives NaN), on a division by zero, a log2 or
 * sqrt out of its domain, and where the result is beyond a double. */
double expression_value(const struct expression *e, double (*get)(void *ctx, const char *name),
                        void *ctx);

/* Is the text one name and nothing else but blanks? */
bool expression_is_plain(const char *text);

#endif
