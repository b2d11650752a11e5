/* SPDX-License-Identifier: MIT */
/* A process that may read files and write to none. */
#include "testing.h"

#include "process/read_only.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int make(const char *folder, const char *name)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? 0 : errno;
}

struct folders {
    char kept[64], left_out[64];
};

/* In a child, for good. The number of the expectation that does not hold; 0: all do. */
static int live_read_only(const struct folders *f)
{
    const char *const but[] = { f->left_out, "/dev/null", "/no/such/folder" };
    char path[300];
    struct error err;
    const int open_before = open("/dev/zero", O_WRONLY | O_CLOEXEC);

    if (make(f->kept, "before") != 0 || read_only_enter(but, 3, &err))
        return 1;
    snprintf(path, sizeof(path), "%s/before", f->kept);
    if (make(f->kept, "new") != EACCES || open(path, O_WRONLY | O_CLOEXEC) >= 0)
        return 2;
    if (unlink(path) == 0 || errno != EACCES || open(path, O_RDONLY | O_CLOEXEC) < 0)
        return 3;
    snprintf(path, sizeof(path), "%s/new", f->left_out);
    if (make(f->left_out, "new") != 0 || unlink(path) != 0)
        return 4;
    if (open("/dev/null", O_WRONLY | O_CLOEXEC) < 0 || open("/dev/zero", O_RDWR | O_CLOEXEC) >= 0)
        return 5;
    return write(open_before, "x", 1) == 1 ? 0 : 6;
}

TEST(nothing_is_written_to_but_what_is_left_out)
{
    struct folders f = { "/tmp/harness.kept.XXXXXX", "/tmp/harness.but.XXXXXX" };
    char path[300];
    int status;

    if (!read_only_there()) {
        print_message("skipped: this kernel has no Landlock\n");
        skip();
    }
    assert_non_null(mkdtemp(f.kept));
    assert_non_null(mkdtemp(f.left_out));
    const pid_t pid = fork();
    if (pid == 0)
        _exit(live_read_only(&f));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    snprintf(path, sizeof(path), "%s/before", f.kept);
    unlink(path);
    rmdir(f.kept);
    rmdir(f.left_out);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

RUN_TESTS(NULL, NULL)
