/* SPDX-License-Identifier: MIT */
/*
 * What in this environment will spoil measurements, and the mend: a table of checks, each over
 * facts of /proc and /sys, of this build, of the GPUs, and of what a second of watching showed.
 *
 * The checks themselves are pure: they read nothing but files below `root`, and of this machine a
 * few variables of the environment and the folder of the history, and what is in the input.
 */
#ifndef HARNESS_DOCTOR_DOCTOR_H
#define HARNESS_DOCTOR_DOCTOR_H

#include "core/record.h"
#include "machine/nvml.h"

#include <stddef.h>

enum doctor_state {
    DOCTOR_FINE,
    DOCTOR_NOTE,    /* worth knowing, no harm by itself */
    DOCTOR_WARN,    /* will spoil measurements */
    DOCTOR_UNKNOWN, /* the system does not tell */
    DOCTOR_STATE_NR,
};

struct doctor_finding {
    const char *check; /* "governor" */
    enum doctor_state state;
    char found[192];
    char mend[192]; /* "" where there is nothing to do */
};

/* What watching this machine for a second showed. NaN: nobody watched, or it cannot be seen. */
struct doctor_watch {
    double steal;      /* share of the processors' time that the host gave to others */
    double busy;       /* processors that other programs used while this one slept */
    double throttles;  /* times that heat slowed a processor down meanwhile */
    double slow_spins; /* share of 1 ms pieces of arithmetic that took over 5 % more than most */
    double clock_step; /* ns; the smallest time that can be told */
};

enum { DOCTOR_GPUS = 16 };

struct doctor_input {
    const char *root;    /* "": this machine; else a folder with copies of /proc and /sys */
    const char *history; /* the file, or where it will be; of this machine */
    struct build build;
    bool slow_build; /* without optimisation, or with a sanitizer */
    struct doctor_watch watch;
    char no_counters[160]; /* why nothing can be counted on this machine; "": it can */
    struct nvml_gpu gpus[DOCTOR_GPUS];
    int nr_gpus;
};

enum { DOCTOR_MAX = 40 };

/* Takes about a second. */
void doctor_watch(struct doctor_watch *w);
/* Of this machine, watched; or of what is known of another, whose files lie below `root`: then
 * nothing of this machine but the build counts. `root` and `history` are borrowed. */
void doctor_input_make(struct doctor_input *in, const char *root, const char *history);
/* All checks that apply, in reading order. Their number, at most DOCTOR_MAX. */
size_t doctor_run(const struct doctor_input *in, struct doctor_finding *out);
const char *doctor_state_name(enum doctor_state state); /* "fine", "note", "warn", "unknown" */

#endif
