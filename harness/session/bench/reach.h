/* SPDX-License-Identifier: MIT */
/*
 * Which of the things that are measured can a change not reach? Answered for each file that it
 * touches, and only by what is known:
 *
 *   - a line of the user's map, "PATTERN: NAME..." (fnmatch(3), both sides of the colon; `*` takes
 *     slashes, too), says which things the file can reach; none behind the colon: none. The first
 *     line that fits counts.
 *   - else what the builds of both sides recorded, see reach_build.h;
 *   - else everything is reached. A file that no object was made of (a list of a build, a script,
 *     data) may do anything, and so may any file to a thing of which the build tells nothing.
 *
 * What it cannot see is a library that a program opens while it runs, where that is built from
 * files that only it has; a line of the map says so.
 */
#ifndef HARNESS_SESSION_BENCH_REACH_H
#define HARNESS_SESSION_BENCH_REACH_H

#include "base/options.h"
#include "session/bench/reach_build.h"
#include "session/builds/builds.h"
#include "session/measure/ab_session.h"

#include <stdbool.h>

struct reach_request {
    const struct reach_thing *things;
    size_t nr;
    const struct built *side[AB_SIDES];
    const char *map; /* a file; NULL: none */
};

struct reach {
    struct string_list changed; /* files, from the top of the repository */
    bool *left_out;             /* of each thing: no file reaches it; owned */
    size_t nr_left_out;
    char *unknown; /* a file that may do anything; owned, NULL: there is none */
};

/* -1: the map cannot be read, or names a thing that is not there: before anything is built. */
int reach_check(const struct reach_request *r, struct error *err);
/* -1: git or the map cannot be read, or it names a thing that is not there. Release whatever the
 * result. */
int reach_find(const struct reach_request *r, struct reach *out, struct error *err);
void reach_release(struct reach *r);

#endif
