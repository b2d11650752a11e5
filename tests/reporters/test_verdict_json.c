/* SPDX-License-Identifier: MIT */
/* What is kept of a verdict reads back as it was, and decides again as it did. Features: U-12. */
#include "analysis_fixture.h"
#include "same_records.h"

#include "base/array.h"
#include "base/json.h"
#include "reporters/verdict_json.h"
#include "stats/random.h"

#include <float.h>

static struct kept_items read_back(const struct compare_item *item)
{
    struct kept_items kept = { 0 };
    struct error err;
    char *text = evidence_text(item);

    assert_ok(kept_items_add(&kept, item->bench->key, item->machine, item->metric->id, text, &err),
              &err);
    free(text);
    assert_int_equal(kept.nr, 1);
    return kept;
}

static void assert_same_side(const struct evidence_side *a, const struct evidence_side *b)
{
    assert_true(a->nr == b->nr && a->failures == b->failures && a->outcome == b->outcome &&
                a->present == b->present && a->negatives == b->negatives);
    assert_same_text(a->message, b->message);
    for (size_t i = 0; a->values && b->values && i < a->nr; i++) {
        assert_same_real(a->values[i].value, b->values[i].value);
        assert_same_real(a->values[i].inner, b->values[i].inner);
        assert_same_real(a->values[i].probe, b->values[i].probe);
        assert_int_equal(a->values[i].run, b->values[i].run);
    }
}

static struct compare_item sample_item(const struct benchmark_name *bench)
{
    struct error err;
    struct compare_item item = {
        .bench = bench,
        .machine = "class \"a\"",
        .metric = metric_find("p95", &err),
        .evidence.design = DESIGN_BLOCKS,
    };

    item.evidence.base.present = item.evidence.head.present = true;
    return item;
}

TEST(test_every_bit_comes_back)
{
    static struct evidence_value base[] = {
        { 0.1 + 0.2, 0, 0, NAN },
        { 1e5 / 3, 7, DBL_MIN, 12345.678901234567 },
        { DBL_MAX, KEPT_RUN_MAX, 0.1, 1 },
    };
    static struct evidence_value head[] = { { DBL_TRUE_MIN, 0, 0, NAN }, { 1, 0, 0, NAN } };
    static struct evidence_value earlier[] = { { 1.1, 0, 1e-5, NAN },
                                               { 1.2, COMPARE_EARLIER_MAX - 1, 2e-5, NAN } };
    struct benchmark_name bench;
    struct error err;

    assert_ok(benchmark_name_parse("gemm/linear/simd/fp32/batch=4,n=192/cpu-2t/warm", &bench, &err),
              &err);
    struct compare_item item = sample_item(&bench);
    item.vendor = true;
    item.evidence.base.values = base;
    item.evidence.base.nr = 3;
    item.evidence.head = (struct evidence_side) { .values = head,
                                                  .nr = 2,
                                                  .failures = 3,
                                                  .negatives = 2,
                                                  .outcome = OUTCOME_WRONG,
                                                  .present = true,
                                                  .message = "off by \"1\"\nµ" };
    item.evidence.earlier = (struct evidence_side) { .values = earlier, .nr = 2, .present = true };
    struct kept_items kept = read_back(&item);
    const struct compare_item *back = &kept.items[0];
    assert_string_equal(back->bench->key, bench.key);
    assert_int_equal(benchmark_name_dim(back->bench, "n", 0), 192);
    assert_string_equal(back->machine, item.machine);
    assert_true(back->vendor && back->metric == item.metric &&
                back->evidence.design == DESIGN_BLOCKS);
    assert_same_side(&back->evidence.base, &item.evidence.base);
    assert_same_side(&back->evidence.head, &item.evidence.head);
    assert_same_side(&back->evidence.earlier, &item.evidence.earlier);
    kept_items_release(&kept);
}

TEST(test_an_absent_side_comes_back)
{
    struct benchmark_name bench;
    struct error err;

    assert_ok(benchmark_name_parse("imported", &bench, &err), &err);
    for (int d = DESIGN_LAUNCHES; d <= DESIGN_BLOCKS; d++) {
        struct compare_item item = sample_item(&bench);
        item.evidence.design = (enum compare_design)d;
        item.evidence.base.present = false;
        item.evidence.base.outcome = OUTCOME_UNSUPPORTED;
        struct kept_items kept = read_back(&item);
        assert_int_equal(kept.items[0].evidence.design, d);
        assert_same_side(&kept.items[0].evidence.base, &item.evidence.base);
        assert_same_side(&kept.items[0].evidence.head, &item.evidence.head);
        kept_items_release(&kept);
    }
}

TEST(test_unsound_evidence_is_refused)
{
    static const struct {
        const char *metric, *evidence, *complaint;
    } cases[] = {
        { "p50", "{", "JSON" },
        { "p50", "{}", "design" },
        { "p50", "{\"design\":\"hearsay\",\"base\":{},\"head\":{}}", "hearsay" },
        { "p50", "{\"design\":\"launches\",\"base\":{}}", "head" },
        { "p50", "{\"design\":\"launches\",\"base\":{\"outcome\":\"FINE\"},\"head\":{}}",
          "outcome" },
        { "p50", "{\"design\":\"launches\",\"base\":{\"failures\":-1},\"head\":{}}", "outcome" },
        { "p50", "{\"design\":\"launches\",\"base\":{\"negatives\":-1},\"head\":{}}", "outcome" },
        { "p50", "{\"design\":\"launches\",\"base\":{\"values\":[1,null]},\"head\":{}}",
          "launch 1" },
        { "p50", "{\"design\":\"launches\",\"base\":{\"values\":[-0.5]},\"head\":{}}", "launch 0" },
        { "p50",
          "{\"design\":\"launches\",\"base\":{\"values\":[0]},\"head\":{},"
          "\"earlier\":{\"values\":[0]}}",
          "launch 0 of the earlier" }, /* a launch may have 0, the mean of a run's logs may not */
        { "p50", "{\"design\":\"launches\",\"base\":{},\"head\":{\"values\":[-1]}}", "head" },
        { "p50", "{\"design\":\"launches\",\"base\":{\"values\":[1],\"inner\":[-1]},\"head\":{}}",
          "launch 0" },
        { "p50",
          "{\"design\":\"launches\",\"base\":{\"values\":[1],\"occasions\":[-2]},\"head\":{}}",
          "launch 0" },
        { "p50",
          "{\"design\":\"occasions\",\"base\":{},"
          "\"head\":{\"values\":[1,1],\"occasions\":[0,2147483646]}}",
          "launch 1 of the head" }, /* a rule counts up to it */
        { "p50", "{\"design\":\"launches\",\"base\":{\"values\":[1,2],\"probe\":[1]},\"head\":{}}",
          "probe" },
        { "p50",
          "{\"design\":\"launches\",\"base\":{},\"head\":{},"
          "\"earlier\":{\"values\":[1,1],\"occasions\":[0,12]}}",
          "earlier" }, /* a rule counts up to it */
        { "p50", "{\"design\":\"launches\",\"base\":{},\"head\":{},\"earlier\":[1]}", "earlier" },
        { "p51", "{\"design\":\"launches\",\"base\":{},\"head\":{}}", "p51" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kept_items kept = { 0 };
        struct error err = { "" };
        assert_int_equal(
            kept_items_add(&kept, "a/b", "m", cases[i].metric, cases[i].evidence, &err), -1);
        if (!strstr(err.message, cases[i].complaint) || !strstr(err.message, "a/b"))
            fail_msg("\"%s\" is not in: %s", cases[i].complaint, err.message);
        kept_items_release(&kept);
    }
}

TEST(test_settings_come_back)
{
    static const char *const metrics[] = { "p50", "p95", NULL };
    static const struct compare_floor floors[] = { { "gemm/*", 0.05 }, { "p95", 1.0 / 3 } };
    static const struct compare_placement placements[] = { { "gemm/a", "m", 0.01, 1.0 / 49 } };
    struct compare_settings settings = {
        .delta = 0.1,
        .q = 0.01,
        .metrics = metrics,
        .floors = floors,
        .nr_floors = 2,
        .placements = placements,
        .nr_placements = 1,
        .any_machine = true,
    };
    struct kept_settings kept;
    struct error err;
    char *text = settings_text(&settings);

    assert_ok(kept_settings_init(&kept, text, &err), &err);
    free(text);
    assert_true(kept.settings.delta == 0.1 && kept.settings.q == 0.01 && kept.settings.any_machine);
    assert_string_equal(kept.settings.metrics[0], "p50");
    assert_string_equal(kept.settings.metrics[1], "p95");
    assert_null(kept.settings.metrics[2]);
    assert_int_equal(kept.settings.nr_floors, 2);
    assert_string_equal(kept.settings.floors[0].pattern, "gemm/*");
    assert_true(kept.settings.floors[1].delta == 1.0 / 3);
    assert_int_equal(kept.settings.nr_placements, 1);
    assert_string_equal(kept.settings.placements[0].key, "gemm/a");
    assert_string_equal(kept.settings.placements[0].machine, "m");
    assert_true(kept.settings.placements[0].part == 0.01);
    assert_true(kept.settings.placements[0].change == 1.0 / 49);
    kept_settings_release(&kept);
    assert_int_equal(kept_settings_init(&kept, "{\"delta\":0.1}", &err), -1);
    kept_settings_release(&kept);
    assert_int_equal(kept_settings_init(&kept, "[", &err), -1);
    kept_settings_release(&kept);
}

/* ---- deciding again ---- */

enum { KEYS = 14, LAUNCHES = 6 };

/* Some keys changed, one broke, one is gone, one is new, one failed on both sides. */
static void make_records(struct records *r, bool head, struct random *random)
{
    char key[64];

    fixture_run(r, "class-a", head);
    for (int k = 0; k < KEYS; k++) {
        if (k == (head ? 11 : 12))
            continue;
        double slower = head && k == 3 ? 1.2 : head && k == 5 ? 0.8 : 1;
        snprintf(key, sizeof(key), "gemm/linear/simd/fp32/batch=%d/cpu-2t/warm", k + 1);
        for (int launch = 0; launch < LAUNCHES; launch++) {
            bool fails = k == 13 || (head && k == 7 && launch == 2);
            double ns = 1e6 * slower * exp(0.01 * random_normal(random));
            fixture_add(r, launch, key, ns, fails ? 0 : 5);
        }
    }
}

static void assert_same_row(const struct compare_row *a, const struct compare_row *b)
{
    assert_string_equal(a->item->bench->key, b->item->bench->key);
    assert_string_equal(verdict_name(a->verdict), verdict_name(b->verdict));
    assert_string_equal(a->why, b->why);
    assert_same_real(a->change, b->change);
    assert_same_real(a->p, b->p);
    assert_same_real(a->q, b->q);
    assert_same_real(a->delta, b->delta);
    assert_same_real(a->detectable, b->detectable);
    assert_same_real(a->interval.low, b->interval.low);
    assert_same_real(a->interval.high, b->interval.high);
}

static void assert_result(const struct compare_row *row)
{
    struct kept_result result;
    struct error err;
    char *text = result_text(row);

    assert_ok(kept_result_read(text, &result, &err), &err);
    assert_same_real(result.change, row->change);
    assert_same_real(result.interval.low, row->interval.low);
    assert_same_real(result.interval.high, row->interval.high);
    assert_int_equal(result.worse, row->worse);
    assert_int_equal(result.accepted, row->accepted != NULL);
    free(text);
}

static struct kept_items keep(const struct comparison *c)
{
    struct kept_items kept = { 0 };
    struct error err;

    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_item *item = c->rows[i].item;
        char *text = evidence_text(item);
        assert_ok(
            kept_items_add(&kept, item->bench->key, item->machine, item->metric->id, text, &err),
            &err);
        free(text);
    }
    return kept;
}

static void assert_same_comparison(const struct comparison *a, const struct comparison *b)
{
    assert_int_equal(a->nr, b->nr);
    for (size_t i = 0; i < a->nr; i++) {
        assert_same_row(&a->rows[i], &b->rows[i]);
        assert_int_equal(kept_items_index(a->rows[i].item), i);
    }
    for (int v = 0; v < VERDICT_NR; v++)
        assert_int_equal(a->count[v], b->count[v]);
    assert_int_equal(a->exit_status, b->exit_status);
}

TEST(test_replay_decides_alike)
{
    static const enum verdict once[] = { VERDICT_REGRESSED, VERDICT_IMPROVED, VERDICT_BROKEN,
                                         VERDICT_FAILING,   VERDICT_NEW,      VERDICT_MISSING };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct records base = { 0 }, head = { 0 };
    struct comparison c, again;
    struct random random;
    struct error err;

    random_seed(&random, 5);
    make_records(&base, false, &random);
    make_records(&head, true, &random);
    assert_ok(compare_run(&base, &head, &settings, &c, &err), &err);
    assert_int_equal(c.nr, KEYS);
    for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++)
        assert_int_equal(c.count[once[i]], 1);
    for (size_t i = 0; i < c.nr; i++)
        assert_result(&c.rows[i]);
    struct kept_items kept = keep(&c);
    size_t nr = kept.nr;
    assert_ok(compare_decide(kept_items_take(&kept), nr, &settings, &again, &err), &err);
    assert_same_comparison(&again, &c);
    comparison_release(&again);
    kept_items_release(&kept);
    comparison_release(&c);
    records_release(&base);
    records_release(&head);
}

RUN_TESTS(NULL, NULL)
