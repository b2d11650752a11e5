/* SPDX-License-Identifier: MIT */
/* Why a variant is not valid, and what could not be kept out of the reach of who is judged. */
#ifndef HARNESS_JUDGE_FAULT_H
#define HARNESS_JUDGE_FAULT_H

#include "device/devices.h"

#include <stdbool.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_WRONG,     /* an output beyond the tolerance */
    FAULT_UNWRITTEN, /* poison left, or no number */
    FAULT_STALE,     /* the result of an earlier launch */
    FAULT_LATE,      /* it writes after it returned */
    FAULT_PRECISION, /* the errors are those of a lower precision */
    FAULT_INPUTS,    /* it changed what is read only */
    FAULT_OUTSIDE,   /* it wrote behind a tensor */
    FAULT_AWAKE,     /* it ran while the clock stood still */
    FAULT_CALL,      /* a system call that no kernel needs */
    FAULT_ENDED,     /* it ended its process, or crashed */
    FAULT_HANGS,
    FAULT_SYMBOLS,    /* it defines functions that others take the time by */
    FAULT_FAILED,     /* prepare() failed, or says now this, now that */
    FAULT_ARITHMETIC, /* it declares another arithmetic than is asked for */
    FAULT_NR,
};

/* The first one found. */
struct fault {
    enum fault_kind kind;
    char words[320];
};

const char *fault_name(enum fault_kind kind); /* "stale", as in JSON */
/* Was it found by running it, and so at some size? */
bool fault_has_size(enum fault_kind kind);

/* Keeps the first; its value is -1, so that `return fault_set(...)` reads well. */
int fault_set(struct fault *f, enum fault_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

extern const struct beyond_reach reach_files; /* where sandbox_keeps_files() says no */
/* By the device, NULL-ended. Of the CPU docs/judge.md tells all. */
const struct beyond_reach *reach_beyond(enum device_kind kind);

#endif
