/* SPDX-License-Identifier: MIT */
/*
 * What the completions of all shells share: what may stand behind an option or command, told from
 * the tables. A shell's file knows nothing of its own.
 *
 * Names come from histories and configurations of strangers, and are asked for at every TAB: the
 * program prints them one a line (terminal_name()), the shells read lines and expand nothing.
 */
#ifndef HARNESS_CLI_HELP_COMPLETION_BASE_H
#define HARNESS_CLI_HELP_COMPLETION_BASE_H

#include "base/strbuf.h"
#include "cli/command.h"

enum completion_kind {
    COMPLETION_NOTHING, /* a number, a text: nobody can guess */
    COMPLETION_FILES,
    COMPLETION_FOLDERS,
    COMPLETION_WORDS,  /* of a fixed list */
    COMPLETION_NAMES,  /* of what the program lists when it is asked */
    COMPLETION_EITHER, /* the same, or a file */
};

struct completion {
    enum completion_kind kind;
    char words[512]; /* with a blank between two; of names what is listed: "kernels", "baselines" */
};

/* Whether it has a name to be offered: what stands behind "--" has none. */
bool completion_has_name(const struct option_row *row);
/* Of the value of an option that takes one. */
struct completion completion_of_option(const struct option_row *row);
/* Of what is no option; of a command with actions: the first of them. */
struct completion completion_of_arguments(const struct command *c);
/* What may stand behind an action, the same for all of a command. */
struct completion completion_behind_action(const struct command *c);

/* Whose option it is where some actions lack it, "list, verdicts"; NULL: it is of all. */
const char *completion_owners(const struct command *c, const struct option_row *row);
/* Appends the names of the actions that have such an option, or of those that do not, each behind
 * the separator. */
void completion_add_owners(struct strbuf *out, const struct command *c, const char *owners,
                           bool have, char separator);

/* The whole file for a shell. */
void completion_bash(struct strbuf *out);
void completion_zsh(struct strbuf *out);
void completion_fish(struct strbuf *out);

#endif
