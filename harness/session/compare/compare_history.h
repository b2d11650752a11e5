/* SPDX-License-Identifier: MIT */
/* What the history says of the rows of a comparison that got slower or faster, for its report: the
 * values of earlier runs, and pictures of them. */
#ifndef HARNESS_SESSION_COMPARE_COMPARE_HISTORY_H
#define HARNESS_SESSION_COMPARE_COMPARE_HISTORY_H

#include "reporters/comment/comment.h"
#include "session/history_file.h"
#include "verdict/compare.h"

/* Earlier: finished runs of the head's machine class that began before the head's, on the branch of
 * the base where that has any, the newest 200 of them. */
struct compare_history {
    struct store *store;
    struct records runs; /* without measurements */
    const struct history_side *head;
};

/* Release it whatever the result. */
int compare_history_load(struct compare_history *earlier, struct store *store,
                         const struct history_side *base, const struct history_side *head,
                         struct error *err);
void compare_history_release(struct compare_history *earlier);

/* The histories of the first 400 rows of comment_changes(). */
int compare_history_series(const struct compare_history *earlier, const struct comparison *c,
                           struct comment_histories *out, struct error *err);

/* Draws the trend of each history into the folder, 24 at most, as PNG: trend-<key>-<hash>.png. The
 * name depends on the key alone. The histories get file names and descriptions; one that cannot be
 * drawn for want of runs gets none. Returns how many were left out because of the limit, or -1. */
int compare_history_draw(const struct compare_history *earlier, const char *folder,
                         struct comment_histories *histories, struct error *err);

/* Draws the overview there as overview-<name>-<hash>.png. Where there is nothing to show, `out`
 * stays as it is. */
int compare_history_draw_overview(const struct compare_history *earlier, const struct comparison *c,
                                  const struct history_side *base, const char *name,
                                  const char *folder, struct comment_picture *out,
                                  struct error *err);

#endif
