/* SPDX-License-Identifier: MIT */
/* `harness compare -- A --versus B`. Inside cli/ only. */
#ifndef HARNESS_CLI_COMPARE_COMMANDS_H
#define HARNESS_CLI_COMPARE_COMMANDS_H

#include "cli/shared_options.h"
#include "session/compare/compare.h"

/* What the options of `compare` have beside a struct compare_request. */
struct compare_commands_options {
    struct command_options command;
    const char *setup, *cleanup;
    int64_t warmup, runs;
};

/* Of a struct compare_commands_options. */
#define COMPARE_COMMANDS_OPTION_ROWS(target_, member_)                                             \
    COMMAND_OPTION_ROWS(target_, member_.command),                                                 \
        OPTION_ROW("setup", 0, OPTION_STRING, target_, member_.setup, "COMMAND",                   \
                   "commands: shell command before all runs of a setting"),                        \
        OPTION_ROW("cleanup", 0, OPTION_STRING, target_, member_.cleanup, "COMMAND",               \
                   "commands: shell command after all runs of a setting"),                         \
        OPTION_RANGE_ROW("warmup", 0, OPTION_INT, target_, member_.warmup, 1, 1000000, "N",        \
                         "commands: runs of each before the first that counts (default 1)"),       \
        OPTION_RANGE_ROW("runs", 0, OPTION_INT, target_, member_.runs, 2, 2000, "N",               \
                         "commands: exactly N runs of each, instead of until it is decided")

/* Where and how the result goes. */
struct compare_commands_output {
    const char *db, *format, *output;
};

/* Whether there are commands to compare; -1 where an option is given that only they have, and they
 * are not there. */
int compare_commands_asked(const struct compare_commands_options *o, bool plugins,
                           struct error *err);
/* `request` has the settings of the comparison and of measuring; its filters must be none. The exit
 * status, or -1. */
int compare_commands(const struct compare_commands_options *o, struct compare_request *request,
                     const struct compare_commands_output *output, struct error *err);

#endif
