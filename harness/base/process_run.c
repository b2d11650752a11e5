/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/process_group.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUT, ERRORS, PIPES };

static const int look_ms = 50, grace_ms = 3000; /* between SIGTERM and SIGKILL */

struct child {
    const struct process *p;
    pid_t pid;
    struct process_group group;
    int read[PIPES], write[PIPES]; /* -1: none, or closed */
    struct strbuf *text[PIPES];
    int64_t started, stopped; /* ms; stopped 0: not asked to end */
    bool killed;
    sigset_t mask; /* as it was, once it is asked to end */
    struct process_result *result;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int open_pipes(struct child *c, struct error *err)
{
    for (int i = 0; i < PIPES; i++) {
        int ends[2];
        if (!c->text[i])
            continue;
        if (pipe2(ends, O_CLOEXEC))
            return error_set(err, "cannot make a pipe: %s", strerror(errno));
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        c->read[i] = ends[0];
        c->write[i] = ends[1];
    }
    return 0;
}

static void arrange(const struct child *c, posix_spawn_file_actions_t *actions)
{
    posix_spawn_file_actions_init(actions);
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (c->p->log)
        posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, c->p->log,
                                         O_WRONLY | O_CREAT | O_APPEND, 0666);
    else
        posix_spawn_file_actions_adddup2(actions, c->write[OUT], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(
        actions, c->write[ERRORS] >= 0 ? c->write[ERRORS] : STDOUT_FILENO, STDERR_FILENO);
    if (c->p->folder)
        posix_spawn_file_actions_addchdir_np(actions, c->p->folder);
}

/* The handlers of this process go by themselves at exec; what it ignores would stay ignored. */
static void set_attributes(const struct child *c, posix_spawnattr_t *attributes)
{
    sigset_t defaults;

    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGCHLD);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setsigdefault(attributes, &defaults);
    posix_spawnattr_setpgroup(attributes, c->group.id);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
}

static int start(struct child *c, struct error *err)
{
    static const char *const nothing[] = { NULL };
    char **env = process_environment_of(c->p->changes ? c->p->changes : nothing);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    arrange(c, &actions);
    set_attributes(c, &attributes);
    int rc = posix_spawnp(&c->pid, c->p->argv[0], &actions, &attributes, (char *const *)c->p->argv,
                          env); /* these are only read */
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    if (rc == 0)
        return 0;
    if (c->p->folder && access(c->p->folder, X_OK))
        return error_set(err, "cannot start %s in %s: %s", c->p->argv[0], c->p->folder,
                         strerror(rc));
    if (rc == ENOENT && !c->p->log)
        return error_set(err, "%s is not installed, or not on the PATH", c->p->argv[0]);
    return error_set(err, "cannot start %s: %s", c->p->argv[0], strerror(rc));
}

/* Takes what is there; closes the pipe at its end. */
static void take(struct child *c, int i)
{
    char chunk[4096];
    ssize_t nr = 0;

    while (c->read[i] >= 0 && (nr = read(c->read[i], chunk, sizeof(chunk))) > 0)
        strbuf_add(c->text[i], chunk, (size_t)nr);
    if (nr == 0)
        close_fd(&c->read[i]);
}

/* A signal that comes now would end this process and leave the group, which has asked for more
 * time, running: it waits until the group is gone. */
static void hold_signals(struct child *c)
{
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &c->mask);
}

/* The user has asked again. */
static bool impatient(void)
{
    sigset_t pending;

    sigpending(&pending);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

/* Asks the whole group to end, and later, or when the user insists, makes it. */
static void stop(struct child *c, enum process_end why)
{
    int64_t now = now_ms();

    if (!c->stopped) {
        hold_signals(c);
        c->result->end = why;
        c->stopped = now;
        kill(-c->group.id, SIGTERM);
    } else if (now > c->stopped + grace_ms || impatient()) {
        c->killed = true;
        kill(-c->group.id, SIGKILL);
    }
}

/* The leader of a group that was asked to end may be the first to go: the rest has its time, too.
 * Then the signals come. */
static void see_off(struct child *c)
{
    if (!c->stopped)
        return;
    while (!c->killed && !process_group_is_empty(&c->group)) {
        poll(NULL, 0, look_ms / 5);
        stop(c, c->result->end);
    }
    pthread_sigmask(SIG_SETMASK, &c->mask, NULL);
}

static void mind_the_time(struct child *c)
{
    const struct process *p = c->p;

    if (p->interrupted && *p->interrupted)
        stop(c, PROCESS_INTERRUPTED);
    else if (p->timeout > 0 && (double)(now_ms() - c->started) > 1e3 * p->timeout)
        stop(c, PROCESS_TIMED_OUT);
}

/* Until it has ended, and how; -1 where that cannot be known. */
static int follow(struct child *c, int *status, struct error *err)
{
    int wait_ms = 1;

    for (;;) {
        pid_t ended = waitpid(c->pid, status, WNOHANG);
        if (ended > 0)
            return 0;
        if (ended < 0 && errno != EINTR)
            return error_set(err, "cannot tell how %s ended: %s", c->p->argv[0], strerror(errno));
        struct pollfd fds[PIPES];
        for (int i = 0; i < PIPES; i++) /* closed ones are -1, which poll() skips */
            fds[i] = (struct pollfd) { .fd = c->read[i], .events = POLLIN };
        if (poll(fds, PIPES, wait_ms) > 0)
            for (int i = 0; i < PIPES; i++)
                take(c, i);
        mind_the_time(c);
        wait_ms = wait_ms * 2 < look_ms ? wait_ms * 2 : look_ms;
    }
}

int process_run(const struct process *p, struct strbuf *out, struct strbuf *errors,
                struct process_result *result, struct error *err)
{
    struct child c = { .p = p, .started = now_ms(), .result = result };
    int rc = -1;

    *result = (struct process_result) { 0 };
    for (int i = 0; i < PIPES; i++)
        c.read[i] = c.write[i] = -1;
    c.text[OUT] = p->log ? NULL : out;
    c.text[ERRORS] = p->log ? NULL : errors;
    if (process_group_open(&c.group, grace_ms, err) || open_pipes(&c, err) || start(&c, err))
        goto out;
    for (int i = 0; i < PIPES; i++)
        close_fd(&c.write[i]);
    int status = 0, lost = follow(&c, &status, err);
    see_off(&c);
    if (lost)
        goto out;
    for (int i = 0; i < PIPES; i++)
        take(&c, i);
    if (WIFSIGNALED(status) && result->end == PROCESS_EXITED)
        result->end = PROCESS_KILLED;
    result->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    rc = 0;
out:
    process_group_close(&c.group);
    for (int i = 0; i < PIPES; i++) {
        close_fd(&c.read[i]);
        close_fd(&c.write[i]);
    }
    return rc;
}
