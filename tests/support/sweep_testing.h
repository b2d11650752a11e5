/* SPDX-License-Identifier: MIT */
/* Sweeps with real child processes: this program, started again, is the child. What the child does,
 * and what the parent sees of it. */
#ifndef HARNESS_TESTS_SWEEP_TESTING_H
#define HARNESS_TESTS_SWEEP_TESTING_H

#include "launch_testing.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "launch/launch_job.h"
#include "launch/sweep.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static const char sleeper_path[] = HARNESS_TEST_DIR "/measure_sweep.pid";
static const char mark_path[] = HARNESS_TEST_DIR "/measure_sweep.mark";

/* Far more than is kept of its words, then its last ones. */
static inline void talk_and_die(const struct call *call)
{
    (void)call;
    for (int i = 0; i < 2000; i++)
        fprintf(stderr, "line %d of much talk\n", i);
    fprintf(stderr, "the very last words\n");
    abort();
}

static inline void quit(const struct call *call)
{
    (void)call;
    fprintf(stderr, "I quit\n");
    exit(3);
}

/* More than a pipe holds, on an otherwise good day. */
static inline int talk(struct call *call, struct error *err)
{
    (void)call;
    (void)err;
    for (int i = 0; i < 5000; i++)
        fprintf(stderr, "line %d of much talk\n", i);
    return 0;
}

/* Leaves a process behind that holds every pipe of this one and never ends. */
static inline int leave_sleeper(struct call *call, struct error *err)
{
    (void)call;
    (void)err;
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    FILE *file = fopen(sleeper_path, "w");
    if (file)
        fprintf(file, "%ld\n", (long)pid);
    return file && fclose(file) == 0 && pid > 0 ? 0 : error_set(err, "no sleeper");
}

static inline void leave_sleeper_and_quit(const struct call *call)
{
    struct call again = *call;
    struct error err;

    _exit(leave_sleeper(&again, &err) ? 4 : 3);
}

static inline void leave_group(const struct call *call)
{
    (void)call;
    setpgid(0, 0);
    for (;;)
        pause();
}

/* 1 GiB without an end of line to whoever listens. */
static inline void endless_line(const struct call *call)
{
    static char block[1 << 16];

    (void)call;
    signal(SIGPIPE, SIG_IGN);
    memset(block, 'x', sizeof(block));
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
        for (int i = 0; i < 1 << 14 && send(fd, block, sizeof(block), MSG_NOSIGNAL) > 0; i++)
            continue;
}

enum { FILL_STEP = 16 << 20, FILL_STEPS = 96 };

/* 1.5 GiB, no faster than in a second, and then a mark. */
static inline void fill_and_mark(void)
{
    for (int i = 0; i < FILL_STEPS; i++) {
        char *part = malloc(FILL_STEP);
        if (part)
            memset(part, i + 1, FILL_STEP);
        usleep(10000);
    }
    FILE *file = fopen(mark_path, "w");
    if (file)
        fclose(file);
}

static inline int fill_at_exit(struct call *call, struct error *err)
{
    (void)call;
    return atexit(fill_and_mark) ? error_set(err, "no room") : 0;
}

static const struct variant child_variants[] = {
    CHILD_VARIANT("leave_group", .launch = leave_group),
    CHILD_VARIANT("endless_line", .launch = endless_line),
    CHILD_VARIANT("fill_at_exit", .prepare = fill_at_exit, .launch = child_copy),
    CHILD_VARIANT("talk_and_die", .launch = talk_and_die),
    CHILD_VARIANT("quit", .launch = quit),
    CHILD_VARIANT("talk", .prepare = talk, .launch = child_copy),
    CHILD_VARIANT("leave_sleeper", .prepare = leave_sleeper, .launch = child_copy),
    CHILD_VARIANT("leave_sleeper_and_quit", .launch = leave_sleeper_and_quit),
    { .name = NULL },
};

static inline const struct registry *test_registry(void)
{
    static const struct kernel *const kernels[] = { &null_copy, NULL };
    static const struct kernel *const *const operations[] = { kernels, NULL };
    static const struct variant *const files[] = { null_fake, child_variants, NULL };
    static const struct registry registry = { .operations = operations, .variant_files = files };

    return &registry;
}

/* The secret that a line of a script should begin with: of the case that it names, or the process.
 */
static inline const char *secret_of(const struct owned_job *job, const char *line)
{
    long which = -1;

    if (sscanf(line, "{\"begin\":%ld", &which) != 1 && sscanf(line, "{\"end\":%ld", &which) != 1)
        sscanf(line, "{\"alive\":%ld", &which);
    return job->secrets[which < 0 || which > (long)job->job.nr ? (long)job->job.nr : which].text;
}

/* What the measuring code would say with these words, so that it is these that count. A script
 * that begins with "raw:" is said as it is. */
static inline void say_script(const char *script, struct strbuf *out)
{
    struct owned_job job = { .device_spec = "" };
    struct strbuf text;
    struct error err = { "" };
    char block[4096];
    ssize_t nr;

    strbuf_init(&text);
    while ((nr = read(STDIN_FILENO, block, sizeof(block))) > 0)
        strbuf_add(&text, block, (size_t)nr);
    if (strncmp(script, "raw:", 4) == 0) {
        strbuf_adds(out, script + 4);
    } else if (job_parse(text.data, text.length, test_registry(), &job, &err) == 0) {
        strbuf_addf(out, "%s {\"hello\":1}\n", secret_of(&job, ""));
        for (const char *line = script, *end; *line; line = end) {
            end = strchr(line, '\n');
            end = end ? end + 1 : line + strlen(line);
            strbuf_addf(out, "%s %.*s", secret_of(&job, line), (int)(end - line), line);
        }
    }
    job_release(&job);
    strbuf_release(&text);
}

/* Says by rote what the environment tells it to, or serves as a child should. */
static inline int sweep_child(void)
{
    const char *script = getenv("TEST_SCRIPT"), *ends = getenv("TEST_EXIT");
    struct error err = { "" };
    struct strbuf words;

    if (!script) {
        int rc = launch_serve(test_registry(), &err);
        fprintf(stderr, "%s", err.message);
        return rc ? 2 : 0;
    }
    strbuf_init(&words);
    if (strcmp(script, "deaf") == 0)
        strbuf_adds(&words, script);
    else
        say_script(script, &words);
    bool told = write(LAUNCH_FD, words.data, words.length) == (ssize_t)words.length;
    strbuf_release(&words);
    return told ? atoi(ends ? ends : "0") : 9;
}

struct seen {
    int launch;
    struct measurement m;
};

/* What a sweep handed up, and where the sink is to fail or interrupt. */
struct log {
    ARRAY(struct launch) launches;
    ARRAY(struct seen) seen;
    int begun, progress;
    size_t total;
    const char *fail;         /* "begin", "measurement" or "end" */
    const char *interrupt_at; /* when the case with this in its key starts */
    int deaf_from;            /* this launch and those behind it cannot start; 0: all can ... */
    const char *fail_then;    /* ... and where the sink fails from then on */
};

static volatile sig_atomic_t interrupted;

static inline bool fails(const struct log *log, const char *where)
{
    return log->fail && strcmp(log->fail, where) == 0;
}

static inline int on_begin(void *context, const struct launch *l, struct error *err)
{
    struct log *log = context;

    assert_int_equal(l->seq, log->begun);
    assert_true(l->started_ms > 0);
    log->begun++;
    if (log->deaf_from && l->seq == log->deaf_from) {
        setenv("TEST_SCRIPT", "deaf", 1);
        log->fail = log->fail_then;
    }
    return fails(log, "begin") ? error_set(err, "the disk is full") : 0;
}

static inline int on_end(void *context, const struct launch *l, struct error *err)
{
    struct log *log = context;

    assert_int_equal(l->seq, log->begun - 1);
    assert_true(l->ended_ms >= l->started_ms);
    struct launch *kept = array_push(&log->launches);
    *kept = *l;
    kept->error_text = memory_string(l->error_text);
    return fails(log, "end") ? error_set(err, "the disk is full") : 0;
}

static inline int on_measurement(void *context, const struct launch *l, const struct measurement *m,
                                 struct error *err)
{
    struct log *log = context;

    /* What waited for a machine at rest comes late. */
    if (isnan(measurement_telemetry(m, TELEMETRY_MACHINE)))
        assert_int_equal(l->seq, log->begun - 1);
    assert_in_range(l->seq, 0, log->begun - 1);
    struct seen *seen = array_push(&log->seen);
    seen->launch = l->seq;
    measurement_copy(&seen->m, m);
    return fails(log, "measurement") ? error_set(err, "the disk is full") : 0;
}

static inline void on_progress(void *context, const struct sweep_progress *p)
{
    struct log *log = context;

    assert_true(p->done < p->total);
    assert_true(p->launch >= 1 && p->launch <= p->launches);
    assert_memory_equal(p->key, "null/copy/", 10);
    assert_int_equal(isnan(p->left), p->done == 0);
    log->progress++;
    log->total = p->total;
    if (log->interrupt_at && strstr(p->key, log->interrupt_at))
        interrupted = SIGINT;
}

static inline void log_release(struct log *log)
{
    for (size_t i = 0; i < log->launches.nr; i++)
        launch_release(&log->launches.items[i]);
    for (size_t i = 0; i < log->seen.nr; i++)
        measurement_release(&log->seen.items[i].m);
    array_release(&log->launches);
    array_release(&log->seen);
}

enum { CASES_MAX = 16 };

/* Batch 1 to `nr` of each variant named, separated by commas. */
static inline size_t make_cases(const char *variants, int nr, struct benchmark *cases)
{
    char copy_of[128], *rest = copy_of, *name;
    size_t total = 0;

    snprintf(copy_of, sizeof(copy_of), "%s", variants);
    while ((name = strsep(&rest, ","))) {
        const struct variant *v = registry_variant(test_registry(), "null/copy", name);
        assert_non_null(v);
        for (int i = 1; i <= nr; i++) {
            assert_true(total < CASES_MAX);
            cases[total++] = (struct benchmark) { v, { { i, 16 } }, CACHE_WARM, NULL };
        }
    }
    return total;
}

static inline struct sweep make_sweep(const char *device, const struct benchmark *cases, size_t nr,
                                      int launches)
{
    return (struct sweep) {
        .what = { .device_spec = device,
                  .benchmarks = cases,
                  .nr = nr,
                  .settings = { .sampling = { .iterations = 3, .min_samples = 1, .max_samples = 3 },
                                .seed = 77 },
                  .limits.case_timeout = 20 },
        .launches = launches,
    };
}

static inline int run(const struct sweep *sweep, struct log *log, enum sweep_end *end,
                      struct error *err)
{
    struct measurement_sink sink = {
        .context = log,
        .launch_begin = on_begin,
        .launch_end = on_end,
        .measurement = on_measurement,
    };
    struct sweep told = *sweep;

    told.context = log;
    told.progress = on_progress;
    err->message[0] = '\0';
    return sweep_run(&told, &sink, end, err);
}

static inline void run_to_end(const struct sweep *sweep, struct log *log)
{
    enum sweep_end end;
    struct error err;

    *log = (struct log) { .begun = 0 };
    assert_ok(run(sweep, log, &end, &err), &err);
    assert_int_equal(end, SWEEP_DONE);
    assert_int_equal(log->begun, log->launches.nr);
}

static inline size_t count(const struct log *log, const char *key, enum outcome outcome)
{
    size_t nr = 0;

    for (size_t i = 0; i < log->seen.nr; i++)
        nr += log->seen.items[i].m.outcome == outcome &&
              strstr(log->seen.items[i].m.bench.key, key) != NULL;
    return nr;
}

static inline const struct measurement *find(const struct log *log, const char *key)
{
    for (size_t i = 0; i < log->seen.nr; i++)
        if (strstr(log->seen.items[i].m.bench.key, key))
            return &log->seen.items[i].m;
    fail_msg("%s was not measured", key);
    return NULL;
}

struct bad_job {
    const char *text, *says; /* what must be in the message */
};

static inline void assert_refused(const struct bad_job *bad, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        struct owned_job job;
        struct error err = { "" };
        assert_int_equal(job_parse(bad[i].text, strlen(bad[i].text), test_registry(), &job, &err),
                         -1);
        assert_says(err.message, bad[i].says);
        job_release(&job);
    }
}

static inline bool is_sweep_child(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "internal-launch") == 0;
}

#endif
