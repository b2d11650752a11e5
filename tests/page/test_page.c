/* SPDX-License-Identifier: MIT */
/* The page's data: every number is the one that the tables have, every run and metric of all runs
 * is there, and no name is more than a name. Covers: S0-09, S1-16, S1-31, S1-42. */
#include "testing.h"

#include "json_facts.h"
#include "page_fixture.h"

#include "metrics/metric.h"
#include "metrics/run_rows.h"
#include "page/figure_thin.h"
#include "page/run_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct page_options options = {
    .generator = "harness 0.1.0",
    .created_ms = 1790000000000,
    .history = "old.db",
};

static const char gemm[] = "gemm/linear/simd/fp32/batch=4,seq=64,n=192,k=48/cpu-4t/warm";
static const char nano[] = "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-4t/warm";

/* Two runs: kernels in both, a model and telemetry in the older one alone, a failure in the newer.
 */
static void fill(struct view *view)
{
    view_made(view, 1);
    struct records *r = &view->records;
    made_run(r, 0, "1f3a9c2d4e5f60718293a4b5c6d7e8f901234567", "gcc 12.2.0");
    made_run(r, 1, "9be01aa04e5f60718293a4b5c6d7e8f901234567", "clang 16.0.6");
    for (int run = 0; run < 2; run++)
        for (int launch = 0; launch < 3; launch++)
            made_work(made_measurement(r, run, launch, gemm, 12345.678 + 500 * run, 0.02, 40,
                                       made_seed(run, launch, 1)),
                      4.7e6, 3.1e5);
    struct measurement *m = made_measurement(r, 0, 0, nano, 2.5e6, 0.02, 40, 5);
    made_work(m, 4e8, 1e8);
    measurement_add_telemetry(m, "steal_percent", 1.5);
    made_failure(r, 1, 0, nano, OUTCOME_FAILED, "signal 11");
    r->runs[1].settings = memory_string(
        "{\"device\":\"cpu:4\",\"launches\":3,\"sampling\":"
        "{\"max_time\":0.5,\"iterations\":0}}");
    made_roofs(r);
}

static double rounded(double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.5g", value);
    return strtod(text, NULL);
}

/* The row of a benchmark in a run; -1: there is none. */
static int row_of(const cJSON *table, int run, int benchmark)
{
    const cJSON *runs = member(table, "run"), *benchmarks = member(table, "benchmark");

    for (int i = 0; i < cJSON_GetArraySize(runs); i++)
        if (at(runs, i)->valueint == run && at(benchmarks, i)->valueint == benchmark)
            return i;
    return -1;
}

/* The value of a row: steps from the first one of its benchmark, in that one's fifth digit; as a
 * text the value itself. */
static double table_value(const cJSON *table, const cJSON *column, int row)
{
    const cJSON *benchmarks = member(table, "benchmark");
    int first = 0;
    char text[32];

    if (cJSON_IsString(at(column, row)))
        return strtod(at(column, row)->valuestring, NULL);
    while (at(benchmarks, first)->valueint != at(benchmarks, row)->valueint ||
           !(at(column, first)->valuedouble != 0))
        if (++first >= row)
            return at(column, row)->valuedouble;
    if (first == row)
        return at(column, row)->valuedouble;
    snprintf(text, sizeof(text), "%.4e", at(column, first)->valuedouble);
    return at(column, first)->valuedouble +
           at(column, row)->valuedouble * pow(10, atoi(strchr(text, 'e') + 1) - 4);
}

#define VIEW_TEST(name) TEST_WITH_A(name, struct view, view, view_release)

VIEW_TEST(test_table_has_the_values)
{
    struct page page;

    fill(view);
    page_init(&page, view, &options);
    cJSON *table = table_of(&page);
    const cJSON *columns = member(table, "columns");
    size_t compared = 0;
    for (int run = 0; run < 2; run++) {
        struct run_rows rows;
        run_rows_init(&rows, &view->records, run);
        for (size_t i = 0; i < rows.nr; i++) {
            const struct run_row *row = &rows.items[i];
            int nth = row_of(table, run, page_find_benchmark(&page, row->bench->key));
            assert_true(nth >= 0);
            assert_int_equal(at(member(table, "n"), nth)->valueint, (int)row->summary.n);
            assert_int_equal(at(member(table, "launches"), nth)->valueint, (int)row->launches);
            assert_string_equal(at(member(table, "outcome"), nth)->valuestring,
                                outcome_name(row->outcome));
            for (size_t m = 0; metric_at(m); m++) {
                double value = metric_value(metric_at(m), &row->summary, &rows.context).value;
                const cJSON *column = cJSON_GetObjectItem(columns, metric_at(m)->id);
                if (isfinite(value)) {
                    assert_non_null(column);
                    assert_true(fabs(table_value(table, column, nth) - value) <=
                                1e-4 * fabs(value));
                    compared++;
                } else if (column) {
                    assert_true(cJSON_IsNull(at(column, nth)));
                }
            }
        }
        run_rows_release(&rows);
    }
    assert_true(compared > 40);
    cJSON_Delete(table);
    page_release(&page);
}

/* The table of two runs of one benchmark that had so many page faults. */
static cJSON *table_of_faults(double first, double second)
{
    struct view view;
    struct page page;

    view_made(&view, 1);
    for (int run = 0; run < 2; run++) {
        made_run(&view.records, run, "1f3a9c2", "gcc 12.2.0");
        measurement_add_telemetry(made_measurement(&view.records, run, 0, gemm, 1e4, 0.02, 10, 1),
                                  "minor_faults", run ? second : first);
    }
    page_init(&page, &view, &options);
    cJSON *table = table_of(&page);
    page_release(&page);
    view_release(&view);
    return table;
}

/* Whatever came first. */
TEST(test_table_has_five_digits_of_each)
{
    static const struct {
        double first, value;
        const char *text; /* of the value itself; NULL: a number of steps */
    } cases[] = {
        { 123456, 3, "3" },           { 123456, 0, "0" },
        { 123456, 99994.4, "99994" }, { 123456, 123460, NULL },
        { 123456, 999999, NULL },     { 2.5, 0.123456, "0.12346" },
        { 1, 123456, NULL },          { 1, 1234567.4, "1.2346e+06" },
        { 1e-9, 1e9, "1e+09" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cJSON *table = table_of_faults(cases[i].first, cases[i].value);
        const cJSON *column = member(member(table, "columns"), "minor_faults");
        if (cases[i].text)
            assert_string_equal(cJSON_GetStringValue(at(column, 1)), cases[i].text);
        else
            assert_true(cJSON_IsNumber(at(column, 1)));
        assert_true(rounded(table_value(table, column, 1)) == rounded(cases[i].value));
        cJSON_Delete(table);
    }
}

/* All columns have one length, and what no run has is no column. */
VIEW_TEST(test_table_is_even)
{
    struct page page;
    const cJSON *column;

    fill(view);
    page_init(&page, view, &options);
    cJSON *table = table_of(&page), *core = core_of(&page, NULL);
    int nr = cJSON_GetArraySize(member(table, "run"));
    assert_int_equal(nr, 4);
    cJSON_ArrayForEach(column, member(table, "columns"))
    {
        bool any = false;
        assert_int_equal(cJSON_GetArraySize(column), nr);
        for (int i = 0; i < nr; i++)
            any |= cJSON_IsNumber(at(column, i));
        assert_true(any);
        item_with(member(core, "metrics"), "id", column->string);
    }
    assert_int_equal(cJSON_GetArraySize(member(core, "metrics")),
                     cJSON_GetArraySize(member(table, "columns")));
    /* Of the older run alone, and there all the same. */
    member(member(table, "columns"), "tokens");
    member(member(table, "columns"), "steal_percent");
    assert_null(cJSON_GetObjectItem(member(table, "columns"), "gpu_sm_mhz"));
    cJSON_Delete(table);
    cJSON_Delete(core);
    page_release(&page);
}

VIEW_TEST(test_core)
{
    struct page page;

    fill(view);
    page_init(&page, view, &options);
    cJSON *core = core_of(&page, NULL);
    assert_facts(core,
                 "mode=report; head=1; base=null; comparison=null; selected.0=1; "
                 "runs.0.epoch=0; runs.1.epoch=1"); /* another compiler */
    const cJSON *old = at(member(core, "runs"), 0), *new = at(member(core, "runs"), 1);
    assert_true(member(old, "started_ms")->valuedouble < member(new, "started_ms")->valuedouble);
    assert_string_not_equal(member(old, "name")->valuestring, member(new, "name")->valuestring);
    assert_facts(item_with(member(core, "benchmarks"), "key", gemm),
                 "dims.batch=4; kernel=gemm/linear");
    assert_facts(core,
                 "metrics.id:gflops.quantity=rate; metrics.id:gflops.direction=higher; "
                 "metrics.id:gflops.factor=1000000000; #parameters.name:seq.values=1; "
                 "parameters.name:seq.values.0=64; "
                 "system.name:CPU.value=Made-up CPU, 4 cores");
    assert_facts(member(core, "commands"),
                 "plot=harness plot 2 --db old.db --only {figure}; "
                 "run=harness run --suite quick --device cpu:4 --launches 3; "
                 "run_one=harness run {key} --device cpu:4 --launches 3 --max-time 0.5s");
    cJSON_Delete(core);
    page_release(&page);
}

/* The same run from view, base and history is one run; runs whose values alone are known join. */
VIEW_TEST(test_runs_are_there_once)
{
    struct records more = { 0 };
    struct run_values values;
    struct page page;

    fill(view);
    run_copy(records_add_run(&view->history), &view->records.runs[0]);
    made_measurement(&view->history, 0, 0, gemm, 1e4, 0.02, 10, 1);
    made_run(&view->history, 7, "aaaaaaa", "gcc 11");
    made_measurement(&view->history, 1, 0, gemm, 1e4, 0.02, 10, 1);
    made_run(&more, 3, "bbbbbbb", "gcc 11");
    made_measurement(&more, 0, 0, "null/copy/plain/fp32/bytes=1/cpu-4t/warm", 1e4, 0.02, 10, 1);
    run_values_init(&values, &more, 0);
    struct page_run known = { .run = &more.runs[0], .values = &values };
    struct page_options with = options;
    with.more = &known;
    with.nr_more = 1;
    with.live = true;
    page_init(&page, view, &with);
    assert_int_equal(page.nr_runs, 4);
    for (size_t i = 1; i < page.nr_runs; i++)
        assert_true(page.runs[i - 1].run->started_ms < page.runs[i].run->started_ms);
    assert_int_equal(page_find_run(&page, &view->history.runs[0]), 0);
    assert_ptr_equal(page.runs[0].records, &view->records);
    assert_int_equal(page.nr_benchmarks, 3);
    cJSON *table = table_of(&page), *core = core_of(&page, NULL);
    assert_true(
        row_of(table, 2, page_find_benchmark(&page, "null/copy/plain/fp32/bytes=1/cpu-4t/warm")) >=
        0);
    assert_string_equal(member(core, "mode")->valuestring, "serve");
    cJSON_Delete(table);
    cJSON_Delete(core);
    page_release(&page);
    run_values_release(&values);
    records_release(&more);
}

VIEW_TEST(test_samples_are_raw)
{
    struct page_samples count = { 0 };
    struct page page;
    struct strbuf text;

    fill(view);
    view->records.items[0].m.batch = 7; /* seven launches in a sample */
    page_init(&page, view, &options);
    strbuf_init(&text);
    strbuf_addc(&text, '{');
    page_samples_of_run(&page, 0, 0, &count, &text);
    strbuf_addc(&text, '}');
    assert_int_equal(count.of, 160);
    assert_int_equal(count.kept, 160);
    cJSON *json = parsed(text.data);
    char name[32];
    snprintf(name, sizeof(name), "0:%d", page_find_benchmark(&page, gemm));
    const cJSON *one = member(json, name);
    assert_int_equal(member(one, "of")->valueint, 120);
    for (int launch = 0; launch < 3; launch++) {
        const struct measurement *m = &view->records.items[launch].m;
        const cJSON *list = at(member(one, "launches"), launch);
        assert_int_equal(cJSON_GetArraySize(list), 40);
        for (int i = 0; i < 40; i++)
            assert_true(at(list, i)->valuedouble == rounded((double)m->samples[i] / m->batch));
    }
    cJSON_Delete(json);
    strbuf_release(&text);
    page_release(&page);
}

VIEW_TEST(test_samples_are_thinned_evenly)
{
    struct page_samples count = { 0 };
    struct strbuf text;

    fill(view);
    strbuf_init(&text);
    assert_true(page_samples_add(&view->records, 0, gemm, 4, &count, &text));
    cJSON *json = parsed(text.data);
    const struct measurement *m = &view->records.items[0].m;
    const cJSON *list = at(member(json, "launches"), 0);
    assert_int_equal(cJSON_GetArraySize(list), 4);
    for (int i = 0; i < 4; i++) /* the first, the last and two between */
        assert_true(at(list, i)->valuedouble == rounded((double)m->samples[i * 13]));
    assert_int_equal(member(json, "of")->valueint, 120);
    assert_int_equal(member(json, "kept")->valueint, 12);
    assert_false(page_samples_add(&view->records, 1, nano, 0, &count, &text)); /* it failed */
    assert_false(page_samples_add(&view->records, 0, "no/such", 0, &count, &text));
    cJSON_Delete(json);
    strbuf_release(&text);
}

/* Without any run, and with a run that measured nothing. */
TEST(test_nothing_there)
{
    struct view none = { .head = -1 }, empty;
    struct page page;

    page_init(&page, &none, &options);
    cJSON *core = core_of(&page, NULL), *table = table_of(&page);
    assert_true(cJSON_IsNull(member(core, "head")));
    assert_int_equal(cJSON_GetArraySize(member(core, "runs")), 0);
    assert_int_equal(cJSON_GetArraySize(member(table, "run")), 0);
    cJSON_Delete(core);
    cJSON_Delete(table);
    page_release(&page);
    view_made(&empty, 0);
    made_run(&empty.records, 0, "", "");
    page_init(&page, &empty, &options);
    core = core_of(&page, NULL);
    assert_int_equal(member(core, "head")->valueint, 0);
    assert_int_equal(cJSON_GetArraySize(member(core, "benchmarks")), 0);
    cJSON_Delete(core);
    page_release(&page);
    view_release(&empty);
}

VIEW_TEST(test_hostile_names)
{
    static const char evil[] = "</script><script>alert(1)</script><!--";
    struct page page;
    struct strbuf text, html;
    struct error err;

    fill(view);
    struct run *run = &view->records.runs[1];
    snprintf(run->label, sizeof(run->label), "%s", evil);
    snprintf(run->suite, sizeof(run->suite), "{{data}}\xe2\x80\xa8'$(touch x)`");
    snprintf(run->build.branch, sizeof(run->build.branch), "bad \xff\xfe utf-8 \xc3");
    snprintf(run->build.commit, sizeof(run->build.commit), "\"><img src=x onerror=y>");
    page_init(&page, view, &options);
    strbuf_init(&text);
    json_take_script(page_core(&page, NULL), &text);
    assert_null(strchr(text.data, '<'));
    assert_null(strstr(text.data, "\xe2\x80\xa8"));
    cJSON *core = parsed(text.data);
    const cJSON *json = at(member(core, "runs"), 1);
    assert_string_equal(member(json, "label")->valuestring, evil);
    assert_string_equal(member(json, "branch")->valuestring, "bad ?? utf-8 ?");
    const struct page_document document = { .title = evil, .core = text.data, .live = true };
    strbuf_init(&html);
    assert_ok(page_html("<title>{{title}}</title>{{connect}}{{data}}|end", &document, &html, &err),
              &err);
    assert_non_null(strstr(html.data, "<title>&lt;/script&gt;&lt;script&gt;alert(1)"));
    assert_non_null(strstr(html.data, "</title>'self'<script type=\"application/json\""));
    assert_non_null(strstr(html.data, "{{data}}")); /* as it was in a name */
    assert_string_equal(html.data + html.length - 4, "|end");
    char *block = block_of(html.data, "core");
    assert_string_equal(block, text.data);
    free(block);
    cJSON_Delete(core);
    strbuf_release(&text);
    strbuf_release(&html);
    page_release(&page);
}

TEST(test_broken_templates)
{
    static const char *const bad[] = {
        "",
        "{{title}}{{connect}}",
        "{{title}}{{title}}{{connect}}{{data}}",
        "{{title}}{{connect}}{{data}}{{data}}",
    };
    const struct page_document document = { .title = "x", .core = "{}" };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct strbuf html;
        struct error err = { "" };
        strbuf_init(&html);
        assert_int_equal(page_html(bad[i], &document, &html, &err), -1);
        assert_non_null(strstr(err.message, "{{"));
        assert_int_equal(html.length, 0);
        strbuf_release(&html);
    }
}

static struct layer *layer_of(struct figure *f)
{
    return f->panels[0]->layers[0];
}

/* The ends, the breaks' places and every outlier survive. */
TEST(test_thin_figures)
{
    static const enum mark marks[] = { MARK_LINE, MARK_STEPS, MARK_POINTS };

    for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++) {
        struct figure *f = figure_create("long", "Long");
        struct panel *p = figure_panel(f);
        struct layer *s = panel_layer(p, marks[k], "x");
        for (int i = 0; i < 10000; i++)
            layer_add(s, i, i == 7777 ? 1e6 : i == 4321 ? -1e6 : i == 5000 ? NAN : (double)(i % 7));
        size_t left_out = figure_thin(f, 500);
        assert_true(s->nr <= 500 && s->nr > 100);
        assert_int_equal(left_out, 10000 - s->nr);
        bool high = false, low = false, gap = false;
        for (size_t i = 0; i < s->nr; i++) {
            high |= s->items[i].y == 1e6 && s->items[i].x == 7777;
            low |= s->items[i].y == -1e6 && s->items[i].x == 4321;
            gap |= isnan(s->items[i].y);
            if (i)
                assert_true(s->items[i].x > s->items[i - 1].x);
        }
        assert_true(high && low && gap);
        assert_true(s->items[0].x == 0 && s->items[s->nr - 1].x == 9999);
        figure_free(f);
    }
}

TEST(test_what_is_not_thinned)
{
    struct figure *f = figure_create("marked", "Marked");
    struct layer *s = panel_layer(figure_panel(f), MARK_POINTS, "x");

    for (int i = 0; i < 1000; i++)
        layer_add(s, i, i)->size = 5;
    assert_int_equal(figure_thin(f, 100), 0);
    assert_int_equal(layer_of(f)->nr, 1000);
    figure_free(f);
    f = figure_create("few", "Few");
    s = panel_layer(figure_panel(f), MARK_LINE, "x");
    for (int i = 0; i < 100; i++)
        layer_add(s, i, i);
    assert_int_equal(figure_thin(f, 100), 0);
    figure_free(f);
    f = figure_create("bars", "Bars");
    s = panel_layer(figure_panel(f), MARK_BARS, "x");
    for (int i = 0; i < 1000; i++)
        layer_add(s, i, i);
    assert_int_equal(figure_thin(f, 100), 0);
    figure_free(f);
}

TEST(test_thin_index)
{
    for (size_t of = 1; of < 60; of++) {
        for (size_t most = 1; most <= of + 2; most++) {
            size_t kept = most < of ? most : of;
            for (size_t i = 0; i < kept; i++) {
                size_t at_i = thin_index(i, of, kept);
                assert_true(at_i < of);
                if (i)
                    assert_true(at_i > thin_index(i - 1, of, kept));
            }
            assert_int_equal(thin_index(0, of, kept), 0);
            if (kept > 1)
                assert_int_equal(thin_index(kept - 1, of, kept), of - 1);
        }
    }
}

RUN_TESTS(NULL, NULL)
