/* SPDX-License-Identifier: MIT */
/*
 * The commands of the program. A command is one file cmd_<name>.c that defines a
 * `const struct command cmd_<name>` and one row in main.c; help, man page and completion read the
 * same tables. cli/ is the only layer that reads argv, prints and decides the exit status.
 */
#ifndef HARNESS_CLI_COMMAND_H
#define HARNESS_CLI_COMMAND_H

#include "base/error.h"
#include "base/options.h"
#include "verdict/exit_status.h"

#include <stdbool.h>
#include <stddef.h>

/* What the first argument of a command may be, as `prune` of `harness history`. */
struct command_action {
    const char *name;
    const char *summary; /* a few words, for help, the manual page and completion */
};

/* An option that some actions of a command lack: whose it is. */
struct command_owned {
    const char *option;  /* "dry-run" */
    const char *actions; /* "prune", or several: "list, verdicts" */
};

struct command {
    const char *name;
    const char *arguments; /* "[FILTER...]" */
    const char *summary;   /* one line */
    const char *details;   /* paragraphs and examples for `harness help NAME`, or NULL */
    /* The i-th of its actions, NULL behind the last. No function: it has none. */
    const struct command_action *(*action)(size_t i);
    const struct command_owned *owned; /* ended by a row without an option; NULL: none are */
    const struct option_row *options;
    size_t options_size; /* of the target struct of the options */
    /* argv holds what is not an option; `options` points to the filled target struct. Returns the
     * exit status, or -1 with an error (printed by main, exit status 2). */
    int (*run)(int argc, char **argv, void *options, struct error *err);
    bool hidden; /* not in the list of `harness help` */
};

/* 0, or an error that names the first argument beyond the `most` that are allowed. */
int command_no_more(int argc, char **argv, int most, struct error *err);
/* 0, or an error that names the actions with the option that this one lacks: who asks for a dry run
 * or for JSON is not handed a change or text with status 0. `options`: the filled target struct. */
int command_action_options(const struct command *c, const struct command_action *action,
                           const void *options, struct error *err);
/* The error that names all of them. */
int command_no_action(const struct command *c, const char *word, struct error *err);

/* NULL-ended, in the order of `harness help`. */
const struct command *const *command_all(void);
/* NULL and an error that names the nearest. */
const struct command *command_find(const char *name, struct error *err);

#endif
