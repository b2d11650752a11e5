/* SPDX-License-Identifier: MIT */
/* Numbers behind the figures of a profile: boxes hold one value an iteration, roofs stand where
 * they are, bars that no eye would see are named instead, windows hold few calls. Covers: S3-05,
 * S3-06, S3-07, S3-08, S4-20. */
#include "figure_testing.h"

#include "chart/chart.h"
#include "chart/profile/profile_base.h"
#include "chart/profile/profile_samples.h"
#include "profile_fixture.h"

#include "chart/presets.h"
#include "stats/stats.h"
#include "timeline/timeline_read.h"

enum { ITERATIONS = 8 };

static void take(struct profile_data *data, struct prof_trace *trace, double flops, double bytes)
{
    const struct profile_facts facts = {
        .roofs = { .math = "fp32", .flops = flops, .bandwidth = { bytes, 4 * bytes } }
    };
    struct error err;

    assert_ok(profile_data_init(data, trace, "forward", &facts, &err), &err);
}

static int setup(void **state)
{
    struct profile_data *data = memory_zeroed(1, sizeof(*data));
    struct prof_trace trace;

    make_some_forwards(&trace, ITERATIONS, 1);
    take(data, &trace, 0, 0);
    *state = data;
    return 0;
}

static int teardown(void **state)
{
    profile_data_release(*state);
    free(*state);
    return 0;
}

static struct figure *draw(const char *name, const struct profile_data *data)
{
    struct presets presets = { 0 };
    struct error err;

    assert_ok(presets_load_embedded(&presets, &err), &err);
    const struct preset *preset = presets_find(&presets, name, &err);
    struct chart chart = { .preset = preset, .run = -1, .profile = data };
    assert_non_null(preset);
    struct figure *figure = chart_build(&chart);
    presets_release(&presets);
    return figure;
}

static const struct sample_row *row_of(const struct sample_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->nr; i++)
        if (strcmp(rows->items[i].name, name) == 0)
            return &rows->items[i];
    return NULL;
}

/* The time of all calls of a name in each iteration, counted here from the slices, sorted. */
static void times_of(const struct profile_data *data, const char *name, double times[ITERATIONS])
{
    size_t at = 0;
    int64_t end = 0;

    memset(times, 0, ITERATIONS * sizeof(*times));
    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        if (s->track == data->track && s->parent < 0) {
            at += end > 0;
            end = s->start + s->duration;
        } else if (s->track == data->track && strcmp(s->name, name) == 0) {
            times[at] += (double)s->duration;
        }
    }
    assert_int_equal(at, ITERATIONS - 1);
    stats_sort(times, ITERATIONS);
}

TEST(boxes_hold_one_value_an_iteration)
{
    const struct profile_data *data = *state;
    double times[ITERATIONS];
    struct sample_rows rows;

    assert_true(profile_by_iteration(data));
    profile_samples_init(&rows, data, PROF_HOST, SAMPLE_TIME, SAMPLES_OF_WORK, SIZE_MAX);
    const struct sample_row *row = row_of(&rows, "qkv"); /* six calls an iteration */
    assert_non_null(row);
    assert_int_equal(row->nr, ITERATIONS);
    times_of(data, "qkv", times);
    for (size_t i = 0; i < ITERATIONS; i++)
        assert_close(row->values[i], times[i], 0.5);
    assert_null(row_of(&rows, "layer 0")); /* its time is that of what it holds */
    for (size_t i = 1; i < rows.nr; i++)
        assert_true(rows.items[i].weight <= rows.items[i - 1].weight);
    profile_samples_release(&rows);
}

TEST(figure_draws_their_quartiles)
{
    const struct profile_data *data = *state;
    struct figure *figure = draw("layer-times", data);
    const struct panel *p = figure->panels[0];
    const struct layer *boxes = find_layer(p, MARK_BOXES, "p25 to p75");
    double times[ITERATIONS];

    times_of(data, p->y.ticks.items[0].text, times);
    assert_close(boxes->items[0].low * p->x.factor, stats_quantile(times, ITERATIONS, 0.25), 1);
    assert_close(boxes->items[0].x * p->x.factor, stats_quantile(times, ITERATIONS, 0.75), 1);
    assert_has(figure->caption, "One value an iteration: all calls");
    assert_string_equal(figure->panels[1]->title, "time on the device");
    figure_free(figure);
}

/* Those that mainly hold others, in the order in which they run: their time is that of all inside.
 */
TEST(layers_are_boxes_too)
{
    const struct profile_data *data = *state;
    double times[ITERATIONS];
    char name[32];
    struct sample_rows rows;

    profile_samples_init(&rows, data, PROF_HOST, SAMPLE_TIME, SAMPLES_OF_LAYERS, SIZE_MAX);
    assert_int_equal(rows.nr, LAYERS);
    for (size_t i = 0; i < rows.nr; i++) {
        snprintf(name, sizeof(name), "layer %zu", i);
        assert_string_equal(rows.items[i].name, name);
        times_of(data, name, times);
        assert_close(rows.items[i].values[0], times[0], 0.5);
    }
    profile_samples_release(&rows);
    struct figure *figure = draw("layer-times", data);
    const struct panel *p = NULL;
    for (size_t i = 0; i < figure->nr_panels; i++)
        if (strcmp(figure->panels[i]->title, "layers: time on the host") == 0)
            p = figure->panels[i];
    assert_non_null(p);
    const struct layer *means = find_layer(p, MARK_POINTS, "mean");
    const struct layer *ends = find_layer(p, MARK_POINTS, "min and max");
    times_of(data, "layer 0", times);
    assert_close(means->items[0].x * p->x.factor, stats_mean(times, ITERATIONS), 1);
    assert_close(ends->items[0].x * p->x.factor, times[0], 1);
    assert_close(ends->items[1].x * p->x.factor, times[ITERATIONS - 1], 1);
    figure_free(figure);
}

/* FLOPs of an iteration over the time on the device that they took. */
TEST(rates_are_of_iterations)
{
    const struct profile_data *data = *state;
    const struct layer_samples *head = timeline_layer(&data->found.layers, "head");
    struct sample_rows rows;

    profile_samples_init(&rows, data, PROF_DEVICE, SAMPLE_FLOPS, SAMPLES_OF_WORK, SIZE_MAX);
    const struct sample_row *row = row_of(&rows, "head");
    assert_non_null(row);
    assert_int_equal(row->nr, ITERATIONS);
    assert_close(row->values[0], 3.9e10 / (double)head->gpu_ns[0] * 1e9, 1);
    profile_samples_release(&rows);
    profile_samples_init(&rows, data, PROF_HOST, SAMPLE_FLOPS, SAMPLES_OF_WORK, SIZE_MAX);
    assert_null(row_of(&rows, "head"));     /* its work was done on the device, */
    assert_non_null(row_of(&rows, "ln_1")); /* this one's was not */
    profile_samples_release(&rows);
}

TEST(a_single_iteration_shows_its_calls)
{
    struct prof_trace trace;
    struct profile_data data;
    struct sample_rows rows;

    make_some_forwards(&trace, 1, 1);
    take(&data, &trace, 0, 0);
    assert_false(profile_by_iteration(&data));
    profile_samples_init(&rows, &data, PROF_HOST, SAMPLE_TIME, SAMPLES_OF_WORK, SIZE_MAX);
    assert_int_equal(row_of(&rows, "qkv")->nr, LAYERS);
    profile_samples_release(&rows);
    struct figure *figure = draw("layer-times", &data);
    assert_has(figure->caption, "One value a call");
    check_places(figure);
    figure_free(figure);
    profile_data_release(&data);
}

static size_t rules_of(const struct panel *p, double values[], size_t most)
{
    size_t nr = 0;

    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->mark == MARK_RULES && k < p->layers[i]->nr; k++)
            if (nr < most)
                values[nr++] = p->layers[i]->items[k].x * p->x.factor;
    return nr;
}

static const struct panel *panel_titled(const struct figure *f, const char *title)
{
    for (size_t i = 0; i < f->nr_panels; i++)
        if (f->panels[i]->title && strcmp(f->panels[i]->title, title) == 0)
            return f->panels[i];
    fail_msg("no panel \"%s\"", title);
    return NULL;
}

/* Roofs as an axis value each; of memory the faster level only where something is beyond the
 * slower. */
TEST(roofs_are_lines_in_the_rates)
{
    static const struct {
        double flops, bytes;
        size_t memory_lines;
    } cases[] = { { 1e14, 1e13, 1 }, { 1e14, 1e10, 2 } };
    double values[4];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct prof_trace trace;
        struct profile_data data;
        make_some_forwards(&trace, ITERATIONS, 1);
        take(&data, &trace, cases[i].flops, cases[i].bytes);
        struct figure *figure = draw("layer-rates", &data);
        assert_int_equal(rules_of(panel_titled(figure, "computing on the device"), values, 4), 1);
        assert_close(values[0], cases[i].flops, cases[i].flops * 1e-9);
        assert_int_equal(rules_of(panel_titled(figure, "moving bytes on the device"), values, 4),
                         cases[i].memory_lines);
        assert_close(values[0], cases[i].bytes, cases[i].bytes * 1e-9);
        assert_non_null(find_layer(panel_titled(figure, "computing on the device"), MARK_RULES,
                                   "FMA roof of fp32, 100.0 TFLOP/s"));
        check_places(figure);
        figure_free(figure);
        profile_data_release(&data);
    }
}

TEST(without_roofs_there_is_no_line)
{
    double values[4];
    struct figure *figure = draw("layer-rates", *state);

    for (size_t i = 0; i < figure->nr_panels; i++)
        assert_int_equal(rules_of(figure->panels[i], values, 4), 0);
    assert_lacks(figure->caption, "Dashed");
    figure_free(figure);
}

/* ---- CPU, launches, kernels and transfers ---- */

static double longest_row(const struct panel *p)
{
    double longest = 0;

    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->mark == MARK_BARS && k < p->layers[i]->nr; k++)
            longest = fmax(longest, p->layers[i]->items[k].x);
    return longest;
}

/* Returns the sum of the bars of a panel; none is too short to be seen. */
static double visible_bars(const struct panel *p, double longest)
{
    double sum = 0;

    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->mark == MARK_BARS && k < p->layers[i]->nr; k++) {
            double length = p->layers[i]->items[k].x - p->layers[i]->items[k].low;
            assert_true(length >= 0.0005 * longest * (1 - 1e-9));
            sum += length;
        }
    return sum * p->x.factor;
}

/* Every time belongs to one part of one operation; what is not drawn is less than a hundredth. */
TEST(split_draws_what_can_be_seen)
{
    const struct profile_data *data = *state;
    struct figure *figure = draw("time-split", data);
    const struct panel *host = figure->panels[0], *device = figure->panels[1];
    double longest =
        fmax(longest_row(host) * host->x.factor, longest_row(device) * device->x.factor);
    double all = (double)data->rows.total[PROF_HOST], idle = 0;

    double bars = visible_bars(host, longest / host->x.factor);
    assert_true(bars <= all + 1 && bars > 0.99 * all);
    const struct layer *layer = find_layer(device, MARK_BARS, "idle");
    for (size_t i = 0; layer && i < layer->nr; i++)
        idle += (layer->items[i].x - layer->items[i].low) * device->x.factor;
    assert_close(visible_bars(device, longest / device->x.factor) - idle,
                 (double)data->rows.total[PROF_DEVICE],
                 0.01 * (double)data->rows.total[PROF_DEVICE]);
    figure_free(figure);
}

TEST(operations_without_a_bar_are_named)
{
    struct prof_trace trace;
    struct profile_data data;

    prof_trace_init(&trace);
    int track = prof_trace_track(&trace, &(struct prof_track) { .process = 1, .thread = 1 });
    add_slice(&trace, track, 0, 10000000, "whole", PROF_SCOPES);
    add_slice(&trace, track, 0, 9000000, "long", PROF_SCOPES);
    add_slice(&trace, track, 9000000, 9000400, "tiny", PROF_SCOPES);
    add_slice(&trace, track, 9100000, 9100300, "tinier", PROF_SCOPES);
    int stream = prof_trace_track(
        &trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM, .process = 1, .thread = 7 });
    add_slice(&trace, stream, 100, 9000000, "long", PROF_KERNELS);
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    take(&data, &trace, 0, 0);
    struct figure *figure = draw("time-split", &data);
    assert_null(figure->reason);
    assert_int_equal(figure->panels[0]->y.ticks.nr, 2);
    if (!strstr(figure->caption, "Left out, each below 0.05 % of the longest: tiny, tinier."))
        fail_msg("%s", figure->caption);
    figure_free(figure);
    profile_data_release(&data);
}

TEST(memory_timeline_shows_few_calls)
{
    const struct profile_data *data = *state;
    struct figure *figure = draw("memory-timeline", data);
    const struct profile_window w = profile_window_of(data, SIZE_MAX, 2);
    const struct panel *lanes = figure->panels[1];

    assert_int_equal(w.outer, 2);
    assert_close(lanes->x.high * lanes->x.factor, (double)(w.high - w.low), 1);
    assert_has(figure->caption, "2 of 8 outermost calls");
    figure_free(figure);
}

/* As in traces whose times are whole microseconds: more calls of one length than there is room for.
 */
TEST(of_equally_long_calls_as_many_as_fit_are_drawn)
{
    enum { EQUAL = 5000, LEAST = 1000 };
    static const char *const figures[] = { "flame", "timeline" };
    struct profile_data data;
    struct prof_trace trace;
    struct strbuf text;
    struct error err;

    strbuf_init(&text);
    strbuf_addf(&text, "[{\"ph\":\"X\",\"ts\":0,\"dur\":%d,\"name\":\"main\"}", 6 * EQUAL);
    for (int i = 0; i < EQUAL; i++)
        strbuf_addf(&text, ",{\"ph\":\"X\",\"ts\":%d,\"dur\":5,\"name\":\"call %d\"}", i * 6, i);
    strbuf_addc(&text, ']');
    assert_ok(timeline_parse(text.data, text.length, "a text", &trace, &err), &err);
    take(&data, &trace, 0, 0);
    for (size_t n = 0; n < sizeof(figures) / sizeof(figures[0]); n++) {
        struct figure *figure = draw(figures[n], &data);
        size_t bars = 0;
        assert_null(figure->reason);
        for (size_t k = 0; k < figure->panels[0]->nr; k++)
            if (figure->panels[0]->layers[k]->mark == MARK_BARS)
                bars += figure->panels[0]->layers[k]->nr;
        assert_in_range(bars, LEAST, EQUAL - 1);
        assert_has(figure->caption, "Showing the ");
        figure_free(figure);
    }
    profile_data_release(&data);
    strbuf_release(&text);
}

TEST(room_goes_to_the_longest_then_to_the_first)
{
    static const struct {
        double lengths[6];
        size_t most;
        bool taken[6];
    } cases[] = {
        { { 1, 2, 3, 4, 5, 6 }, 6, { true, true, true, true, true, true } },
        { { 1, 2, 3, 4, 5, 6 }, 2, { false, false, false, false, true, true } },
        { { 5, 5, 5, 5, 5, 5 }, 2, { true, true, false, false, false, false } },
        { { 5, 9, 5, 5, 9, 1 }, 3, { true, true, false, false, true, false } },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double sorted[6];
        memcpy(sorted, cases[i].lengths, sizeof(sorted));
        struct profile_room room = profile_room(sorted, 6, cases[i].most);
        for (size_t k = 0; k < 6; k++)
            assert_int_equal(profile_room_takes(&room, cases[i].lengths[k]), cases[i].taken[k]);
    }
}

RUN_TESTS(setup, teardown)
