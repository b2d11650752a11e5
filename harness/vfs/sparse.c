/* SPDX-License-Identifier: MIT */
#include "vfs/sparse.h"

#include "base/memory.h"
#include "vfs/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

off_t sparse_content(int fd, off_t at)
{
    off_t content = lseek(fd, at, SEEK_DATA);

    if (content >= 0)
        return content;
    return errno == ENXIO ? -1 : at; /* some file systems cannot be asked */
}

static int copy_piece(int from, int to, off_t at, off_t end)
{
    char *buffer = memory_zeroed(BUFFER, 1);
    ssize_t nr = 0;

    for (; at < end; at += nr) {
        size_t wanted = end - at < BUFFER ? (size_t)(end - at) : BUFFER;
        do
            nr = pread(from, buffer, wanted, at);
        while (nr < 0 && errno == EINTR);
        if (nr <= 0)
            break; /* it was cut meanwhile */
        if (whole_write(to, buffer, (size_t)nr, at)) {
            nr = -1;
            break;
        }
    }
    int reason = errno;
    free(buffer);
    errno = reason;
    return nr < 0 ? -1 : 0;
}

int sparse_copy(int from, int to, off_t length)
{
    for (off_t at = 0; at < length && (at = sparse_content(from, at)) >= 0;) {
        off_t hole = lseek(from, at, SEEK_HOLE);
        off_t end = hole < 0 || hole > length ? length : hole;
        if (copy_piece(from, to, at, end))
            return -1;
        at = end > at ? end : length;
    }
    return ftruncate(to, length);
}
