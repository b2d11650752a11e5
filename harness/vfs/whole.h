/* SPDX-License-Identifier: MIT */
/* For store/ and history/: all of so many bytes at a place of a file, though a call may do less, or
 * be interrupted. -1 and errno; where the file ends before, that is EIO. */
#ifndef HARNESS_VFS_WHOLE_H
#define HARNESS_VFS_WHOLE_H

#include <stddef.h>
#include <sys/types.h>

int whole_read(int fd, void *bytes, size_t nr, off_t at);
int whole_write(int fd, const void *bytes, size_t nr, off_t at);

#endif
