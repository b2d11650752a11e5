/* SPDX-License-Identifier: MIT */
/*
 * Commands that were measured in turn, each compared with the first: a sentence for each, a table
 * and JSON. What is shown is made by session/compare_commands.h.
 */
#ifndef HARNESS_REPORTERS_COMMANDS_REPORT_H
#define HARNESS_REPORTERS_COMMANDS_REPORT_H

#include "base/options.h"
#include "base/strbuf.h"
#include "verdict/compare.h"

struct command_shown {
    char *name;              /* for people: what it was called, or its words. Owned */
    struct string_list argv; /* as it was given, without what looks like a secret */
};

/* One command with one setting of the parameters. NaN: not known. */
struct command_result {
    size_t command;     /* index */
    char *setting;      /* "threads=2,compiler=gcc", "" where there is none. Owned */
    char key[KEY_SIZE]; /* of its benchmark */
    int64_t run;        /* of the history */
    enum outcome outcome;
    char *message;                 /* why it is not OK; NULL if it is. Owned */
    size_t runs;                   /* that count */
    double median, mean, min, max; /* ns */
    double user_ms, system_ms;     /* mean of a run */
    double rss;                    /* bytes, the most of all runs */
    const struct compare_row *row; /* against the first command; borrowed. NULL: it is the first */
};

struct commands_report {
    struct command_shown *commands;
    size_t nr_commands;
    struct command_result *results; /* setting by setting, in each the commands in their order */
    size_t nr, capacity;
    const char *metric, *shell; /* what is compared; NULL: no shell */
    double delta, q, seconds;   /* s: of measuring */
    const char *end;            /* what ended it: "decided", "budget", "blocks", "interrupted" */
    int exit_status;
};

void commands_report_release(struct commands_report *r);

/* "B is 1.24x slower than A (1.20 to 1.28)", without a full stop; of a result with a row. */
void commands_report_sentence(const struct commands_report *r, const struct command_result *result,
                              struct strbuf *out);
/* The table, then a sentence a comparison, the last with what it cost. */
void commands_report_text(const struct commands_report *r, size_t width, bool colour,
                          struct strbuf *out);
void commands_report_markdown(const struct commands_report *r, struct strbuf *out);

struct cJSON;
/* docs/formats/comparison.md has the form. */
struct cJSON *commands_report_json(const struct commands_report *r);

#endif
