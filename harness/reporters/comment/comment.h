/* SPDX-License-Identifier: MIT */
/*
 * A comparison as the comment of a pull request: one Markdown text for GitHub, plain enough to be
 * read as a mail.
 *
 *     <!-- harness:NAME -->           the first line, by which the comment is found and replaced
 *     verdict in words, the worst change, counts, what speaks against the code as the reason
 *     what is broken, missing, failing, fixed
 *     a table of what got slower or faster, five columns and a screen at most, with the history of
 *         each as a sparkline about its base
 *     <details> why it got slower, where that was asked for
 *     the overview as a picture; where no host has pictures a Mermaid chart, whose axis begins at
 *         the base: history of the worst change, the head at its end
 *     <details> all rows, <details> pictures of trends, <details> what differs between the sides
 *     the commands that show the same elsewhere, and links
 *
 * It never has more than COMMENT_LIMIT bytes. What is too long is written anew with less, in fixed
 * steps: no charts; no rows that are the same; only the first of what got slower or faster; only
 * the summary. A last sentence says what was left out. So nothing is ever cut in the middle.
 */
#ifndef HARNESS_REPORTERS_COMMENT_COMMENT_H
#define HARNESS_REPORTERS_COMMENT_COMMENT_H

#include "base/error.h"
#include "base/strbuf.h"
#include "core/record.h"
#include "explain/explain.h"
#include "verdict/compare.h"

#include <stddef.h>

/* GitHub takes 65,536 characters; what posts the comment may add a line of its own. */
enum { COMMENT_LIMIT = 60000 };

struct comment_picture {
    char *file;        /* its name in the folder of the pictures; owned, NULL: there is none */
    char *description; /* for those who cannot see it; owned, may be NULL */
};

void comment_picture_release(struct comment_picture *picture);

/* What earlier runs say of a row. */
struct comment_history {
    const struct compare_item *item; /* the row's; borrowed */
    double *values; /* in the metric's unit, oldest first, without the head; owned */
    size_t nr;
    struct comment_picture picture; /* owned */
};

struct comment_histories {
    struct comment_history *items;
    size_t nr, capacity;
};

void comment_histories_release(struct comment_histories *histories);
const struct comment_history *comment_history_of(const struct comment_histories *histories,
                                                 const struct compare_row *row);

struct comment_command {
    const char *what; /* "measured again here, both commits in turn" */
    const char *text; /* one line, quoted for a shell (escape_shell()) */
};

/* All members may be NULL or 0. */
struct comment_options {
    const char *name;                  /* of the comparison: a suite; NULL: "compare" */
    const char *base_name, *head_name; /* for people */
    const struct records *base, *head; /* for what differs between them */
    const struct comment_histories *histories;
    const struct explanations *explanations; /* of what got slower */
    const struct comment_picture *picture;   /* the overview, or NULL */
    const struct comment_command *commands;
    size_t nr_commands;
    const char *report, *plots; /* addresses that passed comment_check_address() */
    const char *images;         /* of the folder of the pictures; the same */
    const char *commits; /* what stands before a hash where a forge shows commits; the same */
};

/* An address that can stand in a link: http or https, of less than 1000 characters. `what` stands
 * in the message ("--link-report"). NULL is fine. */
int comment_check_address(const char *what, const char *address, struct error *err);

/* Appends the comment. */
void comment_github(const struct comparison *c, const struct comment_options *options,
                    struct strbuf *out);
/* The same where there was nothing to compare with, for `reason`. */
void comment_github_nothing(const struct comment_options *options, const char *reason,
                            struct strbuf *out);

/* The rows that got slower or faster, the worst first: what the histories are for. Returns how
 * many; free() *rows. */
size_t comment_changes(const struct comparison *c, const struct compare_row ***rows);

#endif
