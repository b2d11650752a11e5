/* SPDX-License-Identifier: MIT */
/* The parent's side of a launch. */
#include "measure/launch.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "core/clock.h"
#include "core/host_memory.h"
#include "measure/ceilings.h"
#include "measure/launch_job.h"
#include "measure/launch_process.h"
#include "measure/memory_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STDERR_KEPT = 4096, START_TIMEOUT_S = 60 };

struct child {
    struct launch_process process;
    struct strbuf line, error_text;
    const char *who; /* for messages */
    const struct launch_sink *sink;
    struct launch_result *result;
    uint64_t since; /* ns: when the case in hand, or the process, began */
    bool answered;  /* all that the job asked for has been reported */
    struct memory_watch memory;
    size_t done, wanted;
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
    ssize_t nr = read(c->process.report, block, sizeof(block));
    int rc = 0;

    if (nr < 0 && errno == EINTR)
        return 0;
    if (nr <= 0) {
        launch_close(&c->process.report);
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
    ssize_t nr = read(c->process.errors, block, sizeof(block));

    if (nr < 0 && errno == EINTR)
        return;
    if (nr <= 0) {
        launch_close(&c->process.errors);
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

/* One that has answered is ending by itself. */
static void mind_the_limits(struct child *c, const struct launch_limits *limits)
{
    if (c->answered)
        return;
    if (memory_watch_over(&c->memory, c->process.pid))
        c->result->end = LAUNCH_TOO_LARGE;
    else if (out_of_time(c, limits))
        c->result->end = LAUNCH_TIMED_OUT;
    c->result->memory_held = c->memory.held;
}

/* Ends with all answers, with the process (though one that it left behind may hold its pipes),
 * with time or memory, or with the user's patience. */
static int exchange(struct child *c, const struct launch_limits *limits)
{
    int rc = 0;

    while (rc == 0 && !c->answered && c->result->end == LAUNCH_DONE &&
           (c->process.report >= 0 || c->process.errors >= 0)) {
        struct pollfd fds[2] = { { .fd = c->process.report, .events = POLLIN },
                                 { .fd = c->process.errors, .events = POLLIN } };
        bool ended = launch_process_ended(&c->process); /* before: then there is nothing to come */
        int ready = poll(fds, 2, memory_watch_wait(&c->memory));
        if (ready > 0 && fds[0].revents)
            rc = read_reports(c);
        if (ready > 0 && fds[1].revents)
            read_errors(c);
        mind_the_limits(c, limits);
        if (limits->interrupted && *limits->interrupted)
            c->result->end = LAUNCH_INTERRUPTED;
        if (ready == 0 && ended)
            break;
    }
    return rc;
}

int launch_run(const struct job *job, const struct launch_limits *limits,
               const struct launch_sink *sink, struct launch_result *result, struct error *err)
{
    struct child c = { .who = limits->program ? limits->program : "the measuring process",
                       .sink = sink,
                       .result = result,
                       .wanted = job->nr,
                       .err = err };
    struct error later; /* the first one counts */
    int64_t limit = job->settings.memory_limit;

    c.memory.limit = limit > 0 ? limit : host_memory_available("");
    *result = (struct launch_result) { .end = LAUNCH_DONE,
                                       .current = -1,
                                       .memory_limit = c.memory.limit };
    if (launch_process_start(&c.process, limits->program, job, err))
        return -1;
    c.since = clock_ns();
    strbuf_init(&c.line);
    strbuf_init(&c.error_text);
    give_job(&c, job);
    int rc = exchange(&c, limits);
    bool patient = rc == 0 && result->end == LAUNCH_DONE;
    if (launch_process_stop(&c.process, patient, &result->exit_status, rc ? &later : err))
        rc = -1;
    if (result->end == LAUNCH_DONE && !c.answered)
        result->end = LAUNCH_DIED;
    strbuf_release(&c.line);
    result->error_text = strbuf_detach(&c.error_text);
    return rc;
}
