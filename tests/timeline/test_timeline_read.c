/* SPDX-License-Identifier: MIT */
/*
 * Trace files in (S0-28, S4-11, S4-16): ours without loss, those of others as far as they mean the
 * same, digits beyond a double, and what is said of bad ones.
 */
#include "profile_trace.h"

#include "base/file.h"
#include "base/pack.h"
#include "base/strbuf.h"
#include "profile/export.h"
#include "stats/random.h"
#include "timeline/event_text.h"
#include "timeline/timeline_layers.h"
#include "timeline/timeline_read.h"

#include <unistd.h>

#define FIXTURES HARNESS_SOURCE_DIR "/tests/fixtures/timeline/"

static void parse(const char *text, struct prof_trace *trace)
{
    struct error err;

    assert_ok(timeline_parse(text, strlen(text), "a text", trace, &err), &err);
}

static void read_file(const char *path, struct prof_trace *trace)
{
    struct error err;

    assert_ok(timeline_read(path, trace, &err), &err);
}

/* Written, read and written again: the same bytes, so nothing is lost that a file has. */
TEST(ours_without_loss)
{
    struct prof_trace trace, again;

    make_trace(&trace);
    trace.meta.epoch_ns = 1763780000123456789;
    trace.meta.rate = 0.25;
    trace.meta.skipped = 12;
    trace.meta.dropped = 3;
    trace.meta.clock = prof_trace_text(&trace, "tsc");
    trace.slices[1].flags |= PROF_UNWOUND;
    char *first = written(prof_write_trace(file, &trace));
    parse(first, &again);
    char *second = written(prof_write_trace(file, &again));
    assert_string_equal(second, first);
    assert_int_equal(again.nr_tracks, 2);
    assert_int_equal(again.nr_slices, trace.nr_slices);
    assert_int_equal(again.nr_flows, 2);
    assert_int_equal(again.meta.epoch_ns, 1763780000123456789);
    for (size_t i = 0; i < trace.nr_slices; i++) {
        assert_int_equal(again.slices[i].start, trace.slices[i].start);
        assert_int_equal(again.slices[i].duration, trace.slices[i].duration);
        assert_int_equal(again.slices[i].parent, trace.slices[i].parent);
    }
    free(first);
    free(second);
    prof_trace_release(&trace);
    prof_trace_release(&again);
}

TEST(a_recorded_one)
{
    struct prof *prof = create_on(NULL);
    struct prof_trace trace, again;

    for (int i = 0; i < 50; i++) {
        PROF_SCOPE_IN(prof, "forward", .bytes = 1 << 20, .flops = 1.5e9, .backend = "x\"y\n");
        PROF_INSTANT_IN(prof, "step");
        PROF_SCOPE_IN(prof, "head");
    }
    take_snapshot(prof, &trace);
    char *first = written(prof_write_trace(file, &trace));
    parse(first, &again);
    char *second = written(prof_write_trace(file, &again));
    assert_string_equal(second, first);
    assert_int_equal(again.nr_slices, 150);
    free(first);
    free(second);
    prof_trace_release(&trace);
    prof_trace_release(&again);
    prof_free(prof);
}

/* A call that sticks out of a scope is on another line of the file, and on its thread again. */
TEST(lines_of_a_thread)
{
    struct prof_trace trace, again;

    make_trace(&trace);
    add_slice(&trace, 0, 850, 920, "crossing", PROF_RUNTIME_CALLS);
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    char *first = written(prof_write_trace(file, &trace));
    assert_non_null(strstr(first, "(2)"));
    parse(first, &again);
    assert_int_equal(again.nr_tracks, 2);
    assert_string_equal(parent_name(&again, slice_named(&again, "crossing")), "forward");
    char *second = written(prof_write_trace(file, &again));
    assert_string_equal(second, first);
    free(first);
    free(second);
    prof_trace_release(&trace);
    prof_trace_release(&again);
}

/* 19 digits, of which a double keeps 16. */
TEST(others_of_gpus)
{
    struct prof_trace trace, again;

    read_file(FIXTURES "kineto.json", &trace);
    const struct prof_slice *mm = slice_named(&trace, "aten::mm");
    const struct prof_slice *call = slice_named(&trace, "cudaLaunchKernel");
    const struct prof_slice *kernel = slice_named(&trace, "sm90_xmma_gemm_f32");
    assert_int_equal(mm->start, 7286381019000125);
    assert_int_equal(mm->duration, 40500);
    assert_string_equal(parent_name(&trace, call), "aten::mm");
    assert_int_equal(kernel->start, 7286381019030001);
    assert_int_equal(kernel->duration, 100002);
    assert_int_equal(kernel->correlation, 77);
    const struct prof_track *stream = &trace.tracks[kernel->track];
    assert_int_equal(stream->kind, PROF_TRACK_STREAM);
    assert_int_equal(stream->device, PROF_GPU);
    assert_string_equal(stream->name, "stream 7");
    assert_string_equal(stream->owner, "GPU");
    assert_string_equal(trace.tracks[mm->track].owner, "python");
    assert_int_equal(trace.nr_flows, 1);
    assert_ptr_equal(&trace.slices[trace.flows[0].from], call);
    assert_ptr_equal(&trace.slices[trace.flows[0].to], kernel);
    const struct prof_slice *copy = slice_named(&trace, "Memcpy HtoD (Pinned -> Device)");
    assert_int_equal(copy->bytes, 4096);
    assert_int_equal(copy->track, kernel->track);
    for (size_t i = 0; i < trace.nr_tracks; i++)
        assert_string_not_equal(trace.tracks[i].owner, "Spans"); /* that tells of the recording */
    /* Its base is 84 days before. */
    assert_int_equal(trace.meta.start, mm->start);
    assert_int_equal(trace.meta.end - trace.meta.start, 199875);
    assert_int_equal(trace.meta.epoch_ns, 1759276809000000123 + 7286381019000125);
    char *text = written(prof_write_trace(file, &trace));
    parse(text, &again);
    assert_int_equal(slice_named(&again, "aten::mm")->start, 0);
    assert_int_equal(again.meta.epoch_ns, trace.meta.epoch_ns);
    free(text);
    prof_trace_release(&again);
    prof_trace_release(&trace);
}

/* Begins and ends, an array without its end, flows by place, counters of several series. */
TEST(others_of_programs)
{
    struct prof_trace trace;

    read_file(FIXTURES "chrome.json", &trace);
    const struct prof_slice *task = slice_named(&trace, "task"),
                            *inner = slice_named(&trace, "inner");
    assert_int_equal(trace.nr_slices, 4);
    assert_true(task->flags & PROF_OPEN);
    assert_int_equal(task->start + task->duration, 260000);
    assert_int_equal(inner->start, 110500);
    assert_int_equal(inner->duration, 39500);
    assert_false(inner->flags & PROF_OPEN);
    assert_string_equal(parent_name(&trace, inner), "task");
    assert_int_equal(trace.meta.start, 100000);
    assert_int_equal(trace.nr_flows, 2);
    assert_string_equal(trace.slices[trace.flows[0].from].name, "inner");
    assert_string_equal(trace.slices[trace.flows[0].to].name, "run");
    assert_string_equal(trace.slices[trace.flows[1].from].name, "run");
    assert_string_equal(trace.slices[trace.flows[1].to].name, "reply");
    assert_int_equal(trace.nr_counters, 3);
    assert_string_equal(trace.counters[0].name, "queue");
    assert_string_equal(trace.counters[0].unit, "length");
    assert_string_equal(trace.counters[2].name, "memory: stack");
    assert_close(trace.samples[2].value, 2, 0);
    prof_trace_release(&trace);
}

/* Processes that are called by a text; numbers in quotes, as rocprof writes them. */
TEST(names_and_numbers_are_told_apart)
{
    struct prof_trace trace;

    parse(
        "[{\"ph\":\"M\",\"pid\":6,\"tid\":0,\"name\":\"process_name\","
        "\"args\":{\"name\":\"GPU0\"}},"
        "{\"ph\":\"X\",\"pid\":\"6\",\"tid\":\"0\",\"ts\":\"1010\",\"dur\":\"50.5\",\"name\":\"k\"}"
        ","
        "{\"ph\":\"X\",\"pid\":\"Loads\",\"tid\":\"6th\",\"ts\":2,\"dur\":3,\"name\":\"load\"},"
        "{\"ph\":\"X\",\"pid\":-1,\"tid\":-2,\"ts\":9,\"dur\":1,\"name\":\"request\"}]",
        &trace);
    const struct prof_slice *kernel = slice_named(&trace, "k");
    assert_int_equal(kernel->start, 1010000);
    assert_int_equal(kernel->duration, 50500);
    assert_int_equal(trace.tracks[kernel->track].process, 6);
    assert_string_equal(trace.tracks[kernel->track].owner, "GPU0");
    const struct prof_track *text = &trace.tracks[slice_named(&trace, "load")->track];
    assert_true(text->process < 0 && text->thread < 0);
    assert_string_equal(text->owner, "Loads");
    assert_string_equal(text->name, "6th");
    /* Kineto's own process: a number like any. */
    const struct prof_track *own = &trace.tracks[slice_named(&trace, "request")->track];
    assert_int_equal(own->process, -1);
    assert_int_equal(own->thread, -2);
    assert_string_equal(own->owner, "");
    assert_string_equal(own->name, "");
    prof_trace_release(&trace);
}

static void add_flow(char *text, char phase, int ts, const char *id)
{
    sprintf(text + strlen(text),
            ",{\"ph\":\"%c\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"cat\":\"f\",\"name\":\"f\"%s%s}",
            phase, phase == 's' ? 1 : 2, ts, phase == 's' ? "" : ",\"bp\":\"e\"", id);
}

/* PyTorch up to 1.12 wrote other names of categories, and its kernels without a time at 0. */
TEST(older_names_of_categories)
{
    static const char *const names[2][4] = {
        { "Operator", "Runtime", "Kernel", "Memcpy" },
        { PROF_SCOPES, PROF_RUNTIME_CALLS, PROF_KERNELS, PROF_MEMCPY },
    };

    for (int i = 0; i < 2; i++) {
        char text[2000];
        struct prof_trace trace;
        snprintf(text, sizeof(text),
                 "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":100,\"dur\":50,"
                 "\"name\":\"ProfilerStep#3\",\"cat\":\"%s\"},"
                 "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":101,\"dur\":2,"
                 "\"name\":\"cudaLaunchKernel\",\"cat\":\"%s\",\"args\":{\"correlation\":1}},"
                 "{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":110,\"dur\":5,\"name\":\"k\","
                 "\"cat\":\"%s\",\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}},"
                 "{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":0,\"dur\":0,\"name\":\"lost\","
                 "\"cat\":\"%s\",\"args\":{\"device\":0,\"stream\":7,\"correlation\":2}},"
                 "{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":120,\"dur\":5,\"name\":\"copied\","
                 "\"cat\":\"%s\",\"args\":{\"device\":0,\"stream\":7}},"
                 "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":100,\"dur\":5,\"name\":\"irq\","
                 "\"cat\":\"Kernel\"},"
                 "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":101,\"id\":1,\"cat\":\"async\","
                 "\"name\":\"launch\"},"
                 "{\"ph\":\"f\",\"pid\":0,\"tid\":7,\"ts\":110,\"id\":1,\"cat\":\"async\","
                 "\"name\":\"launch\",\"bp\":\"e\"}]",
                 names[i][0], names[i][1], names[i][2], names[i][2], names[i][3]);
        parse(text, &trace);
        assert_int_equal(trace.nr_slices, 5);
        assert_string_equal(slice_named(&trace, "ProfilerStep")->category, PROF_STEPS);
        assert_string_equal(slice_named(&trace, "cudaLaunchKernel")->category, PROF_RUNTIME_CALLS);
        assert_string_equal(slice_named(&trace, "k")->category, PROF_KERNELS);
        assert_string_equal(slice_named(&trace, "copied")->category, PROF_MEMCPY);
        assert_int_equal(slice_named(&trace, "k")->track, slice_named(&trace, "copied")->track);
        /* of another program, which means another kernel */
        assert_int_equal(trace.tracks[slice_named(&trace, "irq")->track].kind, PROF_TRACK_THREAD);
        assert_int_equal(trace.nr_flows, 1);
        assert_int_equal(trace.meta.start, 100000);
        assert_int_equal(trace.meta.dropped, 1);
        assert_has(trace.meta.note, "1 have no time");
        prof_trace_release(&trace);
    }
}

/* PyTorch draws an arrow from a call that waits to the wait, which ends in the kernel that runs
 * then. */
TEST(waits_launch_nothing)
{
    struct prof_trace trace;

    parse(
        "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":2,\"name\":\"cudaLaunchKernel\","
        "\"cat\":\"cuda_runtime\",\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":20,\"name\":\"cudaStreamSynchronize\","
        "\"cat\":\"cuda_runtime\",\"args\":{\"correlation\":2}},"
        "{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":4,\"dur\":18,\"name\":\"k\",\"cat\":\"kernel\","
        "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}},"
        "{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":17,\"name\":\"Stream Sync\","
        "\"cat\":\"cuda_sync\",\"args\":{\"device\":0,\"stream\":7,\"correlation\":2}},"
        "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":0,\"id\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"},"
        "{\"ph\":\"f\",\"pid\":0,\"tid\":7,\"ts\":4,\"id\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\","
        "\"bp\":\"e\"},"
        "{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":3,\"id\":2,\"cat\":\"ac2g\",\"name\":\"ac2g\"},"
        "{\"ph\":\"f\",\"pid\":0,\"tid\":7,\"ts\":5,\"id\":2,\"cat\":\"ac2g\",\"name\":\"ac2g\","
        "\"bp\":\"e\"}]",
        &trace);
    assert_int_equal(trace.nr_slices, 3);
    assert_int_equal(trace.nr_flows, 1);
    assert_string_equal(trace.slices[trace.flows[0].from].name, "cudaLaunchKernel");
    prof_trace_release(&trace);
}

/* By which number the ends of a flow belong together; without one to nothing. */
TEST(flows_have_a_number_of_some_kind)
{
    static const struct {
        const char *id; /* %d: the flow */
        size_t flows;
    } cases[] = {
        { ",\"id\":%d", 3 },
        { ",\"id\":\"0x%d\"", 3 },
        { ",\"id2\":{\"global\":\"0x%d\"}", 3 },
        { ",\"id2\":{\"local\":\"0x%d\"}", 0 }, /* of another process */
        { "", 0 },
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        char text[3000] = "[{}";
        struct prof_trace trace;
        for (int i = 0; i < 3; i++) {
            char id[64] = "";
            for (int process = 1; process <= 2; process++)
                sprintf(text + strlen(text),
                        ",{\"ph\":\"X\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":5,\"name\":\"%d\"}",
                        process, 10 * i + process, i);
            if (cases[c].id[0])
                snprintf(id, sizeof(id), cases[c].id, i);
            add_flow(text, 's', 10 * i + 1, id);
            add_flow(text, 'f', 10 * i + 2, id);
        }
        parse(strcat(text, "]"), &trace);
        assert_int_equal(trace.nr_flows, cases[c].flows);
        for (size_t i = 0; i < trace.nr_flows; i++)
            assert_ptr_equal(trace.slices[trace.flows[i].from].name,
                             trace.slices[trace.flows[i].to].name);
        prof_trace_release(&trace);
    }
}

/* Events of one name and different ids are points of different counters. */
TEST(counters_are_told_apart_by_their_ids)
{
    static const struct {
        const char *id[2], *name[2];
    } cases[] = {
        { { "", "" }, { "mem", "mem" } },
        { { ",\"id\":\"\"", "" }, { "mem", "mem" } },
        { { ",\"id\":\"0\"", ",\"id\":\"1\"" }, { "mem[0]", "mem[1]" } },
        { { ",\"id\":7", "" }, { "mem[7]", "mem" } },
        { { ",\"id2\":{\"local\":\"0x5\"}", ",\"id2\":{\"global\":\"0x6\"}" },
          { "mem[0x5]", "mem[0x6]" } },
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        char text[1000] = "[{}";
        struct prof_trace trace;
        for (int i = 0; i < 4; i++)
            sprintf(
                text + strlen(text),
                ",{\"ph\":\"C\",\"pid\":1,\"ts\":%d,\"name\":\"mem\"%s,\"args\":{\"bytes\":%d}}", i,
                cases[c].id[i % 2], i % 2 ? 900 : 100);
        parse(strcat(text, "]"), &trace);
        for (size_t i = 0; i < trace.nr_samples; i++)
            assert_string_equal(trace.counters[trace.samples[i].counter].name,
                                cases[c].name[trace.samples[i].value > 500]);
        assert_int_equal(trace.nr_samples, 4);
        assert_int_equal(trace.nr_counters, strcmp(cases[c].name[0], cases[c].name[1]) ? 2 : 1);
        prof_trace_release(&trace);
    }
}

TEST(numbers)
{
    static const struct {
        const char *text;
        int64_t value; /* with three more places */
        bool ok;
    } cases[] = {
        { "0", 0, true },
        { "1", 1000, true },
        { "-1.5", -1500, true },
        { "0.0005", 1, true },
        { "-0.0005", -1, true },
        { "12.34567", 12346, true },
        { "1e3", 1000000, true },
        { "1.5E-3", 2, true },
        { "1e-99999", 0, true },
        { "0e99999", 0, true },
        { "9223372036854775.807", INT64_MAX, true },
        { "9223372036854775.808", 0, false },
        { "1e99999", 0, false },
        { "-", 0, false },
        { "\"1\"", 0, false },
        { "", 0, false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *text = cases[i].text;
        int64_t value = 0;
        if (event_number(text, text + strlen(text), 3, &value) != cases[i].ok ||
            value != cases[i].value)
            fail_msg("%s gives %lld", text, (long long)value);
    }
}

TEST(bad_files)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "a text: line 1, column 1: not a trace: neither an object nor a list" },
        { "{\"traceEvents\": 5}", "a text: line 1, column 17: \"traceEvents\" is not a list" },
        { "{\"traceEvents\": [}", "a text: line 1, column 18: not valid JSON" },
        { "{\"traceEvents\":\n [{\"ph\":\"X\",\"dur\":1}]}",
          "a text: line 2, column 3: the event's \"ts\" is missing or no time" },
        { "[{\"ph\":\"i\",\"ts\":1},\n {\"ph\":\"X\",\"ts\":\"two\"}]",
          "a text: line 2, column 17: the event's \"ts\" is missing or no time" },
        { "[{\"ph\":\"X\",\"ts\":1,\"dur\":-1}]",
          "a text: line 1, column 2: the event ends before it begins" },
        { "[{\"ph\":\"X\",\"ts\":9e18}]",
          "a text: line 1, column 17: the event's \"ts\" is missing or no time" },
        { "[{\"ph\":\"B\",\"ts\":5},{\"ph\":\"E\",\"ts\":4}]",
          "a text: line 1, column 20: the event ends before it begins" },
        { "[3]", "a text: line 1, column 2: the event is no object" },
        { "[{} {}]", "a text: line 1, column 5: expected , or ] in the list of events" },
        { "{\"traceEvents\":[]", "a text: line 1, column 18: expected , or }" },
        { "{\"traceEvents\":[{}",
          "a text: line 1, column 19: expected , or ] in the list of events" },
        { "{} x", "a text: line 1, column 4: something follows the end of the trace" },
        { "{3:4}", "a text: line 1, column 2: expected a name and a colon" },
    };
    struct prof_trace trace;
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *text = cases[i].text;
        assert_int_equal(timeline_parse(text, strlen(text), "a text", &trace, &err), -1);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(trace.nr_slices, 0);
        assert_null(trace.slices);
    }
    assert_int_equal(timeline_read("/nonexistent/trace.json", &trace, &err), -1);
    assert_non_null(strstr(err.message, "/nonexistent/trace.json"));
}

/* Keys inside of strings and of other objects are not the event's. */
TEST(members_by_depth)
{
    struct prof_trace trace;

    parse(
        "[{\"name\":\"\\\"ts\\\":1,\",\"args\":{\"ts\":5,\"dur\":[{\"dur\":8}]},\"ph\":\"X\","
        "\"ts\" : 2.5,\"dur\":\t3}]",
        &trace);
    assert_int_equal(trace.slices[0].start, 2500);
    assert_int_equal(trace.slices[0].duration, 3000);
    prof_trace_release(&trace);
    parse("{}", &trace);
    assert_int_equal(trace.nr_slices + (size_t)trace.meta.end, 0);
    prof_trace_release(&trace);
}

/* Slices that overlap on a stream are two lines of the file and one track again. */
TEST(packed_and_in_a_folder)
{
    char folder[] = HARNESS_TEST_DIR "/timeline_read_XXXXXX", path[4096];
    struct prof_trace trace, again;
    struct strbuf packed;
    struct error err;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/trace.json", folder);
    make_trace(&trace);
    char *text = written(prof_write_trace(file, &trace));
    strbuf_init(&packed);
    gzip_add(&packed, text, strlen(text), GZIP_FAST);
    assert_ok(file_write(path, packed.data, packed.length, &err), &err);
    read_file(folder, &again);
    assert_int_equal(again.nr_slices, trace.nr_slices);
    assert_int_equal(again.nr_tracks, 2);
    prof_trace_release(&again);
    assert_ok(file_write(path, packed.data, packed.length / 2, &err), &err);
    assert_int_equal(timeline_read(path, &again, &err), -1);
    assert_non_null(strstr(err.message, path));
    unlink(path);
    rmdir(folder);
    free(text);
    strbuf_release(&packed);
    prof_trace_release(&trace);
}

/* Whatever is in a file, it is refused or becomes a trace that keeps its promises. */
TEST(damaged_files)
{
    struct prof_trace trace;
    struct random random;
    struct error err;
    char why[256];

    random_seed(&random, 11);
    make_trace(&trace);
    char *text = written(prof_write_trace(file, &trace));
    size_t length = strlen(text), nr_read = 0;
    prof_trace_release(&trace);
    for (int i = 0; i < 3000; i++) {
        char *copy = strdup(text);
        for (int k = 0; k < 3; k++)
            copy[random_below(&random, length)] =
                "0129-.eE\"{}[],:XBEsfi"[random_below(&random, 21)];
        if (timeline_parse(copy, length - random_below(&random, 3), "it", &trace, &err) == 0) {
            nr_read++;
            assert_int_equal(prof_trace_check(&trace, why, sizeof(why)), 0);
        }
        prof_trace_release(&trace);
        free(copy);
    }
    assert_true(nr_read > 100 && nr_read < 2900);
    free(text);
}

/* Old files of PyTorch have "inf", Python's json.dump() "Infinity": such a value is absent. */
TEST(no_numbers_are_absent)
{
    static const struct {
        const char *text, *message; /* NULL: it is read, as one slice of so many ns */
        int64_t duration;
    } cases[] = {
        { "[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"nan\",\"args\":{\"occupancy\":inf,\"x\":[-"
          "Infinity, "
          "NaN],\"flops\":NaN}}]",
          NULL, 2000 },
        { "{\"a\":-nan,\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"nan\"}],\"b\":"
          "Infinity}",
          NULL, 2000 },
        { "[{\"ph\":\"X\",\"ts\":1,\"dur\":Infinity,\"name\":\"nan\"}]", NULL, 0 },
        { "[{\"ph\":\"C\",\"ts\":1,\"name\":\"c\",\"args\":{\"v\":NaN}},\n"
          "{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"nan\"}]",
          NULL, 2000 },
        { "[{\"ph\":\"X\",\"ts\":NaN,\"name\":\"nan\"}]",
          "a text: line 1, column 17: the event's \"ts\" is missing or no time", 0 },
        { "[{\"ph\":\"X\",\"ts\":1,\n\"args\":{\"v\":NaN,\"w\":none}}]",
          "a text: line 2, column 21: not valid JSON", 0 },
        { "[NaN]", "a text: line 1, column 2: the event is no object", 0 },
    };
    struct prof_trace trace;
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *text = cases[i].text;
        int rc = timeline_parse(text, strlen(text), "a text", &trace, &err);
        if (cases[i].message) {
            assert_int_equal(rc, -1);
            assert_string_equal(err.message, cases[i].message);
            continue;
        }
        assert_ok(rc, &err);
        assert_int_equal(trace.nr_slices, 1);
        assert_string_equal(trace.slices[0].name, "nan");
        assert_int_equal(trace.slices[0].duration, cases[i].duration);
        assert_int_equal(trace.nr_samples, 0);
        assert_close(trace.slices[0].flops, 0, 0);
        prof_trace_release(&trace);
    }
}

/* PyTorch numbers its steps; other names with a number are names. */
TEST(steps_are_iterations_of_one_name)
{
    struct prof_trace trace;

    parse(
        "[{\"ph\":\"X\",\"ts\":0,\"dur\":9,\"name\":\"ProfilerStep#0\"},"
        "{\"ph\":\"X\",\"ts\":10,\"dur\":9,\"name\":\"ProfilerStep#11\"},"
        "{\"ph\":\"X\",\"ts\":20,\"dur\":9,\"name\":\"ProfilerStep#\"},"
        "{\"ph\":\"X\",\"ts\":30,\"dur\":9,\"name\":\"layer#1\"}]",
        &trace);
    assert_string_equal(trace.slices[0].name, "ProfilerStep");
    assert_ptr_equal(trace.slices[1].name, trace.slices[0].name);
    assert_string_equal(trace.slices[2].name, "ProfilerStep#");
    assert_string_equal(trace.slices[3].name, "layer#1");
    prof_trace_release(&trace);
}

/* With stacks recorded, steps lie in the frames of the program that were open all the time; a step
 * in a step is none. */
TEST(steps_are_iterations_whatever_holds_them)
{
    struct timeline_layers layers;
    struct prof_trace trace;
    struct error err;
    char text[2000] =
        "[{\"ph\":\"X\",\"ts\":0,\"dur\":99,\"name\":\"train.py(1): <module>\","
        "\"cat\":\"python_function\"}";

    for (int i = 0; i < 6; i++)
        sprintf(text + strlen(text),
                ",{\"ph\":\"X\",\"ts\":%d,\"dur\":10,\"name\":\"ProfilerStep#%d\","
                "\"cat\":\"user_annotation\"}"
                ",{\"ph\":\"X\",\"ts\":%d,\"dur\":8,\"name\":\"ProfilerStep#%d\","
                "\"cat\":\"user_annotation\"}"
                ",{\"ph\":\"X\",\"ts\":%d,\"dur\":4,\"name\":\"aten::mm\",\"cat\":\"cpu_op\"}",
                12 * i + 1, i, 12 * i + 2, i, 12 * i + 3);
    parse(strcat(text, "]"), &trace);
    assert_ok(timeline_layers(&trace, -1, NULL, &layers, &err), &err);
    assert_string_equal(layers.iteration, "ProfilerStep");
    assert_int_equal(layers.nr_iterations, 6);
    for (size_t i = 0; i < layers.nr_iterations; i++) {
        assert_int_equal(layers.ns[i], 10000);
        assert_int_equal(timeline_layer(&layers, "aten::mm")->total_ns[i], 4000);
    }
    timeline_layers_release(&layers);
    prof_trace_release(&trace);
}

/* Where a scope is in the source, and what could not be recorded. */
TEST(places_and_notes_come_back)
{
    struct prof_trace trace, again;

    make_trace(&trace);
    trace.meta.note = prof_trace_text(&trace, "no kernels: another profiler");
    trace.slices[1].file = prof_trace_text(&trace, "src/a.c");
    trace.slices[1].function = prof_trace_text(&trace, "init");
    trace.slices[1].line = 12;
    char *text = written(prof_write_trace(file, &trace));
    parse(text, &again);
    assert_string_equal(again.meta.note, "no kernels: another profiler");
    assert_string_equal(again.slices[1].file, "src/a.c");
    assert_string_equal(again.slices[1].function, "init");
    assert_int_equal(again.slices[1].line, 12);
    assert_null(again.slices[0].file);
    free(text);
    prof_trace_release(&again);
    prof_trace_release(&trace);
}

RUN_TESTS(NULL, NULL)
