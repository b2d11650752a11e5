/* SPDX-License-Identifier: MIT */
/* Figures over sizes: many of them, and large ones. */
#include "samples_testing.h"

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

/* gpt/nano of `seq` and `batch`, `ns` for each of their tokens. */
static void sizes_add_model(struct records *r, int batch, int seq, double ns)
{
    char key[KEY_SIZE];

    snprintf(key, sizeof(key), "gpt/nano/prefill/simd/fp32/batch=%d,seq=%d/cpu-4t/warm", batch,
             seq);
    made_measurement(r, 0, 0, key, ns * batch * seq, 0, 9, 1);
}

/* Ticks that were set at what was varied say what was varied, however large it is. */
RECORDS_TEST(ticks_of_large_dims_stay)
{
    static const struct {
        int first;
        double factor; /* of each of three to the one before */
        const char *label, *last;
        enum axis_scale scale;
    } rows[] = {
        { 100, 2, "sequence length", "400", AXIS_LINEAR },
        { 100000, 2, "sequence length", "400000", AXIS_LINEAR },
        { 5000000, 2, "sequence length", "20000000", AXIS_LINEAR },
        { 100000, 10, "sequence length (log scale)", "10000000", AXIS_LOG },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        records_release(r);
        made_run(r, 0, "feedbeef", "gcc");
        double seq = rows[i].first;
        for (int n = 0; n < 3; n++, seq *= rows[i].factor)
            sizes_add_model(r, 1, (int)seq, 10);
        struct figure *f =
            build_text(r,
                       "{\"name\": \"l\", \"title\": \"L\", \"type\":\"lines\",\"y\":\"p50\","
                       "\"x\":\"seq\"}");
        check_places(f);
        const struct axis *x = &f->panels[0]->x;
        assert_int_equal(x->scale, rows[i].scale);
        assert_string_equal(x->label, rows[i].label);
        assert_int_equal(x->ticks.nr, 3);
        assert_string_equal(x->ticks.items[2].text, rows[i].last);
        for (size_t k = 0; k < 3; k++) {
            assert_close(x->ticks.items[k].at, atof(x->ticks.items[k].text), 0);
            assert_true(x->ticks.items[k].at >= x->low && x->ticks.items[k].at <= x->high);
        }
        figure_free(f);
    }
}

/* A map has room for 12 values of a dim: it keeps the largest, says so, and its range is theirs. */
RECORDS_TEST(heatmap_keeps_the_largest)
{
    static const struct {
        int powers; /* of 2, values of seq */
        const char *caption, *alt, *first;
    } rows[] = {
        { 12, "from 10.00 ns to 41.01 µs", "from 10.00 ns to 41.01 µs", "1" },
        { 14, "Showing 12 of 14 values of seq: the largest.", "from 40.00 ns to 164.1 µs", "4" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        records_release(r);
        made_run(r, 0, "feedbeef", "gcc");
        for (int power = 0; power < rows[i].powers; power++)
            for (int batch = 1; batch <= 2; batch++)
                sizes_add_model(r, batch, 1 << power, 10);
        struct figure *f = build_text(
            r, "{\"name\": \"h\", \"title\": \"H\", \"type\":\"heatmap\",\"y\":\"p50\"}");
        check_places(f);
        const struct ticks *ticks = &f->panels[0]->x.ticks;
        assert_has(f->caption, rows[i].caption);
        assert_has(f->alt, rows[i].alt);
        assert_int_equal(ticks->nr, 12);
        assert_string_equal(ticks->items[0].text, rows[i].first);
        assert_int_equal(atoi(ticks->items[11].text), 1 << (rows[i].powers - 1));
        const struct layer *cells = find_layer(f->panels[0], MARK_CELLS, NULL);
        assert_close(cells->items[0].share, 0, 1e-9); /* the least of what is drawn */
        figure_free(f);
    }
}

/* A line of square products has room for 24 sizes. Met from the smallest on, and from the largest.
 */
RECORDS_TEST(sizes_keep_the_largest)
{
    static const struct {
        int first, step, nr;
        const char *caption, *least;
    } rows[] = {
        { 64, 64, 24, "bars p5 to p95. ", "64" },
        { 64, 64, 26, "Showing 24 of 26 sizes: the largest.", "192" },
        { 26 * 64, -64, 26, "Showing 24 of 26 sizes: the largest.", "192" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        records_release(r);
        made_run(r, 0, "feedbeef", "gcc");
        for (int n = rows[i].first, k = 0; k < rows[i].nr; k++, n += rows[i].step) {
            char key[KEY_SIZE];
            double flops = 2.0 * n * n * n;
            snprintf(key, sizeof(key), "gemm/nn/simd/fp32/batch=1,seq=%d,n=%d,k=%d/cpu-4t/warm", n,
                     n, n);
            made_work(made_measurement(r, 0, 0, key, flops / 200, 0, 9, 1), flops, 12.0 * n * n);
        }
        struct figure *f = build(r, "sizes-gemm");
        check_places(f);
        const struct layer *points = find_layer(f->panels[0], MARK_POINTS, "simd");
        int last = 64 * rows[i].nr;
        assert_has(f->caption, rows[i].caption);
        assert_int_equal(points->nr, 24);
        assert_close(points->items[0].x, atof(rows[i].least), 0);
        assert_close(points->items[23].x, last, 0);
        figure_free(f);
    }
}

RUN_TESTS(presets_setup, presets_teardown)
