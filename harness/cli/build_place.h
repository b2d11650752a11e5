/* SPDX-License-Identifier: MIT */
/* Where one build lies on the disk, and its git worktree. Shared by the files of cli/builds.h. */
#ifndef HARNESS_CLI_BUILD_PLACE_H
#define HARNESS_CLI_BUILD_PLACE_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>

struct build_place {
    struct strbuf root;                     /* .../builds, absolute */
    struct strbuf folder;                   /* .../builds/<commit>-<recipe> */
    struct strbuf source, build, log, mark; /* inside it; the mark is written last */
    struct strbuf program;                  /* inside `build` */
};

/* Makes the folder of all builds, beside the history `db` (NULL: the default one), and names the
 * paths of this one. Release `p` whatever the result. */
int build_place_init(struct build_place *p, const char *db, const char *name, const char *program,
                     struct error *err);
void build_place_release(struct build_place *p);

bool build_place_has_program(const struct build_place *p);
/* It has, and the build was finished. */
bool build_place_is_built(const struct build_place *p);
/* Removes what an interrupted or failed build has left. */
int build_place_clear(const struct build_place *p, struct error *err);
/* The commit's sources as a detached git worktree, and an empty build folder. */
int build_place_check_out(const struct build_place *p, const char *commit, struct error *err);
/* Bytes that may still be written there. */
double build_place_room(const struct build_place *p);

#endif
