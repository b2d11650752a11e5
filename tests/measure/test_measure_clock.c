/* SPDX-License-Identifier: MIT */
/* Samples of one clock alone. Features: S0-02, S0-03. */
#include "case_testing.h"

#include <math.h>

/* Four looks while it warms up, and four that come again and again. */
struct looks {
    double mhz[8];
    int nr;
};

static struct clock_seen look_by_turns(void *context)
{
    struct looks *l = context;
    int at = l->nr < 4 ? l->nr : 4 + l->nr % 4;

    l->nr++;
    return (struct clock_seen) { l->mhz[at], NAN };
}

static struct measurement measure_clock(const struct looks *script, bool steady)
{
    struct looks looks = script ? *script : (struct looks) { .nr = 0 };
    const struct variant *v = registry_variant(registry_builtin(), "null/copy", "right");
    const struct clock_eye eye = { .scripted = look_by_turns, .context = &looks };
    const struct benchmark bench = { v, { { 4, 16 } }, CACHE_WARM, NULL };
    struct case_settings settings = { .sampling = { .min_time = 0.1,
                                                    .max_time = 0.2,
                                                    .warmup = 0.02,
                                                    .min_samples = 20,
                                                    .max_samples = 5000,
                                                    .steady = steady },
                                      .seed = 1,
                                      .eye = script ? &eye : NULL };
    struct measurement m;
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "fake:base=1e6", &err), &err);
    case_measure(&bench, &d, &settings, &m);
    device_close(&d);
    return m;
}

TEST(samples_are_of_one_clock)
{
    static const struct {
        struct looks looks;
        bool steady;
        enum outcome outcome;
        double settled, again; /* NaN: not told */
    } rows[] = {
        { { { 3, 3, 3, 3, 3, 3, 3, 3 }, 0 }, false, OUTCOME_OK, 1, NAN },
        { { { 3, 3, 3, 3, 3, 3, 3, 3 }, 0 }, true, OUTCOME_OK, 1, 0 },
        { { { 3, 3, 3, 3, 3, 2, 3, 3 }, 0 }, false, OUTCOME_OK, 1, NAN },
        { { { 3, 3, 3, 3, 3, 2, 3, 3 }, 0 }, true, OUTCOME_OK, 1, 3 },
        { { { 3, 3, 3, 3, 2, 2, 2, 2 }, 0 }, true, OUTCOME_FAILED, 1, NAN },
        { { { 3, 4, 5, 6, 3, 4, 5, 6 }, 0 }, false, OUTCOME_OK, 0, NAN },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct measurement m = measure_clock(&rows[i].looks, rows[i].steady);
        double again = measurement_telemetry(&m, TELEMETRY_CLOCK_AGAIN);
        assert_int_equal(m.outcome, rows[i].outcome);
        assert_true(measurement_telemetry(&m, TELEMETRY_SETTLED) == rows[i].settled);
        assert_true(measurement_telemetry(&m, TELEMETRY_WARM_UP) > 0.019);
        assert_true(isnan(rows[i].again) ? isnan(again) : again >= rows[i].again);
        if (rows[i].outcome == OUTCOME_OK)
            assert_true(m.nr_samples >= 100); /* as many as where every window counts */
        else
            assert_says(&m, "--clock steady: the clock was beyond 1 %");
        measurement_release(&m);
    }
    struct measurement m = measure_clock(NULL, true);
    assert_int_equal(m.outcome, OUTCOME_FAILED);
    assert_says(&m, "--clock steady: the clock of this device cannot be seen");
    measurement_release(&m);
}

RUN_TESTS(NULL, NULL)
