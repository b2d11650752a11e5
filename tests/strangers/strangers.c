/* SPDX-License-Identifier: MIT */
/*
 * strangers HARNESS FOLDER: every command that reads a history, on histories of strangers. Nothing
 * of what they hold runs, each command ends with a status of its own within 5 s of computing,
 * 500 MB of memory and 64 MiB written into a file, and prints no control characters. A sample;
 * HARNESS_CASES says how many, HARNESS_SEED which.
 */
#include "knocks.h"
#include "stranger.h"
#include "testing.h"

#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CASES = 24,
    COMMANDS_A_CASE = 5,
    ARGUMENTS = 12,
    SECONDS = 5,        /* of computing, */
    MEASURING = 60,     /* or where a command measures this machine's roofs */
    WAIT_SECONDS = 120, /* of a busy machine */
    MEGABYTES = 500,
    OUTPUT_MOST = 1 << 20,   /* kept of it, to be looked at */
    WRITTEN_MOST = 64 << 20, /* bytes into one file, */
    WRITTEN_TIMES = 4,       /* and into all as many, and so many times what the history has */
};

/* Beside h.db: a history that nobody has changed, and results of another program. */
#define SOUND   "sound.db"
#define RESULTS "results.json"

static const char results[] =
    "{\"results\": [{\"command\": \"sort\", \"mean\": 0.11, \"stddev\": 0.01, "
    "\"median\": 0.11, \"user\": 0.1, \"system\": 0.01, \"min\": 0.1, "
    "\"max\": 0.12, \"times\": [0.1, 0.11, 0.12], "
    "\"exit_codes\": [0, 0, 0]}]}";

/* Behind each: --db h.db, but where it says so. */
static const struct command {
    const char *words[ARGUMENTS];
    bool no_db, as_is; /* as_is: JSON and files of others hold what they hold */
    bool measures;     /* this machine, in buffers beyond its caches, whatever the history holds */
} commands[] = {
    { .words = { "history", "list" } },
    { .words = { "history", "list", "--json" }, .as_is = true },
    { .words = { "history", "show", "latest" } },
    { .words = { "history", "system", "latest" } },
    { .words = { "history", "verdicts" } },
    { .words = { "history", "verdicts", "1" } },
    { .words = { "history", "verify" } },
    { .words = { "history", "annotate", "1", "a word" } },
    { .words = { "history", "prune", "--keep-runs", "2", "--dry-run" } },
    { .words = { "history", "prune", "--keep-runs", "2", "--vacuum" } },
    { .words = { "history", "prune", "--samples-older-than", "1d" } },
    { .words = { "history", "backup", "copy.db" } },
    { .words = { "history", "merge", "h.db", "--db", "to.db" }, .no_db = true },
    { .words = { "history", "salvage", "h.db", "saved.db" }, .no_db = true },
    { .words = { "history", "restore", "h.db", "--db", "to.db" }, .no_db = true },
    { .words = { "history", "restore", SOUND } },
    { .words = { "history", "move", "moved.db" } },
    { .words = { "run", "null/copy/right", "--device", "fake:base=2000", "--launches", "1",
                 "--iterations", "3", "--batch", "4" } },
    { .words = { "import", RESULTS } },
    { .words = { "roofline" }, .measures = true },
    { .words = { "baseline", "list" } },
    { .words = { "baseline", "show", "main" } },
    { .words = { "baseline", "accepted" } },
    { .words = { "baseline", "save", "new" } },
    { .words = { "baseline", "remove", "main" } },
    { .words = { "baseline", "accept", "*", "--reason", "meant" } },
    { .words = { "baseline", "unaccept", "1" } },
    { .words = { "baseline", "list", "--names" } },
    { .words = { "export" }, .as_is = true },
    { .words = { "export", "--format", "csv" }, .as_is = true },
    { .words = { "export", "--format", "gbench" }, .as_is = true },
    { .words = { "export", "--format", "openmetrics" }, .as_is = true },
    { .words = { "export", "--format", "prometheus" }, .as_is = true },
    { .words = { "export", "--format", "summary-json" }, .as_is = true },
    { .words = { "compare", "--baseline", "main" } },
    { .words = { "compare", "--baseline", "1", "--head", "2", "--format", "github" },
      .as_is = true },
    { .words = { "compare", "--baseline", "1", "--head", "2", "--format", "junit" },
      .as_is = true },
    { .words = { "compare", "--baseline", "1", "--head", "2", "--format", "json" }, .as_is = true },
    { .words = { "compare", "--baseline", "1", "--head", "2", "--format", "ctest" } },
    { .words = { "compare", "--replay" } },
    { .words = { "trend" } },
    { .words = { "trend", "--format", "markdown" }, .as_is = true },
    { .words = { "trend", "--format", "json" }, .as_is = true },
    { .words = { "report", "-o", "report.html" } },
    { .words = { "report", "--md" }, .as_is = true },
    { .words = { "plot", "--only", "tails", "-o", "plots" } },
    { .words = { "plot", "--only", "roofline,latency", "--format", "svg", "-o", "plots" } },
    { .words = { "plot", "--only", "distribution,trend", "--format", "svg", "-o", "plots" } },
    { .words = { "list", "machines" } },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

struct outcome {
    int status; /* as wait4 gives it */
    double seconds;
    int64_t kilobytes, written; /* memory; bytes on the way to a disk */
    char *output;
    size_t length;
    bool hung;
};

static void start(const char *harness, const struct command *c, int out)
{
    char *argv[ARGUMENTS + 4] = { (char *)(uintptr_t)harness };
    const struct rlimit file = { WRITTEN_MOST, WRITTEN_MOST };
    int nr = 1, null = open("/dev/null", O_RDONLY);

    for (int i = 0; i < ARGUMENTS && c->words[i]; i++)
        argv[nr++] = (char *)(uintptr_t)c->words[i];
    if (!c->no_db) {
        argv[nr++] = (char *)(uintptr_t) "--db";
        argv[nr++] = (char *)(uintptr_t) "h.db";
    }
    dup2(null, 0);
    dup2(out, 1);
    dup2(out, 2);
    setrlimit(RLIMIT_FSIZE, &file);
    execv(harness, argv);
    _exit(127);
}

static void read_output(int fd, struct outcome *o)
{
    struct pollfd waiting = { .fd = fd, .events = POLLIN };
    ssize_t nr;

    o->output = memory_zeroed(OUTPUT_MOST + 1, 1);
    while (!(o->hung = poll(&waiting, 1, WAIT_SECONDS * 1000) <= 0)) {
        char rest[4096];
        bool room = o->length < OUTPUT_MOST;
        nr = read(fd, room ? o->output + o->length : rest,
                  room ? OUTPUT_MOST - o->length : sizeof(rest));
        if (nr <= 0)
            return;
        o->length += room ? (size_t)nr : 0;
    }
}

static struct outcome run_command(const char *harness, const struct command *c)
{
    struct outcome o = { .status = 0 };
    struct rusage usage;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        start(harness, c, ends[1]);
    close(ends[1]);
    read_output(ends[0], &o);
    if (o.hung)
        kill(pid, SIGKILL);
    close(ends[0]);
    assert_int_equal(wait4(pid, &o.status, 0, &usage), pid);
    o.seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    o.kilobytes = usage.ru_maxrss;
    o.written = (int64_t)usage.ru_oublock * 512;
    return o;
}

/* Bytes on the disk: a length may be of holes. */
static int64_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (int64_t)st.st_blocks * 512 : 0;
}

static void check(const struct command *c, const struct outcome *o, const char *what)
{
    const char *wrong = NULL;
    char words[200] = "";

    if (o->hung)
        wrong = "does not end";
    else if (!WIFEXITED(o->status))
        wrong = "crashes";
    else if (WEXITSTATUS(o->status) > 2 && WEXITSTATUS(o->status) != 77)
        wrong = "has a strange exit status";
    else if (o->seconds > (c->measures ? MEASURING : SECONDS))
        wrong = "takes too long";
    else if (!c->measures && o->kilobytes > MEGABYTES * INT64_C(1000))
        wrong = "takes too much memory";
    else if (o->written >= WRITTEN_MOST + WRITTEN_TIMES * size_of("kept.db"))
        wrong = "writes too much";
    else if (!c->as_is && !stranger_is_plain(o->output, o->length, o->length == OUTPUT_MOST))
        wrong = "prints control characters";
    else if (access("X", F_OK) == 0 || access("../X", F_OK) == 0)
        wrong = "runs a command";
    if (!wrong)
        return;
    for (int i = 0; c->words[i]; i++)
        snprintf(words + strlen(words), sizeof(words) - strlen(words), " %s", c->words[i]);
    fail_msg("harness%s %s (status %x, %.1f s, %lld MB): %s\n%.*s", words, wrong,
             (unsigned)o->status, o->seconds, (long long)o->kilobytes / 1000, what,
             (int)(o->length < 600 ? o->length : 600), o->output);
}

static void put_beside(const char *base, size_t length)
{
    struct error err;

    assert_ok(file_write(SOUND, base, length, &err), &err);
    assert_ok(file_write(RESULTS, results, strlen(results), &err), &err);
}

struct tally {
    double longest;
    int64_t largest, written;
};

static void try_case(const char *base, size_t length, uint64_t seed, char *what, void *context)
{
    struct tally *t = context;
    struct random r;

    random_seed(&r, ~seed);
    stranger_put(base, length);
    stranger_aside(stranger_change, seed, what);
    stranger_keep();
    for (int i = 0; i < COMMANDS_A_CASE; i++) {
        const struct command *c = &commands[random_below(&r, COMMANDS)];
        stranger_put_kept();
        put_beside(base, length);
        struct outcome o = run_command(stranger_harness, c);
        check(c, &o, what);
        t->longest = o.seconds > t->longest ? o.seconds : t->longest;
        t->largest = o.kilobytes > t->largest ? o.kilobytes : t->largest;
        t->written = o.written > t->written ? o.written : t->written;
        free(o.output);
    }
}

static void test_strangers(void **state)
{
    uint64_t seed = knock_seed();
    struct tally t = { 0 };

    (void)state;
    long cases = stranger_cases(CASES, seed, try_case, &t);
    knock("histories of strangers", cases, cases,
          "%d commands each: nothing runs, at most %.1f s, %lld MB of memory and %.1f MB written "
          "(seed %" PRIu64 ")",
          COMMANDS_A_CASE, t.longest, (long long)t.largest / 1000, (double)t.written / 1e6, seed);
}

int main(int argc, char **argv)
{
    return stranger_main(argc, argv, test_strangers);
}
