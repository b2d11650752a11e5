/* SPDX-License-Identifier: MIT */
/*
 * What holds for every figure of the presets, over two runs whose benchmarks lie a million times
 * apart: no length on a logarithmic axis. Covers: S0-04, S1-39.
 */
#include "figure_testing.h"

#include "output_records.h"
#include "presets_testing.h"

#include "chart/chart.h"
#include "verdict/compare.h"

enum { RUNS = 2, LAUNCHES = 5 };

struct scene {
    struct records sides[RUNS], all;
    struct comparison comparison;
    struct plot_model models[MADE_MODELS];
};

static const int both[] = { 0, 1 };
static const char *const run_names[] = { "before", "after" };

static void add_kernels(struct records *r, int run, int launch, double slow)
{
    static const char *const variants[] = { "naive", "simd", "openblas" };

    for (int n = 16; n <= 1024; n *= 4)
        for (int v = 0; v < 3; v++)
            for (int batch = 1; batch <= 4; batch *= 4) {
                char key[KEY_SIZE];
                double flops = 2.0 * batch * n * n * n;
                snprintf(key, sizeof(key), "gemm/nn/%s/fp32/batch=%d,seq=%d,n=%d,k=%d/cpu-4t/warm",
                         variants[v], batch, n, n, n);
                struct measurement *m =
                    made_measurement(r, run, launch, key, slow * flops / (v ? 100 : 2), 0.01, 60,
                                     made_seed(run, launch, n + v + batch));
                made_work(m, flops, 12.0 * n * n);
                m->vendor = v == 2;
            }
}

static void add_side(struct records *r, int nth, double slow)
{
    int run = made_run(r, nth, nth ? "feedbeef" : "deadbeef", "gcc 12.2.0");

    for (int launch = 0; launch < LAUNCHES; launch++)
        add_kernels(r, run, launch, slow);
    for (int batch = 1; batch <= 4; batch *= 4)
        for (int seq = 32; seq <= 64; seq *= 2)
            made_add_models(r, run, LAUNCHES, batch, seq, slow);
    made_roofs(r);
}

static void scene_init(struct scene *s)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct error err;

    *s = (struct scene) { .all = { 0 } };
    for (int i = 0; i < MADE_MODELS; i++) {
        const struct made_model *m = &made_models[i];
        s->models[i] = (struct plot_model) { .name = m->name,
                                             .layers = m->layers,
                                             .heads = m->heads,
                                             .width = m->width,
                                             .block = m->block,
                                             .parameters = 12.0 * m->layers * m->width * m->width,
                                             .flops_per_token = 1e6,
                                             .kernels = { m->kernels[0], m->kernels[1] } };
    }
    for (int i = 0; i < RUNS; i++) {
        add_side(&s->sides[i], i, i ? 1.2 : 1);
        add_side(&s->all, i, i ? 1.2 : 1);
    }
    assert_ok(compare_run(&s->sides[0], &s->sides[1], &settings, &s->comparison, &err), &err);
}

static void scene_release(struct scene *s)
{
    comparison_release(&s->comparison);
    for (int i = 0; i < RUNS; i++)
        records_release(&s->sides[i]);
    records_release(&s->all);
}

#define SCENE_TEST(name) TEST_WITH_A(name, struct scene, s, scene_release)

/* The preset's figure of the newest run, with its base, or of both runs. */
static struct figure *build(const struct scene *s, const struct preset *preset, size_t runs)
{
    struct chart chart = { .preset = preset,
                           .records = &s->all,
                           .comparison = &s->comparison,
                           .base_label = "main",
                           .models = s->models,
                           .nr_models = MADE_MODELS,
                           .run = 1 };

    if (runs > 1) {
        chart.runs = both;
        chart.nr_runs = runs;
        chart.run_names = run_names;
    }
    return chart_build(&chart);
}

/* Lengths of bars compare on a linear axis that holds their zero, and on no other. Returns how many
 * axes of the figure are logarithmic. */
static int check_bars(const struct figure *f)
{
    int logarithmic = 0;

    for (size_t i = 0; i < f->nr_panels; i++) {
        const struct panel *p = f->panels[i];
        logarithmic += (p->x.scale == AXIS_LOG) + (p->y.scale == AXIS_LOG);
        for (size_t k = 0; k < p->nr; k++) {
            const struct layer *l = p->layers[k];
            const struct axis *along = l->across ? &p->x : &p->y;
            if (l->mark != MARK_BARS || l->nr == 0)
                continue;
            if (along->scale != AXIS_LINEAR)
                fail_msg("%s has bars on an axis that is not linear", f->id);
            if (isnan(l->items[0].low) && !(along->low <= 0 && along->high >= 0))
                fail_msg("%s has bars on an axis without zero", f->id);
        }
    }
    return logarithmic;
}

SCENE_TEST(no_figure_has_bars_on_a_logarithmic_axis)
{
    int logarithmic = 0;

    scene_init(s);
    for (size_t i = 0; i < presets.nr; i++) {
        for (size_t runs = 1; runs <= RUNS; runs++) {
            struct figure *f = build(s, &presets.items[i], runs);
            logarithmic += check_bars(f);
            check_state(f);
        }
    }
    assert_true(logarithmic > 20); /* the records reach so far that the rule is tried */
}

/* A figure without benchmarks says what left them out. */
SCENE_TEST(a_range_that_leaves_nothing_is_the_reason)
{
    static const struct string_list none = { 0 };
    static const struct {
        const char *preset;
        bool range;
        const char *reason;
    } rows[] = {
        { "\"type\": \"bars\", \"y\": \"p50\", \"filter\": [\"a*\", \"b\"]", false,
          "no benchmark of the run matches a*, b" },
        { "\"type\": \"bars\", \"y\": \"p50\"", true, "no benchmark of the run is in the range" },
        { "\"type\": \"bars\", \"y\": \"p50\", \"filter\": [\"gemm/*\"]", true,
          "no benchmark of the run in the range matches gemm/*" },
        { "\"type\": \"dumbbell\", \"filter\": [\"a*\"]", false,
          "no benchmark has a time on both sides" },
        { "\"type\": \"dumbbell\"", true, "no benchmark in the range has a time on both sides" },
    };

    scene_init(s);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct preset preset;
        struct error err;
        char text[256];
        snprintf(text, sizeof(text), "{\"name\": \"c\", \"title\": \"C\", %s}", rows[i].preset);
        assert_ok(preset_parse(&preset, text, strlen(text), "test", &err), &err);
        preset.only = rows[i].range ? &none : NULL;
        struct figure *f = build(s, &preset, 1);
        assert_string_equal(f->reason, rows[i].reason);
        figure_free(f);
        preset_release(&preset);
    }
}

RUN_TESTS(presets_setup, presets_teardown)
