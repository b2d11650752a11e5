/* SPDX-License-Identifier: MIT */
#include "process/proc_numbers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What getdents64() fills. */
struct entry {
    uint64_t inode;
    int64_t next;
    unsigned short length;
    unsigned char type;
    char name[];
};

bool proc_numbers_open(struct proc_numbers *n, const char *folder)
{
    n->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    n->length = n->at = 0;
    return n->folder >= 0;
}

long proc_numbers_next(struct proc_numbers *n)
{
    for (;;) {
        if (n->at >= n->length) {
            n->length = syscall(SYS_getdents64, n->folder, n->block, sizeof(n->block));
            n->at = 0;
        }
        if (n->length <= 0)
            break;
        const struct entry *e = (const struct entry *)(const void *)(n->block + n->at);
        n->at += e->length;
        if (e->name[0] >= '0' && e->name[0] <= '9')
            return strtol(e->name, NULL, 10);
    }
    close(n->folder);
    return -1;
}
