/* SPDX-License-Identifier: MIT */
/*
 * Axis ticks and units. Steps are 1, 2, 2.5 or 5 times a power of ten (Heckbert, "Nice numbers
 * for graph labels", Graphics Gems, 1990, with 2.5 added); a logarithmic axis has the decades,
 * and 2 and 5 where there are few.
 *
 * Any doubles may be given as ranges. The number of ticks is bounded: at most 256 even steps, and
 * 633 decades with 9 digits each; a range that has no ticks which can be told apart (not finite, a
 * step below 2^-52 of its ends, a logarithmic one that is not above 0) gets none.
 */
#ifndef HARNESS_TEXT_TICKS_H
#define HARNESS_TEXT_TICKS_H

#include "base/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tick {
    double at;
    char *text; /* owned; "" for a minor tick */
    bool minor;
};

struct ticks {
    struct tick *items;
    size_t nr, capacity;
};

/* What numbers on an axis mean. */
enum quantity {
    QUANTITY_PLAIN, /* as it is */
    QUANTITY_TIME,  /* ns */
    QUANTITY_BYTES,
    QUANTITY_RATE,    /* something per second: k, M, G, T in front of its unit */
    QUANTITY_PERCENT, /* a fraction; shown with a sign as a change */
    QUANTITY_SHARE,   /* a fraction, shown without a sign */
};

const char *quantity_name(enum quantity quantity); /* "time" */

/* A number of a quantity divided by `factor` is in `name` ("ms", "GFLOP/s"). */
struct unit {
    char name[28];
    double factor;
};

/* The unit in which `largest` has one to three digits before the point. `base` is the unit's
 * name for rates ("FLOP/s", or " tokens/s" to keep the prefix apart) and plain numbers. */
struct unit unit_for(enum quantity quantity, const char *base, double largest);

enum { QUANTITY_TEXT_SIZE = 48 };
/* "12.3 ms", "4.56 GFLOP/s", "+3.2 %", "87.5 %", "12.34 k": base/text.h's formats with a real "µ".
 */
char *quantity_text(enum quantity quantity, const char *base, double value,
                    char text[QUANTITY_TEXT_SIZE]);

/* The same for who reads no unit beside it: a plain number has its own behind it, "12.5 W". */
char *quantity_unit_text(enum quantity quantity, const char *base, double value,
                         char text[QUANTITY_TEXT_SIZE]);

/* How many times: "1/54.1×", "0.81×", "1.25×", "61.7×", "351×". Less than a half is a fraction, as
 * on the axis of ratios. */
char *ratio_text(double ratio, char text[QUANTITY_TEXT_SIZE]);

/* The step that cuts [low, high] into at most `most` parts. */
double ticks_step(double low, double high, int most);
/* Linear ticks at multiples of the step within [low, high]; decimals follow the step. */
void ticks_linear(struct ticks *ticks, double low, double high, int most);
/* Ticks of a logarithmic axis, 0 < low < high; at most about `most` of them carry text. Each text
 * is quantity_text(), so that it has its own unit; for QUANTITY_PLAIN the bare number, from 1e5 on
 * with k or M. Where that gives fewer than two texts, even steps instead. */
void ticks_log(struct ticks *ticks, double low, double high, int most, enum quantity quantity,
               const char *base);
/* Ticks of a logarithmic axis of ratios, "0.5×" "1×" "2×": powers of two where it spans more than a
 * factor of 6, else round steps, finer below 1 where else there were none. */
void ticks_ratio(struct ticks *ticks, double low, double high, int most);
/* Ticks of an axis of days since `first_ms`, at most `most`: where a day begins, UTC, or a whole
 * part of one: "2026-11-21"; "11-21 13:00" of several days, "13:00" of one. Less than a minute has
 * none. */
void ticks_dates(struct ticks *ticks, int64_t first_ms, double low, double high, int most);
/* `nr` ticks at 0, 1, ... with copies of the names. */
void ticks_names(struct ticks *ticks, const char *const *names, size_t nr);
void ticks_add(struct ticks *ticks, double at, const char *text, bool minor);
void ticks_release(struct ticks *ticks);

/* Widens [low, high] to multiples of the tick step. */
void ticks_widen(double *low, double *high, int most);

#endif
