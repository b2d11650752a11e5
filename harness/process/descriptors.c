/* SPDX-License-Identifier: MIT */
#include "process/descriptors.h"

#include "process/proc_numbers.h"
#include "stats/random.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of linux/close_range.h, which older systems lack. */
enum { AT_EXEC = 1 << 2, NUMBERS_MAX = 1 << 16, HIDDEN_LOWEST = 64, HIDDEN_END = 1024 };

static void part_with(int fd, bool at_exec)
{
    if (at_exec)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    else
        close(fd);
}

static bool part_with_range(int from, unsigned to, bool at_exec)
{
    if ((unsigned)from > to)
        return true;
    return syscall(SYS_close_range, from, to, at_exec ? AT_EXEC : 0) == 0;
}

/* Only without /proc: the limit may have been lowered since, and a higher number be open. */
static void part_with_numbers(int lowest, int kept, bool at_exec)
{
    struct rlimit limit = { NUMBERS_MAX, NUMBERS_MAX };

    getrlimit(RLIMIT_NOFILE, &limit);
    int end = limit.rlim_cur < NUMBERS_MAX ? (int)limit.rlim_cur : NUMBERS_MAX;
    for (int fd = lowest; fd < end; fd++)
        if (fd != kept)
            part_with(fd, at_exec);
}

/* Numbers that are closed while one reads may hide others from the reader: again, until a pass
 * finds none. Those that are only marked stay, and one pass sees them all. */
static bool part_with_open(int lowest, int kept, bool at_exec)
{
    struct proc_numbers numbers;
    int found;

    do {
        long fd;
        found = 0;
        if (!proc_numbers_open(&numbers, "/proc/self/fd"))
            return false;
        while ((fd = proc_numbers_next(&numbers)) >= 0) {
            if (fd < lowest || fd == kept || fd == numbers.folder)
                continue;
            part_with((int)fd, at_exec);
            found++;
        }
    } while (found > 0 && !at_exec);
    return true;
}

static void part_with_all(int lowest, int kept, bool at_exec)
{
    bool done = kept < lowest ? part_with_range(lowest, UINT_MAX, at_exec)
                              : part_with_range(lowest, (unsigned)kept - 1, at_exec) &&
                                    part_with_range(kept + 1, UINT_MAX, at_exec);

    if (!done && !part_with_open(lowest, kept, at_exec))
        part_with_numbers(lowest, kept, at_exec);
}

void descriptors_close(int lowest, int kept)
{
    part_with_all(lowest, kept, false);
}

void descriptors_close_on_exec(int lowest)
{
    part_with_all(lowest, -1, true);
}

void descriptors_empty(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0 || null == fd)
        return;
    dup3(null, fd, fd > STDERR_FILENO ? O_CLOEXEC : 0);
    close(null);
}

/* No further: starting a process copies the table up to the highest number. */
static unsigned hidden_end(void)
{
    struct rlimit limit = { HIDDEN_END, HIDDEN_END };

    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur < HIDDEN_END ? (unsigned)limit.rlim_cur : HIDDEN_END;
}

void descriptors_make_room(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, (int)hidden_end() - 1);

    if (fd >= 0)
        close(fd);
}

int descriptors_hide(int fd)
{
    unsigned end = hidden_end();
    unsigned room = end > 2 * HIDDEN_LOWEST ? end - HIDDEN_LOWEST : 1;
    int lowest = HIDDEN_LOWEST + (int)(random_fresh_seed() % room);
    int hidden = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (hidden < 0) /* few are allowed */
        hidden = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
    if (hidden >= 0)
        descriptors_empty(fd);
    return hidden;
}

int descriptors_of_bytes(const char *name, const void *bytes, size_t length)
{
    int fd = memfd_create(name, MFD_CLOEXEC);

    for (size_t done = 0; fd >= 0 && done < length;) {
        ssize_t nr = pwrite(fd, (const char *)bytes + done, length - done, (off_t)done);
        if (nr < 0 && errno != EINTR) {
            int reason = errno;
            close(fd);
            errno = reason;
            return -1;
        }
        done += nr > 0 ? (size_t)nr : 0;
    }
    return fd;
}
