/* SPDX-License-Identifier: MIT */
/* For store/ and history/: files with holes, which read as zeros and cost nothing. Whoever passes
 * by all of a file that somebody else made passes by its holes, or `truncate -s 1T` keeps it busy.
 */
#ifndef HARNESS_VFS_SPARSE_H
#define HARNESS_VFS_SPARSE_H

#include <sys/types.h>

/* Where content begins at `at` or behind it; -1: nothing but a hole follows. */
off_t sparse_content(int fd, off_t at);
/* The first `length` bytes of the one file into the other, which is empty; holes stay holes. -1 and
 * errno. */
int sparse_copy(int from, int to, off_t length);

#endif
