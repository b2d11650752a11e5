/* SPDX-License-Identifier: MIT */
/* Other programs: the environment they are started with, and running them to their end. Features:
 * U-09. */
#include "testing.h"

#include "old_kernel.h"
#include "process/descriptors.h"
#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t count(char **env, const char *prefix)
{
    size_t nr = 0;

    for (; *env; env++)
        nr += strncmp(*env, prefix, strlen(prefix)) == 0;
    return nr;
}

TEST(a_setting_is_added_or_replaces)
{
    unsetenv("HARNESS_TEST_COLOUR");
    setenv("HARNESS_TEST_COLOURS", "many", 1);
    char **added = process_environment("HARNESS_TEST_COLOUR=blue");
    assert_int_equal(count(added, "HARNESS_TEST_COLOUR=blue"), 1);
    assert_int_equal(count(added, "HARNESS_TEST_COLOURS=many"), 1);
    free(added);

    setenv("HARNESS_TEST_COLOUR", "red", 1);
    char **replaced = process_environment("HARNESS_TEST_COLOUR=blue");
    assert_int_equal(count(replaced, "HARNESS_TEST_COLOUR="), 1);
    assert_int_equal(count(replaced, "HARNESS_TEST_COLOUR=blue"), 1);
    free(replaced);
    assert_string_equal(getenv("HARNESS_TEST_COLOUR"), "red");
}

TEST(nothing_set_is_a_copy)
{
    char **env = process_environment(NULL);

    for (size_t i = 0; environ[i] || env[i]; i++)
        assert_ptr_equal(env[i], environ[i]);
    free(env);
}

TEST(changes_set_and_remove)
{
    static const char *const changes[] = { "HARNESS_TEST_COLOUR", "HARNESS_TEST_SHAPE=round",
                                           NULL };
    setenv("HARNESS_TEST_COLOUR", "red", 1);
    setenv("HARNESS_TEST_COLOURS", "many", 1);
    char **env = process_environment_of(changes);
    assert_int_equal(count(env, "HARNESS_TEST_COLOUR="), 0);
    assert_int_equal(count(env, "HARNESS_TEST_COLOURS=many"), 1);
    assert_int_equal(count(env, "HARNESS_TEST_SHAPE=round"), 1);
    free(env);
}

/* Runs a line of shell; what it said lies in `out` and `errors`. */
static struct process_result shell(struct process p, const char *line, struct strbuf *out,
                                   struct strbuf *errors)
{
    const char *argv[] = { "sh", "-c", line, NULL };
    struct process_result result;
    struct error err;

    p.argv = argv;
    strbuf_clear(out);
    if (errors)
        strbuf_clear(errors);
    assert_ok(process_run(&p, out, errors, &result, &err), &err);
    return result;
}

TEST(output_and_status_come_back)
{
    static const char *const changes[] = { "HARNESS_TEST_SHAPE=round", NULL };
    struct strbuf out, errors;
    strbuf_init(&out);
    strbuf_init(&errors);
    struct process p = { .folder = "/", .changes = changes };
    struct process_result r =
        shell(p, "pwd; echo $HARNESS_TEST_SHAPE; echo ill >&2; exit 7", &out, &errors);
    assert_int_equal(r.end, PROCESS_EXITED);
    assert_int_equal(r.status, 7);
    assert_string_equal(out.data, "/\nround\n");
    assert_string_equal(errors.data, "ill\n");
    shell(p, "echo one; echo two >&2; cat", &out, NULL); /* standard input is empty */
    assert_string_equal(out.data, "one\ntwo\n");
    r = shell(p, "kill -KILL $$", &out, NULL);
    assert_int_equal(r.end, PROCESS_KILLED);
    assert_int_equal(r.status, SIGKILL);
    shell(p,
          "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890; i=$((i + 1)); "
          "done",
          &out, NULL);
    assert_int_equal(out.length, 3000 * 32);
    strbuf_release(&out);
    strbuf_release(&errors);
}

#define OUT_TEST(name) TEST_WITH_A(name, struct strbuf, out, strbuf_release)

OUT_TEST(output_can_go_to_a_log)
{
    static const char log[] = HARNESS_TEST_DIR "/process.log";
    char line[64];
    strbuf_init(out);
    unlink(log);
    shell((struct process) { .log = log }, "echo one >&2", out, NULL);
    shell((struct process) { .log = log }, "echo two", out, NULL);
    assert_int_equal(out->length, 0);
    FILE *file = fopen(log, "r");
    assert_non_null(file);
    assert_string_equal(fgets(line, sizeof(line), file), "one\n");
    assert_string_equal(fgets(line, sizeof(line), file), "two\n");
    fclose(file);
}

/* Time ends it, and what it said before is there. A shell that a busy machine did not bring as far
 * as its word in that time has left no mark, and proves nothing: another one then. */
static void end_by_time(struct strbuf *out)
{
    static const char mark[] = HARNESS_TEST_DIR "/process.said";
    static const char line[] = "echo on; : >'" HARNESS_TEST_DIR "/process.said'; sleep 600 & wait";

    unlink(mark);
    for (int tries = 0; tries < 100 && access(mark, F_OK); tries++) {
        struct process_result r = shell((struct process) { .timeout = 0.2 }, line, out, NULL);
        assert_int_equal(r.end, PROCESS_TIMED_OUT);
    }
    assert_int_equal(access(mark, F_OK), 0);
    assert_string_equal(out->data, "on\n");
}

/* Neither end waits for what runs on in the background. */
OUT_TEST(time_and_users_end_it)
{
    static const volatile sig_atomic_t set = 1;
    strbuf_init(out);
    end_by_time(out);
    struct process_result r =
        shell((struct process) { .interrupted = &set }, "sleep 600", out, NULL);
    assert_int_equal(r.end, PROCESS_INTERRUPTED);
    r = shell((struct process) { 0 }, "setsid sleep 1 & echo left", out, NULL);
    assert_int_equal(r.end, PROCESS_EXITED);
    assert_string_equal(out->data, "left\n");
}

/* A server that a setup starts: by a pipe that nobody reads any more its next word would be its
 * end. It speaks when the call has come back. */
OUT_TEST(what_is_left_may_go_on_saying_things)
{
    static const char go[] = HARNESS_TEST_DIR "/process.go", on[] = HARNESS_TEST_DIR "/process.on";
    static const char line[] =
        "cd '" HARNESS_TEST_DIR
        "' && (for i in $(seq 200); do [ -e process.go ] && break; "
        "sleep 0.05; done; echo later; echo later >&2; : >process.on) & echo now; echo ill >&2";
    strbuf_init(out);
    unlink(go);
    unlink(on);
    shell((struct process) { .leaves = true }, line, out, NULL);
    assert_string_equal(out->data, "now\nill\n");
    close(open(go, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    for (int i = 0; i < 200 && access(on, F_OK); i++)
        usleep(50000);
    assert_int_equal(access(on, F_OK), 0);
}

/* A parent that ignores its children's ends, as some leave it: the system forgets how they ended,
 * and a failure must not read as success. The guard remembers. */
OUT_TEST(an_end_is_known_whatever_is_ignored)
{
    strbuf_init(out);
    signal(SIGCHLD, SIG_IGN);
    struct process_result r = shell((struct process) { 0 }, "exit 7", out, NULL);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(r.end, PROCESS_EXITED);
    assert_int_equal(r.status, 7);
}

/* Whoever ends the guard ends what it guards: that is no success either. */
OUT_TEST(an_unknown_end_is_an_error)
{
    static const char *const argv[] = { "sh", "-c", "kill -KILL $PPID; sleep 600", NULL };
    struct process p = { .argv = argv };
    struct process_result result;
    struct error err;
    strbuf_init(out);
    assert_int_equal(process_run(&p, out, NULL, &result, &err), -1);
    assert_non_null(strstr(err.message, "cannot tell how sh ended"));
}

/* A program that says more than anybody wants to know is ended, and memory is not the place for
 * what it has said. */
TEST(words_have_a_limit)
{
    static const struct {
        const char *line;
        bool leaves;
    } cases[] = {
        { "yes", false },
        { "yes >&2", false },
        { "exec yes & yes", false },
        { "head -c 2000000 /dev/zero; sleep 600", true },
    };
    struct strbuf out, errors;
    strbuf_init(&out);
    strbuf_init(&errors);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *argv[] = { "sh", "-c", cases[i].line, NULL };
        struct process p = { .argv = argv, .most = 1 << 20, .leaves = cases[i].leaves };
        struct process_result result;
        struct error err;
        strbuf_clear(&out);
        strbuf_clear(&errors);
        assert_int_equal(process_run(&p, &out, &errors, &result, &err), -1);
        assert_string_equal(err.message, "sh says more than 1048576 bytes");
        assert_in_range(out.length + errors.length, 1 << 20, (1 << 20) + (2 << 16));
    }
    strbuf_release(&out);
    strbuf_release(&errors);
}

/* What leaves its group and session is asked to end, and ended, nevertheless. */
OUT_TEST(time_ends_what_has_left_the_group)
{
    static const char *const lines[] = {
        "setsid sleep 600",
        "(setsid sleep 600 &) ; sleep 600",
        "trap '' TERM INT HUP; setsid sh -c \"trap '' TERM; sleep 600; sleep 600\" & wait; wait",
        "kill -STOP $PPID; setsid sleep 600 & kill -STOP $$",
    };
    strbuf_init(out);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what is left behind becomes ours */
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct process_result r = shell((struct process) { .timeout = 0.3 }, lines[i], out, NULL);
        assert_int_equal(r.end, PROCESS_TIMED_OUT);
        while (waitpid(-1, NULL, WNOHANG) > 0) /* zombies are nobody's trouble */
            continue;
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static bool it_ends_and_is_heard(void)
{
    const char *argv[] = { "sh", "-c", "sleep 600 & echo on", NULL };
    const struct process p = { .argv = argv, .timeout = 30 };
    struct process_result result;
    struct strbuf out;
    struct error err;

    strbuf_init(&out);
    int rc = process_run(&p, &out, NULL, &result, &err);
    return rc == 0 && result.end == PROCESS_EXITED && strcmp(out.data, "on\n") == 0;
}

/* A guard that cannot close what it has inherited would keep pipes open for ever. */
TEST(without_close_range)
{
    on_an_old_kernel(it_ends_and_is_heard);
}

/* Which of them are open, up to 63; with what is to be closed at exec left out. */
static uint64_t open_now(bool at_exec)
{
    uint64_t open = 0;

    for (int fd = 0; fd < 64; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0 && !(at_exec && flags & FD_CLOEXEC))
            open |= UINT64_C(1) << fd;
    }
    return open;
}

static bool they_are_closed(void)
{
    for (int fd = 10; fd < 60; fd++)
        dup2(STDERR_FILENO, fd);
    descriptors_close_on_exec(40);
    bool marked = open_now(true) >> 40 == 0 && open_now(false) >> 40 != 0 && open_now(true) >> 39;
    descriptors_close(10, 50);
    return marked && open_now(false) >> 10 == UINT64_C(1) << 40;
}

TEST(descriptors_are_closed_both_ways)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(they_are_closed() ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    on_an_old_kernel(they_are_closed);
}

/* More than is written at once, and what cannot be written: with the reason. */
TEST(a_descriptor_of_bytes)
{
    static char bytes[100000], back[sizeof(bytes) + 1];
    struct rlimit limit, less;

    memset(bytes, 'x', sizeof(bytes));
    int fd = descriptors_of_bytes("test", bytes, sizeof(bytes));
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(read(fd, back, sizeof(back)), sizeof(bytes));
    assert_memory_equal(back, bytes, sizeof(bytes));
    close(fd);

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    less = limit;
    less.rlim_cur = sizeof(bytes) / 2;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    fd = descriptors_of_bytes("test", bytes, sizeof(bytes));
    int reason = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(fd, -1);
    assert_int_equal(reason, EFBIG);
}

/* What is hidden is elsewhere, and goes at exec; what it was is /dev/null. */
TEST(a_descriptor_is_hidden)
{
    int ends[2];
    char byte = '+';
    assert_int_equal(pipe(ends), 0);
    int hidden = descriptors_hide(ends[1]);
    assert_true(hidden > ends[1]);
    assert_true(fcntl(hidden, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(ends[1], F_GETFD) & FD_CLOEXEC);
    assert_int_equal(write(ends[1], "stray", 5), 5);
    assert_int_equal(write(hidden, &byte, 1), 1);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, '+');
    close(hidden);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    close(ends[1]);
}

static volatile sig_atomic_t told;

static void on_signal(int number)
{
    told = number;
}

static bool is_there(const char *path)
{
    for (int i = 0; i < 400 && access(path, F_OK); i++)
        usleep(50000);
    return access(path, F_OK) == 0;
}

/* Who runs a program that does not want to end; the first signal is caught, the second kills, as in
 * a command. */
static void run_deaf(const char *began, const char *asked)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
    char line[1024];
    struct strbuf out;

    snprintf(line, sizeof(line),
             "trap '' INT; trap ': >%s' TERM; : >%s; i=0; while [ $i -lt 100 ]; do i=$((i + 1)); "
             "sleep 0.1; done",
             asked, began);
    strbuf_init(&out);
    sigaction(SIGINT, &action, NULL);
    shell((struct process) { .interrupted = &told }, line, &out, NULL);
    strbuf_release(&out);
    _exit(9);
}

/* The group is of no use to anybody once this process is gone, so it goes first. */
TEST(an_impatient_user_leaves_nothing_behind)
{
    static const char began[] = HARNESS_TEST_DIR "/process.began",
                      asked[] = HARNESS_TEST_DIR "/process.asked";
    int status = 0;
    unlink(began);
    unlink(asked);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what is left behind becomes ours */
    pid_t pid = fork();
    if (pid == 0)
        run_deaf(began, asked);
    assert_true(is_there(began));
    kill(pid, SIGINT);
    assert_true(is_there(asked));
    kill(pid, SIGINT);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    for (int waits = 0; waitpid(-1, &status, WNOHANG) >= 0; waits++) {
        assert_true(waits < 200); /* the deaf one would run on for longer */
        usleep(10000);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

OUT_TEST(what_is_not_there_is_named)
{
    static const char *const argv[] = { "harness-no-such-program", NULL };
    struct process p = { .argv = argv };
    struct process_result result;
    struct error err;
    strbuf_init(out);
    assert_int_equal(process_run(&p, out, NULL, &result, &err), -1);
    assert_string_equal(err.message,
                        "harness-no-such-program is not installed, or not on the PATH");
    p.packages = "such";
    assert_int_equal(process_run(&p, out, NULL, &result, &err), -1);
    assert_string_equal(err.message,
                        "harness-no-such-program is not installed, or not on the "
                        "PATH. Debian and Ubuntu: apt-get install such");
    p.folder = "/no/such/folder";
    assert_int_equal(process_run(&p, out, NULL, &result, &err), -1);
    assert_non_null(strstr(err.message, "/no/such/folder"));
    assert_null(strstr(err.message, "apt-get"));
}

RUN_TESTS(NULL, NULL)
