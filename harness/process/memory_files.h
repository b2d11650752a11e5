/* SPDX-License-Identifier: MIT */
/*
 * Files whose content is memory and that have no name (memfd_create(), deleted files of a tmpfs),
 * held by descriptors or mappings of processes: nobody else would give their memory back. Each
 * counts once. For a memory watch, which makes such a set at each look.
 *
 * Of one that is open the system tells how much it holds. Of one that is only mapped, though a page
 * of it keeps the whole, it tells that to an administrator alone (/proc/PID/map_files); to others
 * it is the larger of what is mapped and of what was seen when it was open.
 */
#ifndef HARNESS_PROCESS_MEMORY_FILES_H
#define HARNESS_PROCESS_MEMORY_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory_file {
    dev_t device;
    ino_t inode;
    int64_t bytes;
    bool used, open; /* the place in the table; held by a descriptor */
};

/* Zeroed it is empty. */
struct memory_files {
    struct memory_file *places; /* by hash */
    size_t nr, room;
};

void memory_files_release(struct memory_files *f);
/* Those that a process has open; `folder` is its in /proc. `before`: of the look before. */
void memory_files_add_open(struct memory_files *f, const struct memory_files *before,
                           const char *folder);
/* Those that it has mapped. Behind all that are open. */
void memory_files_add_mapped(struct memory_files *f, const struct memory_files *before,
                             const char *folder);
/* In place of that, where nobody looked: all of before. */
void memory_files_keep(struct memory_files *f, const struct memory_files *before);
int64_t memory_files_bytes(const struct memory_files *f);
/* Bytes of these files that also count as memory of a process which has mapped them. */
int64_t memory_files_twice(const struct memory_files *f, const char *folder);

#endif
