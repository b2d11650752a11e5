/* SPDX-License-Identifier: MIT */
/* The options of `harness run -- COMMAND`. */
#ifndef HARNESS_CLI_COMMAND_OPTIONS_H
#define HARNESS_CLI_COMMAND_OPTIONS_H

#include "base/options.h"
#include "guest/command.h"

/* A member of a command's options struct, filled by COMMAND_OPTION_ROWS. */
struct command_options {
    struct option_rest argv;
    const char *name, *prepare, *expect;
    bool ignore_status;
};

#define COMMAND_OPTION_ROWS(target_, member_)                                                      \
    OPTION_ROW("", 0, OPTION_REST, target_, member_.argv, "COMMAND...",                            \
               "time a program: a fresh process a sample, as command/NAME"),                       \
        OPTION_ROW("name", 0, OPTION_STRING, target_, member_.name, "NAME",                        \
                   "of the command (default: its file's)"),                                        \
        OPTION_ROW("prepare", 0, OPTION_STRING, target_, member_.prepare, "COMMAND",               \
                   "shell command before each run of it, not timed"),                              \
        OPTION_ROW("expect", 0, OPTION_STRING, target_, member_.expect, "FILE",                    \
                   "what each run must write to its standard output, else WRONG"),                 \
        OPTION_ROW("ignore-status", 0, OPTION_FLAG, target_, member_.ignore_status, NULL,          \
                   "exit statuses other than 0 are fine, too")

/* -1 where one of the others is given without a command. */
int command_options_unused(const struct command_options *o, struct error *err);
/* What is to be run; its dims are left empty. command_spec_release() whatever the result. */
int command_options_spec(const struct command_options *o, struct command_spec *spec,
                         struct error *err);

#endif
