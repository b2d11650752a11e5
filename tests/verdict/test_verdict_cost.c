/* SPDX-License-Identifier: MIT */
/* What a decision costs, from blocks with known noise; and what placement adds, from blocks in
 * which it is known. Features: U-12. */
#include "testing.h"

#include "verdict/placement_noise.h"
#include "verdict/selftest_cost.h"

#include <stdlib.h>

static void add(struct evidence_side *side, double log_value, int block)
{
    side->values = array_grow(side->values, side->nr, &side->capacity, sizeof(*side->values));
    side->values[side->nr++] =
        (struct evidence_value) { .value = 1e6 * exp(log_value), .run = block, .probe = NAN };
}

enum { LAUNCHES = 2 }; /* of a side in a block */

/* Two launches a side and block, with noise of their own on each side, and what a block's launches
 * have in common. */
static struct evidence make_blocks(int blocks, double base, double head, double common,
                                   uint64_t seed)
{
    struct evidence e = { .design = DESIGN_BLOCKS };
    struct random r;

    random_seed(&r, seed);
    for (int i = 0; i < blocks; i++) {
        double level = common * random_normal(&r);
        for (int l = 0; l < LAUNCHES; l++) {
            add(&e.base, level + base * random_normal(&r), i);
            add(&e.head, level + head * random_normal(&r), i);
        }
    }
    return e;
}

static void release(struct evidence *e)
{
    free(e->base.values);
    free(e->head.values);
}

/* Blocks needed lie between these; 0, 0: more than there may be. */
static const struct {
    double noise, common, size;
    int least, most;
} rows[] = {
    { 0.0005, 0, 0.01, 3, 4 }, { 0.0005, 0.2, 0.01, 3, 4 }, /* what blocks share falls out */
    { 0.01, 0, 0.1, 3, 4 },    { 0.01, 0, 0.05, 3, 8 },     { 0.01, 0, 0.02, 5, 20 },
    { 0.01, 0, 0.01, 20, 80 }, { 0.02, 0, 0.01, 80, 400 },  { 0.2, 0, 0.01, 0, 0 },
};

TEST(test_blocks_needed)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct evidence e = make_blocks(40, rows[i].noise, rows[i].noise, rows[i].common, i + 1);
        struct selftest_cost_row row;
        struct random r;
        struct error err;
        random_seed(&r, i);
        assert_ok(selftest_cost_simulate(&e, rows[i].size, 100, &r, &row, &err), &err);
        if (row.blocks < rows[i].least || row.blocks > rows[i].most)
            fail_msg("noise %g, size %g: %d blocks", rows[i].noise, rows[i].size, row.blocks);
        assert_close(row.delta, rows[i].size / 2, 0);
        assert_int_equal(row.alarms.of, 100);
        assert_true(selftest_interval(row.alarms).low <= 0.05);
        release(&e);
    }
}

TEST(test_facts_of_blocks)
{
    struct evidence e = make_blocks(40, 0.01, 0.01, 0.3, 5), few = make_blocks(5, 0.01, 0.01, 0, 1);
    struct selftest_cost c = { .nr = 0 };
    struct error err;

    assert_ok(selftest_cost_measure(&e, 20, &c, &err), &err);
    assert_int_equal(c.blocks, 40);
    assert_close(c.block_seconds, 0.5, 1e-12);
    assert_close(c.launch_noise, 0.01, 0.003);
    assert_close(c.block_noise, 0.01, 0.004);
    assert_true(c.ns > 5e5 && c.ns < 2e6);
    assert_int_equal(selftest_cost_measure(&few, 1, &c, &err), -1);
    assert_non_null(strstr(err.message, "too few"));
    release(&e);
    release(&few);
}

/* ---- placement ---- */

TEST(test_the_part_of_placement)
{
    struct evidence e = make_blocks(200, 0.01, hypot(0.01, 0.03), 0.1, 7), none = { .design = 0 };
    struct placement_part p;

    assert_true(placement_part_find(&e, &p));
    assert_close(p.fixed, 0.01, 0.002);
    assert_close(p.part, 0.03, 0.004);
    assert_true(p.limits.low > 0 && p.limits.low < p.part && p.limits.high > p.part);
    assert_close(placement_change(&p), expm1(2 * p.part), 1e-12);
    assert_int_equal(p.launches, 400);
    assert_false(placement_part_find(&none, &p));
    release(&e);
}

/* Where placement adds nothing, it is shown in one case of twenty at most. */
TEST(test_nothing_added)
{
    size_t shown = 0, trials = 1000;

    for (size_t i = 0; i < trials; i++) {
        struct evidence e = make_blocks(20, 0.01, 0.01, 0.05, 100 + i);
        struct placement_part p;
        assert_true(placement_part_find(&e, &p));
        shown += placement_change(&p) > 0;
        release(&e);
    }
    print_message("placement shown where there is none: %zu of %zu\n", shown, trials);
    assert_true(stats_proportion_interval(shown, trials, 0.998).low <= 0.05);
}

TEST(test_kept_and_read)
{
    static const char *const bad[] = { "", "{}", "{\"benchmarks\": 3}",
                                       "{\"benchmarks\": [{\"part\": 0.1, \"p\": 0}]}",
                                       "{\"benchmarks\": [{\"key\": \"a\", \"part\": -1}]}" };
    struct placement_part p = { .key = "a/b", .part = 0.02, .limits = { 0.01, 0.03 }, .p = 0.01 },
                          *back;
    struct error err;
    size_t nr;

    cJSON *json = placement_to_json(&p, 1);
    char *text = cJSON_PrintUnformatted(json);
    assert_ok(placement_from_text(text, &back, &nr, &err), &err);
    assert_int_equal(nr, 1);
    assert_string_equal(back->key, "a/b");
    assert_close(back->part, 0.02, 0);
    assert_close(placement_change(back), expm1(0.04), 1e-12);
    free(back);
    cJSON_free(text);
    cJSON_Delete(json);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(placement_from_text(bad[i], &back, &nr, &err), -1);
        free(back);
    }
}

RUN_TESTS(NULL, NULL)
