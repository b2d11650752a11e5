/* SPDX-License-Identifier: MIT */
/*
 * Any program as a benchmark: the kernel "command/NAME" with the variant "exec" on the device
 * "process". A sample is one run, from its start (posix_spawn) to its end (wait4), by
 * CLOCK_MONOTONIC_RAW. What is checked, of every run, timed or not: how it ended, and, if asked
 * for, that its standard output is that of a file.
 *
 * Sizes stand in the command: with the dim "n", {n} is its value in arguments, --prepare and
 * --expect.
 */
#ifndef HARNESS_PLUGIN_COMMAND_H
#define HARNESS_PLUGIN_COMMAND_H

#include "base/options.h"
#include "core/kernel.h"

struct command_spec {
    char name[64];           /* the kernel is command/name */
    struct string_list argv; /* argv[0] is looked for in $PATH */
    struct string_list dims;
    char *prepare; /* shell command before each run, not timed; NULL: none. Owned */
    char *expect;  /* file with the standard output that is right; NULL: any is. Owned */
    bool ignore_status;
};

void command_spec_release(struct command_spec *spec);
/* -1 and what is wrong: no command, a name or dim that cannot stand in keys, a dim that the command
 * does not use, a program or file that is not there. */
int command_spec_check(const struct command_spec *spec, struct error *err);

/* The file that argv[0] names, as execvp() finds it; free() it. NULL and why. */
char *command_find_program(const char *name, struct error *err);

struct command_guest {
    struct kernel kernel;
    struct variant variants[2];
    const struct kernel *kernels[2];
    const struct command_spec *spec;
    struct shape shape;
    char name[96], summary[256];
};

/* Fills `g`, which borrows the spec and must stay where it is. */
void command_guest_init(struct command_guest *g, const struct command_spec *spec);

#endif
