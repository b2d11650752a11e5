/* SPDX-License-Identifier: MIT */
/*
 * Two programs in turn, with real processes: this test, started again, is the child, and a script
 * that changes its environment is "another program". Features: U-05, U-06.
 */
#include "launch_testing.h"

#include "base/array.h"
#include "launch/ab.h"

#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- the child ---------------------------------------------------------------------------- */

static const char inputs_path[] = HARNESS_TEST_DIR "/measure_ab.inputs";

/* Writes down its first input. */
static int tell_input(struct call *call, struct error *err)
{
    FILE *file = fopen(inputs_path, "a");

    if (!file)
        return error_set(err, "cannot write %s", inputs_path);
    fprintf(file, "%a\n", (double)((const float *)call->tensor[0].data)[0]);
    return fclose(file) == 0 ? 0 : error_set(err, "cannot write %s", inputs_path);
}

static const struct variant child_variants[] = {
    CHILD_VARIANT("tells", .prepare = tell_input, .launch = child_copy),
    { .name = NULL },
};

/* As TEST_OLD is set, a program that was built before there was "tells". */
static const struct registry *test_registry(void)
{
    static const struct kernel *const kernels[] = { &null_copy, NULL };
    static const struct kernel *const *const operations[] = { kernels, NULL };
    static const struct variant *const files[] = { null_fake, child_variants, NULL };
    static const struct variant *const old_files[] = { null_fake, NULL };
    static const struct registry registry = { operations, files, NULL, NULL, NULL, NULL };
    static const struct registry old = { operations, old_files, NULL, NULL, NULL, NULL };

    return getenv("TEST_OLD") ? &old : &registry;
}

static int child(void)
{
    struct error err = { "" };
    int rc = getenv("TEST_SILENT") ? 0 : launch_serve(test_registry(), &err);

    fprintf(stderr, "%s", err.message);
    return rc ? 2 : 0;
}

/* --- other programs ------------------------------------------------------------------------ */

enum { PATH_SIZE = 512 };

static void write_script(const char *name, const char *text, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/measure_ab.%s.sh", HARNESS_TEST_DIR, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "#!/bin/sh\n%s\n", text) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

/* This program with a changed environment. */
static void write_wrapper(const char *name, const char *setting, char path[PATH_SIZE])
{
    char self[PATH_MAX] = "", text[PATH_MAX + 256];

    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    snprintf(text, sizeof(text), "exec env '%s' '%s' \"$@\"", setting, self);
    write_script(name, text, path);
}

/* --- the parent ---------------------------------------------------------------------------- */

struct seen {
    enum ab_side side;
    int seq;
    struct measurement m;
};

struct begun {
    enum ab_side side;
    int seq;
};

struct log {
    ARRAY(struct begun) begun;
    ARRAY(struct launch) ended;
    ARRAY(struct seen) seen;
    int looks, progress;
    size_t most_left;
    int decide_after;         /* looks until all is decided; 0: never */
    int64_t decide_batch;     /* and this one after the first look */
    const char *fail;         /* "launch", "measurement" or "look" */
    const char *interrupt_at; /* when the case with this in its key starts */
    size_t silent_from;       /* so many launches can start; 0: all can */
    struct ab *ab;
    double tighten; /* after the first look so many times what its block took is left; 0: not */
    const double *sleep, *harm;   /* s that a case of each benchmark takes, and how bad it looks */
    double spare;                 /* s for cases, after the first look */
    struct timespec start, first; /* of all, and of the first case */
    double before;                /* s of ab_run()'s own until then */
};

static volatile sig_atomic_t interrupted;

static int maybe_fail(const struct log *log, const char *where, struct error *err)
{
    bool fails = log->fail && strcmp(log->fail, where) == 0;

    return fails ? error_set(err, "the disk is full") : 0;
}

/* The context of a side's sink. */
struct side_log {
    struct log *log;
    enum ab_side side;
};

static int on_launch_begin(void *context, const struct launch *l, struct error *err)
{
    const struct side_log *of = context;
    struct log *log = of->log;

    assert_int_equal(log->begun.nr, log->ended.nr);
    if (log->silent_from && log->begun.nr == log->silent_from)
        setenv("TEST_SILENT", "1", 1);
    *array_push(&log->begun) = (struct begun) { of->side, l->seq };
    return maybe_fail(log, "launch", err);
}

static int on_launch_end(void *context, const struct launch *l, struct error *err)
{
    const struct side_log *of = context;
    struct log *log = of->log;

    (void)err;
    assert_int_equal(of->side, log->begun.items[log->begun.nr - 1].side);
    assert_true(l->ended_ms >= l->started_ms);
    struct launch *kept = array_push(&log->ended);
    *kept = *l;
    kept->error_text = memory_string(l->error_text);
    return 0;
}

static int on_measurement(void *context, const struct launch *l, const struct measurement *m,
                          struct error *err)
{
    const struct side_log *of = context;
    struct log *log = of->log;
    struct seen *seen = array_push(&log->seen);

    seen->side = of->side;
    seen->seq = l->seq;
    measurement_copy(&seen->m, m);
    return maybe_fail(log, "measurement", err);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* A further block may take as much as the last one beside its cases, and a bit: whatever a busy
 * machine adds to the cases stands on both sides. */
static double spared_budget(const struct log *log)
{
    double slept = 0, since = seconds_since(&log->start);

    for (size_t i = 0; i < log->ab->what.nr; i++)
        slept += 2 * AB_LAUNCHES * log->sleep[i];
    return since + (since - slept) + log->spare;
}

/* What is left now is never more than that, however a busy machine deals with the two programs: the
 * block began before its first case, and the time until then is ab_run()'s. */
static double tightened_budget(const struct log *log)
{
    return log->before + (1 + log->tighten) * seconds_since(&log->first);
}

static int on_look(void *context, int blocks, double *harm, size_t nr, struct error *err)
{
    struct log *log = context;

    log->looks++;
    assert_int_equal(blocks, log->looks);
    assert_int_equal(nr, log->ab->what.nr);
    for (size_t i = 0; i < nr; i++)
        if (log->looks == log->decide_after ||
            (log->decide_batch && log->ab->what.benchmarks[i].shape.dim[0] == log->decide_batch))
            harm[i] = -1;
    for (size_t i = 0; i < nr && log->sleep; i++)
        harm[i] = log->harm[i];
    if (log->sleep && log->looks == 1)
        log->ab->what.budget = spared_budget(log);
    if (log->tighten > 0 && log->looks == 1)
        log->ab->what.budget = tightened_budget(log);
    return maybe_fail(log, "look", err);
}

static bool is_of_batch(const char *key, int64_t batch)
{
    char part[32];

    snprintf(part, sizeof(part), "/batch=%lld,", (long long)batch);
    return strstr(key, part) != NULL;
}

static void on_progress(void *context, const struct ab_progress *p)
{
    struct log *log = context;

    assert_true(p->done < p->total && p->left <= p->of && p->block == log->looks + 1);
    if (log->progress++ == 0) {
        log->before = p->elapsed;
        clock_gettime(CLOCK_MONOTONIC, &log->first);
    }
    log->most_left = p->left > log->most_left ? p->left : log->most_left;
    for (size_t i = 0; log->sleep && i < log->ab->what.nr; i++)
        if (is_of_batch(p->key, log->ab->what.benchmarks[i].shape.dim[0]))
            usleep((useconds_t)(1e6 * log->sleep[i]));
    if (log->interrupt_at && strstr(p->key, log->interrupt_at))
        interrupted = SIGINT;
}

static void log_release(struct log *log)
{
    for (size_t i = 0; i < log->ended.nr; i++)
        launch_release(&log->ended.items[i]);
    for (size_t i = 0; i < log->seen.nr; i++)
        measurement_release(&log->seen.items[i].m);
    array_release(&log->begun);
    array_release(&log->ended);
    array_release(&log->seen);
}

enum { CASES = 5 };

/* Batches 1 to `nr`. */
static struct ab make_ab(const char *device, const char *variant, struct benchmark cases[CASES],
                         size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        cases[i] = (struct benchmark) { registry_variant(test_registry(), "null/copy", variant),
                                        { { (int64_t)i + 1, 16 } },
                                        CACHE_WARM,
                                        NULL };
    return (struct ab) {
        .what = { .device_spec = device,
                  .benchmarks = cases,
                  .nr = nr,
                  .settings = { .sampling = { .iterations = 3, .min_samples = 1, .max_samples = 3 },
                                .seed = 77 },
                  .limits.case_timeout = 20 },
        .blocks_max = 4,
    };
}

static int run(struct ab *ab, struct log *log, enum ab_end *end, struct error *err)
{
    struct side_log sides[AB_SIDES_MAX];
    struct measurement_sink sinks[AB_SIDES_MAX];

    for (int i = 0; i < AB_SIDES_MAX; i++) {
        sides[i] = (struct side_log) { log, (enum ab_side)i };
        sinks[i] = (struct measurement_sink) {
            .context = &sides[i],
            .launch_begin = on_launch_begin,
            .launch_end = on_launch_end,
            .measurement = on_measurement,
        };
    }

    log->ab = ab;
    ab->context = log;
    ab->look = on_look;
    ab->progress = on_progress;
    clock_gettime(CLOCK_MONOTONIC, &log->start);
    err->message[0] = '\0';
    return ab_run(ab, sinks, end, err);
}

static void run_well(struct ab *ab, struct log *log, enum ab_end expected)
{
    enum ab_end end;
    struct error err;

    assert_ok(run(ab, log, &end, &err), &err);
    assert_int_equal(end, expected);
}

static size_t count(const struct log *log, enum ab_side side, const char *key, enum outcome outcome)
{
    size_t nr = 0;

    for (size_t i = 0; i < log->seen.nr; i++)
        nr += log->seen.items[i].side == side && log->seen.items[i].m.outcome == outcome &&
              strstr(log->seen.items[i].m.bench.key, key) != NULL;
    return nr;
}

static const struct measurement *find(const struct log *log, enum outcome outcome)
{
    for (size_t i = 0; i < log->seen.nr; i++)
        if (log->seen.items[i].m.outcome == outcome)
            return &log->seen.items[i].m;
    fail_msg("nothing is %s", outcome_name(outcome));
    return NULL;
}

#define LOG_TEST(name) TEST_WITH_A(name, struct log, log, log_release)

/* Blocks of four launches, the outer two of one side, the inner two of the other; both sides lead
 * now and then; numbers tell the block. */
LOG_TEST(blocks_are_mirrored)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 1);
    int led[AB_SIDES] = { 0 };

    ab.blocks_max = 12;
    run_well(&ab, log, AB_BLOCKS);
    assert_int_equal(log->begun.nr, 48);
    assert_int_equal(log->looks, 12);
    for (int block = 0; block < 12; block++) {
        const struct begun *b = &log->begun.items[4 * block];
        assert_true(b[0].side == b[3].side && b[1].side == b[2].side && b[0].side != b[1].side);
        assert_true(b[0].seq == 2 * block && b[1].seq == 2 * block);
        assert_true(b[2].seq == 2 * block + 1 && b[3].seq == 2 * block + 1);
        led[b[0].side]++;
    }
    assert_true(led[AB_BASE] >= 2 && led[AB_HEAD] >= 2);
}

/* Several sides there and back, and not always the same one first or in the middle. */
LOG_TEST(blocks_of_several_sides_are_mirrored)
{
    enum { SIDES = 4 };
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 1);
    int led[SIDES] = { 0 }, middle[SIDES] = { 0 };

    ab.nr_sides = SIDES;
    ab.blocks_max = 24;
    run_well(&ab, log, AB_BLOCKS);
    assert_int_equal(log->begun.nr, 24 * 2 * SIDES);
    for (int block = 0; block < 24; block++) {
        const struct begun *b = &log->begun.items[2 * SIDES * block];
        bool there[SIDES] = { false };
        for (int i = 0; i < SIDES; i++) {
            assert_false(there[b[i].side]);
            there[b[i].side] = true;
            assert_true(b[i].side == b[2 * SIDES - 1 - i].side);
            assert_true(b[i].seq == 2 * block && b[2 * SIDES - 1 - i].seq == 2 * block + 1);
        }
        led[b[0].side]++;
        middle[b[SIDES - 1].side]++;
    }
    for (int i = 0; i < SIDES; i++)
        assert_true(led[i] > 0 && middle[i] > 0);
}

/* As long as the base and one other are there. */
LOG_TEST(a_side_that_crashes_leaves_the_others)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 1);
    char crashing[PATH_SIZE];

    write_wrapper("crashing", "HARNESS_FAKE=crash=1", crashing);
    ab.nr_sides = 3;
    ab.blocks_max = 3;
    ab.program[2] = crashing;
    run_well(&ab, log, AB_BLOCKS);
    assert_int_equal(log->looks, 3);
    assert_int_equal(count(log, AB_BASE, "", OUTCOME_OK), 6);
    assert_int_equal(count(log, AB_HEAD, "", OUTCOME_OK), 6);
    assert_int_equal(count(log, (enum ab_side)2, "", OUTCOME_FAILED), 1);
    log_release(log);
    *log = (struct log) { .looks = 0 };
    ab.program[2] = NULL;
    ab.program[AB_BASE] = crashing;
    run_well(&ab, log, AB_DECIDED);
    assert_int_equal(log->looks, 1);
}

LOG_TEST(some_blocks_are_made_whatever_the_budget)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 1);

    ab.what.budget = 1e-6;
    ab.blocks_least = 3;
    run_well(&ab, log, AB_BUDGET);
    assert_int_equal(log->looks, 3);
}

/* Within the block, on both sides by one rule, and each case once in each launch. */
TEST(disturbed_launches_are_made_again)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake:base=2000,disturb=1,beside=2,by=1.5", "right", cases, 3);
    struct log log = { .looks = 0 };
    double repeats[AB_SIDES] = { 0 };

    ab.blocks_max = 3;
    run_well(&ab, &log, AB_BLOCKS);
    assert_int_equal(log.seen.nr, 3 * 4 * 3);
    assert_int_equal(log.begun.nr, 3 * 4);
    assert_int_equal(log.progress, 3 * 4 * 3 + 3 * 4);
    for (size_t i = 0; i < log.seen.nr; i++) {
        const struct measurement *m = &log.seen.items[i].m;
        assert_true(log.seen.items[i].seq / AB_LAUNCHES == (int)(i / (4 * 3)));
        assert_int_equal(!isnan(measurement_telemetry(m, "disturbed_percent")),
                         benchmark_name_dim(&m->bench, "batch", 0) == 2);
        if (measurement_telemetry(m, "repeats") > 0)
            repeats[log.seen.items[i].side] += measurement_telemetry(m, "repeats");
    }
    assert_close(repeats[AB_BASE], 6, 0);
    assert_close(repeats[AB_HEAD], 6, 0);
    log_release(&log);
    log = (struct log) { .looks = 0 };
    ab.what.once = true;
    run_well(&ab, &log, AB_BLOCKS);
    assert_int_equal(log.progress, 3 * 4 * 3);
    log_release(&log);
}

/* The batches of one launch in the order measured. */
static void order_of(const struct log *log, size_t launch, char text[CASES + 1])
{
    for (size_t i = 0; i < CASES; i++) {
        const struct benchmark_name *name = &log->seen.items[launch * CASES + i].m.bench;
        text[i] = (char)('0' + benchmark_name_dim(name, "batch", 0));
    }
    text[CASES] = '\0';
}

LOG_TEST(pairs_share_their_order)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, CASES);
    char first[CASES + 1], second[CASES + 1], seen[8][CASES + 1];
    bool differ = false;

    run_well(&ab, log, AB_BLOCKS);
    assert_int_equal(log->seen.nr, 4 * 4 * CASES);
    assert_int_equal(log->progress, log->seen.nr);
    assert_int_equal(log->most_left, CASES);
    for (size_t pair = 0; pair < 8; pair++) {
        order_of(log, 2 * pair, first);
        order_of(log, 2 * pair + 1, second);
        assert_string_equal(first, second);
        memcpy(seen[pair], first, sizeof(first));
        differ |= strcmp(seen[pair], seen[0]) != 0;
    }
    assert_true(differ);
}

static size_t read_inputs(double *values, size_t most)
{
    FILE *file = fopen(inputs_path, "r");
    size_t nr = 0;

    assert_non_null(file);
    while (nr < most && fscanf(file, "%la", &values[nr]) == 1)
        nr++;
    fclose(file);
    return nr;
}

/* Both of a pair compute the same, every pair something else. */
LOG_TEST(pairs_share_their_inputs)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "tells", cases, 1);
    double values[9];

    unlink(inputs_path);
    ab.blocks_max = 2;
    run_well(&ab, log, AB_BLOCKS);
    assert_int_equal(read_inputs(values, 9), 8);
    for (size_t pair = 0; pair < 4; pair++) {
        assert_true(values[2 * pair] == values[2 * pair + 1]);
        assert_true(pair == 0 || values[2 * pair] != values[0]);
    }
}

LOG_TEST(the_other_program_is_measured)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake:base=2000", "right", cases, 2);
    char slower[PATH_SIZE];

    write_wrapper("slower", "HARNESS_FAKE=slow=1.05,only=2", slower);
    ab.program[AB_HEAD] = slower;
    run_well(&ab, log, AB_BLOCKS);
    for (size_t i = 0; i < log->seen.nr; i++) {
        const struct seen *s = &log->seen.items[i];
        bool slow = s->side == AB_HEAD && benchmark_name_dim(&s->m.bench, "batch", 0) == 2;
        assert_int_equal(s->m.outcome, OUTCOME_OK);
        assert_true(s->m.samples[0] == (slow ? 2100 : 2000));
    }
}

LOG_TEST(a_slow_down_is_planted_on_one_side)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake:base=2000", "right", cases, 3);
    static const double plant[] = { 0, 0.1, 0 };

    ab.plant[AB_HEAD] = plant;
    run_well(&ab, log, AB_BLOCKS);
    for (size_t i = 0; i < log->seen.nr; i++) {
        const struct seen *s = &log->seen.items[i];
        bool slow = s->side == AB_HEAD && benchmark_name_dim(&s->m.bench, "batch", 0) == 2;
        assert_true(s->m.samples[0] == (slow ? 2200 : 2000));
    }
}

TEST(what_is_decided_leaves)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 3);
    struct log log = { .decide_after = 3, .decide_batch = 2 };

    run_well(&ab, &log, AB_DECIDED);
    assert_int_equal(log.looks, 3);
    for (int side = 0; side < AB_SIDES; side++) {
        assert_int_equal(count(&log, (enum ab_side)side, "batch=1,", OUTCOME_OK), 6);
        assert_int_equal(count(&log, (enum ab_side)side, "batch=2,", OUTCOME_OK), 2);
        assert_int_equal(count(&log, (enum ab_side)side, "batch=3,", OUTCOME_OK), 6);
    }
    log_release(&log);
}

/* The case is FAILED on that side alone, once; its launch goes on under the same number. */
LOG_TEST(a_crash_costs_one_case_of_one_side)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 4);
    char crashing[PATH_SIZE];
    size_t died = 0;

    write_wrapper("crashing", "HARNESS_FAKE=crash=3", crashing);
    ab.program[AB_BASE] = crashing;
    run_well(&ab, log, AB_BLOCKS);
    assert_int_equal(count(log, AB_BASE, "batch=3,", OUTCOME_FAILED), 1);
    assert_int_equal(count(log, AB_BASE, "", OUTCOME_OK), 3 * 8);
    assert_int_equal(count(log, AB_HEAD, "", OUTCOME_OK), 3 * 8 + 2); /* the first block */
    assert_int_equal(log->begun.nr, 16);
    assert_says(find(log, OUTCOME_FAILED)->message, "died by signal 11 (Segmentation fault)");
    for (size_t i = 0; i < log->ended.nr; i++)
        died += log->ended.items[i].exit_status == -SIGSEGV;
    assert_int_equal(died, 1);
}

LOG_TEST(a_hang_costs_one_case_of_one_side)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 2);
    char hanging[PATH_SIZE];

    write_wrapper("hanging", "HARNESS_FAKE=hang=1", hanging);
    ab.program[AB_HEAD] = hanging;
    ab.what.limits.case_timeout = 1;
    ab.blocks_max = 1;
    run_well(&ab, log, AB_BLOCKS);
    assert_int_equal(count(log, AB_HEAD, "batch=1,", OUTCOME_FAILED), 1);
    assert_int_equal(count(log, AB_HEAD, "batch=2,", OUTCOME_OK), 2);
    assert_string_equal(find(log, OUTCOME_FAILED)->message, "killed: no result within 1 s");
}

/* Nothing is left that both sides have: that ends it. */
LOG_TEST(a_variant_that_one_side_lacks)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "tells", cases, 1);
    char old[PATH_SIZE];

    write_wrapper("old", "TEST_OLD=1", old);
    ab.program[AB_BASE] = old;
    run_well(&ab, log, AB_DECIDED);
    assert_int_equal(
        count(log, AB_BASE, "null/copy/tells/fp32/batch=1,seq=16/fake/warm", OUTCOME_UNSUPPORTED),
        1);
    assert_int_equal(count(log, AB_HEAD, "", OUTCOME_OK), 2);
    assert_string_equal(find(log, OUTCOME_UNSUPPORTED)->message,
                        "this program has no variant null/copy/tells");
}

TEST(programs_that_are_no_harness)
{
    static const struct {
        const char *name, *text, *says;
    } rows[] = {
        { "silent", "exit 0", "ended before its first case (status 0)" },
        { "refusing", "echo 'no such thing' >&2; exit 4", "(status 4): no such thing" },
        { "babbling", "cat >/dev/null; echo hello >&3", "no greeting: \"hello\"" },
        { "confused", "cat >/dev/null; echo '{\"begin\":7}' >&3", "out of turn: \"{" },
    };
    struct benchmark cases[CASES];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ab ab = make_ab("fake", "right", cases, 1);
        struct log log = { .looks = 0 };
        char path[PATH_SIZE];
        enum ab_end end;
        struct error err;
        write_script(rows[i].name, rows[i].text, path);
        ab.program[AB_HEAD] = path;
        assert_int_equal(run(&ab, &log, &end, &err), -1);
        assert_says(err.message, path);
        assert_says(err.message, rows[i].says);
        log_release(&log);
    }
}

LOG_TEST(programs_that_cannot_be_started)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 1);
    enum ab_end end;
    struct error err;

    ab.program[AB_BASE] = "/nowhere/harness";
    assert_int_equal(run(&ab, log, &end, &err), -1);
    assert_says(err.message, "/nowhere/harness: ");
    assert_says(err.message, "No such file or directory");
    assert_int_equal(log->seen.nr, count(log, AB_HEAD, "", OUTCOME_OK));
}

/* What waits to be made again is finished, too: that of the block in hand, on both sides. */
TEST(a_launch_that_cannot_start_costs_nothing_that_is_finished)
{
    for (size_t launches = 1; launches < 4; launches++) {
        struct benchmark cases[CASES];
        struct ab ab = make_ab("fake:base=2000,disturb=1,beside=2,by=1.5", "right", cases, 2);
        struct log log = { .silent_from = launches };
        size_t of_base = 0;
        enum ab_end end;
        struct error err;
        int rc = run(&ab, &log, &end, &err);
        unsetenv("TEST_SILENT");
        assert_int_equal(rc, -1);
        assert_says(err.message, "before its first case");
        for (size_t i = 0; i < launches; i++)
            of_base += log.begun.items[i].side == AB_BASE;
        assert_int_equal(log.seen.nr, 2 * launches);
        assert_int_equal(count(&log, AB_BASE, "", OUTCOME_OK), 2 * of_base);
        log_release(&log);
    }
}

TEST(a_budget_allows_whole_blocks)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 2);
    struct log log = { .looks = 0 };

    ab.blocks_max = 0;
    ab.what.budget = 1e-9;
    run_well(&ab, &log, AB_BUDGET);
    assert_int_equal(log.looks, 1); /* the first block is never cut */
    assert_int_equal(log.seen.nr, 8);
    log_release(&log);
    log = (struct log) { .looks = 0 };
    ab.what.budget = 0.5;
    ab.whole = true;
    run_well(&ab, &log, AB_BUDGET);
    assert_int_equal(log.seen.nr, 8 * (size_t)log.looks);
    log_release(&log);
}

/* The worst first, and beside it what fits. */
TEST(a_budget_goes_to_the_worst)
{
    static const struct {
        double left;
        const char *wanted, *taken; /* of benchmarks of 4, 1, 2 and 8 s, the third the worst */
    } cases[] = {
        { 100, "1111", "1111" }, { 7, "1111", "1110" },  { 6.5, "1111", "1010" },
        { 3, "1111", "0110" },   { 2, "1111", "0010" },  { 1.5, "1111", "0100" },
        { 0.5, "1111", "0000" }, { -1, "1111", "0000" }, { 7, "1101", "1100" },
        { 100, "0000", "0000" },
    };
    static const double seconds[] = { 4, 1, 2, 8 }, harm[] = { 0.2, 0.1, 0.5, 0 };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool take[4];
        size_t kept = 0;
        for (size_t n = 0; n < 4; n++)
            take[n] = cases[i].wanted[n] == '1';
        size_t nr = ab_fit(seconds, harm, 4, cases[i].left, take);
        for (size_t n = 0; n < 4; n++) {
            kept += take[n];
            if (take[n] != (cases[i].taken[n] == '1'))
                fail_msg("case %zu, benchmark %zu", i, n);
        }
        assert_int_equal(nr, kept);
    }
}

/* What is too long for the time that is left is passed over, and of two of a length the one that
 * looks better; a block that has to be whole is not made then. */
TEST(a_block_has_what_fits)
{
    static const struct {
        double sleep[2], harm[2], spare;
        bool whole;
        bool again[2];
    } rows[] = {
        { { 0.2, 0.002 }, { 0.5, 0 }, 0.35, false, { false, true } }, /* both limits are far off */
        { { 0.05, 0.05 }, { 0, 0.5 }, 0.3, false, { false, true } },
        { { 0.05, 0.05 }, { 0.5, 0.1 }, 0.3, false, { true, false } },
        { { 0.05, 0.05 }, { 0.5, 0.1 }, 0.3, true, { false, false } },
    };
    struct benchmark cases[CASES];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ab ab = make_ab("fake", "right", cases, 2);
        struct log log = { .sleep = rows[i].sleep, .harm = rows[i].harm, .spare = rows[i].spare };
        ab.blocks_max = 2;
        ab.what.budget = 1000;
        ab.whole = rows[i].whole;
        ab.what.once = true;
        run_well(&ab, &log, rows[i].whole ? AB_BUDGET : AB_BLOCKS);
        for (int n = 0; n < 2; n++)
            if (count(&log, AB_HEAD, n ? "/batch=2," : "/batch=1,", OUTCOME_OK) !=
                (rows[i].again[n] ? 2u : 1u) * AB_LAUNCHES)
                fail_msg("row %zu, batch %d", i, n + 1);
        log_release(&log);
    }
}

/* A further block has to fit as a whole, by the time of the last one. Where two more are to fit the
 * first takes a time beside which a stall is short. */
TEST(no_block_starts_that_would_end_too_late)
{
    static const double sleep[] = { 0.02, 0.02 }, harm[] = { 0, 0 };
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 2);
    struct log log = { .tighten = 0.75 };

    ab.blocks_max = 3;
    ab.whole = true;
    ab.what.budget = 1000;
    run_well(&ab, &log, AB_BUDGET);
    assert_int_equal(log.looks, 1);
    log_release(&log);
    log = (struct log) { .tighten = 19, .sleep = sleep, .harm = harm };
    ab.what.budget = 1000;
    run_well(&ab, &log, AB_BLOCKS);
    assert_int_equal(log.looks, 3);
    log_release(&log);
}

/* As where a parent process left SIGCHLD ignored: it is the guard that knows how a launch ended. */
LOG_TEST(an_end_is_known_whatever_is_ignored)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake", "right", cases, 1);

    signal(SIGCHLD, SIG_IGN);
    run_well(&ab, log, AB_BLOCKS);
    signal(SIGCHLD, SIG_DFL);
    for (size_t i = 0; i < log->seen.nr; i++)
        assert_int_equal(log->seen.items[i].m.outcome, OUTCOME_OK);
}

/* What was finished before is there; there is no look at half a block. */
TEST(an_interrupt_keeps_what_is_finished)
{
    struct benchmark cases[CASES];
    struct ab ab = make_ab("fake:hang=2", "right", cases, 2);
    struct log log = { .interrupt_at = "batch=2," };

    interrupted = 0;
    ab.what.limits.interrupted = &interrupted;
    run_well(&ab, &log, AB_INTERRUPTED);
    assert_int_equal(log.looks, 0);
    assert_int_equal(log.begun.nr, 1);
    assert_int_equal(log.ended.nr, 1);
    assert_int_equal(log.seen.nr, log.progress - 1);
    interrupted = 0;
    log_release(&log);
}

TEST(errors_of_the_sink_end_it)
{
    static const struct {
        const char *where;
        size_t begun, seen;
    } rows[] = { { "launch", 1, 0 }, { "measurement", 1, 1 }, { "look", 4, 4 } };
    struct benchmark cases[CASES];

    for (size_t i = 0; i < 3; i++) {
        struct ab ab = make_ab("fake", "right", cases, 1);
        struct log log = { .fail = rows[i].where };
        enum ab_end end;
        struct error err;
        assert_int_equal(run(&ab, &log, &end, &err), -1);
        assert_string_equal(err.message, "the disk is full");
        assert_int_equal(log.begun.nr, rows[i].begun);
        assert_int_equal(log.seen.nr, rows[i].seen);
        log_release(&log);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "internal-launch") == 0)
        return child();
    allow_crashes();
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
