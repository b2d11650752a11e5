/* SPDX-License-Identifier: MIT */
/*
 * Figures of a comparison as data: golden JSON, one-sided benchmarks, intervals without end.
 * Covers: S0-15, S0-16, S0-17, S0-18, S1-39, S2-01.
 */
#include "figure_testing.h"

#include "output_records.h"
#include "presets_testing.h"

#include "chart/base/compare_rows.h"

#include "chart/chart.h"

/* By hand, so that golden files do not move with the rules of comparing. */
enum { ROWS = 6, LAUNCHES = 3 };

struct made_comparison {
    struct records records;
    struct comparison c;
    struct compare_row rows[ROWS];
    struct compare_item items[ROWS];
    struct benchmark_name names[ROWS];
    struct evidence_value values[ROWS][2][LAUNCHES];
};

static const char *const all[] = { "comparison",       "speedup",          "comparison-bars",
                                   "comparison-sides", "comparison-table", "roofline-change" };

enum { ALL = sizeof(all) / sizeof(all[0]) };

static void made_side(struct made_comparison *made, int row, int side, double ns)
{
    struct evidence_value *values = made->values[row][side];
    struct compare_row *r = &made->rows[row];
    struct evidence *e = &made->items[row].evidence;

    for (int i = 0; i < LAUNCHES; i++)
        values[i] = (struct evidence_value) { .value = ns * (1 + 0.01 * (i - 1)), .probe = NAN };
    *(side ? &e->head : &e->base) =
        (struct evidence_side) { .values = values, .nr = LAUNCHES, .present = true };
    *(side ? &r->head : &r->base) =
        (struct compare_side) { .value = ns, .launches = LAUNCHES, .spread = 0.01 };
}

static void made_row(struct made_comparison *made, int row, double change, enum verdict verdict)
{
    char key[KEY_SIZE];
    struct error err;
    struct compare_row *r = &made->rows[row];
    double base = 1e5 * (row + 1);

    snprintf(key, sizeof(key), "gemm/linear/simd/fp32/batch=%d,seq=64,n=48,k=48/cpu-4t/warm",
             row + 1);
    assert_ok(benchmark_name_parse(key, &made->names[row], &err), &err);
    made->items[row].bench = &made->names[row];
    made->items[row].machine = made->records.runs[0].machine.class_name;
    made->items[row].metric = metric_find("p50", &err);
    *r = (struct compare_row) {
        .item = &made->items[row],
        .verdict = verdict,
        .change = change,
        .worse = change > 0,
        .interval = { change - 0.02, change + 0.02 },
        .q = 0.01,
        .base = { .value = NAN, .spread = NAN },
        .head = { .value = NAN, .spread = NAN },
    };
    if (verdict != VERDICT_NEW)
        made_side(made, row, 0, base);
    if (verdict != VERDICT_BROKEN)
        made_side(made, row, 1, base * (1 + (isnan(change) ? 0 : change)));
    else
        r->head.outcome = OUTCOME_WRONG;
    made->items[row].evidence.head.present = true;
    if (verdict != VERDICT_BROKEN)
        made_work(made_measurement(&made->records, 0, 0, key, base * (1 + change), 0.01, 10, 1),
                  1e7, 1e5 * (row + 1));
    made->c.count[verdict]++;
}

static void made_compare(struct made_comparison *made)
{
    memset(made, 0, sizeof(*made));
    made_run(&made->records, 0, "feedbeef", "gcc");
    made_roofs(&made->records);
    made->c = (struct comparison) {
        .settings = COMPARE_DEFAULTS,
        .rows = made->rows,
        .nr = ROWS,
        .family = 4,
        .common_shift = NAN,
    };
    made_row(made, 0, 0.12, VERDICT_REGRESSED);
    made_row(made, 1, 0.002, VERDICT_SAME);
    made_row(made, 2, -0.08, VERDICT_IMPROVED);
    made_row(made, 3, 0.05, VERDICT_UNDECIDED);
    made_row(made, 4, NAN, VERDICT_BROKEN);
    made_row(made, 5, NAN, VERDICT_NEW);
    made->rows[3].interval = (struct interval) { -1, 2 }; /* hopelessly wide */
    made->items[5].evidence.base.present = false;
}

static struct figure *build(const struct made_comparison *made, const char *name, bool base)
{
    struct error err;
    struct chart chart = { .preset = presets_find(&presets, name, &err),
                           .records = &made->records,
                           .comparison = base ? &made->c : NULL,
                           .base_label = "main" };

    assert_non_null(chart.preset);
    return chart_build(&chart);
}

TEST(comparison_figures)
{
    struct made_comparison made;

    made_compare(&made);
    for (int i = 0; i < ALL; i++)
        check_golden(build(&made, all[i], true));
    records_release(&made.records);
}

/* The title says the worse, else the better, else what is open, else that nothing changed. */
TEST(titles_conclude)
{
    static const struct {
        enum verdict verdicts[ROWS];
        const char *title, *subtitle;
    } cases[] = {
        { { VERDICT_REGRESSED, VERDICT_SAME, VERDICT_IMPROVED, VERDICT_REGRESSED, VERDICT_SAME,
            VERDICT_SAME },
          ": 2 slower, the most gemm/linear simd by 12.0 %",
          "2 slower, 1 faster, 3 the same" },
        { { VERDICT_SAME, VERDICT_SAME, VERDICT_IMPROVED, VERDICT_SAME, VERDICT_SAME,
            VERDICT_SAME },
          ": 1 faster, the most gemm/linear simd by 8.0 %",
          "1 faster, 5 the same" },
        { { VERDICT_SAME, VERDICT_SAME, VERDICT_SAME, VERDICT_UNDECIDED, VERDICT_SAME,
            VERDICT_SAME },
          ": nothing slower or faster, 1 undecided",
          "1 undecided, 5 the same" },
        { { VERDICT_UNDECIDED, VERDICT_UNDECIDED, VERDICT_UNDECIDED, VERDICT_UNDECIDED,
            VERDICT_UNDECIDED, VERDICT_UNDECIDED },
          ": nothing is decided, 6 undecided",
          "6 undecided" },
        { { VERDICT_SAME, VERDICT_SAME, VERDICT_SAME, VERDICT_SAME, VERDICT_BROKEN, VERDICT_SAME },
          ": 1 broken, 5 the same",
          "1 broken, 5 the same" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made_comparison made;
        made_compare(&made);
        for (int k = 0; k < ROWS; k++)
            made.rows[k].verdict = cases[i].verdicts[k];
        struct figure *f = build(&made, "comparison", true);
        assert_has(f->title, cases[i].title);
        assert_true(strncmp(f->subtitle, cases[i].subtitle, strlen(cases[i].subtitle)) == 0);
        figure_free(f);
        records_release(&made.records);
    }
}

/* A wild interval does not squeeze the rest. */
TEST(axes_hold_the_changes)
{
    struct made_comparison made;

    made_compare(&made);
    struct figure *f = build(&made, "comparison", true);
    assert_close(f->panels[0]->x.low, -f->panels[0]->x.high, 1e-9); /* centred at 0 */
    assert_true(f->panels[0]->x.high < 30);
    figure_free(f);
    for (int i = 0; i < 4; i++)
        made.rows[i].change = 3 + i; /* all are large: none is wild */
    f = build(&made, "comparison", true);
    assert_true(f->panels[0]->x.low >= -100 && f->panels[0]->x.high > 600);
    assert_null(find_layer(f->panels[0], MARK_ARROWS, NULL));
    figure_free(f);
    records_release(&made.records);
    made_compare(&made);
    f = build(&made, "speedup", true);
    assert_true(f->panels[0]->x.low > 0.7 && f->panels[0]->x.high < 1.4);
    records_release(&made.records);
    figure_free(f);
}

/* The row that the comparison's text at the right starts like this for; NaN: none. */
static double row_of_text(const struct panel *p, const char *start)
{
    const struct layer *texts = find_layer(p, MARK_TEXT, NULL);

    for (size_t i = 0; i < texts->nr; i++)
        if (strncmp(texts->items[i].text, start, strlen(start)) == 0)
            return texts->items[i].y;
    return NAN;
}

/* One huge change ends in an arrow at the frame with its number beside it; the rest keep the scale
 * that they had without it. */
TEST(wild_changes_are_arrows)
{
    struct made_comparison made;

    made_compare(&made);
    made.rows[0].change = 13.34;
    made.rows[0].interval = (struct interval) { 13.1, 13.6 };
    struct figure *f = build(&made, "comparison", true);
    check_places(f);
    const struct panel *p = f->panels[0];
    const struct layer *arrow = find_layer(p, MARK_ARROWS, "beyond the frame");
    assert_non_null(arrow);
    assert_int_equal(arrow->nr, 1);
    assert_int_equal(arrow->style.ink, verdict_ink(VERDICT_REGRESSED));
    assert_close(arrow->items[0].high, p->x.high, 1e-9);
    assert_true(arrow->items[0].low < p->x.high && arrow->items[0].low > 0);
    assert_close(row_of_text(p, "1334 % slower"), arrow->items[0].y, 1e-9);
    assert_string_equal(arrow->items[0].text, "+1334 %"); /* what the page tells of it */
    assert_string_equal(find_layer(p, MARK_SEGMENTS, NULL)->items[0].text, "+0.0 to +1334 %");
    assert_true(p->x.high < 30 && p->x.high > 8);
    assert_int_equal(find_layer(p, MARK_POINTS, "worse")->nr, 0);
    assert_int_equal(find_layer(p, MARK_INTERVALS, NULL)->nr, 3); /* its own has left the frame */
    assert_has(f->caption, "1 change is far beyond");
    assert_has(f->alt, "+1334 %");
    figure_free(f);
    made.c.settings.delta = 0; /* nothing to take a scale from */
    for (int i = 1; i < 4; i++)
        made.rows[i].change = 0;
    f = build(&made, "comparison", true);
    check_places(f);
    assert_true(isfinite(row_of_text(f->panels[0], "+0.0 %")));
    figure_free(f);
    records_release(&made.records);
}

/* Where nothing was measured at the head, its panel has the words and the other one's range. */
TEST(a_side_without_times)
{
    struct made_comparison made;

    made_compare(&made);
    for (int i = 0; i < ROWS; i++) {
        made.rows[i].verdict = i < 5 ? VERDICT_MISSING : VERDICT_NEW;
        made.rows[i].change = made.rows[i].head.value = NAN;
        made.items[i].evidence.head = (struct evidence_side) { .present = false };
    }
    struct figure *f = build(&made, "comparison-sides", true);
    check_places(f);
    assert_int_equal(f->nr_panels, 2);
    assert_close(f->panels[0]->x.high, f->panels[1]->x.high, 1e-9);
    assert_string_equal(find_layer(f->panels[1], MARK_TEXT, NULL)->items[0].text, "missing");
    figure_free(f);
    records_release(&made.records);
}

/* 12 % more time is 1 / 1.12 of the speed, and its interval turns round. */
TEST(speed_up_turns_times_round)
{
    struct made_comparison made;

    made_compare(&made);
    struct figure *f = build(&made, "speedup", true);
    const struct panel *p = f->panels[0];
    const struct layer *worse = find_layer(p, MARK_POINTS, "worse");
    const struct layer *intervals = find_layer(p, MARK_INTERVALS, "90 %");
    assert_int_equal(worse->nr, 1);
    assert_close(worse->items[0].x, 1 / 1.12, 1e-9);
    assert_close(intervals->items[0].low, 1 / 1.14, 1e-9);
    assert_close(intervals->items[0].high, 1 / 1.10, 1e-9);
    assert_int_equal(p->x.scale, AXIS_LOG);
    figure_free(f);
    records_release(&made.records);
}

/* Sentences count what the figure is about: what its filter takes, and of that they say how much is
 * drawn. */
TEST(sentences_are_of_the_figure)
{
    static const struct {
        const char *preset, *alt, *caption, *lacks;
    } rows[] = {
        { "\"type\": \"dumbbell\"", "Changes of 4 benchmarks: 1 worse, 1 better;",
          "Without a change, so not shown: 1 broken, 1 new.", "Showing" },
        { "\"type\": \"dumbbell\", \"filter\": [\"*/batch=1,*\", \"*/batch=2,*\", \"*/batch=5,*\"]",
          "Changes of 2 benchmarks: 1 worse, 0 better;",
          "Without a change, so not shown: 1 broken.", "new" },
        { "\"type\": \"dumbbell\", \"filter\": [\"*/batch=2,*\", \"*/batch=3,*\"]",
          "Changes of 2 benchmarks: 0 worse, 1 better;", "Change of median latency",
          "Without a change" },
        { "\"type\": \"table\", \"limit\": 2",
          "Table of 2 of 6 benchmarks: 1 worse, 1 better, 1 the same, 1 undecided; ",
          "Showing 2 of 6: decided ones and the largest changes.", "Without" },
        { "\"type\": \"table\", \"filter\": [\"*/batch=3,*\"]",
          "Table of 1 benchmark: 0 worse, 1 better, 0 the same, 0 undecided; ", "Median latency",
          "Showing" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct made_comparison made;
        struct preset preset;
        struct error err;
        char text[256];
        made_compare(&made);
        snprintf(text, sizeof(text), "{\"name\": \"c\", \"title\": \"C\", %s}", rows[i].preset);
        assert_ok(preset_parse(&preset, text, strlen(text), "test", &err), &err);
        struct chart chart = { .preset = &preset,
                               .records = &made.records,
                               .comparison = &made.c,
                               .base_label = "main" };
        struct figure *f = chart_build(&chart);
        assert_has(f->alt, rows[i].alt);
        assert_has(f->caption, rows[i].caption);
        assert_lacks(f->caption, rows[i].lacks);
        figure_free(f);
        preset_release(&preset);
        records_release(&made.records);
    }
}

/* What has one side has a row with a word, and a bar on that side alone. */
TEST(one_sided_rows_are_there)
{
    struct made_comparison made;

    made_compare(&made);
    struct figure *f = build(&made, "comparison-bars", true);
    const struct panel *p = f->panels[0];
    assert_int_equal(p->y.ticks.nr, ROWS);
    assert_int_equal(find_layer(p, MARK_BARS, "base")->nr, ROWS - 1);
    assert_int_equal(find_layer(p, MARK_BARS, "head")->nr, ROWS - 1);
    cJSON *json = figure_to_json(f);
    char *text = cJSON_PrintUnformatted(json);
    assert_has(text, "\"WRONG\"");
    assert_has(text, "\"new\"");
    free(text);
    cJSON_Delete(json);
    figure_free(f);
    records_release(&made.records);
}

/* Both panels have one range and one unit, or their bars could not be compared. */
TEST(sides_share_an_axis)
{
    struct made_comparison made;

    made_compare(&made);
    made_side(&made, 0, 0, 3e6); /* ms on one side, µs on the other */
    struct figure *f = build(&made, "comparison-sides", true);
    const struct panel *a = f->panels[0], *b = f->panels[1];
    assert_int_equal(f->nr_panels, 2);
    assert_close(a->x.low, b->x.low, 0);
    assert_close(a->x.high, b->x.high, 0);
    assert_close(a->x.factor, b->x.factor, 0);
    assert_string_equal(a->x.label, b->x.label);
    assert_close(a->area.width, b->area.width, 1e-9);
    assert_close(a->area.y, b->area.y, 1e-9);
    const struct layer *sd = find_layer(b, MARK_INTERVALS, "standard deviation");
    assert_close(sd->items[0].high / sd->items[0].low, exp(0.02), 1e-9);
    figure_free(f);
    records_release(&made.records);
}

/* The arrow ends at the head's point, and begins where the base was: 12 % more time, 12 % less work
 * in a second. */
TEST(arrows_show_the_move)
{
    struct made_comparison made;

    made_compare(&made);
    struct figure *f = build(&made, "roofline-change", true);
    const struct panel *p = f->panels[0];
    const struct layer *arrows = find_layer(p, MARK_ARROWS, "base to head");
    assert_int_equal(arrows->nr, 2); /* the decided ones */
    const struct layer *worse = find_layer(p, MARK_POINTS, "worse");
    for (size_t i = 0; i < arrows->nr; i++) {
        if (arrows->items[i].x != worse->items[0].x)
            continue;
        assert_close(arrows->items[i].high, worse->items[0].y, 1e-9);
        assert_close(arrows->items[i].low / arrows->items[i].high, 1.12, 1e-9);
    }
    figure_free(f);
    records_release(&made.records);
}

/* Roofs, points and verdicts are of one machine: a benchmark that is slower on another did not move
 * here. */
TEST(verdicts_under_roofs_are_of_their_machine)
{
    struct made_comparison made;

    made_compare(&made);
    made.items[0].bench = made.items[1].bench; /* regressed elsewhere, the same here */
    made.items[0].machine = "another-64c";
    struct figure *f = build(&made, "roofline-change", true);
    const struct panel *p = f->panels[0];
    const struct layer *worse = find_layer(p, MARK_POINTS, "worse");
    assert_int_equal(find_layer(p, MARK_ARROWS, "base to head")->nr, 1); /* what got faster here */
    assert_true(!worse || worse->nr == 0);
    figure_free(f);
    records_release(&made.records);
}

static size_t rows_named(const struct figure *f, const char *part)
{
    const struct ticks *ticks = &f->panels[0]->y.ticks;
    size_t nr = 0;

    for (size_t i = 0; i < ticks->nr; i++)
        nr += strstr(ticks->items[i].text, part) != NULL;
    return nr;
}

/* One benchmark on two machine classes is two rows: names and the title say whose they are. */
TEST(rows_have_the_machine_where_there_are_several)
{
    struct made_comparison made;

    made_compare(&made);
    made.items[0].machine = "epyc-64c";
    made.items[1].machine = "xeon-32c";
    made.items[1].bench = made.items[0].bench;
    for (size_t several = 0; several < 2; several++) {
        made.c.items = several ? made.items : NULL;
        made.c.nr_items = several ? ROWS : 0;
        for (int i = 0; i + 1 < ALL; i++) {
            struct figure *f = build(&made, all[i], true);
            assert_int_equal(rows_named(f, " on epyc-64c"), several);
            assert_int_equal(rows_named(f, " on xeon-32c"), several);
            assert_has(f->title, several ? "the most gemm/linear simd on epyc-64c by 12.0 %"
                                         : "the most gemm/linear simd by 12.0 %");
            assert_has(f->subtitle, several ? "several machine classes" : "Made-up CPU, 4 cores");
            figure_free(f);
        }
    }
    records_release(&made.records);
}

TEST(without_a_base_there_is_a_reason)
{
    struct made_comparison made;

    made_compare(&made);
    for (int i = 0; i < ALL; i++) {
        struct figure *f = build(&made, all[i], false);
        assert_non_null(f->reason);
        assert_has(f->reason, "no base");
        figure_free(f);
    }
    made.c.nr = 0; /* a comparison that matched nothing */
    for (int i = 0; i + 1 < ALL; i++) {
        struct figure *f = build(&made, all[i], true);
        assert_non_null(f->reason);
        figure_free(f);
    }
    records_release(&made.records);
}

/* 64 rows of 200 bytes: no two texts over each other, every row named apart. */
TEST(many_long_names)
{
    enum { MANY = 64 };
    static struct benchmark_name names[MANY];
    static struct compare_item items[MANY];
    static struct compare_row rows[MANY];
    struct made_comparison made;
    struct error err;

    made_compare(&made);
    for (int i = 0; i < MANY; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key),
                 "gemm/a_kernel_with_a_name_that_nobody_should_give_%02d_but_somebody_will/"
                 "a_variant_that_is_no_shorter_than_its_kernel/fp32/batch=1000,seq=100000,n=50257/"
                 "cpu-128t/warm",
                 i);
        assert_ok(benchmark_name_parse(key, &names[i], &err), &err);
        items[i] = made.items[0];
        items[i].bench = &names[i];
        rows[i] = made.rows[i % 4];
        rows[i].item = &items[i];
    }
    made.c.rows = rows;
    made.c.nr = MANY;
    for (int i = 0; i + 1 < ALL; i++) {
        struct figure *f = build(&made, all[i], true);
        const struct ticks *ticks = &f->panels[0]->y.ticks;
        check_places(f);
        check_data_texts(f, f->panels[0]);
        assert_has(f->caption, " of 64");
        for (size_t k = 1; k < ticks->nr; k++)
            assert_string_not_equal(ticks->items[k].text, ticks->items[k - 1].text);
        figure_free(f);
    }
    records_release(&made.records);
}

RUN_TESTS(presets_setup, presets_teardown)
