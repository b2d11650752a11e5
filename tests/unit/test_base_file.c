/* SPDX-License-Identifier: MIT */
/* Whole files: replaced in one step or left alone; devices and links are never replaced.
 * Features: S0-10, U-05 (nothing is lost to a full disk). */
#include "testing.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char folder[] = HARNESS_TEST_DIR "/base_file";

static char *in_folder(const char *name, char buffer[512])
{
    snprintf(buffer, 512, "%s/%s", folder, name);
    return buffer;
}

static void assert_says(const struct error *err, const char *part)
{
    if (!strstr(err->message, part))
        fail_msg("\"%s\" is not in: %s", part, err->message);
}

static void assert_content(const char *path, const char *expected)
{
    struct error err = { "" };
    size_t length;
    char *text = file_read(path, &length, &err);

    if (!text)
        fail_msg("%s", err.message);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

/* No temporary file is left beside `path`. */
static void assert_alone(const char *path)
{
    char name[600];

    snprintf(name, sizeof(name), "%s.%ld.tmp", path, (long)getpid());
    assert_false(file_exists(name));
}

static int make_folder(void **state)
{
    (void)state;
    struct error err;

    if (system("rm -rf '" HARNESS_TEST_DIR "/base_file'"))
        return -1;
    return file_make_directory(folder, &err);
}

static void bytes_come_back(void **state)
{
    (void)state;
    enum { N = 300000 };
    char path[512], *bytes = malloc(N);
    struct error err;
    size_t length;

    assert_non_null(bytes);
    for (size_t i = 0; i < N; i++)
        bytes[i] = (char)(i * 31 >> 3);
    in_folder("bytes", path);
    assert_ok(file_write(path, bytes, N, &err), &err);
    char *back = file_read(path, &length, &err);
    assert_non_null(back);
    assert_int_equal(length, N);
    assert_memory_equal(back, bytes, N);
    assert_int_equal(back[N], '\0');
    free(back);
    assert_ok(file_write(path, "", 0, &err), &err);
    assert_content(path, "");
    assert_alone(path);
    free(bytes);
}

static void a_digest_tells_files_apart(void **state)
{
    (void)state;
    static const char path[] = HARNESS_TEST_DIR "/digest";
    char one[DIGEST_TEXT_SIZE], other[DIGEST_TEXT_SIZE];
    struct error err;

    assert_ok(file_write(path, "foobar", 6, &err), &err);
    assert_ok(file_digest(path, one, &err), &err);
    /* The published value of 128-bit FNV-1a. */
    assert_string_equal(one, "343e1662793c64bf6f0d3597ba446f18");
    assert_ok(file_write(path, "foobaz", 6, &err), &err);
    assert_ok(file_digest(path, other, &err), &err);
    assert_string_not_equal(one, other);
    assert_int_equal(file_digest("no/such/file", one, &err), -1);
}

static void missing_and_unreadable_files(void **state)
{
    (void)state;
    struct error err;
    char path[512];

    assert_null(file_read(in_folder("none", path), NULL, &err));
    assert_says(&err, "none: cannot open: No such file or directory");
    assert_false(file_exists(path));
    assert_null(file_read(folder, NULL, &err));
    assert_says(&err, "base_file: cannot read: Is a directory");
    assert_int_equal(file_write(in_folder("none/x", path), "x", 1, &err), -1);
    assert_says(&err, "none/x: cannot write: No such file or directory");
    assert_int_equal(file_write(folder, "x", 1, &err), -1);
    assert_says(&err, "cannot write: Is a directory");
}

/* A limit on file size stands for a full disk: the write fails half-way. */
static void write_over_limit(const char *path)
{
    struct rlimit limit = { 4096, 4096 };
    struct error err = { "" };
    char block[20000];

    memset(block, 'n', sizeof(block));
    signal(SIGXFSZ, SIG_IGN);
    bool failed = setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                  file_write(path, block, sizeof(block), &err) == -1 &&
                  strstr(err.message, "cannot write: File too large");
    _exit(failed ? 0 : 1);
}

static void a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    char path[512], temporary[600];
    struct error err;
    int status;

    in_folder("kept", path);
    assert_ok(file_write(path, "old", 3, &err), &err);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        write_over_limit(path);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_content(path, "old");
    snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", path, (long)pid);
    assert_false(file_exists(temporary));
}

static void a_full_device_is_an_error(void **state)
{
    (void)state;
    struct error err;
    struct stat st;

    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(file_write("/dev/full", "x", 1, &err), -1);
    assert_says(&err, "/dev/full: cannot write: No space left on device");
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

/* What is no regular file is written in place: a device stays one, a link still leads there. */
static void devices_and_links_are_not_replaced(void **state)
{
    (void)state;
    char target[512], link[512];
    struct error err;
    struct stat st;

    assert_ok(file_write("/dev/null", "x", 1, &err), &err);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    in_folder("target", target);
    assert_ok(file_write(target, "before", 6, &err), &err);
    assert_int_equal(symlink("target", in_folder("link", link)), 0);
    assert_ok(file_write(link, "new", 3, &err), &err);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_content(target, "new");
}

static void pipes_are_written_to(void **state)
{
    (void)state;
    struct error err;
    char path[512], text[8] = "";
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
    if (access(path, W_OK) == 0) {
        assert_ok(file_write(path, "piped", 5, &err), &err);
        assert_int_equal(read(ends[0], text, sizeof(text)), 5);
        assert_string_equal(text, "piped");
    }
    close(ends[0]);
    close(ends[1]);
}

static void directories_with_parents(void **state)
{
    (void)state;
    char path[512], below[512];
    struct error err;
    struct stat st;

    in_folder("a/b//c/", path);
    assert_ok(file_make_directory(path, &err), &err);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_ok(file_make_directory(path, &err), &err); /* again */
    assert_ok(file_make_directory("/", &err), &err);
    assert_ok(file_make_parent(in_folder("p/q/file", below), &err), &err);
    assert_true(file_exists(in_folder("p/q", path)));
    assert_false(file_exists(below));
    assert_ok(file_make_parent("file", &err), &err);
    assert_ok(file_make_parent("/file", &err), &err);
    assert_int_equal(file_make_directory("", &err), -1);
}

static void a_file_in_the_way(void **state)
{
    (void)state;
    char path[512];
    struct error err;

    assert_ok(file_write(in_folder("file", path), "x", 1, &err), &err);
    assert_int_equal(file_make_directory(path, &err), -1);
    assert_says(&err, "file: cannot create directory: File exists");
    assert_int_equal(file_make_directory(in_folder("file/below", path), &err), -1);
    assert_says(&err, "cannot create directory");
}

static void first_lines(void **state)
{
    (void)state;
    char path[512], line[8];
    struct error err;

    assert_ok(file_write(in_folder("lines", path), "one\ntwo\n", 8, &err), &err);
    assert_true(file_first_line(path, line, sizeof(line)));
    assert_string_equal(line, "one");
    assert_ok(file_write(path, "no newline", 10, &err), &err);
    assert_true(file_first_line(path, line, sizeof(line)));
    assert_string_equal(line, "no newl");
    assert_ok(file_write(path, "", 0, &err), &err);
    assert_false(file_first_line(path, line, sizeof(line)));
    assert_false(file_first_line(in_folder("none", path), line, sizeof(line)));
}

static void fields(void **state)
{
    (void)state;
    static const char text[] = "MemTotalNot: 7 kB\nMemTotal:       123 kB\nmax max\nanon 42\n";
    char path[512];
    struct error err;
    int64_t value = -1;

    assert_ok(file_write(in_folder("fields", path), text, strlen(text), &err), &err);
    assert_true(file_field(path, "MemTotal", &value));
    assert_int_equal(value, 123);
    assert_true(file_field(path, "anon", &value));
    assert_int_equal(value, 42);
    assert_false(file_field(path, "max", &value)); /* no number */
    assert_false(file_field(path, "ano", &value));
    assert_false(file_field(path, "Mem", &value));
    assert_false(file_field(in_folder("none", path), "anon", &value));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back),
        cmocka_unit_test(a_digest_tells_files_apart),
        cmocka_unit_test(missing_and_unreadable_files),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
        cmocka_unit_test(a_full_device_is_an_error),
        cmocka_unit_test(devices_and_links_are_not_replaced),
        cmocka_unit_test(pipes_are_written_to),
        cmocka_unit_test(directories_with_parents),
        cmocka_unit_test(a_file_in_the_way),
        cmocka_unit_test(first_lines),
        cmocka_unit_test(fields),
    };

    return cmocka_run_group_tests(tests, make_folder, NULL);
}
