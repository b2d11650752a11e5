/* SPDX-License-Identifier: MIT */
/*
 * What --metric, --unit and --better say: the numbers that a program prints, and, of commands that
 * compare, names of metrics among them.
 */
#ifndef HARNESS_SESSION_MEASURE_NUMBER_OPTIONS_H
#define HARNESS_SESSION_MEASURE_NUMBER_OPTIONS_H

#include "base/options.h"
#include "command/command_numbers.h"

/* A member of a command's options struct, see cli/shared_options.h. */
struct number_options {
    struct string_list metrics; /* as number_spec_parse() takes them; see number_options_judged() */
    struct string_list units;   /* "[NAME=]UNIT": of one, or of all */
    struct string_list betters; /* "[NAME=]lower", "higher" or "none" */
};

/* The name of one that was given, or NULL. */
const char *number_options_given(const struct number_options *o);
/* -1 where a metric is none, has no direction, or is called as something else is here.
 * number_specs_release() whatever the result. */
int number_options_parse(const struct number_options *o, struct number_specs *specs,
                         struct error *err);
/* Of a command that compares: what says not how a number is printed are names of metrics,
 * "p50,memory", or those of some benchmarks, "FILTER:p50,memory". `judged` gets these, each as
 * compare_settings.metrics has it, and the names of the specs of which one way is better, in the
 * order of --metric. Release both whatever the result. */
int number_options_judged(const struct number_options *o, struct number_specs *specs,
                          struct string_list *judged, struct error *err);
/* Is a number among them that is to be printed? */
bool number_options_print(const struct number_options *o);
/* -1 where one is of one program of several ("sort:rate=/.../"): for a command that has one. */
int number_specs_check_of(const struct number_specs *specs, struct error *err);
/* "lower", "higher" or "none", and NAME=WAY of those. */
int number_check_ways(const struct string_list *texts, struct error *err);
/* Is it a word that presets, expressions and --metric know as something else? */
bool number_is_word(const char *name);
/* Does the history that was opened know them with the same unit and direction? */
int number_specs_agree(const struct number_specs *specs, struct error *err);
/* That, and from now on they are metrics: in `judged` their names become what they are asked for
 * by. */
int number_specs_declare(const struct number_specs *specs, struct string_list *judged,
                         struct error *err);

#endif
