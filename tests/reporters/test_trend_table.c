/* SPDX-License-Identifier: MIT */
/* Features: U-07, S0-29: steps, drifts and acceptances in tables and JSON. */
#include "trend_testing.h"

#include "json_facts.h"

#include "base/array.h"
#include "base/json.h"
#include "reporters/trend/trend_json.h"
#include "reporters/trend/trend_table.h"

#include <stdlib.h>

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
    *(struct trend_withdrawn *)array_push(&quiet->withdrawn) =
        (struct trend_withdrawn) { .index = 20,
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

RUN_TESTS(NULL, NULL)
