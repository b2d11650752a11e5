/* SPDX-License-Identifier: MIT */
/* The parent's side of a launch. */
#include "launch/launch.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "core/clock.h"
#include "host/host_memory.h"
#include "launch/launch_job.h"
#include "launch/launch_process.h"
#include "launch/launch_words.h"
#include "process/memory_watch.h"
#include "stats/random.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STDERR_KEPT = 4096 };
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
        launch_mind_limits(&c->words, limits, &c->memory, c->process.group.guard, c->result);
        if (limits->interrupted && *limits->interrupted)
            c->result->end = LAUNCH_INTERRUPTED;
        if (ready == 0 && ended)
            break;
        ended = process_group_ended(&c->process.group); /* then there is nothing to come */
    }
    return rc;
}

/* It has answered and is ending by itself, for which it gets a while, and no more memory than
 * before. What it does in that time takes no answer back. */
static void see_off(struct child *c)
{
    uint64_t end = clock_ns() + LAUNCH_EXIT_TIMEOUT * UINT64_C(1000000000);
    struct pollfd news = { .fd = c->process.group.news, .events = POLLIN };

    while (!process_group_ended(&c->process.group) && clock_ns() < end &&
           !memory_watch_over(&c->memory, c->process.group.guard))
        poll(&news, 1, memory_watch_wait(&c->memory));
}

static void make_secrets(struct launch_secret *secrets, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        random_uuid(secrets[i].text);
}

/* With its greeting it was well; behind that its guests are loaded, whose words and deeds these
 * are. One that says itself why it cannot begin, by the status of a failure, is believed. */
static bool spoilt_before_a_case(const struct child *c)
{
    const struct launch_result *r = c->result;

    if (!c->words.framed || c->words.current >= 0 || c->words.done == c->words.wanted)
        return false;
    return r->end == LAUNCH_MISSPOKE ||
           (launch_is_loading(&c->words) &&
            (r->end == LAUNCH_TIMED_OUT || r->end == LAUNCH_TOO_LARGE ||
             (r->end == LAUNCH_DIED && r->exit_status != MEMORY_EXIT)));
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
    r->loading = launch_is_loading(&c->words);
    if (spoilt_before_a_case(c))
        r->current = (long)c->words.done;
    r->nr_roofs = c->words.nr_roofs;
    memcpy(r->said, c->words.said, sizeof(r->said));
    r->error_text = strbuf_detach(&c->error_text);
}

int launch_run(const struct job *asked, const struct launch_limits *limits,
               const struct case_sink *sink, struct launch_result *result, struct error *err)
{
    struct job job = *asked;
    struct launch_secret *secrets = memory_zeroed(job.nr + 1, sizeof(*secrets));
    struct child c = { .words = { .sink = sink,
                                  .roofs = job.roofs ? result->roofs : NULL,
                                  .secrets = secrets,
                                  .wanted = job.nr,
                                  .most = launch_words_most(&job),
                                  .loads = guests_load(asked->settings.guests),
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
    if (rc == 0 && result->end == LAUNCH_DONE)
        see_off(&c);
    launch_process_stop(&c.process, &result->exit_status);
    conclude(&c);
    memory_watch_release(&c.memory);
    strbuf_release(&c.words.line);
    free(secrets);
    return rc;
}
