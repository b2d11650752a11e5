/* SPDX-License-Identifier: MIT */
#include "base/process_group.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Life of a guard. Its number stays its own until the parent has waited for it, and so does that of
 * the group: the signals cannot hit strangers. They may well end the guard, too. The parent's death
 * comes as a signal, but so do others (one is the end of the thread that made it): what counts is
 * who the parent is. A look before the first wait, because it may have died before the call.
 */
static void guard(pid_t parent, const sigset_t *all, int grace_ms)
{
    pid_t group = getpid();
    int number;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_NAME, "harness-guard");
    syscall(SYS_close_range, 0, ~0U, 0); /* or pipes that others hold would not end */
    while (getppid() == parent)
        sigwait(all, &number);
    if (grace_ms > 0) {
        kill(-group, SIGTERM);
        poll(NULL, 0, grace_ms);
    }
    kill(-group, SIGKILL);
    _exit(0);
}

int process_group_open(struct process_group *g, int grace_ms, struct error *err)
{
    sigset_t all, mask;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask); /* from its first moment on */
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        guard(parent, &all, grace_ms);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    g->id = 0;
    if (pid < 0)
        return error_set(err, "cannot start a process: %s", strerror(errno));
    setpgid(pid, pid); /* here, so that it is one when this returns */
    g->id = pid;
    return 0;
}

void process_group_close(struct process_group *g)
{
    if (!g->id)
        return;
    kill(g->id, SIGKILL);
    while (waitpid(g->id, NULL, 0) < 0 && errno == EINTR)
        continue;
    g->id = 0;
}

bool process_group_is_empty(const struct process_group *g)
{
    setpgid(g->id, getpgrp());
    return kill(-g->id, 0) != 0;
}

bool process_end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent;
}

bool process_group_join(const struct process_group *g, pid_t parent)
{
    return setpgid(0, g->id) == 0 && process_end_with(parent);
}
