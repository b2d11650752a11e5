/* SPDX-License-Identifier: MIT */
/*
 * What to type next about a change of a history: the search for its commit, or where the
 * environment changed or the change came bit by bit, both ends measured in turn. Only a command
 * that works as it stands, in the folder where it is printed; else the reason why there is none.
 */
#ifndef HARNESS_REPORTERS_TREND_TREND_COMMAND_H
#define HARNESS_REPORTERS_TREND_TREND_COMMAND_H

#include "base/strbuf.h"
#include "trend/trend.h"

#include <stdbool.h>

struct trend_command {
    struct strbuf text;  /* one line of a POSIX shell; "": there is none */
    const char *purpose; /* "which commit did it" */
    const char *reason;  /* why there is none; NULL where nobody would ask: it is not there any
                          * more, is accepted, or is for the better */
};

/* Asks t->settings.repository. Release the result. */
void trend_command_make(const struct trends *t, const struct trend_card *card,
                        struct trend_command *out);
void trend_command_release(struct trend_command *command);

/* Appends the command in lines of at most `width` characters, as far as its words allow, each but
 * the last with a backslash at its end; `indent` spaces go before each. 0: one line. */
void trend_command_fold(const char *text, size_t indent, size_t width, struct strbuf *out);

#endif
