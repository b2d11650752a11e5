/* SPDX-License-Identifier: MIT */
/*
 * Traces that real programs write are large: names with a number in them, deep stacks, many
 * threads. Each size here took minutes and gigabytes where work grew with its square. What comes
 * out has a limit too, and says what it leaves out. Features: S4-16, S4-24.
 */
#include "profile_trace.h"

#include "base/json.h"
#include "base/strbuf.h"
#include "profile/export.h"
#include "timeline/timeline_diff.h"
#include "timeline/timeline_layers.h"
#include "timeline/timeline_main.h"
#include "timeline/timeline_read.h"

#include <stdbool.h>
#include <sys/resource.h>

static void parse(const struct strbuf *text, struct prof_trace *trace)
{
    struct error err;

    assert_ok(timeline_parse(text->data, text->length, "a text", trace, &err), &err);
}

/* The i-th event of a text. */
typedef void event_maker(struct strbuf *text, int i);

static void parse_made(event_maker *make, int nr, struct prof_trace *trace)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_addc(&text, '[');
    for (int i = 0; i < nr; i++) {
        strbuf_adds(&text, i ? "," : "");
        make(&text, i);
    }
    parse(&text, trace);
    strbuf_release(&text);
}

enum { ITERATIONS = 20000 };

static void add_iteration(struct strbuf *text, int i)
{
    strbuf_addf(text,
                "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":9,\"name\":\"iteration\"},"
                "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d,\"name\":\"step %d\"}",
                10 * i, 10 * i + 1, i == 77 ? 8 : 5, i);
}

TEST(each_iteration_with_a_name_of_its_own)
{
    struct timeline_layers layers;
    struct timeline_diff diff;
    struct prof_trace trace;
    struct error err;

    parse_made(add_iteration, ITERATIONS, &trace);
    assert_ok(timeline_layers(&trace, -1, NULL, &layers, &err), &err);
    assert_int_equal(layers.nr_iterations, ITERATIONS);
    assert_true(layers.nr * layers.nr_iterations <= TIMELINE_LAYER_VALUES);
    assert_int_equal(layers.nr + layers.nr_left_out, ITERATIONS);
    assert_non_null(timeline_layer(&layers, "step 77")); /* the longest is kept */
    for (size_t i = 0; i < layers.nr_iterations; i++) {
        int64_t sum = layers.rest_ns[i];
        for (size_t k = 0; k < layers.nr; k++)
            sum += layers.items[k].self_ns[i];
        assert_int_equal(sum, layers.ns[i]);
    }
    timeline_layers_release(&layers);
    assert_ok(timeline_diff(&trace, &trace, NULL, &diff, &err), &err);
    assert_int_equal(diff.nr_rows, ITERATIONS + 1);
    timeline_diff_release(&diff);
    prof_trace_release(&trace);
}

enum { DEEP = 100000 };

static void add_begin(struct strbuf *text, int i)
{
    strbuf_addf(text, "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":%d,\"name\":\"f%d\"}", i, i % 7);
}

static double sum_of_lines(const char *text, bool *is_cut)
{
    double sum = 0;

    *is_cut = false;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const char *blank = strchr(line, ' ');
        sum += strtod(blank, NULL);
        *is_cut |= blank - line >= 8 && !strncmp(blank - 8, "[deeper]", 8);
    }
    return sum;
}

TEST(a_hundred_thousand_nested)
{
    struct prof_summary summary;
    struct timeline_diff diff;
    struct prof_trace trace;
    struct strbuf text;
    struct error err;
    bool is_cut;

    parse_made(add_begin, DEEP, &trace);
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    assert_int_equal(summary.nr_rows, 7);
    assert_int_equal(summary.total[PROF_HOST], (DEEP - 1) * 1000);
    int64_t longest = 0; /* those inside one of the same name do not count twice */
    for (size_t i = 0; i < summary.nr_rows; i++)
        longest = summary.rows[i].total > longest ? summary.rows[i].total : longest;
    assert_int_equal(longest, (DEEP - 1) * 1000);
    char *folded = written(prof_write_folded(file, &trace, PROF_HOST));
    assert_true(strlen(folded) < PROF_FOLDED_BYTES + (1 << 20));
    assert_close(sum_of_lines(folded, &is_cut), (DEEP - 1) * 1000.0, 0);
    assert_true(is_cut);
    free(folded);
    assert_ok(timeline_diff(&trace, &trace, NULL, &diff, &err), &err);
    strbuf_init(&text);
    timeline_diff_folded(&diff, PROF_HOST, &text);
    assert_true(text.length < PROF_FOLDED_BYTES + (1 << 20));
    assert_has(text.data, "[deeper]");
    strbuf_release(&text);
    timeline_diff_release(&diff);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

enum { BESIDE = 100000 };

/* Each begins in the one before and ends after it. */
static void add_overlapping(struct strbuf *text, int i)
{
    strbuf_addf(text, "{\"ph\":\"X\",\"pid\":0,\"tid\":%d,\"ts\":%d,\"dur\":%d,\"name\":\"k\"%s}",
                i % 2, i, BESIDE, i % 2 ? ",\"cat\":\"kernel\"" : "");
}

TEST(a_hundred_thousand_side_by_side)
{
    struct prof_trace trace;

    parse_made(add_overlapping, BESIDE, &trace);
    int *lanes = calloc(trace.nr_slices, sizeof(*lanes)), highest = 0;
    assert_int_equal(prof_trace_lanes(&trace, lanes), 0);
    for (size_t i = 0; i < trace.nr_slices; i++) {
        assert_int_equal(trace.slices[i].parent, PROF_ROOT);
        highest = lanes[i] > highest ? lanes[i] : highest;
    }
    assert_int_equal(highest, BESIDE / 2 - 1);
    free(lanes);
    prof_trace_release(&trace);
}

enum { MANY_THREADS = 40000 };

static void add_thread(struct strbuf *text, int i)
{
    strbuf_addf(text,
                "{\"ph\":\"M\",\"pid\":%d,\"tid\":\"t%d\",\"name\":\"process_name\",\"args\":"
                "{\"name\":\"p%d\"}},"
                "{\"ph\":\"C\",\"pid\":%d,\"ts\":1,\"name\":\"c%d\",\"args\":{\"v\":1}},"
                "{\"ph\":\"X\",\"pid\":%d,\"tid\":\"t%d\",\"ts\":%d,\"dur\":1,\"name\":\"work\"}",
                i / 2, i, i / 2, i, i, i / 2, i, i);
}

TEST(many_threads_and_processes)
{
    struct prof_trace trace;

    parse_made(add_thread, MANY_THREADS, &trace);
    assert_int_equal(trace.nr_tracks, MANY_THREADS);
    assert_int_equal(trace.nr_counters, MANY_THREADS);
    assert_string_equal(trace.tracks[MANY_THREADS - 1].owner, "p19999");
    assert_string_equal(trace.tracks[MANY_THREADS - 1].name, "t39999");
    char *text = written(prof_write_trace(file, &trace));
    assert_has(text, "\"p19999\"");
    free(text);
    prof_trace_release(&trace);
}

/* Before any of it is parsed: the texts are none. */
TEST(larger_ones_are_refused)
{
    struct prof_trace trace;
    struct strbuf text;
    struct error err;

    strbuf_init(&text);
    for (int i = 0; i <= TIMELINE_EVENTS_MOST; i++)
        strbuf_adds(&text, "\"ph\"");
    assert_int_equal(timeline_parse(text.data, text.length, "t", &trace, &err), TIMELINE_TOO_LARGE);
    assert_string_equal(err.message,
                        "t: 3000001 events; up to 3000000 are read: record fewer "
                        "iterations, or cut it");
    strbuf_release(&text);
    assert_int_equal(timeline_parse("", TIMELINE_BYTES_MOST + 1, "t", &trace, &err),
                     TIMELINE_TOO_LARGE);
    assert_string_equal(err.message,
                        "t: 257 MiB of trace; up to 256 are read: record fewer "
                        "iterations, or cut it");
}

/* ---- no larger than what is read ---- */

enum { PAIRS = 100 };

/* Outer calls of 900 ns and more, each with an inner one of up to 100; a counter of 10 points. */
static void make_pairs(struct prof_trace *trace)
{
    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    int counter = prof_trace_counter(
        trace, &(struct prof_counter) { .process = 1, .name = "live", .unit = "bytes" });
    for (int i = 0; i < PAIRS; i++) {
        add_slice(trace, track, 1000 * i, 1000 * i + 900 + i, "outer", PROF_SCOPES);
        add_slice(trace, track, 1000 * i + 10, 1000 * i + 11 + i, "inner", PROF_SCOPES);
    }
    for (int i = 0; i < 10; i++)
        assert_int_equal(prof_trace_sample(trace, counter, 1000 * i, i), i);
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
}

/* Its text, read again: as large as may be at most, without so many slices and points. */
static void write_within(const struct prof_trace *trace, struct timeline_size most, int left_out,
                         struct prof_trace *again)
{
    struct timeline_size size;
    struct error err;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    assert_non_null(file);
    assert_int_equal(timeline_write(file, trace, &most), left_out);
    fclose(file);
    assert_ok(timeline_parse(text, length, "it", again, &err), &err);
    assert_int_equal(timeline_size(again, &size), 0);
    assert_int_equal(size.bytes, length);
    assert_true(size.events <= most.events && size.bytes <= most.bytes);
    free(text);
}

TEST(sizes_are_those_of_the_file)
{
    struct timeline_size size;
    struct prof_trace trace;

    make_pairs(&trace);
    char *all = written(prof_write_trace(file, &trace));
    assert_int_equal(timeline_size(&trace, &size), 0);
    assert_int_equal(size.bytes, strlen(all));
    assert_int_equal(size.events,
                     4 + 4 + 2 * 2 * PAIRS + 10); /* around them, names, ends, points */
    char *same = written(timeline_write(file, &trace, &size));
    assert_string_equal(same, all);
    free(same);
    same = written(timeline_write(file, &trace, NULL));
    assert_string_equal(same, all);
    free(same);
    free(all);
    prof_trace_release(&trace);
}

TEST(the_shortest_calls_are_left_out)
{
    struct prof_trace trace, again;

    make_pairs(&trace);
    write_within(&trace, (struct timeline_size) { 350, 1 << 20 }, 38, &again);
    assert_int_equal(count_named(&again, "outer"), PAIRS);
    assert_int_equal(count_named(&again, "inner"), 62);
    assert_string_equal(parent_name(&again, slice_named(&again, "inner")), "outer");
    assert_int_equal(slice_named(&again, "inner")->duration, 39);
    assert_int_equal(again.nr_samples, 10);
    assert_string_equal(
        again.meta.note,
        "left out, for the size of the file: the 38 shortest calls, of up to 38 ns");
    prof_trace_release(&again);

    trace.meta.note = prof_trace_text(&trace, "known before");
    write_within(&trace, (struct timeline_size) { 150, 1 << 20 }, 136, &again);
    assert_int_equal(count_named(&again, "outer"), 64);
    assert_int_equal(again.slices[0].duration, 936);
    assert_string_equal(again.meta.note,
                        "known before; left out, for the size of the file: the "
                        "136 shortest calls, of up to 935 ns");
    prof_trace_release(&again);
    prof_trace_release(&trace);
}

/* By bytes alone, and where nothing but the names of the file has room. */
TEST(however_small_the_file)
{
    struct timeline_size size;
    struct prof_trace trace, again;
    char *text = NULL;
    size_t length = 0;

    make_pairs(&trace);
    assert_int_equal(timeline_size(&trace, &size), 0);
    FILE *file = open_memstream(&text, &length);
    int left_out = timeline_write(file, &trace, &(struct timeline_size) { 1000, size.bytes / 2 });
    fclose(file);
    assert_in_range(left_out, PAIRS - 10, PAIRS + 40);
    assert_true(length <= size.bytes / 2);
    free(text);
    text = NULL;
    file = open_memstream(&text, &length);
    assert_int_equal(timeline_write(file, &trace, &(struct timeline_size) { 10, 10 }),
                     2 * PAIRS + 10);
    fclose(file);
    parse(&(struct strbuf) { .data = text, .length = length }, &again);
    assert_int_equal(again.nr_slices + again.nr_samples, 0);
    free(text);
    prof_trace_release(&again);
    prof_trace_release(&trace);
}

/* Whole: with some of its points it would tell another course. */
TEST(a_counter_of_many_points_is_left_out)
{
    struct prof_trace trace, again;

    make_pairs(&trace);
    int crowded = prof_trace_counter(
        &trace, &(struct prof_counter) { .process = 1, .name = "HtoD", .unit = "GB/s" });
    for (int i = 0; i < 1000; i++)
        assert_true(prof_trace_sample(&trace, crowded, 100 * i, i) >= 0);
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    write_within(&trace, (struct timeline_size) { 600, 1 << 20 }, 1000, &again);
    assert_int_equal(again.nr_slices, 2 * PAIRS);
    assert_int_equal(again.nr_samples, 10);
    assert_string_equal(again.meta.note,
                        "left out, for the size of the file: 1000 points of counters");
    prof_trace_release(&again);
    write_within(&trace, (struct timeline_size) { 350, 1 << 20 }, 1000 + 38, &again);
    assert_has(again.meta.note, "38 shortest calls, of up to 38 ns, and 1000 points of counters");
    prof_trace_release(&again);
    prof_trace_release(&trace);
}

/* What a few bytes of gzip unfold to: a value that is no event takes no memory, in whichever place
 * it stands. */
TEST(values_without_end_are_refused)
{
    static const char *const heads[] = { "{\"traceEvents\":[],\"x\":[", "[{\"ph\":\"i\",\"args\":[",
                                         "{\"traceEvents\":[[" };

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct rusage before, after;
        struct prof_trace trace;
        struct strbuf text;
        struct error err;
        strbuf_init(&text);
        strbuf_adds(&text, heads[i]);
        for (size_t k = 0; k < 3 * JSON_VALUES_MOST; k++)
            strbuf_adds(&text, "0,");
        getrusage(RUSAGE_SELF, &before);
        assert_int_equal(timeline_parse(text.data, text.length, "t", &trace, &err), -1);
        getrusage(RUSAGE_SELF, &after);
        assert_has(err.message, "t: line 1, column ");
        assert_has(err.message, "more than 2097152 values in one event, or beside them");
        assert_true(after.ru_maxrss - before.ru_maxrss < 64 << 10); /* KiB */
        strbuf_release(&text);
    }
}

RUN_TESTS(NULL, NULL)
