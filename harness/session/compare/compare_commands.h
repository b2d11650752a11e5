/* SPDX-License-Identifier: MIT */
/*
 * Any two or more commands compared: each a fresh process each time, in turn, until it is decided
 * how each does against the first. One run of each comes before and is not counted: it warms what
 * there is to warm, and one that fails is told before anything is measured.
 *
 *     struct commands_compared c = { .store = NULL };
 *     commands_compare_prepare(&request, &c, err) || ... open c.store ... ||
 *         commands_compare_run(&request, &c, err)
 *     ... c.report ...
 *     commands_compared_release(&c);
 *
 * Each command is a run of the history, a trial (core/record.h): the first is the base, the others
 * are "head", "head2" and so on. Benchmarks have the name of the first. Several settings of
 * parameters are measured together; with --setup or --cleanup one behind the other, each with runs
 * of its own.
 */
#ifndef HARNESS_SESSION_COMPARE_COMPARE_COMMANDS_H
#define HARNESS_SESSION_COMPARE_COMPARE_COMMANDS_H

#include "reporters/commands_report.h"
#include "session/compare/compare.h"
#include "session/measure/ab_session.h"
#include "session/measure/param.h"
#include "session/measure/workload.h"

/* Members that are NULL, 0 or false mean the usual. */
struct commands_request {
    struct command_options command;
    struct workload_options what; /* sizes alone */
    struct compare_rule *rule;    /* how it is decided, and the numbers that they print; declared
                                   * (compare.h) before commands_compare_run() */
    const char *setup, *cleanup;  /* shell commands around all runs of a setting */
    const char *label;
    int64_t warmup; /* runs of each that are not counted; 1 */
    int64_t runs;   /* exactly so many of each, an even number; 0: until it is decided */
    int64_t blocks; /* at most */
    /* measuring.budget 0, without runs and blocks: half a minute, or what a few blocks take. */
    bool no_record;
    bool explain; /* why what is slower than the first is so; from the launches that were compared:
                   * nothing is run again */
    struct measuring measuring;
};

struct commands_compared {
    struct store *store;                     /* STORE_WRITE */
    struct command_spec specs[COMMANDS_MAX]; /* the first is in the workload */
    size_t nr;
    struct workload workload;
    struct guests guests[COMMANDS_MAX]; /* of all but the first */
    struct ab_session *sessions;        /* one, or one a setting */
    size_t nr_sessions;
    struct commands_report report;
    struct explanations explanations;
    int interrupted; /* the signal that ended it; 0: none */
};

/* Everything that can be refused before anything is opened or run. */
int commands_compare_prepare(const struct commands_request *r, struct commands_compared *c,
                             struct error *err);
/* Measures and decides. A command that fails is no error but a result. */
int commands_compare_run(const struct commands_request *r, struct commands_compared *c,
                         struct error *err);
void commands_compared_release(struct commands_compared *c);

/* Of the above alone: a row of the report for one command and setting, without any result yet ...
 */
struct command_result *commands_add_result(struct commands_compared *c, size_t command,
                                           const struct benchmark *b);
/* ... and the rows of all that a session measured, with what they changed against the base. */
void commands_describe_session(struct commands_compared *c, struct ab_session *s,
                               const struct benchmark_list *list);

#endif
