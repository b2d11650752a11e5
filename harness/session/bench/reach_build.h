/* SPDX-License-Identifier: MIT */
/*
 * What the build of one side recorded: which files each thing that is measured was made of. Files
 * are named from the top of the sources.
 *
 *   - of a command: the inputs of all that it names below $BUILD, and what the objects among them
 *     were made of (ninja's `-t inputs` and `-t deps`). Without ninja it is not known, nor where it
 *     names something there that ninja does not make: a file that another program left, say.
 *   - of a variant of harness's own kernels: what its object was made of, and the objects whose
 *     functions and data it refers to, from one to the next (nm(1)); so a model is made of the
 *     operations that it calls. To all of them comes what runs in the process that is measured.
 *     Objects and their files are those that ninja recorded, or the .d files of a build by make.
 */
#ifndef HARNESS_SESSION_BENCH_REACH_BUILD_H
#define HARNESS_SESSION_BENCH_REACH_BUILD_H

#include "base/options.h"
#include "session/builds/builds.h"

#include <stdbool.h>
#include <stddef.h>

/* One of them; all members are borrowed. */
struct reach_thing {
    const char *name;    /* for people and for a map */
    const char *command; /* of a bench; NULL: a variant ... */
    const char
        *symbol; /* ... by the list that it stands in, see core/registry.h; NULL: not known */
};

struct reach_build {
    const struct built *built;
    size_t nr;
    struct string_list files; /* whatever the build is known to be made of; sorted */
    struct string_list *made; /* of each thing, the files that it is made of; sorted */
    bool *known;              /* of each thing: `made` is all there is */
};

/* Never fails: what cannot be found out is not known. Release `out`. */
void reach_build_read(const struct built *built, const struct reach_thing *things, size_t nr,
                      struct reach_build *out);
/* Is that file one of those that the build is known to be made of? */
bool reach_build_has(const struct reach_build *b, const char *file);
/* May that file be part of the thing? True where it is not known. */
bool reach_build_may(const struct reach_build *b, size_t thing, const char *file);
void reach_build_release(struct reach_build *b);

/* What a command names below $BUILD: what stands behind each $BUILD/ or ${BUILD}/, quoted or not,
 * programs, libraries and data alike. False: nothing, or it cannot be told: the folder itself is
 * named, or a part of a name comes from elsewhere. */
bool reach_programs(const char *command, struct string_list *programs);

#endif
