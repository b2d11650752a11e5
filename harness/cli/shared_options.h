/* SPDX-License-Identifier: MIT */
/*
 * Rows of options that several commands have, for the structs that the work takes: each macro fills
 * the member `member_` of a command's struct `target_`.
 */
#ifndef HARNESS_CLI_SHARED_OPTIONS_H
#define HARNESS_CLI_SHARED_OPTIONS_H

#include "base/options.h"
#include "session/measure/workload.h"
#include "session/viewing.h"

/* A const char *. */
#define DB_ROW(target_, member_)                                                                   \
    OPTION_ROW("db", 0, OPTION_STRING, target_, member_, "FILE",                                   \
               "the history (default .harness/history.db of the project)")
#define OUTPUT_ROW(target_, member_)                                                               \
    OPTION_ROW("output", 'o', OPTION_STRING, target_, member_, "FILE", "write the result there")
/* A bool. */
#define JSON_ROW(target_, member_)                                                                 \
    OPTION_ROW("json", 0, OPTION_FLAG, target_, member_, NULL, "print JSON")

/* A const char *: one of the comma-separated `values_`, of which the help tells in words. */
#define FORM_ROW(target_, member_, values_, help_)                                                 \
    {                                                                                              \
        .name = "format", .type = OPTION_STRING, .argument = "FORM", .help = (help_),              \
        .offset = offsetof(target_, member_), .low = INT64_MIN, .high = INT64_MAX,                 \
        .values = (values_),                                                                       \
    }

/* Of a struct measuring. */
#define TIMEOUT_ROW(target_, member_)                                                              \
    OPTION_ROW("timeout", 0, OPTION_DURATION, target_, member_.timeout, "TIME",                    \
               "kill a case that takes longer (default 5m)")
#define SEED_ROW(target_, member_)                                                                 \
    OPTION_RANGE_ROW("seed", 0, OPTION_INT, target_, member_.seed, 1, INT64_MAX, "N",              \
                     "of order and inputs (default: fresh)")
#define MEMORY_LIMIT_ROW(target_, member_)                                                         \
    OPTION_RANGE_ROW("memory-limit", 0, OPTION_SIZE, target_, member_.memory_limit, 16 << 20,      \
                     INT64_MAX, "SIZE",                                                            \
                     "kill a case that holds more, as 500M or 2GiB (default 90% of what is free)")
#define NO_REPEAT_ROW(target_, member_)                                                            \
    OPTION_ROW("no-repeat", 0, OPTION_FLAG, target_, member_.no_repeat, NULL,                      \
               "keep what the machine disturbed as it is, instead of measuring it again")

#define TUNED_HELP                                                                                 \
    "for variants with parameters, use the setting that `harness tune` kept for each shape"
/* A bool. */
#define TUNED_ROW(target_, member_)                                                                \
    OPTION_ROW("tuned", 0, OPTION_FLAG, target_, member_, NULL, TUNED_HELP)

/* Of a struct compare_request. */
#define CHANGED_ROWS(target_, member_)                                                             \
    OPTION_ROW("changed", 0, OPTION_FLAG, target_, member_.changed, NULL,                          \
               "skip what the change cannot affect, judged by the dependencies that both builds "  \
               "recorded"),                                                                        \
        OPTION_ROW("changed-map", 0, OPTION_STRING, target_, member_.changed_map, "FILE",          \
                   "--changed, with a file that says which files can affect what: lines "          \
                   "\"PATTERN: NAME...\"")

/* Of a struct workload_options. */
#define PYTHON_ROWS(target_, member_)                                                              \
    OPTION_ROW("python", 0, OPTION_TEXTS, target_, member_.python, "FILE::NAME,...",               \
               "functions of a Python file as variants of the kernel of --like; repeat for more"), \
        OPTION_ROW("like", 0, OPTION_STRING, target_, member_.like, "KERNEL",                      \
                   "what these compute: sizes, inputs and the right result are the kernel's")

/* Of a struct workload_options; of commands that time programs, see COMMAND_OPTION_ROWS. */
#define PARAM_ROW(target_, member_)                                                                \
    OPTION_ROW("param", 0, OPTION_TEXTS, target_, member_.params, "NAME=LIST",                     \
               "variants that have this parameter, with each value in turn")

/* A struct string_list, of a struct workload_options or for launch/fill_list.h. */
#define FILL_ROW(target_, member_)                                                                 \
    {                                                                                              \
        .name = "fill", .type = OPTION_STRINGS, .argument = "[TENSOR=]FILL,...",                   \
        .help =                                                                                    \
            "what random inputs hold: normal (default), uniform, zeros, or FILE.npy, its "         \
            "elements in turn; x=zeros,y=uniform of these tensors",                                \
        .offset = offsetof(target_, member_), .low = INT64_MIN, .high = INT64_MAX,                 \
        .values = "normal,uniform,zeros",                                                          \
    }

/* A double and a const char *, of a struct workload_options. */
#define CLOCK_ROWS(target_, member_)                                                               \
    OPTION_ROW("warm-up", 0, OPTION_DURATION, target_, member_.warm_up, "TIME",                    \
               "until times, clock and power settle, at most this (default 80ms, GPU 1s)"),        \
        OPTION_ROW("clock", 0, OPTION_STRING, target_, member_.clock, "free,steady",               \
                   "steady: measure again what was not within 1% of one clock; with either the "   \
                   "table says what holds it")

/* The rows for a member `member_` of `target_`; `suite_` is the default, a literal; `b_` is the
 * letter of --batch, or 0. */
#define WORKLOAD_OPTION_ROWS(target_, member_, suite_, b_)                                         \
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
        OPTION_ROW(                                                                                \
            "cache", 0, OPTION_STRINGS, target_, member_.caches, "warm,cold,rotate",               \
            "warm (default): caches as they are; cold: emptied before each sample; rotate: "       \
            "copies of the tensors take turns, twice the caches in size"),                         \
        FILL_ROW(target_, member_.fills), CLOCK_ROWS(target_, member_),                            \
        OPTION_ROW("test-shapes", 0, OPTION_FLAG, target_, member_.test_shapes, NULL,              \
                   "the kernels' odd sizes instead of the default ones"),                          \
        OPTION_ROW("device", 'd', OPTION_STRING, target_, member_.device, "DEVICE",                \
                   "cpu (default, all cores), cpu:free (all but one), cpu:THREADS, cuda, "         \
                   "cuda:N, cuda:graph"),                                                          \
        OPTION_ROW("plugin", 0, OPTION_TEXTS, target_, member_.plugins, "FILE",                    \
                   "kernels of your own, from a shared object; repeat for more"),                  \
        PYTHON_ROWS(target_, member_)

/* Of a struct command_options. */
#define COMMAND_OPTION_ROWS(target_, member_)                                                      \
    OPTION_ROW("", 0, OPTION_REST, target_, member_.argv, "COMMAND...",                            \
               "time a program: a fresh process a sample, as command/NAME"),                       \
        OPTION_ROW("name", 0, OPTION_TEXTS, target_, member_.names, "NAME",                        \
                   "of the command (default: its file and arguments)"),                            \
        OPTION_ROW("param", 0, OPTION_TEXTS, target_, member_.params, "NAME=LIST",                 \
                   "put each value in the place of {NAME} in turn: n=1,2 or x=0:1:+0.25 or "       \
                   "cc=gcc,clang; without a command: variants that have this parameter, with "     \
                   "each value in turn"),                                                          \
        OPTION_ROW("prepare", 0, OPTION_TEXTS, target_, member_.prepare, "COMMAND",                \
                   "shell command before each run of it, not timed"),                              \
        OPTION_ROW("conclude", 0, OPTION_TEXTS, target_, member_.conclude, "COMMAND",              \
                   "shell command after each run of it, not timed"),                               \
        OPTION_ROW("shell", 0, OPTION_STRING, target_, member_.shell, "SHELL",                     \
                   "run it as a line of this shell, such as sh (default: as a program, without)"), \
        OPTION_ROW("input", 0, OPTION_STRING, target_, member_.input, "FILE",                      \
                   "its standard input (default empty)"),                                          \
        OPTION_ROW("expect", 0, OPTION_STRING, target_, member_.expect, "FILE",                    \
                   "what each run must write to its standard output, else WRONG"),                 \
        OPTION_ROW("ignore-status", 0, OPTION_FLAG, target_, member_.ignore_status, NULL,          \
                   "exit statuses other than 0 are fine, too"),                                    \
        OPTION_RANGE_ROW("ignore-codes", 0, OPTION_INTS, target_, member_.ignored, 1, 255, "LIST", \
                         "these exit statuses are fine, too")

#define NUMBER_WAY_ROWS(target_, member_)                                                          \
    OPTION_ROW("unit", 0, OPTION_TEXTS, target_, member_.units, "[NAME=]UNIT",                     \
               "of such a metric, or of all"),                                                     \
        OPTION_ROW("better", 0, OPTION_TEXTS, target_, member_.betters, "[NAME=]WAY",              \
                   "lower, higher, or none: kept and shown, never judged")

/* Of the struct number_options of a command that compares. */
#define JUDGED_OPTION_ROWS(target_, member_)                                                       \
    OPTION_ROW("metric", 0, OPTION_TEXTS, target_, member_.metrics, "WHAT",                        \
               "what is compared: NAME,... of `harness list metrics` (default p50), "              \
               "FILTER:NAME,... of some benchmarks, or a number that the command prints: "         \
               "NAME=/PATTERN/, in JSON NAME=$.a.b[0]; repeat for more"),                          \
        NUMBER_WAY_ROWS(target_, member_)

/* Of the struct compare_request of a command that compares. */
#define EXPLAIN_OPTION_ROWS(target_, member_)                                                      \
    OPTION_ROW("explain", 0, OPTION_FLAG, target_, member_.explain, NULL,                          \
               "why what got slower did so: causes, each with its share of the change"),           \
        OPTION_ROW("explain-budget", 0, OPTION_DURATION, target_, member_.explain_budget, "TIME",  \
                   "most time for --explain, in which both sides run again with scopes on "        \
                   "(default 1m)")

/* Of the struct number_options in a struct command_options. */
#define NUMBER_OPTION_ROWS(target_, member_)                                                       \
    OPTION_ROW("metric", 0, OPTION_TEXTS, target_, member_.metrics, "NAME=/PATTERN/",              \
               "a number that the command prints, in a line or, NAME=$.a.b[0], in JSON; repeat "   \
               "for more"),                                                                        \
        NUMBER_WAY_ROWS(target_, member_)

/* Of a struct viewing_options. */
#define VIEWING_OPTION_ROWS(target_, member_)                                                      \
    OPTION_ROW("baseline", 'b', OPTION_STRING, target_, member_.baseline, "REF",                   \
               "also what changed since it"),                                                      \
        OPTION_ROW("delta", 0, OPTION_FRACTION, target_, member_.delta, "SHARE",                   \
                   "changes smaller than this do not matter (default 3%)"),                        \
        OPTION_ROW("filter", 0, OPTION_TEXTS, target_, member_.filters, "GLOB",                    \
                   "these benchmarks alone; repeat for more"),                                     \
        OPTION_ROW("group-by", 0, OPTION_STRING, target_, member_.group_by, "FACT",                \
                   "names runs: machine, gpu, cuda, label, branch, commit, compiler, flags"),      \
        OPTION_ROW("profile", 0, OPTION_STRINGS, target_, member_.profiles, "FILE[,NEWER]",        \
                   "where the time goes: a trace or a folder of `harness profile`; of two, what "  \
                   "changed"),                                                                     \
        OPTION_ROW("preset", 0, OPTION_STRINGS, target_, member_.presets, "FILE,...",              \
                   "figures of your own (JSON, as in plots/presets)"),                             \
        OPTION_ROW("config", 0, OPTION_STRING, target_, member_.config, "FILE",                    \
                   "settings that go over harness.json, or one saved figure"),                     \
        DB_ROW(target_, member_.db)

/* For the help of the commands that build. */
#define BUILDS_DETAILS                                                                             \
    "A build is cmake's, Release, with CUDA if this program has it; CC, CXX, CFLAGS and the\n"     \
    "like act as usual, and another compiler is another build. For anything else give\n"           \
    "--build-command.\n"                                                                           \
    "\n"

#endif
