/* SPDX-License-Identifier: MIT */
/* Functions of Python of tests/fixtures/python, measured. */
#ifndef HARNESS_TESTS_PYTHON_TESTING_H
#define HARNESS_TESTS_PYTHON_TESTING_H

#include "testing.h"

#include "core/registry.h"
#include "device/devices.h"
#include "measure/case.h"
#include "plugin/guests.h"

#include <stdio.h>
#include <stdlib.h>

#define FILES HARNESS_SOURCE_DIR "/tests/fixtures/python/"

static const struct string_list none = { NULL, 0, 0 };
static const struct case_settings few_samples = {
    .sampling = { .iterations = 3, .min_samples = 1, .max_samples = 4 }, .seed = 1
};

struct made {
    struct guests guests;
    struct string_list list;
};

static inline int make_of(struct made *m, const struct registry *base,
                          const struct python_request *request, const char *text, struct error *err)
{
    const struct guests_asked asked = { .python = request };

    m->list = none;
    string_list_add(&m->list, text);
    return guests_open(&m->guests, base, &asked, err);
}

static inline void drop(struct made *m)
{
    guests_close(&m->guests);
    string_list_release(&m->list);
}

/* It may be elsewhere than in the first python3 of the PATH. */
static inline bool module_is_here(const char *name)
{
    static const char *const interpreters[] = { "python3", "/usr/bin/python3" };
    char command[200];

    for (size_t i = 0; i < 2; i++) {
        snprintf(command, sizeof(command), "%s -c 'import %s' 2>/dev/null", interpreters[i], name);
        if (system(command) == 0) { /* NOLINT(cert-env33-c): constants */
            setenv("HARNESS_PYTHON", interpreters[i], 1);
            return true;
        }
    }
    return false;
}

static inline enum device_kind kind_of(const char *device)
{
    return (enum device_kind)device_kind_of(device);
}

static inline struct measurement measure_made(struct made *made, const char *device,
                                              struct shape shape, enum cache_state cache)
{
    struct benchmark bench = { &made->guests.python.variants[0], shape, cache, NULL };
    struct device d;
    struct error err;
    struct measurement m;

    assert_ok(device_open(&d, device, &err), &err);
    case_measure(&bench, &d, &few_samples, &m);
    assert_int_equal(d.nr_blocks, 0);
    device_close(&d);
    drop(made);
    return m;
}

/* A function of a file that computes gemm/nn, of so many rows twice. */
static inline struct measurement measure_product(const char *file, const char *function,
                                                 const char *dtype, const char *device,
                                                 int64_t rows, enum cache_state cache)
{
    struct string_list dtypes = none;
    char text[300];
    struct made made;
    struct error err;
    const struct python_request request = { &made.list, "gemm/nn", &dtypes, NULL, kind_of(device) };

    snprintf(text, sizeof(text), FILES "%s::%s", file, function);
    string_list_add(&dtypes, dtype);
    assert_ok(make_of(&made, registry_builtin(), &request, text, &err), &err);
    string_list_release(&dtypes);
    return measure_made(&made, device, (struct shape) { { 2, rows, 5, 4 } }, cache);
}

static inline int inout_layout(const struct kernel *k, const struct shape *s, enum dtype dtype,
                               struct tensor *t)
{
    int nr = registry_kernel(registry_builtin(), "null/copy")->layout(k, s, dtype, t);

    t[0].role = TENSOR_INOUT;
    return nr;
}

/* A function that computes null/copy, whose input a launch may change: so its variant says by its
 * flags. */
static inline struct measurement measure_inout(const char *function, const char *device,
                                               int64_t rows, unsigned flags, enum cache_state cache)
{
    struct kernel k = *registry_kernel(registry_builtin(), "null/copy");
    const struct kernel *const kernels[] = { &k, NULL };
    const struct kernel *const *const operations[] = { kernels, NULL };
    static const struct variant *const no_variants[] = { NULL };
    static const struct missing_variant none_missing[] = { { NULL, NULL, NULL } };
    const struct registry base = { .operations = operations,
                                   .variant_files = no_variants,
                                   .missing = none_missing };
    struct made made;
    struct error err;
    const struct python_request request = { &made.list, k.name, &none, NULL, kind_of(device) };

    k.layout = inout_layout;
    assert_ok(make_of(&made, &base, &request, function, &err), &err);
    assert_int_equal(made.guests.python.variants[0].flags, VARIANT_GUEST);
    made.guests.python.variants[0].flags = flags;
    return measure_made(&made, device, (struct shape) { { rows, 16 } }, cache);
}

/* It may leave of them what it likes: each timed call finds what the first one found. A variant
 * that is no guest's is not restored. */
static inline void expect_inout_restored(const char *function, const char *device, int64_t rows)
{
    static const struct {
        unsigned flags;
        enum cache_state cache;
        enum outcome outcome;
    } ways[] = {
        { VARIANT_GUEST, CACHE_WARM, OUTCOME_OK },
        { VARIANT_GUEST, CACHE_ROTATE, OUTCOME_OK },
        { 0, CACHE_WARM, OUTCOME_WRONG },
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct measurement m = measure_inout(function, device, rows, ways[i].flags, ways[i].cache);
        if (m.outcome != ways[i].outcome)
            fail_msg("%zu: %s, %s", i, outcome_name(m.outcome), m.message ? m.message : "");
        assert_true(m.outcome == OUTCOME_WRONG || m.batch == 1);
        measurement_release(&m);
    }
}

#endif
