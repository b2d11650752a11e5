/* SPDX-License-Identifier: MIT */
/*
 * A process that may read files and write to none: by Landlock, which Linux has from 5.13 on where
 * it is built in and turned on, and which asks for no rights. What is open already stays open. It
 * does not cover what a file's owner may do without opening it (chmod, chown, truncate before 6.2):
 * who needs that refuses those calls.
 */
#ifndef HARNESS_PROCESS_READ_ONLY_H
#define HARNESS_PROCESS_READ_ONLY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Can it be had here? */
bool read_only_there(void);
/* For this thread and all that it makes, for good; programs that they execute get no rights beyond
 * theirs either. Below `but` files may be made, written to and removed all the same, and no
 * folders; those that are not there are passed over. Below `own`, NULL: nowhere, also folders and
 * symbolic links, and files be moved from one folder to another, which takes Linux 5.19. -1 where
 * it is there and fails, and where it is not. */
int read_only_enter(const char *const *but, size_t nr, const char *own, struct error *err);

#endif
