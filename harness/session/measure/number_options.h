/* SPDX-License-Identifier: MIT */
/* What --metric, --unit and --better of `run -- COMMAND` say: the numbers that a program prints. */
#ifndef HARNESS_SESSION_MEASURE_NUMBER_OPTIONS_H
#define HARNESS_SESSION_MEASURE_NUMBER_OPTIONS_H

#include "base/options.h"
#include "plugin/command_numbers.h"

/* A member of a command's options struct, see cli/shared_options.h. */
struct number_options {
    struct string_list metrics; /* as number_spec_parse() takes them */
    struct string_list units;   /* "[NAME=]UNIT": of one, or of all */
    struct string_list betters; /* "[NAME=]lower", "higher" or "none" */
};

/* The name of one that was given, or NULL. */
const char *number_options_given(const struct number_options *o);
/* -1 where a metric is none, has no direction, or is called as something else is here.
 * number_specs_release() whatever the result. */
int number_options_parse(const struct number_options *o, struct number_specs *specs,
                         struct error *err);
/* Does the history that was opened know them with the same unit and direction? */
int number_specs_agree(const struct number_specs *specs, struct error *err);

#endif
