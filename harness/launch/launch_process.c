/* SPDX-License-Identifier: MIT */
#include "launch/launch_process.h"

#include "device/device_fake.h"
#include "device/devices.h"
#include "device/memory_placement.h"
#include "process/descriptors.h"
#include "process/process.h"
#include "process/process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAUNCH_SELF "/proc/self/exe"

void launch_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* What the environment refers to. */
struct child_settings {
    char placement[PLACEMENT_SIZE], number[48];
};

/* Counted over all runs and sides of this process, so that no two are alike. */
static void number_launch(struct child_settings *s)
{
    static unsigned long launches;

    snprintf(s->number, sizeof(s->number), "%s=%lu", DEVICE_FAKE_LAUNCH, ++launches);
}

/*
 * libgomp's threads spin for milliseconds at a barrier before they sleep. On a machine that is not
 * wholly ours that is poison: the one that spins keeps the core that the other needs. This count
 * (about 0.2 ms) covers the gaps between timed launches and no more. What the user has set stays.
 * A program that is measured gets the environment as it is.
 */
static char **child_environment(const struct job *job, struct child_settings *s)
{
    bool program = job->settings.guests && job->settings.guests->command_guest;
    bool chosen = program || getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY");
    const char *changes[4] = { NULL };
    size_t nr = 0;

    placement_draw(s->placement);
    if (!program)
        changes[nr++] = job->settings.fixed_placement ? PLACEMENT_VARIABLE : s->placement;
    if (!chosen)
        changes[nr++] = "GOMP_SPINCOUNT=10000";
    if (!job->roofs && device_kind_of(job->device_spec) == DEVICE_FAKE) {
        number_launch(s);
        changes[nr++] = s->number;
    }
    return process_environment_of(changes);
}

/* Where the system runs out of memory it shall end a kernel that took it, not who measures. Where
 * this cannot be said, the kernel is one among all. */
static void be_the_first_to_go(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    ssize_t said = write(fd, "1000", 4);
    (void)said;
    close(fd);
}

struct birth {
    int input, report, errors;
    const char *path;
    char **env;
    bool fixed; /* see device/memory_placement.h */
};

/* In the child, between fork and exec: only async-signal-safe calls. It gets four descriptors. */
static int become(const void *context)
{
    const struct birth *b = context;
    char program[] = "harness", command[] = "internal-launch";
    char *argv[] = { program, command, NULL };
    int nowhere = open("/dev/null", O_WRONLY);
    const int from[] = { b->input, nowhere, b->errors, b->report };
    int high[LAUNCH_FD + 1]; /* out of the way of the numbers that we assign */

    if (nowhere < 0)
        return errno;
    be_the_first_to_go();
    if (b->fixed)
        placement_fix();
    for (int i = 0; i <= LAUNCH_FD; i++)
        if ((high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, LAUNCH_FD + 1)) < 0)
            return errno;
    for (int i = 0; i <= LAUNCH_FD; i++)
        if (dup2(high[i], i) < 0)
            return errno;
    descriptors_close_on_exec(LAUNCH_FD + 1);
    descriptors_make_room();
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    execve(b->path, argv, b->env);
    return errno;
}

enum { INPUT, REPORT, ERRORS, PIPES };

/* Sockets, because writing to one can go without SIGPIPE, and because nobody can open one again
 * through /proc. */
static int open_pipes(int ends[PIPES][2])
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends[INPUT]) ||
                   socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends[REPORT]) ||
                   pipe2(ends[ERRORS], O_CLOEXEC)
               ? -1
               : 0;
}

static void close_pipes(int ends[PIPES][2])
{
    for (int i = 0; i < PIPES; i++) {
        launch_close(&ends[i][0]);
        launch_close(&ends[i][1]);
    }
}

/* From here on this process is the next that adopts. */
static void note_others(struct launch_process *p)
{
    int adopts = 0;

    prctl(PR_GET_CHILD_SUBREAPER, &adopts);
    p->adopts = adopts;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    p->nr_others = process_tree_children(p->others, LAUNCH_OTHERS_MAX);
}

static bool is_other(const struct launch_process *p, pid_t pid)
{
    for (size_t i = 0; i < p->nr_others; i++)
        if (p->others[i] == pid)
            return true;
    return p->nr_others == LAUNCH_OTHERS_MAX; /* too many to tell */
}

/* What is left where the guard was killed. */
static void end_orphans(struct launch_process *p)
{
    pid_t children[LAUNCH_OTHERS_MAX];
    size_t nr = p->group.deserted ? process_tree_children(children, LAUNCH_OTHERS_MAX) : 0;

    for (size_t i = 0; i < nr; i++) {
        if (is_other(p, children[i]))
            continue;
        kill(children[i], SIGSTOP);
        process_tree_kill(children[i]);
        kill(children[i], SIGKILL);
        for (int waited = 0; waited < 1000 && waitpid(children[i], NULL, WNOHANG) == 0; waited++)
            poll(NULL, 0, 1);
    }
    prctl(PR_SET_CHILD_SUBREAPER, p->adopts);
}

/* Where /proc is missing, the child could only say that there is no such file, and not of which. */
static int check_self(const char *program, struct error *err)
{
    if (program || access(LAUNCH_SELF, F_OK) == 0)
        return 0;
    return error_set(err, LAUNCH_SELF
                     " is missing, by which this program starts itself: mount /proc here (mount "
                     "-t proc proc /proc)");
}

int launch_process_start(struct launch_process *p, const char *program, const struct job *job,
                         struct error *err)
{
    int ends[PIPES][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } }, rc = -1;
    struct child_settings settings;
    struct birth birth = { .path = program ? program : LAUNCH_SELF,
                           .env = child_environment(job, &settings),
                           .fixed = job->settings.fixed_placement };

    note_others(p);
    if (check_self(program, err)) {
        rc = -1;
    } else if (open_pipes(ends)) {
        error_set(err, "%s", strerror(errno));
    } else {
        birth.input = ends[INPUT][0];
        birth.report = ends[REPORT][1];
        birth.errors = ends[ERRORS][1];
        rc = process_group_start(&p->group, 0, become, &birth, err);
    }
    free(birth.env);
    if (rc) {
        close_pipes(ends);
        prctl(PR_SET_CHILD_SUBREAPER, p->adopts);
        return error_prefix(err, "cannot start a measuring process");
    }
    p->input = ends[INPUT][1];
    p->report = ends[REPORT][0];
    p->errors = ends[ERRORS][0];
    ends[INPUT][1] = ends[REPORT][0] = ends[ERRORS][0] = -1;
    close_pipes(ends);
    return 0;
}

void launch_process_stop(struct launch_process *p, int *exit_status)
{
    process_group_kill(&p->group);
    launch_close(&p->input);
    launch_close(&p->report);
    launch_close(&p->errors);
    process_group_close(&p->group);
    end_orphans(p);
    int status = p->group.status;
    *exit_status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
