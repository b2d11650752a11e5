/* SPDX-License-Identifier: MIT */
/* A kernel that lacks what newer ones have, or a file system that cannot do what others can: in a
 * process of its own, system calls are answered with an error. */
#ifndef HARNESS_TESTS_OLD_KERNEL_H
#define HARNESS_TESTS_OLD_KERNEL_H

#include "testing.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* From here on neither of two calls is done, here and in all that is started. */
static inline bool calls_fail(unsigned first, unsigned second, unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* There is neither close_range() (5.9) nor pidfd_open() (5.3). */
static inline bool old_kernel_begin(void)
{
    return calls_fail(SYS_close_range, SYS_pidfd_open, ENOSYS) &&
           syscall(SYS_close_range, 1000, 1001, 0) < 0 && errno == ENOSYS;
}

/* Runs a test there, which returns whether it held. A system that allows no filters skips it. */
static inline void in_a_process(bool (*begin)(void), bool (*holds)(void))
{
    enum { HELD = 0, FAILED = 1, NO_FILTER = 2 };
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(!begin() ? NO_FILTER : holds() ? HELD : FAILED);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_FILTER) {
        print_message("skipped: this system allows no seccomp filter\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), HELD);
}

static inline void on_an_old_kernel(bool (*holds)(void))
{
    in_a_process(old_kernel_begin, holds);
}

#endif
