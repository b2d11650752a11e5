/* SPDX-License-Identifier: MIT */
/*
 * A profile without its trace: the tables that profile.json (docs/formats/profile.md) and
 * prof_write_summary() keep. Rows of operations, times by iteration, parts of the time; no slice.
 *
 *     if (timeline_tables_is(text, length))
 *         timeline_tables_parse(text, length, "profile.json", &tables, err);
 *     timeline_tables_release(&tables);
 */
#ifndef HARNESS_TIMELINE_TIMELINE_TABLES_H
#define HARNESS_TIMELINE_TIMELINE_TABLES_H

#include "base/error.h"
#include "profile/summary.h"
#include "timeline/timeline_layers.h"
#include "timeline/timeline_split.h"

#include <stdbool.h>
#include <stddef.h>

struct timeline_tables {
    struct prof_trace texts; /* no slice: owner of the texts, with the meta of the recording */
    struct prof_summary summary;
    struct timeline_layers layers; /* nr_iterations 0: none are in the file */
    struct timeline_split split;   /* span 0: likewise */
};

/* Does a text begin as one of these does, and not as a trace? */
bool timeline_tables_is(const char *text, size_t length);
/* -1: it is none of both, or a number in it is none; the message names the member. Release the
 * tables whatever the result. `what` stands in messages. */
int timeline_tables_parse(const char *text, size_t length, const char *what,
                          struct timeline_tables *tables, struct error *err);
void timeline_tables_release(struct timeline_tables *tables);

#endif
