/* SPDX-License-Identifier: MIT */
/* The scopes API from C++: macros with and without attributes, exceptions. Features: S4-03, S4-04.
 */
extern "C" {
#include "profile_testing.h"
}

#include "profile/export.h"

#include <stdexcept>

static struct prof *prof;

static void throws()
{
    PROF_SCOPE_IN(prof, "throws", .device = PROF_CPU, .bytes = 12);
    throw std::runtime_error("out");
}

TEST(an_exception_ends_its_scopes)
{
    struct prof_trace trace;

    prof = create_on(nullptr);
    try {
        PROF_SCOPE_IN(prof, "outer");
        throws();
    } catch (const std::runtime_error &) {
        PROF_INSTANT_IN(prof, "caught");
    }
    assert_int_equal(prof_depth(prof), 0);
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_slices, 3);
    assert_int_equal(slice_named(&trace, "throws")->bytes, 12);
    assert_int_equal(slice_named(&trace, "throws")->flags, 0);
    prof_trace_release(&trace);
    prof_free(prof);
}

RUN_TESTS(nullptr, nullptr)
