/* SPDX-License-Identifier: MIT */
/*
 * What a case asks of a variant and of its device, and when: preparing, launching, flushing,
 * counting, and what one of them did wrong. Features: S0-02, S0-03, U-04.
 */
#include "case_testing.h"

#include "process/counters.h"

#include <limits.h>
#include <unistd.h>

/* A variant of null/copy that keeps account of its calls and goes wrong after some launches, or
 * finds its work done after the first one. */
struct account {
    int prepared, released, launched, wrong_after;
};

enum { COMPUTES_ONCE = -1 };

static struct account account;

static int prepare(struct call *call, struct error *err)
{
    account.prepared++;
    call->state = &account;
    return call->shape.dim[0] == 13 ? error_set(err, "unlucky") : 0;
}

static void launch(const struct call *call)
{
    struct account *a = call->state;
    float *y = call->tensor[1].data;
    int before = a->launched++;

    if (a->wrong_after == COMPUTES_ONCE && before > 0)
        return;
    memcpy(y, call->tensor[0].data, (size_t)tensor_bytes(&call->tensor[0]));
    if (a->wrong_after != COMPUTES_ONCE && before >= a->wrong_after)
        y[1] += 1;
}

static void release(struct call *call)
{
    ((struct account *)call->state)->released++;
}

static struct measurement measure_account(const struct device_class *class, int64_t batch,
                                          int wrong_after, enum cache_state cache)
{
    const struct variant *right = registry_variant(registry_builtin(), "null/copy", "right");
    struct variant v = *right;
    struct benchmark bench = { &v, { { batch, 16 } }, cache, NULL };
    struct case_settings settings = { .sampling = quick, .seed = 1 };
    struct measurement m;
    struct device d;
    struct error err;

    v.prepare = prepare;
    v.launch = launch;
    v.release = release;
    account = (struct account) { .wrong_after = wrong_after };
    assert_ok(device_open(&d, "fake:base=10", &err), &err);
    const struct device_class *own = d.ops;
    d.ops = class ? class : own;
    case_measure(&bench, &d, &settings, &m);
    d.ops = own;
    device_close(&d);
    return m;
}

TEST(prepared_is_released_once)
{
    static const struct {
        int64_t batch;
        int wrong_after, released;
        enum outcome outcome;
    } rows[] = {
        { 1, 1 << 30, 1, OUTCOME_OK },
        { 1, 0, 1, OUTCOME_WRONG },
        { 13, 0, 0, OUTCOME_FAILED }, /* prepare() cleans up after itself */
    };

    for (size_t i = 0; i < 3; i++) {
        struct measurement m =
            measure_account(NULL, rows[i].batch, rows[i].wrong_after, CACHE_WARM);
        assert_int_equal(m.outcome, rows[i].outcome);
        assert_int_equal(account.prepared, 1);
        assert_int_equal(account.released, rows[i].released);
        measurement_release(&m);
    }
}

/* Right at first and wrong while it was timed: what was timed is looked at again. */
TEST(going_wrong_later_is_found)
{
    struct measurement m = measure_account(NULL, 1, 5, CACHE_WARM);

    assert_int_equal(m.outcome, OUTCOME_WRONG);
    assert_says(&m, "after timing: y[0,1] = ");
    assert_true(account.launched > 6);
    assert_no_time(&m);
    measurement_release(&m);
}

/* What the check left there is no result of what was timed. */
TEST(computing_the_first_time_alone_is_found)
{
    static const enum cache_state states[] = { CACHE_WARM, CACHE_COLD };

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct measurement m = measure_account(NULL, 1, COMPUTES_ONCE, states[i]);
        assert_int_equal(m.outcome, OUTCOME_WRONG);
        assert_says(&m, "after timing: y[0,0] = nan");
        assert_says(&m, "never written");
        assert_no_time(&m);
        measurement_release(&m);
    }
}

static int flushes;

static int slow_flush(struct device *d, struct error *err)
{
    (void)d;
    (void)err;
    flushes++;
    usleep(200);
    return 0;
}

/* Flushing takes 20,000 times as long as the launch here; it counts as time spent. */
TEST(cold_cases_end_in_time)
{
    struct device_class class = *device_class_of(DEVICE_FAKE, NULL);

    class.flush = slow_flush;
    flushes = 0;
    struct measurement m = measure_account(&class, 1, 1 << 30, CACHE_COLD);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_string_equal(m.bench.cache, "cold");
    assert_int_equal(m.batch, 1); /* the second launch of a batch would be warm */
    assert_true(m.nr_samples >= 3);
    assert_int_equal(flushes, (int)m.nr_samples + (int)m.warmups);
    assert_true(flushes < 50);
    for (size_t i = 0; i < m.nr_samples; i++)
        assert_true(m.samples[i] == 10); /* the time of flushing is not in the samples */
    measurement_release(&m);
}

TEST(warm_cases_are_not_flushed)
{
    struct device_class class = *device_class_of(DEVICE_FAKE, NULL);

    class.flush = slow_flush;
    flushes = 0;
    struct measurement m = measure_account(&class, 1, 1 << 30, CACHE_WARM);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_int_equal(flushes, 0);
    measurement_release(&m);
}

/* ---- counters ---- */

static int launched_at_facts;

static void note_facts(const struct call *call, struct measurement *m)
{
    (void)m;
    launched_at_facts = ((struct account *)call->state)->launched;
}

static int open_counter(struct perf_event_attr *attr, int group)
{
    (void)attr, (void)group;
    return 100;
}

static int control_counter(int fd, unsigned long request)
{
    (void)fd, (void)request;
    return 0;
}

static ssize_t read_counter(int fd, void *to, size_t nr)
{
    (void)fd;
    memset(to, 0, nr);
    return (ssize_t)nr;
}

static int close_counter(int fd)
{
    (void)fd;
    return 0;
}

/* A variant tells of the launches that were sampled: those that are counted come behind. */
MEASUREMENT_TEST(facts_are_those_of_the_samples)
{
    static const struct counter_calls calls = { open_counter, control_counter, read_counter,
                                                close_counter, "/nowhere" };
    enum { SAMPLES = 4, COUNTED = 3 };
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct case_settings settings = { .sampling = { .iterations = SAMPLES }, .seed = 1 };
    struct device d;
    struct error err;

    settings.counters = counters_open(COUNT_THREADS, &calls, &err);
    assert_non_null(settings.counters);
    v.device = DEVICE_CPU;
    v.prepare = prepare;
    v.launch = launch;
    v.release = release;
    v.facts = note_facts;
    account = (struct account) { .wrong_after = INT_MAX };
    assert_ok(device_open(&d, "cpu:1", &err), &err);
    measure_variant(&v, &d, (struct shape) { { 2, 16 } }, &settings, m);
    assert_int_equal(m->outcome, OUTCOME_OK);
    assert_int_equal(launched_at_facts, 1 + m->warmups + SAMPLES * m->batch); /* 1: the check */
    assert_int_equal(account.launched, (unsigned)launched_at_facts + COUNTED * m->batch);
    device_close(&d);
    counters_close(settings.counters);
}

static int clock_breaks(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
                        struct error *err)
{
    (void)d;
    call->variant->launch(call);
    *ns = 1000 * batch;
    return account.launched > 30 ? error_set(err, "the clock stands still") : 0;
}

TEST(a_failing_device_fails_the_case)
{
    struct device_class class = *device_class_of(DEVICE_FAKE, NULL);

    class.time = clock_breaks;
    struct measurement m = measure_account(&class, 1, 1 << 30, CACHE_WARM);
    assert_int_equal(m.outcome, OUTCOME_FAILED);
    assert_string_equal(m.message, "the clock stands still");
    assert_int_equal(account.released, 1);
    assert_no_time(&m);
    measurement_release(&m);
}

RUN_TESTS(NULL, NULL)
