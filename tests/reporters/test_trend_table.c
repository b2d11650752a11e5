/* SPDX-License-Identifier: MIT */
/* Features: U-07, S0-29: steps, drifts and acceptances in tables, JSON and the trend figure. */
#include "testing.h"

#include "json_facts.h"
#include "output_records.h"

#include "base/array.h"
#include "base/clean.h"
#include "base/json.h"
#include "chart/chart.h"
#include "chart/presets.h"
#include "reporters/trend/trend_cards.h"
#include "reporters/trend/trend_command.h"
#include "reporters/trend/trend_json.h"
#include "reporters/trend/trend_table.h"

#include <stdlib.h>

#define SLOWER "gemm/nn/simd/fp32/batch=1,seq=8/cpu-4t/warm"
#define QUIET  "gemm/nn/simd/fp32/batch=2,seq=8/cpu-4t/warm"
#define RAMP   "gemm/nn/simd/fp32/batch=3,seq=8/cpu-4t/warm"

enum { RUNS = 60, AT = 40 };

struct made {
    struct records records;
    struct series_list list;
    struct trends trends;
    struct acceptance accepted;
};

/* On the first run of the step's new level, on one that is not there, and two on one run. */
static const struct trend_remark remarks[] = {
    { 3, "early <b> | words" },
    { AT + 1, "new BIOS" },
    { 9999, "of another machine" },
    { 3, "and more" },
};

static void add(struct records *r, int run, const char *key, double ns)
{
    made_measurement(r, run, 0, key, ns, 0.002, 9, (uint64_t)r->nr + 1);
}

/* A step of 8 %, a quiet series, and a ramp of 12 %. */
static void made_init(struct made *made)
{
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct random random;
    struct error err;

    memset(made, 0, sizeof(*made));
    random_seed(&random, 3);
    for (int i = 0; i < RUNS; i++) {
        char commit[16];
        snprintf(commit, sizeof(commit), "%07x", 0xabc0001 + i);
        int run = made_run(&made->records, i, commit, "gcc");
        double noise = 1 + 0.004 * random_normal(&random);
        add(&made->records, run, SLOWER, 2e5 * (i < AT ? 1 : 1.08) * noise);
        noise = 1 + 0.004 * random_normal(&random);
        add(&made->records, run, QUIET, 4e5 * noise);
        noise = 1 + 0.004 * random_normal(&random);
        add(&made->records, run, RAMP, 6e5 * (1 + 0.12 * i / (RUNS - 1)) * noise);
    }
    made->accepted = (struct acceptance) {
        .key = SLOWER,
        .metric = "p50",
        .machine = "",
        .commit = made->records.runs[AT + 2].build.commit,
        .change = 0.08,
        .reason = "checks <bounds> | now",
    };
    settings.accepted = &made->accepted;
    settings.nr_accepted = 1;
    settings.remarks = remarks;
    settings.nr_remarks = 4;
    series_list_init(&made->list, &made->records);
    assert_ok(trends_find(&made->list, &made->records, &settings, &made->trends, &err), &err);
    assert_int_equal(made->trends.steps, 1);
    assert_int_equal(made->trends.drifts, 1);
}

static void made_release(struct made *made)
{
    trends_release(&made->trends);
    series_list_release(&made->list);
    records_release(&made->records);
}

static void check_lines(const char *text, const char *const *lines)
{
    for (; *lines; lines++)
        if (!strstr(text, *lines))
            fail_msg("\"%s\" is not in:\n%s", *lines, text);
}

#define MADE_TEST(name) TEST_WITH_A(name, struct made, made, made_release)

MADE_TEST(test_text)
{
    struct trend_table_options options = { .all = true };
    struct strbuf out;
    made_init(made);
    strbuf_init(&out);
    trend_table_text(&made->trends, &options, &out);
    check_lines(out.data,
                (const char *const[]) {
                    "1 step in 1 series, 1 drift; 1 series quiet  (median",
                    "all: gemm/nn simd fp32 seq=8 cpu-4t warm\n", "\n▲ 7.6 % slower  batch=1 ",
                    "  came between abc0028 (2026-10-30) and abc0029 (2026-10-31)\n",
                    "  accepted: checks <bounds> | now\n", "\n▲ drift, 12.1 % slower  batch=3 ",
                    "  grew from abc0001 (2026-09-21) to abc003c (2026-11-19)\n", "\nquiet\n",
                    "\n3 series looked at, chance alone would give 0.1 al", NULL });
    assert_lacks(out.data, "machine"); /* there is one class only */
    check_lines(out.data, (const char *const[]) { "  annotated: new BIOS\n", "\nannotations\nwhen ",
                                                  "  41  abc0029  new BIOS\n",
                                                  "   3  abc0003  early <b> | words\n",
                                                  "   3  abc0003  and more\n", NULL });
    /* What is accepted comes behind what is not, and a terminal's page has no line too long. */
    assert_true(strstr(out.data, "batch=3") < strstr(out.data, "▲ 7.6 % slower"));
    assert_true(strstr(out.data, "41  abc0029") < strstr(out.data, "3  abc0003"));
    strbuf_clear(&out);
    options.all = false;
    trend_table_text(&made->trends, &options, &out);
    assert_lacks(out.data, "batch=2");
    strbuf_clear(&out);
    trend_table_markdown(&made->trends, &options, &out);
    check_lines(out.data, (const char *const[]) {
                              "**1 step in 1 series, 1 drift; 1 series quiet", "\n- **▲ ", "\n  - ",
                              "checks &lt;bounds&gt; &#124; now\n", "\n### Annotations\n\n| ",
                              "early &lt;b&gt; &#124; words |", NULL });
    assert_lacks(out.data, "### Steps"); /* a card each, and no row */
    assert_lacks(out.data, "no series of");
    assert_lacks(out.data, "other branches");
    assert_lacks(out.data, "left out");
    made->trends.unmerged = 2;
    strbuf_clear(&out);
    trend_table_text(&made->trends, &options, &out);
    check_lines(out.data,
                (const char *const[]) { "alarms; 2 runs of other branches not searched\n", NULL });
    made->trends.left_out = 345;
    strbuf_clear(&out);
    trend_table_text(&made->trends, &options, &out);
    check_lines(out.data, (const char *const[]) { "searched; 345 points at 0 or below left out: "
                                                  "changes are told as ratios\n",
                                                  NULL });
    static const char *const filters[] = { "gemm", "no*such" };
    made->trends.settings.filters = filters;
    made->trends.settings.nr_filters = 2;
    strbuf_clear(&out);
    trend_table_text(&made->trends, &options, &out);
    check_lines(out.data, (const char *const[]) { "\nno series of 3 fits \"no*such\"\n", NULL });
    assert_lacks(out.data, "\"gemm\"");
    strbuf_clear(&out);
    trend_table_markdown(&made->trends, &options, &out);
    check_lines(out.data, (const char *const[]) { "\nno series of 3 fits \"no", NULL });
    strbuf_release(&out);
}

/* Who knows all commits, and a forge that shows them. */
static const char *address_here(void *context, const char *commit)
{
    (void)context;
    return strcmp(commit, "abc0001") == 0 ? NULL : "https://forge.example/o/n/commit/";
}

static bool leads_here(void *context, const char *good, const char *bad)
{
    (void)context;
    return strcmp(good, bad) < 0;
}

static bool measures_here(const struct benchmark_name *bench)
{
    return strcmp(bench->kernel, "gemm/nn") == 0;
}

static const struct trend_repository repository = { NULL, address_here, leads_here, measures_here };

/* A step is searched for; of a drift both ends are measured; else there is a reason. */
MADE_TEST(test_commands)
{
    struct trend_command command;
    size_t nr;

    made_init(made);
    made->trends.settings.repository = &repository;
    made->trends.items[0].items[0].accepted = NULL;
    struct trend_card *cards = trends_cards(&made->trends, &nr);
    assert_int_equal(nr, 2);
    trend_command_make(&made->trends, &cards[0], &command);
    assert_string_equal(command.text.data,
                        "harness compare --build --baseline abc0001 --head abc003c " RAMP);
    trend_command_release(&command);
    trend_command_make(&made->trends, &cards[1], &command);
    assert_string_equal(command.text.data, "harness bisect --good abc0028 --bad abc0029 " SLOWER);
    trend_command_release(&command);
    struct strbuf card;
    strbuf_init(&card);
    trend_card_markdown(&made->trends, &cards[1], "slow one", &card);
    assert_has(card.data, "slow one, still there\n");
    assert_has(card.data, "\n    ```sh\n    harness bisect --good abc0028 --bad abc0029 " SLOWER
                          "\n    ```\n");
    strbuf_release(&card);
    struct run *bad = &made->records.runs[AT];
    const struct run own = *bad;
    static const struct {
        enum run_kind kind;
        bool dirty;
        const char *commit, *reason;
    } cases[] = {
        { RUN_IMPORTED, false, "abc0029", "results of another program" },
        { RUN_MEASURED, true, "abc0029", "uncommitted changes" },
        { RUN_MEASURED, false, "", "is not known" },
        { RUN_MEASURED, false, "abc0028", "same commit" },
        { RUN_MEASURED, false, "abc0001", "does not lead" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        *bad = own;
        bad->kind = cases[i].kind;
        bad->build.dirty = cases[i].dirty;
        snprintf(bad->build.commit, sizeof(bad->build.commit), "%s", cases[i].commit);
        trend_command_make(&made->trends, &cards[1], &command);
        assert_int_equal(command.text.length, 0);
        assert_has(command.reason, cases[i].reason);
        trend_command_release(&command);
    }
    *bad = own;
    free(cards);
}

TEST(test_fold)
{
    static const struct {
        size_t width;
        const char *text, *folded;
    } cases[] = {
        { 0, "harness bisect --good a --bad b key", "  harness bisect --good a --bad b key" },
        { 30, "harness bisect --good a --bad b key",
          "  harness bisect --good a \\\n    --bad b key" },
        { 20, "a --all --b 'it is one' c", "  a --all \\\n    --b 'it is one' \\\n    c" },
        { 10, "a a-word-that-is-long", "  a \\\n    a-word-that-is-long" },
    };
    struct strbuf out;

    strbuf_init(&out);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        strbuf_clear(&out);
        trend_command_fold(cases[i].text, 2, cases[i].width, &out);
        assert_string_equal(out.data, cases[i].folded);
    }
    strbuf_release(&out);
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;

    for (const char *end; *text; text = *end ? end + 1 : end) {
        char line[512];
        end = strchrnul(text, '\n');
        snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
        widest = clean_columns(line) > widest ? clean_columns(line) : widest;
    }
    return widest;
}

MADE_TEST(test_width)
{
    struct strbuf out;
    size_t nr;

    made_init(made);
    made->trends.settings.repository = &repository;
    struct trend_card *cards = trends_cards(&made->trends, &nr);
    strbuf_init(&out);
    for (size_t width = 60; width <= 120; width += 20) {
        struct trend_cards_options options = { .width = width };
        strbuf_clear(&out);
        for (size_t i = 0; i < nr; i++)
            trend_card_text(&made->trends, &cards[i], "a name of a benchmark that is a little long",
                            &options, &out);
        assert_true(widest_line(out.data) <= width);
        assert_lacks(out.data, "\033");
    }
    strbuf_clear(&out);
    trend_card_text(&made->trends, &cards[0], "one",
                    &(struct trend_cards_options) { .width = 80, .colour = true }, &out);
    assert_has(out.data, "\033[38;5;208m▲ drift");
    strbuf_release(&out);
    free(cards);
}

static cJSON *print_and_parse(const struct made *made, bool all)
{
    cJSON *built = trends_to_json(&made->trends, all);
    char *text = cJSON_Print(built);
    struct error err;
    cJSON *json = json_parse(text, strlen(text), "trend", &err);

    assert_non_null(json);
    cJSON_Delete(built);
    cJSON_free(text);
    return json;
}

/* A step that is none any more, and what may become one, in words and as JSON. */
MADE_TEST(test_withdrawn_and_watch)
{
    struct trend_table_options options = { .all = false };
    struct strbuf out;
    made_init(made);
    struct trend *quiet = &made->trends.items[1];
    *(struct trend_past *)array_push(&quiet->past) = (struct trend_past) { .index = 20,
                                                                           .low = 18,
                                                                           .high = 22,
                                                                           .told = 26,
                                                                           .gone = 31,
                                                                           .before = 4e5,
                                                                           .after = 4.2e5,
                                                                           .change = 0.05,
                                                                           .worse = true,
                                                                           .why = STEP_BRIEF };
    quiet->watch = (struct trend_watch) { .found = true,
                                          .index = 57,
                                          .before = 4e5,
                                          .after = 4.4e5,
                                          .change = 0.1,
                                          .p = 0.012,
                                          .worse = true };
    made->trends.withdrawn = made->trends.watched = 1;
    strbuf_init(&out);
    trend_table_text(&made->trends, &options, &out);
    check_lines(out.data,
                (const char *const[]) {
                    "1 drift; 1 step withdrawn; 1 series on watch; 0 series quiet", "\nwithdrawn\n",
                    "▲  batch=2    2026-10-11  400.0 µs  420.0 µs  +5.0 %  2026-10-16",
                    "withdrawn at abc001f, 2026-10-21: it went back before it was sure\n",
                    "\nwatch: not sure enough to be told as steps\n",
                    "▲  batch=2    2026-11-17  400.0 µs  440.0 µs  +10.0 %  0.012\n", NULL });
    assert_lacks(out.data, "\nquiet\n");
    strbuf_clear(&out);
    trend_table_markdown(&made->trends, &options, &out);
    check_lines(out.data,
                (const char *const[]) { "\n### Withdrawn\n\n| ", "\n### Watch: not", NULL });
    strbuf_release(&out);
    cJSON *json = print_and_parse(made, false);
    assert_facts(json, "counts.withdrawn=1; counts.watch=1; watch.0.index=57; watch.0.bad.run=58");
    assert_facts(json, "withdrawn.0.key=" QUIET
                       "; withdrawn.0.good.run=18; withdrawn.0.bad.run=23; "
                       "withdrawn.0.told.run=26; withdrawn.0.gone.run=31; withdrawn.0.state="
                       "withdrawn at abc001f, 2026-10-21: it went back before it was sure");
    assert_close(json_number(json_fact_at(json, "watch.0", 7), "change", 0), 0.1, 1e-12);
    cJSON_Delete(json);
}

/* Behind eight steps a drift is a row; that somebody accepted it is said there, and in JSON. */
MADE_TEST(test_an_accepted_drift)
{
    enum { MORE = 8 };
    struct trend_table_options options = { .colour = true };
    struct acceptance accepted = {
        .key = RAMP, .metric = "p50", .machine = "", .reason = "larger | inputs", .author = "me"
    };
    struct strbuf out;
    made_init(made);
    made->trends.items[2].drift.accepted = &accepted;
    made->trends.items[0].items[0].accepted = NULL;
    for (size_t i = 1; i <= MORE; i++) {
        struct trend_step step = made->trends.items[0].items[0];
        step.index += i;
        *array_push(&made->trends.items[0]) = step;
    }
    made->trends.steps += MORE;
    strbuf_init(&out);
    trend_table_text(&made->trends, &options, &out);
    assert_has(out.data, "\ndrifts\n");
    assert_has(out.data, "accepted: larger | inputs");
    assert_lacks(strstr(out.data, "\ndrifts\n"), "\033[31m");
    strbuf_clear(&out);
    trend_table_markdown(&made->trends, &options, &out);
    assert_has(out.data, "accepted: larger &#124; inputs");
    strbuf_release(&out);
    cJSON *json = print_and_parse(made, false);
    assert_facts(json, "drifts.0.accepted=larger | inputs; drifts.0.accepted_by=me");
    cJSON_Delete(json);
}

MADE_TEST(test_machines)
{
    struct trend_table_options options = { .all = true };
    struct strbuf out;
    made_init(made);
    made->trends.searched[1].machine = "another";
    strbuf_init(&out);
    trend_table_text(&made->trends, &options, &out);
    check_lines(out.data, (const char *const[]) { "machine", "another", "made-4c-avx512", NULL });
    strbuf_release(&out);
}

/* Measured on other branches alone, or 0 in all runs: there is no first point. */
MADE_TEST(test_series_without_points)
{
    struct trend_table_options options = { .all = true };
    struct strbuf out;
    made_init(made);
    made->trends.searched[1].nr = 0;
    made->trends.items[1].kind = TREND_SHORT;
    strbuf_init(&out);
    trend_table_text(&made->trends, &options, &out);
    check_lines(out.data,
                (const char *const[]) { "\nquiet\nbenchmark  points\nbatch=2         0\n", NULL });
    strbuf_clear(&out);
    trend_table_markdown(&made->trends, &options, &out);
    check_lines(out.data, (const char *const[]) { "\n| batch=2 | 0 |", NULL });
    strbuf_release(&out);
}

MADE_TEST(test_json)
{
    made_init(made);
    made->trends.settings.repository = &repository;
    made->trends.left_out = made->trends.items[0].left_out = 7;
    cJSON *json = print_and_parse(made, true);
    assert_facts(json,
                 "family=3; exit_status=0; counts.steps=1; counts.standing=0; "
                 "counts.unmerged=0; counts.left_out=7; steps.0.left_out=7; !drifts.0.left_out; "
                 "#quiet=1; drifts.0.key=" RAMP);
    assert_facts(json, "steps.0.key=" SLOWER
                       "; steps.0.index=40; steps.0.good.commit=abc0028; "
                       "steps.0.bad.commit=abc0029; !steps.0.back; "
                       "steps.0.accepted=checks <bounds> | now");
    assert_facts(json,
                 "#cards=2; cards.0.kind=drift; cards.0.nth=0; cards.0.rank=regression; "
                 "cards.0.purpose=whether the code did it: both commits built, and measured in "
                 "turn; cards.1.kind=step; cards.1.rank=accepted; !cards.1.command; "
                 "cards.1.accepted=accepted: checks <bounds> | now; cards.1.line.at=40; "
                 "cards.1.line.from=0; cards.1.line.to=60; #cards.1.line.points=60; "
                 "#cards.1.differences=0; drifts.0.good.run=1; !drifts.0.good.address; "
                 "drifts.0.bad.address=https://forge.example/o/n/commit/abc003c");
    assert_facts(json, "#annotations=3; annotations.0.text=new BIOS; annotations.0.at.run=41");
    assert_close(json_number(json_fact_at(json, "steps.0", 7), "change", 0), 0.08, 0.005);
    assert_close(json_number(json_fact_at(json, "drifts.0", 8), "change", 0), 0.12, 0.01);
    cJSON_Delete(json);
}

static struct figure *draw(const struct made *made, const struct presets *presets)
{
    struct chart chart = { .records = &made->records, .run = RUNS - 1 };

    chart.accepted = &made->accepted;
    chart.nr_accepted = 1;
    chart.remarks = remarks;
    chart.nr_remarks = 4;
    for (size_t i = 0; i < presets->nr; i++)
        if (strcmp(presets->items[i].name, "trend") == 0)
            chart.preset = &presets->items[i];
    assert_non_null(chart.preset);
    return chart_build(&chart);
}

static const struct layer *find_layer(const struct figure *f, const char *label,
                                      const struct panel **panel)
{
    const struct layer *found = NULL;

    for (size_t i = 0; i < f->nr_panels; i++)
        for (size_t k = 0; k < f->panels[i]->nr; k++) {
            const struct layer *layer = f->panels[i]->layers[k];
            if (layer->label && strncmp(layer->label, label, strlen(label)) == 0) {
                assert_null(found); /* in one panel alone */
                found = layer;
                *panel = f->panels[i];
            }
        }
    assert_non_null(found);
    return found;
}

static bool has_text(const struct panel *panel, const char *text)
{
    for (size_t i = 0; i < panel->nr; i++)
        for (size_t k = 0; panel->layers[i]->mark == MARK_TEXT && k < panel->layers[i]->nr; k++)
            if (strstr(panel->layers[i]->items[k].text, text))
                return true;
    return false;
}

/* Each panel has them: a run is all benchmarks'. */
static void check_remarks(const struct figure *f)
{
    for (size_t i = 0; i < f->nr_panels; i++) {
        const struct panel *panel = f->panels[i];
        size_t k = 0;
        while (k < panel->nr &&
               (!panel->layers[k]->label || strcmp(panel->layers[k]->label, "annotated") != 0))
            k++;
        assert_true(k < panel->nr);
        assert_int_equal(panel->layers[k]->nr, 2 * 3); /* two at one run share the place */
        assert_close(panel->layers[k]->items[0].x, 2, 1e-9);
        assert_close(panel->layers[k]->items[3].x, AT, 1e-9);
    }
    check_lines(f->caption,
                (const char *const[]) { " 1: early <b> | words. 2: and more. 3: new BIOS.", NULL });
}

MADE_TEST(test_chart_)
{
    struct presets presets = { 0 };
    const struct panel *panel;
    struct error err;
    assert_ok(presets_load_embedded(&presets, &err), &err);
    made_init(made);
    struct figure *f = draw(made, &presets);
    assert_null(f->reason);
    assert_has(f->title, ": 1 slower (worst drift, +12.1 %)");
    assert_string_equal(f->panels[0]->title, "batch=3"); /* the drift is the worst that stands */
    const struct layer *rule = find_layer(f, "accepted", &panel);
    assert_int_equal(rule->nr, 1);
    assert_close(rule->items[0].x, AT - 0.5, 1e-9);
    assert_true(has_text(panel, "%, accepted: checks <bo"));
    const struct layer *levels = find_layer(f, "level", &panel);
    assert_int_equal(levels->nr, 3); /* a line and what ends it */
    assert_true(has_text(panel, "abc0028..abc0029, 2026-10-31"));
    const struct layer *drift = find_layer(f, "drift", &panel);
    assert_int_equal(drift->nr, RUNS);
    assert_close(drift->items[RUNS - 1].y / drift->items[0].y, 1.12, 0.01);
    assert_true(has_text(panel, "drift, +"));
    assert_has(f->caption, "Upright line: a step");
    check_remarks(f);
    figure_free(f);
    made->accepted.key = RAMP; /* the other one */
    made->accepted.change = 0.12;
    f = draw(made, &presets);
    assert_has(f->title, ": 1 slower (worst +");
    assert_int_equal(find_layer(f, "drift, accepted", &panel)->style.ink, INK_GREY);
    assert_true(has_text(panel, " in all, accepted"));
    figure_free(f);
    presets_release(&presets);
}

RUN_TESTS(NULL, NULL)
