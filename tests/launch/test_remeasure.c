/* SPDX-License-Identifier: MIT */
/* Which measurements are made again, and what stays: facts by hand, no process runs. */
#include "testing.h"

#include "launch/remeasure.h"

/* What a machine may say beside a case. */
struct facts {
    double probe, waited, steal, involuntary, seconds; /* NaN: it does not tell */
    size_t samples;
};

static const struct facts quiet = { 100, 1, 0, 0, 0.1, 20 };

static void tell(struct measurement *m, const char *name, double value)
{
    if (!isnan(value))
        measurement_add_telemetry(m, name, value);
}

static struct measurement make(const struct facts *f, double ns)
{
    struct measurement m = { .outcome = OUTCOME_OK, .batch = 1, .nr_samples = f->samples };

    m.samples = memory_zeroed(f->samples + 1, sizeof(*m.samples));
    for (size_t i = 0; i < f->samples; i++)
        m.samples[i] = (uint64_t)ns;
    tell(&m, TELEMETRY_MACHINE, f->probe);
    tell(&m, "waited_percent", f->waited);
    tell(&m, "steal_percent", f->steal);
    tell(&m, "involuntary_switches", f->involuntary);
    tell(&m, "sampled_seconds", f->seconds);
    return m;
}

static struct disturbed_watch quiet_watch(void)
{
    struct disturbed_watch w = { .probes.nr = 0 };

    for (int i = 0; i < 20; i++) {
        struct facts f = quiet;
        f.probe += i % 4 == 3 ? 50 : i % 3; /* a quarter is not quiet, and counts for nothing */
        struct measurement m = make(&f, 1000);
        disturbed_watch_note(&w, &m);
        measurement_release(&m);
    }
    return w;
}

static const struct {
    const char *name;
    struct facts facts;
    double degree;
    enum disturbed_part part;
} rows[] = {
    { "quiet", { 100, 1, 0, 0, 0.1, 20 }, 0, DISTURBED_MACHINE },
    { "faster than usual", { 80, 0, 0, 0, 0.1, 20 }, 0, DISTURBED_MACHINE },
    { "the probe is slower", { 110, 1, 0, 0, 0.1, 20 }, 0.1, DISTURBED_MACHINE },
    { "waits that hit the samples", { 100, 20, 0, 10, 0.1, 20 }, 0.2, DISTURBED_WAITED },
    { "waits that hit less than half", { 100, 20, 0, 9, 0.1, 20 }, 0, DISTURBED_MACHINE },
    { "the host took some", { 100, 1, 8, 0, 0.1, 20 }, 0.08, DISTURBED_STOLEN },
    { "all together", { 105, 20, 2, 10, 0.1, 20 }, 0.27, DISTURBED_WAITED },
    { "no scheduler to tell", { 100, NAN, 0, 10, 0.1, 20 }, 0.3, DISTURBED_WAITED },
    { "no probe", { NAN, 50, 50, 50, 0.1, 20 }, 0, DISTURBED_MACHINE },
    { "no telemetry but the probe", { 130, NAN, NAN, NAN, NAN, 20 }, 0.3, DISTURBED_MACHINE },
};

/* The time has no say, however long or short it is. */
TEST(the_degree_is_of_facts_alone)
{
    static const double times[] = { 1, 1000, 1e9 };
    struct disturbed_watch w = quiet_watch();

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        for (size_t t = 0; t < sizeof(times) / sizeof(*times); t++) {
            enum disturbed_part part = DISTURBED_MACHINE;
            struct measurement m = make(&rows[i].facts, times[t]);
            double degree = disturbed_degree(&w, &m, &part);
            if (!(fabs(degree - rows[i].degree) < 1e-9) || part != rows[i].part)
                fail_msg("%s: degree %g, part %d", rows[i].name, degree, (int)part);
            assert_int_equal(disturbed_is(&w, &m), degree > DISTURBED_LIMIT);
            measurement_release(&m);
        }
    }
    disturbed_watch_release(&w);
}

/* What a run hands up. */
struct log {
    int seq[16];
    double ns[16], repeats[16], disturbed[16];
    enum outcome outcome[16];
    int nr;
};

static int on_stands(void *context, const struct launch *l, const struct measurement *m,
                     struct error *err)
{
    struct log *log = context;

    (void)err;
    assert_true(log->nr < 16);
    log->seq[log->nr] = l->seq;
    log->ns[log->nr] = m->nr_samples ? (double)m->samples[0] : 0;
    log->repeats[log->nr] = measurement_telemetry(m, "repeats");
    log->disturbed[log->nr] = measurement_telemetry(m, "disturbed_percent");
    log->outcome[log->nr++] = m->outcome;
    return 0;
}

/* Does it wait? What stands at once is no part of the log. */
static bool take(struct remeasure *r, size_t which, int seq, double probe, double ns)
{
    struct log *log = r->sink->context;
    int before = log->nr;
    struct facts f = quiet;
    struct error err;

    f.probe = probe;
    struct measurement m = make(&f, ns);
    r->launch.seq = seq;
    assert_ok(remeasure_measured(r, which, &m, &err), &err);
    measurement_release(&m);
    bool waits = log->nr == before;
    log->nr = before;
    return waits;
}

static void take_again(struct remeasure *r, size_t which, double probe, double ns,
                       enum outcome outcome)
{
    struct facts f = quiet;
    struct error err;

    f.probe = probe;
    struct measurement m = make(&f, ns);
    m.outcome = outcome;
    r->again = true;
    assert_ok(remeasure_measured(r, which, &m, &err), &err);
    r->again = false;
    measurement_release(&m);
}

/* The most disturbed one is replaced, by what was disturbed less; no more often than a benchmark
 * was measured; and all is handed up once. */
TEST(the_worst_is_replaced_within_the_budget)
{
    struct disturbed_watch w = quiet_watch();
    struct log log = { .nr = 0 };
    struct measurement_sink sink = { .context = &log, .measurement = on_stands };
    struct remeasure r;
    struct error err;
    size_t which[2];

    remeasure_init(&r, &w, &sink, 2);
    assert_false(take(&r, 0, 0, 100, 1000));
    assert_true(take(&r, 0, 1, 120, 1200));
    assert_true(take(&r, 0, 2, 180, 1800));
    assert_true(take(&r, 1, 0, 150, 15));
    assert_int_equal(remeasure_wanted(&r, which), 2);
    take_again(&r, 0, 101, 900, OUTCOME_OK); /* for launch 2 */
    assert_ok(remeasure_settle(&r, &err), &err);
    assert_int_equal(log.nr, 1);
    assert_int_equal(log.seq[0], 2);
    assert_close(log.ns[0], 900, 0);
    assert_close(log.repeats[0], 1, 0);
    assert_true(isnan(log.disturbed[0]));
    take_again(&r, 1, 160, 16, OUTCOME_OK); /* worse, and the budget is spent */
    assert_int_equal(remeasure_wanted(&r, which), 1);
    assert_int_equal(which[0], 0);
    take_again(&r, 0, 130, 1, OUTCOME_OK);    /* worse, whatever its time */
    take_again(&r, 0, 115, 9999, OUTCOME_OK); /* better, whatever its time */
    assert_int_equal(remeasure_wanted(&r, which), 0);
    assert_ok(remeasure_settle(&r, &err), &err);
    assert_int_equal(log.nr, 1);
    assert_ok(remeasure_end(&r, 0, &err), &err);
    assert_int_equal(log.nr, 3);
    assert_close(log.ns[1], 9999, 0);
    assert_close(log.repeats[1], 2, 0);
    assert_close(log.disturbed[1], 15, 1);
    assert_close(log.ns[2], 15, 0);
    assert_close(log.disturbed[2], 50, 1);
    remeasure_release(&r);
    disturbed_watch_release(&w);
}

/* A result that is wrong, or a crash, is news, though the first try was well. */
TEST(what_is_not_ok_stands)
{
    struct disturbed_watch w = quiet_watch();
    struct log log = { .nr = 0 };
    struct measurement_sink sink = { .context = &log, .measurement = on_stands };
    struct remeasure r;
    struct error err;
    size_t which[1];

    remeasure_init(&r, &w, &sink, 1);
    assert_true(take(&r, 0, 0, 150, 1000));
    assert_true(take(&r, 0, 1, 140, 1000));
    take_again(&r, 0, 100, 1000, OUTCOME_WRONG);
    assert_int_equal(remeasure_wanted(&r, which), 1); /* the other */
    assert_ok(remeasure_settle(&r, &err), &err);
    assert_int_equal(log.nr, 1);
    assert_int_equal(log.outcome[0], OUTCOME_WRONG);
    remeasure_release(&r); /* with one that waits */
    disturbed_watch_release(&w);
}

/* What FAILED or is UNSUPPORTED is not tried again, whether it was made for the first time or
 * again; where nothing waits, what was disturbed stands as it comes. */
TEST(what_cannot_run_is_lost)
{
    static const struct {
        enum outcome outcome;
        bool again, lost;
    } lost[] = {
        { OUTCOME_OK, false, false },         { OUTCOME_OK, true, false },
        { OUTCOME_WRONG, false, false },      { OUTCOME_WRONG, true, false },
        { OUTCOME_FAILED, false, true },      { OUTCOME_FAILED, true, true },
        { OUTCOME_UNSUPPORTED, false, true }, { OUTCOME_UNSUPPORTED, true, true },
    };

    for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++) {
        struct disturbed_watch w = quiet_watch();
        struct log log = { .nr = 0 };
        struct measurement_sink sink = { .context = &log, .measurement = on_stands };
        struct facts f = quiet;
        struct remeasure r;
        struct error err;

        f.probe = 150;
        struct measurement m = make(&f, 1000);
        m.outcome = lost[i].outcome;
        remeasure_init(&r, &w, &sink, 2);
        r.once = true;
        r.again = lost[i].again;
        assert_ok(remeasure_measured(&r, 1, &m, &err), &err);
        assert_int_equal(r.lost[1], lost[i].lost);
        assert_false(r.lost[0]);
        assert_int_equal(log.nr, !lost[i].again);
        measurement_release(&m);
        remeasure_release(&r);
        disturbed_watch_release(&w);
    }
}

/* The first few wait until it is known what is usual; most of them stand then. */
TEST(the_first_wait_for_the_others)
{
    struct disturbed_watch w = { .probes.nr = 0 };
    struct log log = { .nr = 0 };
    struct measurement_sink sink = { .context = &log, .measurement = on_stands };
    struct remeasure r;
    struct error err;
    size_t which[1];

    remeasure_init(&r, &w, &sink, 1);
    assert_true(take(&r, 0, 0, 140, 1000)); /* nobody knows yet */
    for (int i = 1; i < 4; i++)
        assert_true(take(&r, 0, i, 100, 1000));
    assert_false(take(&r, 0, 4, 101, 1000));
    assert_ok(remeasure_settle(&r, &err), &err);
    assert_int_equal(log.nr, 3);
    assert_int_equal(remeasure_wanted(&r, which), 1);
    take_again(&r, 0, 100, 1000, OUTCOME_OK);
    assert_int_equal(remeasure_wanted(&r, which), 0);
    assert_ok(remeasure_end(&r, 0, &err), &err);
    assert_int_equal(log.nr, 4);
    assert_int_equal(log.seq[3], 0);
    remeasure_release(&r);
    disturbed_watch_release(&w);
}

static int count_launch(void *context, const struct launch *l, struct error *err)
{
    struct log *log = context;

    (void)err;
    log->seq[log->nr++] = l->seq;
    return 0;
}

/* The sink, where it wants to, hears of a launch that begins and of its end, of which the first
 * process that went wrong says how it was; what is made again is no launch. */
TEST(the_launch_in_hand)
{
    struct disturbed_watch w = quiet_watch();
    struct log told = { .nr = 0 };
    struct measurement_sink sink = { .context = &told, .launch_begin = count_launch };
    struct launch_result died = { .end = LAUNCH_DIED, .exit_status = 3 }, done = { .current = -1 };
    char first[] = "the first words", later[] = "later words";
    struct remeasure r;
    struct error err;

    remeasure_init(&r, &w, &sink, 1);
    assert_int_equal(r.launch.seq, -1);
    assert_ok(remeasure_launch_begin(&r, 7, &err), &err);
    remeasure_process_end(&r, &done);
    assert_null(r.launch.error_text);
    died.error_text = first;
    remeasure_process_end(&r, &died);
    remeasure_process_end(&r, &done);
    r.again = true;
    died.error_text = later;
    assert_ok(remeasure_launch_begin(&r, 8, &err), &err);
    remeasure_process_end(&r, &died);
    sink = (struct measurement_sink) { .context = &told, .launch_end = count_launch };
    assert_ok(remeasure_launch_end(&r, &err), &err);
    r.again = false;
    assert_int_equal(told.nr, 1);
    assert_ok(remeasure_launch_end(&r, &err), &err);
    assert_int_equal(told.nr, 2);
    assert_int_equal(told.seq[0], 7);
    assert_int_equal(told.seq[1], 7);
    assert_int_equal(r.launch.exit_status, 3);
    assert_string_equal(r.launch.error_text, first);
    assert_ok(remeasure_launch_begin(&r, 8, &err), &err);
    assert_null(r.launch.error_text);
    assert_int_equal(told.nr, 2);
    remeasure_release(&r);
    disturbed_watch_release(&w);
}

RUN_TESTS(NULL, NULL)
