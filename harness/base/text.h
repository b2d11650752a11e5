/* SPDX-License-Identifier: MIT */
/*
 * Reading what people type and writing what they read: lists of numbers, durations, units,
 * dates, nearest names, glob filters.
 */
#ifndef HARNESS_BASE_TEXT_H
#define HARNESS_BASE_TEXT_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct int_list {
    int64_t *items;
    size_t nr, capacity;
};

/* "1,2,4" or "32:512:*2" or "64:256:+64", mixed by commas. Every value must lie in [low, high];
 * at most 10,000 values. `what` stands in messages ("--batch"). Appends to `list`. */
int text_parse_ints(const char *text, int64_t low, int64_t high, const char *what,
                    struct int_list *list, struct error *err);
int text_parse_int(const char *text, int64_t low, int64_t high, const char *what, int64_t *value,
                   struct error *err);
int text_parse_double(const char *text, double low, double high, const char *what, double *value,
                      struct error *err);
/* "250ms", "90s", "2m", "1h", "30d", "90" (seconds); the result is in seconds. */
int text_parse_duration(const char *text, const char *what, double *seconds, struct error *err);
/* "1500000", "500M", "2G", "1.5GiB": K, M, G and T, with or without "iB", are powers of 1024, with
 * "B" (KB, MB, ...) powers of 1000. At least `low` bytes, and below 2^62. */
int text_parse_size(const char *text, int64_t low, const char *what, int64_t *bytes,
                    struct error *err);
/* "3%" or "0.03"; the result is a fraction in [0, 10). A bare number of 1 or more is refused: it
 * may be meant as a percentage. */
int text_parse_fraction(const char *text, const char *what, double *fraction, struct error *err);

/* "2026-01-31", "2026-01-31 12:30", "2026-01-31T12:30:05.25+02:00", "...Z" (ISO 8601) as ms since
 * the epoch. Without an offset it is UTC. The whole text must be a date. */
int text_parse_date(const char *text, const char *what, int64_t *ms, struct error *err);

/* The name of a NULL-ended list nearest to `word` by edit distance; NULL if none is near. */
const char *text_nearest(const char *word, const char *const *names);

/* Whether a word is one of "list, verdicts". */
bool text_lists(const char *list, const char *word);

/* Lower case; runs of anything but letters and digits become one '-'. Cut to `size`. */
void text_slug(const char *text, char *out, size_t size);

/* A filter matches a '/'-separated key if it globs the whole key, or a leading run of its parts:
 * "gemm", "gemm/l?near", "gpt/tile-large", "[!n]*" and so on; an asterisk also crosses slashes. */
bool text_filter_matches(const char *filter, const char *key);

/* Whether a list of filters takes a key: any of them, the whole list being empty. One with '!' in
 * front leaves out what it matches; the last that matches decides. Where all are of that kind, what
 * none of them matches is taken. */
bool text_filters_take(const char *const *filters, size_t nr, const char *key);

/* The same where `fits` says what a filter matches, without its '!'. */
bool text_filters_take_by(const char *const *filters, size_t nr, const char *key,
                          bool (*fits)(const char *filter, const char *key));

/* Four significant digits and the fitting unit, "n/a" where the number is not finite; the returned
 * string is `buffer`. */
enum { TEXT_UNIT_SIZE = 32 };
char *text_time(double ns, char buffer[TEXT_UNIT_SIZE]);     /* "12.30 us" */
char *text_bytes(double bytes, char buffer[TEXT_UNIT_SIZE]); /* "1.500 GiB" */
char *text_rate(double per_second, const char *unit,
                char buffer[TEXT_UNIT_SIZE]); /* "3.1 GFLOP/s" */
/* Percent of a fraction. A tenth says something below 100 % alone: "3.2 %", "134 %"; and what
 * rounds to nothing is not negative. A change has its sign: "+3.2 %", "-12.0 %", "+1334 %"; from a
 * hundredfold on it says how many times: "1,897x". */
char *text_share(double fraction, char buffer[TEXT_UNIT_SIZE]);
char *text_percent(double fraction, char buffer[TEXT_UNIT_SIZE]);
/* A change where a word says which way: "3.2 %", "12.0 %", "1,897x". */
char *text_percent_size(double fraction, char buffer[TEXT_UNIT_SIZE]);
char *text_percent_range(double low, double high,
                         char buffer[TEXT_UNIT_SIZE]); /* "-1.0 to +3.2 %", "85.0x to 120x" */
/* At most so many digits that count, and never an exponent for what is large: "0.052", "4.8",
 * "480", "75000"; the same of a fraction in percent: "480 %". For what is known no better than
 * that. */
char *text_figures(double value, int figures, char buffer[TEXT_UNIT_SIZE]);
char *text_about(double fraction, int figures, char buffer[TEXT_UNIT_SIZE]);
/* Seconds since the epoch in ms as "2026-11-21 09:54:00Z". */
char *text_timestamp(int64_t ms, char buffer[TEXT_UNIT_SIZE]);

#endif
