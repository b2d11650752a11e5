/* SPDX-License-Identifier: MIT */
/* The system calls that tests/faults fails, in classes that fail alike. */
#ifndef HARNESS_TESTS_FAULTS_CALLS_H
#define HARNESS_TESTS_FAULTS_CALLS_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

enum { CALLS_MAX = 128, SHORT = 4096 };

enum call_class {
    CLASS_NONE,
    CLASS_START, /* rt_sigaction: tells when a program begins, is not failed */
    CLASS_OPEN,
    CLASS_READ,
    CLASS_WRITE,
    CLASS_SYNC,
    CLASS_RENAME,
    CLASS_UNLINK,
    CLASS_CLONE,
    CLASS_EXEC,
    CLASS_WAIT,
    CLASS_PIPE,
    CLASS_MEMORY,
    CLASS_STAT,
    CLASS_TRUNCATE,
    CLASS_POLL,
    CLASS_DUP,
    CLASS_LOCK, /* fcntl that takes one: see class_by_arguments() of faults.c */
    CLASS_RANDOM,
    CLASS_SOCKET,
    CLASS_FOLDER,
    CLASS_LIMITS,
    CLASS_SIGNAL,
    CLASS_NR
};

static const char *const class_names[CLASS_NR] = {
    "none",  "start", "open",   "read",   "write",  "sync",   "rename",   "unlink",
    "clone", "exec",  "wait",   "pipe",   "memory", "stat",   "truncate", "poll",
    "dup",   "lock",  "random", "socket", "folder", "limits", "signal",
};

struct call {
    const char *name;
    long number;
    enum call_class class;
};

#define CALL(name_, class_)                                                                        \
    {                                                                                              \
        .name = #name_, .number = SYS_##name_, .class = CLASS_##class_,                            \
    }

/* Those of class NONE are there for --deny alone. */
static const struct call calls[] = {
    CALL(rt_sigaction, START),
    CALL(openat, OPEN),
    CALL(read, READ),
    CALL(pread64, READ),
    CALL(readv, READ),
    CALL(write, WRITE),
    CALL(pwrite64, WRITE),
    CALL(writev, WRITE),
    CALL(fsync, SYNC),
    CALL(fdatasync, SYNC),
    CALL(renameat, RENAME),
    CALL(renameat2, RENAME),
    CALL(linkat, RENAME),
    CALL(unlinkat, UNLINK),
    CALL(clone, CLONE),
    CALL(clone3, CLONE),
    CALL(execve, EXEC),
    CALL(wait4, WAIT),
    CALL(waitid, NONE),
    CALL(pipe2, PIPE),
    CALL(socketpair, PIPE),
    CALL(eventfd2, PIPE),
    CALL(memfd_create, PIPE),
    CALL(mmap, MEMORY),
    CALL(mremap, MEMORY),
    CALL(mprotect, MEMORY),
    CALL(fstat, STAT),
    CALL(newfstatat, STAT),
    CALL(statx, STAT),
    CALL(faccessat, STAT),
    CALL(faccessat2, STAT),
    CALL(readlinkat, STAT),
    CALL(statfs, STAT),
    CALL(fstatfs, STAT),
    CALL(ftruncate, TRUNCATE),
    CALL(fallocate, TRUNCATE),
    CALL(ppoll, POLL),
    CALL(pselect6, POLL),
    CALL(epoll_create1, POLL),
    CALL(epoll_ctl, POLL),
    CALL(epoll_pwait, POLL),
    CALL(dup, DUP),
    CALL(dup3, DUP),
    CALL(fcntl, DUP),
    CALL(getrandom, RANDOM),
    CALL(socket, SOCKET),
    CALL(bind, SOCKET),
    CALL(listen, SOCKET),
    CALL(accept4, SOCKET),
    CALL(setsockopt, SOCKET),
    CALL(getsockname, SOCKET),
    CALL(sendto, SOCKET),
    CALL(sendmsg, SOCKET),
    CALL(recvfrom, SOCKET),
    CALL(recvmsg, SOCKET),
    CALL(mkdirat, FOLDER),
    CALL(getdents64, FOLDER),
    CALL(getcwd, FOLDER),
    CALL(fchmod, FOLDER),
    CALL(utimensat, FOLDER),
    CALL(prctl, LIMITS),
    CALL(prlimit64, LIMITS),
    CALL(sched_getaffinity, LIMITS),
    CALL(sched_setaffinity, LIMITS),
    CALL(setpgid, LIMITS),
    CALL(clock_nanosleep, SIGNAL),
#ifdef SYS_open
    CALL(open, OPEN),
    CALL(rename, RENAME),
    CALL(link, RENAME),
    CALL(unlink, UNLINK),
    CALL(rmdir, UNLINK),
    CALL(fork, CLONE),
    CALL(vfork, CLONE),
    CALL(pipe, PIPE),
    CALL(stat, STAT),
    CALL(lstat, STAT),
    CALL(access, STAT),
    CALL(readlink, STAT),
    CALL(poll, POLL),
    CALL(select, POLL),
    CALL(epoll_wait, POLL),
    CALL(dup2, DUP),
    CALL(mkdir, FOLDER),
    CALL(chmod, FOLDER),
#endif
    CALL(perf_event_open, NONE),
    CALL(copy_file_range, NONE),
    CALL(pidfd_open, NONE),
    CALL(pidfd_send_signal, NONE),
    CALL(pidfd_getfd, NONE),
#ifdef SYS_close_range
    CALL(close_range, NONE),
#endif
    CALL(openat2, NONE),
    CALL(rseq, NONE),
    CALL(membarrier, NONE),
    CALL(io_uring_setup, NONE),
    CALL(userfaultfd, NONE),
    CALL(sendfile, NONE),
    CALL(madvise, NONE),
    CALL(set_mempolicy, NONE),
    { .name = NULL },
};

static inline long call_find(const char *name)
{
    for (const struct call *c = calls; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c->number;
    return -1;
}

static inline enum call_class class_of(long number)
{
    for (const struct call *c = calls; c->name; c++)
        if (c->number == number)
            return c->class;
    return CLASS_NONE;
}

static inline bool class_find(const char *name, enum call_class *class)
{
    for (int i = CLASS_START + 1; i < CLASS_NR; i++)
        if (strcmp(class_names[i], name) == 0) {
            *class = (enum call_class)i;
            return true;
        }
    return false;
}

static inline bool error_find(const char *name, int *error)
{
    static const struct {
        const char *name;
        int error;
    } errors[] = {
        { "EINTR", EINTR },   { "ENOMEM", ENOMEM }, { "EIO", EIO },       { "ENOSPC", ENOSPC },
        { "EMFILE", EMFILE }, { "EAGAIN", EAGAIN }, { "EACCES", EACCES }, { "EPERM", EPERM },
        { "ENOSYS", ENOSYS }, { "ENOLCK", ENOLCK }, { "EINVAL", EINVAL }, { "short", SHORT },
        { "nothing", 0 },
    };

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strcmp(errors[i].name, name) == 0) {
            *error = errors[i].error;
            return true;
        }
    return false;
}

#endif
