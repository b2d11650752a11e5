/* SPDX-License-Identifier: MIT */
/* What the starting of other programs has in common. */
#ifndef HARNESS_PROCESS_PROCESS_H
#define HARNESS_PROCESS_PROCESS_H

#include "base/error.h"
#include "base/strbuf.h"

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>

/* This process's environment with one "NAME=value" set or replaced; NULL changes nothing. The
 * array is for execve() and its like; free() it. The strings stay where they are. */
char **process_environment(const char *setting);
/* The same with a NULL-ended list of changes: "NAME=value" sets, "NAME" alone takes it out. */
char **process_environment_of(const char *const *changes);

/* Makes attributes by which a program gets signals as it would from a shell, whatever this process
 * blocks or ignores. posix_spawnattr_destroy() them. 0, or the error's number. */
int process_signals_as_usual(posix_spawnattr_t *attributes);

/* More than any git repository or gnuplot has to say. */
enum { PROCESS_SAID_MAX = 64 << 20 };

/* A program to run to its end, without a shell, its standard input empty. */
struct process {
    const char *const *argv;    /* NULL-ended; argv[0] is looked for in $PATH */
    const char *folder;         /* to run in; NULL: here */
    const char *const *changes; /* of its environment, see above; NULL: none */
    const char *log;            /* file that all it says is appended to; NULL: it is captured */
    const char *packages;       /* of Debian and Ubuntu that it is in, for the error where it is not
                                 * there; may be NULL */
    bool leaves;                /* what it leaves running may go on saying things, see below */
    double timeout;             /* s; 0: none */
    size_t most;                /* bytes that it may say, of each kind; 0: PROCESS_SAID_MAX */
    const volatile sig_atomic_t *interrupted; /* stops it when set; may be NULL */
};

enum process_end { PROCESS_EXITED, PROCESS_KILLED, PROCESS_TIMED_OUT, PROCESS_INTERRUPTED };

struct process_result {
    enum process_end end;
    int status; /* exit status, or the signal that killed it */
};

/* Runs it and waits, for it alone: what it leaves running in the background is left alone. What it
 * says goes to `out`, and its standard error to `errors`, or to `out`, too, where that is NULL.
 * That is by pipes, which nobody reads from once it has ended: the next word of what it has left
 * would be that one's end. Where it `leaves` something, both go to `out` by a file without a name
 * in $TMPDIR or /tmp, which is there as long as somebody has it.
 * With all that it starts, wherever that goes, it is ended if time is up or the user wants to
 * stop: by SIGTERM, and after a few seconds, or if SIGINT or SIGTERM comes meanwhile, by SIGKILL.
 * Such a signal is held back until all are gone. Should this process be killed, they end the same
 * way (process/process_group.h). -1 where it could not be started, said more than it may, or how it
 * ended cannot be known. */
int process_run(const struct process *p, struct strbuf *out, struct strbuf *errors,
                struct process_result *result, struct error *err);

#endif
