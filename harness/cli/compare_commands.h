/* SPDX-License-Identifier: MIT */
/* The commands that show the result of a comparison again, for those who only see its report. */
#ifndef HARNESS_CLI_COMPARE_COMMANDS_H
#define HARNESS_CLI_COMPARE_COMMANDS_H

#include "analysis/compare.h"
#include "base/options.h"
#include "cli/history_file.h"
#include "output/comment.h"

enum { COMPARE_COMMANDS_MAX = 3 };

/* What was asked for. All borrowed; members may be NULL or 0. */
struct compare_asked {
    const char *baseline, *head; /* REFs */
    const struct string_list *metrics;
    double q;
    bool any_machine;
    char **filters;
    size_t nr_filters;
};

struct compare_commands {
    struct comment_command items[COMPARE_COMMANDS_MAX]; /* texts owned */
    size_t nr;
};

/* The comparison from this history; where both sides are one commit each, measured again from
 * source; and where something got slower, the search for the commit. */
void compare_commands_make(const struct compare_asked *asked, const struct history_side *base,
                           const struct history_side *head, const struct comparison *c,
                           struct compare_commands *out);
void compare_commands_release(struct compare_commands *commands);

#endif
