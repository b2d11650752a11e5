/* SPDX-License-Identifier: MIT */
/*
 * What a command is to measure, from the options that all measuring commands share: a suite, or
 * filters with values for dims, on a device.
 */
#ifndef HARNESS_SESSION_MEASURE_WORKLOAD_H
#define HARNESS_SESSION_MEASURE_WORKLOAD_H

#include "base/options.h"
#include "launch/selection.h"
#include "plugin/command.h"
#include "plugin/guests.h"

/* A member of a command's options struct, see cli/shared_options.h. */
struct workload_options {
    const char *suite, *device;
    struct string_list models, variants, dtypes, caches, dims;
    struct string_list plugins;
    struct int_list batch, seq;
    bool test_shapes;
};

struct workload {
    struct suite suite;         /* sampling and launches; its name is "" for filters */
    struct device device;       /* opened to name benchmarks, not started */
    struct benchmark_list list; /* each benchmark once; never empty */
    struct guests guests;       /* plugins and the command; the list may point into them */
};

/* From `filters` and options; where neither says anything, suite `otherwise`. A filter that is the
 * whole key of a benchmark of this device chooses that one, whatever its sizes. A suite together
 * with a selection is an error. Without a filter, a plugin's kernels are chosen and no others.
 * Release `c` whatever the result; until then it must stay where it is. */
int workload_make(struct workload *c, const struct workload_options *o, char **filters, int nr,
                  const char *otherwise, struct error *err);
/* A command, once for each combination of the sizes of --batch, --seq and --dim. Takes what `spec`
 * owns; its dims are filled in here. Release `c` whatever the result. */
int workload_make_command(struct workload *c, const struct workload_options *o,
                          struct command_spec *spec, struct error *err);
void workload_release(struct workload *c);

/* A member of a command's options struct, see cli/shared_options.h. */
struct command_options {
    struct option_rest argv;
    const char *name, *prepare, *expect;
    bool ignore_status;
};

/* -1 where one of the others is given without a command. */
int command_options_unused(const struct command_options *o, struct error *err);
/* What is to be run; its dims are left empty. command_spec_release() whatever the result. */
int command_options_spec(const struct command_options *o, struct command_spec *spec,
                         struct error *err);

#endif
