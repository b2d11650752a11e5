/* SPDX-License-Identifier: MIT */
/*
 * A thin layer over cJSON: files in and out, and reads that fail with a message which names the
 * key. The tree belongs to whoever parsed or created it (cJSON_Delete).
 */
#ifndef HARNESS_BASE_JSON_H
#define HARNESS_BASE_JSON_H

#include "base/error.h"
#include "base/strbuf.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From here on trees take their memory as base/memory.h does: they are whole, or the process ends.
 * Before the first tree. */
void json_begin(void);

/* Values in one text at most: a tree takes 64 bytes and more for each, however short it is written.
 * It is what all samples of some thousand benchmarks come to. */
#define JSON_VALUES_MOST ((size_t)2 << 20)

/* Bytes of the value that the text begins with, as far as brackets and quotes tell: all of them
 * where it does not end. And how many values it has, about; before a tree is made of it. */
size_t json_extent(const char *text, size_t length, size_t *values);

/* A copy of the text, with a NUL behind, in which numbers that JSON does not have (NaN, -Infinity,
 * inf, as Python and C++ write them) are "": no number to whoever asks for one. Blanks fill their
 * places, so lines and columns stay. free() it. */
char *json_without_no_numbers(const char *text, size_t length);

/* Parses a whole text of at most JSON_VALUES_MOST values and 1,000 levels (cJSON's); an error names
 * line and column. `what` stands in messages (a file name). */
cJSON *json_parse(const char *text, size_t length, const char *what, struct error *err);
/* Of at most `most` bytes, see file_read(). */
cJSON *json_parse_file(const char *path, size_t most, struct error *err);
/* Appends the tree as text, valid UTF-8 whatever the strings hold (a "?" for each byte that is
 * none, so that no string outgrows its reader); what cleaning would change (base/clean.h) is
 * written as an escape: it is kept, and does nothing to a terminal. */
int json_text(const cJSON *json, bool pretty, struct strbuf *out, struct error *err);
/* Writes the tree to a file in one step (temporary file, fsync, rename). */
int json_write_file(const cJSON *json, const char *path, bool pretty, struct error *err);

/* The same on one line, "" beyond 2 GiB; takes the tree. free() the text. */
char *json_take_text(cJSON *json);
/* The same, so that it can stand in a <script> and anywhere else: no "<" (it is \u003c), no U+2028
 * or U+2029; "null" in place of "". Appends. */
void json_take_script(cJSON *json, struct strbuf *out);

/* Required members: -1 and a message if absent or of another type. */
int json_get_string(const cJSON *object, const char *key, const char **value, struct error *err);
int json_get_number(const cJSON *object, const char *key, double *value, struct error *err);
int json_get_int(const cJSON *object, const char *key, int64_t *value, struct error *err);

/* Optional members: the default if absent or of another type. */
const char *json_string(const cJSON *object, const char *key, const char *otherwise);
double json_number(const cJSON *object, const char *key, double otherwise);
int64_t json_int(const cJSON *object, const char *key, int64_t otherwise);
bool json_bool(const cJSON *object, const char *key, bool otherwise);
/* How many of something: 0 where absent, below 0, or beyond INT_MAX. */
int json_count(const cJSON *object, const char *key);

/* The shortest of 15 to 17 digits that reads back as the same double, "null" where it is not
 * finite; the returned string is `text`. */
enum { JSON_NUMBER_SIZE = 32 };
char *json_number_text(double value, char text[JSON_NUMBER_SIZE]);
/* Adds a number exactly, or null where it is not finite (JSON has no NaN). Like json_add_int(), it
 * adds text: print and parse the tree before reading such a member back. */
void json_add_number(cJSON *object, const char *key, double value);
/* Adds a string, or nothing where it is NULL or empty. */
void json_add_string(cJSON *object, const char *key, const char *value);
/* Adds an array of that many strings, whatever they are: [] where there is none. */
void json_add_strings(cJSON *object, const char *key, char *const *values, size_t nr);
/* Integers beyond 2^53 lose digits in JSON numbers; those that may go beyond use this. */
void json_add_int(cJSON *object, const char *key, int64_t value);

/* Refuses members of `object` that are not in the NULL-ended list, naming the nearest valid one,
 * and whatever is no object at all. */
int json_only_keys(const cJSON *object, const char *const *keys, const char *what,
                   struct error *err);

#endif
