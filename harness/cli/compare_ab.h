/* SPDX-License-Identifier: MIT */
/*
 * `harness compare` where it measures both sides itself, in turn: two programs that are there
 * (--baseline-bin, --head-bin), two plugins (--baseline-plugin, --plugin), or two commits that are
 * built first (--build).
 */
#ifndef HARNESS_CLI_COMPARE_AB_H
#define HARNESS_CLI_COMPARE_AB_H

#include "analysis/compare.h"
#include "cli/choice.h"
#include "cli/history_file.h"

/* A member of the command's options, filled by COMPARE_AB_OPTION_ROWS. */
struct compare_ab_options {
    struct choice_options what;
    const char *baseline_bin, *head_bin, *baseline_plugin, *build_command, *build_program, *label;
    bool build, no_repeat;
    double budget, timeout;
    int64_t blocks, seed, memory_limit;
};

#define COMPARE_AB_OPTION_ROWS(target_, member_)                                                   \
    OPTION_ROW("baseline-bin", 0, OPTION_STRING, target_, member_.baseline_bin, "PATH",            \
               "measure this harness as the old side, in turn with the new one"),                  \
        OPTION_ROW("head-bin", 0, OPTION_STRING, target_, member_.head_bin, "PATH",                \
                   "and this one as the new side (default: this program)"),                        \
        OPTION_ROW("baseline-plugin", 0, OPTION_STRING, target_, member_.baseline_plugin, "FILE",  \
                   "measure this plugin as the old side, in turn with that of --plugin"),          \
        OPTION_ROW("build", 0, OPTION_FLAG, target_, member_.build, NULL,                          \
                   "build both REFs (default head: HEAD) and measure them in turn"),               \
        OPTION_ROW("build-command", 0, OPTION_STRING, target_, member_.build_command, "COMMAND",   \
                   "what builds $SOURCE in $BUILD (default: cmake, Release)"),                     \
        OPTION_ROW("build-program", 0, OPTION_STRING, target_, member_.build_program, "PATH",      \
                   "the harness that comes out, below $BUILD (default harness)"),                  \
        OPTION_ROW("budget", 0, OPTION_DURATION, target_, member_.budget, "TIME",                  \
                   "measuring: no block but the first that should end beyond it (default none)"),  \
        OPTION_RANGE_ROW("blocks", 0, OPTION_INT, target_, member_.blocks, 1, 1000, "N",           \
                         "measuring: at most N blocks of 2 launches a side (default 40)"),         \
        OPTION_ROW("timeout", 0, OPTION_DURATION, target_, member_.timeout, "TIME",                \
                   "measuring: kill a case that takes longer (default 5m)"),                       \
        NO_REPEAT_ROW(target_, member_.no_repeat),                                                 \
        MEMORY_LIMIT_ROW(target_, member_.memory_limit),                                           \
        OPTION_RANGE_ROW("seed", 0, OPTION_INT, target_, member_.seed, 1, INT64_MAX, "N",          \
                         "of order and inputs (default: fresh)"),                                  \
        OPTION_ROW("label", 0, OPTION_LINE, target_, member_.label, "TEXT",                        \
                   "names the two runs \"TEXT base\" and \"TEXT head\" (default ab)"),             \
        CHOICE_OPTION_ROWS(target_, member_.what, "ci", 0)

bool compare_ab_wanted(const struct compare_ab_options *o);
/* The name of an option that says how to measure, if one is given beside those that ask for it
 * (--build, --baseline-bin, --head-bin, --baseline-plugin); else NULL. */
const char *compare_ab_option(const struct compare_ab_options *o);
/* An error where options that only go with measuring are given without it, or the other way. */
int compare_ab_check(const struct compare_ab_options *o, const char *baseline, const char *head,
                     struct error *err);

struct compare_ab {
    const struct compare_ab_options *options;
    const char *baseline, *head; /* REFs to build; NULL: none, HEAD */
    const char *db;              /* --db, for the builds' folder */
    struct store *store;         /* STORE_WRITE */
    const struct compare_settings *settings;
    char **filters; /* what to measure */
    int nr_filters;
};

/* Measures; fills the sides as history_load_side() does. Tells on standard error what is measured
 * and what ended it. 0, or the status 128 + signal of an interrupt that left something to compare,
 * or -1. Release the sides whatever the result. */
int compare_ab_run(const struct compare_ab *ab, struct history_side *base,
                   struct history_side *head, struct error *err);

#endif
