/* SPDX-License-Identifier: MIT */
/*
 * strangers_serve HARNESS FOLDER: `harness serve` on histories of strangers, asked for every
 * address that it has, with names that the history itself gives. Each is answered or refused: JSON
 * is JSON, no answer holds control characters or markup of the history, none takes more than 5 s of
 * computing; the server stays below 150 MiB, and ends when it is told to. A sample; HARNESS_CASES
 * says how many, HARNESS_SEED which.
 */
#include "knocks.h"
#include "serve_client.h"
#include "stranger.h"
#include "testing.h"

#include "base/file.h"
#include "base/json.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CASES = 16,
    FIGURES_A_CASE = 8,
    KEYS_A_CASE = 3,
    SECONDS = 5,        /* of computing, for one answer */
    MEGABYTES = 150,    /* of 1024 * 1024 bytes */
    WAIT_SECONDS = 120, /* of a busy machine */
};

#define EXPLORE(type, x, y)                                                                        \
    "/api/explore?preset=%7B%22name%22:%22a%22,%22title%22:%22b%22,%22type%22:%22" type            \
    "%22,%22x%22:%22" x "%22,%22y%22:%22" y "%22%7D"

static const char *const targets[] = {
    "/",
    "/?run=1,2&base=3",
    "/?run=1,2,3,4,5,6&base=none",
    "/api/core",
    "/api/core?run=1,2,3&base=4",
    "/api/core?limit=2&from=5",
    "/api/core?where=batch%20%3E%3D%201%20and%20kernel%20%3D%20%22*%22",
    "/api/core?where=label%20%3D%20%22*%22%20and%20not%20dirty%20%3D%20yes",
    "/api/core?where=started%20%3E%202000-01-01%20and%20outcome%20%3D%20OK",
    "/api/core?where=machine%20%3D%20%22*%22%20and%20device%20%3D%20%22*cpu*%22",
    "/api/table",
    "/api/table?run=1,2,3,4,5,6",
    "/api/table?run=2&base=1",
    EXPLORE("scatter", "p50", "gflops"),
    EXPLORE("lines", "batch", "p50"),
    "/healthz",
};

enum { TARGETS = sizeof(targets) / sizeof(targets[0]) };

/* What the texts of strangers would be, were they not escaped. */
static const char *const markup[] = { "<script>alert(1)", "</script><img", "<img src=x" };

struct server {
    pid_t pid;
    int out, port; /* port 0: it refuses, and has ended */
    struct strbuf said;
    char *what; /* was changed */
    int64_t answered, refused;
    double longest;
};

/* ---- the server ---- */

static void start(struct server *s, const char *harness)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        execl(harness, harness, "serve", "--db", "h.db", "--port", "0", "--open", "--watch", NULL);
        _exit(127);
    }
    close(ends[1]);
    s->out = ends[0];
}

/* The first line of what it says has the address. */
static void wait_for_address(struct server *s)
{
    struct pollfd p = { .fd = s->out, .events = POLLIN };
    const char *address;
    char bytes[4096];
    ssize_t nr = 1;

    s->port = 0;
    while (!(address = strstr(s->said.data, "http://127.0.0.1:")) || !strchr(address, '\n')) {
        if (poll(&p, 1, WAIT_SECONDS * 1000) <= 0)
            fail_msg("serve says nothing: %s", s->what);
        if ((nr = read(s->out, bytes, sizeof(bytes))) <= 0)
            return;
        strbuf_add(&s->said, bytes, (size_t)nr);
    }
    s->port = atoi(address + strlen("http://127.0.0.1:"));
}

static double seconds_of(pid_t pid)
{
    struct timespec t = { 0 };
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) == 0)
        clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Told to end, unless it has; in megabytes what it took at most. */
static double stop(struct server *s)
{
    struct rusage usage;
    char bytes[4096];
    int status = 0;
    ssize_t nr;

    if (s->port)
        kill(s->pid, SIGTERM);
    while ((nr = read(s->out, bytes, sizeof(bytes))) > 0)
        strbuf_add(&s->said, bytes, (size_t)nr);
    close(s->out);
    assert_int_equal(wait4(s->pid, &status, 0, &usage), s->pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != (s->port ? 0 : 2))
        fail_msg("serve ends with %x: %s\n%s", (unsigned)status, s->what, s->said.data);
    if (!stranger_is_plain(s->said.data, s->said.length, false))
        fail_msg("serve prints control characters: %s\n%s", s->what, s->said.data);
    if (access("X", F_OK) == 0 || access("../X", F_OK) == 0)
        fail_msg("serve runs a command: %s", s->what);
    return (double)usage.ru_maxrss / 1024;
}

/* ---- what it answers ---- */

static void add_hex(struct strbuf *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        strbuf_addf(out, "%%%02x", *p);
}

static const char *wrong_with(const struct reply *r, bool is_json)
{
    static const int known[] = { 200, 400, 404, 500, 503 };
    struct error err;
    bool found = false;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        found |= r->status == known[i];
    if (!found)
        return "has a strange status";
    if (!stranger_is_plain(r->body.data, r->body.length, false))
        return "holds control characters, or no UTF-8";
    for (size_t i = 0; i < sizeof(markup) / sizeof(markup[0]); i++)
        if (!is_json && strstr(r->body.data, markup[i]))
            return "holds markup of the history";
    if (is_json) {
        cJSON *json = json_parse(r->body.data, r->body.length, "the answer", &err);
        if (!json)
            return "is no JSON";
        cJSON_Delete(json);
    }
    return NULL;
}

static void ask(struct server *s, const char *target, struct reply *r)
{
    double before = seconds_of(s->pid);

    client_ask(s->port, "GET", target, "", r);
    double seconds = seconds_of(s->pid) - before;
    bool is_json = strncmp(target, "/api/", 5) == 0 || r->status >= 400;
    const char *wrong = seconds > SECONDS ? "takes too long" : wrong_with(r, is_json);
    if (wrong)
        fail_msg("%s: %d %s (%.1f s): %s\n%.600s", target, r->status, wrong, seconds, s->what,
                 r->body.data);
    s->longest = seconds > s->longest ? seconds : s->longest;
    s->answered += r->status == 200;
    s->refused += r->status != 200;
}

static void ask_and_forget(struct server *s, const char *target)
{
    struct reply r;

    ask(s, target, &r);
    reply_release(&r);
}

static void ask_for_figures(struct server *s, const cJSON *core, struct random *r)
{
    const cJSON *figures = cJSON_GetObjectItem(core, "figures");
    int nr = cJSON_GetArraySize(figures);
    char target[200];

    for (int i = 0; nr > 0 && i < FIGURES_A_CASE; i++) {
        const cJSON *figure = cJSON_GetArrayItem(figures, (int)random_below(r, (uint64_t)nr));
        snprintf(target, sizeof(target), "/api/figure/%.80s%s", json_string(figure, "id", ""),
                 random_below(r, 2) ? "" : "?run=1,2,3&base=4");
        ask_and_forget(s, target);
    }
}

static void ask_for_samples(struct server *s, const cJSON *core, struct random *r)
{
    const cJSON *benchmarks = cJSON_GetObjectItem(core, "benchmarks");
    int nr = cJSON_GetArraySize(benchmarks);
    struct strbuf target;

    strbuf_init(&target);
    for (int i = 0; nr > 0 && i < KEYS_A_CASE; i++) {
        const cJSON *b = cJSON_GetArrayItem(benchmarks, (int)random_below(r, (uint64_t)nr));
        strbuf_clear(&target);
        strbuf_addf(&target, "/api/samples?run=%d&key=", (int)random_below(r, 7));
        add_hex(&target, json_string(b, "key", ""));
        if (target.length < 8000)
            ask_and_forget(s, target.data);
    }
    strbuf_release(&target);
}

/* Of the stream the first event, or that there is none. */
static void ask_for_events(struct server *s)
{
    static const char request[] = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct strbuf raw;
    int fd = client_connect(s->port);

    strbuf_init(&raw);
    assert_true(fd >= 0);
    client_send(fd, request, strlen(request));
    client_read(fd, "\r\n\r\n", WAIT_SECONDS * 1000, &raw);
    client_read(fd, "\n\n", 300, &raw);
    close(fd);
    if (strncmp(raw.data, "HTTP/1.1 ", 9) != 0)
        fail_msg("/api/events answers \"%s\": %s", raw.data, s->what);
    strbuf_release(&raw);
}

static void ask_for_all(struct server *s, struct random *random)
{
    struct error err;
    struct reply r;

    for (size_t i = 0; i < TARGETS; i++)
        ask_and_forget(s, targets[i]);
    ask(s, "/api/core?run=1,2,3", &r);
    cJSON *core = json_parse(r.body.data, r.body.length, "the core", &err);
    ask_for_figures(s, core, random);
    ask_for_samples(s, core, random);
    cJSON_Delete(core);
    reply_release(&r);
    ask_for_events(s);
    ask_and_forget(s, "/healthz");
}

/* ---- the cases ---- */

struct tally {
    int64_t answered, refused, not_served;
    double longest, megabytes;
};

static void try_case(const char *base, size_t length, uint64_t seed, char *what, void *context)
{
    struct server s = { .what = what };
    struct tally *t = context;
    struct random r;

    random_seed(&r, ~seed);
    stranger_put(base, length);
    stranger_aside(seed % 4 ? stranger_change_values : stranger_change, seed, what);
    strbuf_init(&s.said);
    start(&s, stranger_harness);
    wait_for_address(&s);
    if (s.port)
        ask_for_all(&s, &r);
    double megabytes = stop(&s);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their memory is not ours */
    if (megabytes > MEGABYTES)
        fail_msg("serve took %.0f MiB: %s", megabytes, what);
#endif
    t->megabytes = megabytes > t->megabytes ? megabytes : t->megabytes;
    t->longest = s.longest > t->longest ? s.longest : t->longest;
    t->answered += s.answered;
    t->refused += s.refused;
    t->not_served += s.port == 0;
    strbuf_release(&s.said);
}

static void test_served(void **state)
{
    uint64_t seed = knock_seed();
    struct tally t = { 0 };

    (void)state;
    long cases = stranger_cases(CASES, seed, try_case, &t);
    assert_true(cases < CASES || t.answered > 0);
    knock("histories of strangers, served", cases, cases,
          "%lld answers, %lld refusals, %lld not served; at most %.1f s and %.0f MiB (seed %" PRIu64
          ")",
          (long long)t.answered, (long long)t.refused, (long long)t.not_served, t.longest,
          t.megabytes, seed);
}

int main(int argc, char **argv)
{
    return stranger_main(argc, argv, test_served);
}
