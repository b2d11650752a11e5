/* SPDX-License-Identifier: MIT */
/*
 * Features: U-06, U-12. Measuring again what was disturbed (launch/remeasure.h) names nothing that
 * is not there, moves no result, and makes launches alike. The machine is simulated: it has quiet
 * and busy spells, and its probe sees most of what they do.
 */
#include "simulation.h"
#include "testing.h"

#include "launch/remeasure.h"
#include "stats/stats.h"

enum { BENCHMARKS = 30, LAUNCHES = 5 };

struct machine_kind {
    const char *name;
    double busy;  /* share of cases in busy spells */
    double stays; /* chance that a spell goes on with the next case */
    double cost;  /* of a busy case: log of the time, in the mean */
    double sees;  /* chance that the probe tells of it */
    double lies;  /* chance that the probe is slow beside a quiet case */
};

static const struct machine_kind kinds[] = {
    { "spells", 0.35, 0.7, 0.4, 0.85, 0.02 },
    { "long spells", 0.35, 0.95, 0.4, 0.85, 0.02 },
    { "the probe sees nothing", 0.1, 0.7, 0.3, 0, 0 },
    { "the probe lies", 0, 0.7, 0, 0, 0.35 },
    { "quiet", 0, 0.7, 0, 0, 0 },
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* One side, as a sweep measures it. */
struct side {
    const struct machine_kind *kind;
    struct random *r;
    struct remeasure repeats;
    struct records *out;
    bool busy;
    size_t made;
    double changed; /* factor of benchmark 0 */
};

static int on_stands(void *context, const struct launch *l, const struct measurement *m,
                     struct error *err)
{
    struct side *s = context;

    (void)err;
    measurement_copy(&records_add(s->out, 0, l->seq)->m, m);
    return 0;
}

static void next_spell(struct side *s)
{
    if (random_uniform(s->r) >= s->kind->stays)
        s->busy = random_uniform(s->r) < s->kind->busy;
}

static struct measurement measure(struct side *s, size_t which)
{
    struct measurement m = { .outcome = OUTCOME_OK, .batch = 1, .nr_samples = 3 };
    const struct machine_kind *k = s->kind;

    next_spell(s);
    double cost = s->busy ? k->cost * (0.5 + random_uniform(s->r)) : 0;
    double seen =
        s->busy && random_uniform(s->r) < k->sees ? cost * (0.7 + 0.6 * random_uniform(s->r)) : 0;
    if (!s->busy && random_uniform(s->r) < k->lies)
        seen = 0.3;
    double ns = 1e7 * (which == 0 ? s->changed : 1) * exp(cost + 0.01 * random_normal(s->r));
    m.samples = memory_zeroed(m.nr_samples, sizeof(*m.samples));
    for (size_t i = 0; i < m.nr_samples; i++)
        m.samples[i] = (uint64_t)(ns * exp(0.001 * random_normal(s->r)));
    snprintf(m.bench.key, sizeof(m.bench.key), "sim/%03zu", which);
    snprintf(m.bench.kernel, sizeof(m.bench.kernel), "sim/%03zu", which);
    measurement_add_telemetry(&m, TELEMETRY_MACHINE, 1e5 * exp(seen + 0.01 * random_normal(s->r)));
    s->made++;
    return m;
}

static void take(struct side *s, size_t which, int launch)
{
    struct measurement m = measure(s, which);
    struct error err;

    s->repeats.launch.seq = launch;
    assert_ok(remeasure_measured(&s->repeats, which, &m, &err), &err);
    measurement_release(&m);
}

static void run_side(const struct machine_kind *kind, bool repeating, double changed,
                     struct random *r, struct records *out, size_t *made)
{
    struct disturbed_watch watch = { .probes.nr = 0 };
    struct side s = { .kind = kind, .r = r, .out = out, .changed = changed };
    struct measurement_sink sink = { .context = &s, .measurement = on_stands };
    size_t which[BENCHMARKS], nr;
    struct error err;

    *out = (struct records) { 0 };
    records_add_run(out);
    remeasure_init(&s.repeats, &watch, &sink, BENCHMARKS);
    s.repeats.once = !repeating;
    s.busy = random_uniform(r) < kind->busy;
    for (int launch = 0; launch < LAUNCHES; launch++) {
        for (size_t i = 0; i < BENCHMARKS; i++)
            take(&s, i, launch);
        assert_ok(remeasure_settle(&s.repeats, &err), &err);
    }
    s.repeats.again = true;
    while ((nr = remeasure_wanted(&s.repeats, which)) > 0) {
        for (size_t i = 0; i < nr; i++) {
            struct measurement m = measure(&s, which[i]);
            assert_ok(remeasure_measured(&s.repeats, which[i], &m, &err), &err);
        }
        assert_ok(remeasure_settle(&s.repeats, &err), &err);
    }
    assert_ok(remeasure_end(&s.repeats, 0, &err), &err);
    assert_int_equal(out->nr, BENCHMARKS * LAUNCHES);
    assert_true(s.made <= 2 * BENCHMARKS * LAUNCHES);
    *made += s.made;
    remeasure_release(&s.repeats);
    disturbed_watch_release(&watch);
}

struct tally {
    size_t suites, alarms, named, made;
    double sum, squares; /* of the change of benchmark 0, log */
    double spread;       /* of launches, sum over suites */
};

static void count(const struct comparison *c, struct tally *t)
{
    bool alarm = false;

    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        bool first = strcmp(row->item->bench->key, "sim/000") == 0;
        bool named = row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED;
        alarm |= named && !first;
        if (!first)
            continue;
        t->named += named;
        t->sum += log1p(row->change);
        t->squares += log1p(row->change) * log1p(row->change);
    }
    t->alarms += alarm;
    t->spread += c->noise;
    t->suites++;
}

static struct tally compare_many(const struct machine_kind *base, const struct machine_kind *head,
                                 bool repeating, double changed, uint64_t seed, size_t suites)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct tally t = { 0 };
    struct random r;

    random_seed(&r, seed);
    for (size_t i = 0; i < suites; i++) {
        struct records b, h;
        struct comparison c;
        struct error err;
        run_side(base, repeating, 1, &r, &b, &t.made);
        run_side(head, repeating, changed, &r, &h, &t.made);
        assert_ok(compare_run(&b, &h, &settings, &c, &err), &err);
        count(&c, &t);
        comparison_release(&c);
        records_release(&b);
        records_release(&h);
    }
    return t;
}

/* Nothing changed: nothing is named more often than it may be, whatever the probe is worth; and
 * where it is worth something, launches are far more alike. */
TEST(test_nothing_is_made_up)
{
    for (size_t i = 0; i < KINDS; i++) {
        size_t suites = trials(200);
        struct tally with = compare_many(&kinds[i], &kinds[i], true, 1, 10 + i, suites);
        struct tally without = compare_many(&kinds[i], &kinds[i], false, 1, 10 + i, suites);
        char what[96];
        double runs = 2.0 * BENCHMARKS * LAUNCHES * (double)suites;
        snprintf(what, sizeof(what), "%s: suites with an alarm", kinds[i].name);
        assert_rate_at_most(what, with.alarms, suites, 0.05);
        printf(
            "    launches differ by %.1f %%, %.1f %% without; %.2f times the launches; %zu suites "
            "with an alarm without\n",
            100 * with.spread / (double)suites, 100 * without.spread / (double)suites,
            (double)with.made / runs, without.alarms);
        if (i == 0)
            assert_true(with.spread < 0.5 * without.spread);
    }
}

/* What is there comes out as large as it is: no rule that saw the time would do that. */
TEST(test_no_result_moves)
{
    for (size_t i = 0; i < KINDS; i++) {
        size_t suites = trials(200);
        struct tally t = compare_many(&kinds[i], &kinds[i], true, 1.05, 20 + i, suites);
        double n = (double)suites, mean = t.sum / n;
        double se = sqrt((t.squares / n - mean * mean) / n);
        printf("    %s: 5 %% planted, %.2f %% +- %.2f seen, named in %zu of %zu\n", kinds[i].name,
               100 * expm1(mean), 100 * se, t.named, suites);
        assert_true(fabs(mean - log1p(0.05)) < 3.3 * se + 1e-4);
    }
}

/* A quiet hour against a busy one: the rule takes away what was called a change of the code. */
TEST(test_unlike_hours)
{
    size_t suites = trials(200);
    struct tally with = compare_many(&kinds[4], &kinds[0], true, 1, 30, suites);
    struct tally without = compare_many(&kinds[4], &kinds[0], false, 1, 30, suites);

    printf("    a quiet run against a busy one: an alarm in %zu of %zu, %zu without\n", with.alarms,
           suites, without.alarms);
    assert_rate_at_most("quiet against busy", with.alarms, suites, 0.05);
}

RUN_TESTS(NULL, NULL)
