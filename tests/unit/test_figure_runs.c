/* SPDX-License-Identifier: MIT */
/*
 * Figures of several runs, lines and points over any number; degenerate runs.
 * Covers: S1-07, S1-32, S1-34, S1-40, S1-42, S1-43, S1-51.
 */
#include "testing.h"

#include "output_records.h"

#include "output/chart.h"

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

static void lines_over_a_dim(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, PRESET("lines", ",\"x\":\"batch\""));
    struct figure *f = build(&s, 1);
    assert_null(f->reason);
    assert_int_equal(f->nr_panels, 1);
    assert_int_equal(count_layers(f->panels[0], MARK_LINE), 2); /* one a number of threads */
    assert_string_equal(f->panels[0]->x.ticks.items[2].text, "4");
    figure_free(f);

    f = build(&s, 3); /* a panel a family, a line a run that has it */
    assert_null(f->reason);
    assert_int_equal(f->nr_panels, 2);
    assert_int_equal(count_layers(f->panels[0], MARK_LINE), 2);
    assert_string_equal(layer_of(f->panels[0], MARK_LINE, 0)->label, "main");
    assert_string_equal(layer_of(f->panels[0], MARK_LINE, 1)->label, "topic");
    assert_non_null(strstr(f->caption, "1 FAILED"));
    figure_free(f);
    scene_release(&s);
}

static void lines_over_threads_and_settings(void **state)
{
    struct scene s;

    (void)state;
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
    f = build(&s, 1); /* in one run there is one value */
    assert_non_null(strstr(f->reason, "two or more values of min_time"));
    figure_free(f);
    scene_release(&s);
}

static void a_row_a_run(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, PRESET("runs", ",\"limit\":4"));
    struct figure *f = build(&s, 3);
    assert_null(f->reason);
    assert_int_equal(f->nr_panels, 4);
    assert_int_equal(layer_of(f->panels[0], MARK_POINTS, 0)->nr, 2); /* the third has no time */
    assert_int_equal(f->panels[0]->y.ticks.nr, 3);
    assert_string_equal(f->panels[0]->y.ticks.items[1].text, "topic");
    assert_non_null(strstr(f->caption, "4 of 6"));
    figure_free(f);
    f = build(&s, 1);
    assert_non_null(strstr(f->reason, "two or more"));
    figure_free(f);
    scene_release(&s);
}

/* More runs than can be rows: side by side, three of them named; of lines the last twelve. */
static void many_runs(void **state)
{
    enum { MANY = 40 };
    char texts[MANY][16];
    const char *many[MANY];
    int runs[MANY];
    struct scene s;

    (void)state;
    scene_init(&s, PRESET("runs", ",\"limit\":1"));
    for (int i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof(texts[i]), "run %d", i);
        many[i] = texts[i];
        runs[i] = i;
        if (i > 2) {
            made_run(&s.r, i, "feedbeef", "gcc");
            add_sweep(&s.r, i, 1 + 0.001 * i);
        }
    }
    struct chart chart = {
        .preset = &s.preset, .records = &s.r, .runs = runs, .nr_runs = MANY, .run_names = many
    };
    struct figure *f = chart_build(&chart);
    assert_null(f->reason);
    assert_int_equal(f->panels[0]->x.ticks.nr, 3);
    assert_string_equal(f->panels[0]->x.ticks.items[1].text, "run 20");
    assert_int_equal(layer_of(f->panels[0], MARK_POINTS, 0)->nr, MANY - 1);
    assert_true(f->height < 600);
    figure_free(f);
    s.preset.type = plot_type_find("lines", &(struct error) { "" });
    f = chart_build(&chart);
    assert_null(f->reason);
    assert_int_equal(count_layers(f->panels[0], MARK_LINE), 12);
    assert_string_equal(layer_of(f->panels[0], MARK_LINE, 11)->label, "run 39");
    assert_non_null(strstr(f->caption, "the last 12 of 40"));
    figure_free(f);
    scene_release(&s);
}

static void labels_have_the_run(void **state)
{
    struct chart_items items;
    struct scene s;

    (void)state;
    scene_init(&s, PRESET("scatter", ",\"x\":\"gflops\""));
    struct chart chart = {
        .preset = &s.preset, .records = &s.r, .runs = s.runs, .nr_runs = 3, .run_names = names
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
    scene_release(&s);
}

static void points_of_any_number(void **state)
{
    struct scene s;

    (void)state;
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

static void what_nothing_has_gives_a_reason(void **state)
{
    static const char *const types[] = {
        PRESET("lines", ",\"x\":\"vocab\""),
        PRESET("scatter", ",\"x\":\"gpu_power_watts\""),
        PRESET("scatter", ",\"x\":\"p50 / (p50 - p50)\""),
        PRESET("runs", ",\"filter\":\"none\""),
        PRESET("lines", ",\"x\":\"batch\",\"filter\":\"none\""),
    };

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_over_a_dim),
        cmocka_unit_test(lines_over_threads_and_settings),
        cmocka_unit_test(a_row_a_run),
        cmocka_unit_test(many_runs),
        cmocka_unit_test(labels_have_the_run),
        cmocka_unit_test(points_of_any_number),
        cmocka_unit_test(what_nothing_has_gives_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
