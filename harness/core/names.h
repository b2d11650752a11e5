/* SPDX-License-Identifier: MIT */
/*
 * What facts from elsewhere may be: histories of strangers, merged and imported ones. One rule for
 * each kind, asked where something is saved, merged, imported and read.
 */
#ifndef HARNESS_CORE_NAMES_H
#define HARNESS_CORE_NAMES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whole numbers that stand on axes or are counted: a double tells all of them apart. */
#define FACT_COUNT_MAX (INT64_C(1) << 53)
/* What amounts of work, seconds, rates, roofs and numbers beside a measurement may be, wherever
 * they come from: finite, and no more than the largest machines do in years. Beyond, a sum or a
 * ratio of them says nothing. Each door knows them by this: a record that is read is refused, an
 * importer leaves the number out with a note, a plugin's work counts as not known, telemetry as
 * absent, and so does what a history holds. */
#define FACT_AMOUNT_MAX 1e24
/* Dates, in ms since 1970: 1900-01-01 to 9999-12-31. Clocks are set wrong, but not that wrong. */
#define FACT_DATE_MIN INT64_C(-2208988800000)
#define FACT_DATE_MAX INT64_C(253402300799999)

bool fact_is_count(int64_t value); /* 0 ... FACT_COUNT_MAX */
bool fact_is_date(int64_t ms);     /* 0 (none), too */
bool fact_is_amount(double value); /* NaN (not known), or from 0 to FACT_AMOUNT_MAX */
bool fact_is_finite(double value); /* as an amount, of either sign; NaN is not */

/* One line that can be shown (base/clean.h): UTF-8 without control characters, line separators,
 * marks that turn the direction of what follows, and code points that nobody sees. Keys, kernels,
 * variants, devices, dims, metrics and machines are; "" is. */
bool name_is_line(const char *text);
/* Puts '?' in the place of what keeps a text from being a line; true if there was anything. */
bool name_mend(char *text);

/* Which of `nr` names it is, such as those of an enum's values; -1: none of them. */
int name_find(const char *const *names, size_t nr, const char *name);
/* Does that text end it, with something before it? A file that is called ".json" has no ending. */
bool name_has_ending(const char *name, const char *ending);

/* Does a filter (text_filter_matches()), with a '!' in front or without, match any of `nr` keys?
 * One that matches none was most likely meant otherwise. */
bool name_filter_fits_any(const char *filter, const char *(*key)(const void *of, size_t i),
                          const void *of, size_t nr);

/* The name of a baseline: 1 to `size` - 1 letters, digits and ._/+-, not first '-', and nothing
 * that means something else as a REF ("latest", bare numbers). */
int name_check_baseline(const char *name, size_t size, struct error *err);
/* The same for one that is a file, NAME.json below a folder: it stays below it, so that no part
 * between two '/' is empty, "." or "..", and it does not end in .json itself. */
int name_check_baseline_file(const char *name, size_t size, struct error *err);

#endif
