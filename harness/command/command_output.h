/* SPDX-License-Identifier: MIT */
/*
 * What a program says while it runs, heard through pipes: of its standard output no more than is
 * expected and some, of its standard error the end. Nothing is kept beyond, however much it says.
 */
#ifndef HARNESS_COMMAND_COMMAND_OUTPUT_H
#define HARNESS_COMMAND_COMMAND_OUTPUT_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Bytes of standard error that are told, and how much longer than expected an output may be until
 * there is no use in waiting for its end. */
enum { COMMAND_OUTPUT_LAST_WORDS = 400, COMMAND_OUTPUT_SLACK = 1 << 16 };

/* Told of all that is read, as it is read. */
struct command_output_listener {
    void (*hear)(void *context, bool errors, const char *bytes, size_t nr);
    void *context;
};

struct command_output {
    int out[2], errors[2]; /* pipes; -1: nobody listens */
    size_t most;           /* bytes of standard output */
    struct strbuf said, words;
    bool keeps;                                     /* what it says to standard output */
    bool too_much;                                  /* it says more than `most` */
    const struct command_output_listener *listener; /* NULL: none */
};

extern const struct command_output command_output_none;

/* With `expected` NULL standard output is not kept, and without a listener nobody reads it. Both
 * are borrowed. command_output_close() whatever the result. */
int command_output_open(struct command_output *e, const size_t *expected,
                        const struct command_output_listener *listener, struct error *err);
void command_output_close(struct command_output *e);
/* Forgets what the last run said. */
void command_output_clear(struct command_output *e);
/* Listens until the child has ended, and reaps it: status and cost as of wait4(). Nothing else
 * wakes this process. One that says too much is killed with all that it started. -1 and errno. */
int command_output_wait(struct command_output *e, pid_t pid, int *status, struct rusage *usage);
/* What it has said to its standard output, until the next run. */
const struct strbuf *command_output_said(struct command_output *e);
/* The last lines of its standard error, at most COMMAND_OUTPUT_LAST_WORDS bytes; until the next
 * run. */
const char *command_output_last_words(struct command_output *e);

#endif
