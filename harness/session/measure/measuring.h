/* SPDX-License-Identifier: MIT */
/*
 * How a command measures: the limits that all commands that measure have in common, and where it
 * goes what they have to say meanwhile. A command's options hold a `struct measuring`; its rows
 * fill it, and the work takes it from there.
 *
 * Nothing in session/ prints: notes and progress go up through the sink, and the command shows
 * them.
 */
#ifndef HARNESS_SESSION_MEASURE_MEASURING_H
#define HARNESS_SESSION_MEASURE_MEASURING_H

#include "launch/ab.h"
#include "launch/sweep.h"

struct workload;

/* Members that are NULL are not called. */
struct session_sink {
    void *context;
    void (*note)(void *context, const char *text); /* clean, with its newlines */
    void (*sweep)(void *context, const struct sweep_progress *p);
    void (*blocks)(void *context, const struct ab_progress *p);
    void (*progressed)(void *context); /* no more progress is to come */
    bool rewrites; /* progress is one line, rewritten in place: it may stand below notes */
};

/* Cleans the texts that the format takes (base/clean.h). A sink that is NULL takes nothing. */
void sink_note(const struct session_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sink_progressed(const struct session_sink *sink);

/* 0, false and NULL mean the usual. */
struct measuring {
    double timeout;       /* s a case; MEASURING_TIMEOUT */
    double budget;        /* s; none */
    int64_t memory_limit; /* bytes; 90 % of what is free */
    int64_t seed;         /* of order and inputs; fresh */
    bool no_repeat;       /* what was disturbed is not measured again */
    const struct session_sink *sink;
    const volatile sig_atomic_t *interrupted;
};

enum { MEASURING_TIMEOUT = 300 };

/* -1, with the reason, where each of these metrics (NULL-ended; NULL: none is asked for) is a count
 * of the processor's, and it counts nothing here: more measuring would bring none. */
int measuring_check_counted(const char *const *metrics, struct error *err);

/* With MEASURING_TIMEOUT where nothing is said of it. */
struct launch_limits measuring_limits(const struct measuring *m);
/* What launch/ is told of it: the workload, on this device or these, within these limits. Borrows
 * the workload and the text. */
struct measured_set measuring_set(const struct measuring *m, const struct workload *w,
                                  const char *device_spec);
bool measuring_interrupted(const struct measuring *m);
/* For build_recipe.begins, with a struct measuring as its context: a note. */
void measuring_build_begins(const void *measuring, const char *commit, const char *title);

#endif
