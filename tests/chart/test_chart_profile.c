/* SPDX-License-Identifier: MIT */
/* Figures of a profile: what they show of a trace whose numbers are known, what they say where it
 * has nothing for them, and each against its file in tests/fixtures.
 * Covers: S3-03, S3-04, S3-05, S3-06, S3-07, S3-08, S4-18, S4-19, S4-20, S4-21, S4-23, S4-24,
 * S4-29, S4-30. */
#include "figure_testing.h"

#include "chart/chart.h"
#include "chart/presets.h"
#include "chart/profile/profile_base.h"
#include "profile_fixture.h"
#include "text/textwidth.h"
#include "timeline/timeline_read.h"

struct fixture {
    struct presets presets;
    struct profile_data before, after;
};

static void take(struct profile_data *data, double slower, const char *name)
{
    struct prof_trace trace;
    struct error err;

    make_forwards(&trace, slower);
    assert_ok(profile_data_init(data, &trace, name, NULL, &err), &err);
}

static int setup(void **state)
{
    struct fixture *f = memory_zeroed(1, sizeof(*f));
    struct error err;

    assert_ok(presets_load_embedded(&f->presets, &err), &err);
    take(&f->before, 1, "forward");
    take(&f->after, 1.25, "forward-slower");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    presets_release(&f->presets);
    profile_data_release(&f->before);
    profile_data_release(&f->after);
    free(f);
    return 0;
}

static struct figure *draw(const struct fixture *f, const char *name,
                           const struct profile_data *profile, const struct profile_data *base)
{
    struct error err;
    const struct preset *preset = presets_find(&f->presets, name, &err);
    struct chart chart = { .preset = preset, .run = -1, .profile = profile, .profile_base = base };

    assert_non_null(preset);
    return chart_build(&chart);
}

TEST(each_is_its_file)
{
    const struct fixture *f = *state;
    size_t nr = 0;

    for (size_t i = 0; i < f->presets.nr; i++) {
        const struct preset *preset = &f->presets.items[i];
        if (preset->modes != PLOT_PROFILE)
            continue;
        check_golden(draw(f, preset->name, &f->before, NULL));
        nr++;
    }
    assert_int_equal(nr, 11);
}

/* With two, ids get an ending: the files of one stay. */
TEST(differences_are_their_files)
{
    static const char *const names[] = { "flame", "operations" };
    const struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct figure *figure = draw(f, names[i], &f->after, &f->before);
        figure_set(&figure->id, "%s-change", names[i]);
        check_golden(figure);
    }
}

/* The files that tests of the program and of the page read. */
TEST(traces_are_their_files)
{
    const struct fixture *f = *state;
    char *before = written(prof_write_trace(file, &f->before.trace));
    char *after = written(prof_write_trace(file, &f->after.trace));

    assert_golden(before, "profile/forward", "trace.json");
    assert_golden(after, "profile/forward-slower", "trace.json");
    free(before);
    free(after);
}

static double sum_of_bars(const struct panel *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->mark == MARK_BARS && k < p->layers[i]->nr; k++)
            sum += p->layers[i]->items[k].x -
                   (isfinite(p->layers[i]->items[k].low) ? p->layers[i]->items[k].low : 0);
    return sum * p->x.factor;
}

TEST(bottlenecks_add_up_to_the_forwards)
{
    const struct fixture *f = *state;
    struct figure *figure = draw(f, "bottlenecks", &f->before, NULL);
    const struct layer *points = find_layer(figure->panels[1], MARK_POINTS, NULL);

    /* all operations fit but those of no length, under 0.05 % each: so the bars are the main
     * thread's time of the median iteration and the line ends there, short of it by less; the
     * worker's are not in it */
    const struct timeline_typical *typical = &f->before.found.typical;
    double all = typical->host_ns / (double)typical->nr_iterations;
    double bars = sum_of_bars(figure->panels[0]);
    size_t of = profile_rows(&f->before, PROF_HOST, SIZE_MAX).of;
    assert_true(points->nr < of);
    assert_true(bars < all && bars > all * (1 - 0.0005 * (double)(of - points->nr)));
    assert_close(points->items[points->nr - 1].x * figure->panels[1]->x.factor, bars / all, 1e-9);
    for (size_t i = 1; i < points->nr; i++)
        assert_true(points->items[i].x >= points->items[i - 1].x);
    assert_string_equal(figure->panels[0]->y.ticks.items[0].text, "head");
    assert_has(figure->alt, "head took most");
    assert_has(figure->caption, "Of 2 threads the main one.");
    figure_free(figure);
}

/* Of ten iterations one has an `odd` that takes longer than all else. */
static void record_one_slow_iteration(struct prof_trace *trace)
{
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    int64_t start = 0;

    for (int i = 0; i < 10; i++) {
        int64_t odd = i == 7 ? 90000 : 10 + i;
        struct prof_slice s = { .track = track,
                                .parent = PROF_FIND_PARENT,
                                .memory_live = -1,
                                .memory_peak = -1,
                                .category = PROF_SCOPES,
                                .start = start };
        s.name = "step";
        s.duration = odd + 3000;
        prof_trace_slice(trace, &s);
        s.name = "even";
        s.duration = 2000 + i;
        prof_trace_slice(trace, &s);
        s.name = "odd";
        s.start += 2100;
        s.duration = odd;
        prof_trace_slice(trace, &s);
        start += odd + 4000;
    }
    trace->meta.end = start;
    prof_trace_sort(trace, NULL);
}

TEST(one_slow_iteration_heads_no_figure_and_shows_in_the_mean)
{
    const struct fixture *f = *state;
    struct profile_data data;
    struct prof_trace trace;
    struct error err;

    prof_trace_init(&trace);
    record_one_slow_iteration(&trace);
    assert_int_equal(profile_data_init(&data, &trace, "ten", NULL, &err), 0);
    struct figure *figure = draw(f, "bottlenecks", &data, NULL);
    const struct panel *p = figure->panels[0];
    const struct layer *means = find_layer(p, MARK_POINTS, "mean");
    const struct layer *intervals = find_layer(p, MARK_INTERVALS, "95 % interval");

    assert_string_equal(p->y.ticks.items[0].text, "even");
    assert_string_equal(p->y.ticks.items[2].text, "odd");
    assert_has(figure->alt, "even took most, 2.005 µs in the median iteration");
    assert_int_equal(intervals->nr, 3);
    assert_true(intervals->items[2].low >= 10 / p->x.factor &&
                intervals->items[2].high <= 100 / p->x.factor);
    assert_true(means->items[2].x > 100 * intervals->items[2].high);
    assert_has(p->title, "in the median iteration");
    figure_free(figure);
    profile_data_release(&data);
}

TEST(limit_leaves_the_longest)
{
    const struct fixture *f = *state;
    struct error err;
    struct preset preset = *presets_find(&f->presets, "bottlenecks", &err);
    struct chart chart = { .preset = &preset, .run = -1, .profile = &f->before };

    preset.limit = 3;
    struct figure *figure = chart_build(&chart);
    assert_int_equal(figure->panels[0]->y.ticks.nr, 3);
    assert_has(figure->caption, "Showing 3 of ");
    figure_free(figure);
}

/* In each row a cell ends before the next begins, however many columns there are. */
TEST(columns_of_the_table_do_not_touch)
{
    const struct fixture *f = *state;
    struct figure *figure = draw(f, "operations", &f->before, NULL);

    figure_finish(figure);
    const struct panel *p = figure->panels[0];
    for (int row = -1; row < (int)p->y.ticks.nr; row++) {
        double end = 0;
        for (size_t i = 0; i < p->nr; i++) {
            const struct layer *layer = p->layers[i];
            for (size_t k = 0; layer->mark == MARK_TEXT && k < layer->nr; k++) {
                const struct datum *d = &layer->items[k];
                if (d->y != row)
                    continue;
                double right = d->x * p->area.width;
                assert_true(right - text_width(d->text, 12, layer->style.bold) >= end);
                end = right;
            }
        }
    }
    figure_free(figure);
}

/* Frames of one depth do not overlap, and lie within one of the depth above. */
static void frames_nest(const struct panel *p)
{
    for (size_t a = 0; a < p->nr; a++) {
        for (size_t i = 0; p->layers[a]->mark == MARK_BARS && i < p->layers[a]->nr; i++) {
            const struct datum *d = &p->layers[a]->items[i];
            bool held = d->y == 0;
            for (size_t b = 0; b < p->nr; b++) {
                for (size_t k = 0; p->layers[b]->mark == MARK_BARS && k < p->layers[b]->nr; k++) {
                    const struct datum *e = &p->layers[b]->items[k];
                    held |= e->y == d->y - 1 && e->low <= d->low + 1e-9 && e->x >= d->x - 1e-9;
                    assert_false(e != d && e->y == d->y && e->low < d->x - 1e-9 &&
                                 d->low < e->x - 1e-9);
                }
            }
            assert_true(held);
        }
    }
}

TEST(flame_nests_and_is_as_wide_as_the_time)
{
    const struct fixture *f = *state;
    struct figure *figure = draw(f, "flame", &f->before, NULL);

    frames_nest(figure->panels[0]);
    assert_string_equal(figure->view, "flame");
    assert_close(figure->panels[0]->x.high * figure->panels[0]->x.factor,
                 (double)f->before.rows.total[PROF_HOST], 1);
    figure_free(figure);
}

/* A name that is cut begins as the operation does, and it ends with the dots. */
TEST(names_keep_their_beginning)
{
    static const char *const figures[] = { "flame", "timeline", "memory-timeline" };
    const struct fixture *f = *state;
    size_t cut = 0;

    for (size_t n = 0; n < sizeof(figures) / sizeof(figures[0]); n++) {
        struct figure *figure = draw(f, figures[n], &f->before, NULL);
        const struct panel *p = figure->panels[figure->nr_panels - 1];
        for (size_t i = 0; i < p->nr; i++) {
            const struct layer *s = p->layers[i];
            for (size_t k = 0; s->mark == MARK_TEXT && k < s->nr; k++) {
                const char *text = s->items[k].text, *dots = strstr(text, "…");
                if (!dots)
                    continue;
                assert_string_equal(dots, "…");
                assert_true(strncmp(text, "gemm_kernel", (size_t)(dots - text)) == 0 ||
                            strncmp(text, "attention_kernel", (size_t)(dots - text)) == 0);
                cut++;
            }
        }
        figure_free(figure);
    }
    assert_true(cut > 0);
}

TEST(slower_operation_is_seen_in_the_difference)
{
    const struct fixture *f = *state;
    struct figure *figure = draw(f, "flame", &f->after, &f->before);
    const struct layer *more = find_layer(figure->panels[0], MARK_BARS, "longer by 10 %");
    const struct layer *less = find_layer(figure->panels[0], MARK_BARS, "shorter");
    bool fc = false;

    assert_non_null(more);
    for (size_t i = 0; i < more->nr; i++) {
        assert_true(strncmp(more->items[i].text, "fc\n", 3) == 0);
        assert_has(more->items[i].text, "(+25");
        fc = true;
    }
    assert_true(fc);
    assert_true(!less || less->nr == 0);
    figure_free(figure);
    figure = draw(f, "operations", &f->after, &f->before);
    assert_string_equal(figure->panels[0]->y.ticks.items[0].text, "fc");
    figure_free(figure);
}

TEST(depth_is_that_of_the_scopes)
{
    const struct fixture *f = *state;
    struct figure *figure = draw(f, "stack-depth", &f->before, NULL);
    const struct layer *steps = find_layer(figure->panels[0], MARK_STEPS, NULL);
    double deepest = 0;

    for (size_t i = 0; i < steps->nr; i++) {
        deepest = fmax(deepest, steps->items[i].y);
        assert_true(i == 0 || steps->items[i].x >= steps->items[i - 1].x);
        assert_true(i == 0 || steps->items[i].y != steps->items[i - 1].y);
    }
    assert_close(deepest, 4, 0); /* forward, layer, qkv, cudaLaunchKernel */
    assert_close(steps->items[steps->nr - 1].y, 0, 0);
    figure_free(figure);
}

/* More slices than a timeline has room for: whole iterations stay. */
TEST(long_profiles_show_a_window)
{
    const struct fixture *f = *state;
    size_t all = f->before.trace.nr_slices;
    struct profile_window whole = profile_window_of(&f->before, all, SIZE_MAX);
    struct profile_window one = profile_window_of(&f->before, all / 2, SIZE_MAX);

    assert_true(whole.whole && whole.outer == FORWARDS);
    assert_true(!one.whole && one.outer == 1);
    assert_true(one.low >= whole.low && one.high <= whole.high && one.high > one.low);
}

static void check_words(const struct fixture *f, const char *name, const struct prof_trace *trace,
                        const char *words)
{
    struct prof_trace copy = *trace;
    struct profile_data data;
    struct error err;

    assert_ok(profile_data_init(&data, &copy, "small", NULL, &err), &err);
    struct figure *figure = draw(f, name, &data, NULL);
    assert_non_null(figure->reason);
    if (!strstr(figure->reason, words))
        fail_msg("%s", figure->reason);
    figure_free(figure);
    profile_data_release(&data);
}

/* One scope without memory, work or a device. */
static void make_small(struct prof_trace *trace, bool empty)
{
    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    const struct prof_slice slice = { .track = track,
                                      .parent = PROF_ROOT,
                                      .start = 5,
                                      .duration = 10,
                                      .name = "<b>&\xff",
                                      .category = PROF_SCOPES,
                                      .memory_live = -1,
                                      .memory_peak = -1 };
    if (!empty)
        assert_int_equal(prof_trace_slice(trace, &slice), 0);
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
}

TEST(what_is_missing_is_said)
{
    static const struct {
        const char *name, *words;
        bool empty;
    } rows[] = {
        { "layer-rates", ".flops", false },
        { "memory-timeline", "memory was not followed", false },
        { "profile-memory", "memory was not followed", false },
        { "flame", "nothing was recorded", true },
        { "operations", "nothing was recorded", true },
    };
    const struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct prof_trace trace;
        make_small(&trace, rows[i].empty);
        check_words(f, rows[i].name, &trace, rows[i].words);
    }
    struct figure *figure = draw(f, "flame", NULL, NULL);
    assert_has(figure->reason, "harness profile");
    figure_free(figure);
}

/* Counters of clocks and power are for the timeline of a trace viewer: figures of memory draw bytes
 * alone. */
TEST(clocks_are_no_memory)
{
    static const struct prof_counter counters[] = {
        { .process = 1, .name = "CPU clock", .unit = "MHz" },
        { .process = 1, .name = "package power", .unit = "W" },
    };
    static const char *const names[] = { "memory-timeline", "profile-memory" };
    const struct fixture *f = *state;

    for (size_t i = 0; i < 2; i++) {
        struct prof_trace trace;
        make_small(&trace, false);
        for (size_t c = 0; c < 2; c++) {
            int counter = prof_trace_counter(&trace, &counters[c]);
            assert_true(prof_trace_sample(&trace, counter, 6, 2600) >= 0);
        }
        check_words(f, names[i], &trace, "memory was not followed");
    }
}

/* Figures are of what was recorded and kept. */
TEST(captions_say_what_is_left_out)
{
    const struct fixture *f = *state;
    struct prof_trace trace;
    struct profile_data data;
    struct error err;

    make_small(&trace, false);
    trace.meta.note = prof_trace_text(&trace, "left out: 3 calls");
    assert_ok(profile_data_init(&data, &trace, "small", NULL, &err), &err);
    struct figure *figure = draw(f, "flame", &data, NULL);
    assert_has(figure->caption, " Of the recording: left out: 3 calls.");
    figure_free(figure);
    profile_data_release(&data);
}

/* All figures of a profile of one scope: drawn, or a reason. */
TEST(smallest_profile_is_drawn)
{
    const struct fixture *f = *state;
    struct prof_trace trace;
    struct profile_data data;
    struct error err;

    make_small(&trace, false);
    assert_ok(profile_data_init(&data, &trace, "small", NULL, &err), &err);
    for (size_t i = 0; i < f->presets.nr; i++)
        if (f->presets.items[i].modes == PLOT_PROFILE)
            check_state(draw(f, f->presets.items[i].name, &data, NULL));
    profile_data_release(&data);
}

static void take_text(struct profile_data *data, const char *text)
{
    struct prof_trace trace;
    struct error err;

    assert_ok(timeline_parse(text, strlen(text), "a text", &trace, &err), &err);
    assert_ok(profile_data_init(data, &trace, "a text", NULL, &err), &err);
}

/* Whatever a trace lacks, every figure of it says so, or is drawn. */
TEST(no_figure_needs_time_or_names)
{
    static const char *const traces[] = {
        "{\"traceEvents\":[]}",
        "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":0,\"name\":\"z\"}]}",
        "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":0}]}",
        "{\"traceEvents\":[{\"ph\":\"i\",\"pid\":1,\"tid\":1,\"ts\":5,\"name\":\"z\"}]}",
        "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":0,\"dur\":0,\"name\":\"k\","
        "\"cat\":\"kernel\"}]}",
        "{\"traceEvents\":[{\"ph\":\"C\",\"pid\":0,\"tid\":7,\"ts\":0,\"name\":\"m\","
        "\"args\":{\"bytes\":3}}]}",
    };
    const struct fixture *f = *state;

    for (size_t t = 0; t < sizeof(traces) / sizeof(traces[0]); t++) {
        struct profile_data data;
        take_text(&data, traces[t]);
        for (size_t i = 0; i < f->presets.nr; i++) {
            if (!(f->presets.items[i].modes & PLOT_PROFILE))
                continue;
            struct figure *figure = draw(f, f->presets.items[i].name, &data, NULL);
            if (figure->reason)
                assert_true(strlen(figure->reason) > 10);
            else
                assert_true(figure->nr_panels > 0);
            figure_free(figure);
        }
        profile_data_release(&data);
    }
}

static void check_rows(const struct fixture *f, const char *text, double rows, const char *words)
{
    struct profile_data data;

    take_text(&data, text);
    struct figure *figure = draw(f, "timeline", &data, NULL);
    assert_true(figure->panels[0]->plot_height <= 20 * rows + 8);
    assert_has(figure->caption, words);
    figure_free(figure);
    profile_data_release(&data);
}

/* However deep a thread nests, and however many kernels are side by side on a stream. */
TEST(a_timeline_is_no_higher_than_a_screen)
{
    enum { SLICES = 300, SIZE = 160 };
    char *text = memory_zeroed(SLICES + 1, SIZE);
    const struct fixture *f = *state;

    for (int variety = 0; variety < 3; variety++) {
        size_t used = (size_t)sprintf(text, "[");
        for (int i = 0; i < SLICES; i++)
            used += (size_t)sprintf(text + used,
                                    "%s{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"name\":\"k\",\"ts\":%d,"
                                    "\"dur\":%d.5%s}",
                                    i ? "," : "", variety == 2 ? i * 10 : i,
                                    variety == 0   ? 1000 - 2 * i
                                    : variety == 1 ? 1000
                                                   : 10,
                                    variety ? ",\"cat\":\"kernel\"" : "");
        sprintf(text + used, "]");
        /* The last overlap by half a microsecond, as with programmatic dependent launch. */
        check_rows(f, text, variety == 2 ? 2 : 40, variety == 2 ? "" : "260 rows below those");
    }
    free(text);
}

/* How many bars a panel has under a label. */
static size_t bars_of(const struct panel *p, const char *label)
{
    size_t nr = 0;

    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->mark == MARK_BARS && p->layers[i]->label &&
            strcmp(p->layers[i]->label, label) == 0)
            nr += p->layers[i]->nr;
    return nr;
}

/* As Kineto, CUPTI and Nsight Systems name them: each direction has its colour (S3-11). */
TEST(copies_are_drawn_by_direction)
{
    static const char *const names[] = { "Memcpy HtoD (Pageable -> Device)", "memcpy DtoH",
                                         "Memcpy DtoH (Device -> Pinned)",
                                         "[CUDA memcpy Device-to-Device]", "Memset (Device)" };
    const struct fixture *f = *state;
    struct profile_data data;
    struct prof_trace trace;
    struct error err;
    char text[1200] = "[";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        sprintf(text + strlen(text),
                "%s{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":%zu,\"dur\":5,\"cat\":\"%s\","
                "\"name\":\"%s\",\"args\":{\"device\":0,\"stream\":7}}",
                i ? "," : "", 10 * i, i == 4 ? "gpu_memset" : "gpu_memcpy", names[i]);
    strcat(text, "]");
    assert_ok(timeline_parse(text, strlen(text), "copies", &trace, &err), &err);
    assert_ok(profile_data_init(&data, &trace, "copies", NULL, &err), &err);
    struct figure *figure = draw(f, "timeline", &data, NULL);
    const struct panel *p = figure->panels[0];
    assert_int_equal(bars_of(p, "copy to the device"), 1);
    assert_int_equal(bars_of(p, "copy to the host"), 2);
    assert_int_equal(bars_of(p, "copy within the device"), 1);
    assert_int_equal(bars_of(p, "fill or other copy"), 1);
    figure_free(figure);
    profile_data_release(&data);
}

/* ---- of a training step on an H200, as PyTorch wrote it ---- */

static void take_training(struct profile_data *data)
{
    struct prof_trace trace;
    struct error err;

    assert_ok(timeline_read(HARNESS_SOURCE_DIR "/tests/fixtures/timeline/gpu/torch_train.json.gz",
                            &trace, &err),
              &err);
    assert_ok(profile_data_init(data, &trace, "training", NULL, &err), &err);
}

/* Names that stand in a figure: of rows, of a legend, in blocks and beside points. */
static void check_shown_names(const struct figure *figure)
{
    for (size_t i = 0; i < figure->nr_panels; i++) {
        const struct panel *p = figure->panels[i];
        for (size_t k = 0; k < p->y.ticks.nr; k++)
            assert_null(strstr(p->y.ticks.items[k].text, "at::native"));
        for (size_t k = 0; k < p->nr; k++) {
            const struct layer *s = p->layers[k];
            assert_true(!s->label || !strstr(s->label, "at::native"));
            for (size_t d = 0; s->mark == MARK_TEXT && d < s->nr; d++)
                assert_null(strstr(s->items[d].text, "void "));
        }
    }
}

TEST(names_of_kernels_are_cut_short)
{
    static const char *const figures[] = { "bottlenecks",     "flame",      "timeline",
                                           "memory-timeline", "time-split", "duration-launches",
                                           "operations",      "layer-times" };
    const struct fixture *f = *state;
    struct profile_data data;

    take_training(&data);
    for (size_t n = 0; n < sizeof(figures) / sizeof(figures[0]); n++) {
        struct figure *figure = draw(f, figures[n], &data, NULL);
        assert_null(figure->reason);
        check_shown_names(figure);
        figure_free(figure);
    }
    /* A block says the whole name below what it says of it. */
    struct figure *figure = draw(f, "flame", &data, NULL);
    size_t whole = 0;
    for (size_t i = 0; i < figure->panels[1]->nr; i++) {
        const struct layer *s = figure->panels[1]->layers[i];
        for (size_t k = 0; s->mark == MARK_BARS && k < s->nr; k++) {
            if (strncmp(s->items[k].text, "reduce_kernel<", 14) != 0)
                continue;
            assert_has(s->items[k].text, "\nvoid at::native::reduce_kernel<");
            whole++;
        }
    }
    assert_true(whole > 0);
    figure_free(figure);
    profile_data_release(&data);
}

/* "ProfilerStep" of a stream spans its kernels and the gaps between them. */
TEST(scopes_of_a_stream_are_not_drawn_over_its_kernels)
{
    static const char *const figures[] = { "stack-depth", "memory-timeline" };
    const struct fixture *f = *state;
    struct profile_data data;

    take_training(&data);
    for (size_t n = 0; n < sizeof(figures) / sizeof(figures[0]); n++) {
        struct figure *figure = draw(f, figures[n], &data, NULL);
        const struct panel *p = figure->panels[figure->nr_panels - 1];
        const struct layer *kernels = find_layer(p, MARK_BARS, "kernel");
        double lane = kernels->items[0].y, longest = 0;
        for (size_t i = 0; i < p->nr; i++)
            for (size_t k = 0; p->layers[i]->mark == MARK_BARS && k < p->layers[i]->nr; k++) {
                const struct datum *d = &p->layers[i]->items[k];
                longest = fmax(longest, d->y == lane ? (d->x - d->low) * p->x.factor : 0);
            }
        assert_true(longest > 10e3 && longest < 100e3); /* ns; a step has 2 ms */
        figure_free(figure);
    }
    profile_data_release(&data);
}

/* However long the names are. */
TEST(columns_do_not_touch_beside_long_names)
{
    const struct fixture *f = *state;
    struct profile_data data;
    size_t cells = 0;

    take_training(&data);
    struct figure *figure = draw(f, "operations", &data, NULL);
    const struct panel *p = figure->panels[0];
    for (size_t k = 0; k < 40; k++) {
        double end = p->area.x;
        for (size_t i = 0; i < p->nr; i++)
            for (size_t c = 0; p->layers[i]->mark == MARK_TEXT && c < p->layers[i]->nr; c++) {
                const struct datum *d = &p->layers[i]->items[c];
                if (d->y != (double)k)
                    continue;
                double x = p->area.x + d->x * p->area.width;
                assert_true(x - text_width(d->text, 12, false) > end);
                end = x;
                cells++;
            }
    }
    assert_true(cells == 40 * 13);
    figure_free(figure);
    profile_data_release(&data);
}

/* Of labels over each other the first stays. */
TEST(labels_of_points_do_not_cover_each_other)
{
    const struct fixture *f = *state;
    struct profile_data data;
    size_t shown = 0, gone = 0;

    take_training(&data);
    struct figure *figure = draw(f, "duration-launches", &data, NULL);
    check_data_texts(figure, figure->panels[0]);
    const struct panel *p = figure->panels[0];
    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->place && k < p->layers[i]->nr; k++)
            *(p->layers[i]->items[k].text[0] ? &shown : &gone) += 1;
    assert_true(shown >= 25 && shown + gone == 40);
    assert_has(find_layer(p, MARK_POINTS, "on the device")->items[0].text, "void at::native::");
    figure_free(figure);
    profile_data_release(&data);
}

TEST(captions_say_which_threads_are_there)
{
    const struct fixture *f = *state;
    struct profile_data data;

    take_training(&data);
    struct figure *figure = draw(f, "bottlenecks", &data, NULL);
    assert_has(figure->caption,
               "Of 4 threads the main one, with the backward passes that another one ran for it.");
    figure_free(figure);
    figure = draw(f, "timeline", &data, NULL);
    assert_null(strstr(figure->caption, "the main one"));
    figure_free(figure);
    profile_data_release(&data);
}

RUN_TESTS(setup, teardown)
