/* SPDX-License-Identifier: MIT */
/* Where errors are measured of sizes that the textbook loops take too long at, and what is said
 * where they cannot be. */
#include "testing.h"

#include "core/registry.h"
#include "judge/textbook.h"

struct size_case {
    const char *kernel;
    struct shape whole, size; /* size of none: there is none */
};

static const struct size_case size_cases[] = {
    /* Quick itself: 2 * 33 * 40 * 48 FLOPs. */
    { "gemm/nt", { { 1, 33, 40, 48 } }, { { 1, 33, 40, 48 } } },
    /* 3.1e8 FLOPs, halved once. Sums stay as long as they are. */
    { "gemm/nt", { { 1, 640, 640, 384 } }, { { 1, 320, 640, 384 } } },
    { "gemm/nt", { { 1, 64, 4096, 4096 } }, { { 1, 64, 512, 4096 } } },
    { "gemm/nt", { { 64, 64, 64, 4096 } }, { { 32, 32, 32, 4096 } } },
    /* Of sums so long that the outputs which are left are few. */
    { "gemm/nt", { { 1, 8, 8, 50000000 } }, { { 0 } } },
};

TEST(where_errors_are_as_large)
{
    for (size_t i = 0; i < sizeof(size_cases) / sizeof(size_cases[0]); i++) {
        const struct size_case *c = &size_cases[i];
        struct judge_job job = { .spec = registry_kernel(registry_builtin(), c->kernel),
                                 .dtype = DTYPE_FP32,
                                 .math = MATH_FP32 };
        struct shape size;
        bool found = textbook_size(&job, &c->whole, &size);
        assert_int_equal(found, c->size.dim[0] != 0);
        if (found && !shape_equal(&size, &c->size))
            fail_msg("case %zu: %lld %lld %lld %lld", i, (long long)size.dim[0],
                     (long long)size.dim[1], (long long)size.dim[2], (long long)size.dim[3]);
    }
}

/* Attention over as many tokens as before, whatever else is smaller. */
TEST(what_errors_depend_on_stays)
{
    struct judge_job job = { .spec = registry_kernel(registry_builtin(), "attention/full"),
                             .dtype = DTYPE_FP32,
                             .math = MATH_FP32 };
    const struct shape whole = { { 16, 1024, 8, 64 } };
    struct shape size;

    assert_true(textbook_size(&job, &whole, &size));
    assert_int_equal(size.dim[1], whole.dim[1]);
    assert_true(job.spec->work(job.spec, &size, DTYPE_FP32, MATH_FP32).flops < 3e8);
}

/* "valid" is not said as surely of sizes whose precision nobody has looked at. */
TEST(unchecked_precision_is_told)
{
    static const struct {
        bool unchecked;
        int missing;
        bool confident;
    } rows[] = { { false, 0, true }, { true, 0, false }, { false, 1, false }, { true, 1, false } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct judgement j = { .shapes = ARRAY_EMPTY };
        *array_push(&j.shapes) = (struct judged_shape) { .round = 0 };
        *array_push(&j.shapes) = (struct judged_shape) { .precision_unchecked = rows[i].unchecked,
                                                         .middle = { .missing = rows[i].missing } };
        assert_int_equal(judgement_unchecked(&j), rows[i].unchecked);
        assert_int_equal(judgement_confident(&j), rows[i].confident);
        judgement_release(&j);
    }
}

RUN_TESTS(NULL, NULL)
