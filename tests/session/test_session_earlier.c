/* SPDX-License-Identifier: MIT */
/* Which runs of a history a trend is made of, and which are earlier than what is compared. */
#include "session_testing.h"

#include "session/compare/compare_history.h"
#include "session/trend_history.h"

#include "compare_fixture.h"

#define NR(list) (sizeof(list) / sizeof((list)[0]))
#define DAY      INT64_C(1700000000000)

/* ---- runs ---- */

/* One run, with A in it and C where it is `both`. Its label is a letter, by which tests name it. */
struct night {
    char label;
    const char *machine, *branch;
    int64_t after; /* of DAY, ms */
    enum run_kind kind;
    bool both;
    bool dead; /* it never ended */
};

/* Labels of the runs, in their order. */
static void expect_runs(const struct records *runs, const char *labels, size_t number)
{
    char text[64] = "";

    assert_true(runs->nr_runs < sizeof(text));
    for (size_t i = 0; i < runs->nr_runs; i++)
        text[i] = runs->runs[i].label[0];
    if (strcmp(text, labels) != 0)
        fail_msg("case %zu: runs \"%s\", not \"%s\"", number, text, labels);
    assert_int_equal(runs->nr, 0); /* no measurements */
}

static struct records make_night(const struct night *n, double ns)
{
    struct records r = { 0 };
    struct run *run = new_run(&r, DAY + n->after);

    snprintf(run->machine.class_name, sizeof(run->machine.class_name), "%s", n->machine);
    snprintf(run->machine.id, sizeof(run->machine.id), "%s", n->machine);
    snprintf(run->build.branch, sizeof(run->build.branch), "%s", n->branch ? n->branch : "");
    run->label[0] = n->label;
    run->kind = n->kind;
    if (n->dead)
        run->ended_ms = 0;
    fixture_add(&r, 0, A, ns, 3);
    if (n->both)
        fixture_add(&r, 0, C, ns * 2, 3);
    return r;
}

/* They take 100 ns, 101 ns and so on. */
static void keep_nights(struct store *store, const struct night *nights, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        struct records r = make_night(&nights[i], 100 + (double)i);
        keep_run(store, &r);
    }
}

/* ---- trends ---- */

SCRATCH_TEST(a_trend_is_of_the_runs_in_its_scope)
{
    static const struct night nights[] = {
        { .label = 'a', .machine = "one", .after = 10 },
        { .label = 'b', .machine = "two", .after = 20, .both = true },
        { .label = 'c', .machine = "one", .after = 30, .kind = RUN_IMPORTED },
        { .label = 'd', .machine = "one", .after = 40, .kind = RUN_TRIAL },
        { .label = 'e', .machine = "one", .after = 50, .kind = RUN_PROFILE },
        { .label = 'f', .machine = "one", .after = 60, .dead = true },
        { .label = 'g', .machine = "one", .after = 70, .both = true },
        { .label = 'h', .machine = "two", .after = 5 }, /* kept last, begun first */
    };
    static const struct {
        struct trend_scope scope;
        const char *runs;
        size_t series;
    } cases[] = {
        { { INT64_MIN, 0, NULL, false }, "habceg", 4 },
        { { DAY + 10, 0, NULL, false }, "abceg", 4 }, /* then, or later */
        { { DAY + 11, 0, NULL, false }, "bceg", 4 },
        { { DAY + 70, 0, NULL, false }, "g", 2 },
        { { DAY + 71, 0, NULL, false }, "", 0 },
        { { INT64_MAX, 0, NULL, false }, "", 0 },
        { { INT64_MIN, 0, "one", false }, "aceg", 2 },
        { { INT64_MIN, 0, "two", false }, "hb", 2 },
        { { INT64_MIN, 1, NULL, false }, "bg", 4 }, /* of each machine */
        { { INT64_MIN, 2, NULL, false }, "hbeg", 4 },
        { { INT64_MIN, INT64_MAX, NULL, false }, "habceg", 4 },
        { { INT64_MIN, 2, "one", false }, "eg", 2 },
        { { DAY + 71, 1, "one", false }, "", 0 },      /* a machine without any since then */
        { { INT64_MIN, 0, NULL, true }, "habceg", 2 }, /* the filter's alone */
    };
    static const char *const layers[] = { "layernorm" };
    const struct trend_settings settings = {
        .metric = trend_metric("p50", NULL), .fdr = TREND_FDR, .filters = layers, .nr_filters = 1
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct error err;

    keep_nights(store, nights, NR(nights));
    for (size_t i = 0; i < NR(cases); i++) {
        struct trend_history h = { .runs = { 0 } };
        assert_ok(trend_history_load(store, &cases[i].scope, &settings, &h, &err), &err);
        expect_runs(&h.runs, cases[i].runs, i);
        assert_int_equal(h.series.nr, cases[i].series);
        assert_ok(trend_history_find(&h, &settings, &err), &err);
        trend_history_release(&h);
    }
    store_close(store);
}

SCRATCH_TEST(an_unknown_machine_is_an_error_that_names_those_there_are)
{
    static const struct night nights[] = {
        { .label = 'a', .machine = "xeon-2c", .after = 10 },
        { .label = 'b', .machine = "epyc-64c", .after = 20 },
        { .label = 'c', .machine = "xeon-2c", .after = 30, .kind = RUN_TRIAL },
        { .label = 'd', .machine = "dead", .after = 40, .dead = true },
    };
    static const struct {
        const char *machine, *fails;
    } cases[] = {
        { "xeon-2d",
          "\"xeon-2d\"; did you mean \"xeon-2c\"?; there are runs of xeon-2c, epyc-64c" },
        { "dead", "no run is of machine class \"dead\"; there are runs of xeon-2c, epyc-64c" },
        { "", "no run is of machine class \"\"; there are runs of" },
        { "%s%n", "no run is of machine class \"%s%n\"; there are" },
    };
    const struct trend_settings settings = { .metric = trend_metric("p50", NULL),
                                             .fdr = TREND_FDR };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct error err;

    for (int filled = 0; filled < 2; filled++) {
        for (size_t i = 0; i < NR(cases); i++) {
            const struct trend_scope scope = { .since = INT64_MIN, .machine = cases[i].machine };
            struct trend_history h = { .runs = { 0 } };
            int rc = trend_history_load(store, &scope, &settings, &h, &err);
            if (filled)
                assert_fails(rc, &err, cases[i].fails);
            else /* nothing is known of classes */
                assert_ok(rc, &err);
            assert_int_equal(h.runs.nr_runs, 0);
            trend_history_release(&h);
        }
        if (!filled)
            keep_nights(store, nights, NR(nights));
    }
    store_close(store);
}

/* The roofs are those of the machine that ran last. */
SCRATCH_TEST(roofs_are_of_the_newest_machine)
{
    static const struct night nights[] = {
        { .label = 'a', .machine = "one", .after = 10 },
        { .label = 'b', .machine = "two", .after = 20 },
    };
    static const struct {
        const char *machine; /* of the scope */
        double roof;         /* 0: it has none */
    } cases[] = { { NULL, 0 }, { "two", 0 }, { "one", 7e9 } };
    const struct roof roof = { .name = "bandwidth.dram",
                               .device = "cpu-2t",
                               .unit = "B/s",
                               .value = 7e9,
                               .low = 7e9,
                               .high = 7e9,
                               .measured_ms = 1 };
    const struct trend_settings settings = { .metric = trend_metric("p50", NULL),
                                             .fdr = TREND_FDR };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct error err;

    keep_nights(store, nights, NR(nights));
    struct machine machine = { .id = "one", .class_name = "one" };
    assert_ok(store_add_roofs(store, &machine, "", &roof, 1, &err), &err);
    for (size_t i = 0; i < NR(cases); i++) {
        const struct trend_scope scope = { .since = INT64_MIN, .machine = cases[i].machine };
        struct trend_history h = { .runs = { 0 } };
        assert_ok(trend_history_load(store, &scope, &settings, &h, &err), &err);
        assert_int_equal(h.runs.nr_roofs, cases[i].roof > 0);
        if (h.runs.nr_roofs)
            assert_close(h.runs.roofs[0].value, cases[i].roof, 0);
        trend_history_release(&h);
    }
    store_close(store);
}

/* ---- what is earlier than a comparison ---- */

/* Of one run, which no history has. */
static void make_side(struct history_side *side, const struct night *n, double ns)
{
    *side = (struct history_side) { .records = make_night(n, ns) };
}

SCRATCH_TEST(earlier_runs_are_those_before_the_head)
{
    static const struct night nights[] = {
        { .label = 'a', .machine = "one", .branch = "main", .after = 10 },
        { .label = 'b', .machine = "one", .branch = "topic", .after = 20 },
        { .label = 'c', .machine = "two", .branch = "main", .after = 30 },
        { .label = 'd', .machine = "one", .branch = "main", .after = 40, .kind = RUN_TRIAL },
        { .label = 'e', .machine = "one", .branch = "main", .after = 50, .dead = true },
        { .label = 'f', .machine = "one", .branch = "", .after = 60 },
        { .label = 'g', .machine = "one", .branch = "main", .after = 70, .kind = RUN_IMPORTED },
        { .label = 'h', .machine = "one", .branch = "main", .after = 80 },
    };
    static const struct {
        const char *base_branch; /* NULL: the base has no measurements */
        struct night head;
        const char *runs;
    } cases[] = {
        { "main", { .machine = "one", .after = 90 }, "agh" },
        { "topic", { .machine = "one", .after = 90 }, "b" },
        { "gone", { .machine = "one", .after = 90 }, "abfgh" }, /* that has none: all */
        { "mai", { .machine = "one", .after = 90 }, "abfgh" },
        { "", { .machine = "one", .after = 90 }, "abfgh" },
        { NULL, { .machine = "one", .after = 90 }, "abfgh" },
        { "main", { .machine = "one", .branch = "topic", .after = 90 }, "agh" }, /* the base's */
        { "main", { .machine = "one", .after = 80 }, "ag" }, /* not at the same time */
        { "main", { .machine = "one", .after = 11 }, "a" },
        { "topic", { .machine = "one", .after = 11 }, "a" },
        { "main", { .machine = "one", .after = 10 }, "" },
        { "main", { .machine = "two", .after = 90 }, "c" },
        { "main", { .machine = "three", .after = 90 }, "" },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct error err;

    keep_nights(store, nights, NR(nights));
    for (size_t i = 0; i < NR(cases); i++) {
        struct night from = { .machine = "one", .branch = cases[i].base_branch };
        struct history_side base = { .nothing = false }, head;
        struct compare_history earlier;
        if (cases[i].base_branch)
            make_side(&base, &from, 100);
        make_side(&head, &cases[i].head, 100);
        assert_ok(compare_history_load(&earlier, store, &base, &head, &err), &err);
        expect_runs(&earlier.runs, cases[i].runs, i);
        compare_history_release(&earlier);
        history_side_release(&base);
        history_side_release(&head);
    }
    store_close(store);
}

/* A run of the head is no earlier one, whatever the clock said. */
SCRATCH_TEST(the_head_is_not_earlier_than_itself)
{
    static const struct night nights[] = {
        { .label = 'a', .machine = "one", .after = 10 },
        { .label = 'b', .machine = "one", .after = 20 },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct history_side base = { .nothing = false }, head, none = { .nothing = false };
    struct compare_history earlier;
    struct error err;

    keep_nights(store, nights, NR(nights));
    make_side(&head, &(struct night) { .label = 'h', .machine = "one", .after = 30 }, 100);
    struct records copy =
        make_night(&(struct night) { .label = 'h', .machine = "one", .after = 5 }, 100);
    memcpy(copy.runs[0].uuid, head.records.runs[0].uuid, sizeof(copy.runs[0].uuid));
    keep_run(store, &copy);
    assert_ok(compare_history_load(&earlier, store, &base, &head, &err), &err);
    expect_runs(&earlier.runs, "ab", 0);
    compare_history_release(&earlier);
    /* No history, or a head without measurements: nothing. */
    assert_ok(compare_history_load(&earlier, NULL, &base, &head, &err), &err);
    expect_runs(&earlier.runs, "", 1);
    compare_history_release(&earlier);
    assert_ok(compare_history_load(&earlier, store, &base, &none, &err), &err);
    expect_runs(&earlier.runs, "", 2);
    compare_history_release(&earlier);
    history_side_release(&head);
    store_close(store);
}

/* The newest 200, and the last of them is the newest of all. */
SCRATCH_TEST(of_many_the_newest_are_taken)
{
    enum { MANY = 230, MOST = 200 };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct history_side base = { .nothing = false }, head;
    struct compare_history earlier;
    struct error err;

    for (int i = 0; i < MANY; i++) {
        const struct night n = { .label = 'a', .machine = "one", .after = i };
        keep_nights(store, &n, 1);
    }
    make_side(&head, &(struct night) { .label = 'h', .machine = "one", .after = MANY }, 100);
    assert_ok(compare_history_load(&earlier, store, &base, &head, &err), &err);
    assert_int_equal(earlier.runs.nr_runs, MOST);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(earlier.runs.runs[i].started_ms, DAY + MANY - MOST + i);
    compare_history_release(&earlier);
    history_side_release(&head);
    store_close(store);
}

/* Of what changed alone, on the machine of the head; what has no past gets no history. */
SCRATCH_TEST(earlier_values_are_of_the_rows_that_changed)
{
    static const struct night nights[] = {
        { .label = 'a', .machine = "one", .after = 10, .both = true },
        { .label = 'b', .machine = "two", .after = 20, .both = true },
        { .label = 'c', .machine = "one", .after = 30 },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct pair p = pair_new("one", "one");
    struct history_side base = { .nothing = false }, head = { .nothing = false };
    struct comment_histories histories = { .nr = 0 };
    struct compare_history earlier;
    struct error err;

    keep_nights(store, nights, NR(nights));
    fixture_launches(&p.base, A, steady, 5);
    fixture_launches(&p.head, A, slower, 5);
    fixture_launches(&p.base, B, slower, 5); /* it has no past */
    fixture_launches(&p.head, B, steady, 5);
    fixture_launches(&p.base, C, steady, 5);
    fixture_launches(&p.head, C, steady, 5);
    pair_fill(&p);
    p.head.runs[0].started_ms = DAY + 90;
    struct comparison c = compare(&p, &defaults);
    assert_int_equal(c.count[VERDICT_REGRESSED] + c.count[VERDICT_IMPROVED], 2);
    head.records = p.head; /* borrowed, as is the base's */
    base.records = p.base;
    assert_ok(compare_history_load(&earlier, store, &base, &head, &err), &err);
    assert_ok(compare_history_series(&earlier, &c, &histories, &err), &err);
    assert_int_equal(histories.nr, 1);
    assert_string_equal(histories.items[0].item->bench->key, A);
    assert_int_equal(histories.items[0].nr, 2);
    assert_close(histories.items[0].values[0], 100, 1e-9);
    assert_close(histories.items[0].values[1], 102, 1e-9);
    comment_histories_release(&histories);
    compare_history_release(&earlier);
    pair_release(&p, &c);
    store_close(store);
}

RUN_TESTS(NULL, NULL)
