/* SPDX-License-Identifier: MIT */
/* The parent's side of a launch. */
#include "measure/launch.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "core/clock.h"
#include "measure/ceilings.h"
#include "measure/launch_job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 100, STDERR_KEPT = 4096, START_TIMEOUT_S = 60, EXIT_TIMEOUT_MS = 5000 };

struct child {
    pid_t pid;
    int input, report, errors; /* our ends of the pipes; -1 when closed */
    struct strbuf line, error_text;
    const char *who; /* for messages */
    const struct launch_sink *sink;
    struct launch_result *result;
    uint64_t since; /* ns: when the case in hand, or the process, began */
    bool answered;  /* all that the job asked for has been reported */
    size_t done, wanted;
    struct error *err;
};

static void close_fd(int *fd)
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

/* In the child, between fork and exec: only async-signal-safe calls. */
static void become(const int input[2], const int report[2], const int errors[2], const char *path,
                   char **env)
{
    char program[] = "harness", command[] = "internal-launch";
    char *argv[] = { program, command, NULL };
    int high = fcntl(report[1], F_DUPFD, 10); /* out of the way of the numbers we assign */

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
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

static int start(struct child *c, const char *program, const struct job *job, struct error *err)
{
    int input[2] = { -1, -1 }, reports[2] = { -1, -1 }, errors[2] = { -1, -1 };

    /* A socket, because writing to one can go without SIGPIPE. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) || pipe2(reports, O_CLOEXEC) ||
        pipe2(errors, O_CLOEXEC))
        goto failed;
    char **env = child_environment(job);
    c->pid = fork();
    if (c->pid == 0)
        become(input, reports, errors, program ? program : "/proc/self/exe", env);
    free(env);
    if (c->pid < 0)
        goto failed;
    setpgid(c->pid, c->pid); /* as the child does, whoever is first: stop() kills the group */
    close(input[0]);
    close(reports[1]);
    close(errors[1]);
    c->input = input[1];
    c->report = reports[0];
    c->errors = errors[0];
    c->since = clock_ns();
    return 0;
failed:
    error_set(err, "cannot start a measuring process: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        close_fd(&input[i]);
        close_fd(&reports[i]);
        close_fd(&errors[i]);
    }
    return -1;
}

/* The job is written at once: the child reads all of it before it reports anything. */
static void give_job(struct child *c, const struct job *job)
{
    char *text = job_print(job);
    size_t length = strlen(text), sent = 0;

    while (sent < length) {
        ssize_t nr = send(c->input, text + sent, length - sent, MSG_NOSIGNAL);
        if (nr < 0 && errno != EINTR)
            break; /* it died: reading will tell how */
        sent += nr > 0 ? (size_t)nr : 0;
    }
    free(text);
    close_fd(&c->input);
}

static int take_ceilings(struct child *c, const cJSON *array)
{
    struct ceiling ceilings[CEILINGS_MAX];
    const cJSON *item;
    int nr = 0;

    cJSON_ArrayForEach(item, array)
    {
        if (nr < CEILINGS_MAX && ceiling_from_json(item, &ceilings[nr++], c->err))
            return -1;
    }
    c->answered = true; /* nothing else is asked in such a job */
    return c->sink->ceilings(c->sink->context, ceilings, nr, c->err);
}

/* The measurement of an answer, or that the program has no such variant. */
static int read_measurement(const cJSON *json, struct measurement *m, struct error *err)
{
    const char *lacks = json_string(json, "lacks", NULL);
    struct error why;

    if (!lacks)
        return measurement_from_json(cJSON_GetObjectItemCaseSensitive(json, "measurement"), m, err);
    error_set(&why, "this program has no variant %s", lacks);
    *m = (struct measurement) { .outcome = OUTCOME_UNSUPPORTED,
                                .message = memory_string(why.message) };
    return 0;
}

static int take_operations(struct child *c, size_t index, const cJSON *array)
{
    const cJSON *item;
    int rc = 0;

    if (!c->sink->operation)
        return 0;
    cJSON_ArrayForEach(item, array)
    {
        struct measurement m;
        if (rc == 0) {
            rc = measurement_from_json(item, &m, c->err);
            if (rc == 0)
                rc = c->sink->operation(c->sink->context, index, &m, c->err);
            measurement_release(&m);
        }
    }
    return rc;
}

static int take_measurement(struct child *c, size_t index, const cJSON *json)
{
    struct measurement m;
    int rc = read_measurement(json, &m, c->err);

    if (rc == 0)
        rc = c->sink->end(c->sink->context, index, &m, c->err);
    measurement_release(&m);
    if (rc == 0)
        rc = take_operations(c, index, cJSON_GetObjectItemCaseSensitive(json, "operations"));
    c->done++;
    c->answered = c->done == c->wanted;
    c->result->current = -1;
    c->since = clock_ns();
    return rc;
}

static void take_begin(struct child *c, size_t index)
{
    c->result->current = (long)index;
    c->since = clock_ns();
    c->sink->begin(c->sink->context, index);
}

/* The process runs kernels that may write anywhere: its words are checked. Cases come in order,
 * one at a time. */
static int take_message(struct child *c, const cJSON *json)
{
    const cJSON *ceilings = cJSON_GetObjectItemCaseSensitive(json, "ceilings");
    int64_t begin = json_int(json, "begin", -1), end = json_int(json, "end", -1);
    int64_t next = c->done < c->wanted ? (int64_t)c->done : -2;

    if (ceilings && c->sink->ceilings)
        return take_ceilings(c, ceilings);
    if (c->result->current >= 0 && json_int(json, "alive", -1) == c->result->current) {
        c->since = clock_ns();
        return 0;
    }
    if (begin == next && c->result->current < 0)
        return take_begin(c, (size_t)begin), 0;
    if (end == next && c->result->current == end)
        return take_measurement(c, (size_t)end, json);
    return error_set(c->err, "%s said something out of turn", c->who);
}

static int take_line(struct child *c, const char *line, size_t length)
{
    cJSON *json = json_parse(line, length, c->who, c->err);
    int rc = json ? take_message(c, json) : -1;

    cJSON_Delete(json);
    return rc;
}

static int read_reports(struct child *c)
{
    char block[65536];
    ssize_t nr = read(c->report, block, sizeof(block));
    int rc = 0;

    if (nr < 0 && errno == EINTR)
        return 0;
    if (nr <= 0) {
        close_fd(&c->report);
        return 0;
    }
    for (char *p = block, *end = block + nr; rc == 0 && p < end;) {
        char *newline = memchr(p, '\n', (size_t)(end - p));
        size_t part = newline ? (size_t)(newline - p) : (size_t)(end - p);
        strbuf_add(&c->line, p, part);
        p += part + 1;
        if (newline) {
            rc = take_line(c, c->line.data, c->line.length);
            strbuf_clear(&c->line);
        }
    }
    return rc;
}

/* Keeps the last STDERR_KEPT bytes or so. */
static void read_errors(struct child *c)
{
    char block[STDERR_KEPT];
    ssize_t nr = read(c->errors, block, sizeof(block));

    if (nr < 0 && errno == EINTR)
        return;
    if (nr <= 0) {
        close_fd(&c->errors);
        return;
    }
    if (c->error_text.length > STDERR_KEPT) {
        size_t drop = c->error_text.length - STDERR_KEPT / 2;
        memmove(c->error_text.data, c->error_text.data + drop, STDERR_KEPT / 2 + 1);
        c->error_text.length = STDERR_KEPT / 2;
    }
    strbuf_add(&c->error_text, block, (size_t)nr);
}

static bool out_of_time(const struct child *c, const struct launch_limits *limits)
{
    double waited = (double)(clock_ns() - c->since) * 1e-9;
    double allowed = limits->case_timeout;

    if (c->result->current < 0 && allowed < START_TIMEOUT_S)
        allowed = START_TIMEOUT_S;
    return waited > allowed;
}

/* True once the process has ended; it is not reaped, so its number stays its own. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

/* Ends with all answers, with the process (though one that it left behind may hold its pipes),
 * with time, or with the user's patience. */
static int exchange(struct child *c, const struct launch_limits *limits)
{
    int rc = 0;

    while (rc == 0 && !c->answered && (c->report >= 0 || c->errors >= 0)) {
        struct pollfd fds[2] = { { .fd = c->report, .events = POLLIN },
                                 { .fd = c->errors, .events = POLLIN } };
        int ready = poll(fds, 2, POLL_MS);
        if (ready > 0 && fds[0].revents)
            rc = read_reports(c);
        if (ready > 0 && fds[1].revents)
            read_errors(c);
        if (limits->interrupted && *limits->interrupted) {
            c->result->end = LAUNCH_INTERRUPTED;
            break;
        }
        if (!c->answered && out_of_time(c, limits)) {
            c->result->end = LAUNCH_TIMED_OUT;
            break;
        }
        if (ready == 0 && has_ended(c->pid))
            break;
    }
    return rc;
}

/* Waits for a process that is ending by itself, or kills it; in any case with the whole group,
 * since a kernel may have started processes of its own. 0, exit code or -signal. */
static int stop(pid_t pid, bool patient, int *exit_status, struct error *err)
{
    int status = 0;

    for (int waited = 0; patient && waited < EXIT_TIMEOUT_MS && !has_ended(pid); waited += 5)
        poll(NULL, 0, 5);
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_set(err, "cannot tell how a measuring process ended: %s", strerror(errno));
    *exit_status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

int launch_run(const struct job *job, const struct launch_limits *limits,
               const struct launch_sink *sink, struct launch_result *result, struct error *err)
{
    struct child c = { .input = -1,
                       .report = -1,
                       .errors = -1,
                       .who = limits->program ? limits->program : "the measuring process",
                       .sink = sink,
                       .result = result,
                       .wanted = job->nr,
                       .err = err };
    struct error later; /* the first one counts */

    *result = (struct launch_result) { .end = LAUNCH_DONE, .current = -1 };
    if (start(&c, limits->program, job, err))
        return -1;
    strbuf_init(&c.line);
    strbuf_init(&c.error_text);
    give_job(&c, job);
    int rc = exchange(&c, limits);
    if (stop(c.pid, rc == 0 && result->end == LAUNCH_DONE, &result->exit_status, rc ? &later : err))
        rc = -1;
    if (result->end == LAUNCH_DONE && !c.answered)
        result->end = LAUNCH_DIED;
    close_fd(&c.report);
    close_fd(&c.errors);
    strbuf_release(&c.line);
    result->error_text = strbuf_detach(&c.error_text);
    return rc;
}
