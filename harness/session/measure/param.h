/* SPDX-License-Identifier: MIT */
/*
 * What --param says: names, and the values that each takes in turn. "threads=1,2,4",
 * "compiler=gcc,clang", and ranges of numbers as of dims, with decimals: "x=0:1:+0.25",
 * "n=1:64:*2", "n=1:4".
 *
 * One whose values are all whole numbers is a dim of the benchmark, any other a part of its
 * variant (command/command.h): so all of a scan is one kernel in the history, and each setting of
 * it a benchmark of its own. Of a plugin's variants all are parts of the variant.
 */
#ifndef HARNESS_SESSION_MEASURE_PARAM_H
#define HARNESS_SESSION_MEASURE_PARAM_H

#include "command/command.h"
#include "launch/selection.h"

struct param {
    char name[24];
    struct string_list values; /* as they are put into the command; no two alike */
    bool whole;                /* all are whole numbers from 0 to DIM_LIMIT */
};

struct param_list {
    struct param *items;
    size_t nr, capacity;
};

/* Appends. -1 where one is not NAME=LIST, has an empty or doubled value, or a range without end.
 * param_release() whatever the result. */
int param_parse(const struct string_list *texts, struct param_list *p, struct error *err);
void param_release(struct param_list *p);

/* All combinations of values, the last parameter's changing fastest. 1 where there is none. */
size_t param_settings(const struct param_list *p);
const char *param_value(const struct param_list *p, size_t parameter, size_t setting);
/* Puts the values of one setting into all that the command says. */
void param_fill(const struct param_list *p, size_t setting, struct command_spec *spec);
/* All combinations as settings of guests (plugin/guest_settings.h): "BM=64,stages=3". */
void param_list_settings(const struct param_list *p, struct string_list *settings);
/* Makes them dims and texts of the command, with the values of dims into the selection. */
int param_give(const struct param_list *p, struct command_spec *spec, struct selection *selection,
               struct error *err);

#endif
