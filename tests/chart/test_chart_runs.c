/* SPDX-License-Identifier: MIT */
/*
 * Figures of several runs, lines and points over any number; degenerate runs.
 * Covers: S2-03, S1-07, S1-32, S1-34, S1-40, S1-42, S1-43, S1-51.
 */
#include "testing.h"

#include "output_records.h"

#include "base/memory.h"
#include "chart/chart.h"
#include "chart/preset.h"

#include <math.h>
#include <stdlib.h>

static const char *const names[] = { "main", "topic", "third" };

struct scene {
    struct records r;
    struct preset preset;
    int runs[3];
};

static void add_sweep(struct records *r, int run, double slow)
{
    for (int batch = 1; batch <= 4; batch *= 2)
        for (int threads = 2; threads <= 4; threads *= 2) {
            char key[KEY_SIZE];
            snprintf(key, sizeof(key), "gpt/nano/prefill/simd/fp32/batch=%d,seq=64/cpu-%dt/warm",
                     batch, threads);
            made_work(made_measurement(r, run, 0, key, slow * 1e6 * batch / threads, 0.01, 60,
                                       made_seed(run, threads, batch)),
                      1e7 * batch, 1e6);
        }
}

/* Three runs, the second 20 % slower; the third has nothing but a failure. */
static void scene_init(struct scene *s, const char *preset)
{
    struct error err;

    *s = (struct scene) { .runs = { 0, 1, 2 } };
    assert_ok(preset_parse(&s->preset, preset, strlen(preset), "t.json", &err), &err);
    for (int i = 0; i < 3; i++) {
        made_run(&s->r, i, "feedbeef", "gcc");
        s->r.runs[i].settings = memory_string(i ? "{\"sampling\":{\"min_time\":0.2}}"
                                                : "{\"sampling\":{\"min_time\":0.02}}");
    }
    add_sweep(&s->r, 0, 1);
    add_sweep(&s->r, 1, 1.2);
    made_failure(&s->r, 2, 0, "gpt/nano/prefill/simd/fp32/batch=1,seq=64/cpu-2t/warm",
                 OUTCOME_FAILED, "it died");
}

static void scene_release(struct scene *s)
{
    preset_release(&s->preset);
    records_release(&s->r);
}

static struct figure *build(const struct scene *s, size_t nr_runs)
{
    struct chart chart = { .preset = &s->preset, .records = &s->r, .run = 0 };

    if (nr_runs > 1) {
        chart.runs = s->runs;
        chart.nr_runs = nr_runs;
        chart.run_names = names;
    }
    return chart_build(&chart);
}

static size_t count_layers(const struct panel *p, enum mark mark)
{
    size_t nr = 0;

    for (size_t i = 0; i < p->nr; i++)
        nr += p->layers[i]->mark == mark;
    return nr;
}

static const struct layer *layer_of(const struct panel *p, enum mark mark, size_t nth)
{
    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->mark == mark && nth-- == 0)
            return p->layers[i];
    fail_msg("no layer %s", mark_name(mark));
    return NULL;
}

#define PRESET(type, more)                                                                         \
    "{\"name\":\"a\",\"title\":\"A\",\"type\":\"" type                                             \
    "\",\"y\":\"p50\",\"mode\":[\"single\","                                                       \
    "\"multi\"]" more "}"

#define SCENE_TEST(name) TEST_WITH_A(name, struct scene, s, scene_release)

SCENE_TEST(lines_over_a_dim)
{
    scene_init(s, PRESET("lines", ",\"x\":\"batch\""));
    struct figure *f = build(s, 1);
    assert_null(f->reason);
    assert_int_equal(f->nr_panels, 1);
    assert_int_equal(count_layers(f->panels[0], MARK_LINE), 2); /* one a number of threads */
    assert_string_equal(f->panels[0]->x.ticks.items[2].text, "4");
    figure_free(f);

    f = build(s, 3); /* a panel a family, a line a run that has it */
    assert_null(f->reason);
    assert_int_equal(f->nr_panels, 2);
    assert_int_equal(count_layers(f->panels[0], MARK_LINE), 2);
    assert_string_equal(layer_of(f->panels[0], MARK_LINE, 0)->label, "main");
    assert_string_equal(layer_of(f->panels[0], MARK_LINE, 1)->label, "topic");
    assert_has(f->caption, "1 FAILED");
    figure_free(f);
}

TEST(lines_over_threads_and_settings)
{
    struct scene s;

    scene_init(&s, PRESET("lines", ",\"x\":\"threads\""));
    struct figure *f = build(&s, 1);
    assert_null(f->reason);
    assert_int_equal(count_layers(f->panels[0], MARK_LINE), 3); /* one a batch */
    const struct layer *line = layer_of(f->panels[0], MARK_LINE, 0);
    assert_int_equal(line->nr, 2);
    assert_close(line->items[0].x, 2, 0);
    assert_close(line->items[1].x, 4, 0);
    figure_free(f);
    scene_release(&s);

    scene_init(&s, PRESET("lines", ",\"x\":\"min_time\""));
    f = build(&s, 3); /* each benchmark through the runs */
    assert_null(f->reason);
    assert_int_equal(f->nr_panels, 1);
    assert_int_equal(layer_of(f->panels[0], MARK_LINE, 0)->nr, 2);
    figure_free(f);
    s.runs[0] = 1; /* 0.2 s is asked for before 0.02 s, and still stands to the right of it */
    s.runs[1] = 0;
    f = build(&s, 2);
    assert_null(f->reason);
    line = layer_of(f->panels[0], MARK_LINE, 0);
    assert_int_equal(line->nr, 2);
    assert_true(line->items[0].x < line->items[1].x);
    assert_true(line->items[0].y < line->items[1].y); /* the second run is slower */
    figure_free(f);
    s.runs[0] = 0;
    s.runs[1] = 1;
    f = build(&s, 1); /* in one run there is one value */
    assert_has(f->reason, "two or more values of min_time");
    figure_free(f);
    scene_release(&s);
}

static const struct layer *layer_named(const struct panel *p, const char *label)
{
    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->mark == MARK_LINE && p->layers[i]->label &&
            strcmp(p->layers[i]->label, label) == 0)
            return p->layers[i];
    fail_msg("no line \"%s\"", label);
    return NULL;
}

/* A window that is wider than the history has all that is there so far. */
SCENE_TEST(wide_window_of_a_trend)
{
    scene_init(s,
               "{\"name\":\"a\",\"title\":\"A\",\"type\":\"trend\",\"mode\":\"trend\","
               "\"rolling_window\":100}");
    struct figure *f = build(s, 1);
    assert_null(f->reason);
    const struct layer *line = layer_named(f->panels[0], "p50");
    const struct layer *rolling = layer_named(f->panels[0], "median of the last 100");
    assert_int_equal(line->nr, 2); /* the third run has no time */
    assert_int_equal(rolling->nr, 2);
    assert_close(rolling->items[0].y, line->items[0].y, 1e-6);
    assert_close(rolling->items[1].y, (line->items[0].y + line->items[1].y) / 2, 1e-6);
    figure_free(f);
}

SCENE_TEST(a_row_a_run)
{
    scene_init(s, PRESET("runs", ",\"limit\":4"));
    struct figure *f = build(s, 3);
    assert_null(f->reason);
    assert_int_equal(f->nr_panels, 4);
    assert_int_equal(layer_of(f->panels[0], MARK_POINTS, 0)->nr, 2); /* the third has no time */
    assert_int_equal(f->panels[0]->y.ticks.nr, 3);
    assert_string_equal(f->panels[0]->y.ticks.items[1].text, "topic");
    assert_has(f->caption, "4 of 6");
    figure_free(f);
    f = build(s, 1);
    assert_has(f->reason, "two or more");
    figure_free(f);
}

/* More runs than can be rows: side by side, three of them named; of lines the last twelve. */
SCENE_TEST(many_runs)
{
    enum { MANY = 40 };
    char texts[MANY][16];
    const char *many[MANY];
    int runs[MANY];

    scene_init(s, PRESET("runs", ",\"limit\":1"));
    for (int i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof(texts[i]), "run %d", i);
        many[i] = texts[i];
        runs[i] = i;
        if (i > 2) {
            made_run(&s->r, i, "feedbeef", "gcc");
            add_sweep(&s->r, i, 1 + 0.001 * i);
        }
    }
    struct chart chart = {
        .preset = &s->preset, .records = &s->r, .runs = runs, .nr_runs = MANY, .run_names = many
    };
    struct figure *f = chart_build(&chart);
    assert_null(f->reason);
    assert_int_equal(f->panels[0]->x.ticks.nr, 3);
    assert_string_equal(f->panels[0]->x.ticks.items[1].text, "run 20");
    assert_int_equal(f->panels[0]->x.places.nr, MANY); /* for who looks at a part of it */
    assert_string_equal(f->panels[0]->x.places.items[21].text, "run 21");
    assert_int_equal(layer_of(f->panels[0], MARK_POINTS, 0)->nr, MANY - 1);
    assert_true(f->height < 600);
    figure_free(f);
    s->preset.type = plot_type_find("lines", &(struct error) { "" });
    f = chart_build(&chart);
    assert_null(f->reason);
    assert_int_equal(count_layers(f->panels[0], MARK_LINE), 12);
    assert_string_equal(layer_of(f->panels[0], MARK_LINE, 11)->label, "run 39");
    assert_has(f->caption, "the last 12 of 40");
    figure_free(f);
}

struct many {
    char texts[90][16];
    const char *names[90];
    int runs[90];
};

/* As many runs, each with the same four benchmarks. */
static void add_many(struct scene *s, struct many *many)
{
    static const char *const keys[] = {
        "gemm/nn/simd/fp32/batch=1,seq=64,n=64,k=64/cpu-2t/warm",
        "gemm/nn/simd/fp32/batch=1,seq=96,n=96,k=96/cpu-2t/warm",
        "gemm/nn/openblas/fp32/batch=1,seq=64,n=64,k=64/cpu-2t/warm",
        "gpt/nano/prefill/simd/fp32/batch=1,seq=64/cpu-2t/warm",
    };

    *s = (struct scene) { .runs = { 0, 1, 2 } };
    for (int i = 0; i < 90; i++) {
        snprintf(many->texts[i], sizeof(many->texts[i]), "run %d", i);
        many->names[i] = many->texts[i];
        many->runs[i] = i;
        made_run(&s->r, i, "feedbeef", "gcc");
        for (int k = 0; k < 4; k++)
            made_work(made_measurement(&s->r, i, 0, keys[k], 1e5 * (k + 1) * (1 + 0.001 * i), 0.01,
                                       20, made_seed(i, k, 7)),
                      1e7, 1e6);
    }
    made_roofs(&s->r);
}

/* Whatever the type: of ninety runs no more than a reader can tell apart, and it is said. */
SCENE_TEST(more_runs_than_can_be_shown)
{
    static const char preset[] =
        "{\"name\":\"a\",\"title\":\"A\",\"type\":\"split\",\"y\":\"p50\","
        "\"x\":\"gflops\",\"panels\":[\"p50\",\"gflops\"],"
        "\"mode\":[\"single\",\"multi\"]}";
    struct many *many = memory_zeroed(1, sizeof(*many));
    struct error err;
    size_t drawn = 0;

    add_many(s, many);
    assert_ok(preset_parse(&s->preset, preset, strlen(preset), "t.json", &err), &err);
    struct chart chart = { .preset = &s->preset,
                           .records = &s->r,
                           .runs = many->runs,
                           .nr_runs = 90,
                           .run_names = many->names };
    for (size_t i = 0; plot_type_at(i); i++) {
        s->preset.type = plot_type_at(i);
        struct figure *f = chart_build(&chart);
        for (size_t k = 0; k < f->nr_panels; k++)
            if (f->panels[k]->y.scale == AXIS_CATEGORY)
                assert_true(f->panels[k]->y.ticks.nr <= LIMIT_ROWS_MAX);
        if (!f->reason && s->preset.type->runs_max) {
            drawn++;
            assert_true(f->nr_samples < 40);
            if (!strstr(f->caption, "Of 90 runs the last "))
                fail_msg("%s: %s", s->preset.type->name, f->caption);
        }
        figure_free(f);
    }
    assert_true(drawn >= 10);

    /* Without that, one benchmark in all its runs still fits. */
    struct chart_items items;
    chart_items_init(&items, &chart);
    assert_int_equal(items.nr, 360);
    chart_items_limit(&items, 24, chart_item_median);
    assert_int_equal(items.nr, LIMIT_ROWS_MAX);
    assert_int_equal(items.left_out, 360 - LIMIT_ROWS_MAX);
    assert_string_equal(items.items[items.nr - 1].label, "run 89");
    chart_items_release(&items);
    free(many);
}

static enum ink ink_of(const struct figure *f, const char *label)
{
    for (size_t i = 0; i < f->panels[0]->nr; i++)
        if (f->panels[0]->layers[i]->label && strcmp(f->panels[0]->layers[i]->label, label) == 0)
            return f->panels[0]->layers[i]->style.ink;
    fail_msg("no series %s", label);
    return INK_NR;
}

/* A variant has one colour in all figures of a run, whichever it meets first. */
TEST(variants_keep_their_colour)
{
    static const struct {
        const char *type, *more;
    } rows[] = { { "bars", "" },
                 { "grouped", ",\"group\":\"variant\"" },
                 { "scatter", ",\"x\":\"gflops\",\"group\":\"variant\"" },
                 { "box", "" },
                 { "split", ",\"panels\":[\"gflops\",\"p50\"]" } };
    struct error err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scene s = { .runs = { 0 } };
        char preset[512];
        snprintf(
            preset, sizeof(preset),
            "{\"name\":\"a\",\"title\":\"A\",\"type\":\"%s\",\"y\":\"p50\",\"mode\":\"single\","
            "\"filter\":[\"!gpt/*\"]%s}",
            rows[i].type, rows[i].more);
        assert_ok(preset_parse(&s.preset, preset, strlen(preset), "t.json", &err), &err);
        made_run(&s.r, 0, "feedbeef", "gcc");
        const char *keys[] = { "gemm/nn/simd/fp32/batch=1,seq=64,n=64,k=64/cpu-2t/warm",
                               "gemm/nn/openblas/fp32/batch=1,seq=64,n=64,k=64/cpu-2t/warm",
                               "gpt/nano/prefill/plain/fp32/batch=1,seq=64/cpu-2t/warm" };
        for (int k = 0; k < 3; k++)
            made_work(made_measurement(&s.r, 0, 0, keys[k], 1e5 * (i % 2 ? 3 - k : k + 1), 0.01, 60,
                                       made_seed(0, k, 7)),
                      1e7, 1e6);
        struct figure *f = build(&s, 1);
        assert_null(f->reason);
        assert_int_equal(ink_of(f, "openblas"), 0); /* openblas, plain, simd */
        assert_int_equal(ink_of(f, "simd"), 2);
        figure_free(f);
        scene_release(&s);
    }
}

/* Shapes that share no batch and seq: rows are variants then, or most of the map were empty. */
TEST(a_map_of_shapes)
{
    static const char *const shapes[] = { "batch=1,seq=64,n=64,k=64", "batch=1,seq=96,n=96,k=96",
                                          "batch=1,seq=7,n=500,k=3" };
    static const char preset[] =
        "{\"name\":\"a\",\"title\":\"A\",\"type\":\"matrix\",\"y\":\"gflops\",\"mode\":\"single\"}";
    struct scene s = { .runs = { 0 } };
    struct error err;

    assert_ok(preset_parse(&s.preset, preset, strlen(preset), "t.json", &err), &err);
    made_run(&s.r, 0, "feedbeef", "gcc");
    for (int i = 0; i < 6; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "gemm/nn/%s/fp32/%s/cpu-2t/warm", i % 2 ? "simd" : "naive",
                 shapes[i / 2]);
        made_work(made_measurement(&s.r, 0, 0, key, 1e5 * (i + 1), 0.01, 20, made_seed(0, i, 7)),
                  1e7, 1e6);
    }
    struct figure *f = build(&s, 1);
    assert_null(f->reason);
    const struct panel *p = f->panels[0];
    assert_int_equal(p->y.ticks.nr, 2);
    assert_int_equal(p->x.ticks.nr, 3);
    assert_string_equal(p->x.label, "seq × n × k");
    assert_string_equal(p->x.ticks.items[0].text, "7 × 500 × 3");
    for (size_t i = 0; i < 6; i++)
        assert_true(isfinite(layer_of(p, MARK_CELLS, 0)->items[i].share));
    assert_has(f->caption, "in shape alone");
    figure_free(f);
    scene_release(&s);
}

SCENE_TEST(labels_have_the_run)
{
    struct chart_items items;

    scene_init(s, PRESET("scatter", ",\"x\":\"gflops\""));
    struct chart chart = {
        .preset = &s->preset, .records = &s->r, .runs = s->runs, .nr_runs = 3, .run_names = names
    };
    chart_items_init(&items, &chart);
    assert_int_equal(items.nr, 12);
    assert_string_equal(items.items[0].own, "batch=1 cpu-2t");
    assert_string_equal(items.items[0].label, "batch=1 cpu-2t · main");
    assert_string_equal(items.items[6].label, "batch=1 cpu-2t · topic");
    assert_ptr_equal(items.items[0].own, items.items[6].own);
    assert_int_equal(items.items[6].run, 1);
    chart_items_limit(&items, 5, chart_item_median); /* a benchmark goes with all its runs */
    assert_int_equal(items.nr, 4);
    assert_int_equal(items.left_out, 8);
    chart_items_limit(&items, 1, chart_item_median); /* and the last stays */
    assert_int_equal(items.nr, 2);
    assert_string_equal(items.items[1].label, "topic");
    chart_items_release(&items);
}

TEST(points_of_any_number)
{
    struct scene s;

    scene_init(&s, PRESET("scatter",
                          ",\"x\":\"batch\",\"y_scale\":\"log\",\"size\":\"flops\","
                          "\"colour\":\"gflops / threads\",\"group\":\"threads\""));
    struct figure *f = build(&s, 1);
    assert_null(f->reason);
    assert_null(f->alt ? strstr(f->alt, "beaten") : NULL); /* batch is neither good nor bad */
    const struct layer *points = layer_of(f->panels[0], MARK_POINTS, 0);
    assert_close(points->items[0].x, 1, 0);
    assert_true(points->items[0].share >= 0 && points->items[0].share <= 1);
    assert_true(points->items[0].size > 0);
    assert_string_equal(f->bar.label, "gflops / threads");
    figure_free(f);
    scene_release(&s);

    scene_init(&s, PRESET("scatter", ",\"x\":\"device\",\"highlight_pareto\":true"));
    f = build(&s, 1);
    assert_null(f->reason);
    assert_int_equal(f->panels[0]->x.scale, AXIS_CATEGORY);
    assert_string_equal(f->panels[0]->x.ticks.items[1].text, "cpu-4t");
    figure_free(f);
    scene_release(&s);

    scene_init(&s, PRESET("scatter", ",\"x\":\"gflops\",\"highlight_pareto\":true"));
    f = build(&s, 3);
    assert_null(f->reason);
    assert_string_equal(layer_of(f->panels[0], MARK_LINE, 0)->label, "nothing is better in both");
    assert_string_equal(layer_of(f->panels[0], MARK_POINTS, 1)->label, "topic");
    figure_free(f);
    scene_release(&s);
}

TEST(what_nothing_has_gives_a_reason)
{
    static const char *const types[] = {
        PRESET("lines", ",\"x\":\"vocab\""),
        PRESET("scatter", ",\"x\":\"gpu_power_watts\""),
        PRESET("scatter", ",\"x\":\"p50 / (p50 - p50)\""),
        PRESET("runs", ",\"filter\":\"none\""),
        PRESET("lines", ",\"x\":\"batch\",\"filter\":\"none\""),
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct scene s;
        scene_init(&s, types[i]);
        for (size_t nr = 1; nr <= 3; nr += 2) {
            struct figure *f = build(&s, nr);
            if (!f->reason)
                fail_msg("%s was drawn", types[i]);
            assert_int_equal(f->nr_panels, 0);
            figure_free(f);
        }
        scene_release(&s);
    }
}

RUN_TESTS(NULL, NULL)
