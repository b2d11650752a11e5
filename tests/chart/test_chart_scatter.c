/* SPDX-License-Identifier: MIT */
/* Points of two numbers: how many there may be, and the fronts of many kernels. */
#include "testing.h"

#include "output_records.h"

#include "chart/chart.h"
#include "chart/preset.h"

enum { KERNELS = 70 }; /* more than have names of their own in a legend */

struct scene {
    struct records r;
    struct preset preset;
};

/* Each kernel at two sizes, of which the larger has the better rate and takes longer; each is worse
 * than the one before it in both. */
static void scene_init(struct scene *s, const char *more)
{
    struct error err;
    char text[256], key[KEY_SIZE];

    *s = (struct scene) { .r = { 0 } };
    snprintf(
        text, sizeof(text),
        "{\"name\":\"a\",\"title\":\"A\",\"type\":\"scatter\",\"x\":\"p50\",\"y\":\"gflops\"%s}",
        more);
    assert_ok(preset_parse(&s->preset, text, strlen(text), "t.json", &err), &err);
    int run = made_run(&s->r, 0, "feedbeef", "gcc");
    for (int k = 0; k < KERNELS; k++)
        for (int batch = 1; batch <= 2; batch++) {
            snprintf(key, sizeof(key), "gemm/k%02d/simd/fp32/batch=%d,seq=64/cpu-2t/warm", k,
                     batch);
            made_work(made_measurement(&s->r, run, 0, key, 1e5 * (k + 1) * batch, 0.001, 20,
                                       made_seed(k, batch, 1)),
                      1e7 * batch * batch, 1e6);
        }
}

static void scene_release(struct scene *s)
{
    preset_release(&s->preset);
    records_release(&s->r);
}

#define SCENE_TEST(name) TEST_WITH_A(name, struct scene, s, scene_release)

static struct figure *build(const struct scene *s)
{
    struct chart chart = { .preset = &s->preset, .records = &s->r, .run = 0 };
    struct figure *f = chart_build(&chart);

    assert_null(f->reason);
    return f;
}

/* Marks of a kind in what the legend of the figure's panel has: lines lead to names, too. */
static size_t count(const struct figure *f, enum mark mark)
{
    const struct panel *p = f->panels[0];
    size_t nr = 0;

    for (size_t i = 0; i < p->nr; i++)
        nr += p->layers[i]->mark == mark && p->layers[i]->label ? p->layers[i]->nr : 0;
    return nr;
}

SCENE_TEST(all_points_where_nothing_is_said)
{
    scene_init(s, "");
    struct figure *f = build(s);
    assert_int_equal(count(f, MARK_POINTS), 2 * KERNELS);
    figure_free(f);
}

SCENE_TEST(no_more_points_than_the_limit)
{
    scene_init(s, ",\"limit\":3");
    struct figure *f = build(s);
    assert_int_equal(count(f, MARK_POINTS), 3);
    assert_has(f->caption, "Showing 3 of 140: those that take longest.");
    assert_has(f->alt, "for 3 benchmarks");
    figure_free(f);
}

/* A kernel beats no other, however many there are. */
SCENE_TEST(fronts_are_of_one_kernel)
{
    scene_init(s, ",\"highlight_pareto\":true");
    struct figure *f = build(s);
    assert_has(f->alt, "140 are beaten by none of the same model in both");
    assert_int_equal(count(f, MARK_LINE), 3 * KERNELS); /* two points and a gap */
    figure_free(f);
}

/* Equal points beat each other in nothing; what another has, and better, is beaten. */
SCENE_TEST(fronts_are_what_nothing_beats)
{
    static const char *const others[] = {
        "gemm/k00/blas/fp32/batch=2,seq=64/cpu-2t/warm", /* as fast as simd, batch=2 */
        "gemm/k00/naive/fp32/batch=2,seq=64/cpu-2t/warm",
    };

    scene_init(s, ",\"highlight_pareto\":true,\"filter\":\"gemm/k00/*\"");
    for (int i = 0; i < 2; i++)
        made_work(
            made_measurement(&s->r, 0, 0, others[i], 2e5 * (i + 1), 0.001, 20, made_seed(0, 2, 1)),
            4e7, 1e6);
    struct figure *f = build(s);
    assert_has(f->alt, "for 4 benchmarks; 3 are beaten by none");
    assert_int_equal(count(f, MARK_LINE), 3); /* two places and a gap */
    figure_free(f);
}

RUN_TESTS(NULL, NULL)
