/* SPDX-License-Identifier: MIT */
#include "process/process.h"

#include "base/monotonic.h"
#include "process/process_group.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT, ERRORS, PIPES };

static const int look_ms = 50, grace_ms = 3000; /* between SIGTERM and SIGKILL */

struct child {
    const struct process *p;
    char **env;
    struct process_group group;
    int read[PIPES], write[PIPES]; /* -1: none, or closed */
    int file;                      /* in place of the pipes; -1: none */
    struct strbuf *text[PIPES];
    int64_t started, stopped; /* ms; stopped 0: not asked to end */
    bool killed;
    size_t most;
    sigset_t mask; /* as it was, once it is asked to end */
    struct process_result *result;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A file that has lost its name, for what is said by whoever stays. */
static int open_file(struct child *c, struct error *err)
{
    const char *folder = getenv("TMPDIR");
    struct strbuf path;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/harness-said-XXXXXX", folder && *folder ? folder : "/tmp");
    c->file = mkostemp(path.data, O_APPEND | O_CLOEXEC);
    if (c->file < 0)
        error_set(err, "%s: %s", path.data, strerror(errno));
    else
        unlink(path.data);
    strbuf_release(&path);
    return c->file < 0 ? -1 : 0;
}

static int open_pipes(struct child *c, struct error *err)
{
    if (c->p->leaves && c->text[OUT])
        return open_file(c, err);
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

/* Between fork() and exec: only async-signal-safe calls. The handlers of this process go by
 * themselves at exec; what it ignores would stay ignored. */
static int exec_child(const void *context)
{
    const struct child *c = context;
    int in = open("/dev/null", O_RDONLY), out = c->file >= 0 ? c->file : c->write[OUT];

    if (c->p->log)
        out = open(c->p->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(c->write[ERRORS] >= 0 ? c->write[ERRORS] : STDOUT_FILENO, STDERR_FILENO) < 0 ||
        (c->p->folder && chdir(c->p->folder)))
        return errno;
    if (in > STDERR_FILENO)
        close(in);
    signal(SIGPIPE, SIG_DFL);
    execvpe(c->p->argv[0], (char *const *)c->p->argv, c->env); /* these are only read */
    return errno;
}

static int tell_why_not(const struct child *c, struct error *err)
{
    const struct process *p = c->p;
    int why = c->group.not_run;

    if (p->folder && access(p->folder, X_OK))
        return error_set(err, "cannot start %s in %s: %s", p->argv[0], p->folder, strerror(why));
    if (why == ENOENT && !p->log)
        return error_set(err, "%s is not installed, or not on the PATH%s%s", p->argv[0],
                         p->packages ? ". Debian and Ubuntu: apt-get install " : "",
                         p->packages ? p->packages : "");
    return error_set(err, "cannot start %s: %s", p->argv[0], strerror(why));
}

/* Takes what is there, and at most a block more than it may say; closes the pipe at its end. */
static void read_pipe(struct child *c, int i)
{
    char chunk[16384];
    ssize_t nr = 0;

    while (c->read[i] >= 0 && c->text[i]->length <= c->most &&
           (nr = read(c->read[i], chunk, sizeof(chunk))) > 0)
        strbuf_add(c->text[i], chunk, (size_t)nr);
    if (nr == 0)
        close_fd(&c->read[i]);
}

/* What the file has by now; one that stays may be writing. */
static void take_file(struct child *c)
{
    char chunk[16384];
    off_t at = 0;
    ssize_t nr;

    while (c->file >= 0 && c->text[OUT]->length <= c->most &&
           (nr = pread(c->file, chunk, sizeof(chunk), at)) > 0) {
        strbuf_add(c->text[OUT], chunk, (size_t)nr);
        at += nr;
    }
}

static bool says_too_much(const struct child *c)
{
    struct stat st;

    if (c->file >= 0 && fstat(c->file, &st) == 0 && (uintmax_t)st.st_size > c->most)
        return true;
    for (int i = 0; i < PIPES; i++)
        if (c->text[i] && c->text[i]->length > c->most)
            return true;
    return false;
}

/* A signal that comes now would end this process and leave those, which have asked for more
 * time, running: it waits until they are gone. */
static void hold_signals(struct child *c)
{
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &c->mask);
}

/* The user has asked again. */
static bool user_insists(void)
{
    sigset_t pending;

    sigpending(&pending);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

/* Asks all of them to end, and later, or when the user insists, makes it. */
static void stop_child(struct child *c, enum process_end why)
{
    int64_t now = monotonic_ms();

    if (!c->stopped) {
        hold_signals(c);
        c->result->end = why;
        c->stopped = now;
        process_group_signal(&c->group, SIGTERM);
    } else if (now > c->stopped + grace_ms || user_insists()) {
        c->killed = true;
        process_group_kill(&c->group);
    }
}

/* It may be the first to go of those that were asked to end: the rest has its time, too.
 * Then the signals come. */
static void see_off(struct child *c)
{
    if (!c->stopped)
        return;
    while (!c->killed && !process_group_is_empty(&c->group)) {
        poll(NULL, 0, look_ms / 5);
        stop_child(c, c->result->end);
    }
    pthread_sigmask(SIG_SETMASK, &c->mask, NULL);
}

static void mind_the_time(struct child *c)
{
    const struct process *p = c->p;

    if (p->interrupted && *p->interrupted)
        stop_child(c, PROCESS_INTERRUPTED);
    else if (p->timeout > 0 && (double)(monotonic_ms() - c->started) > 1e3 * p->timeout)
        stop_child(c, PROCESS_TIMED_OUT);
}

static int refuse_words(const struct child *c, struct error *err)
{
    return error_set(err, "%s says more than %zu bytes", c->p->argv[0], c->most);
}

/* Until it has ended; -1 where how cannot be known, or it says too much. */
static int follow_child(struct child *c, struct error *err)
{
    int wait_ms = 1;

    while (!process_group_ended(&c->group)) {
        struct pollfd fds[PIPES + 1] = { [PIPES] = { .fd = c->group.news, .events = POLLIN } };
        for (int i = 0; i < PIPES; i++) /* closed ones are -1, which poll() skips */
            fds[i] = (struct pollfd) { .fd = c->read[i], .events = POLLIN };
        if (poll(fds, PIPES + 1, wait_ms) > 0)
            for (int i = 0; i < PIPES; i++)
                read_pipe(c, i);
        if (says_too_much(c)) {
            process_group_kill(&c->group);
            return refuse_words(c, err);
        }
        mind_the_time(c);
        wait_ms = wait_ms * 2 < look_ms ? wait_ms * 2 : look_ms;
    }
    if (c->group.not_run)
        return tell_why_not(c, err);
    if (c->group.deserted && !c->stopped)
        return error_set(err, "cannot tell how %s ended: %s", c->p->argv[0],
                         c->group.unheard ? strerror(c->group.unheard)
                                          : "its guard was killed, or could not say it");
    return 0;
}

int process_run(const struct process *p, struct strbuf *out, struct strbuf *errors,
                struct process_result *result, struct error *err)
{
    static const char *const nothing[] = { NULL };
    struct child c = { .p = p,
                       .started = monotonic_ms(),
                       .file = -1,
                       .most = p->most ? p->most : PROCESS_SAID_MAX,
                       .group = process_group_none,
                       .result = result };
    int rc = -1;

    *result = (struct process_result) { 0 };
    for (int i = 0; i < PIPES; i++)
        c.read[i] = c.write[i] = -1;
    c.text[OUT] = p->log ? NULL : out;
    c.text[ERRORS] = p->log || p->leaves ? NULL : errors;
    c.env = process_environment_of(p->changes ? p->changes : nothing);
    if (open_pipes(&c, err) || process_group_start(&c.group, grace_ms, exec_child, &c, err))
        goto out;
    for (int i = 0; i < PIPES; i++)
        close_fd(&c.write[i]);
    int lost = follow_child(&c, err), status = c.group.status;
    see_off(&c);
    for (int i = 0; i < PIPES; i++)
        read_pipe(&c, i);
    take_file(&c);
    if (lost || (says_too_much(&c) && refuse_words(&c, err)))
        goto out;
    if (WIFSIGNALED(status) && result->end == PROCESS_EXITED)
        result->end = PROCESS_KILLED;
    result->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    rc = 0;
out:
    process_group_close(&c.group);
    close_fd(&c.file);
    free(c.env);
    for (int i = 0; i < PIPES; i++) {
        close_fd(&c.read[i]);
        close_fd(&c.write[i]);
    }
    return rc;
}
