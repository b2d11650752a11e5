/* SPDX-License-Identifier: MIT */
/* The figure of time by kind: what has no row, idle time over several streams, scopes as their
 * stream saw them, and a name for each of many calls. Covers: S3-07, S3-08. */
#include "figure_testing.h"

#include "chart/chart.h"
#include "chart/presets.h"
#include "chart/profile/profile_base.h"
#include "timeline/timeline_read.h"

static struct figure *draw_split(const char *text)
{
    struct presets presets = { 0 };
    struct profile_data data;
    struct prof_trace trace;
    struct error err;

    assert_ok(timeline_parse(text, strlen(text), "a text", &trace, &err), &err);
    assert_ok(profile_data_init(&data, &trace, "a text", NULL, &err), &err);
    assert_ok(presets_load_embedded(&presets, &err), &err);
    struct chart chart = { .preset = presets_find(&presets, "time-split", &err),
                           .run = -1,
                           .profile = &data };
    assert_non_null(chart.preset);
    struct figure *figure = chart_build(&chart);
    presets_release(&presets);
    profile_data_release(&data);
    return figure;
}

/* The time of a kind over all bars, in the axis' unit. */
static double time_of(const struct figure *figure, const char *label)
{
    double sum = 0;

    for (size_t k = 0; k < figure->nr_panels; k++) {
        const struct layer *bars = find_layer(figure->panels[k], MARK_BARS, label);
        for (size_t i = 0; bars && i < bars->nr; i++)
            sum += bars->items[i].x - bars->items[i].low;
    }
    return sum;
}

/* Moments with names of their own take no time, so they have no rows: more of them than of calls.
 */
TEST(moments_have_no_rows)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text,
                "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":900,\"name\":\"main\"}");
    for (int i = 0; i < 400; i++)
        strbuf_addf(&text, ",{\"ph\":\"i\",\"pid\":1,\"tid\":1,\"ts\":%d,\"name\":\"seen %d\"}", i,
                    i);
    strbuf_addc(&text, ']');
    struct figure *figure = draw_split(text.data);
    assert_has(figure->reason, "no device was recorded");
    figure_free(figure);
    strbuf_release(&text);
}

enum { CALLS = 5000 };

/* Each is a row: those that are not drawn are counted. */
TEST(each_call_with_a_name_of_its_own)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(
        &text,
        "[{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"k\",\"cat\":\"kernel\"}");
    for (int i = 0; i < CALLS; i++)
        strbuf_addf(
            &text, ",{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"name\":\"%d\"}", i, i);
    strbuf_addc(&text, ']');
    struct figure *figure = draw_split(text.data);
    assert_null(figure->reason);
    assert_has(figure->caption, " and 4979 more");
    figure_free(figure);
    strbuf_release(&text);
}

#define SCOPE                                                                                      \
    "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":90,\"name\":\"op\","                     \
    "\"cat\":\"user_annotation\"}"
#define CALL(ts, id)                                                                               \
    ",{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":" #ts                                               \
    ",\"dur\":1,\"name\":\"cudaLaunchKernel\","                                                    \
    "\"cat\":\"cuda_runtime\",\"args\":{\"correlation\":" #id                                      \
    "}}"                                                                                           \
    ",{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":" #ts ",\"id\":" #id                                \
    ",\"cat\":\"ac2g\",\"name\":\"ac2g\"}"
#define KERNEL(stream, ts, dur, id)                                                                \
    ",{\"ph\":\"X\",\"pid\":0,\"tid\":" #stream ",\"ts\":" #ts ",\"dur\":" #dur                    \
    ",\"name\":\"k\",\"cat\":\"kernel\",\"args\":{\"device\":0,\"stream\":" #stream                \
    ",\"correlation\":" #id                                                                        \
    "}}"                                                                                           \
    ",{\"ph\":\"f\",\"bp\":\"e\",\"pid\":0,\"tid\":" #stream ",\"ts\":" #ts ",\"id\":" #id         \
    ",\"cat\":\"ac2g\",\"name\":\"ac2g\"}"

TEST(idle_is_what_no_stream_works_in)
{
    static const struct {
        const char *text;
        double kernels, idle; /* us */
    } cases[] = {
        /* one behind the other, on two streams in turn */
        { SCOPE CALL(11, 1) CALL(13, 2) CALL(15, 3) KERNEL(7, 100, 10, 1) KERNEL(7, 200, 10, 2)
              KERNEL(8, 110, 90, 3) "]",
          110, 0 },
        /* the second stream's is the earlier one */
        { SCOPE CALL(11, 1) CALL(13, 2) KERNEL(7, 200, 10, 1) KERNEL(8, 100, 10, 2) "]", 20, 90 },
        /* one stream, and the scope as it saw that */
        { SCOPE CALL(11, 1) CALL(13, 2) KERNEL(7, 100, 10, 1)
              KERNEL(7, 150, 10,
                     2) ",{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":60,\"name\":\"op\","
                        "\"cat\":\"gpu_user_annotation\",\"args\":{\"device\":0,\"stream\":7}}"
                        ",{\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":10,\"id\":9,\"cat\":\"ac2g\","
                        "\"name\":\"scope\"}"
                        ",{\"ph\":\"f\",\"bp\":\"e\",\"pid\":0,\"tid\":7,\"ts\":100,\"id\":9,"
                        "\"cat\":\"ac2g\","
                        "\"name\":\"scope\"}]",
          20, 40 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct figure *figure = draw_split(cases[i].text);
        assert_null(figure->reason);
        assert_close(time_of(figure, "kernels"), cases[i].kernels, 1e-6);
        assert_close(time_of(figure, "idle between them"), cases[i].idle, 1e-6);
        figure_free(figure);
    }
}

RUN_TESTS(NULL, NULL)
