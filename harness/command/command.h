/* SPDX-License-Identifier: MIT */
/*
 * Any program as a benchmark: the kernel "command/NAME" with the variant "exec" on the device
 * "process". A sample is one run, from its start (posix_spawn) to its end (wait4), by
 * CLOCK_MONOTONIC_RAW. What is checked, of every run, timed or not: how it ended, and, if asked
 * for, that its standard output is that of a file.
 *
 * What it says of itself, in numbers, is listened to where it is asked for (command_numbers.h).
 *
 * Parameters stand in the command: {n} is the value of n in arguments, shell commands and names of
 * files. One of whole numbers is a dim. One of texts (struct command_text) is a variant for each of
 * its values, in place of "exec": "compiler=gcc,opt=-O2".
 */
#ifndef HARNESS_COMMAND_COMMAND_H
#define HARNESS_COMMAND_COMMAND_H

#include "base/array.h"
#include "base/options.h"
#include "command/command_numbers.h"
#include "core/kernel.h"

/* A parameter whose values are no sizes. */
struct command_text {
    char name[24];
    struct string_list values;
};

enum { COMMAND_VARIANTS_MAX = 1000 };

struct command_spec {
    char name[64];           /* the kernel is command/name */
    struct string_list argv; /* argv[0] is looked for in $PATH */
    struct string_list dims;
    ARRAY(struct command_text) texts;
    char *prepare; /* shell command before each run, not timed; NULL: none. Owned, as is all here */
    char *conclude;              /* and behind it */
    char *input;                 /* file that is its standard input; NULL: that is empty */
    char *expect;                /* file with the standard output that is right; NULL: any is */
    bool ignore_status;          /* any exit status is fine ... */
    struct int_list ignored;     /* ... or these, beside 0 */
    struct number_specs numbers; /* that it prints */
};

void command_spec_release(struct command_spec *spec);
/* A copy of its own; `to` is empty. */
void command_spec_copy(struct command_spec *to, const struct command_spec *from);
/* The dims and texts of another, in place of none. */
void command_spec_copy_parameters(struct command_spec *to, const struct command_spec *from);
/* -1 and what is wrong: no command, a name or parameter that cannot stand in keys, a program or
 * file that is not there. */
int command_spec_check(const struct command_spec *spec, struct error *err);
/* -1 where a parameter stands in none of the `nr` commands: its value would change nothing. */
int command_spec_check_use(const struct command_spec *specs, size_t nr, struct error *err);
/* The file that argv[0] names, as execvp() finds it; free() it. NULL and why. */
char *command_find_program(const char *name, struct error *err);

struct command_guest {
    struct kernel kernel;
    struct variant *variants; /* one for each combination of texts; ended by one without a name */
    char (*variant_names)[64];
    size_t nr_variants;
    const struct kernel *kernels[2];
    const struct command_spec *spec;
    struct shape shape;
    char name[96], summary[256];
};

/* Fills `g`, which borrows the spec and must stay where it is. */
void command_guest_init(struct command_guest *g, const struct command_spec *spec);
void command_guest_release(struct command_guest *g);

#endif
