/* SPDX-License-Identifier: MIT */
/*
 * Which benchmarks can a change not reach? Answered for each file that it touches, and only by what
 * is known:
 *
 *   - a line of the user's map, "PATTERN: NAME..." (fnmatch(3); `*` takes slashes, too), says which
 *     benches the file can reach; none behind the colon: none. The first line that fits counts.
 *   - else what the builds of both sides recorded: ninja's `-t inputs` of the program that a
 * command names below $BUILD, and `-t deps` of the objects in it.
 *   - else everything is reached. A file that no object was made of (a list of a build, a script,
 *     data) may do anything, and so may any file to a bench whose program ninja does not know.
 *
 * What it cannot see is a library that a program opens while it runs, where that is built from
 * files that only it has; a line of the map says so.
 */
#ifndef HARNESS_SESSION_BENCH_REACH_H
#define HARNESS_SESSION_BENCH_REACH_H

#include "base/options.h"
#include "session/bench/bench.h"
#include "session/builds/builds.h"
#include "session/measure/ab.h"

#include <stdbool.h>

struct reach_request {
    const struct bench_list *benches;
    const struct built *side[AB_SIDES]; /* foreign */
    const char *map;                    /* a file; NULL: none */
};

struct reach {
    struct string_list changed; /* files, from the top of the repository */
    bool *left_out;             /* of each bench: no file reaches it; owned */
    size_t nr_left_out;
    char *unknown; /* a file that may do anything; owned, NULL: there is none */
};

/* -1: the map cannot be read, or names a bench that is not there: before anything is built. */
int reach_check(const struct reach_request *r, struct error *err);
/* -1: git or the map cannot be read, or it names a bench that is not there. Release whatever the
 * result. */
int reach_find(const struct reach_request *r, struct reach *out, struct error *err);
void reach_release(struct reach *r);

/* The program of a command, relative to $BUILD: the first word that begins with $BUILD/ or
 * ${BUILD}/, quoted or not. False: there is none. */
bool reach_program(const char *command, char *program, size_t size);

#endif
