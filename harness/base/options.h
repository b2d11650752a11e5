/* SPDX-License-Identifier: MIT */
/*
 * Command-line options from a table. One row gives the parser, `harness help CMD`, the man page
 * and shell completion; a test compares them.
 *
 *     struct run_options { bool json; struct int_list batch; };
 *     static const struct option_row run_rows[] = {
 *         OPTION_ROW("json", 0, OPTION_FLAG, struct run_options, json, NULL, "print JSON"),
 *         OPTION_RANGE_ROW("batch", 'b', OPTION_INTS, struct run_options, batch, 1, 1 << 20,
 *                          "LIST", "batch sizes"),
 *         OPTION_END,
 *     };
 *
 * Accepted: --name VALUE, --name=VALUE, -l VALUE; "--" ends options. What is not an option is
 * moved to the front of argv and counted in *argc; where a row is of type OPTION_REST, it gets what
 * is behind the "--" instead.
 */
#ifndef HARNESS_BASE_OPTIONS_H
#define HARNESS_BASE_OPTIONS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_FLAG,   /* bool: set to true */
    OPTION_STRING, /* const char *: points into argv */
    OPTION_LINE, /* the same; a text that is kept and shown: one line, as clean_check() wants it */
    OPTION_STRINGS,  /* struct string_list: repeatable, each split at commas, no item empty */
    OPTION_TEXTS,    /* struct string_list: repeatable, each as it is */
    OPTION_INT,      /* int64_t within [low, high] */
    OPTION_INTS,     /* struct int_list within [low, high] */
    OPTION_DOUBLE,   /* double within [low, high] */
    OPTION_DURATION, /* double, in seconds, above 0 */
    OPTION_SIZE,     /* int64_t: bytes, "500M", at least `low` */
    OPTION_FRACTION, /* double above 0: "3%" or "0.03" */
    OPTION_REST,     /* struct option_rest: all behind "--"; its name is "" */
};

/* argv is NULL where there was no "--". */
struct option_rest {
    char **argv;
    int argc;
};

struct string_list {
    char **items; /* owned */
    size_t nr, capacity;
};

struct option_row {
    const char *name;
    char letter; /* 0 if there is none */
    enum option_type type;
    const char *argument; /* "LIST"; NULL for flags */
    const char *help;
    size_t offset; /* of the member in the target struct */
    int64_t low, high;
    const char *values; /* what it may be, for completion: "text,json"; NULL: as `argument` says */
};

#define OPTION_ROW(name_, letter_, type_, target_, member_, argument_, help_)                      \
    {                                                                                              \
        .name = (name_), .letter = (letter_), .type = (type_), .argument = (argument_),            \
        .help = (help_), .offset = offsetof(target_, member_), .low = INT64_MIN,                   \
        .high = INT64_MAX,                                                                         \
    }
#define OPTION_RANGE_ROW(name_, letter_, type_, target_, member_, low_, high_, argument_, help_)   \
    {                                                                                              \
        .name = (name_), .letter = (letter_), .type = (type_), .argument = (argument_),            \
        .help = (help_), .offset = offsetof(target_, member_), .low = (low_), .high = (high_),     \
    }
#define OPTION_END                                                                                 \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* Parses argv[0..*argc) into `target`. Unknown options name the nearest valid one. */
int options_parse(const struct option_row *rows, void *target, int *argc, char **argv,
                  struct error *err);
/* Whether `target` has a value of the option: given as 0, or not at all, is the same. */
bool options_has(const struct option_row *row, const void *target);
/* Frees the lists inside `target`. */
void options_release(const struct option_row *rows, void *target);
/* Appends one aligned line an option. */
void options_help(const struct option_row *rows, struct strbuf *out);

/* An option and whether it was given, for tables of those that do not go with another. */
struct option_given {
    const char *name; /* "--baseline" */
    bool given;
};

/* The name of the first of `nr` that was given; NULL: none was. */
const char *options_first_given(const struct option_given *options, size_t nr);

void string_list_add(struct string_list *list, const char *text);
void string_list_add_split(struct string_list *list, const char *text, char separator);
void string_list_release(struct string_list *list);
bool string_list_has(const struct string_list *list, const char *text);
void string_list_sort(struct string_list *list);
/* The same of a list that string_list_sort() has sorted: it is searched by halves. */
bool string_list_has_sorted(const struct string_list *sorted, const char *text);

#endif
