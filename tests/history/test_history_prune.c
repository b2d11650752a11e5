/* SPDX-License-Identifier: MIT */
/* A history made smaller: what goes, what stays whatever the rules say, and what a summary of
 * samples still tells. Annotations. Features: U-11. */
#include "store_histories.h"

#include "history/prune.h"
#include "knocks.h"
#include "stats/stats.h"
#include "store/annotations.h"
#include "store/samples.h"
#include "store/verdicts.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* ---- summaries ---- */

static uint64_t *lognormal(size_t nr, struct random *r)
{
    uint64_t *samples = memory_zeroed(nr, sizeof(*samples));

    for (size_t i = 0; i < nr; i++)
        samples[i] = (uint64_t)(50000 * exp(0.2 * random_normal(r)));
    if (nr > 50)
        samples[nr / 2] *= 40; /* an outlier */
    return samples;
}

static double *as_reals(const uint64_t *samples, size_t nr)
{
    double *x = memory_zeroed(nr, sizeof(*x));

    for (size_t i = 0; i < nr; i++)
        x[i] = (double)samples[i];
    stats_sort(x, nr);
    return x;
}

static void assert_tells(const uint64_t *before, const uint64_t *after, size_t nr)
{
    static const double exact[] = { 0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1 };
    double *x = as_reals(before, nr), *y = as_reals(after, nr);

    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
        assert_close(stats_quantile(y, nr, exact[i]), stats_quantile(x, nr, exact[i]), 0);
    for (double p = 0.02; p < 0.98; p += 0.013) /* between them: within a step of the grid */
        assert_in_range((uint64_t)stats_quantile(y, nr, p),
                        (uint64_t)stats_quantile(x, nr, fmax(p - 0.0101, 0)),
                        (uint64_t)stats_quantile(x, nr, fmin(p + 0.0101, 1)) + 1);
    assert_close(stats_mean(y, nr), stats_mean(x, nr), 0.001 * stats_mean(x, nr));
    if (nr > 1)
        assert_close(stats_sd(y, nr), stats_sd(x, nr), 0.01 * stats_sd(x, nr));
    free(x);
    free(y);
}

TEST(test_summary_tells)
{
    static const size_t sizes[] = { 1, 2, 3, 20, 99, 100, 101, 102, 137, 200, 1000, 5001, 100000 };
    struct random r;
    struct error err;

    random_seed(&r, 7);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint64_t *samples = lognormal(sizes[i], &r), *copy, *back;
        size_t length, raw_length, nr;
        copy = memory_resize(NULL, sizes[i], sizeof(*copy));
        memcpy(copy, samples, sizes[i] * sizeof(*copy));
        unsigned char *raw = samples_encode(samples, sizes[i], &raw_length);
        unsigned char *blob = samples_thin(copy, sizes[i], &length);
        assert_true(samples_are_thin(blob, length) && !samples_are_thin(raw, raw_length));
        assert_in_range(length, 3, 900);
        assert_ok(samples_decode(blob, length, &back, &nr, &err), &err);
        assert_int_equal(nr, sizes[i]);
        assert_tells(samples, back, nr);
        /* A summary of what came out of one is the same one. */
        size_t again_length;
        unsigned char *again = samples_thin(back, nr, &again_length);
        assert_int_equal(again_length, length);
        assert_memory_equal(again, blob, length);
        free(again);
        free(back);
        free(blob);
        free(raw);
        free(copy);
        free(samples);
    }
}

TEST(test_summary_edges)
{
    uint64_t samples[3] = { UINT64_MAX, 0, UINT64_MAX - 1 }, *back;
    size_t length, nr;
    struct error err;

    assert_null(samples_thin(samples, 0, &length));
    assert_null(samples_thin(samples, SAMPLES_THIN_MAX + 1, &length));
    unsigned char *blob = samples_thin(samples, 3, &length);
    assert_ok(samples_decode(blob, length, &back, &nr, &err), &err);
    assert_true(nr == 3 && back[0] == 0 && back[1] == UINT64_MAX - 1 && back[2] == UINT64_MAX);
    free(back);
    for (size_t cut = 1; cut < length; cut++)
        assert_int_equal(samples_decode(blob, cut, &back, &nr, &err), -1);
    free(blob);
    /* Counts that lie, sums beyond 64 bits, bytes behind the end. */
    static const unsigned char bad[][24] = {
        { 2, 0 },
        { 2, 0xff, 0xff, 0xff, 0xff, 0x7f },
        { 2, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1 },
        { 2, 1, 5, 5 },
    };
    static const size_t lengths[] = { 2, 6, 13, 4 };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(samples_decode(bad[i], lengths[i], &back, &nr, &err), -1);
}

/* ---- pruning ---- */

enum { DAY = 86400 };
static const int64_t now = 1800000000000;

/* Runs that began 0, 10, 20 ... days ago; the newest has the largest number. */
static void make_old_runs(const char *path, int nr)
{
    char text[128];

    make_runs(path, 0, (unsigned)nr, 3);
    for (int i = 0; i < nr; i++) {
        snprintf(text, sizeof(text), "UPDATE run SET started_ms = %lld WHERE id = %d",
                 (long long)(now - (int64_t)(nr - 1 - i) * 10 * DAY * 1000), i + 1);
        execute_in(path, text);
    }
}

static struct store_pruned prune(const char *path, struct store_prune rules)
{
    struct store *s = open_store(path, rules.dry_run ? STORE_READ : STORE_WRITE);
    struct store_pruned pruned;
    struct error err;

    rules.now_ms = now;
    rules.trust_clock = true; /* runs of these tests are of any time */
    assert_ok(store_prune(s, &rules, &pruned, &err), &err);
    store_close(s);
    assert_sound(path);
    return pruned;
}

SCRATCH_TEST(test_rules)
{
    static const struct {
        struct store_prune rules;
        int64_t removed, oldest;
    } cases[] = {
        { { .keep_ms = INT64_C(25) * DAY * 1000 }, 7, 8 },
        { { .keep_ms = INT64_C(20) * DAY * 1000 }, 7, 8 }, /* just as old as that */
        { { .keep_runs = 4 }, 6, 7 },
        { { .keep_runs = 2, .keep_ms = INT64_C(45) * DAY * 1000 }, 5, 6 }, /* either keeps */
        { { .keep_runs = 100 }, 0, 1 },
        { { .samples_ms = INT64_C(1000) * DAY * 1000 }, 0, 1 },
    };
    char path[160];

    path_in(*state, "h.db", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        remove(path);
        make_old_runs(path, 10);
        struct store_prune look = cases[i].rules;
        look.dry_run = true;
        struct store_pruned would = prune(path, look), did;
        assert_int_equal(count_in(path, "SELECT count(*) FROM run"), 10);
        did = prune(path, cases[i].rules);
        assert_memory_equal(&would, &did, sizeof(did));
        assert_int_equal(did.runs, 10);
        assert_int_equal(did.removed, cases[i].removed);
        assert_int_equal(did.removed_results, 6 * cases[i].removed);
        assert_int_equal(count_in(path, "SELECT min(id) FROM run"), cases[i].oldest);
        assert_int_equal(count_in(path, "SELECT count(*) FROM measurement"),
                         60 - did.removed_results);
        assert_int_equal(prune(path, cases[i].rules).removed, 0);
    }
}

/* An interrupted run stays as long as fewer than so many finished ones are newer. */
SCRATCH_TEST(test_unfinished_among_the_newest)
{
    static const struct {
        int64_t keep_runs, removed, oldest;
    } cases[] = {
        { 1000, 0, 1 },
        { 4, 4, 5 }, /* 10, 8, 7 and 5 are finished, 9 and 6 among them */
        { 3, 6, 7 },
        { 2, 7, 8 },
    };
    char path[160];

    path_in(*state, "h.db", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        remove(path);
        make_old_runs(path, 10);
        execute_in(path, "UPDATE run SET ended_ms = 0 WHERE id IN (1, 6, 9)");
        struct store_pruned did =
            prune(path, (struct store_prune) { .keep_runs = cases[i].keep_runs });
        assert_int_equal(did.removed, cases[i].removed);
        assert_int_equal(count_in(path, "SELECT min(id) FROM run"), cases[i].oldest);
    }
}

/* `settings`: JSON, as it is kept. */
static void add_verdict_with(const char *path, const char *settings, const char *commit,
                             const char *verdict)
{
    struct store_comparison c = {
        .base = memory_string("b"),
        .head = memory_string("h"),
        .base_commit = memory_string(""),
        .head_commit = memory_string(commit),
        .settings = memory_string(settings),
    };
    struct store *s = open_store(path, STORE_WRITE);
    struct error err;

    *store_comparison_push(&c) = (struct store_verdict) {
        .key = memory_string("k"),
        .machine = memory_string("m"),
        .metric = memory_string("p50"),
        .verdict = memory_string(verdict),
        .evidence = memory_string("{}"),
        .result = memory_string("{}"),
    };
    assert_ok(store_comparison_add(s, &c, &err), &err);
    store_comparison_release(&c);
    store_close(s);
}

static void add_verdict(const char *path, const char *commit, const char *verdict)
{
    add_verdict_with(path, "{}", commit, verdict);
}

/* A base that has a commit for each machine class: both are named, where something was found. What
 * is no list of them names nothing, and stops nothing. */
SCRATCH_TEST(test_several_commits_of_a_side_stay)
{
    static const char several[] =
        "{\"commits\":[{\"side\":\"base\",\"machine\":\"m\",\"commit\":\"aaaa\"},"
        "{\"side\":\"base\",\"machine\":\"n\",\"commit\":\"bbbb\"}]}";
    static const struct {
        const char *settings, *verdict;
        int64_t named;
    } cases[] = {
        { several, "regressed", 2 },
        { several, "same", 0 },
        { "{\"commits\":7}", "regressed", 0 },
        { "{\"commits\":[\"aaaa\"]}", "regressed", 0 },
    };
    char path[160];

    path_in(*state, "h.db", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        remove(path);
        make_old_runs(path, 8);
        execute_in(path,
                   "INSERT INTO build SELECT 2, version, 'aaaa', branch, dirty, compiler, flags, "
                   "build_type FROM build WHERE id = 1;"
                   "INSERT INTO build SELECT 3, version, 'bbbb', branch, dirty, compiler, flags, "
                   "build_type FROM build WHERE id = 1;"
                   "UPDATE run SET build = 2 WHERE id = 3; UPDATE run SET build = 3 WHERE id = 4");
        add_verdict_with(path, cases[i].settings, "cccc", cases[i].verdict);
        struct store_pruned pruned = prune(path, (struct store_prune) { .keep_runs = 1 });
        assert_int_equal(pruned.named, cases[i].named);
        assert_int_equal(pruned.removed, 7 - cases[i].named);
    }
}

/* What is named stays, and so does what may be going on. */
SCRATCH_TEST(test_named_stays)
{
    const struct store_prune rules = { .keep_runs = 1, .samples_ms = 1 };
    char path[160], text[256];
    struct error err;

    path_in(*state, "h.db", path);
    make_old_runs(path, 8);
    execute_in(path,
               "INSERT INTO build SELECT 2, version, 'aaaa', branch, dirty, compiler, flags, "
               "build_type FROM build WHERE id = 1;"
               "INSERT INTO build SELECT 3, version, 'bbbb', branch, dirty, compiler, flags, "
               "build_type FROM build WHERE id = 1;"
               "UPDATE run SET build = 2 WHERE id = 3; UPDATE run SET build = 3 WHERE id = 4");
    struct store *s = open_store(path, STORE_WRITE);
    assert_ok(store_baseline_save(s, "main", (const int64_t[]) { 2 }, 1, 5, NULL, false, &err),
              &err);
    store_close(s);
    add_verdict(path, "aaaa", "regressed");
    add_verdict(path, "bbbb", "same"); /* found nothing */
    snprintf(text, sizeof(text),
             "UPDATE run SET ended_ms = 0 WHERE id IN (5, 6); "
             "UPDATE run SET started_ms = %lld WHERE id = 6",
             (long long)(now - DAY * 1000));
    execute_in(path, text);
    struct store_pruned pruned = prune(path, rules);
    assert_int_equal(pruned.removed, 4); /* 1, 4, 5, 7 */
    assert_int_equal(pruned.named, 2);
    assert_int_equal(count_in(path, "SELECT group_concat(id, '') FROM run"), 2368);
    assert_int_equal(count_in(path, "SELECT count(*) FROM comparison"), 2);
    assert_int_equal(count_in(path, "SELECT count(*) FROM build"), 2);
}

struct meanwhile {
    const char *path, *verdict; /* verdict NULL: a baseline */
    bool several;               /* the base has several commits */
    bool done;
};

/* Called as the first transaction begins: the runs were read before that. */
static int name_runs(unsigned type, void *context, void *statement, void *text)
{
    struct meanwhile *m = context;
    char settings[128];
    struct error err;

    if (m->done || strncmp(text, "BEGIN IMMEDIATE", 15) != 0)
        return 0;
    m->done = true;
    if (m->several) {
        snprintf(settings, sizeof(settings), "{\"commits\":[{\"commit\":\"%s\"}]}",
                 sample_run().build.commit);
        add_verdict_with(m->path, settings, "", m->verdict);
        return 0;
    }
    if (m->verdict) {
        add_verdict(m->path, sample_run().build.commit, m->verdict);
        return 0;
    }
    struct store *s = open_store(m->path, STORE_WRITE);
    assert_ok(store_baseline_save(s, "main", (const int64_t[]) { 1, 2 }, 2, 5, NULL, false, &err),
              &err);
    store_close(s);
    return 0;
}

/* What is named after a pruning has begun stays as well; the newest of three runs is too young. */
SCRATCH_TEST(test_named_meanwhile)
{
    static const struct {
        const char *verdict;
        bool removes;
        int64_t named;
        bool several;
    } cases[] = {
        { NULL, false, 2, false },        { NULL, true, 2, false },
        { "regressed", false, 2, false }, { "regressed", true, 2, false },
        { "same", true, 0, false },       { "regressed", true, 2, true },
        { "same", true, 0, true },
    };
    char path[160];

    path_in(*state, "h.db", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct meanwhile m = { .path = path,
                               .verdict = cases[i].verdict,
                               .several = cases[i].several };
        const struct store_prune rules = { .now_ms = now,
                                           .trust_clock = true,
                                           .keep_ms = cases[i].removes,
                                           .samples_ms = !cases[i].removes };
        struct store_pruned pruned;
        struct error err;
        remove(path);
        make_old_runs(path, 3);
        struct store *s = open_store(path, STORE_WRITE);
        assert_int_equal(sqlite3_trace_v2(s->db, SQLITE_TRACE_STMT, name_runs, &m), SQLITE_OK);
        assert_ok(store_prune(s, &rules, &pruned, &err), &err);
        store_close(s);
        assert_true(m.done);
        assert_int_equal(pruned.named, cases[i].named);
        assert_int_equal(pruned.removed + pruned.thinned, 2 - cases[i].named);
        assert_sound(path);
    }
}

static void load_run(const char *path, int64_t id, struct records *records)
{
    struct store *s = open_store(path, STORE_READ);
    struct error err;

    assert_ok(store_load(s, &id, 1, NULL, records, &err), &err);
    store_close(s);
}

/* Percentiles say afterwards what they said before; the number of samples, too. */
SCRATCH_TEST(test_thinning)
{
    const struct store_prune rules = { .samples_ms = INT64_C(15) * DAY * 1000 };
    struct records before = { 0 }, after = { 0 }, young = { 0 };
    char path[160];

    path_in(*state, "h.db", path);
    make_old_runs(path, 3);
    load_run(path, 1, &before);
    struct store_pruned pruned = prune(path, rules);
    assert_int_equal(pruned.thinned, 1);
    assert_int_equal(pruned.thinned_results, 6);
    assert_true(pruned.samples_after < pruned.samples_before * 3 / 4);
    assert_int_equal(prune(path, rules).thinned, 0);
    load_run(path, 1, &after);
    load_run(path, 2, &young);
    assert_false(young.items[0].m.thinned);
    assert_int_equal(after.nr, before.nr);
    for (size_t i = 0; i < after.nr; i++) {
        assert_true(after.items[i].m.thinned);
        assert_int_equal(after.items[i].m.nr_samples, before.items[i].m.nr_samples);
        assert_tells(before.items[i].m.samples, after.items[i].m.samples,
                     after.items[i].m.nr_samples);
    }
    records_release(&before);
    records_release(&after);
    records_release(&young);
}

/* Records that say so come back as they were. */
SCRATCH_TEST(test_thinned_as_json)
{
    const struct store_prune rules = { .samples_ms = 1 };
    struct records records = { 0 }, back = { 0 };
    struct error err;
    char path[160];

    path_in(*state, "h.db", path);
    make_old_runs(path, 2);
    (void)prune(path, rules);
    load_run(path, 1, &records);
    cJSON *json = records_to_json(&records);
    char *text = cJSON_PrintUnformatted(json);
    cJSON *parsed = json_parse(text, strlen(text), "records", &err);
    assert_ok(records_from_json(parsed, &back, &err), &err);
    assert_true(back.items[0].m.thinned);
    /* Stored again, it is a summary again. */
    struct store *s = open_store(path, STORE_WRITE);
    struct run run = sample_run();
    struct launch launch = { .seq = 0 };
    int64_t launch_id, length;
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &launch_id, &err), &err);
    assert_ok(store_add_measurement(s, launch_id, &back.items[0].m, &err), &err);
    assert_ok(sql_one_int(s, "SELECT hex(substr(samples, 1, 1)) FROM measurement ORDER BY id DESC",
                          &length, &err),
              &err);
    assert_int_equal(length, 2);
    store_close(s);
    cJSON_Delete(json);
    cJSON_Delete(parsed);
    cJSON_free(text);
    records_release(&records);
    records_release(&back);
}

SCRATCH_TEST(test_vacuum)
{
    const struct store_prune rules = { .keep_runs = 1 };
    struct store_room full, pruned, small;
    struct stat st;
    struct error err;
    char path[160];

    path_in(*state, "h.db", path);
    make_runs(path, 0, 100, 10);
    struct store *s = open_store(path, STORE_WRITE);
    assert_ok(store_room(s, &full, &err), &err);
    store_close(s);
    assert_int_equal(prune(path, rules).removed, 99);
    s = open_store(path, STORE_WRITE);
    assert_ok(store_room(s, &pruned, &err), &err);
    assert_int_equal(pruned.size, full.size);
    assert_true(pruned.free > full.size / 2);
    assert_ok(store_vacuum(s, &err), &err);
    assert_ok(store_room(s, &small, &err), &err);
    store_close(s);
    assert_true(small.size < full.size / 4);
    assert_int_equal(small.free, 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, small.size);
    assert_sound(path);
    assert_int_equal(count_in(path, "SELECT count(*) FROM run"), 1);
}

static void prune_in_child(const char *path)
{
    const struct store_prune rules = { .now_ms = now, .keep_runs = 20, .samples_ms = 1 };
    struct store_pruned pruned;
    struct error err;
    struct store *s;
    int rc = store_open(&s, path, STORE_WRITE, &err) || store_prune(s, &rules, &pruned, &err) ||
             store_vacuum(s, &err);

    store_close(s);
    _exit(rc ? 1 : 0);
}

SCRATCH_TEST(test_killed)
{
    struct random r;
    char path[160];
    int status = 0;
    long kills = 0;
    uint64_t seed = knock_seed();
    uint64_t longest = 5000000; /* and longer, so that it ends on any machine */

    path_in(*state, "h.db", path);
    make_old_runs(path, 60);
    random_seed(&r, seed);
    do {
        struct timespec delay = { .tv_nsec = (long)random_below(&r, longest) };
        longest += longest < 900000000 ? longest / 20 : 0;
        pid_t pid = fork();
        if (pid == 0)
            prune_in_child(path);
        nanosleep(&delay, NULL);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        kills += WIFSIGNALED(status);
        assert_sound(path);
        assert_true(count_in(path, "SELECT count(*) FROM run") >= 20);
    } while (!WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(count_in(path, "SELECT count(*) FROM run WHERE thinned_ms > 0"), 19);
    assert_int_equal(count_in(path, "SELECT count(*) FROM measurement"), 20 * 6);
    knock("kill -9 of `history prune`", kills, kills,
          "file sound, nothing lost that is to be kept (seed %" PRIu64 ")", seed);
}

/* Ages count only where the clock can be right. */
SCRATCH_TEST(test_clock)
{
    enum { REFUSED = -1 };
    const int64_t day = INT64_C(86400000), first = 1790000000123;
    const struct {
        const char *what;
        int64_t after; /* the second run, behind the first; days */
        int64_t now;   /* behind the second one */
        struct store_prune rules;
        int removed;
    } cases[] = {
        { "all is recent", 1, 1, { .keep_ms = 30 * day }, 0 },
        { "an old run, and a recent one", 40, 1, { .keep_ms = 30 * day }, 1 },
        { "both are old", 1, 90, { .keep_ms = 30 * day }, 2 },
        { "the clock is at 2100", 1, 27000, { .keep_ms = 30 * day }, REFUSED },
        { "the same, for samples", 1, 27000, { .samples_ms = 30 * day }, REFUSED },
        { "a run was made with the clock at 2100", 27000, 1, { .keep_ms = 30 * day }, REFUSED },
        { "the clock is right again", 27000, -26990, { .keep_ms = 30 * day }, REFUSED },
        { "numbers need no clock", 1, 27000, { .keep_runs = 1 }, 1 },
        { "it is right", 1, 27000, { .keep_ms = 30 * day, .trust_clock = true }, 2 },
        { "only a look", 1, 27000, { .keep_ms = 30 * day, .dry_run = true }, 2 },
    };
    char path[160];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_prune rules = cases[i].rules;
        struct store_pruned pruned;
        struct error err;
        path_in(*state, "clock.db", path);
        remove(path);
        make_runs(path, 0, 2, 1);
        char move[128];
        snprintf(move, sizeof(move), "UPDATE run SET started_ms = %" PRId64 " WHERE id = 2",
                 first + cases[i].after * day);
        execute_in(path, move);
        rules.now_ms = first + (cases[i].after + cases[i].now) * day;
        struct store *s = open_store(path, STORE_WRITE);
        int rc = store_prune(s, &rules, &pruned, &err);
        print_message("%s\n", cases[i].what);
        assert_int_equal(rc, cases[i].removed == REFUSED ? -1 : 0);
        if (rc)
            assert_non_null(strstr(err.message, "--trust-clock"));
        else
            assert_int_equal(pruned.removed, cases[i].removed);
        store_close(s);
        if (rc)
            assert_int_equal(count_in(path, "SELECT count(*) FROM run WHERE thinned_ms = 0"), 2);
    }
    knock("a prune while the clock may be wrong", (long)(sizeof(cases) / sizeof(cases[0])),
          (long)(sizeof(cases) / sizeof(cases[0])), "nothing goes unless it is asked for again");
}

/* A look at a file of an older version needs no upgrade. */
SCRATCH_TEST(test_older_versions)
{
    char path[160];

    for (int version = 1; version <= 5; version++) {
        path_in(*state, "old.db", path);
        remove(path);
        make_version(path, version);
        struct store_pruned pruned =
            prune(path, (struct store_prune) { .keep_ms = 1, .samples_ms = 1, .dry_run = true });
        assert_int_equal(pruned.named, 1);
        assert_int_equal(count_in(path, "PRAGMA user_version"), version);
        (void)prune(path, (struct store_prune) { .keep_ms = 1 });
        assert_int_equal(count_in(path, "PRAGMA user_version"), SCHEMA_NOW);
        assert_int_equal(count_in(path, "SELECT count(*) FROM run"), 1);
    }
    knock("a history of each older schema", 5, 5, "read as it is, upgraded by the first writer");
}

/* A pruning that was killed between the runs and what they shared: the next one sees to that. */
SCRATCH_TEST(test_left_overs)
{
    char path[160];

    path_in(*state, "h.db", path);
    make_old_runs(path, 2);
    execute_in(path, "PRAGMA foreign_keys = ON; DELETE FROM run");
    assert_true(count_in(path, "SELECT count(*) FROM benchmark") > 0);
    assert_int_equal(prune(path, (struct store_prune) { .keep_runs = 5 }).removed, 0);
    assert_int_equal(count_in(path, "SELECT count(*) FROM benchmark"), 0);
    assert_int_equal(count_in(path, "SELECT count(*) FROM build"), 0);
    assert_int_equal(count_in(path, "SELECT count(*) FROM machine"), 0);
}

/* A time that no clock has shown is long ago. */
SCRATCH_TEST(test_any_start)
{
    char path[160];

    path_in(*state, "h.db", path);
    make_old_runs(path, 2);
    execute_in(path, "UPDATE run SET started_ms = -9223372036854775807 - 1 WHERE id = 1");
    assert_int_equal(prune(path, (struct store_prune) { .keep_ms = DAY }).removed, 1);
    assert_int_equal(count_in(path, "SELECT id FROM run"), 2);
}

/* ---- annotations ---- */

SCRATCH_TEST(test_annotations)
{
    struct store_annotations list = { 0 };
    char path[160], long_text[ANNOTATION_LENGTH_MAX + 2];
    struct error err;

    path_in(*state, "h.db", path);
    make_runs(path, 0, 2, 1);
    struct store *s = open_store(path, STORE_WRITE);
    memset(long_text, 'x', sizeof(long_text));
    long_text[sizeof(long_text) - 1] = '\0';
    assert_ok(store_annotate(s, 1, 20, "the fan was broken \xc2\xb5", &err), &err);
    assert_ok(store_annotate(s, 1, 10, "new BIOS", &err), &err);
    assert_int_equal(store_annotate(s, 9, 10, "what", &err), -1);
    assert_non_null(strstr(err.message, "no run 9"));
    assert_int_equal(store_annotate(s, 1, 10, "  ", &err), -1);
    assert_int_equal(store_annotate(s, 1, 10, "two\nlines", &err), -1);
    assert_int_equal(store_annotate(s, 1, 10, long_text, &err), -1);
    assert_ok(store_annotation_list(s, 1, &list, &err), &err);
    assert_int_equal(list.nr, 2);
    assert_string_equal(list.items[0].text, "new BIOS");
    assert_int_equal(list.items[1].written_ms, 20);
    assert_ok(store_annotation_list(s, 2, &list, &err), &err);
    assert_int_equal(list.nr, 2);
    store_annotations_release(&list);
    store_close(s);
}

RUN_TESTS(NULL, NULL)
