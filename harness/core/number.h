/* SPDX-License-Identifier: MIT */
/*
 * Numbers that a measured program says of itself: "GFLOPs: 812", "requests per second". This
 * program knows none of them. What one is called, its unit and which way is better are facts that
 * stand beside its values, in each measurement.
 *
 * Kinds are kept once in a process, for as long as it lives: two numbers are the same metric where
 * their kinds are the same pointer. So metrics/metric.c can give a row to each that was read, as
 * metrics are asked for by name long before or after the measurements. Any thread may ask.
 */
#ifndef HARNESS_CORE_NUMBER_H
#define HARNESS_CORE_NUMBER_H

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stddef.h>

enum better { BETTER_NONE, BETTER_LOWER, BETTER_HIGHER, BETTER_NR };

enum {
    NUMBER_NAME_SIZE = 32,
    NUMBER_UNIT_SIZE = 24,
    NUMBERS_MAX = 16,         /* of one measurement */
    NUMBER_VALUES_MAX = 4096, /* kept of each; see number_keep() */
    NUMBER_KINDS_MAX = 1000,  /* that one process may meet */
};

struct number_kind {
    char name[NUMBER_NAME_SIZE]; /* letters, digits and "_", not first a digit */
    char unit[NUMBER_UNIT_SIZE]; /* as it is shown; "" is fine */
    enum better better;
    /* What it is asked for by: its name; where an earlier kind has that name, "name (unit,
     * better)".
     */
    char id[NUMBER_NAME_SIZE + NUMBER_UNIT_SIZE + 16];
};

struct number {
    const struct number_kind *kind;
    double *values; /* one a run of the program, in the order measured; finite. Owned */
    size_t nr;
};

const char *better_name(enum better better); /* "none", "lower", "higher" */
int better_find(const char *name);           /* -1 if unknown */

/* -1 and what a name or unit must be. */
int number_check_name(const char *name, struct error *err);
int number_check_unit(const char *unit, struct error *err);

/* The kind, made if there is none yet. NULL where name or unit are none, or there are too many. */
const struct number_kind *number_kind_of(const char *name, const char *unit, enum better better,
                                         struct error *err);
const struct number_kind *number_kind_at(size_t i); /* in the order met; NULL past the end */

/* Makes room for the values of a measurement: of more than NUMBER_VALUES_MAX, as many quantiles
 * stay, in ascending order. */
void number_keep(struct number *number);
double number_median(const struct number *number); /* NaN without values */
void numbers_release(struct number *numbers, int nr);
void numbers_copy(struct number *to, const struct number *from, int nr);

/* {"tflops":{"unit":"TFLOP/s","better":"higher","values":[1.5,1.6]}}; NULL for none. */
cJSON *numbers_to_json(const struct number *numbers, int nr);
/* Of an object as above; `json` may be NULL. Fills at most NUMBERS_MAX and *nr; on error what is
 * there can be released. */
int numbers_from_json(const cJSON *json, struct number *numbers, int *nr, struct error *err);

#endif
