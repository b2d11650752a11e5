/* SPDX-License-Identifier: MIT */
/* Scopes on one thread: nesting, early return, longjmp, room, switching, sampling, own instances.
 * Features: S3-02, S4-01, S4-03, S4-04, S4-12, S4-13, S4-14. */
#include "profile_testing.h"

#include <errno.h>
#include <time.h>

static struct prof *prof; /* of the test under way */

static int set_up(void **state)
{
    (void)state;
    prof = create_on(NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    prof_free(prof);
    return 0;
}

struct scope_row {
    const char *name, *parent; /* "": of none */
    unsigned flags;
    size_t nr;
};

/* So many of each row, to the first without a name, and no others. */
static void check_scopes_of(const struct prof_trace *trace, const struct scope_row *rows)
{
    size_t all = 0;

    for (size_t i = 0; rows[i].name; i++) {
        size_t found = 0;
        for (size_t k = 0; k < trace->nr_slices; k++) {
            const struct prof_slice *s = &trace->slices[k];
            found += strcmp(s->name, rows[i].name) == 0 && s->flags == rows[i].flags &&
                     strcmp(parent_name(trace, s), rows[i].parent) == 0;
        }
        if (found != rows[i].nr)
            fail_msg("%zu of %s in \"%s\" with flags %u, expected %zu", found, rows[i].name,
                     rows[i].parent, rows[i].flags, rows[i].nr);
        all += found;
    }
    assert_int_equal(trace->nr_slices, all);
}

static void check_scopes(struct prof *from, const struct scope_row *rows)
{
    struct prof_trace trace;

    take_snapshot(from, &trace);
    check_scopes_of(&trace, rows);
    prof_trace_release(&trace);
}

#define ROWS(...) ((const struct scope_row[]) { __VA_ARGS__, { .name = NULL } })

static int leaves_early(int when)
{
    PROF_SCOPE_IN(prof, "outer", .bytes = 10, .flops = 20, .backend = "cpu");
    for (int i = 0;; i++) {
        PROF_SCOPE_IN(prof, "inner");
        if (i == when)
            return i;
    }
}

#define SCOPE_TEST(name) TEST_WITH(name, set_up, tear_down)

SCOPE_TEST(scopes_nest_and_end_at_every_return)
{
    struct prof_trace trace;

    assert_int_equal(leaves_early(0), 0);
    assert_int_equal(leaves_early(3), 3);
    assert_int_equal(prof_depth(prof), 0);
    take_snapshot(prof, &trace);
    check_scopes_of(&trace, ROWS({ "outer", "", 0, 2 }, { "inner", "outer", 0, 1 + 4 }));
    const struct prof_slice *outer = slice_named(&trace, "outer");
    assert_int_equal(outer->bytes, 10);
    assert_true(outer->flops > 19.5 && outer->flops < 20.5);
    assert_string_equal(outer->backend, "cpu");
    assert_int_equal(outer->memory_peak, -1);
    prof_trace_release(&trace);
}

static void function_of_that_name(void)
{
    PROF_FUNCTION();
    PROF_INSTANT("step");
}

SCOPE_TEST(the_global_one_is_off_until_it_is_on)
{
    function_of_that_name();
    assert_int_equal(prof_set_on(prof_global(), 1), 0);
    function_of_that_name();
    prof_set_on(prof_global(), 0);
    function_of_that_name();
    check_scopes(prof_global(), ROWS({ "function_of_that_name", "", 0, 1 },
                                     { "step", "function_of_that_name", PROF_INSTANT_POINT, 1 }));
}

SCOPE_TEST(a_scope_ends_though_it_was_switched_off_inside)
{
    {
        PROF_SCOPE_IN(prof, "on at the begin");
        prof_set_on(prof, 0);
        PROF_SCOPE_IN(prof, "off at the begin");
        prof_set_on(prof, 1);
    }
    check_scopes(prof, ROWS({ "on at the begin", "", 0, 1 }));
}

SCOPE_TEST(open_scopes_end_at_the_snapshot)
{
    static const struct prof_site site = { "open", "", "", 0 };
    struct prof_trace trace;

    struct prof_scope scope = prof_begin(prof, &site, NULL);
    take_snapshot(prof, &trace);
    check_scopes_of(&trace, ROWS({ "open", "", PROF_OPEN, 1 }));
    assert_int_equal(trace.slices[0].start + trace.slices[0].duration, trace.meta.end);
    prof_trace_release(&trace);
    prof_end(&scope);
    prof_end(&scope); /* a second time does nothing */
    check_scopes(prof, ROWS({ "open", "", 0, 1 }));
}

SCOPE_TEST(ending_the_outer_one_ends_the_inner_one)
{
    static const struct prof_site sites[] = { { "outer", "", "", 0 },
                                              { "inner", "", "", 0 },
                                              { "next", "", "", 0 } };

    struct prof_scope outer = prof_begin(prof, &sites[0], NULL);
    struct prof_scope inner = prof_begin(prof, &sites[1], NULL);
    prof_end(&outer);
    struct prof_scope next = prof_begin(prof, &sites[2], NULL);
    prof_end(&inner); /* too late: `next` goes on */
    assert_int_equal(prof_depth(prof), 1);
    prof_end(&next);
    check_scopes(prof, ROWS({ "outer", "", 0, 1 }, { "inner", "outer", PROF_UNWOUND, 1 },
                            { "next", "", 0, 1 }));
}

static void jumps(jmp_buf *back)
{
    PROF_SCOPE_IN(prof, "left");
    PROF_SCOPE_IN(prof, "left, too");
    longjmp(*back, 1);
}

/* Both ways: a scope around it ends what was left, or prof_unwind() does. */
SCOPE_TEST(scopes_left_by_longjmp_are_marked)
{
    jmp_buf back;

    {
        PROF_SCOPE_IN(prof, "around");
        if (setjmp(back) == 0)
            jumps(&back);
        PROF_SCOPE_IN(prof, "behind, taken as nested");
    }
    if (setjmp(back) == 0)
        jumps(&back);
    assert_int_equal(prof_depth(prof), 2);
    prof_unwind(prof, 0);
    {
        PROF_SCOPE_IN(prof, "after");
    }
    assert_int_equal(prof_depth(prof), 0);
    check_scopes(prof, ROWS({ "around", "", 0, 1 }, { "left", "around", PROF_UNWOUND, 1 },
                            { "left, too", "left", PROF_UNWOUND, 2 },
                            { "behind, taken as nested", "left, too", 0, 1 },
                            { "left", "", PROF_UNWOUND, 1 }, { "after", "", 0, 1 }));
}

SCOPE_TEST(what_finds_no_room_is_counted)
{
    struct prof *small = create_on(&(struct prof_options) { .records = 100 });
    struct prof_trace trace;

    for (int i = 0; i < 70; i++) {
        PROF_SCOPE_IN(small, "outer");
        PROF_SCOPE_IN(small, "inner");
    }
    PROF_INSTANT_IN(small, "point");
    take_snapshot(small, &trace);
    assert_int_equal(trace.nr_slices, 100);
    assert_int_equal(trace.meta.dropped, 41);
    prof_trace_release(&trace);

    prof_clear(small);
    take_snapshot(small, &trace);
    assert_int_equal(trace.nr_slices + trace.meta.dropped, 0);
    prof_trace_release(&trace);
    {
        PROF_SCOPE_IN(small, "again");
    }
    take_snapshot(small, &trace);
    assert_int_equal(trace.nr_slices, 1);
    assert_int_equal(trace.meta.dropped, 0);
    prof_trace_release(&trace);
    prof_free(small);
}

SCOPE_TEST(clearing_inside_a_scope_waits_for_its_end)
{
    struct prof_trace trace;

    {
        PROF_SCOPE_IN(prof, "before");
        prof_clear(prof);
        PROF_SCOPE_IN(prof, "inside the old one");
    }
    {
        PROF_SCOPE_IN(prof, "new");
    }
    take_snapshot(prof, &trace);
    check_scopes_of(&trace, ROWS({ "new", "", 0, 1 }));
    assert_true(trace.slices[0].start >= trace.meta.start);
    prof_trace_release(&trace);
}

static size_t sampled(double rate, uint64_t seed, size_t *skipped)
{
    struct prof *own = create_on(&(struct prof_options) { .rate = rate, .seed = seed });
    struct prof_trace trace;

    for (int i = 0; i < 20000; i++) {
        PROF_SCOPE_IN(own, "outer");
        PROF_SCOPE_IN(own, "inner");
    }
    take_snapshot(own, &trace);
    size_t nr = count_named(&trace, "outer");
    assert_int_equal(count_named(&trace, "inner"), nr); /* the nesting stays whole */
    assert_true(fabs(trace.meta.rate - rate) < 1e-12);
    *skipped = trace.meta.skipped;
    prof_trace_release(&trace);
    prof_free(own);
    return nr;
}

/* Binomial: 20000 draws at 0.1 are 2000 with a standard deviation of 42.4; five of them. */
SCOPE_TEST(one_in_ten_is_sampled)
{
    size_t skipped, sum = 0;

    for (uint64_t seed = 1; seed <= 5; seed++) {
        size_t nr = sampled(0.1, seed, &skipped);
        assert_int_equal(nr + skipped, 20000);
        assert_true(nr > 2000 - 212 && nr < 2000 + 212);
        sum += nr;
    }
    assert_true(sum > 10000 - 475 && sum < 10000 + 475);
    assert_int_equal(sampled(0.1, 1, &skipped), sampled(0.1, 1, &skipped));
    assert_int_not_equal(sampled(0.1, 1, &skipped), sampled(0.1, 2, &skipped));
}

SCOPE_TEST(a_rate_is_within_0_and_1)
{
    struct prof_trace trace;

    errno = 0;
    assert_int_equal(prof_set_sampling(prof, 1.5, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(prof_set_sampling(prof, NAN, 0), -1);
    assert_int_equal(prof_set_sampling(prof, 0, 0), 0);
    leaves_early(5);
    take_snapshot(prof, &trace);
    assert_int_equal(trace.nr_slices, 0);
    assert_int_equal(trace.meta.skipped, 1);
    prof_trace_release(&trace);
}

SCOPE_TEST(instances_know_nothing_of_each_other)
{
    enum { NR = 9 }; /* more than a thread remembers */
    struct prof *own[NR];
    struct prof_trace trace;

    for (int i = 0; i < NR; i++)
        own[i] = create_on(NULL);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < NR; i++) {
            PROF_SCOPE_IN(own[i], "own");
            PROF_SCOPE_IN(own[0], "of the first");
        }
    }
    for (int i = 0; i < NR; i++) {
        take_snapshot(own[i], &trace);
        assert_int_equal(count_named(&trace, "own"), 10);
        assert_int_equal(count_named(&trace, "of the first"), i ? 0 : 10 * NR);
        assert_int_equal(trace.nr_tracks, 1);
        prof_trace_release(&trace);
        prof_free(own[i]);
    }
}

SCOPE_TEST(names_known_at_run_time_are_kept)
{
    struct prof_trace trace;
    char name[32];

    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "layer %d", i % 2);
        struct prof_scope scope = prof_begin(prof, prof_site_named(prof, name), NULL);
        prof_end(&scope);
    }
    assert_ptr_equal(prof_site_named(prof, "layer 0"), prof_site_named(prof, "layer 0"));
    take_snapshot(prof, &trace);
    assert_int_equal(count_named(&trace, "layer 0"), 2);
    assert_int_equal(count_named(&trace, "layer 1"), 2);
    prof_trace_release(&trace);
}

/* Against the clock itself, which brackets the scope. */
SCOPE_TEST(times_are_those_of_the_monotonic_clock)
{
    struct prof_trace trace;
    struct timespec before, after, pause = { 0, 20000000 };

    clock_gettime(CLOCK_MONOTONIC, &before);
    {
        PROF_SCOPE_IN(prof, "sleep");
        nanosleep(&pause, NULL);
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    take_snapshot(prof, &trace);
    int64_t from = (int64_t)before.tv_sec * 1000000000 + before.tv_nsec;
    int64_t to = (int64_t)after.tv_sec * 1000000000 + after.tv_nsec;
    const struct prof_slice *s = &trace.slices[0];
    assert_true(s->start >= from - 1000 && s->start + s->duration <= to + 1000);
    assert_true(s->duration >= pause.tv_nsec - 1000);
    prof_trace_release(&trace);
}

RUN_TESTS(NULL, NULL)
