/* SPDX-License-Identifier: MIT */
/*
 * Every figure type as data: golden JSON, places of all texts, degenerate records.
 * Covers: S0-04, S0-05, S0-06, S0-07, S1-28, S1-39, S2-01, S2-03.
 */
#include "testing.h"

#include "golden.h"
#include "output_records.h"

#include "base/json.h"
#include "output/chart.h"
#include "output/textwidth.h"

#include <stdlib.h>

static struct presets presets;
static struct plot_model models[MADE_MODELS];

static int setup(void **state)
{
    struct error err;

    (void)state;
    for (int i = 0; i < MADE_MODELS; i++) {
        const struct made_model *m = &made_models[i];
        models[i] =
            (struct plot_model) { m->name,  m->layers, m->heads,
                                  m->width, m->block,  12.0 * m->layers * m->width * m->width,
                                  1e6 };
    }
    return presets_load_embedded(&presets, &err);
}

static int teardown(void **state)
{
    (void)state;
    presets_release(&presets);
    return 0;
}

/* A comparison by hand, so that its golden file does not move with the rules of comparing. */
struct made_comparison {
    struct records records;
    struct comparison c;
    struct compare_row rows[5];
    struct compare_item items[5];
    struct benchmark_name names[5];
};

static void made_compare(struct made_comparison *made)
{
    static const double changes[] = { 0.12, 0.002, -0.08, 0.05, 0 };
    static const enum verdict verdicts[] = { VERDICT_REGRESSED, VERDICT_SAME, VERDICT_IMPROVED,
                                             VERDICT_UNDECIDED, VERDICT_NEW };
    struct error err;

    memset(made, 0, sizeof(*made));
    made_run(&made->records, 0, "feedbeef", "gcc");
    made_measurement(&made->records, 0, 0, "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm",
                     1000, 0.01, 10, 1);
    made->c = (struct comparison) {
        .settings = COMPARE_DEFAULTS, .rows = made->rows, .nr = 5, .family = 4, .common_shift = NAN
    };
    for (int i = 0; i < 5; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "gemm/linear/simd/fp32/batch=%d,seq=64,n=48,k=48/cpu-4t/warm",
                 i + 1);
        assert_ok(benchmark_name_parse(key, &made->names[i], &err), &err);
        made->items[i].bench = &made->names[i];
        made->items[i].metric = metric_find("p50", &err);
        double change = i == 4 ? NAN : changes[i];
        made->rows[i] = (struct compare_row) {
            .item = &made->items[i],
            .verdict = verdicts[i],
            .change = change,
            .worse = change > 0,
            .interval = { change - 0.02, change + 0.02 },
            .q = 0.01,
        };
        made->c.count[verdicts[i]]++;
    }
    made->rows[3].interval = (struct interval) { -1, 2 }; /* hopelessly wide */
}

static struct figure *build(const struct records *records, const struct comparison *c,
                            const char *name)
{
    struct error err;
    struct chart chart = { .preset = presets_find(&presets, name, &err),
                           .records = records,
                           .comparison = c,
                           .models = models,
                           .nr_models = MADE_MODELS,
                           .run = run_newest(records) };

    assert_non_null(chart.preset);
    return chart_build(&chart);
}

/* What must hold for every figure that is drawn. */
static void check_places(const struct figure *f)
{
    assert_null(f->reason);
    assert_true(f->nr_panels > 0 && f->height > 100 && f->width == 1200);
    assert_non_null(f->alt);
    assert_non_null(f->caption);
    for (size_t i = 0; i < f->nr_texts; i++) {
        const struct placed_text *t = &f->texts[i];
        double width = t->angle == 0 ? text_width(t->text, t->size, t->bold) : 0;
        double left = t->x - (t->anchor == ANCHOR_CENTRE ? width / 2 : 0);
        assert_true(left >= 0 && left + width <= f->width);
        assert_true(t->y - t->size / 2 >= 0 && t->y + t->size / 2 <= f->height);
    }
    for (size_t i = 0; i < f->nr_panels; i++) {
        const struct rect *a = &f->panels[i]->area;
        assert_true(a->x > 0 && a->x + a->width <= f->width && a->width > 100);
        assert_true(a->y > 0 && a->y + a->height <= f->height && a->height > 30);
        assert_true(f->panels[i]->x.ticks.nr > 0 && f->panels[i]->y.ticks.nr > 0);
        assert_true(f->panels[i]->x.low < f->panels[i]->x.high);
    }
}

static double data_text_left(const struct panel *p, const struct datum *d, double width)
{
    return panel_x(p, d->x) + d->dx -
           width * (d->anchor == ANCHOR_RIGHT    ? 1
                    : d->anchor == ANCHOR_CENTRE ? 0.5
                                                 : 0);
}

/* Upright texts of one panel's data: inside the figure, and no two over each other. */
static void check_data_texts(const struct figure *f, const struct panel *p)
{
    struct rect boxes[200];
    size_t nr = 0;

    for (size_t i = 0; i < p->nr; i++) {
        const struct layer *l = p->layers[i];
        for (size_t k = 0; l->mark == MARK_TEXT && !l->follow && k < l->nr && nr < 200; k++) {
            double width = text_width(l->items[k].text, 12, false);
            struct rect box = { data_text_left(p, &l->items[k], width),
                                panel_y(p, l->items[k].y) + l->items[k].dy - 6, width, 12 };
            assert_true(box.x >= 0 && box.x + width <= f->width);
            for (size_t n = 0; n < nr; n++)
                assert_false(box.x < boxes[n].x + boxes[n].width && boxes[n].x < box.x + width &&
                             fabs(box.y - boxes[n].y) < 12);
            boxes[nr++] = box;
        }
    }
}

static void check_golden(struct figure *f)
{
    cJSON *json = figure_to_json(f);
    char *text = cJSON_Print(json), name[128];

    check_places(f);
    for (size_t i = 0; i < f->nr_panels; i++)
        check_data_texts(f, f->panels[i]);
    snprintf(name, sizeof(name), "%s.json", f->id);
    assert_golden(text, "figures", name);
    free(text);
    cJSON_Delete(json);
    figure_free(f);
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

static void single_run_figures(void **state)
{
    static const char *const names[] = { "latency-prefill", "throughput-prefill",
                                         "percentiles-models", "architecture" };
    struct records r = { 0 };

    (void)state;
    made_run(&r, 0, "feedbeef", "gcc 12.2.0");
    made_add_models(&r, 0, 2, 4, 64, 1);
    made_failure(&r, 0, 0, "gpt/gpt2/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm",
                 OUTCOME_UNSUPPORTED, "needs 9 GiB");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_golden(build(&r, NULL, names[i]));
    records_release(&r);
}

static void sweep_figures(void **state)
{
    static const char *const names[] = { "heatmap-models", "scaling-batch", "scaling-seq",
                                         "pareto" };
    struct records r = { 0 };

    (void)state;
    made_run(&r, 0, "feedbeef", "gcc 12.2.0");
    add_maps(&r, 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_golden(build(&r, NULL, names[i]));
    records_release(&r);
}

static void kernel_figures(void **state)
{
    static const char *const names[] = { "latency-kernels", "throughput-kernels", "roofline" };
    static const double usual[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    struct records r = { 0 };

    (void)state;
    made_run(&r, 0, "feedbeef", "gcc 12.2.0");
    made_add_kernels(&r, 0, 1, usual);
    made_ceilings(&r);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_golden(build(&r, NULL, names[i]));
    records_release(&r);
}

/* A work rate beyond the measured peak is shown as an error, not a triumph. */
static void point_above_roof_raises_banner(void **state)
{
    struct records r = { 0 };

    (void)state;
    made_run(&r, 0, "feedbeef", "gcc 12.2.0");
    made_work(made_measurement(&r, 0, 0, "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 1e6,
                               0.01, 30, 1),
              2e9, 1e6); /* 2 TFLOP/s under a roof of 0.42 */
    made_ceilings(&r);
    struct figure *f = build(&r, NULL, "roofline");
    check_places(f);
    assert_non_null(f->banner);
    assert_non_null(strstr(f->banner, "above the roof"));
    figure_free(f);
    records_release(&r);
}

static void comparison_figure(void **state)
{
    struct made_comparison made;

    (void)state;
    made_compare(&made);
    struct figure *f = build(&made.records, &made.c, "comparison");
    const struct axis *x = &f->panels[0]->x;
    assert_close(x->low, -x->high, 1e-9); /* centred at 0 */
    assert_true(x->high < 30);            /* the wild interval does not squeeze the rest */
    check_golden(f);
    f = build(&made.records, NULL, "comparison");
    assert_non_null(strstr(f->reason, "no base"));
    figure_free(f);
    records_release(&made.records);
}

static void trend_figure(void **state)
{
    struct records r = { 0 };

    (void)state;
    for (int i = 0; i < 6; i++) {
        char commit[16];
        snprintf(commit, sizeof(commit), "%07x", 0xabc0001 + i * 4369);
        int run = made_run(&r, i, commit, i < 3 ? "gcc 12.2.0" : "gcc 13.1.0");
        r.runs[run].build.dirty = i == 5;
        if (i != 2) /* a run without models: a gap */
            made_add_models(&r, run, 1, 4, 64, i == 5 ? 1.1 : 1);
        else
            made_measurement(&r, run, 0, "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm",
                             1000, 0.1, 5, 1);
    }
    struct figure *f = build(&r, NULL, "trend");
    const struct panel *p = f->panels[0];
    size_t gaps = 0, rules = 0, hollow = 0;
    for (size_t i = 0; i < p->nr; i++) {
        for (size_t k = 0; k < p->layers[i]->nr; k++)
            gaps += p->layers[i]->mark == MARK_LINE && isnan(p->layers[i]->items[k].x);
        rules += p->layers[i]->mark == MARK_RULES ? p->layers[i]->nr : 0;
        hollow += p->layers[i]->style.hollow ? p->layers[i]->nr : 0;
    }
    assert_int_equal(gaps, 1);
    assert_int_equal(rules, 1);
    assert_int_equal(hollow, 1);
    assert_non_null(strstr(f->caption, "gcc 13.1.0"));
    check_golden(f);
    records_release(&r);
}

/* Each preset on each poor set of records: a reason in words, or a figure with something in it. */
static void check_poor(const struct records *r)
{
    for (size_t i = 0; i < presets.nr; i++) {
        struct figure *f = build(r, NULL, presets.items[i].name);
        if (f->reason)
            assert_true(strlen(f->reason) > 10);
        else
            check_places(f);
        figure_free(f);
    }
}

static void poor_records_have_a_state(void **state)
{
    static const char key[] = "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm";
    struct records r = { 0 };

    (void)state;
    check_poor(&r); /* nothing at all */
    made_run(&r, 0, "", "");
    check_poor(&r); /* a run without records */
    made_failure(&r, 0, 0, key, OUTCOME_UNSUPPORTED, "no");
    check_poor(&r); /* nothing but failures */
    struct figure *f = build(&r, NULL, "latency-prefill");
    assert_non_null(strstr(f->reason, "1 UNSUPPORTED"));
    figure_free(f);
    made_measurement(&r, 0, 0, "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 500, 0, 1, 1);
    check_poor(&r); /* one sample, no work model, no ceilings */
    made_measurement(&r, 0, 0, "gemm/nn/naive/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm", 0, 0, 9, 1);
    check_poor(&r); /* all samples 0 ns */
    made_work(made_measurement(&r, 0, 0, "imported benchmark", 7e9, 0.3, 300, 1), 1e-9, 1e18);
    made_ceilings(&r);
    check_poor(&r); /* absurd work, a key of another tool */
    records_release(&r);
}

/* 60 benchmarks with 200-byte keys still give readable rows. */
static void many_long_names(void **state)
{
    struct records r = { 0 };

    (void)state;
    made_run(&r, 0, "feedbeef", "gcc");
    for (int i = 0; i < 60; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key),
                 "gemm/a_kernel_with_a_name_that_nobody_should_give_%02d_but_somebody_will/"
                 "a_variant_that_is_no_shorter_than_its_kernel/fp32/batch=1000,seq=100000,n=50257,"
                 "k=12345678/cpu-128t/warm",
                 i);
        made_work(made_measurement(&r, 0, 0, key, 1000 * (i + 1), 0.1, 50, (uint64_t)i), 1e6, 1e5);
    }
    struct figure *f = build(&r, NULL, "latency-kernels");
    check_places(f);
    const struct ticks *names = &f->panels[0]->y.ticks;
    assert_int_equal(names->nr, 24);
    for (size_t i = 0; i < names->nr; i++) {
        assert_true(text_width(names->items[i].text, 12, false) <= 0.43 * f->width);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(names->items[i].text, names->items[k].text);
    }
    assert_non_null(strstr(f->caption, "Showing 24 of 60"));
    figure_free(f);
    records_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_run_figures),
        cmocka_unit_test(sweep_figures),
        cmocka_unit_test(kernel_figures),
        cmocka_unit_test(point_above_roof_raises_banner),
        cmocka_unit_test(comparison_figure),
        cmocka_unit_test(trend_figure),
        cmocka_unit_test(poor_records_have_a_state),
        cmocka_unit_test(many_long_names),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
