/* SPDX-License-Identifier: MIT */
/* Traces at rest and the files made of them, read back by another parser. Features: S4-11, S3-08,
 * S4-23, S4-29. */
#include "profile_testing.h"

#include "profile/export.h"
#include "profile_trace.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdbool.h>

static const char *text_of(const cJSON *event, const char *member)
{
    return cJSON_GetObjectItem(event, member)->valuestring;
}

static const char *phase_of(const cJSON *event)
{
    return text_of(event, "ph");
}

static double number_of(const cJSON *event, const char *member)
{
    const cJSON *item = cJSON_GetObjectItem(event, member);

    if (!cJSON_IsNumber(item))
        fail_msg("no number %s in an event", member);
    return item->valuedouble;
}

/* Whole ns, though they are written as us. */
static int64_t ns_of(const cJSON *event, const char *member)
{
    double ns = number_of(event, member) * 1000;

    assert_close(ns, nearbyint(ns), 1e-3);
    return (int64_t)llrint(ns);
}

static const cJSON *find_flow(const cJSON *events, const char *phase, int id)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, events)
    {
        if (!strcmp(phase_of(event), phase) && (int)number_of(event, "id") == id)
            return event;
    }
    fail_msg("flow %d has no %s", id, phase);
    return NULL;
}

static void check_flows(const cJSON *events, const struct prof_trace *trace)
{
    for (size_t i = 0; i < trace->nr_flows; i++) {
        const cJSON *from = find_flow(events, "s", (int)i + 1);
        const cJSON *to = find_flow(events, "f", (int)i + 1);
        assert_int_equal(ns_of(from, "ts"),
                         trace->slices[trace->flows[i].from].start - trace->meta.start);
        assert_int_equal(ns_of(to, "ts"),
                         trace->slices[trace->flows[i].to].start - trace->meta.start);
        assert_string_equal(text_of(to, "bp"), "e");
        assert_string_equal(text_of(to, "cat"), "ac2g");
    }
}

/* The same but for what is not ASCII, which may have become question marks. */
static void assert_name(const char *in_file, const char *name)
{
    assert_int_equal(strlen(in_file), strlen(name));
    for (; *name; name++, in_file++)
        assert_int_equal(*in_file, (unsigned char)*name < 0x80 ? *name : '?');
}

/* What is open on the threads of a file, the innermost of each last. */
struct open_slices {
    struct {
        double process, thread;
        size_t slice;
    } items[64];
    size_t nr;
};

/* The innermost that is open on the thread of the event; -1: none is. */
static int innermost(const struct open_slices *open, const cJSON *event)
{
    int i = (int)open->nr - 1;

    while (i >= 0 && (open->items[i].process != number_of(event, "pid") ||
                      open->items[i].thread != number_of(event, "tid")))
        i--;
    return i;
}

static void begin_slice(struct open_slices *open, const cJSON *event, size_t slice)
{
    assert_true(open->nr < sizeof(open->items) / sizeof(open->items[0]));
    open->items[open->nr].process = number_of(event, "pid");
    open->items[open->nr].thread = number_of(event, "tid");
    open->items[open->nr++].slice = slice;
}

/* The end is that of what began last: so slices of a thread nest. */
static void end_slice(struct open_slices *open, const cJSON *event, const struct prof_trace *trace)
{
    int i = innermost(open, event);

    assert_true(i >= 0);
    const struct prof_slice *s = &trace->slices[open->items[i].slice];
    assert_int_equal(ns_of(event, "ts"), s->start + s->duration - trace->meta.start);
    assert_name(text_of(event, "name"), s->name);
    memmove(&open->items[i], &open->items[i + 1],
            (--open->nr - (size_t)i) * sizeof(open->items[0]));
}

/* None begins before what ended or began before it on its thread, and each lies within what is
 * open.
 */
static void check_slices(const cJSON *events, const struct prof_trace *trace)
{
    struct open_slices open = { .nr = 0 };
    const cJSON *event;
    size_t nr = 0, samples = 0;

    cJSON_ArrayForEach(event, events)
    {
        char phase = phase_of(event)[0];
        samples += phase == 'C';
        if (phase == 'E')
            end_slice(&open, event, trace);
        if (phase != 'B' && phase != 'i')
            continue;
        assert_true(nr < trace->nr_slices);
        const struct prof_slice *s = &trace->slices[nr];
        int around = innermost(&open, event);
        assert_int_equal(phase, s->flags & PROF_INSTANT_POINT ? 'i' : 'B');
        assert_int_equal(ns_of(event, "ts"), s->start - trace->meta.start);
        assert_name(text_of(event, "name"), s->name);
        if (around >= 0) {
            const struct prof_slice *outer = &trace->slices[open.items[around].slice];
            assert_true(s->start + s->duration <= outer->start + outer->duration);
        }
        if (phase == 'B')
            begin_slice(&open, event, nr);
        nr++;
    }
    assert_int_equal(nr, trace->nr_slices);
    assert_int_equal(open.nr, 0);
    assert_int_equal(samples, trace->nr_samples);
}

/* speedscope makes arguments of a beginning a part of the name. */
static void check_arguments(const cJSON *events)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, events)
    {
        bool begins = phase_of(event)[0] == 'B';
        bool has_length =
            begins && event->next &&
            (phase_of(event->next)[0] != 'E' || ns_of(event->next, "ts") > ns_of(event, "ts"));
        if (has_length)
            assert_null(cJSON_GetObjectItem(event, "args"));
    }
}

static cJSON *parsed(const char *text)
{
    cJSON *json = cJSON_Parse(text);

    if (!json)
        fail_msg("no JSON:\n%s", text);
    return json;
}

static void check_trace_file(const struct prof_trace *trace)
{
    char *text = written(prof_write_trace(file, trace));
    cJSON *json = parsed(text);
    const cJSON *events = cJSON_GetObjectItem(json, "traceEvents");

    assert_string_equal(text_of(json, "displayTimeUnit"), "ns");
    check_slices(events, trace);
    check_arguments(events);
    check_flows(events, trace);
    cJSON_Delete(json);
    free(text);
}

#define TRACE_TEST(name) TEST_WITH_A(name, struct prof_trace, trace, prof_trace_release)

TRACE_TEST(trace_files_nest_and_pair)
{
    int lanes[16];

    make_trace(trace);
    assert_int_equal(prof_trace_lanes(trace, lanes), 0);
    for (size_t i = 0; i < trace->nr_slices; i++)
        assert_int_equal(lanes[i], strcmp(trace->slices[i].name, "copy") ? 0 : 1);
    check_trace_file(trace);
    char *text = written(prof_write_trace(file, trace));
    assert_non_null(strstr(text, "\"args\":{\"name\":\"stream 7 (2)\",\"device\":"));
    free(text);
}

/* By a clock of ten ns a mark and the scope behind it begin at once, beside each other in a third.
 */
TRACE_TEST(what_has_no_length_takes_no_room)
{
    int lanes[4];

    prof_trace_init(trace);
    int thread = prof_trace_track(trace, &(struct prof_track) { .process = 70, .thread = 71 });
    int around = add_slice(trace, thread, 100, 200, "forward", PROF_SCOPES);
    int mark = add_slice(trace, thread, 120, 120, "step", PROF_SCOPES);
    int scope = add_slice(trace, thread, 120, 150, "head", PROF_SCOPES);
    trace->slices[around].parent = PROF_ROOT;
    trace->slices[mark].parent = trace->slices[scope].parent = around;
    trace->slices[mark].flags |= PROF_INSTANT_POINT;
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
    assert_int_equal(prof_trace_lanes(trace, lanes), 0);
    for (size_t i = 0; i < trace->nr_slices; i++)
        assert_int_equal(lanes[i], 0);
    check_trace_file(trace);
}

TRACE_TEST(recorded_traces_do_too)
{
    struct prof *prof = create_on(NULL);

    for (int i = 0; i < 40; i++) {
        PROF_SCOPE_IN(prof, "a \"quoted\" \\ name\n");
        PROF_INSTANT_IN(prof, "i");
        PROF_SCOPE_IN(prof, "not UTF-8: \xff\xc3 ", .bytes = i);
        prof_memory(prof, PROF_CPU, 100 * i);
    }
    take_snapshot(prof, trace);
    char *text = written(prof_write_trace(file, trace));
    assert_non_null(strstr(text, "\"not UTF-8: ?? \""));
    free(text);
    text = written(prof_write_folded(file, trace, PROF_HOST));
    assert_non_null(strstr(text, ";not_UTF-8:_??_ "));
    for (const char *at = text; *at; at++)
        assert_true((unsigned char)*at < 0x80);
    free(text);
    check_trace_file(trace);
    prof_free(prof);
}

/* Pairs that touch, in one that ends with the second. */
TRACE_TEST(slices_touch)
{
    unsigned x = 1;
    int at = 1 << 20;

    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .kind = PROF_TRACK_THREAD });
    for (int pair = 0; pair < 500; pair++) {
        x = x * 1103515245 + 12345;
        int middle = at + 1 + (int)(x >> 8) % 90000, end = middle + 1 + (int)(x >> 4) % 900;
        add_slice(trace, track, at, end, "both", NULL);
        add_slice(trace, track, at, middle, "first", NULL);
        add_slice(trace, track, middle, end, "second", NULL);
        at = end;
    }
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
    check_trace_file(trace);
}

/* Kernels at random, overlapping at will: each gets a lane where it has room. */
TRACE_TEST(overlapping_kernels_are_taken_apart)
{
    unsigned x = 1;

    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM });
    for (int i = 0; i < 200; i++) {
        x = x * 1103515245 + 12345;
        int from = (int)(x >> 8) % 3000;
        add_slice(trace, track, from, from + 1 + (int)(x >> 4) % 90, "k", PROF_KERNELS);
    }
    add_slice(trace, track, 0, 5000, "scope", PROF_GPU_SCOPES);
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
    for (size_t i = 1; i < trace->nr_slices; i++)
        assert_int_equal(trace->slices[i].parent, 0); /* never another kernel */
    check_trace_file(trace);
}

static void add_counter(struct prof_trace *trace, enum prof_track_kind kind, const char *name)
{
    int counter = prof_trace_counter(
        trace, &(struct prof_counter) { .process = 1, .name = name, .unit = "W", .kind = kind });

    assert_int_equal(counter, trace->nr_counters - 1);
    assert_int_equal(prof_trace_sample(trace, counter, 5, 7), counter);
}

static int64_t process_of_counter(const cJSON *events, const char *name)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, events)
    {
        if (phase_of(event)[0] == 'C' && !strcmp(text_of(event, "name"), name))
            return (int64_t)number_of(event, "pid");
    }
    fail_msg("no point of %s", name);
    return 0;
}

/* In a container a program may be process 1, beside device 1: they stay two, and what is counted of
 * the device stays its own. With a stream and without. */
TRACE_TEST(a_device_with_the_number_of_a_process)
{
    for (int with_stream = 0; with_stream < 2; with_stream++) {
        prof_trace_init(trace);
        int thread = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
        int stream = with_stream
                         ? prof_trace_track(trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM,
                                                                          .device = PROF_GPU_AT(1),
                                                                          .process = 1,
                                                                          .thread = 7 })
                         : thread;
        add_slice(trace, thread, 0, 9, "forward", PROF_SCOPES);
        add_slice(trace, stream, 2, 8, "k", with_stream ? PROF_KERNELS : PROF_SCOPES);
        add_counter(trace, PROF_TRACK_THREAD, "power");
        add_counter(trace, PROF_TRACK_STREAM, "power");
        add_counter(trace, PROF_TRACK_STREAM, "HtoD");
        assert_int_equal(prof_trace_sort(trace, NULL), 0);
        char *text = written(prof_write_trace(file, trace));
        cJSON *json = parsed(text);
        const cJSON *events = cJSON_GetObjectItem(json, "traceEvents"), *event;
        int64_t device = process_of_counter(events, "HtoD");
        assert_true(device > 1);
        assert_int_equal(process_of_counter(events, "power"), 1);
        cJSON_ArrayForEach(event, events)
        {
            if (phase_of(event)[0] == 'B')
                assert_int_equal(number_of(event, "pid"),
                                 strcmp(text_of(event, "name"), "k") || !with_stream ? 1 : device);
        }
        cJSON_Delete(json);
        free(text);
        if (!with_stream)
            prof_trace_release(trace);
    }
}

TRACE_TEST(sorting_says_what_moved)
{
    const int expected[] = { 2, 1, 0 };
    int moved[3];

    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1 });
    add_slice(trace, track, 5, 6, "c", NULL);
    add_slice(trace, track, 0, 4, "b", NULL);
    add_slice(trace, track, 0, 9, "a", NULL);
    assert_int_equal(prof_trace_sort(trace, moved), 0);
    assert_memory_equal(moved, expected, sizeof(moved));
    assert_int_equal(trace->slices[2].parent, 0);
}

TRACE_TEST(the_check_finds_what_is_wrong)
{
    char why[128];

    make_trace(trace);
    struct prof_slice *inner = &trace->slices[1];
    int64_t duration = inner->duration;
    inner->duration = 5000;
    assert_int_equal(prof_trace_check(trace, why, sizeof(why)), -1);
    assert_string_equal(why, "slice 1 (qkv) is not inside its parent (forward)");
    inner->duration = duration;
    inner->start -= 200;
    assert_int_equal(prof_trace_check(trace, why, sizeof(why)), -1);
    inner->start += 200;
    trace->flows[0] = (struct prof_flow) { trace->flows[0].to, trace->flows[0].from };
    assert_int_equal(prof_trace_check(trace, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "back in time"));
    trace->nr_flows = 0;
    trace->samples[0].time = 900;
    assert_int_equal(prof_trace_check(trace, why, sizeof(why)), -1);
    trace->nr_samples = 0;
    assert_int_equal(prof_trace_check(trace, why, sizeof(why)), 0);
}

/* What cannot be is refused where it is added. */
TRACE_TEST(adders_refuse_nonsense)
{
    prof_trace_init(trace);
    assert_int_equal(prof_trace_slice(trace, &(struct prof_slice) { .name = "no track" }), -1);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1 });
    assert_int_equal(prof_trace_track(trace, &(struct prof_track) { .process = 1 }), track);
    assert_int_equal(
        prof_trace_slice(trace, &(struct prof_slice) { .name = "backwards", .duration = -1 }), -1);
    assert_int_equal(prof_trace_flow(trace, 0, 0), -1);
    assert_int_equal(prof_trace_sample(trace, 0, 0, 0), -1);
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
}

TRACE_TEST(folded_stacks_add_up)
{
    make_trace(trace);
    trace->tracks[0].name = "main";
    trace->slices[1].name = prof_trace_text(trace, "q k;v");
    char *text = written(prof_write_folded(file, trace, PROF_HOST));
    assert_string_equal(text,
                        "main;forward 670\n"
                        "main;forward;q_k_v 250\n"
                        "main;forward;q_k_v;cudaLaunchKernel 50\n"
                        "main;forward;attention 300\n"
                        "main;forward;attention;attention 200\n"
                        "main;forward;cudaMemcpyAsync 30\n"
                        "main;forward;qkv 100\n");
    free(text);
    text = written(prof_write_folded(file, trace, PROF_DEVICE));
    assert_string_equal(text, "stream_7;gemm_kernel 200\nstream_7;copy 100\n");
    free(text);
}

static double column(const cJSON *json, int row, const char *name)
{
    const cJSON *title;
    int c = 0;

    cJSON_ArrayForEach(title, cJSON_GetObjectItem(json, "columns"))
    {
        if (!strcmp(title->valuestring, name))
            break;
        c++;
    }
    const cJSON *rows = cJSON_GetObjectItem(json, "rows");
    return cJSON_GetArrayItem(cJSON_GetArrayItem(rows, row), c)->valuedouble;
}

TRACE_TEST(profile_json_is_the_table)
{
    struct prof_summary summary;
    struct prof_cost cost = { .on = 40, .off = 1, .clock = 10, .clock_name = "tsc" };

    make_trace(trace);
    assert_int_equal(prof_summarise(trace, &summary), 0);
    char *text = written(prof_write_summary(file, &summary, &cost));
    cJSON *json = parsed(text);
    assert_close(number_of(json, "schema"), 1, 0);
    for (int r = 0; r < (int)summary.nr_rows; r++) {
        const struct prof_row *row = &summary.rows[r];
        assert_close(column(json, r, "calls"), (double)row->calls, 0);
        assert_close(column(json, r, "self"), (double)row->self, 0);
        assert_close(column(json, r, "p99"), (double)row->p99, 0);
        assert_close(column(json, r, "memory_peak"), (double)row->memory_peak, 0);
    }
    cJSON_Delete(json);
    free(text);
    prof_summary_release(&summary);
}

/* A hundred operations of some ms, with all that is known of them: 150 bytes each. */
TRACE_TEST(profile_json_is_small)
{
    struct prof_summary summary;
    char name[32];

    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1 });
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "layer %d attention", i % 100);
        int s = add_slice(trace, track, i * 100000000LL, i * 100000000LL + 1234567 + 89 * i, name,
                          PROF_SCOPES);
        trace->slices[s].bytes = 3145728;
        trace->slices[s].flops = 402653184;
    }
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
    assert_int_equal(prof_summarise(trace, &summary), 0);
    char *text = written(prof_write_summary(file, &summary, NULL));
    print_message("%zu bytes for 100 operations\n", strlen(text));
    assert_true(strlen(text) < 150 * 100 + 700);
    free(text);
    prof_summary_release(&summary);
}

RUN_TESTS(NULL, NULL)
