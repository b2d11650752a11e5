/* SPDX-License-Identifier: MIT */
/* Cases on the fake device, whose clock is scripted. */
#ifndef HARNESS_TESTS_CASE_TESTING_H
#define HARNESS_TESTS_CASE_TESTING_H

#include "testing.h"

#include "core/registry.h"
#include "device/devices.h"
#include "measure/case.h"

static const struct sampling quick = {
    .min_time = 1e-4,
    .max_time = 1e-3,
    .warmup = 1e-4,
    .precision = 0.01,
    .min_samples = 20,
    .max_samples = 5000,
};

static inline void assert_says(const struct measurement *m, const char *part)
{
    if (!m->message || !strstr(m->message, part))
        fail_msg("\"%s\" is not in: %s", part, m->message ? m->message : "(no message)");
}

static inline void measure_variant(const struct variant *v, struct device *d, struct shape shape,
                                   const struct case_settings *settings, struct measurement *m)
{
    struct benchmark bench = { v, shape, CACHE_WARM, NULL };

    case_measure(&bench, d, settings, m);
}

/* A variant of null/copy on a fake device of this spec. */
static inline struct measurement measure(const char *spec, const char *variant, struct shape shape,
                                         const struct sampling *sampling)
{
    struct case_settings settings = { .sampling = *sampling, .seed = 42 };
    const struct variant *v = registry_variant(registry_builtin(), "null/copy", variant);
    struct measurement m;
    struct device d;
    struct error err;

    assert_non_null(v);
    assert_ok(device_open(&d, spec, &err), &err);
    measure_variant(v, &d, shape, &settings, &m);
    device_close(&d);
    return m;
}

static inline void assert_no_time(const struct measurement *m)
{
    assert_null(m->samples);
    assert_int_equal(m->nr_samples, 0);
    assert_int_equal(m->stop, STOP_NONE);
}

#define MEASUREMENT_TEST(name) TEST_WITH_A(name, struct measurement, m, measurement_release)

#endif
