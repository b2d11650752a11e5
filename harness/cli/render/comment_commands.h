/* SPDX-License-Identifier: MIT */
/*
 * The commands below a comment: what shows the comparison again, measures its largest change again,
 * and looks for the commit. Only those that work as they stand, in the folder where the comment was
 * made: how something was measured is read from its runs, and where nobody could measure it again
 * by a command (results that were imported, a plugin, commits that are not here), none is given.
 */
#ifndef HARNESS_CLI_RENDER_COMMENT_COMMANDS_H
#define HARNESS_CLI_RENDER_COMMENT_COMMANDS_H

#include "cli/render/compare_comment.h"
#include "reporters/comment/comment.h"

enum { COMMENT_COMMANDS_MAX = 3 };

struct comment_commands {
    struct comment_command items[COMMENT_COMMANDS_MAX]; /* texts owned */
    size_t nr;
};

void comment_commands_make(const struct compare_comment *job, struct comment_commands *out);
void comment_commands_release(struct comment_commands *commands);

#endif
