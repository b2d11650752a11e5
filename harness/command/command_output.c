/* SPDX-License-Identifier: MIT */
#include "command/command_output.h"

#include "process/process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { END, OUT, ERRORS, FDS };
/* At most so much is taken at once of a pipe: what the program left behind may fill it for ever. */
enum { BLOCK = 16384, BLOCKS = 128 };

const struct command_output command_output_none = { .out = { -1, -1 }, .errors = { -1, -1 } };

static int open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

int command_output_open(struct command_output *e, const size_t *expected,
                        const struct command_output_listener *listener, struct error *err)
{
    *e = command_output_none;
    e->listener = listener;
    e->keeps = expected != NULL;
    strbuf_init(&e->said);
    strbuf_init(&e->words);
    if (open_pipe(e->errors) || ((expected || listener) && open_pipe(e->out)))
        return error_set(err, "cannot listen to the program: %s", strerror(errno));
    e->most = expected ? *expected + COMMAND_OUTPUT_SLACK : 0;
    return 0;
}

static void close_pipe(int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

void command_output_close(struct command_output *e)
{
    close_pipe(e->out);
    close_pipe(e->errors);
    strbuf_release(&e->said);
    strbuf_release(&e->words);
}

/* ---- listening ---- */

static void tell_listener(const struct command_output *e, bool errors, const char *block,
                          ssize_t nr)
{
    if (e->listener)
        e->listener->hear(e->listener->context, errors, block, (size_t)nr);
}

static void hear_output(struct command_output *e)
{
    char block[BLOCK];
    ssize_t nr;

    for (int i = 0; i < BLOCKS && e->out[0] >= 0 && !e->too_much; i++) {
        if ((nr = read(e->out[0], block, sizeof(block))) <= 0)
            break;
        tell_listener(e, false, block, nr);
        if (!e->keeps)
            continue;
        strbuf_add(&e->said, block, (size_t)nr);
        e->too_much = e->said.length > e->most;
    }
}

static void hear_errors(struct command_output *e)
{
    char block[BLOCK];
    ssize_t nr;

    for (int i = 0; i < BLOCKS && (nr = read(e->errors[0], block, sizeof(block))) > 0; i++) {
        tell_listener(e, true, block, nr);
        strbuf_add(&e->words, block, (size_t)nr);
        strbuf_keep_last(&e->words, COMMAND_OUTPUT_LAST_WORDS + 1); /* whether there was more */
    }
}

void command_output_clear(struct command_output *e)
{
    hear_output(e);
    hear_errors(e);
    strbuf_clear(&e->said);
    strbuf_clear(&e->words);
    e->too_much = false;
}

/* ---- the end of a child ---- */

static void ignore_child_end(int number)
{
    (void)number;
}

/* Where the kernel has no descriptors of processes (before 5.3), the signal of the child's end
 * wakes poll(); it is held back at all other times, so that it cannot come before. */
static int listen_for_signal(sigset_t *mask)
{
    const struct sigaction action = { .sa_handler = ignore_child_end };
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return sigaction(SIGCHLD, &action, NULL) || sigprocmask(SIG_BLOCK, &child, mask) ? -1 : 0;
}

/* 1: it has been reaped, 0: it runs, -1. */
static int reap_command(pid_t pid, int *status, struct rusage *usage)
{
    pid_t ended = wait4(pid, status, WNOHANG, usage);

    return ended < 0 && errno == EINTR ? 0 : ended < 0 ? -1 : ended > 0;
}

/* A child that another thread's wait hides would not be missed for long. */
static int listen_once(struct command_output *e, int end, const sigset_t *mask)
{
    static const struct timespec at_most = { .tv_nsec = 50000000 };
    struct pollfd fds[FDS] = { [END] = { .fd = end, .events = POLLIN },
                               [OUT] = { .fd = e->too_much ? -1 : e->out[0], .events = POLLIN },
                               [ERRORS] = { .fd = e->errors[0], .events = POLLIN } };
    int ready = ppoll(fds, FDS, end < 0 ? &at_most : NULL, end < 0 ? mask : NULL);

    if (ready < 0)
        return errno == EINTR ? 0 : -1;
    if (fds[OUT].revents)
        hear_output(e);
    if (fds[ERRORS].revents)
        hear_errors(e);
    return 0;
}

static void kill_command(pid_t pid)
{
    kill(pid, SIGSTOP);
    process_tree_kill(pid);
    kill(pid, SIGKILL);
}

static int follow_command(struct command_output *e, pid_t pid, int end, int *status,
                          struct rusage *usage)
{
    bool silenced = false;
    sigset_t mask;
    int ended = 0;

    if (end < 0 && listen_for_signal(&mask))
        return -1;
    while (ended == 0) {
        ended = end < 0 ? reap_command(pid, status, usage) : 0;
        if (ended == 0 && listen_once(e, end, &mask))
            return -1;
        if (end >= 0)
            ended = reap_command(pid, status, usage);
        if (e->too_much && !silenced)
            kill_command(pid);
        silenced = e->too_much;
    }
    if (end < 0)
        sigprocmask(SIG_SETMASK, &mask, NULL);
    return ended;
}

int command_output_wait(struct command_output *e, pid_t pid, int *status, struct rusage *usage)
{
    int end = (int)syscall(SYS_pidfd_open, pid, 0);
    int ended = follow_command(e, pid, end, status, usage);

    if (end >= 0)
        close(end);
    return ended < 0 ? -1 : 0;
}

const struct strbuf *command_output_said(struct command_output *e)
{
    hear_output(e);
    return &e->said;
}

const char *command_output_last_words(struct command_output *e)
{
    bool more = false;

    hear_errors(e);
    if (e->words.length > COMMAND_OUTPUT_LAST_WORDS) {
        strbuf_keep_last(&e->words, COMMAND_OUTPUT_LAST_WORDS);
        more = true;
    }
    char *newline = more ? strchr(e->words.data, '\n') : NULL;
    if (newline && newline[1])
        strbuf_keep_last(&e->words, strlen(newline + 1));
    if (e->words.length > 0 && e->words.data[e->words.length - 1] == '\n')
        e->words.data[--e->words.length] = '\0';
    return e->words.data;
}
