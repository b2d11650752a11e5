/* SPDX-License-Identifier: MIT */
/*
 * Boxes, violins, cumulative curves and quantiles against the samples that they come from; several
 * runs; rates. Covers: S0-06, S1-35.
 */
#include "samples_testing.h"

#include "figure/figure_axis.h"
#include "metrics/density.h"

/* low and x of a layer's first datum, in base units. */
static void check_span(const struct panel *p, enum mark mark, const char *label, double low,
                       double x)
{
    const struct datum *d = find_layer(p, mark, label)->items;

    if (isfinite(low))
        assert_close(d->low * p->x.factor, low, 1e-6 * fabs(low));
    assert_close((isfinite(d->x) ? d->x : d->high) * p->x.factor, x, 1e-6 * fabs(x));
}

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

RECORDS_TEST(box_shows_the_quartiles)
{
    made_run(r, 0, "feedbeef", "gcc");
    ruled(r, 0, 0, KEY("simd"), 1001, 1000, 2, 1001); /* 1000 to 2000, each once */
    struct figure *f = build(r, "distribution-box");
    check_places(f);
    const struct panel *p = f->panels[0];
    check_span(p, MARK_BOXES, NULL, 1250, 1750);
    check_span(p, MARK_INTERVALS, "p5 to p95", 1050, 1950);
    check_span(p, MARK_SEGMENTS, "median", NAN, 1500);
    check_span(p, MARK_POINTS, "p99", NAN, 1990);
    assert_string_equal(find_layer(p, MARK_TEXT, NULL)->items[0].text, "1.500 µs, n 1001");
    figure_free(f);
}

/* A row's outline is symmetric about its row and as wide as allowed once. */
RECORDS_TEST(violin_is_symmetric)
{
    double widest = 0;

    made_run(r, 0, "feedbeef", "gcc");
    made_measurement(r, 0, 0, KEY("simd"), 50000, 0.1, 400, 3);
    struct figure *f = build(r, "distribution-violin");
    check_places(f);
    const struct layer *band = find_layer(f->panels[0], MARK_BAND, NULL);
    assert_true(band->nr > DENSITY_POINTS / 2 && band->nr <= DENSITY_POINTS + 1);
    for (size_t i = 0; i + 1 < band->nr; i++) {
        assert_close(band->items[i].low + band->items[i].high, 0, 1e-9);
        widest = fmax(widest, band->items[i].high);
    }
    assert_close(widest, 0.44, 1e-9);
    assert_true(isnan(band->items[band->nr - 1].x));
    figure_free(f);
}

RECORDS_TEST(few_samples_are_points)
{
    made_run(r, 0, "feedbeef", "gcc");
    ruled(r, 0, 0, KEY("simd"), 12, 1000, 7, 101);
    struct figure *f = build(r, "distribution-violin");
    check_places(f);
    assert_int_equal(find_layer(f->panels[0], MARK_BAND, NULL)->nr, 0);
    assert_int_equal(find_layer(f->panels[0], MARK_POINTS, "a sample")->nr, 12);
    assert_has(f->caption, "fewer than 30");
    figure_free(f);
}

RECORDS_TEST(ecdf_rises_to_one)
{
    made_run(r, 0, "feedbeef", "gcc");
    ruled(r, 0, 0, KEY("simd"), 1000, 1000, 7, 1000); /* 1000 to 1999 */
    ruled(r, 0, 0, KEY("naive"), 10, 1000, 1, 10);
    struct figure *f = build(r, "distribution-ecdf-kernels");
    check_places(f);
    const struct panel *p = f->panels[0];
    const struct layer *line = find_layer(p, MARK_STEPS, "simd");
    for (size_t i = 1; i < line->nr; i++) {
        double x = line->items[i].x * p->x.factor, share = line->items[i].y * p->y.factor;
        assert_true(line->items[i].x >= line->items[i - 1].x);
        if (i + 1 < line->nr)
            assert_close(share, (x - 999) / 1000, 1e-9);
    }
    line = find_layer(p, MARK_STEPS, "naive");
    assert_int_equal(line->nr, 12); /* from 0, ten samples, to the frame */
    assert_close(line->items[11].y * p->y.factor, 1, 1e-9);
    figure_free(f);
}

/* `share` is what people read, 0.999 of 99.9 %, whatever the scale of the axis. */
static void check_point(const struct panel *p, const struct layer *line, size_t i, double share,
                        double y)
{
    assert_close(line->items[i].x * p->x.factor, share, 1e-9);
    assert_close(line->items[i].y * p->y.factor, y, 1e-6);
}

/* A line ends where its samples carry no further quantile: 1 - p^n >= 0.95. */
RECORDS_TEST(quantiles_end_where_carried)
{
    made_run(r, 0, "feedbeef", "gcc");
    ruled(r, 0, 0, KEY("simd"), 1001, 1000, 2, 1001);
    ruled(r, 0, 0, KEY("naive"), 5, 1000, 1, 5);
    struct figure *f = build(r, "quantiles-kernels");
    check_places(f);
    const struct panel *p = f->panels[0];
    const struct layer *line = find_layer(p, MARK_LINE, "simd");
    double end = pow(0.05, 1 / 1001.0);
    check_point(p, line, line->nr - 1, end, 1000 + 1000 * end);
    check_point(p, line, 50, 0.5, 1500);
    line = find_layer(p, MARK_LINE, "naive");
    end = pow(0.05, 1 / 5.0);
    check_point(p, line, line->nr - 1, end, 1000 + 4 * end);
    assert_int_equal(p->x.scale, AXIS_NINES);
    assert_string_equal(p->x.ticks.items[p->x.ticks.nr - 1].text, "99 %");
    double step = panel_x(p, 99) - panel_x(p, 90); /* each nine is as wide, in pixels */
    assert_close(panel_x(p, 90) - panel_x(p, 0), step, 1e-6);
    assert_close(axis_value(&p->x, axis_share(&p->x, 98.7)), 98.7, 1e-9);
    figure_free(f);
}

/* Where bars are alike and a p99 is far off, a linear axis would show the cross alone. */
TEST(far_tails_leave_room_for_bars)
{
    for (uint64_t far = 1; far <= 1000; far *= 1000) {
        struct records r = { 0 };
        made_run(&r, 0, "feedbeef", "gcc");
        struct measurement *m = ruled(&r, 0, 0, KEY("simd"), 1000, 1000, 2, 100);
        ruled(&r, 0, 0, KEY("naive"), 1000, 2000, 2, 100);
        for (size_t i = 0; i < 30; i++)
            m->samples[i] *= far;
        struct figure *f = build(&r, "latency-kernels");
        const struct panel *p = f->panels[0];
        assert_int_equal(find_layer(p, MARK_POINTS, "p99")->nr, 2);
        assert_int_equal(p->x.scale, far > 1 ? AXIS_LOG : AXIS_LINEAR);
        figure_free(f);
        records_release(&r);
    }
}

/* Of few nines and of many: the texts of the shares do not run together. */
TEST(shares_are_apart)
{
    for (size_t n = 100; n <= 100000; n *= 10) {
        struct records r = { 0 };
        made_run(&r, 0, "feedbeef", "gcc");
        ruled(&r, 0, 0, KEY("simd"), n, 1000, 2, 1001);
        struct figure *f = build(&r, "quantiles-kernels");
        const struct panel *p = f->panels[0];
        double end = -INFINITY;
        size_t texts = 0;
        for (size_t i = 0; i < p->x.ticks.nr; i++) {
            const struct tick *t = &p->x.ticks.items[i];
            double half = text_width(t->text, 12, false) / 2, at = panel_x(p, t->at);
            if (!t->text[0])
                continue;
            assert_true(at - half > end + 6);
            end = at + half;
            texts++;
        }
        assert_true(texts >= 6);
        figure_free(f);
        records_release(&r);
    }
}

RECORDS_TEST(quantiles_on_a_plain_axis)
{
    made_run(r, 0, "feedbeef", "gcc");
    ruled(r, 0, 0, KEY("simd"), 1001, 1000, 2, 1001);
    struct figure *f = build_text(r,
                                  "{\"name\":\"q\",\"title\":\"q\",\"type\":\"quantiles\","
                                  "\"x_scale\":\"linear\"}");
    check_places(f);
    check_point(f->panels[0], find_layer(f->panels[0], MARK_LINE, NULL), 50, 0.5, 1500);
    figure_free(f);
}

/* A maximum that is left out of the frame is told, and stands at its edge, on a linear axis and on
 * the logarithmic one that a far smaller sample brings. */
TEST(percentiles_beyond_the_frame)
{
    static const uint64_t least[] = { 1000, 100 };

    for (int log = 0; log < 2; log++) {
        struct records r = { 0 };
        made_run(&r, 0, "feedbeef", "gcc");
        struct measurement *m = ruled(&r, 0, 0, KEY("simd"), 1001, 1000, 2, 1001);
        m->samples[0] = least[log];
        m->samples[500] = 30000; /* 2000 before: the median stays 1500 */
        struct figure *f =
            build_text(&r, "{\"name\":\"p\",\"title\":\"p\",\"type\":\"percentiles\"}");
        const struct panel *p = f->panels[0];
        const struct layer *beyond = NULL;
        for (size_t i = 0; i < p->nr; i++)
            if (p->layers[i]->style.shape == SHAPE_TRIANGLE_UP)
                beyond = p->layers[i];
        check_places(f);
        assert_int_equal(p->y.scale, log ? AXIS_LOG : AXIS_LINEAR);
        assert_has(f->alt, log ? "from 0.07 at the least to 20.00 at most"
                               : "from 0.67 at the least to 20.00 at most");
        assert_non_null(beyond);
        assert_close(axis_share(&p->y, beyond->items[0].y), 0.945, 0.005);
        figure_free(f);
        records_release(&r);
    }
}

/* Far apart: multiples of the own median, unless the preset asks for an axis. */
RECORDS_TEST(far_medians_are_relative)
{
    made_run(r, 0, "feedbeef", "gcc");
    made_measurement(r, 0, 0, KEY("simd"), 1000, 0.1, 100, 1);
    made_measurement(r, 0, 0, KEY("naive"), 90000, 0.1, 100, 2);
    struct figure *f = build(r, "distribution-box");
    const struct layer *medians = find_layer(f->panels[0], MARK_SEGMENTS, "median");
    assert_close(medians->items[0].x, 1, 1e-9);
    assert_close(medians->items[1].x, 1, 1e-9);
    assert_has(f->caption, "own median");
    figure_free(f);
    f = build_text(r, "{\"name\":\"b\",\"title\":\"b\",\"type\":\"box\",\"y_scale\":\"log\"}");
    check_places(f);
    assert_int_equal(f->panels[0]->x.scale, AXIS_LOG);
    assert_true(find_layer(f->panels[0], MARK_SEGMENTS, "median")->items[0].x > 80000);
    assert_lacks(f->caption, "own median");
    figure_free(f);
}

static struct figure *build_two_runs(const struct records *r, const char *name)
{
    static const int runs[] = { 0, 1 };
    static const char *const names[] = { "main", "branch" };
    struct error err;
    struct chart chart = { .preset = presets_find(&presets, name, &err),
                           .records = r,
                           .run = 1,
                           .runs = runs,
                           .nr_runs = 2,
                           .run_names = names };

    return chart_build(&chart);
}

/* Rows of one benchmark stand beside each other, and a change is still seen. */
static void check_medians(const struct panel *p)
{
    const struct layer *medians = find_layer(p, MARK_SEGMENTS, "median");

    assert_int_equal(medians->nr, 6);
    for (size_t k = 0; k < 6; k += 2) {
        assert_close(medians->items[k].x, 1, 1e-9);
        assert_close(medians->items[k + 1].x, 1.5, 0.1);
    }
    assert_has(p->y.ticks.items[1].text, "branch");
}

RECORDS_TEST(several_runs)
{
    static const char *const figures[] = { "distribution-box", "distribution-violin",
                                           "distribution-ecdf-kernels", "quantiles-kernels" };

    for (int i = 0; i < 2; i++) {
        made_run(r, i, "feedbeef", "gcc");
        add_kernels(r, i, 1 + 0.5 * i);
    }
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        struct figure *f = build_two_runs(r, figures[i]);
        check_places(f);
        assert_has(f->caption, "in its first run");
        if (i == 0)
            check_medians(f->panels[0]);
        figure_free(f);
    }
}

/* Rates are work over the time of each sample: turned round, so the tail is to the left. */
RECORDS_TEST(rates_of_samples)
{
    made_run(r, 0, "feedbeef", "gcc");
    made_work(ruled(r, 0, 0, KEY("simd"), 1001, 1000, 2, 1001), 3e6, 1e5);
    struct figure *f =
        build_text(r, "{\"name\":\"b\",\"title\":\"b\",\"type\":\"box\",\"y\":\"gflops\"}");
    check_places(f);
    const struct panel *p = f->panels[0];
    check_span(p, MARK_BOXES, NULL, 3e15 / 1750, 3e15 / 1250);
    check_span(p, MARK_POINTS, "p1", NAN, 3e15 / 1990);
    figure_free(f);
    f = build_text(r, "{\"name\":\"b\",\"title\":\"b\",\"type\":\"box\",\"y\":\"tokens\"}");
    assert_has(f->reason, "does not apply");
    figure_free(f);
}

TEST(facts_have_no_distribution)
{
    static const char text[] =
        "{\"name\":\"b\",\"title\":\"b\",\"type\":\"violin\",\"y\":\"intensity\"}";
    struct preset preset;
    struct error err;

    assert_fails(preset_parse(&preset, text, strlen(text), "mine.json", &err), &err,
                 "no matter of single samples");
}

RUN_TESTS(presets_setup, presets_teardown)
