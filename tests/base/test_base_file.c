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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char folder[] = HARNESS_TEST_DIR "/base_file";

static char *in_folder(const char *name, char buffer[512])
{
    snprintf(buffer, 512, "%s/%s", folder, name);
    return buffer;
}

static void assert_content(const char *path, const char *expected)
{
    struct error err = { "" };
    size_t length;
    char *text = file_read(path, FILE_RECORDS_MOST, &length, &err);

    if (!text)
        fail_msg("%s", err.message);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

/* No temporary file is left in the folder. */
static void assert_no_temporary(void)
{
    assert_int_not_equal(system("ls -A '" HARNESS_TEST_DIR "/base_file' | grep -q tmp"), 0);
}

static int make_folder(void **state)
{
    (void)state;
    struct error err;

    if (system("rm -rf '" HARNESS_TEST_DIR "/base_file'"))
        return -1;
    return file_make_directory(folder, &err);
}

TEST(bytes_come_back)
{
    enum { N = 300000 };
    char path[512], *bytes = malloc(N);
    struct error err;
    size_t length;

    assert_non_null(bytes);
    for (size_t i = 0; i < N; i++)
        bytes[i] = (char)(i * 31 >> 3);
    in_folder("bytes", path);
    assert_ok(file_write(path, bytes, N, &err), &err);
    char *back = file_read(path, FILE_RECORDS_MOST, &length, &err);
    assert_non_null(back);
    assert_int_equal(length, N);
    assert_memory_equal(back, bytes, N);
    assert_int_equal(back[N], '\0');
    free(back);
    assert_ok(file_write(path, "", 0, &err), &err);
    assert_content(path, "");
    assert_no_temporary();
    free(bytes);
}

TEST(a_digest_tells_files_apart)
{
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

TEST(missing_and_unreadable_files)
{
    struct error err;
    char path[512];

    assert_null(file_read(in_folder("none", path), FILE_RECORDS_MOST, NULL, &err));
    assert_has(err.message, "none: cannot open: No such file or directory");
    assert_false(file_exists(path));
    assert_null(file_read(folder, FILE_RECORDS_MOST, NULL, &err));
    assert_has(err.message, "base_file: cannot read: it is a directory, not a file");
    assert_fails(file_write(in_folder("none/x", path), "x", 1, &err), &err,
                 "none/x: cannot write: No such file or directory");
    assert_fails(file_write(folder, "x", 1, &err), &err, "cannot write: Is a directory");
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

TEST(a_failed_write_leaves_the_old_file)
{
    char path[512];
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
    assert_no_temporary();
}

TEST(a_full_device_is_an_error)
{
    struct error err;
    struct stat st;

    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_fails(file_write("/dev/full", "x", 1, &err), &err,
                 "/dev/full: cannot write: No space left on device");
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

/* What is no regular file is written in place: a device stays one, a link still leads there. */
TEST(devices_and_links_are_not_replaced)
{
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

/* A full disk costs nothing of what a link leads to, either, as it did while that was written in
 * place. */
TEST(a_failed_write_through_a_link_leaves_the_old_file)
{
    char target[512], link[512], other[512];
    struct error err;
    int status;

    assert_ok(file_make_directory(in_folder("elsewhere", other), &err), &err);
    in_folder("elsewhere/target", target);
    assert_ok(file_write(target, "old", 3, &err), &err);
    assert_int_equal(symlink("elsewhere/target", in_folder("near", link)), 0);
    assert_int_equal(symlink("near", in_folder("far", link)), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        write_over_limit(link);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_content(target, "old");
    assert_no_temporary();
    assert_int_equal(symlink("elsewhere/new", in_folder("dangling", link)), 0);
    assert_ok(file_write(link, "made", 4, &err), &err);
    assert_content(in_folder("elsewhere/new", target), "made");
    assert_int_equal(symlink("circle", in_folder("circle", link)), 0);
    assert_fails(file_write(link, "x", 1, &err), &err,
                 "circle: cannot write: Too many levels of symbolic links");
}

/* What stood beside the target under the name that temporary files had, a link to what matters, is
 * not followed; and the name of the next one cannot be known. */
TEST(planted_names_are_left_alone)
{
    char path[512], planted[600], precious[512];
    struct error err;

    in_folder("result", path);
    assert_ok(file_write(in_folder("precious", precious), "kept", 4, &err), &err);
    snprintf(planted, sizeof(planted), "%s.%ld.tmp", path, (long)getpid());
    assert_int_equal(symlink("precious", planted), 0);
    assert_ok(file_write(path, "new", 3, &err), &err);
    assert_content(precious, "kept");
    assert_content(path, "new");
    assert_int_equal(unlink(planted), 0);
}

TEST(a_replaced_file_keeps_its_mode)
{
    static const mode_t modes[] = { 0600, 0640, 0444, 0755 };
    char path[512];
    struct error err;
    struct stat st;

    in_folder("mode", path);
    mode_t mask = umask(027);
    assert_ok(file_write(path, "x", 1, &err), &err);
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_ok(file_write(path, "y", 1, &err), &err);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, modes[i]);
    }
}

/* Writers at once: one of them wins, whole. Killed ones leave what was there, or all of theirs. */
TEST(writers_at_once_and_killed_ones)
{
    enum { WRITERS = 4, SIZE = 200000, ROUNDS = 10 };
    char path[512], *block = malloc(SIZE);
    struct error err;
    size_t length;

    assert_non_null(block);
    in_folder("shared", path);
    assert_ok(file_write(path, "", 0, &err), &err);
    for (int round = 0; round < ROUNDS; round++) {
        pid_t pids[WRITERS];
        for (int w = 0; w < WRITERS; w++) {
            pids[w] = fork();
            assert_true(pids[w] >= 0);
            memset(block, 'a' + w, SIZE);
            while (pids[w] == 0)
                file_write(path, block, SIZE, &err);
        }
        usleep(20000);
        for (int w = 0; w < WRITERS; w++) {
            assert_int_equal(kill(pids[w], SIGKILL), 0);
            assert_int_equal(waitpid(pids[w], NULL, 0), pids[w]);
        }
        char *text = file_read(path, SIZE, &length, &err);
        assert_non_null(text);
        assert_true(length == 0 || length == SIZE);
        for (size_t i = 1; i < length; i++)
            assert_true(text[i] == text[0]);
        free(text);
    }
    assert_int_equal(system("rm -f '" HARNESS_TEST_DIR "/base_file/'.harness-*.tmp"), 0);
    free(block);
}

/* Files without an end, that never begin, or are larger than their kind may be. */
TEST(what_is_read_has_limits)
{
    char path[512];
    struct error err;
    size_t length;
    int ends[2];

    assert_null(file_read("/dev/zero", 1 << 20, &length, &err));
    assert_has(err.message, "/dev/zero: cannot read: it is a device, not a file");
    assert_int_equal(mkfifo(in_folder("fifo", path), 0600), 0);
    assert_null(file_read(path, 1 << 20, &length, &err)); /* and does not wait for a writer */
    assert_has(err.message, "fifo: cannot read: it is a named pipe, not a file");
    assert_ok(file_write(in_folder("large", path), "0123456789", 10, &err), &err);
    assert_null(file_read(path, 9, &length, &err));
    assert_has(err.message, "large: larger than 0 MiB");
    char *text = file_read(path, 10, &length, &err);
    assert_string_equal(text, "0123456789");
    free(text);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    text = file_read(path, 10, &length, &err);
    assert_string_equal(text, "piped");
    free(text);
    close(ends[0]);
}

static void assert_read(int fd, const char *expected)
{
    char path[64];
    struct error err;

    snprintf(path, sizeof(path), "/dev/fd/%d", fd);
    char *text = file_read(path, 100, NULL, &err);
    if (!text)
        fail_msg("%s", err.message);
    assert_string_equal(text, expected);
    free(text);
    close(fd);
}

/* A socket, as other programs give their children; a file behind what was read of it; a pipe that
 * does not wait, and is not made to for others. */
TEST(own_descriptors_are_read_as_they_are)
{
    char path[512], block[7];
    struct error err;
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[1], "said", 4), 4);
    close(ends[1]);
    assert_read(ends[0], "said");
    assert_ok(file_write(in_folder("behind", path), "header values", 13, &err), &err);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, block, sizeof(block)), sizeof(block));
    assert_read(fd, "values");
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        usleep(50000);
        _exit(write(ends[1], "late", 4) != 4);
    }
    close(ends[1]);
    fd = dup(ends[0]);
    assert_read(ends[0], "late");
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    close(fd);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST(pipes_are_written_to)
{
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

/* As a shell does: behind what is there, and what comes later behind it. */
TEST(own_descriptors_are_written_where_they_are)
{
    char path[512], name[512];
    struct error err;

    int fd = open(in_folder("descriptor", path), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    snprintf(name, sizeof(name), "/dev/fd/%d", fd);
    assert_int_equal(write(fd, "before ", 7), 7);
    assert_ok(file_write(name, "result ", 7, &err), &err);
    assert_int_equal(write(fd, "behind", 6), 6);
    close(fd);
    assert_content(path, "before result behind");
    assert_fails(file_write("/dev/fd/987654", "x", 1, &err), &err, "/dev/fd/987654: cannot write");
}

TEST(directories_with_parents)
{
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

TEST(names_of_one_file_and_of_folders)
{
    static const struct {
        const char *a, *b;
        bool same, folder; /* folder: `a` is one */
    } cases[] = {
        { "one", "one", true, false },    { "one", "hard", true, false },
        { "one", "soft", true, false },   { "soft", "hard", true, false },
        { "one", "like", false, false },  { "one", "gone", false, false },
        { "gone", "gone", false, false }, { "broken", "broken", false, false },
        { "here", "here/.", true, true }, { "there", "here", true, true },
    };
    char a[512], b[512];
    struct error err;

    assert_ok(file_write(in_folder("one", a), "x", 1, &err), &err);
    assert_ok(file_write(in_folder("like", b), "x", 1, &err), &err);
    assert_int_equal(link(a, in_folder("hard", b)), 0);
    assert_int_equal(symlink("one", in_folder("soft", b)), 0);
    assert_int_equal(symlink("gone", in_folder("broken", b)), 0);
    assert_ok(file_make_directory(in_folder("here", b), &err), &err);
    assert_int_equal(symlink("here", in_folder("there", b)), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        in_folder(cases[i].a, a);
        assert_int_equal(file_is_same(a, in_folder(cases[i].b, b)), cases[i].same);
        assert_int_equal(file_is_folder(a), cases[i].folder);
    }
}

/* A link goes, what it leads to stays. */
TEST(folders_are_removed_with_what_is_in_them)
{
    char path[512], kept[512];
    struct error err;

    assert_ok(file_write(in_folder("kept", kept), "x", 1, &err), &err);
    assert_ok(file_make_parent(in_folder("gone/below/file", path), &err), &err);
    assert_ok(file_write(path, "x", 1, &err), &err);
    assert_int_equal(symlink(kept, in_folder("gone/link", path)), 0);
    assert_ok(file_remove_folder(in_folder("gone", path), &err), &err);
    assert_false(file_exists(path));
    assert_content(kept, "x");
    assert_fails(file_remove_folder(path, &err), &err, "gone: No such file");
}

TEST(a_file_in_the_way)
{
    char path[512];
    struct error err;

    assert_ok(file_write(in_folder("file", path), "x", 1, &err), &err);
    assert_fails(file_make_directory(path, &err), &err,
                 "file: cannot create directory: File exists");
    assert_fails(file_make_directory(in_folder("file/below", path), &err), &err,
                 "cannot create directory");
}

TEST(first_lines)
{
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

TEST(fields)
{
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

RUN_TESTS(make_folder, NULL)
