/* SPDX-License-Identifier: MIT */
/* `harness compare --format github`: the comment of a pull request, with what the history says. */
#ifndef HARNESS_CLI_RENDER_COMPARE_COMMENT_H
#define HARNESS_CLI_RENDER_COMPARE_COMMENT_H

#include "base/options.h"
#include "session/compare/compare.h"

/* A member of the command's options, filled by COMPARE_COMMENT_OPTION_ROWS. */
struct compare_comment_options {
    const char *id, *report, *plots, *images, *image_base;
};

#define COMPARE_COMMENT_OPTION_ROWS(target_, member_)                                              \
    OPTION_ROW("comment-id", 0, OPTION_LINE, target_, member_.id, "NAME",                          \
               "github: the comment that is replaced by this one (default: the suite)"),           \
        OPTION_ROW("link-report", 0, OPTION_STRING, target_, member_.report, "URL",                \
                   "github: where the report lies"),                                               \
        OPTION_ROW("link-plots", 0, OPTION_STRING, target_, member_.plots, "URL",                  \
                   "github: where the plots lie"),                                                 \
        OPTION_ROW("images", 0, OPTION_STRING, target_, member_.images, "FOLDER",                  \
                   "github: draw the changes and the trends of what changed there, as PNG"),       \
        OPTION_ROW("image-base", 0, OPTION_STRING, target_, member_.image_base, "URL",             \
                   "github: where that folder will be seen; the comment shows the pictures")

/* The name of the first of these that was given; NULL: none was. */
const char *compare_comment_option(const struct compare_comment_options *o);
/* Addresses that are none, and options that go with another format. */
int compare_comment_check(const struct compare_comment_options *o, bool github, struct error *err);

struct compare_comment {
    const struct compare_comment_options *options;
    const struct compare_request *request;
    const struct compared *compared;
    const char *db; /* --db as it was given, for the commands; NULL: it was not */
};

/* Appends the comment. What cannot be had of the history or drawn is told on standard error; the
 * comment stands without it. */
void compare_comment_write(const struct compare_comment *job, struct strbuf *out);
/* The one that says that there is nothing to compare with, and why. */
void compare_comment_nothing(const struct compare_comment *job, const char *reason,
                             struct strbuf *out);

#endif
