/* SPDX-License-Identifier: MIT */
/* A process that may read files and write to none. */
#include "testing.h"

#include "base/file.h"
#include "base/memory.h"
#include "process/own_folder.h"
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
    char kept[64], left_out[64], own[64];
};

/* A folder, a file that is moved into it, a link. They stay. 0, or the number of the expectation.
 */
static int use_own(const struct folders *f)
{
    char folder[300], file[300], moved[300], link[300];

    snprintf(folder, sizeof(folder), "%s/folder", f->own);
    snprintf(file, sizeof(file), "%s/file", f->own);
    snprintf(moved, sizeof(moved), "%s/folder/moved", f->own);
    snprintf(link, sizeof(link), "%s/link", f->own);
    if (mkdir(folder, 0700) || make(f->own, "file") != 0 || symlink(f->kept, link))
        return 7;
    if (rename(file, moved) && errno != EXDEV) /* before Linux 5.19 */
        return 8;
    if (make(link, "by_a_link") != EACCES)
        return 9;
    return mkdir(moved, 0700) == 0 || rmdir(folder) == 0 ? 10 : 0;
}

/* In a child, for good. The number of the expectation that does not hold; 0: all do. */
static int live_read_only(const struct folders *f)
{
    const char *const but[] = { f->left_out, "/dev/null", "/no/such/folder" };
    char path[300];
    struct error err;
    const int open_before = open("/dev/zero", O_WRONLY | O_CLOEXEC);

    if (make(f->kept, "before") != 0 || read_only_enter(but, 3, f->own, &err))
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
    snprintf(path, sizeof(path), "%s/folder", f->left_out);
    if (mkdir(path, 0700) == 0 || errno != EACCES || write(open_before, "x", 1) != 1)
        return 6;
    return use_own(f);
}

TEST(nothing_is_written_to_but_what_is_left_out)
{
    struct folders f = { "/tmp/harness.kept.XXXXXX", "/tmp/harness.but.XXXXXX",
                         "/tmp/harness.own.XXXXXX" };
    char path[300];
    int status;

    if (!read_only_there()) {
        print_message("skipped: this kernel has no Landlock\n");
        skip();
    }
    assert_non_null(mkdtemp(f.kept));
    assert_non_null(mkdtemp(f.left_out));
    assert_non_null(mkdtemp(f.own));
    const pid_t pid = fork();
    if (pid == 0)
        _exit(live_read_only(&f));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    snprintf(path, sizeof(path), "%s/before", f.kept);
    unlink(path);
    rmdir(f.kept);
    rmdir(f.left_out);
    own_folder_remove(memory_string(f.own));
    assert_false(file_exists(f.own));
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(an_own_folder_is_where_it_can_be_made)
{
    struct error err;

    assert_int_equal(setenv("TMPDIR", "/no/such/folder", 1), 0);
    char *folder = own_folder_make(&err);
    assert_non_null(folder);
    assert_true(file_exists(folder));
    own_folder_remove(folder);
    own_folder_remove(NULL);
}

RUN_TESTS(NULL, NULL)
