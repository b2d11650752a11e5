/* SPDX-License-Identifier: MIT */
/*
 * What a command is to measure, from the options that all measuring commands share: a suite, or
 * filters with values for dims, on a device.
 */
#ifndef HARNESS_CLI_CHOICE_H
#define HARNESS_CLI_CHOICE_H

#include "base/options.h"
#include "guest/guests.h"
#include "measure/selection.h"

/* A member of a command's options struct, filled by CHOICE_OPTION_ROWS. */
struct choice_options {
    const char *suite, *device;
    struct string_list models, variants, dtypes, caches, dims;
    struct string_list plugins;
    struct int_list batch, seq;
    bool test_shapes;
};

/* The rows for a member `member_` of `target_`; `suite_` is the default, a literal; `b_` is the
 * letter of --batch, or 0. */
#define CHOICE_OPTION_ROWS(target_, member_, suite_, b_)                                           \
    OPTION_ROW("suite", 0, OPTION_STRING, target_, member_.suite, "NAME",                          \
               "quick, ci, full, or a file of your own (default " suite_ ")"),                     \
        OPTION_ROW("model", 'm', OPTION_STRINGS, target_, member_.models, "NAME,...",              \
                   "GPT configurations: prefill and decode"),                                      \
        OPTION_RANGE_ROW("batch", b_, OPTION_INTS, target_, member_.batch, 1, DIM_LIMIT, "LIST",   \
                         "batch sizes: 1,4,16 or 1:64:*2"),                                        \
        OPTION_RANGE_ROW("seq", 's', OPTION_INTS, target_, member_.seq, 1, DIM_LIMIT, "LIST",      \
                         "sequence lengths: 64,128 or 32:512:*2 or 64:256:+64"),                   \
        OPTION_ROW("dim", 0, OPTION_STRINGS, target_, member_.dims, "NAME=LIST",                   \
                   "any other dim: heads=8,16; repeat for more dims"),                             \
        OPTION_ROW("variant", 0, OPTION_STRINGS, target_, member_.variants, "NAME,...",            \
                   "variants: naive, simd, openblas, ..."),                                        \
        OPTION_ROW("dtype", 0, OPTION_STRINGS, target_, member_.dtypes, "NAME,...",                \
                   "arithmetic: fp32, ..."),                                                       \
        OPTION_ROW("cache", 0, OPTION_STRINGS, target_, member_.caches, "warm,cold",               \
                   "caches as they are (default), flushed before each sample, or both"),           \
        OPTION_ROW("test-shapes", 0, OPTION_FLAG, target_, member_.test_shapes, NULL,              \
                   "the kernels' odd sizes instead of the default ones"),                          \
        OPTION_ROW("device", 'd', OPTION_STRING, target_, member_.device, "DEVICE",                \
                   "cpu (default, all cores), cpu:free (all but one), cpu:THREADS, cuda, "         \
                   "cuda:N, cuda:graph"),                                                          \
        OPTION_ROW("plugin", 0, OPTION_TEXTS, target_, member_.plugins, "FILE",                    \
                   "kernels of your own, from a shared object; repeat for more")

/* The row of commands that measure, for an int64_t: bytes, 0 where it is not given. */
#define MEMORY_LIMIT_ROW(target_, member_)                                                         \
    OPTION_RANGE_ROW("memory-limit", 0, OPTION_SIZE, target_, member_, 16 << 20, INT64_MAX,        \
                     "SIZE",                                                                       \
                     "kill a case that holds more, as 500M or 2GiB (default 90% of what is free)")
/* For a struct with a bool. */
#define NO_REPEAT_ROW(target_, member_)                                                            \
    OPTION_ROW("no-repeat", 0, OPTION_FLAG, target_, member_, NULL,                                \
               "keep what the machine disturbed as it is, instead of measuring it again")

struct choice {
    struct suite suite;         /* sampling and launches; its name is "" for filters */
    struct device device;       /* opened to name benchmarks, not started */
    struct benchmark_list list; /* each benchmark once; never empty */
    struct guests guests;       /* plugins and the command; the list may point into them */
};

/* From `filters` and options; where neither says anything, suite `otherwise`. A filter that is the
 * whole key of a benchmark of this device chooses that one, whatever its sizes. A suite together
 * with a selection is an error. Without a filter, a plugin's kernels are chosen and no others.
 * Release `c` whatever the result; until then it must stay where it is. */
int choice_make(struct choice *c, const struct choice_options *o, char **filters, int nr,
                const char *otherwise, struct error *err);
/* A command, once for each combination of the sizes of --batch, --seq and --dim. Takes what `spec`
 * owns; its dims are filled in here. Release `c` whatever the result. */
int choice_make_command(struct choice *c, const struct choice_options *o, struct command_spec *spec,
                        struct error *err);
void choice_release(struct choice *c);

#endif
