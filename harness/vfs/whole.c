/* SPDX-License-Identifier: MIT */
#include "vfs/whole.h"

#include <errno.h>
#include <unistd.h>

/* How far it is after a call that gave `done`; -1 and errno: no further. */
static ssize_t advance_by(ssize_t done)
{
    if (done == 0)
        errno = EIO;
    return done > 0 ? done : done < 0 && errno == EINTR ? 0 : -1;
}

int whole_read(int fd, void *bytes, size_t nr, off_t at)
{
    for (size_t done = 0; done < nr;) {
        ssize_t more = advance_by(pread(fd, (char *)bytes + done, nr - done, at + (off_t)done));
        if (more < 0)
            return -1;
        done += (size_t)more;
    }
    return 0;
}

int whole_write(int fd, const void *bytes, size_t nr, off_t at)
{
    for (size_t done = 0; done < nr;) {
        ssize_t more =
            advance_by(pwrite(fd, (const char *)bytes + done, nr - done, at + (off_t)done));
        if (more < 0)
            return -1;
        done += (size_t)more;
    }
    return 0;
}
