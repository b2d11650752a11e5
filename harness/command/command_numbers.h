/* SPDX-License-Identifier: MIT */
/*
 * The numbers that a program prints (core/number.h), and how they are found in what it prints:
 *
 *     tflops=/GFLOPs: (\S+)/          in a line, see command_pattern.h; of several the last counts
 *     rate=/(\S+) req\/s/mean         or the first, min, max, sum or mean of a run
 *     iops=$.jobs[0].read.iops        in the JSON that it prints, see json_path.h
 *     sort:rate=/rate: (\S+)/         only what is called "sort" prints it
 *
 * Lines end with a newline or a carriage return. Standard output is looked at first; only where
 * nothing matches there, standard error. What is kept meanwhile is one line of each, so a program
 * may print as much as it likes; only for a path the whole standard output is, up to
 * NUMBERS_JSON_MAX.
 */
#ifndef HARNESS_COMMAND_COMMAND_NUMBERS_H
#define HARNESS_COMMAND_COMMAND_NUMBERS_H

#include "base/array.h"
#include "core/number.h"

#include <stdbool.h>

/* Bytes: of a line, what is longer is taken as several; of JSON. */
enum { NUMBERS_LINE_MAX = 1 << 16, NUMBERS_JSON_MAX = 16 << 20 };
enum { NUMBER_OF_SIZE = 64 };

enum number_pick {
    NUMBER_LAST,
    NUMBER_FIRST,
    NUMBER_MIN,
    NUMBER_MAX,
    NUMBER_SUM,
    NUMBER_MEAN,
    NUMBER_PICK_NR
};

struct number_spec {
    char name[NUMBER_NAME_SIZE], unit[NUMBER_UNIT_SIZE];
    char of[NUMBER_OF_SIZE]; /* the one of several programs that prints it; "": each of them */
    enum better better;
    char *pattern;         /* between the slashes; NULL: `path` */
    char *path;            /* "$..."; both owned */
    enum number_pick pick; /* of several matches of a run */
};

struct number_specs {
    struct number_spec *items;
    size_t nr, capacity;
};

/* "[OF:]NAME=/PATTERN/[PICK]" or "[OF:]NAME=$PATH"; unit and direction are empty. -1 and what is
 * wrong with it. number_spec_release() whatever the result. */
int number_spec_parse(const char *text, struct number_spec *spec, struct error *err);
/* As it was typed; free() it. */
char *number_spec_text(const struct number_spec *spec);
void number_spec_release(struct number_spec *spec);
/* -1 where a program has one twice, or there are more than a measurement can hold. */
int number_specs_check(const struct number_specs *specs, struct error *err);
void number_specs_copy(struct number_specs *to, const struct number_specs *from);
void number_specs_release(struct number_specs *specs);
/* What the program of that name prints: what only it does, then the rest of what each does. All of
 * it is borrowed but the list: array_release() it. */
void number_specs_of(const struct number_specs *specs, const char *name, struct number_specs *out);
/* [{"metric": as it was typed, "unit", "better"}, ...] */
cJSON *number_specs_to_json(const struct number_specs *specs);

/* ---- while it runs ---- */

enum number_stream { NUMBER_OUTPUT, NUMBER_ERRORS, NUMBER_STREAM_NR };
struct number_hearing;

/* Specs that were parsed; borrowed. NULL and an error. */
struct number_hearing *number_hearing_create(const struct number_specs *specs, struct error *err);
void number_hearing_free(struct number_hearing *h); /* NULL is fine */
/* A run begins. */
void number_hearing_begin(struct number_hearing *h);
void number_hearing_add(struct number_hearing *h, enum number_stream stream, const char *bytes,
                        size_t nr);
/* It has ended: a value for each spec. -1 where one is not there, or no number. */
int number_hearing_end(struct number_hearing *h, double *values, struct error *err);

#endif
