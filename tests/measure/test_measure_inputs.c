/* SPDX-License-Identifier: MIT */
/* What the inputs of a case hold. Features: S0-02, U-04. */
#include "case_testing.h"

#include <math.h>

static float found[64];

static void copy_and_keep(const struct call *call)
{
    memcpy(call->tensor[1].data, call->tensor[0].data, (size_t)tensor_bytes(&call->tensor[0]));
    memcpy(found, call->tensor[0].data, sizeof(found));
}

static struct measurement measure_filled(const struct input_fill *inputs, struct variant *v,
                                         const struct sampling *sampling)
{
    const struct benchmark bench = { v, { { 4, 16 } }, CACHE_WARM, inputs };
    struct case_settings settings = { .sampling = *sampling, .seed = 42 };
    struct measurement m;
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "fake:base=2000", &err), &err);
    case_measure(&bench, &d, &settings, &m);
    device_close(&d);
    return m;
}

static double mean_square(void)
{
    double sum = 0;

    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        sum += (double)found[i] * (double)found[i];
    return sum / (double)(sizeof(found) / sizeof(found[0]));
}

TEST(inputs_hold_what_was_asked_for)
{
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");

    v.launch = copy_and_keep;
    struct measurement m = measure_filled(NULL, &v, &quick);
    assert_string_equal(m.bench.key, "null/copy/right/fp32/batch=4,seq=16/fake/warm");
    const float first = found[0]; /* of N(0, 1): some are beyond sqrt(3) */
    assert_true(first != 0 && mean_square() > 0.5 && mean_square() < 1.6);
    measurement_release(&m);
    m = measure_filled(input_fill_find("uniform"), &v, &quick);
    assert_string_equal(m.bench.key, "null/copy/right/fp32/batch=4,seq=16/fake/warm+uniform");
    assert_string_equal(m.bench.cache, "warm");
    assert_string_equal(m.bench.fill, "uniform");
    assert_true(mean_square() > 0.6 && mean_square() < 1.4 && found[0] != first);
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        assert_true(fabsf(found[i]) <= 1.7320509F);
    measurement_release(&m);
    m = measure_filled(input_fill_find("zeros"), &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_true(mean_square() == 0 && m.max_error == 0);
    measurement_release(&m);
    m = measure_filled(NULL, &v, &quick); /* the same as ever */
    assert_true(found[0] == first);
    measurement_release(&m);
}

static void fill_from(struct input_fill *f, const float *data, int64_t nr)
{
    static const char path[] = HARNESS_TEST_DIR "/inputs.npy";
    struct error err;

    assert_ok(npy_write(path, data, &nr, 1, &err), &err);
    assert_ok(input_fill_read(f, path, &err), &err);
}

TEST(inputs_of_a_file_come_in_turn)
{
    static const float data[] = { 1.5F, -2, 1e30F, 0, 7 };
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct input_fill f;

    v.launch = copy_and_keep;
    fill_from(&f, data, 5);
    struct measurement m = measure_filled(&f, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_non_null(strstr(m.bench.key, "/warm+file-"));
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        assert_true(found[i] == data[i % 5]);
    measurement_release(&m);
    v.dtype = DTYPE_FP16;
    m = measure_filled(&f, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "element 2 of ");
    assert_says(&m, "beyond what fp16 holds");
    measurement_release(&m);
    input_fill_release(&f);
}

/* Each tensor by its name; the rest is as ever. */
TEST(inputs_of_single_tensors)
{
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct input_fill known = { .kind = INPUT_EACH }, unknown = { .kind = INPUT_EACH };
    struct error err;

    v.launch = copy_and_keep;
    assert_ok(input_fill_add(&known, "x", input_fill_find("zeros"), &err), &err);
    struct measurement m = measure_filled(&known, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_string_equal(m.bench.key, "null/copy/right/fp32/batch=4,seq=16/fake/warm+x=zeros");
    assert_true(mean_square() == 0);
    measurement_release(&m);
    assert_ok(input_fill_add(&unknown, "weight", input_fill_find("zeros"), &err), &err);
    m = measure_filled(&unknown, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "--fill: \"weight\" is none of its tensors of random numbers: x");
    measurement_release(&m);
    input_fill_release(&known);
    input_fill_release(&unknown);
}

static int tokens_layout(const struct kernel *k, const struct shape *s, enum dtype dtype,
                         struct tensor *t)
{
    int nr = registry_kernel(registry_builtin(), "null/copy")->layout(k, s, dtype, t);

    t[0].fill = FILL_CONST;
    return nr;
}

/* A benchmark whose key said "zeros" and that had none would be a lie. */
TEST(inputs_that_nothing_fills_are_refused)
{
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct kernel k = *v.kernel;

    k.layout = tokens_layout;
    v.kernel = &k;
    struct measurement m = measure_filled(input_fill_find("zeros"), &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "--fill zeros: none of its inputs is of random numbers");
    measurement_release(&m);
}

static void huge_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                        int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    for (int64_t i = 0; i < (int64_t)nr_rows * s->dim[1]; i++)
        expected[i] = 1e39;
}

TEST(results_beyond_their_type_are_nobodys_fault)
{
    static const float data[] = { 3e38F };
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct kernel k = *v.kernel;
    struct input_fill f;

    k.oracle = huge_oracle;
    v.kernel = &k;
    fill_from(&f, data, 1);
    struct measurement m = measure_filled(&f, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "the right result is beyond what its type holds");
    measurement_release(&m);
    input_fill_release(&f);
}

RUN_TESTS(NULL, NULL)
