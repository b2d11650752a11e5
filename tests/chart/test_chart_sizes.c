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

RUN_TESTS(presets_setup, presets_teardown)
