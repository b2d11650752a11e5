/* SPDX-License-Identifier: MIT */
/*
 * What a profile answers, in words: which operation takes the time and how near it comes to its
 * roof; of two profiles, which one changed most. Sentences end in a full stop; all functions
 * append.
 */
#ifndef HARNESS_VIEW_PROFILE_ANSWER_H
#define HARNESS_VIEW_PROFILE_ANSWER_H

#include "base/strbuf.h"
#include "output/profile_data.h"
#include "timeline/timeline_diff.h"

/* An operation and its part of the time that counts. */
struct ranked_row {
    const struct prof_row *row;
    double ns, share;
};

enum ranked_by {
    RANKED_BY_SELF,   /* own time on the main thread: nothing ran on a GPU */
    RANKED_BY_GPU,    /* time on GPUs of the work that the scope started */
    RANKED_BY_KERNEL, /* own time on a stream: no scope is known to have started it */
};

struct ranked {
    struct ranked_row *items; /* the longest first, none of no time; owned */
    size_t nr;
    enum ranked_by by;
};

void ranked_init(struct ranked *ranked, const struct profile_data *data);
void ranked_release(struct ranked *ranked);
/* "own time on the main thread", ... */
const char *ranked_by_words(enum ranked_by by);

/* "head takes 65.5 % of gpt/nano/prefill and runs at 93 % of the FMA roof." */
void profile_headline(const struct profile_data *data, const struct ranked *ranked,
                      struct strbuf *out);
/* "30 iterations of 54.2 ms (median); their operations cover 99.8 %; the last of 3 launches.";
 * nothing without iterations. */
void profile_iterations_words(const struct profile_data *data, struct strbuf *out);
/* "35.2 ms, 65.5 % of the time, 30 calls, median 1.17 ms, 41.2 GFLOP/s, 93 % of the FMA roof" */
void profile_row_words(const struct profile_data *data, const struct ranked_row *item,
                       struct strbuf *out);

/* "fc changed most: 161 µs more an iteration (+25.0 %), 98.2 % of all change." Of the host where it
 * recorded anything, else of the device. */
void profile_change_headline(const struct timeline_diff *diff, struct strbuf *out);
/* "An iteration of new takes 3.71 ms, one of old 3.52 ms (+5.3 %)." */
void profile_totals_words(const struct timeline_diff *diff, const char *before, const char *after,
                          struct strbuf *out);
/* "644 µs before, 805 µs after (+25.0 %), 98.2 % of all change" */
void profile_change_words(const struct diff_row *row, struct strbuf *out);
/* The side that the words on changes are about. */
enum prof_side profile_change_side(const struct timeline_diff *diff);

#endif
