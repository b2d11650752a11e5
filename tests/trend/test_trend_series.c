/* SPDX-License-Identifier: MIT */
/* Features: U-07 (trend series), S0-29; groups, epochs and labels behind tables and plots. */
#include "analysis_fixture.h"
#include "testing.h"

#include "metrics/epoch.h"
#include "metrics/group.h"
#include "metrics/label.h"
#include "stats/random.h"
#include "trend/series.h"

#define A "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm"
#define B "gemm/linear/simd/fp32/batch=16,seq=64/cpu-2t/warm"

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

RECORDS_TEST(test_groups)
{
    struct groups g;
    fixture_run(r, "b", 1);
    fixture_add(r, 1, B, 1, 1);
    fixture_add(r, 1, A, 2, 1);
    fixture_add(r, 0, A, 3, 1);
    fixture_add(r, 1, A, 4, 1);
    fixture_run(r, "a", 2);
    fixture_add(r, 0, A, 5, 1);
    groups_init(&g, r, false);
    assert_int_equal(g.nr, 3); /* A on a, A on b, B on b: 4 before 16 */
    assert_string_equal(g.items[0].machine, "a");
    assert_string_equal(g.items[1].machine, "b");
    assert_string_equal(g.items[2].bench->key, B);
    assert_int_equal(g.items[1].nr, 3);
    assert_int_equal(g.items[1].items[0]->m.samples[0], 3); /* launch 0 first */
    assert_int_equal(g.items[1].items[2]->m.samples[0], 4); /* then in order of insertion */
    assert_int_equal(group_launch_length(&g.items[1], 0), 1);
    assert_int_equal(group_launch_length(&g.items[1], 1), 2);
    groups_release(&g);
    groups_init(&g, r, true);
    assert_int_equal(g.nr, 2);
    groups_release(&g);
    records_release(r);
    groups_init(&g, r, false); /* empty */
    assert_int_equal(g.nr, 0);
    groups_release(&g);
}

RECORDS_TEST(test_epoch)
{
    struct strbuf text;
    fixture_run(r, "m", 1);
    fixture_run(r, "m", 2);
    struct run *one = &r->runs[0], *two = &r->runs[1];
    one->environment = memory_string("{\"governor\":\"x\",\"boost\":true,\"load1\":1}");
    two->environment = memory_string("{\"load1\":2,\"boost\":true,\"governor\":\"x\"}");
    strbuf_init(&text);
    assert_true(epoch_id(one) == epoch_id(two)); /* order and weather do not matter */
    assert_int_equal(epoch_difference(one, two, &text), 0);
    assert_string_equal(text.data, "");
    free(two->environment);
    two->environment = memory_string("{\"governor\":\"y\",\"driver\":\"560\"}");
    assert_true(epoch_id(one) != epoch_id(two));
    assert_int_equal(epoch_difference(one, two, &text), 3);
    assert_string_equal(text.data,
                        "governor: x -> y; boost: yes -> (absent); "
                        "driver: (absent) -> 560");
    free(two->environment);
    two->environment = memory_string("not JSON");
    assert_true(epoch_id(one) != epoch_id(two));
    strbuf_release(&text);
}

RECORDS_TEST(test_series)
{
    const double first[] = { 1000, 1200, 1100 }, second[] = { 2000, 2400, 2100 };
    struct series_list list;
    fixture_run(r, "m", 200); /* the later run is stored first */
    fixture_launches(r, A, second, 3);
    r->runs[0].build.dirty = true;
    fixture_run(r, "m", 100);
    fixture_launches(r, A, first, 3);
    fixture_add(r, 0, B, 1, 0); /* failed: no point, and so no series */
    snprintf(r->runs[1].build.commit, sizeof(r->runs[1].build.commit), "abc");
    snprintf(r->runs[1].build.compiler, sizeof(r->runs[1].build.compiler), "gcc 13");
    series_list_init(&list, r);
    assert_int_equal(list.nr, 1);
    assert_int_equal(list.items[0].nr, 2);
    const struct series_point *p = list.items[0].items;
    assert_int_equal(p[0].time_ms, 100);
    assert_int_equal(p[0].run, 1);
    assert_string_equal(p[0].commit, "abc");
    assert_false(p[0].dirty);
    assert_close(p[0].value, 1100, 1e-9);
    assert_int_equal(p[0].launches, 3);
    assert_close(p[0].p5, 1000, 1e-9);
    assert_close(p[0].p95, 1200, 1e-9);
    assert_true(p[1].dirty && p[1].epoch != p[0].epoch);
    assert_close(p[1].value, 2100, 1e-9);
    series_list_release(&list);
}

/* Those of an A/B comparison, or a self-test, are no history. */
RECORDS_TEST(test_runs_left_out)
{
    struct series_list list;
    for (int i = 0; i < 5; i++) {
        fixture_run(r, "m", 100 + i);
        fixture_add(r, 0, A, 1000 + i, 3);
    }
    r->runs[0].kind = r->runs[1].kind = r->runs[4].kind = RUN_TRIAL;
    r->runs[3].kind = RUN_IMPORTED;
    snprintf(r->runs[2].label, sizeof(r->runs[2].label), "selftest"); /* a label is a word */
    for (int i = 0; i < 5; i++)
        assert_int_equal(series_takes(&r->runs[i]), i == 2 || i == 3);
    series_list_init(&list, r);
    assert_int_equal(list.nr, 1);
    assert_int_equal(list.items[0].nr, 2);
    assert_int_equal(list.items[0].items[0].run, 2);
    series_list_release(&list);
}

/* Runs of two machine classes with 1 to 3 launches of some of 40 benchmarks, in disorder. */
static void make_history(struct records *r, struct random *random)
{
    for (int i = 0; i < 30; i++) {
        fixture_run(r, random_below(random, 3) ? "m" : "n", 1000 - 7 * (i % 11));
        int launches = 1 + (int)random_below(random, 3);
        for (int k = 0; k < 40 * launches; k++) {
            char key[KEY_SIZE];
            snprintf(key, sizeof(key), "gemm/linear/simd/fp32/batch=%d/cpu-2t/warm",
                     1 + k * 7 % 40);
            size_t nr = (size_t)random_below(random, 30); /* 0: failed */
            struct measurement *m = fixture_add(r, launches - 1 - k / 40, key, 1, nr);
            m->batch = 2;
            m->flops = 1e6;
            for (size_t j = 0; j < nr; j++)
                m->samples[j] = 1000 + random_below(random, 50);
        }
    }
}

static void build(const struct records *r, const char *metric, bool backwards,
                  struct series_list *list)
{
    struct series_builder *b = series_builder_create(metric_find(metric, NULL), r);

    for (size_t i = 0; i < r->nr; i++) {
        const struct record *record = &r->items[backwards ? r->nr - 1 - i : i];
        series_builder_add(b, (size_t)record->run, record->launch_seq, &record->m);
    }
    series_builder_finish(b, list);
    series_builder_free(b);
}

static void check_alike(const struct series_list *a, const struct series_list *b, double factor)
{
    assert_int_equal(a->nr, b->nr);
    for (size_t i = 0; i < a->nr; i++) {
        const struct series *x = &a->items[i], *y = &b->items[i];
        assert_string_equal(x->bench->key, y->bench->key);
        assert_string_equal(x->machine, y->machine);
        assert_int_equal(x->nr, y->nr);
        for (size_t k = 0; k < x->nr; k++) {
            assert_int_equal(x->items[k].run, y->items[k].run);
            assert_int_equal(x->items[k].launches, y->items[k].launches);
            assert_true(x->items[k].epoch == y->items[k].epoch);
            assert_close(y->items[k].value * factor, x->items[k].value, 1e-9);
        }
    }
}

/* A builder gives what the records give, in whatever order the measurements come. */
RECORDS_TEST(test_builder)
{
    struct series_list whole, built;
    struct random random;
    random_seed(&random, 11);
    make_history(r, &random);
    snprintf(r->runs[4].build.compiler, sizeof(r->runs[4].build.compiler), "clang");
    r->runs[5].kind = RUN_TRIAL;
    series_list_init(&whole, r);
    assert_int_equal(whole.nr, 80);
    for (int backwards = 0; backwards < 2; backwards++) {
        build(r, "p50", backwards, &built);
        check_alike(&whole, &built, 1);
        series_list_release(&built);
    }
    series_list_release(&whole);
}

/* The quick ways to a metric give what its row of the table gives. */
RECORDS_TEST(test_builder_metrics)
{
    static const char *const ids[] = { "p5", "p95", "min", "max", "mean", "gflops", "sd" };
    struct random random;
    random_seed(&random, 12);
    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, A, 1, 101);
    m->flops = 1e6;
    m->batch = 4;
    for (int j = 0; j < 101; j++)
        m->samples[j] = 1000 + random_below(&random, 1000);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct series_list list;
        struct summary s;
        summary_init_one(&s, m);
        build(r, ids[i], false, &list);
        assert_int_equal(list.nr, 1);
        assert_close(list.items[0].items[0].value, metric_get(ids[i], &s, NULL).value, 1e-9);
        series_list_release(&list);
        summary_release(&s);
    }
    struct series_list none;
    build(r, "gbs", false, &none); /* its bytes are not known */
    assert_int_equal(none.nr, 0);
    series_list_release(&none);
}

/* What programs state of samples that they kept to themselves: one launch, whose one sample is its
 * median. */
RECORDS_TEST(test_builder_stated)
{
    static const struct {
        const char *id;
        double value; /* NaN: no point */
    } cases[] = {
        { "p50", 1000 }, { "p95", 3000 },     { "p99", NAN }, { "max", 5000 }, { "p5", NAN },
        { "min", NAN },  { "tokens", 12345 }, { "gbs", NAN }, { "gflops", 2 },
    };
    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, A, 1000, 1);
    m->flops = 2000;
    m->bytes = 0;
    measurement_add_telemetry(m, "summary_p95_ns", 3000);
    measurement_add_telemetry(m, "summary_max_ns", 5000);
    measurement_add_telemetry(m, "tokens_per_second", 12345);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct series_list list;
        build(r, cases[i].id, false, &list);
        assert_int_equal(list.nr, !isnan(cases[i].value));
        if (list.nr)
            assert_close(list.items[0].items[0].value, cases[i].value, 1e-9);
        series_list_release(&list);
    }
}

/* What a program says of itself may be 0, or below: the point is the median of all launches. */
RECORDS_TEST(test_builder_zeros)
{
    static const struct {
        double values[5], point;
        int launches;
    } cases[] = {
        { { 0 }, 0, 1 },
        { { 0, 0, 0, 0, 5 }, 0, 5 },
        { { -2, 1, 3 }, 1, 3 },
        { { -2, -1, 3 }, -1, 3 },
    };
    enum { CASES = sizeof(cases) / sizeof(cases[0]) };
    struct series_list list;
    struct error err;
    const struct number_kind *kind = number_kind_of("zscore", "", BETTER_LOWER, &err);
    for (int i = 0; i < CASES; i++) {
        fixture_run(r, "m", i + 1);
        for (int k = 0; k < cases[i].launches; k++) {
            struct measurement *m = fixture_add(r, k, A, 1000, 3);
            m->numbers[m->nr_numbers] =
                (struct number) { kind, memory_zeroed(1, sizeof(double)), 1 };
            m->numbers[m->nr_numbers++].values[0] = cases[i].values[k];
        }
    }
    build(r, "zscore", false, &list);
    assert_int_equal(list.nr, 1);
    assert_int_equal(list.items[0].nr, CASES);
    for (int i = 0; i < CASES; i++) {
        assert_int_equal(list.items[0].items[i].launches, cases[i].launches);
        assert_close(list.items[0].items[i].value, cases[i].point, 0);
    }
    series_list_release(&list);
}

static void check_labels(const char *const *keys, const char *const *labels, size_t nr)
{
    struct benchmark_name names[8];
    const struct benchmark_name *pointers[8] = { NULL };
    struct error err;

    for (size_t i = 0; i < nr; i++) {
        assert_ok(benchmark_name_parse(keys[i], &names[i], &err), &err);
        pointers[i] = &names[i];
    }
    char **made = labels_create(pointers, nr);
    for (size_t i = 0; i < nr; i++)
        assert_string_equal(made[i], labels[i]);
    labels_free(made, nr);
}

TEST(test_labels)
{
    check_labels((const char *const[]) { "gemm/linear/simd/fp32/batch=1,k=48/cpu-2t/warm",
                                         "gemm/linear/simd/fp32/batch=4,k=48/cpu-2t/warm",
                                         "gemm/linear/openblas/fp32/batch=1,k=48/cpu-2t/warm" },
                 (const char *const[]) { "simd batch=1", "simd batch=4", "openblas batch=1" }, 3);
    check_labels((const char *const[]) { "gpt/nano/prefill/simd/fp32/batch=1,seq=64/cpu-2t/warm",
                                         "gpt/tile-large/prefill/simd/fp32/batch=1,seq=64/cpu-2t/"
                                         "warm" },
                 (const char *const[]) { "nano", "tile-large" }, 2);
    check_labels((const char *const[]) { A }, (const char *const[]) { "gemm/linear simd" }, 1);
    /* Imported names have no parts; one is the front of the other. */
    check_labels((const char *const[]) { "BM_x/8", "BM_x/8/real", "BM_x" },
                 (const char *const[]) { "BM_x/8", "BM_x/8/real", "BM_x" }, 3);
    /* Parts that read alike: the keys themselves. */
    check_labels((const char *const[]) { "k/a/b c/m=1/d/warm", "k/a b/c/m=1/d/warm" },
                 (const char *const[]) { "k/a/b c/m=1/d/warm", "k/a b/c/m=1/d/warm" }, 2);
    /* The same benchmark twice is the same label twice. */
    check_labels((const char *const[]) { A, B, A },
                 (const char *const[]) { "batch=4", "batch=16", "batch=4" }, 3);
    labels_free(labels_create(NULL, 0), 0);
}

TEST(test_labels_common)
{
    static const struct {
        const char *keys[2], *common;
    } cases[] = {
        { { A, B }, "gemm/linear simd fp32 seq=64 cpu-2t warm" },
        /* Kernels that share their first parts, their last ones, or both. */
        { { "gpt/nano/decode/simd/fp32/batch=1/cpu-2t/warm",
            "gpt/nano/prefill/simd/fp32/batch=1/cpu-2t/warm" },
          "gpt/nano/* simd fp32 batch=1 cpu-2t warm" },
        { { "gpt/nano/decode/simd/fp32/batch=1/cpu-2t/warm",
            "gpt/tile-large/decode/plain/fp32/batch=1/cpu-2t/warm" },
          "gpt/*/decode fp32 batch=1 cpu-2t warm" },
        { { "a/BM_copy", "b/BM_copy" }, "*/BM_copy" },
        { { "nightly/BM_sort", "nightly/BM_copy" }, "nightly/*" },
        { { "a/x/x/b", "a/x/b" }, "a/x/*" }, /* what both begin and end with is said once */
        { { "BM_sort", "BM_copy" }, "" },    /* half a part is none */
        { { "gemm/nn/simd/fp32/batch=1/cpu-2t/warm",
            "attention/full/simd/fp32/batch=1/cpu-2t/warm" },
          "simd fp32 batch=1 cpu-2t warm" },
    };
    struct benchmark_name names[2];
    const struct benchmark_name *pointers[] = { &names[0], &names[1] };
    char text[128];
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int k = 0; k < 2; k++)
            assert_ok(benchmark_name_parse(cases[i].keys[k], &names[k], &err), &err);
        labels_common(pointers, 2, text, sizeof(text));
        assert_string_equal(text, cases[i].common);
    }
}

/* Any set of keys: no two different ones get the same label. */
TEST(test_labels_differ)
{
    enum { SET = 40, ROUNDS = 300 };
    static const char *const kernels[] = { "gemm/nn", "gemm/linear", "gpt/a/decode", "gpt/b/decode",
                                           "k",       "k/k",         "simd",         "" };
    static const char *const words[] = { "simd", "naive", "a b", "b", "m=1", "" };
    static struct benchmark_name names[SET];
    const struct benchmark_name *pointers[SET];
    struct random r;
    struct error err;
    random_seed(&r, 3);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SET; i++) {
            char key[KEY_SIZE];
            const char *dim = random_below(&r, 2) ? "m" : "n";
            snprintf(key, sizeof(key), "%s/%s/%s/%s=%d,k=%d/cpu-%dt/%s",
                     kernels[random_below(&r, 8)], words[random_below(&r, 6)],
                     words[random_below(&r, 6)], dim, (int)random_below(&r, 2),
                     (int)random_below(&r, 2), (int)random_below(&r, 2),
                     random_below(&r, 4) ? "warm" : "odd");
            assert_ok(benchmark_name_parse(key, &names[i], &err), &err);
            pointers[i] = &names[i];
        }
        size_t nr = 1 + (size_t)random_below(&r, SET);
        char **labels = labels_create(pointers, nr);
        for (size_t i = 0; i < nr; i++)
            for (size_t j = 0; j < i; j++)
                assert_int_equal(strcmp(labels[i], labels[j]) == 0,
                                 strcmp(names[i].key, names[j].key) == 0);
        labels_free(labels, nr);
    }
}

RUN_TESTS(NULL, NULL)
