/* SPDX-License-Identifier: MIT */
/* Who beside its owner may do what to a file: by modes, owners and groups; access lists count as
 * far as modes show them. */
#ifndef HARNESS_BASE_ACCESS_H
#define HARNESS_BASE_ACCESS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <sys/stat.h>

/* May that user write to the file? root, its owner, members of its group and all others where the
 * mode says so. */
bool access_may_write(const struct stat *file, uid_t user);
/* May every user of this machine read the file: by its own mode, and by those of all folders above
 * it? False where it is not there, or where that cannot be told. */
bool access_is_public(const char *path);

/*
 * Whether others than its owner and root may change the file or put another one in its place: all
 * users or a group by the mode of the file or of a folder above it without sticky bit, or another
 * owner of such a folder. Not: who may write to the file by intent, the members of its group. Of a
 * file that is not there the nearest folder above that is. `found` gets who may, `mend` what to do
 * about it.
 */
bool access_of_others(const char *path, struct strbuf *found, struct strbuf *mend);

#endif
