/* SPDX-License-Identifier: MIT */
/* What root would be allowed: in a child that is not root. */
#ifndef HARNESS_TESTS_AS_NOBODY_H
#define HARNESS_TESTS_AS_NOBODY_H

#include "testing.h"

#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_GIVE_UP_ROOT = 99 };

/* Its value is the exit status of the child, 0 if all is well. */
typedef int child_fn(const char *path, char *message, size_t size);

static inline void in_child(child_fn *f, const char *path, char *message, size_t size)
{
    int ends[2], status;

    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char text[1024] = "";
        bool ready = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
        int rc = ready ? f(path, text, sizeof(text)) : CANNOT_GIVE_UP_ROOT;
        _exit(write(ends[1], text, sizeof(text)) == sizeof(text) ? rc : 98);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], message, size), size);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_GIVE_UP_ROOT)
        skip(); /* a container with one user: permissions mean nothing to it */
    if (WEXITSTATUS(status) != 0)
        fail_msg("the child ended with %d: %s", WEXITSTATUS(status), message);
}

#endif
