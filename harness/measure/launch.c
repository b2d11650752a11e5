/* SPDX-License-Identifier: MIT */
/* The parent's side of a launch. */
#include "measure/launch.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "core/clock.h"
#include "core/host_memory.h"
#include "measure/launch_job.h"
#include "measure/launch_process.h"
#include "measure/launch_words.h"
#include "measure/memory_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STDERR_KEPT = 4096, START_TIMEOUT_S = 60 };
enum { REPORT, ERRORS, NEWS, FDS };

struct child {
    struct launch_process process;
    struct launch_words words;
    struct strbuf error_text;
    struct launch_result *result;
    struct memory_watch memory;
    struct error *err;
};

/* The job is written at once: the child reads all of it before it reports anything. */
static void give_job(struct child *c, const struct job *job)
{
    char *text = job_print(job);
    size_t length = strlen(text), sent = 0;

    while (sent < length) {
        ssize_t nr = send(c->process.input, text + sent, length - sent, MSG_NOSIGNAL);
        if (nr < 0 && errno != EINTR)
            break; /* it died: reading will tell how */
        sent += nr > 0 ? (size_t)nr : 0;
    }
    free(text);
    launch_close(&c->process.input);
}

static int read_reports(struct child *c)
{
    char block[16384];
    ssize_t nr = recv(c->process.report, block, sizeof(block), MSG_DONTWAIT);

    if (nr < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (nr <= 0) {
        launch_close(&c->process.report);
        return 0;
    }
    return launch_words_take(&c->words, block, (size_t)nr, c->err);
}

/* Keeps the last STDERR_KEPT bytes or so. */
static void read_errors(struct child *c)
{
    char block[STDERR_KEPT];
    ssize_t nr = read(c->process.errors, block, sizeof(block));

    if (nr < 0 && errno == EINTR)
        return;
    if (nr <= 0) {
        launch_close(&c->process.errors);
        return;
    }
    if (c->error_text.length > STDERR_KEPT)
        strbuf_keep_last(&c->error_text, STDERR_KEPT / 2);
    strbuf_add(&c->error_text, block, (size_t)nr);
}

static bool out_of_time(const struct child *c, const struct launch_limits *limits)
{
    double waited = (double)(clock_ns() - c->words.since) * 1e-9;
    double allowed = limits->case_timeout;

    if (c->words.current < 0 && allowed < START_TIMEOUT_S)
        allowed = START_TIMEOUT_S;
    return waited > allowed;
}

/* One that has answered is ending by itself. */
static void mind_the_limits(struct child *c, const struct launch_limits *limits)
{
    if (c->words.said[0])
        c->result->end = LAUNCH_MISSPOKE;
    else if (c->words.answered)
        return;
    else if (memory_watch_over(&c->memory, c->process.group.guard))
        c->result->end = LAUNCH_TOO_LARGE;
    else if (out_of_time(c, limits))
        c->result->end = LAUNCH_TIMED_OUT;
    c->result->memory_held = c->memory.held;
}

static int take_all(struct child *c, const struct pollfd *fds)
{
    int rc = fds[REPORT].revents ? read_reports(c) : 0;

    if (fds[ERRORS].revents)
        read_errors(c);
    return rc;
}

/* Ends with all answers, with the process (though one that it left behind may hold its pipes, and
 * even fill them), with bad words, with time or memory, or with the user's patience. */
static int exchange(struct child *c, const struct launch_limits *limits)
{
    bool ended = false;
    int rc = 0;

    while (rc == 0 && !c->words.answered && c->result->end == LAUNCH_DONE) {
        struct pollfd fds[FDS] = { { .fd = c->process.report, .events = POLLIN },
                                   { .fd = c->process.errors, .events = POLLIN },
                                   { .fd = ended ? -1 : c->process.group.news, .events = POLLIN } };
        int ready = poll(fds, FDS, ended ? 0 : memory_watch_wait(&c->memory));
        if (ready > 0)
            rc = take_all(c, fds);
        mind_the_limits(c, limits);
        if (limits->interrupted && *limits->interrupted)
            c->result->end = LAUNCH_INTERRUPTED;
        if (ready == 0 && ended)
            break;
        ended = process_group_ended(&c->process.group); /* then there is nothing to come */
    }
    return rc;
}

static void make_secrets(struct launch_secret *secrets, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        random_uuid(secrets[i].text);
}

/* What is left to say once the process is gone. */
static void conclude(struct child *c)
{
    struct launch_result *r = c->result;
    const struct process_group *g = &c->process.group;

    if (g->not_run)
        strbuf_adds(&c->error_text, strerror(g->not_run));
    if (r->end == LAUNCH_DONE && !c->words.answered)
        r->end = LAUNCH_DIED;
    r->current = c->words.current;
    /* With its greeting it was well; behind that its guests are loaded, whose words these are. */
    if (r->end == LAUNCH_MISSPOKE && c->words.framed && r->current < 0 &&
        c->words.done < c->words.wanted)
        r->current = (long)c->words.done;
    memcpy(r->said, c->words.said, sizeof(r->said));
    r->error_text = strbuf_detach(&c->error_text);
}

int launch_run(const struct job *asked, const struct launch_limits *limits,
               const struct launch_sink *sink, struct launch_result *result, struct error *err)
{
    struct job job = *asked;
    struct launch_secret *secrets = memory_zeroed(job.nr + 1, sizeof(*secrets));
    struct child c = { .words = { .sink = sink,
                                  .secrets = secrets,
                                  .wanted = job.nr,
                                  .most = launch_words_most(&job),
                                  .stranger = limits->program != NULL,
                                  .current = -1 },
                       .result = result,
                       .err = err };
    int64_t limit = job.settings.memory_limit;

    c.memory.limit = limit > 0 ? limit : host_memory_available("");
    *result = (struct launch_result) { .end = LAUNCH_DONE,
                                       .current = -1,
                                       .memory_limit = c.memory.limit };
    make_secrets(secrets, job.nr + 1);
    job.secrets = secrets;
    if (launch_process_start(&c.process, limits->program, &job, err)) {
        free(secrets);
        return -1;
    }
    c.words.since = clock_ns();
    strbuf_init(&c.words.line);
    strbuf_init(&c.error_text);
    give_job(&c, &job);
    int rc = exchange(&c, limits);
    launch_process_stop(&c.process, rc == 0 && result->end == LAUNCH_DONE, &result->exit_status);
    conclude(&c);
    strbuf_release(&c.words.line);
    free(secrets);
    return rc;
}
