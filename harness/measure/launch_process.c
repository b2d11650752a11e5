/* SPDX-License-Identifier: MIT */
#include "measure/launch_process.h"

#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_TIMEOUT_MS = 5000 };

void launch_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/*
 * libgomp's threads spin for milliseconds at a barrier before they sleep. On a machine that is not
 * wholly ours that is poison: the one that spins keeps the core that the other needs. This count
 * (about 0.2 ms) covers the gaps between timed launches and no more. What the user has set stays.
 * A program that is measured gets the environment as it is.
 */
static char **child_environment(const struct job *job)
{
    bool program = job->settings.guests && job->settings.guests->command_guest;
    bool chosen = program || getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY");

    return process_environment(chosen ? NULL : "GOMP_SPINCOUNT=10000");
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

/* In the child, between fork and exec: only async-signal-safe calls. */
static void become(const int input[2], const int report[2], const int errors[2], const char *path,
                   char **env)
{
    char program[] = "harness", command[] = "internal-launch";
    char *argv[] = { program, command, NULL };
    int high = fcntl(report[1], F_DUPFD, 10); /* out of the way of the numbers we assign */

    be_the_first_to_go();
    if (high < 0 || dup2(input[0], STDIN_FILENO) < 0 || dup2(errors[1], STDERR_FILENO) < 0 ||
        dup2(high, LAUNCH_FD) < 0)
        _exit(127);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    execve(path, argv, env);
    /* A table look-up without translation, unlike strerror(). */
    const char *why = strerrordesc_np(errno);
    size_t length = why ? strlen(why) : 0;
    _exit(length == 0 || write(STDERR_FILENO, why, length) != (ssize_t)length ? 126 : 127);
}

int launch_process_start(struct launch_process *p, const char *program, const struct job *job,
                         struct error *err)
{
    int input[2] = { -1, -1 }, reports[2] = { -1, -1 }, errors[2] = { -1, -1 };
    struct process_group group = { 0 };

    /* A socket, because writing to one can go without SIGPIPE. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) || pipe2(reports, O_CLOEXEC) ||
        pipe2(errors, O_CLOEXEC) || process_group_open(&group, 0, err))
        goto failed;
    char **env = child_environment(job);
    pid_t self = getpid(), pid = fork();
    if (pid == 0 && !process_group_join(&group, self))
        _exit(127);
    if (pid == 0)
        become(input, reports, errors, program ? program : "/proc/self/exe", env);
    free(env);
    if (pid < 0)
        goto failed;
    setpgid(pid, group.id); /* as the child does, whoever is first: stopping kills the group */
    close(input[0]);
    close(reports[1]);
    close(errors[1]);
    *p = (struct launch_process) { pid, group, input[1], reports[0], errors[0] };
    return 0;
failed:
    error_set(err, "cannot start a measuring process: %s", strerror(errno));
    process_group_close(&group);
    for (int i = 0; i < 2; i++) {
        launch_close(&input[i]);
        launch_close(&reports[i]);
        launch_close(&errors[i]);
    }
    return -1;
}

bool launch_process_ended(const struct launch_process *p)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == p->pid;
}

int launch_process_stop(struct launch_process *p, bool patient, int *exit_status, struct error *err)
{
    int status = 0;

    for (int waited = 0; patient && waited < EXIT_TIMEOUT_MS && !launch_process_ended(p);
         waited += 5)
        poll(NULL, 0, 5);
    kill(-p->group.id, SIGKILL);
    launch_close(&p->input);
    launch_close(&p->report);
    launch_close(&p->errors);
    process_group_close(&p->group);
    while (waitpid(p->pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_set(err, "cannot tell how a measuring process ended: %s", strerror(errno));
    *exit_status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}
