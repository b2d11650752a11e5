/* SPDX-License-Identifier: MIT */
/*
 * Figures of runs as data: golden JSON, places of all texts, degenerate records.
 * Covers: S0-04, S0-05, S0-06, S0-07, S0-08, S0-15, S0-16, S1-28, S1-32, S1-39, S2-01, S2-03,
 * S2-04, S2-06, S2-08.
 */
#include "figure_testing.h"

#include "output_records.h"
#include "presets_testing.h"

#include "chart/chart.h"
#include "chart/types/trend_marks.h"

static struct plot_model models[MADE_MODELS];

static int setup(void **state)
{
    for (int i = 0; i < MADE_MODELS; i++) {
        const struct made_model *m = &made_models[i];
        models[i] = (struct plot_model) { .name = m->name,
                                          .layers = m->layers,
                                          .heads = m->heads,
                                          .width = m->width,
                                          .block = m->block,
                                          .parameters = 12.0 * m->layers * m->width * m->width,
                                          .flops_per_token = 1e6,
                                          .kernels = { m->kernels[0], m->kernels[1] } };
    }
    return presets_setup(state);
}

static struct figure *build(const struct records *records, const char *name)
{
    struct error err;
    struct chart chart = { .preset = presets_find(&presets, name, &err),
                           .records = records,
                           .models = models,
                           .nr_models = MADE_MODELS,
                           .run = run_newest(records) };

    assert_non_null(chart.preset);
    return chart_build(&chart);
}

static void add_maps(struct records *r, int run)
{
    for (int batch = 1; batch <= 4; batch *= 2)
        for (int seq = 32; seq <= 64; seq *= 2) {
            char key[KEY_SIZE];
            if (batch == 4 && seq == 64)
                continue; /* a hole in the map */
            snprintf(key, sizeof(key), "gpt/nano/prefill/simd/fp32/batch=%d,seq=%d/cpu-4t/warm",
                     batch, seq);
            made_work(made_measurement(r, run, 0, key, 1e5 + 9e3 * batch * seq, 0.02, 80,
                                       (uint64_t)(batch * seq)),
                      5e6 * batch * seq, 2e7);
        }
}

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

RECORDS_TEST(single_run_figures)
{
    static const char *const names[] = { "latency-prefill", "throughput-prefill",
                                         "percentiles-models", "architecture", "efficiency" };

    made_run(r, 0, "feedbeef", "gcc 12.2.0");
    made_add_models(r, 0, 2, 4, 64, 1);
    made_failure(r, 0, 0, "gpt/gpt2/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm",
                 OUTCOME_UNSUPPORTED, "needs 9 GiB");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_golden(build(r, names[i]));
}

RECORDS_TEST(sweep_figures)
{
    static const char *const names[] = { "heatmap-models", "scaling-batch", "scaling-seq",
                                         "pareto" };

    made_run(r, 0, "feedbeef", "gcc 12.2.0");
    add_maps(r, 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_golden(build(r, names[i]));
}

/* Of nine lines one is drawn: its title and its ticks are of that one, and not of the others, which
 * go to 64 times the batch. */
RECORDS_TEST(titles_are_of_the_lines_that_are_drawn)
{
    char key[KEY_SIZE];

    made_run(r, 0, "feedbeef", "gcc 12.2.0");
    for (int batch = 1; batch <= 64; batch *= 2)
        for (int v = 0; v < 9; v++) {
            if (v == 0 ? batch > 16 : batch != 1 && batch != 64)
                continue;
            snprintf(key, sizeof(key), "gpt/nano/prefill/v%d/fp32/batch=%d,seq=64/cpu-4t/warm", v,
                     batch);
            made_measurement(r, 0, 0, key, 1e5 * batch, 0, 9, 1);
        }
    struct figure *f = build(r, "scaling-batch");
    const struct ticks *ticks = &f->panels[0]->x.ticks;
    assert_has(f->caption, "Showing 1 of 9 lines");
    assert_string_equal(f->title,
                        "Prefill latency over batch: 16 times the batch takes 16.0× as long");
    assert_int_equal(ticks->nr, 5);
    assert_string_equal(ticks->items[4].text, "16");
    figure_free(f);
}

/* Square products of three variants, one of them the library's. */
static void add_squares(struct records *r, int run)
{
    static const char *const variants[] = { "naive", "simd", "openblas" };
    static const double rates[] = { 9, 210, 260 }; /* FLOP/ns */

    for (int launch = 0; launch < 3; launch++)
        for (int n = 128; n <= 512; n *= 2)
            for (int v = 0; v < 3; v++) {
                char key[KEY_SIZE];
                double flops = 2.0 * n * n * n;
                snprintf(key, sizeof(key), "gemm/nn/%s/fp32/batch=1,seq=%d,n=%d,k=%d/cpu-4t/warm",
                         variants[v], n, n, n);
                struct measurement *m =
                    made_measurement(r, run, launch, key, flops / rates[v] + 4000, 0.03, 60,
                                     made_seed(run, launch, n + v));
                made_work(m, flops, 12.0 * n * n);
                m->vendor = v == 2;
            }
}

RECORDS_TEST(size_figures)
{
    static const char *const names[] = { "sizes-gemm", "shapes-gemm", "speedup-variants" };

    made_run(r, 0, "feedbeef", "gcc 12.2.0");
    add_squares(r, 0);
    made_roofs(r);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_golden(build(r, names[i]));
}

/* A variant against the library: the ratio of their medians, its rule at 1, lines that begin there.
 */
RECORDS_TEST(speed_up_is_the_ratio_of_medians)
{
    made_run(r, 0, "feedbeef", "gcc");
    made_measurement(r, 0, 0, "gemm/nn/mine/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 2000, 0, 9, 1);
    made_measurement(r, 0, 0, "gemm/nn/theirs/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 1000, 0, 9,
                     1)
        ->vendor = true;
    made_measurement(r, 0, 0, "gemm/nn/alone/fp32/batch=1,seq=9,n=8,k=8/cpu-4t/warm", 10, 0, 9, 1);
    struct figure *f = build(r, "speedup-variants");
    const struct layer *points = find_layer(f->panels[0], MARK_POINTS, "mine");
    const struct layer *stems = find_layer(f->panels[0], MARK_SEGMENTS, NULL);
    assert_non_null(points);
    assert_int_equal(points->nr, 1);
    assert_close(points->items[0].x, 0.5, 1e-3);
    assert_close(stems->items[0].low, 0.5, 1e-3);
    assert_close(stems->items[0].high, 1, 0);
    assert_non_null(find_layer(f->panels[0], MARK_RULES, "theirs"));
    assert_null(find_layer(f->panels[0], MARK_INTERVALS, NULL)); /* one launch carries none */
    figure_free(f);
}

/* A kernel without a library's variant is held against its own first: rows say what each is held
 * against, and how many times is no "slower" of the wrong one. */
RECORDS_TEST(speed_up_names_each_base)
{
    static const char *const keys[] = {
        "gemm/nn/mine/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm",
        "gemm/nn/theirs/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm",
        "pointwise/gelu/first/fp32/batch=1,seq=8,width=8/cpu-4t/warm",
        "pointwise/gelu/second/fp32/batch=1,seq=8,width=8/cpu-4t/warm",
    };
    static const double ns[] = { 2000, 1000, 9000, 3000 };

    made_run(r, 0, "feedbeef", "gcc");
    for (int i = 0; i < 4; i++)
        made_measurement(r, 0, 0, keys[i], ns[i], 0, 9, 1)->vendor = i == 1;
    struct figure *f = build(r, "speedup-variants");
    check_places(f);
    const struct layer *texts = find_layer(f->panels[0], MARK_TEXT, NULL);
    assert_int_equal(texts->nr, 2);
    assert_has(texts->items[0].text, "0.50× theirs");
    assert_has(texts->items[1].text, "3.00× first");
    assert_non_null(find_layer(f->panels[0], MARK_RULES, "the one named beside it"));
    figure_free(f);
}

/* Models of one size alone: nano at another batch would be compared with micro at none of its own.
 */
RECORDS_TEST(efficiency_names_what_it_has_room_for)
{
    made_run(r, 0, "feedbeef", "gcc");
    for (int i = 0; i < 10; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "gpt/%s/prefill/simd/fp32/batch=%d,seq=64/cpu-4t/warm",
                 i % 2 ? "nano" : "micro", i / 2 + 1);
        made_work(made_measurement(r, 0, 0, key, 1e5 * (i + 1), 0.02, 80, 1), 3e8 * (i + 1), 2e7);
    }
    struct figure *f = build(r, "efficiency");
    check_places(f);
    for (size_t i = 0; i < f->nr_panels; i++) {
        assert_int_equal(find_layer(f->panels[i], MARK_POINTS, NULL)->nr, 2);
        check_data_texts(f, f->panels[i]);
    }
    assert_has(f->caption, "the fastest of each kernel");
    assert_has(f->caption, "All at batch=5 seq=64");
    figure_free(f);
}

static struct rect follow_start(const struct panel *p, const struct layer *l)
{
    const struct datum *d = &l->items[0];

    return (struct rect) { panel_x(p, d->x), panel_y(p, d->y) + d->dy, 0, 0 };
}

/* On a busy machine L1 may come out slower than L3: names of close roofs still start apart. */
RECORDS_TEST(names_of_close_roofs_are_apart)
{
    struct rect starts[8];
    size_t nr = 0;

    made_run(r, 0, "feedbeef", "gcc");
    add_squares(r, 0);
    made_roof(r, "bandwidth.L1", "B/s", 128e9, 0);
    made_roof(r, "bandwidth.L2", "B/s", 223e9, 0);
    made_roof(r, "bandwidth.L3", "B/s", 198e9, 0);
    made_roof(r, "bandwidth.dram", "B/s", 20e9, 0);
    made_roof(r, "flops.fp32", "FLOP/s", 234e9, 0);
    struct figure *f = build(r, "roofline");
    check_places(f);
    const struct panel *p = f->panels[0];
    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->follow && p->layers[i]->nr > 0)
            starts[nr++] = follow_start(p, p->layers[i]);
    assert_int_equal(nr, 4);
    for (size_t i = 0; i < nr; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(fabs(starts[i].x - starts[k].x) > 150 ||
                        fabs(starts[i].y - starts[k].y) > 20);
    figure_free(f);
}

static double widest_point(const struct panel *p)
{
    double widest = 0;

    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->mark == MARK_POINTS && k < p->layers[i]->nr; k++)
            widest = fmax(widest, p->layers[i]->items[k].size);
    return widest;
}

static void check_given_roofs(const struct figure *f)
{
    cJSON *tree = figure_to_json(f);
    char *json = cJSON_PrintUnformatted(tree);

    assert_has(json, "fp32 peak 500.0 GFLOP/s given");
    assert_has(json, "DRAM 51.20 GB/s given");
    assert_has(json, "ridge 13.2 FLOP/byte");
    assert_has(f->caption, "harness.json");
    free(json);
    cJSON_Delete(tree);
}

/* A point grows with the root of its share of the time, so its area with the share. */
RECORDS_TEST(roofline_shows_time_and_given_roofs)
{
    struct error err;

    made_run(r, 0, "feedbeef", "gcc");
    made_work(made_measurement(r, 0, 0, "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 1e6,
                               0, 9, 1),
              1e8, 1e7);
    made_work(made_measurement(r, 0, 0,
                               "layernorm/plain/simd/fp32/batch=1,seq=8,width=8/cpu-4t/warm", 2.5e5,
                               0, 9, 1),
              1e6, 1e6);
    made_roof(r, "bandwidth.dram", "B/s", 38e9, 51.2e9);
    made_roof(r, "flops.fp32", "FLOP/s", 0, 500e9); /* given alone */
    struct chart chart = { .preset = presets_find(&presets, "roofline", &err),
                           .records = r,
                           .peaks_from = "harness.json" };
    struct figure *f = chart_build(&chart);
    const struct panel *p = f->panels[0];
    const struct layer *gemm = find_layer(p, MARK_POINTS, "gemm");
    const struct layer *norm = find_layer(p, MARK_POINTS, "layernorm");
    check_places(f);
    assert_close(gemm->items[0].size, widest_point(p), 0);
    assert_close((norm->items[0].size - 8) / (gemm->items[0].size - 8), 0.5, 0.01);
    check_given_roofs(f);
    figure_free(f);
}

RECORDS_TEST(kernel_figures)
{
    static const char *const names[] = { "latency-kernels", "throughput-kernels", "roofline",
                                         "intensity", "heatmap-sizes" };
    static const double usual[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };

    made_run(r, 0, "feedbeef", "gcc 12.2.0");
    made_add_kernels(r, 0, 1, usual);
    made_roofs(r);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_golden(build(r, names[i]));
}

/* A work rate beyond the measured peak is shown as an error, not a triumph. */
RECORDS_TEST(point_above_roof_raises_banner)
{
    made_run(r, 0, "feedbeef", "gcc 12.2.0");
    made_work(made_measurement(r, 0, 0, "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 1e6,
                               0.01, 30, 1),
              2e9, 1e6); /* 2 TFLOP/s under a roof of 0.42 */
    made_roofs(r);
    struct figure *f = build(r, "roofline");
    check_places(f);
    assert_non_null(f->banner);
    assert_has(f->banner, "above the roof");
    figure_free(f);
}

RECORDS_TEST(trend_figure)
{
    for (int i = 0; i < 6; i++) {
        char commit[16];
        snprintf(commit, sizeof(commit), "%07x", 0xabc0001 + i * 4369);
        int run = made_run(r, i, commit, i < 3 ? "gcc 12.2.0" : "gcc 13.1.0");
        r->runs[run].build.dirty = i == 5;
        if (i != 2) /* a run without models: a gap */
            made_add_models(r, run, 1, 4, 64, i == 5 ? 1.1 : 1);
        else
            made_measurement(r, run, 0, "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 1000,
                             0.1, 5, 1);
    }
    struct figure *f = build(r, "trend");
    const struct panel *p = f->panels[0];
    size_t gaps = 0, rules = 0, hollow = 0;
    for (size_t i = 0; i < p->nr; i++) {
        bool rule = p->layers[i]->label && strcmp(p->layers[i]->label, "environment changed") == 0;
        for (size_t k = 0; k < p->layers[i]->nr; k++)
            gaps += p->layers[i]->mark == MARK_LINE && !rule && isnan(p->layers[i]->items[k].x);
        rules += rule ? p->layers[i]->nr / 3 : 0; /* two ends and a gap */
        hollow += p->layers[i]->style.hollow ? p->layers[i]->nr : 0;
    }
    assert_int_equal(gaps, 1);
    assert_int_equal(rules, 1);
    assert_int_equal(hollow, 1);
    assert_has(f->caption, "gcc 13.1.0");
    check_golden(f);
}

/* Of a history that has more than is asked about: by their keys to the letter, which may hold what
 * a glob would take for more. */
RECORDS_TEST(trend_of_some_benchmarks_alone)
{
    char *keys[] = { "gemm/n*/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm",
                     "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm" };
    struct string_list only = { .items = keys, .nr = 1 }, none = { .nr = 0 };
    struct error err;

    for (int i = 0; i < 6; i++) {
        char commit[24];
        snprintf(commit, sizeof(commit), "a0000%02d", i);
        int run = made_run(r, i, commit, "gcc");
        for (int nth = 0; nth < 2; nth++)
            made_measurement(r, run, 0, keys[nth], 1000, 0.01, 20, made_seed(i, 0, nth));
    }
    struct chart chart = {
        .preset = presets_find(&presets, "trend", &err), .records = r, .only = &only, .run = 5
    };
    struct figure *f = chart_build(&chart);
    assert_int_equal(f->benchmarks.nr, 1);
    assert_string_equal(f->benchmarks.items[0], keys[0]);
    figure_free(f);
    chart.only = &none;
    f = chart_build(&chart);
    assert_has(f->reason, "no benchmark has times");
    figure_free(f);
    chart.only = NULL;
    f = chart_build(&chart);
    assert_int_equal(f->benchmarks.nr, 2);
    figure_free(f);
}

static size_t count_marks(const struct panel *p, enum shape_kind shape)
{
    size_t nr = 0;

    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->mark == MARK_POINTS && p->layers[i]->style.shape == shape)
            nr += p->layers[i]->nr;
    return nr;
}

/* Where the step may be: the legend says nothing of it. */
static const struct layer *find_band_without_name(const struct panel *p)
{
    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->mark == MARK_BAND && !p->layers[i]->label)
            return p->layers[i];
    return NULL;
}

static void check_step_and_head(const struct figure *f)
{
    const struct panel *p = f->panels[0];
    const struct layer *apart = find_layer(p, MARK_POINTS, "not merged");
    const struct layer *line = find_layer(p, MARK_LINE, "p50");
    const struct layer *window = find_band_without_name(p);

    assert_int_equal(count_marks(p, SHAPE_DIAMOND), 1);
    for (size_t i = 0; i < p->nr; i++) /* the size stands over the lower level, not over the line */
        if (p->layers[i]->mark == MARK_TEXT && p->layers[i]->nr)
            assert_true(p->layers[i]->items[0].dy < 0); /* above the values */
    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->mark == MARK_TEXT && p->layers[i]->nr &&
            strstr(p->layers[i]->items[0].text, "accepted"))
            assert_int_equal(p->layers[i]->items[0].anchor, ANCHOR_RIGHT);
    assert_close(apart->items[0].x, 11, 0); /* the last place */
    assert_true(apart->style.hollow);
    assert_int_equal(line->nr, 11);
    for (size_t i = 0; i < line->nr; i++)
        assert_true(isfinite(line->items[i].x)); /* the head leaves no gap where it was */
    assert_non_null(window);
    assert_int_equal(window->style.ink, INK_GREY); /* accepted: neither orange nor blue */
    assert_has(f->title, ": what changed is accepted, or went back");
    assert_close(window->items[0].low, p->y.low, 0); /* from edge to edge */
    assert_close(window->items[0].high, p->y.high, 0);
    assert_true(window->items[0].x <= 5.5 && window->items[1].x >= 5.5);
    assert_has(f->caption, "not main");
}

/* A drift beside a step is drawn about both levels, not through the air between them. */
TEST(drift_follows_the_levels)
{
    static const double values[] = { 100, 101, 102, 203, 204, 205 };
    static const int position[] = { 0, 1, 2, 3, 4, 5 };
    struct series_point points[6] = { 0 };
    struct series series = { .items = points, .nr = 6 };
    struct trend_step step = {
        .index = 3, .low = 3, .high = 3, .before = 101, .after = 204, .change = 1
    };
    struct trend trend = {
        .series = &series, .items = &step, .nr = 1, .drifts = true, .drift = { .total = 0.02 }
    };
    struct run runs[6] = { 0 };
    struct records records = { .runs = runs, .nr_runs = 6 };
    struct trends trends = { .records = &records };
    const struct trend_runs shown = { .records = &records, .position = (int *)position, .nr = 6 };
    struct figure *f = figure_create("drift", "Drift");
    struct panel *p = figure_panel(f);

    for (int i = 0; i < 6; i++)
        points[i] = (struct series_point) { .value = values[i], .run = i };
    trend_marks_add(p, &trends, &trend, &shown, 205, 0, 480);
    const struct layer *line = find_layer(p, MARK_LINE, "drift");
    assert_int_equal(line->nr, 7); /* and a gap at the step */
    assert_true(isnan(line->items[3].x));
    for (int i = 0; i < 6; i++)
        assert_close(line->items[i + (i > 2)].y, values[i], 2);
    assert_true(line->items[2].y > line->items[0].y && line->items[6].y > line->items[4].y);
    figure_free(f);
}

/* Twelve runs with a step that was accepted, and a head of another branch that is older than the
 * newest: it stands at the end, as a diamond that no line reaches. */
RECORDS_TEST(trend_shows_step_and_unmerged_head)
{
    static const char key[] = "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm";
    struct acceptance accepted = { .key = (char *)key,
                                   .metric = "p50",
                                   .machine = "",
                                   .commit = "a000007",
                                   .change = 0.3,
                                   .reason = "exact rounding" };
    struct error err;

    for (int i = 0; i < 12; i++) {
        char commit[24];
        snprintf(commit, sizeof(commit), "a0000%02d", i);
        int run = made_run(r, i, commit, "gcc");
        for (int launch = 0; launch < 3; launch++)
            made_measurement(r, run, launch, key, i < 6 ? 1e6 : 1.3e6, 0.002, 20,
                             made_seed(i, launch, 0));
    }
    snprintf(r->runs[10].build.branch, sizeof(r->runs[10].build.branch), "feature");
    struct chart chart = { .preset = presets_find(&presets, "trend", &err),
                           .records = r,
                           .accepted = &accepted,
                           .nr_accepted = 1,
                           .run = 10 };
    struct figure *f = chart_build(&chart);
    check_places(f);
    check_step_and_head(f);
    cJSON *tree = figure_to_json(f);
    char *json = cJSON_PrintUnformatted(tree);
    assert_has(json, "accepted: exact rounding");
    free(json);
    cJSON_Delete(tree);
    figure_free(f);
}

/* Seven benchmarks step by 5 % with a commit, an eighth by 13 % with a new compiler: six panels
 * have room for the largest, whoever did it. */
RECORDS_TEST(trend_shows_the_large_step_of_a_compiler)
{
    for (int i = 0; i < 14; i++) {
        char commit[24], key[KEY_SIZE];
        snprintf(commit, sizeof(commit), "a0000%02d", i);
        int run = made_run(r, i, commit, i < 9 ? "gcc 12" : "gcc 13");
        for (int nth = 0; nth < 8; nth++)
            for (int launch = 0; launch < 3; launch++) {
                double change = nth == 7 ? (i < 9 ? 1 : 1.13) : i < 6 ? 1 : 1.05;
                snprintf(key, sizeof(key), "gemm/nn/simd/fp32/batch=%d,seq=8,n=8,k=8/cpu-4t/warm",
                         nth + 1);
                made_measurement(r, run, launch, key, 1e6 * change, 0.002, 20,
                                 made_seed(i, launch, nth));
            }
    }
    struct error err;
    struct chart chart = { .preset = presets_find(&presets, "trend", &err),
                           .records = r,
                           .run = 13 };
    struct figure *f = chart_build(&chart);
    check_places(f);
    assert_int_equal(f->nr_panels, 6);
    assert_has(f->panels[0]->title, "batch=8");
    assert_has(f->title, "worst +13");
    cJSON *tree = figure_to_json(f);
    char *json = cJSON_PrintUnformatted(tree);
    assert_has(json, ", environment changed");
    free(json);
    cJSON_Delete(tree);
    figure_free(f);
}

/* Each preset on each poor set of records: a reason in words, or a figure with something in it. */
static void check_poor(const struct records *r)
{
    for (size_t i = 0; i < presets.nr; i++)
        check_state(build(r, presets.items[i].name));
}

RECORDS_TEST(poor_records_have_a_state)
{
    static const char key[] = "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm";

    check_poor(r); /* nothing at all */
    made_run(r, 0, "", "");
    check_poor(r); /* a run without records */
    made_failure(r, 0, 0, key, OUTCOME_UNSUPPORTED, "no");
    check_poor(r); /* nothing but failures */
    struct figure *f = build(r, "latency-prefill");
    assert_has(f->reason, "1 UNSUPPORTED");
    figure_free(f);
    made_measurement(r, 0, 0, "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 500, 0, 1, 1);
    check_poor(r); /* one sample, no work model, no roofs */
    made_measurement(r, 0, 0, "gemm/nn/naive/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 0, 0, 9, 1);
    check_poor(r); /* all samples 0 ns */
    made_work(made_measurement(r, 0, 0, "imported benchmark", 7e9, 0.3, 300, 1), 1e-9, 1e18);
    made_roofs(r);
    check_poor(r); /* absurd work, a key of another tool */
}

/* Benchmarks of other programs have no variant and no device: no sentence has a hole for them. */
RECORDS_TEST(imports_are_named_by_what_they_have)
{
    made_run(r, 0, "feedbeef", "gcc");
    made_measurement(r, 0, 0, "BM_Sort/arg=8", 1e5, 0.02, 40, 1);
    made_measurement(r, 0, 0, "BM_Sort/arg=64", 1e6, 0.02, 40, 2);
    struct figure *f = build(r, "latency-kernels");
    assert_has(f->title, ": BM_Sort takes longest, ");
    figure_free(f);
    f = build(r, "roofline");
    assert_string_equal(f->reason, "no benchmark has both FLOPs and bytes");
    figure_free(f);
}

/* 60 benchmarks with 200-byte keys still give readable rows. */
RECORDS_TEST(many_long_names)
{
    made_run(r, 0, "feedbeef", "gcc");
    for (int i = 0; i < 60; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key),
                 "gemm/a_kernel_with_a_name_that_nobody_should_give_%02d_but_somebody_will/"
                 "a_variant_that_is_no_shorter_than_its_kernel/fp32/batch=1000,seq=100000,n=50257,"
                 "k=12345678/cpu-128t/warm",
                 i);
        made_work(made_measurement(r, 0, 0, key, 1000 * (i + 1), 0.1, 50, (uint64_t)i), 1e6, 1e5);
    }
    struct figure *f = build(r, "latency-kernels");
    check_places(f);
    const struct ticks *names = &f->panels[0]->y.ticks;
    assert_int_equal(names->nr, 24);
    for (size_t i = 0; i < names->nr; i++) {
        assert_true(text_width(names->items[i].text, 12, false) <= 0.43 * f->width);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(names->items[i].text, names->items[k].text);
    }
    assert_has(f->caption, "Showing 24 of 60");
    figure_free(f);
}

RUN_TESTS(setup, presets_teardown)
