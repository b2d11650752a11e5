/* SPDX-License-Identifier: MIT */
/*
 * Commands that were measured in turn, each compared with the first: a sentence for each, a table
 * and JSON. What is shown is made by session/compare/compare_commands.h.
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
    double numbers[NUMBERS_MAX];   /* of each of the report's: the median of the runs */
    /* Against the first command, one a metric; borrowed. NULL: it is the first, or neither has that
     * metric. */
    const struct compare_row *rows[COMPARE_METRICS_MAX];
};

struct commands_report {
    struct command_shown *commands;
    size_t nr_commands;
    struct command_result *results; /* setting by setting, in each the commands in their order */
    size_t nr, capacity;
    const struct metric *metrics[COMPARE_METRICS_MAX]; /* that are compared */
    size_t nr_metrics;
    const struct number_kind *numbers[NUMBERS_MAX]; /* that they print */
    size_t nr_numbers;
    const char *shell;        /* NULL: none */
    double delta, q, seconds; /* s: of measuring */
    const char *end;          /* what ended it: "decided", "budget", "blocks", "interrupted" */
    int exit_status;
};

void commands_report_release(struct commands_report *r);

/* "B is 1.24x slower than A (1.20 to 1.28)"; of what is no time "B has 0.81x the rate of A (0.78 to
 * 0.83): worse". Without a full stop; of a row of the result. */
void commands_report_sentence(const struct commands_report *r, const struct command_result *result,
                              const struct compare_row *row, struct strbuf *out);
/* The table, then a sentence a comparison, the last with what it cost. */
void commands_report_text(const struct commands_report *r, size_t width, bool colour,
                          struct strbuf *out);
void commands_report_markdown(const struct commands_report *r, struct strbuf *out);

struct cJSON;
/* docs/formats/comparison.md has the form. */
struct cJSON *commands_report_json(const struct commands_report *r);

#endif
