/* SPDX-License-Identifier: MIT */
/*
 * Programs built from commits: a git worktree and a build folder a commit, kept beside the history
 * (.harness/builds/<commit>-<recipe>) and used again. Shared by `compare --build` and `bisect`.
 *
 * The recipe is the command (or cmake's settings) and the compilers: the variables by which they
 * are chosen and told what to do (CC, CXX, CFLAGS ..., which reach the build as the whole
 * environment does), and what the compilers say of their versions. Another compiler is another
 * build.
 *
 * What comes out is a harness, or whatever a project builds (`foreign`): then nothing is asked of
 * it but that the build succeeds.
 *
 * The user's own checkout, index and branches are never touched; git's list of worktrees grows by
 * one a build. One process builds at a time, others wait (a lock in the folder of builds). What an
 * interrupted or failed build leaves is removed before the next try; a build that ended stays, also
 * where another of its programs is asked for.
 */
#ifndef HARNESS_SESSION_BUILDS_BUILDS_H
#define HARNESS_SESSION_BUILDS_BUILDS_H

#include "base/error.h"
#include "session/builds/git.h"

#include <signal.h>
#include <stdbool.h>

struct build_recipe {
    const char *command; /* run by the shell in the worktree, with $SOURCE and $BUILD set; NULL:
                          * cmake, Release, with CUDA if this program has it; nothing else of how
                          * this program was configured is passed on */
    const char *program; /* the executable, relative to $BUILD; NULL: "harness" */
    bool foreign;        /* a project of any kind: no `program`; without a command cmake builds all
                          * of it, in Release, where it has a CMakeLists.txt, else nothing is built */
    const char *folder;  /* of all builds; made where it is not there */
    const volatile sig_atomic_t *interrupted;
    /* Called before a build begins, not for one that is there; may be NULL. */
    void (*begins)(const void *context, const char *commit, const char *title);
    const void *context;
};

struct built {
    char commit[GIT_HASH_SIZE]; /* full */
    char title[GIT_TITLE_SIZE]; /* first line of its message */
    char *program;              /* path; owned; NULL where it could not be built. Of a foreign one
                                 * the same as `build` */
    char *source, *build, *folder; /* its sources, what was built, and the folder of both; owned */
    char *complaint; /* last lines of the build's output where it failed, that it made no such
                      * program, or how that does not run; owned; NULL if fine */
    bool was_there;  /* built before */
};

/* The full hash of what git calls `ref`; an unknown one is an error that tells where it looked. */
int builds_resolve(const char *ref, char commit[GIT_HASH_SIZE], struct error *err);
/* Builds `commit` unless it was built before. A failing build, or one whose program does not tell
 * its version, is no error: program is NULL and complaint tells. -1: no git, no repository, no
 * room, interrupted. Release `out`. */
int builds_make(const char *commit, const struct build_recipe *recipe, struct built *out,
                struct error *err);
void built_release(struct built *b);
#endif
