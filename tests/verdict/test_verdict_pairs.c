/* SPDX-License-Identifier: MIT */
/* Features: U-06 (regressions against baselines), U-12 (`compare`): what records say of how the
 * launches of two sides hang together; what follows from it is in test_verdict_designs.c. */
#include "analysis_fixture.h"
#include "testing.h"

#include "base/file.h"
#include "base/json.h"
#include "verdict/compare.h"

/* Evidence of runs, as it comes out of records. */
static void add_run(struct records *r, const char *ab, const double *ns, int nr, int from)
{
    struct run *run = fixture_run(r, "m", (int64_t)r->nr_runs + 1);

    if (ab) {
        run->ab.block = 2;
        snprintf(run->ab.id, sizeof(run->ab.id), "%s", ab);
    }
    for (int i = 0; i < nr; i++)
        fixture_add(r, from + i, "gemm/nn/simd/fp32/m=1/cpu-2t/warm", ns[i], 3);
}

static enum compare_design design_of(struct records *base, struct records *head)
{
    const struct compare_settings settings = COMPARE_DEFAULTS;
    struct comparison c;
    struct error err;

    assert_ok(compare_run(base, head, &settings, &c, &err), &err);
    assert_int_equal(c.nr, 1);
    enum compare_design design = c.rows[0].item->evidence.design;
    const struct evidence_side *side = &c.rows[0].item->evidence.base;
    bool pairs = base->runs[0].ab.block == 1;
    int last[] = { [DESIGN_LAUNCHES] = 0, [DESIGN_RUNS] = 1, [DESIGN_BLOCKS] = pairs ? 5 : 2 };
    assert_int_equal(side->values[side->nr - 1].run, last[design]);
    comparison_release(&c);
    return design;
}

TEST(test_designs)
{
    const double ns[] = { 1e6, 1.01e6, 1.02e6, 1e6, 1.01e6, 1.02e6 };
    struct records base = { 0 }, head = { 0 }, other = { 0 }, plain = { 0 };
    add_run(&base, "one", ns, 6, 0);
    add_run(&head, "one", ns, 6, 0);
    add_run(&other, "two", ns, 6, 0);
    add_run(&plain, NULL, ns, 6, 0);
    assert_int_equal(design_of(&base, &head), DESIGN_BLOCKS);
    assert_int_equal(design_of(&base, &other), DESIGN_LAUNCHES);
    assert_int_equal(design_of(&plain, &plain), DESIGN_LAUNCHES);
    add_run(&base, "one", ns, 6, 0);
    assert_int_equal(design_of(&base, &head), DESIGN_RUNS);
    records_release(&base);
    records_release(&head);
    records_release(&other);
    records_release(&plain);
}

/* What `harness import --in-turn NAME` keeps; launch i takes 1 ms, times what it drifts, times
 * `factor`. */
static void add_in_turn(struct records *r, const char *name, int launches, double factor)
{
    struct run *run = fixture_run(r, "m", (int64_t)r->nr_runs + 1);

    run->ab.block = 1;
    snprintf(run->ab.id, sizeof(run->ab.id), "%s", name);
    for (int i = 0; i < launches; i++)
        fixture_add(r, i, "a/b/simd/fp32/batch=1/cpu-2t/warm",
                    1e6 * factor * (1 + 0.1 * i) * (1 + 0.001 * (i % 3)), 3);
}

/* n launches of each are n pairs, and what drifts over them is in both: +50 % from the first to the
 * last, and 5 % between the sides is found by pairs alone. */
TEST(test_imported_in_turn)
{
    const struct compare_settings settings = COMPARE_DEFAULTS;
    struct records base = { 0 }, head = { 0 };
    struct comparison c;
    struct error err;

    add_in_turn(&base, "night", 6, 1);
    add_in_turn(&head, "night", 6, 1.05);
    assert_ok(compare_run(&base, &head, &settings, &c, &err), &err);
    assert_int_equal(c.rows[0].item->evidence.design, DESIGN_BLOCKS);
    assert_int_equal(evidence_blocks(&c.rows[0].item->evidence), 6);
    assert_close(c.rows[0].change, 0.05, 1e-5);
    assert_true(c.rows[0].interval.low > 0.049 && c.rows[0].interval.high < 0.051);
    assert_int_equal(c.rows[0].verdict, VERDICT_REGRESSED);
    comparison_release(&c);
    head.runs[0].ab = (struct run_ab) { .block = 0 }; /* the same numbers, not in turn */
    assert_ok(compare_run(&base, &head, &settings, &c, &err), &err);
    assert_int_equal(c.rows[0].item->evidence.design, DESIGN_LAUNCHES);
    assert_int_equal(c.rows[0].verdict, VERDICT_UNDECIDED);
    comparison_release(&c);
    records_release(&base);
    records_release(&head);
}

static bool says_not_paired(const struct records *base, const struct records *head)
{
    const struct compare_settings settings = COMPARE_DEFAULTS;
    struct comparison c;
    struct error err;
    bool said = false;

    assert_ok(compare_run(base, head, &settings, &c, &err), &err);
    for (size_t i = 0; i < c.nr_notes; i++)
        said |= strstr(c.notes[i], "not compared pair by pair") != NULL;
    comparison_release(&c);
    return said;
}

/* Where a launch of one side is lost, nobody knows which: those after it would meet strangers. */
TEST(test_what_is_no_pair)
{
    struct records base = { 0 }, fewer = { 0 }, other = { 0 };

    add_in_turn(&base, "night", 6, 1);
    add_in_turn(&fewer, "night", 5, 1);
    add_in_turn(&other, "morning", 6, 1);
    assert_int_equal(design_of(&base, &base), DESIGN_BLOCKS);
    assert_false(says_not_paired(&base, &base));
    assert_int_equal(design_of(&base, &fewer), DESIGN_LAUNCHES);
    assert_int_equal(design_of(&fewer, &base), DESIGN_LAUNCHES);
    assert_true(says_not_paired(&base, &fewer));
    assert_int_equal(design_of(&base, &other), DESIGN_LAUNCHES);
    assert_false(says_not_paired(&base, &other));
    add_in_turn(&base, "night", 6, 1);
    assert_int_equal(design_of(&base, &other), DESIGN_RUNS); /* two runs of a side */
    add_in_turn(&other, "night", 6, 1);
    assert_int_equal(design_of(&base, &other), DESIGN_RUNS);
    records_release(&base);
    records_release(&fewer);
    records_release(&other);
}

/* Times of whole steps, as `cargo bench` writes them: of pairs that differ by the same step nobody
 * knows how exact they are. What is alike is the same, and what is written finely counts in full.
 */
TEST(test_pairs_of_rounded_values)
{
    static const struct {
        const char *what;
        int pairs;
        double base[6], head[6];
        enum verdict verdict;
    } rows[] = {
        { "one step, thrice", 3, { 21, 21, 21 }, { 20, 20, 20 }, VERDICT_UNDECIDED },
        { "one step of MB", 3, { 12e6, 12e6, 12e6 }, { 13e6, 13e6, 13e6 }, VERDICT_UNDECIDED },
        { "one step of MiB",
          3,
          { 12582912, 12582912, 12582912 },
          { 13631488, 13631488, 13631488 },
          VERDICT_UNDECIDED },
        { "one step, six times",
          6,
          { 20, 20, 20, 20, 20, 20 },
          { 21, 21, 21, 21, 21, 21 },
          VERDICT_REGRESSED },
        { "many steps", 3, { 1000, 1000, 1000 }, { 1500, 1500, 1500 }, VERDICT_REGRESSED },
        { "fine steps",
          3,
          { 100003, 100003, 100003 },
          { 110007, 110007, 110007 },
          VERDICT_REGRESSED },
        { "alike", 3, { 20, 20, 20 }, { 20, 20, 20 }, VERDICT_SAME },
    };
    const struct compare_settings settings = COMPARE_DEFAULTS;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct records base = { 0 }, head = { 0 };
        struct comparison c;
        struct error err;
        add_run(&base, "pairs", rows[i].base, rows[i].pairs, 0);
        add_run(&head, "pairs", rows[i].head, rows[i].pairs, 0);
        base.runs[0].ab.block = head.runs[0].ab.block = 1;
        assert_ok(compare_run(&base, &head, &settings, &c, &err), &err);
        assert_int_equal(c.rows[0].item->evidence.design, DESIGN_BLOCKS);
        if (c.rows[0].verdict != rows[i].verdict)
            fail_msg("%s: %s", rows[i].what, verdict_name(c.rows[0].verdict));
        comparison_release(&c);
        records_release(&base);
        records_release(&head);
    }
}

/* criterion's own pair: the same code twice, one process each. Its samples are many, its launches
 * one: nobody can tell. */
static void add_criterion(struct records *r, const char *file)
{
    char path[1024];
    struct error err;

    snprintf(path, sizeof(path), "%s/tests/fixtures/criterion/%s.json", HARNESS_SOURCE_DIR, file);
    cJSON *json = json_parse_file(path, FILE_RECORDS_MOST, &err);
    if (!json)
        fail_msg("%s", err.message);
    const cJSON *iters = cJSON_GetArrayItem(json, 0);
    const cJSON *times = cJSON_GetArrayItem(json, 1);
    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, "Fibonacci_Iterative", 1, 100);
    assert_int_equal(cJSON_GetArraySize(times), 100);
    m->batch = 1000000; /* samples are whole numbers of ns */
    for (int i = 0; i < 100; i++)
        m->samples[i] = (uint64_t)(1e6 * cJSON_GetArrayItem(times, i)->valuedouble /
                                   cJSON_GetArrayItem(iters, i)->valuedouble);
    cJSON_Delete(json);
}

TEST(test_criterion_pair)
{
    const struct compare_settings settings = COMPARE_DEFAULTS;
    struct records base = { 0 }, head = { 0 };
    struct comparison c;
    struct error err;
    add_criterion(&base, "base");
    add_criterion(&head, "new");
    assert_ok(compare_run(&base, &head, &settings, &c, &err), &err);
    assert_int_equal(c.rows[0].verdict, VERDICT_UNDECIDED);
    assert_close(c.rows[0].base.value, 4.670911, 1e-3);
    assert_close(c.rows[0].change, -0.0004, 0.0066); /* criterion: -0.04 % [-0.66, +0.76] */
    assert_int_equal(c.exit_status, EXIT_UNDECIDED);
    comparison_release(&c);
    records_release(&base);
    records_release(&head);
}

RUN_TESTS(NULL, NULL)
