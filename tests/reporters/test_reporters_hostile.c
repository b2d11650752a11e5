/* SPDX-License-Identifier: MIT */
/*
 * Names that nobody should give: whatever a key, label, branch, commit, machine, compiler, flag,
 * message or reason holds, tables stay tables, XML and JSON stay valid, no command runs, nobody is
 * called. Pictures are skipped with a line where gnuplot is not installed.
 * Covers: S0-04, S0-09, S0-18, S0-19, S0-26, U-07.
 */
#include "reporters/comment/comment.h"
#include "verdict/compare.h"

#include "comment_testing.h"
#include "output_records.h"
#include "xml_testing.h"

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "chart/chart.h"
#include "chart/presets.h"
#include "figure/paint_gnuplot.h"
#include "reporters/compare_json.h"
#include "reporters/compare_table.h"
#include "reporters/export.h"
#include "reporters/junit.h"
#include "reporters/run_table.h"
#include "reporters/trend/trend_json.h"
#include "reporters/trend/trend_table.h"

#include <unistd.h>

#define FOLDER HARNESS_TEST_DIR "/hostile"
#define PWNED  FOLDER "/pwned"

static const char *const names[] = {
    "`touch " PWNED "`",
    "$(touch " PWNED ")",
    "'; system 'touch " PWNED "'; '",
    "</script></title></system-out></details><b>",
    "a|b|c",
    "@octocat @team/all #1 GH-2 o/r#3",
    "![x](y) [a](http://b.c)",
    "<!-- --> ]]> -->",
    "two\nlines\r\n```\n\n| x |\n# title",
    "\xe2\x80\xae rtl \xe2\x81\xa6",
    "::set-output name=x::y ##[error]z",
    "\xff\xfe\xc3 bad \xed\xa0\x80 \xef\xbf\xbf",
    "*b* _c_ ~~d~~ $x^2$ :tada: \\| \\`",
    "\"q\" 'r' %d %s %n {/Symbol a}",
    "=cmd|' /C calc'!A0",
    "EOD",
    "\x1b[31m\x07\x7f",
};

enum { NAMES = sizeof(names) / sizeof(names[0]), LAUNCHES = 5, RUNS = 12 };

static const char *name_nth(size_t i)
{
    return names[i % NAMES];
}

/* Every text that a record can hold. */
static void name_run(struct run *run, size_t i)
{
    struct strbuf environment;
    cJSON *json = cJSON_CreateObject();

    snprintf(run->uuid, sizeof(run->uuid), "%.36s", name_nth(i));
    snprintf(run->suite, sizeof(run->suite), "%.63s", name_nth(i + 1));
    snprintf(run->label, sizeof(run->label), "%.95s", name_nth(i + 2));
    snprintf(run->machine.cpu, sizeof(run->machine.cpu), "%.95s", name_nth(i + 3));
    snprintf(run->machine.gpu, sizeof(run->machine.gpu), "%.95s", name_nth(i + 4));
    snprintf(run->machine.class_name, sizeof(run->machine.class_name), "c %.90s", names[0]);
    snprintf(run->build.version, sizeof(run->build.version), "%.47s", name_nth(i + 5));
    snprintf(run->build.commit, sizeof(run->build.commit), "%.71s", name_nth(i + 6));
    snprintf(run->build.branch, sizeof(run->build.branch), "%.95s", name_nth(i + 7));
    snprintf(run->build.compiler, sizeof(run->build.compiler), "%.95s", name_nth(i + 8));
    snprintf(run->build.flags, sizeof(run->build.flags), "%.255s", name_nth(i + 9));
    cJSON_AddStringToObject(json, name_nth(i + 10), name_nth(i + 11));
    strbuf_init(&environment);
    char *text = json_take_text(json);
    strbuf_adds(&environment, text);
    free(text);
    run->environment = strbuf_detach(&environment);
}

static void name_key(char key[KEY_SIZE], size_t i)
{
    snprintf(key, KEY_SIZE, "%.90s k%zu/%.40s/fp32/batch=4,seq=64/%.40s/warm", name_nth(i), i,
             name_nth(i + 1), name_nth(i + 2));
}

/* One run with each of the names in a key of its own; every third got slower by a fifth in the
 * head, and one is WRONG with a message of ten kilobytes. */
static void add_run(struct records *r, int nth, bool head)
{
    struct strbuf huge;
    char key[KEY_SIZE];
    int run = made_run(r, nth, "", "");

    strbuf_init(&huge);
    while (huge.length < 10240)
        strbuf_adds(&huge, name_nth(huge.length));
    name_run(&r->runs[run], (size_t)nth);
    for (int launch = 0; launch < LAUNCHES; launch++) {
        for (size_t i = 0; i < NAMES; i++) {
            double slow = head && i % 3 == 0 ? 1.2 : 1;
            name_key(key, i);
            made_work(made_measurement(r, run, launch, key, 1e6 * slow, 0.01, 20,
                                       made_seed(run, launch, (int)i)),
                      1e6, 1e5);
        }
        snprintf(key, sizeof(key), "wrong %s", name_nth((size_t)nth));
        made_failure(r, run, launch, key, OUTCOME_WRONG, huge.data);
    }
    strbuf_release(&huge);
}

/* What one run with all names, its comparison and its history give. */
struct made {
    struct records base, head, history;
    struct comparison c;
    struct series_list series;
    struct trends trends;
};

static void made_init(struct made *m)
{
    const struct compare_settings settings = COMPARE_DEFAULTS;
    const struct trend_settings trend = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct error err;

    *m = (struct made) { 0 };
    add_run(&m->base, 0, false);
    add_run(&m->head, 1, true);
    for (int i = 0; i < 2 * RUNS; i++)
        add_run(&m->history, i, i >= RUNS);
    assert_ok(compare_run(&m->base, &m->head, &settings, &m->c, &err), &err);
    for (size_t i = 0; i < m->c.nr; i++)
        m->c.rows[i].accepted = i % 2 ? name_nth(i) : NULL;
    comparison_note(&m->c, "%s", names[8]);
    series_list_init(&m->series, &m->history);
    assert_ok(trends_find(&m->series, &m->history, &trend, &m->trends, &err), &err);
    assert_true(m->c.count[VERDICT_REGRESSED] > 0 && m->trends.steps > 0);
}

static void made_release(struct made *m)
{
    comparison_release(&m->c);
    trends_release(&m->trends);
    series_list_release(&m->series);
    records_release(&m->base);
    records_release(&m->head);
    records_release(&m->history);
}

static void check_utf8(const char *text)
{
    for (size_t length; *text; text += length) {
        uint32_t code;
        length = utf8_decode(text, &code);
        assert_true(length > 0);
    }
}

/* Nor anything in it that is no character to read. */
static void check_plain(const char *text)
{
    check_utf8(text);
    for (uint32_t code = 0; *text; text += utf8_decode(text, &code)) {
        utf8_decode(text, &code);
        assert_true(code >= ' ' || code == '\n' || code == '\r' || code == '\t');
        assert_true(code != 0x7f && code != 0x202e && code != 0x2066 && code != 0xffff);
    }
}

/* Nor a line that a CI system would take for a command. */
static void check_lines(const char *text)
{
    check_plain(text);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += strspn(line, "\n ");
        assert_false(begins(line, "::"));
    }
    assert_lacks(text, "##[");
}

TEST(text_is_plain)
{
    const struct run_table_options run_options = { 0, false };
    const struct compare_table_options compare_options = { .all = true,
                                                           .base_name = names[10],
                                                           .head_name = names[8] };
    struct made *m = *state;
    struct strbuf out;

    strbuf_init(&out);
    run_table(&m->base, -1, &run_options, &out);
    check_lines(out.data);
    strbuf_clear(&out);
    compare_table_text(&m->c, &compare_options, &out);
    check_lines(out.data);
    strbuf_clear(&out);
    trend_table_text(&m->trends, &(struct trend_table_options) { .all = true }, &out);
    check_lines(out.data);
    strbuf_release(&out);
}

TEST(markdown_keeps_its_tables)
{
    const struct compare_table_options options = { .all = true,
                                                   .base_name = names[8],
                                                   .head_name = names[5] };
    struct made *m = *state;
    struct strbuf out;

    strbuf_init(&out);
    for (int form = 0; form < 5; form++) {
        strbuf_clear(&out);
        if (form == 0)
            run_table_markdown(&m->base, -1, &out);
        else if (form == 1)
            markdown_report(&m->base, -1, &out);
        else if (form == 2)
            compare_table_markdown(&m->c, &options, &out);
        else if (form == 3)
            trend_table_markdown(&m->trends, &(struct trend_table_options) { .all = true }, &out);
        else
            comment_github(
                &m->c,
                &(struct comment_options) {
                    .name = names[7], .base = &m->base, .head = &m->head, .base_name = names[0] },
                &out);
        check_lines(out.data);
        struct markdown_check k = check_markdown(out.data);
        assert_true(k.tables >= 1);
        assert_true(k.rows >= (form == 3 ? 1 : NAMES / 3));
    }
    strbuf_release(&out);
}

/* RFC 4180: every record has as many fields as the title line. */
TEST(csv_keeps_its_fields)
{
    struct made *m = *state;
    size_t fields = 1, expected = 0, records = 0;
    bool quoted = false;
    struct strbuf out;

    strbuf_init(&out);
    export_csv(&m->base, &out);
    check_plain(out.data);
    for (const char *c = out.data; *c; c++) {
        if (*c == '"')
            quoted = !quoted;
        else if (*c == ',' && !quoted)
            fields++;
        else if (*c == '\n') {
            assert_false(quoted);
            expected = expected ? expected : fields;
            assert_int_equal(fields, expected);
            records++;
            fields = 1;
        }
        if (!quoted && (c == out.data || c[-1] == ',' || c[-1] == '\n'))
            assert_null(strchr("=+@", *c == '"' ? c[1] : *c));
    }
    assert_int_equal(records, 1 + m->base.nr);
    strbuf_release(&out);
}

static void check_json(cJSON *json)
{
    char *text = cJSON_Print(json);
    struct error err;

    utf8_mend(text); /* as it is written */
    check_utf8(text);
    cJSON *again = json_parse(text, strlen(text), "the same", &err);
    assert_non_null(again);
    cJSON_Delete(again);
    cJSON_Delete(json);
    cJSON_free(text);
}

TEST(json_stays_json)
{
    struct made *m = *state;

    check_json(compare_to_json(&m->c, names[0], names[11]));
    check_json(export_json(&m->base, -1));
    check_json(records_to_json(&m->base));
    check_json(trends_to_json(&m->trends, true));
}

TEST(junit_stays_xml)
{
    struct made *m = *state;
    struct xml_reader r = { 0 };
    struct strbuf out;

    strbuf_init(&out);
    junit_write(&m->c, &(struct junit_options) { names[3], names[11], names[7], 0 }, &out);
    check_lines(out.data);
    xml_read(&r, out.data);
    assert_true(r.elements > 3 * NAMES);
    strbuf_release(&out);
}

/* ---- pictures ---- */

static void check_svg(const char *id)
{
    struct xml_reader r = { 0 };
    struct strbuf path;
    struct error err;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s.svg", FOLDER, id);
    char *svg = file_read(path.data, FILE_RECORDS_MOST, NULL, &err);
    if (!svg)
        fail_msg("%s", err.message);
    check_plain(svg);
    xml_read(&r, svg);
    free(svg);
    strbuf_release(&path);
}

static bool draw(const struct made *m, const struct preset *preset)
{
    const struct chart chart = {
        .preset = preset,
        .records = preset->modes & PLOT_TREND ? &m->history : &m->head,
        .comparison = &m->c,
        .base_label = names[2],
        .run = preset->modes & PLOT_TREND ? 2 * RUNS - 1 : 0,
    };
    struct figure *f = chart_build(&chart);
    bool drawn = !f->reason;
    struct error err;

    if (drawn) {
        assert_ok(paint_gnuplot(f, FOLDER, 1u << PICTURE_SVG, &err), &err);
        check_svg(f->id);
    } else {
        struct strbuf reason;
        strbuf_init(&reason);
        strbuf_addf(&reason, "%s", f->reason);
        assert_true(reason.length > 0);
        strbuf_release(&reason);
    }
    figure_free(f);
    return drawn;
}

TEST(pictures_run_nothing)
{
    static const char *const wanted[] = { "latency-kernels", "percentiles-kernels", "comparison",
                                          "trend" };
    struct presets presets = { 0 };
    struct made *m = *state;
    char version[128];
    struct error err;

    if (paint_gnuplot_version(version, sizeof(version), &err)) {
        print_message("skipped: %s\n", err.message);
        skip();
    }
    unlink(PWNED);
    assert_ok(presets_load_embedded(&presets, &err), &err);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const struct preset *preset = presets_find(&presets, wanted[i], &err);
        if (!preset)
            fail_msg("%s", err.message);
        if (!draw(m, preset))
            fail_msg("%s is not drawn", wanted[i]);
    }
    assert_false(file_exists(PWNED));
    presets_release(&presets);
}

static int set_up(void **state)
{
    struct made *m = calloc(1, sizeof(*m));

    made_init(m);
    *state = m;
    return 0;
}

static int tear_down(void **state)
{
    made_release(*state);
    free(*state);
    return 0;
}

RUN_TESTS(set_up, tear_down)
