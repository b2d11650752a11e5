/* SPDX-License-Identifier: MIT */
/* Two profiles side by side (S4-30, S4-31, S4-33): by operation, and as stacks. */
#include "profile_trace.h"

#include "timeline/timeline_diff.h"

static const struct diff_row *row(const struct timeline_diff *diff, enum prof_side side,
                                  const char *name)
{
    for (size_t i = 0; i < diff->nr_rows; i++) {
        if (diff->rows[i].side == side && !strcmp(diff->rows[i].name, name))
            return &diff->rows[i];
    }
    fail_msg("no row %s", name);
    return NULL;
}

/* What an operation takes before and after: the median on the host, the mean on a device. */
struct expected_row {
    enum prof_side side;
    const char *name;
    double time[2], share;
};

static void check_rows(const struct timeline_diff *diff, const struct expected_row *rows, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        const struct diff_row *r = row(diff, rows[i].side, rows[i].name);
        for (int w = 0; w < 2; w++)
            assert_close(r->side == PROF_HOST ? r->median[w] : r->self[w], rows[i].time[w], 0);
        assert_close(r->change, rows[i].time[1] - rows[i].time[0], 0);
        assert_close(r->share, rows[i].share, 0);
    }
}

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* `n` passes of 100: "a" 0-40, then "b" or "c d" 40-(40 + last). */
static void make(struct prof_trace *trace, int n, const char *name, int64_t last)
{
    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    int stream = prof_trace_track(trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM });
    for (int64_t i = 0; i < n; i++) {
        add_slice(trace, track, 1000 * i, 1000 * i + 100, "pass", PROF_SCOPES);
        add_slice(trace, track, 1000 * i, 1000 * i + 40, "a", PROF_SCOPES);
        add_slice(trace, track, 1000 * i + 40, 1000 * i + 40 + last, name, PROF_SCOPES);
        add_slice(trace, stream, 1000 * i, 1000 * i + last, "kernel", PROF_KERNELS);
    }
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
}

static void take(struct prof_trace *before, struct prof_trace *after, const double *iterations,
                 struct timeline_diff *diff)
{
    struct error err;

    assert_ok(timeline_diff(before, after, iterations, diff, &err), &err);
    prof_trace_release(before);
    prof_trace_release(after);
}

/* "b" takes 50 a pass instead of 20. */
static void take_slower(struct timeline_diff *diff)
{
    struct prof_trace before, after;

    make(&before, 10, "b", 20);
    make(&after, 5, "b", 50);
    take(&before, &after, NULL, diff);
}

/* Numbers are per pass, and of 10 on one side, 5 on the other. */
TEST(by_operation)
{
    static const struct expected_row rows[] = {
        { PROF_HOST, "b", { 20, 50 }, 0.5 },
        { PROF_HOST, "pass", { 40, 10 }, -0.5 }, /* it lost as much */
        { PROF_HOST, "a", { 40, 40 }, 0 },
        { PROF_DEVICE, "kernel", { 20, 50 }, 1 },
    };
    struct timeline_diff diff;

    take_slower(&diff);
    assert_true(diff.iterations[0] == 10 && diff.iterations[1] == 5);
    assert_int_equal(diff.nr_rows, COUNT(rows));
    check_rows(&diff, rows, COUNT(rows));
    const struct diff_row *b = row(&diff, PROF_HOST, "b");
    assert_true(b->calls[0] == 1 && b->self[0] == 20 && b->self[1] == 50);
    assert_close(row(&diff, PROF_HOST, "pass")->total[1], 100, 0);
    timeline_diff_release(&diff);
}

TEST(by_side)
{
    struct timeline_diff diff;

    take_slower(&diff);
    assert_close(diff.total[PROF_HOST][0], 100, 0);
    assert_close(diff.total[PROF_DEVICE][1], 50, 0);
    assert_int_equal(diff.rows[3].side, PROF_DEVICE);
    assert_string_equal(diff.rows[2].name, "a"); /* the least change */
    timeline_diff_release(&diff);
}

/* Passes of a 40 and b `b`, and one, the eighth, that stood still for 5000 outside of both. */
static void make_with_a_stall(struct prof_trace *trace, int64_t b, int64_t stall)
{
    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    for (int64_t i = 0; i < 30; i++) {
        int64_t at = 10000 * i, end = at + 40 + b + i % 3;
        add_slice(trace, track, at, at + 40, "a", PROF_SCOPES);
        add_slice(trace, track, at + 40, end, "b", PROF_SCOPES);
        add_slice(trace, track, at, end + 10 + (i == 7 ? stall : 0), "pass", PROF_SCOPES);
    }
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
}

/* By the mean the pass itself would be blamed: it takes 167 more, b 30. */
TEST(a_stall_is_not_blamed_for_all)
{
    static const struct expected_row rows[] = {
        { PROF_HOST, "b", { 51, 81 }, 1 },
        { PROF_HOST, "pass", { 10, 10 }, 0 },
        { PROF_HOST, "a", { 40, 40 }, 0 },
    };
    struct prof_trace before, after;
    struct timeline_diff diff;

    make_with_a_stall(&before, 50, 0);
    make_with_a_stall(&after, 80, 5000);
    take(&before, &after, NULL, &diff);
    const struct diff_row *b = row(&diff, PROF_HOST, "b"), *pass = row(&diff, PROF_HOST, "pass");
    assert_ptr_equal(b, &diff.rows[0]);
    check_rows(&diff, rows, COUNT(rows));
    assert_true(b->change_of[0] < 30 && b->change_of[0] > 27);
    assert_true(b->change_of[1] > 30 && b->change_of[1] < 33);
    assert_close(pass->self[1] - pass->self[0], 5000 / 30.0, 1e-9);
    assert_true(diff.iteration[0] == 101 && diff.iteration[1] == 131);
    assert_true(isnan(row(&diff, PROF_HOST, "a")->change_of[0]) ==
                isnan(b->change_of[0])); /* either has its iterations */
    timeline_diff_release(&diff);
}

/* Steps of a "loss" that waits for a thread of its own, whose backward pass takes `ns`. */
static void make_with_backward(struct prof_trace *trace, int64_t ns)
{
    prof_trace_init(trace);
    int main = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    int engine = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 2 });
    for (int64_t i = 0; i < 8; i++) {
        int64_t at = 10000 * i;
        add_slice(trace, main, at, at + 90 + ns, "step", PROF_SCOPES);
        int forward = add_slice(trace, main, at, at + 80, "forward", PROF_SCOPES);
        add_slice(trace, main, at + 80, at + 90 + ns, "loss", PROF_SCOPES);
        int backward = add_slice(trace, engine, at + 85, at + 85 + ns, "MmBackward0", PROF_SCOPES);
        assert_true(prof_trace_flow(trace, forward, backward) >= 0);
    }
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
}

/* A step takes 80 more, not 80 of the pass and 80 of what waits for it. */
TEST(a_backward_pass_is_counted_once)
{
    static const struct expected_row rows[] = {
        { PROF_HOST, "MmBackward0", { 80, 160 }, 1 },
        { PROF_HOST, "loss", { 10, 10 }, 0 },
    };
    struct prof_trace before, after;
    struct timeline_diff diff;

    make_with_backward(&before, 80);
    make_with_backward(&after, 160);
    take(&before, &after, NULL, &diff);
    check_rows(&diff, rows, COUNT(rows));
    assert_ptr_equal(row(&diff, PROF_HOST, "MmBackward0"), &diff.rows[0]);
    assert_close(row(&diff, PROF_HOST, "loss")->self[1], 10, 0);
    assert_close(diff.iteration[1] - diff.iteration[0], 80, 0);
    timeline_diff_release(&diff);
}

/* An operation that came and one that went. */
TEST(by_stack)
{
    struct prof_trace before, after;
    struct timeline_diff diff;
    struct strbuf folded;

    make(&before, 2, "b", 20);
    make(&after, 2, "c d;\xe9", 30);
    take(&before, &after, (double[]) { 1, 1 }, &diff);
    assert_int_equal(diff.nr_frames[PROF_HOST], 4);
    const struct diff_frame *frames = diff.frames[PROF_HOST];
    assert_string_equal(frames[0].name, "pass");
    assert_int_equal(frames[0].parent, -1);
    assert_true(frames[0].total[0] == 200 && frames[0].total[1] == 200);
    assert_string_equal(frames[2].name, "b");
    assert_int_equal(frames[2].depth, 1);
    assert_int_equal(frames[2].parent, 0);
    assert_close(frames[2].self[1], 0, 0);
    strbuf_init(&folded);
    timeline_diff_folded(&diff, PROF_HOST, &folded);
    assert_string_equal(folded.data,
                        "pass 80 60\n"
                        "pass;a 80 80\n"
                        "pass;b 40 0\n"
                        "pass;c_d_? 0 60\n");
    strbuf_clear(&folded);
    timeline_diff_folded(&diff, PROF_DEVICE, &folded);
    assert_string_equal(folded.data, "kernel 40 60\n");
    strbuf_release(&folded);
    timeline_diff_release(&diff);
}

TEST(of_the_same)
{
    struct prof_trace before, after;
    struct timeline_diff diff;

    make_trace(&before);
    make_trace(&after);
    take(&before, &after, NULL, &diff);
    for (size_t i = 0; i < diff.nr_rows; i++) {
        assert_close(diff.rows[i].change, 0, 0);
        assert_close(diff.rows[i].share, 0, 0);
    }
    assert_close(diff.total[PROF_HOST][0], 800, 0); /* 1600 in two iterations */
    timeline_diff_release(&diff);
    prof_trace_init(&before);
    prof_trace_init(&after);
    take(&before, &after, NULL, &diff);
    assert_int_equal(diff.nr_rows + diff.nr_frames[PROF_HOST], 0);
    timeline_diff_release(&diff);
}

RUN_TESTS(NULL, NULL)
