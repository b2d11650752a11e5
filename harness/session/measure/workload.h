/* SPDX-License-Identifier: MIT */
/*
 * What a command is to measure, from the options that all measuring commands share: a suite, or
 * filters with values for dims, on a device or several.
 */
#ifndef HARNESS_SESSION_MEASURE_WORKLOAD_H
#define HARNESS_SESSION_MEASURE_WORKLOAD_H

#include "base/options.h"
#include "base/strbuf.h"
#include "command/command.h"
#include "device/devices.h"
#include "launch/selection.h"
#include "machine/clock_hold.h"
#include "plugin/guests.h"
#include "session/measure/number_options.h"
#include "session/measure/param.h"

/* A member of a command's options struct, see cli/shared_options.h. */
struct workload;

struct workload_options {
    const char *suite, *device;
    struct string_list models, variants, dtypes, caches, dims;
    struct string_list fills; /* see launch/fill_list.h */
    struct string_list plugins;
    struct string_list params;   /* of plugins, see session/measure/param.h */
    struct string_list settings; /* of the same, whole ones, "BM=64,stages=3"; beside them */
    struct string_list python;   /* functions, see plugin/python_guest.h ... */
    const char *like;            /* ... and the kernel that they compute */
    struct int_list batch, seq;
    bool test_shapes;
    double warm_up;       /* s, at most; 0: the usual */
    const char *clock;    /* free, steady; NULL: free, and nothing is said of it */
    bool several_devices; /* set by a command that can sweep `device`: cpu:1,cpu:2 */
    bool beside;          /* set by a command that shows a plugin's variants beside the vendors' */
    plugin_confine *confine; /* set by the judge: as plugins are tried; see plugin_open() */
    /* Asked once the benchmarks are chosen: leaves out some, or refuses (session/tune). NULL: all
     * stay. */
    int (*settle)(void *context, struct workload *c, struct error *err);
    void *settle_context;
};

struct workload {
    struct suite suite;         /* sampling and launches; its name is "" for filters */
    struct device_list devices; /* opened to name benchmarks, not started */
    struct device device;       /* the first of them, the only one for most commands */
    struct benchmark_list list; /* each benchmark once; never empty */
    int *device_of;             /* of each of the list, which of the devices; owned */
    size_t device_capacity;
    struct guests guests;   /* plugins and the command; the list may point into them */
    struct fill_list fills; /* what inputs hold; the list points into it */
    struct clock_hold hold; /* of the first device, where `clock` was given */
    bool asks_clock;
};

/* The kind of device on which functions of Python are called, that of --device: one, as keys tell
 * no two functions of a name apart. Who opens a device says what is wrong with its spec. */
int workload_python_device(const struct workload_options *o, enum device_kind *kind,
                           struct error *err);
/* --plugin with --param, and --python with --like and --dtype: guests_open() with each setting of
 * the parameters. guests_close() whatever the result. */
int workload_open_guests(struct guests *g, const struct workload_options *o, struct error *err);
/* Whether options bring guests: then they are chosen where nothing else is. */
bool workload_has_guests(const struct workload_options *o);

/* Plugins are for certain devices: -1, naming these, where they have nothing for this one. */
int plugins_check_device(const struct guests *g, const struct device *d, struct error *err);

/* --dim, into a selection. */
int workload_add_dims(struct selection *s, const struct string_list *dims, struct error *err);

/* The name of an option that is given, of those that say what is measured; --model is none, which
 * may choose among what is there. NULL: none is. */
const char *workload_option(const struct workload_options *o);
/* From `filters` and options; where neither says anything, suite `otherwise`. A filter that is the
 * whole key of a benchmark of this device chooses that one, whatever its sizes. A suite together
 * with a selection is an error. Without a filter, a plugin's kernels are chosen and no others.
 * Release `c` whatever the result; until then it must stay where it is. */
int workload_make(struct workload *c, const struct workload_options *o, char **filters, int nr,
                  const char *otherwise, struct error *err);
/* A command, once for each combination of the sizes of --batch, --seq and --dim and of the values
 * of the parameters. Of `nr` commands that are compared the workload is the first, whose owned
 * parts it takes; all get its name and its parameters, of which each must stand in one of them.
 * Release `c` whatever the result. */
int workload_make_command(struct workload *c, const struct workload_options *o,
                          const struct param_list *parameters, struct command_spec *specs,
                          size_t nr, struct error *err);
void workload_release(struct workload *c);
/* Leaves the first of each benchmark on each device; the order stays. */
void workload_drop_twins(struct workload *c);

/* The device of the i-th benchmark of the list. */
const struct device *workload_device(const struct workload *c, size_t i);
/* All of them as --device takes them; `text` is initialised. */
void workload_devices(const struct workload *c, struct strbuf *text);

/* A member of a command's options struct, see cli/shared_options.h. */
struct command_options {
    struct option_rest argv;
    const char *expect, *input, *shell;
    struct string_list names, prepare, conclude; /* one for all, or one for each of the commands */
    struct string_list params;
    struct int_list ignored;
    bool ignore_status;
    struct number_options numbers;
};

enum { COMMANDS_MAX = 16 };

/* -1 where one of the others is given without a command; `verb` ("run") is what could have one.
 * --param is of plugins, too, if there are any. */
int command_options_unused(const struct command_options *o, bool plugins, const char *verb,
                           struct error *err);
/* What is to be run: the words behind "--", one command, or with `several` all that "--versus"
 * separates. Their parameters, of which `what` names the dims, are left out.
 * command_spec_release() of each whatever the result. */
int command_options_specs(const struct command_options *o, const struct workload_options *what,
                          bool several, struct command_spec specs[COMMANDS_MAX], size_t *nr,
                          struct error *err);
/* Filters that match nothing may be a command that its writer would have had run: adds to the
 * message how that is asked for, as in "harness VERB -- FILTER" and what is behind it. */
void command_options_hint(char **filters, int nr, const char *verb, const char *behind,
                          struct error *err);

#endif
