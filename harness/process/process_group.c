/* SPDX-License-Identifier: MIT */
#include "process/process_group.h"

#include "base/monotonic.h"
#include "process/descriptors.h"
#include "process/process_tree.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const struct process_group process_group_none = { .news = -1 };

/* How long a guard may take to say what it has seen. */
enum { ANSWER_MS = 1000 };

enum kind { STARTED, NOT_RUN, ENDED };

/* What is told, each in one packet. */
struct news {
    enum kind kind;
    int value; /* the process, who says so itself; errno; or the status */
};

struct birth {
    pid_t parent;
    int news, grace_ms;
    sigset_t all, mask; /* of signals: of the guard, and of the process */
    int (*life)(const void *context);
    const void *context;
};

static bool send_word(int fd, enum kind kind, int value)
{
    const struct news news = { kind, value };
    ssize_t nr;

    while ((nr = send(fd, &news, sizeof(news), MSG_NOSIGNAL)) < 0 && errno == EINTR)
        continue;
    return nr == (ssize_t)sizeof(news);
}

/* ---- the guard ---- */

static void live_as_process(const struct birth *b, pid_t guard)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard)
        _exit(127);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &b->mask, NULL);
    if (send_word(b->news, STARTED, getpid()))
        send_word(b->news, NOT_RUN, b->life(b->context));
    _exit(127);
}

/* Tells of the process; what else ended here had lost its parent. Who cannot tell says so by the
 * end of the channel. */
static void reap_children(const struct birth *b, pid_t process)
{
    pid_t ended;
    int status;

    while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
        if (ended == process && !send_word(b->news, ENDED, status))
            close(b->news);
}

static void finish_guard(const struct birth *b)
{
    enum { LOOK_MS = 20 };
    pid_t self = getpid();

    if (b->grace_ms > 0)
        process_tree_signal(self, SIGTERM);
    for (int waited = 0; waited < b->grace_ms && !process_tree_is_empty(self); waited += LOOK_MS) {
        poll(NULL, 0, LOOK_MS);
        reap_children(b, -1);
    }
    process_tree_kill(self);
    _exit(0);
}

/*
 * Life of a guard. It blocks all signals, and hears of its children and of its parent's death by
 * taking them. The latter comes as SIGCONT, which also wakes a guard that has been stopped; but so
 * do others (one is the end of the thread that made it): what counts is who the parent is. A look
 * before the first wait, because it may have died before the call, and one each second, because a
 * signal to stop takes back the one to go on.
 */
static void live_as_guard(const struct birth *b)
{
    static const struct timespec second = { .tv_sec = 1 };

    signal(SIGCHLD, SIG_DFL); /* ignored, as some parents leave it, nothing tells how one ended */
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    setpgid(0, 0);
    pid_t self = getpid(), process = fork();
    if (process == 0)
        live_as_process(b, self);
    if (process < 0)
        send_word(b->news, NOT_RUN, errno);
    prctl(PR_SET_NAME, "harness-guard");
    descriptors_close(0, b->news); /* or pipes that others hold would not end */
    while (getppid() == b->parent) {
        reap_children(b, process);
        sigtimedwait(&b->all, NULL, &second);
    }
    finish_guard(b);
}

/* ---- whose guard it is ---- */

/* false: nothing came. */
static bool receive_news(struct process_group *g, int flags)
{
    struct news news;
    ssize_t nr;

    do
        nr = recv(g->news, &news, sizeof(news), flags);
    while (nr < 0 && errno == EINTR);
    if (nr < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return false;
    if (nr != (ssize_t)sizeof(news)) { /* the guard is gone, or nothing can be heard of it */
        g->unheard = nr < 0 ? errno : 0;
        g->ended = g->deserted = true;
        g->status = SIGKILL;
    } else if (news.kind == STARTED) {
        g->pid = news.value;
    } else if (news.kind == NOT_RUN) {
        g->not_run = news.value;
    } else {
        g->ended = true;
        g->status = news.value;
    }
    return true;
}

static int refuse_start(struct process_group *g, int number, struct error *err)
{
    process_group_close(g);
    return error_set(err, "cannot start a process: %s", strerror(number));
}

int process_group_start(struct process_group *g, int grace_ms, int (*life)(const void *context),
                        const void *context, struct error *err)
{
    struct birth b = { .parent = getpid(), .grace_ms = grace_ms, .life = life, .context = context };
    int ends[2];

    *g = process_group_none;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return refuse_start(g, errno, err);
    g->news = ends[0];
    b.news = ends[1];
    sigfillset(&b.all);
    pthread_sigmask(SIG_SETMASK, &b.all, &b.mask); /* from its first moment on */
    g->guard = fork();
    if (g->guard == 0)
        live_as_guard(&b);
    int number = errno;
    pthread_sigmask(SIG_SETMASK, &b.mask, NULL);
    close(ends[1]);
    if (g->guard < 0) {
        g->guard = 0;
        return refuse_start(g, number, err);
    }
    while (!g->pid && !g->ended && !g->not_run)
        receive_news(g, 0);
    if (g->not_run && !g->pid)
        return refuse_start(g, g->not_run, err);
    if (g->pid || !WIFEXITED(g->status))
        return 0;
    process_group_close(g);
    return error_set(err, "cannot start a process: it ended before it began");
}

bool process_group_ended(struct process_group *g)
{
    while (!g->ended && receive_news(g, MSG_DONTWAIT))
        continue;
    return g->ended;
}

bool process_group_wait(struct process_group *g, double seconds)
{
    int64_t end = monotonic_ms() + (int64_t)(1e3 * seconds);
    struct pollfd news = { .fd = g->news, .events = POLLIN };

    while (!process_group_ended(g)) {
        int64_t now = monotonic_ms();
        if (now >= end)
            return false;
        poll(&news, 1, (int)(end - now));
    }
    return true;
}

void process_group_signal(const struct process_group *g, int number)
{
    process_tree_signal(g->guard, number);
}

bool process_group_is_empty(const struct process_group *g)
{
    return process_tree_is_empty(g->guard);
}

/* The guard stops with its group; somebody may have stopped it before. */
void process_group_kill(struct process_group *g)
{
    struct pollfd news = { .fd = g->news, .events = POLLIN };

    if (g->guard > 0)
        process_tree_stop(g->guard);
    process_tree_kill(g->guard);
    kill(g->guard, SIGCONT);
    for (int waited = 0; !process_group_ended(g) && waited < ANSWER_MS; waited += ANSWER_MS / 10)
        poll(&news, 1, ANSWER_MS / 10);
    if (g->ended)
        return;
    g->ended = g->deserted = true;
    g->status = SIGKILL;
}

void process_group_close(struct process_group *g)
{
    if (g->news >= 0)
        close(g->news);
    g->news = -1;
    if (!g->guard)
        return;
    kill(g->guard, SIGKILL);
    while (waitpid(g->guard, NULL, 0) < 0 && errno == EINTR)
        continue;
    g->guard = 0;
}
