/* SPDX-License-Identifier: MIT */
/* A folder for what is temporary, of one process that is not trusted: made before it, and removed,
 * with all that it left there, when it has ended. */
#ifndef HARNESS_PROCESS_OWN_FOLDER_H
#define HARNESS_PROCESS_OWN_FOLDER_H

#include "base/error.h"

/* Below $TMPDIR, or where none can be made there, /tmp or /dev/shm. NULL: nowhere. */
char *own_folder_make(struct error *err);
/* And frees its name; NULL is none. What cannot be removed stays: folders that their maker has made
 * unreadable, or so deep that no path leads there. */
void own_folder_remove(char *folder);

#endif
