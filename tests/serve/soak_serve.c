/* SPDX-License-Identifier: MIT */
/*
 * The live page asked for long: 20 requests a second of all kinds, no two alike for long, beside
 * runs, merges and prunings of the same history. Its memory must stay below a limit and, once the
 * caches are full, as it is.
 *
 *     soak_serve HARNESS              10 s, or $HARNESS_SOAK seconds
 *
 * Features: S1-23.
 */
#include "testing.h"

#include "core/clock.h"
#include "long_history.h"
#include "serve_client.h"
#include "stats/random.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
    SECONDS = 10,
    RATE = 20, /* requests a second */
    CLIENTS = 4,
    RUNS = 60,
    BENCHMARKS = 100,
    LIMIT_KB = 150 * 1024, /* that the server may hold */
    FLAT_KB = 12 * 1024,   /* that the second half may have more than the second quarter */
    SECONDS_FLAT = 120,    /* from here on the caches have been full for long enough to tell */
};

static const char *program;
static char folder[] = "/tmp/harness-soak-XXXXXX";

struct soak {
    char history[64];
    int seconds, port;
    pid_t server;
    atomic_bool over;
    atomic_size_t asked, refused, written, failed;
    long *held; /* KiB at each second */
};

/* A program's exit status; -1: it did not end by itself. */
static int run_program(const char *const *argv)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What nights do to a history, one after the other. */
static void *write_history(void *context)
{
    struct soak *s = context;
    char other[64];

    snprintf(other, sizeof(other), "%s/other.db", folder);
    const char *const run[] = {
        program,      "run", "null/copy/right", "--device", "fake:base=2000,seed=3",
        "--launches", "2",   "--iterations",    "20",       "--db",
        s->history,   NULL
    };
    const char *const run_other[] = {
        program,      "run", "null/copy/right", "--device", "fake:base=2000,seed=3",
        "--launches", "2",   "--iterations",    "20",       "--db",
        other,        NULL
    };
    const char *const merge[] = { program, "history", "merge", other, "--db", s->history, NULL };
    const char *const prune[] = { program, "history", "prune",    "--keep-runs",
                                  "70",    "--db",    s->history, NULL };
    const char *const *const turns[] = { run, run_other, merge, prune };

    while (!atomic_load(&s->over))
        for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]) && !atomic_load(&s->over); i++) {
            atomic_fetch_add(run_program(turns[i]) == 0 ? &s->written : &s->failed, 1);
            sleep(1);
        }
    return NULL;
}

static void make_target(struct random *r, char *target, size_t size)
{
    unsigned a = 1 + (unsigned)random_below(r, RUNS), b = 1 + (unsigned)random_below(r, RUNS);
    unsigned n = 1 + (unsigned)random_below(r, BENCHMARKS);

    switch (random_below(r, 9)) {
    case 0:
        snprintf(target, size, "/?run=%u", a);
        break;
    case 1:
        snprintf(target, size, "/api/core?run=%u,%u", a, b);
        break;
    case 2:
        snprintf(target, size, "/api/table?run=%u,%u", a, b);
        break;
    case 3:
        snprintf(target, size, "/api/figure/comparison?run=%u&base=%u", a, b);
        break;
    case 4:
        snprintf(target, size, "/api/core?where=batch%%20%%3E%%20%u", n);
        break;
    case 5:
        snprintf(target, size, "/api/figure/trend?where=batch%%20%%3C%%20%u", n);
        break;
    case 6:
        snprintf(target, size,
                 "/api/samples?run=%u&key=gemm/linear/simd/fp32/"
                 "batch=%u,seq=64,n=192,k=48/cpu-2t/warm",
                 a, n);
        break;
    case 7:
        snprintf(target, size, "/api/figure/latency-kernels?run=%u,%u,%u", a, b, n % RUNS + 1);
        break;
    default:
        snprintf(target, size, "/api/table?where=batch%%20%%3D%%20%u", n);
        break;
    }
}

struct client {
    struct soak *soak;
    unsigned number;
};

static void *ask_on(void *context)
{
    const struct client *c = context;
    struct soak *s = c->soak;
    struct random random;
    char target[256];
    uint64_t next = clock_ns();

    random_seed(&random, c->number + 1);
    while (!atomic_load(&s->over)) {
        make_target(&random, target, sizeof(target));
        int status = client_status(s->port, "GET", target, "Accept-Encoding: gzip\r\n");
        if (status != 200) {
            atomic_fetch_add(&s->refused, 1);
            printf("%d: %s\n", status, target);
        }
        atomic_fetch_add(&s->asked, 1);
        next += UINT64_C(1000000000) * CLIENTS / RATE;
        uint64_t now = clock_ns();
        if (next > now)
            usleep((useconds_t)((next - now) / 1000));
    }
    return NULL;
}

/* KiB that are in memory; -1: the process is gone. */
static long held_kb(pid_t pid)
{
    char path[64], line[256];
    long kb = -1;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

static void start_server(struct soak *s)
{
    int out[2];
    char url[256] = "";

    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    s->server = fork();
    if (s->server == 0) {
        dup2(out[1], STDOUT_FILENO);
        execl(program, program, "serve", "--db", s->history, "--port", "0", "--watch", "--open",
              (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    FILE *f = fdopen(out[0], "r");
    assert_non_null(f);
    assert_non_null(fgets(url, sizeof(url), f));
    fclose(f);
    s->port = atoi(strrchr(url, ':') + 1);
    assert_true(s->port > 0);
}

static long most_of(const long *held, int from, int to)
{
    long most = 0;

    for (int i = from; i < to; i++)
        most = held[i] > most ? held[i] : most;
    return most;
}

static void watch_memory(struct soak *s)
{
    for (int i = 0; i < s->seconds; i++) {
        sleep(1);
        s->held[i] = held_kb(s->server);
        assert_true(s->held[i] > 0);
        if (i % (s->seconds / 10 + 1) == 0 || i == s->seconds - 1)
            printf("%4d s %7zu requests %4zu writings %7ld KiB\n", i + 1, atomic_load(&s->asked),
                   atomic_load(&s->written), s->held[i]);
        fflush(stdout);
    }
}

static void judge(const struct soak *s)
{
    long most = most_of(s->held, 0, s->seconds);
    long early = most_of(s->held, s->seconds / 4, s->seconds / 2);
    long late = most_of(s->held, s->seconds / 2, s->seconds);

    printf("most %ld KiB; second quarter %ld KiB, second half %ld KiB; %zu of %zu refused\n", most,
           early, late, atomic_load(&s->refused), atomic_load(&s->asked));
    assert_int_equal(atomic_load(&s->refused), 0);
    assert_int_equal(atomic_load(&s->failed), 0);
    assert_true(atomic_load(&s->written) > 0);
    assert_true(most <= LIMIT_KB);
    if (s->seconds >= SECONDS_FLAT)
        assert_true(late - early <= FLAT_KB);
}

TEST(test_soak)
{
    /* Later than all that is measured meanwhile, so that prunings leave them alone. */
    struct long_history h = { .started_ms = INT64_C(1893456000000),
                              .benchmarks = BENCHMARKS,
                              .runs = RUNS,
                              .launches = 3,
                              .samples = 100,
                              .steps = 5,
                              .seed = 1 };
    const char *asked = getenv("HARNESS_SOAK");
    struct soak s = { .seconds = asked ? atoi(asked) : SECONDS };
    pthread_t writer, threads[CLIENTS];
    struct client clients[CLIENTS];
    struct error err;
    int status;

    assert_true(s.seconds > 0);
    s.held = calloc((size_t)s.seconds, sizeof(*s.held));
    snprintf(s.history, sizeof(s.history), "%s/history.db", folder);
    assert_ok(long_history_write(s.history, &h, &err), &err);
    start_server(&s);
    assert_int_equal(pthread_create(&writer, NULL, write_history, &s), 0);
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client) { &s, i };
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on, &clients[i]), 0);
    }
    watch_memory(&s);
    atomic_store(&s.over, true);
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(writer, NULL);
    kill(s.server, SIGTERM);
    assert_int_equal(waitpid(s.server, &status, 0), s.server);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    judge(&s);
    free(s.held);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

int main(int argc, char **argv)
{
    if (SANITIZED) {
        puts("skipped: a sanitizer holds what was freed");
        return 77;
    }
    char command[128];

    if (argc != 2 || !mkdtemp(folder))
        return 1;
    program = argv[1];
    int rc = cmocka_run_group_tests(file_tests, NULL, NULL);
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command) ? 1 : rc;
}
