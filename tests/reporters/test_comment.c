/* SPDX-License-Identifier: MIT */
/* The comment of a pull request: its words, its parts, and that it never is too long nor broken,
 * whatever is in it. Covers: U-07, S0-15, S0-18, S0-26. */
#include "reporters/comment/comment.h"
#include "verdict/compare.h"

#include "base/array.h"
#include "base/memory.h"
#include "comment_testing.h"
#include "golden.h"
#include "output_records.h"

#include "reporters/compare_words.h"
#include "text/mermaid.h"
#include "text/sparkline.h"

static const struct comment_command commands[] = {
    { "from the same history", "harness compare --baseline 3 --head 4" },
    { "which commit did it", "harness bisect --good 1111111 --bad 2222222 'it'\\''s'" },
};

static void add_history(struct made_comparison *m, size_t row, size_t nr)
{
    struct comment_history *h = array_push(&m->histories);

    h->item = &m->items[row];
    h->values = memory_zeroed(nr, sizeof(*h->values));
    for (h->nr = 0; h->nr < nr; h->nr++)
        h->values[h->nr] = 1e6 * (1 + 0.002 * (double)(h->nr % 3));
}

/* nr rows whose verdicts follow `verdicts` in turn. */
static void make(struct made_comparison *m, size_t nr, const enum verdict *verdicts, size_t period)
{
    struct error err;

    made_comparison_init(m, nr);
    for (size_t i = 0; i < nr; i++) {
        enum verdict verdict = verdicts[i % period];
        double change = verdict == VERDICT_REGRESSED  ? 0.1 + 0.001 * (double)(i % 50)
                        : verdict == VERDICT_IMPROVED ? -0.08
                                                      : 0.001;
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "gemm/linear/simd/fp32/batch=%zu,seq=64,n=192,k=48/cpu-4t/warm",
                 i + 1);
        assert_ok(benchmark_name_parse(key, &m->names[i], &err), &err);
        made_row(m, i, verdict, change);
    }
    made_comparison_count(m);
}

static const enum verdict mixed[] = { VERDICT_REGRESSED, VERDICT_SAME,    VERDICT_IMPROVED,
                                      VERDICT_BROKEN,    VERDICT_MISSING, VERDICT_UNDECIDED,
                                      VERDICT_NEW,       VERDICT_FAILING };

static struct strbuf comment_of(const struct made_comparison *m, const struct comment_options *o)
{
    struct strbuf out;

    strbuf_init(&out);
    comment_github(&m->c, o, &out);
    assert_true(out.length <= COMMENT_LIMIT);
    check_markdown(out.data);
    return out;
}

#define COMPARISON_TEST(name) TEST_WITH_A(name, struct made_comparison, m, made_comparison_release)

COMPARISON_TEST(a_comment_is_golden)
{
    struct records base = { 0 }, head = { 0 };
    char note[] = "Noise, medians of what each adds: 1 % within launches.", *notes[] = { note };

    make(m, 10, mixed, 8);
    m->rows[8].accepted = "safer sums";
    m->c.accepted = 1;
    m->c.notes = notes;
    m->c.nr_notes = 1;
    add_history(m, 0, 40);
    add_history(m, 2, 1);
    m->histories.items[0].picture.file = memory_string("trend-a.png");
    m->histories.items[0].picture.description = memory_string("Latency of a [b] over 40 runs.");
    struct comment_picture changes = { memory_string("comparison-ci.png"), NULL };
    made_run(&base, 0, "1111111111", "gcc 12.2.0");
    made_run(&head, 1, "2222222222", "gcc 13.1.0");
    made_measurement(&base, 0, 0, m->names[0].key, 1e6, 0.01, 3, 1);
    made_measurement(&head, 0, 0, m->names[0].key, 1e6, 0.01, 3, 1);
    const struct comment_options options = {
        .name = "ci",
        .base_name = "branch main at 1111111 (3 runs)",
        .head_name = "run 4",
        .base = &base,
        .head = &head,
        .histories = &m->histories,
        .picture = &changes,
        .commands = commands,
        .nr_commands = 2,
        .report = "https://example.org/report.html",
        .plots = "https://example.org/a(b)",
        .images = "https://example.org/raw",
        .commits = "https://example.org/commit/",
    };
    struct strbuf out = comment_of(m, &options);
    assert_golden(out.data, "output", "comment.md");
    comment_picture_release(&changes);
    strbuf_release(&out);
    records_release(&base);
    records_release(&head);
}

/* The title says what matters most; nothing is an alarm that nobody could have known. */
TEST(the_title_is_the_verdict)
{
    static const struct {
        enum verdict verdicts[2];
        const char *title;
    } rows[] = {
        { { VERDICT_REGRESSED, VERDICT_SAME }, "\n### ▲ 1 slower of 2 benchmarks\n" },
        { { VERDICT_BROKEN, VERDICT_REGRESSED }, "\n### ✗ 1 broken, ▲ 1 slower of 2 benchmarks\n" },
        { { VERDICT_SAME, VERDICT_SAME }, "\n### ● Nothing slower\n" },
        { { VERDICT_IMPROVED, VERDICT_SAME }, "\n### ▼ 1 faster, nothing slower\n" },
        { { VERDICT_SAME, VERDICT_UNDECIDED },
          "\n### ? 1 of 2 benchmarks undecided, none shown to be slower\n" },
        { { VERDICT_IMPROVED, VERDICT_UNDECIDED },
          "\n### ? 1 of 2 benchmarks undecided, 1 faster, none shown to be slower\n" },
        { { VERDICT_IMPROVED, VERDICT_MISSING },
          "\n### ? 1 of 2 benchmarks missing, 1 faster, none shown to be slower\n" },
        { { VERDICT_SAME, VERDICT_FAILING },
          "\n### ? 1 of 2 benchmarks failing, none shown to be slower\n" },
        { { VERDICT_FAILING, VERDICT_MISSING }, "\n### ? Cannot tell: nothing is decided\n" },
        { { VERDICT_UNDECIDED, VERDICT_NEW }, "\n### ? Cannot tell: nothing is decided\n" },
    };
    const struct comment_options none = { 0 };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct made_comparison m;
        make(&m, 2, rows[i].verdicts, 2);
        struct strbuf out = comment_of(&m, &none);
        assert_true(begins(out.data, "<!-- harness:compare -->\n"));
        if (!strstr(out.data, rows[i].title))
            fail_msg("no title %s in %s", rows[i].title, out.data);
        assert_non_null(strstr(out.data, "; chance alone would give 0.1 alarms at most."));
        strbuf_release(&out);
        made_comparison_release(&m);
    }
}

/* What is not decided or has no time comes first, however much of it there is. */
COMPARISON_TEST(the_title_lists_all_that_is_open)
{
    static const enum verdict four[] = { VERDICT_SAME, VERDICT_UNDECIDED, VERDICT_FAILING,
                                         VERDICT_MISSING };
    const struct comment_options none = { 0 };

    make(m, 4, four, 4);
    struct strbuf out = comment_of(m, &none);
    assert_non_null(strstr(out.data,
                           "\n### ? 1 of 4 benchmarks undecided, 1 failing, 1 missing, "
                           "none shown to be slower\n"));
    strbuf_release(&out);
}

static void assert_says(const struct made_comparison *m, const struct comment_options *o,
                        const char *words)
{
    struct strbuf out = comment_of(m, o);

    if (!strstr(out.data, words))
        fail_msg("no \"%s\" in %s", words, out.data);
    strbuf_release(&out);
}

/* What a reader must know before the numbers: the worst, what stays open, what else is different.
 */
COMPARISON_TEST(the_first_lines_are_for_doubts)
{
    static const enum verdict some[] = { VERDICT_REGRESSED, VERDICT_UNDECIDED, VERDICT_SAME };
    struct records base = { 0 }, head = { 0 };
    const struct comment_options options = {
        .base = &base, .head = &head, .base_name = "branch main", .head_name = "run 4 at 2222222"
    };

    make(m, 3, some, 3);
    m->c.probe_shift = 0.05;
    m->c.shifted = true;
    m->c.common_shift = -0.04;
    made_run(&base, 0, "1111111111", "gcc 12.2.0");
    made_run(&head, 1, "2222222222", "gcc 13.1.0");
    made_measurement(&base, 0, 0, m->names[0].key, 1e6, 0.01, 3, 1);
    made_measurement(&head, 0, 0, m->names[0].key, 1e6, 0.01, 3, 1);
    assert_says(m, &options, "Worst: **batch=1**, +10.0\u00a0% (1.000\u00a0ms → 1.100\u00a0ms).");
    assert_says(m, &options, " below about 2\u00a0% may hide;");
    assert_says(m, &options,
                "Mind that all benchmarks moved together by -4.0 %; the machine itself moved, its "
                "probe took +5.0 % time; base and head also differ in compiler.\n");
    assert_says(m, &options, "Base: branch main, commit 1111111111. Head: run 4 at 2222222. ");
    m->rows[1].detectable = INFINITY;
    assert_says(m, &options, " a change of any size may hide; ");
    m->rows[1].detectable = NAN;
    m->rows[0].accepted = "safer sums";
    struct strbuf out = comment_of(m, &(struct comment_options) { 0 });
    assert_null(strstr(out.data, "Worst: "));
    assert_null(strstr(out.data, "may hide"));
    strbuf_release(&out);
    records_release(&base);
    records_release(&head);
}

/* The head is reduced to a point as its history is, not as the table's value is. */
COMPARISON_TEST(the_chart_has_one_statistic)
{
    struct evidence_value launches[] = { { .value = 1e6 }, { .value = 1.2e6 }, { .value = 9e6 } };

    make(m, 1, mixed, 8);
    add_history(m, 0, 5);
    m->items[0].evidence.head = (struct evidence_side) { .values = launches, .nr = 3 };
    m->rows[0].head.value = 2.2e6;
    const struct comment_options options = { .histories = &m->histories };
    assert_says(m, &options, "    line [1, 1.002, 1.004, 1, 1.002, 1.2]\n");
    assert_says(m, &options, "| 1.000\u00a0ms → 2.200\u00a0ms |");
}

TEST(numbers_have_sensible_digits)
{
    static const struct {
        double change, low, high, q, detectable;
        const char *texts[4];
    } rows[] = {
        { 0.0316, 0.01, 0.0523, 0.0123, 0.125, { "+3.2 %", "+1.0 to +5.2 %", "0.012", "12.5 %" } },
        { 8.18, 5.685, 11.605, 0, 1.976, { "+818 %", "+568 to +1160 %", "≤0.001", "198 %" } },
        { -0.0004, -0.02, 0.9999, 1, INFINITY, { "+0.0 %", "-2.0 to +100 %", "1.000", "nothing" } },
        { NAN, NAN, NAN, NAN, NAN, { "", "", "", "" } },
    };
    char text[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct compare_row row = { .change = rows[i].change,
                                         .interval = { rows[i].low, rows[i].high },
                                         .q = rows[i].q };
        assert_string_equal(compare_change(&row, text), rows[i].texts[0]);
        assert_string_equal(compare_interval(&row, text), rows[i].texts[1]);
        assert_string_equal(compare_q(&row, text), rows[i].texts[2]);
        assert_string_equal(compare_detectable(rows[i].detectable, text), rows[i].texts[3]);
    }
}

TEST(nothing_to_compare_says_why)
{
    const struct comment_options options = { .name = "ci --><script>" };
    struct strbuf out;

    strbuf_init(&out);
    comment_github_nothing(&options, "no run of @main on this machine", &out);
    check_markdown(out.data);
    assert_string_equal(out.data,
                        "<!-- harness:ci-script- -->\n"
                        "### ? Nothing to compare with\n\n"
                        "no run of @&#8203;main on this machine\n");
    strbuf_release(&out);
}

/* Each step leaves out more, in this order, and says so. */
TEST(it_is_shortened_in_steps)
{
    static const enum verdict few_changes[] = { VERDICT_REGRESSED, VERDICT_SAME, VERDICT_SAME,
                                                VERDICT_SAME,      VERDICT_SAME, VERDICT_SAME,
                                                VERDICT_SAME,      VERDICT_SAME };
    static const struct {
        size_t nr;
        bool few, charts, all, not_same, some;
        const char *omitted;
    } rows[] = {
        { 40, false, true, true, false, true, NULL },
        { 1000, true, false, false, true, true, ": charts, 875 rows that are the same." },
        { 1000, false, false, false, false, true,
          ": charts, the list of all rows, 50 of what got slower or faster." },
        { 5000, false, false, false, false, true,
          ": charts, the list of all rows, 1050 of what got slower or faster." },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct made_comparison m;
        make(&m, rows[i].nr, rows[i].few ? few_changes : mixed, 8);
        add_history(&m, 0, 10);
        const struct comment_options options = { .histories = &m.histories };
        struct strbuf out = comment_of(&m, &options);
        assert_int_equal(strstr(out.data, "```mermaid\n") != NULL, rows[i].charts);
        assert_int_equal(strstr(out.data, "<summary>All rows: ") != NULL, rows[i].all);
        assert_int_equal(strstr(out.data, "<summary>Rows that are not the same: ") != NULL,
                         rows[i].not_same);
        assert_int_equal(strstr(out.data, "| ▲\u00a0slower | ") != NULL, rows[i].some);
        const char *omitted = strstr(out.data, "Left out to stay below 60000 bytes");
        assert_int_equal(omitted != NULL, rows[i].omitted != NULL);
        if (omitted && !strstr(omitted, rows[i].omitted))
            fail_msg("%zu rows: %s", rows[i].nr, omitted);
        strbuf_release(&out);
        made_comparison_release(&m);
    }
}

static const char *const hostile[] = {
    "`touch x`",        "$(touch x)",        "</details>",   "a|b|c",
    "@octocat #1 GH-2", "![x](y)",           "<!-- -->",     "two\nlines\n```\n",
    "\xe2\x80\xae rtl", "::set-output x::y", "\xff\xfe bad", "[a](http://b.c)",
    "*b* _c_ ~~d~~",    "$x^2$ :tada:",      "\\| \\` \\<",
};

enum { HOSTILE = sizeof(hostile) / sizeof(hostile[0]) };

static void name_hostile(struct made_comparison *m, size_t i, size_t repeat)
{
    struct strbuf key;
    struct error err;

    strbuf_init(&key);
    strbuf_addf(&key, "%zu", i);
    while (key.length + 40 < repeat)
        strbuf_adds(&key, hostile[i % HOSTILE]);
    if (key.length < 20)
        strbuf_adds(&key, hostile[i % HOSTILE]);
    strbuf_adds(&key, "/simd/fp32/batch=4/cpu/warm");
    if (key.length > KEY_SIZE - 1)
        key.data[KEY_SIZE - 1] = '\0';
    assert_ok(benchmark_name_parse(key.data, &m->names[i], &err), &err);
    strbuf_release(&key);
}

/* Ten kilobytes where names have no limit, and all there is where they have. */
TEST(names_stay_names)
{
    struct strbuf huge;
    struct records base = { 0 }, head = { 0 };

    strbuf_init(&huge);
    while (huge.length < 10240)
        strbuf_adds(&huge, hostile[huge.length % HOSTILE]);
    made_run(&base, 0, "|`@a", "gcc");
    made_run(&head, 1, "</table>", "clang");
    made_measurement(&base, 0, 0, "a", 1e6, 0.01, 3, 1);
    made_measurement(&head, 0, 0, "a", 1e6, 0.01, 3, 1);
    snprintf(base.runs[0].build.flags, sizeof(base.runs[0].build.flags), "%.200s", huge.data);
    snprintf(head.runs[0].label, sizeof(head.runs[0].label), "@all | `x` #3");
    for (size_t nr = 1; nr <= 3 * HOSTILE; nr += HOSTILE - 1) {
        for (size_t repeat = 0; repeat <= 240; repeat += 240) {
            struct made_comparison m;
            struct comment_command command = { "same", huge.data };
            make(&m, nr, mixed, 8);
            for (size_t i = 0; i < nr; i++) {
                name_hostile(&m, i, repeat);
                snprintf(m.rows[i].why, sizeof(m.rows[i].why), "%s", hostile[i % HOSTILE]);
            }
            m.rows[0].accepted = huge.data;
            const struct comment_options options = {
                .name = huge.data,
                .base_name = hostile[nr % HOSTILE],
                .head_name = huge.data,
                .base = &base,
                .head = &head,
                .commands = &command,
                .nr_commands = 1,
            };
            struct strbuf out = comment_of(&m, &options);
            assert_true(strcspn(out.data, "\n") < 100); /* the marker stays a line */
            strbuf_release(&out);
            made_comparison_release(&m);
        }
    }
    records_release(&base);
    records_release(&head);
    strbuf_release(&huge);
}

/* Thousands of long names, of which each character takes most room: what is left is whole. */
COMPARISON_TEST(the_worst_case_fits)
{
    enum { NR = 5000 };
    char name[2000];
    const struct comment_options options = { .base_name = name,
                                             .head_name = name,
                                             .commands = commands,
                                             .nr_commands = 2,
                                             .report = "https://a.b/c" };

    memset(name, '@', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    make(m, NR, mixed, 8);
    for (size_t i = 0; i < NR; i++) {
        memset(m->names[i].kernel, '@', NAME_SIZE - 1);
        memset(m->names[i].key, '@', KEY_SIZE - 6);
        snprintf(m->names[i].key + KEY_SIZE - 6, 6, "%zu", i);
        memset(m->rows[i].why, '@', sizeof(m->rows[i].why) - 1);
        m->rows[i].accepted = m->rows[i].verdict == VERDICT_IMPROVED ? NULL : name;
    }
    struct strbuf out = comment_of(m, &options);
    assert_null(strstr(out.data, "| ▲\u00a0slower |"));
    assert_non_null(strstr(out.data,
                           "1250 of what got slower or faster, what differs between the "
                           "sides. The report has it all.\n"));
    assert_non_null(strstr(out.data, commands[1].text));
    assert_non_null(strstr(out.data, "\n- ✗ 625 broken\n- 625 missing\n- ✗ 625 failing\n"));
    strbuf_release(&out);
}

COMPARISON_TEST(addresses_are_links)
{
    char long_one[2000] = "https://";
    struct error err;

    memset(long_one + 8, 'a', sizeof(long_one) - 9);
    assert_ok(comment_check_address("--link-report", "https://a.b/c?d=e#f", &err), &err);
    assert_ok(comment_check_address("--link-report", NULL, &err), &err);
    assert_int_equal(comment_check_address("--link-report", "javascript:alert(1)", &err), -1);
    assert_non_null(strstr(err.message, "--link-report: \"javascript:alert(1)\""));
    assert_int_equal(comment_check_address("--link-report", long_one, &err), -1);

    static const struct {
        const char *address, *link;
    } rows[] = {
        { "https://a.b/x) <b>[c](\n`\"'\xc3\xa9",
          "[Report](https://a.b/x%29%20%3Cb%3E%5Bc%5D%28%0A%60%22%27%C3%A9)\n" },
        { "https://a.b/@team/x?y=z@1", "[Report](https://a.b/%40team/x?y=z%401)\n" },
    };
    make(m, 1, mixed, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct comment_options options = { .report = rows[i].address };
        struct strbuf out = comment_of(m, &options);
        assert_has(out.data, rows[i].link);
        strbuf_release(&out);
    }
    struct strbuf out;
    strbuf_init(&out);
    comment_github(&m->c, &(struct comment_options) { .report = "https://me@a.b/@c" }, &out);
    assert_has(out.data, "[Report](https://me@a.b/%40c)\n");
    strbuf_release(&out);
}

/* ---- sparklines ---- */

static void assert_sparkline(const double *values, size_t nr, double base, double least,
                             const char *expected)
{
    struct strbuf out;

    strbuf_init(&out);
    sparkline_add(&out, values, nr, base, least);
    assert_string_equal(out.data, expected);
    strbuf_release(&out);
}

TEST(sparklines_show_factors)
{
    assert_sparkline((double[]) { 1, 2, 4, 8 }, 4, 1, 0, "▄▅▇█");
    assert_sparkline((double[]) { 1, 2, 4, 8 }, 4, 8, 0, "▁▂▃▄");
    assert_sparkline((double[]) { 5, 5, 5 }, 3, 5, 0, "▄▄▄");
    assert_sparkline((double[]) { 1, NAN, 0, 1.1 }, 4, 1, 0, "▄··█");
    assert_sparkline((double[]) { 1.01, 0.99, 1.01, 1.13 }, 4, 1, 0.12, "▄▄▄█"); /* noise is flat */
    assert_sparkline((double[]) { 1.001, 0.999 }, 2, 1, 0.12, "▄▄");
    assert_sparkline(NULL, 0, 1, 0, "");
    assert_sparkline((double[]) { NAN, 1 }, 2, NAN, 0.1, "··");
}

/* ---- Mermaid ---- */

/* "[1, 2.5]": the numbers, and that there is nothing else. */
static size_t read_list(const char *text, double *values)
{
    size_t nr = 0;

    assert_true(*text++ == '[');
    for (;;) {
        char *end;
        assert_true(isdigit((unsigned char)*text) || *text == '-');
        assert_true(strcspn(text, "eE") >= strcspn(text, "\n")); /* no exponent */
        values[nr++] = strtod(text, &end);
        text = end;
        if (*text == ']')
            return nr;
        assert_true(text[0] == ',' && text[1] == ' ');
        text += 2;
    }
}

static void assert_chart(const double *values, size_t nr, enum quantity quantity, const char *base)
{
    const struct mermaid_trend trend = { "median latency", quantity, base, values, nr, NAN };
    size_t shown = nr < MERMAID_POINTS_MAX ? nr : MERMAID_POINTS_MAX;
    double bar[64], line[64], low, high;
    struct strbuf out;

    strbuf_init(&out);
    mermaid_trend_add(&trend, &out);
    assert_true(
        begins(out.data, "```mermaid\nxychart-beta\n    x-axis \"runs, oldest first\" [1, 2, "));
    assert_int_equal(
        count_of(strstr(out.data, " ["), strcspn(strstr(out.data, " ["), "\n"), ',') + 1, shown);
    assert_non_null(strstr(out.data, ", head]\n"));
    assert_true(begins(out.data + out.length - 6, "]\n```\n"));
    const char *y = strstr(out.data, "    y-axis \"median latency");
    assert_non_null(y);
    assert_int_equal(sscanf(strrchr(y, '"') + 1, " %lf --> %lf\n", &low, &high), 2);
    assert_int_equal(read_list(strstr(out.data, "    bar ") + 8, bar), shown);
    assert_int_equal(read_list(strstr(out.data, "    line ") + 9, line), shown);
    double factor = unit_for(quantity, base, values[nr - 1]).factor;
    for (size_t i = 0; i < shown; i++) {
        double value = values[nr - shown + i] / factor;
        assert_true(low < high && line[i] >= low && line[i] <= high);
        assert_close(line[i], value, (high - low) / 1000);
        assert_close(bar[i], i + 1 == shown ? value : low, (high - low) / 1000);
    }
    check_markdown(out.data);
    strbuf_release(&out);
}

/* The axis begins at what the head is held against, or below it where a run was. */
static void assert_begins_at(const double *values, double origin, const char *low)
{
    const struct mermaid_trend trend = { "x", QUANTITY_PLAIN, "", values, 3, origin };
    struct strbuf out;

    strbuf_init(&out);
    mermaid_trend_add(&trend, &out);
    assert_has(out.data, low);
    strbuf_release(&out);
}

/* Slower is what times and rates get; what is said of several metrics must fit all of them. */
COMPARISON_TEST(titles_speak_of_the_metrics_of_their_rows)
{
    static const enum verdict same[] = { VERDICT_SAME };
    static const char *const asked[] = { "p50", "memory", NULL };
    const struct comment_options options = { .name = "ci" };
    struct error err;
    const struct {
        const char *regressed[2];
        const char *accepted; /* of the second, which a title does not count */
        const char *title, *counts;
    } rows[] = {
        { { NULL }, NULL, "### ● Nothing worse\n", "12 the same of 12" },
        { { "p50" }, NULL, "### ▲ 1 slower of 12 comparisons\n", "1 slower, 11 the same of 12" },
        { { "memory" }, NULL, "### ▲ 1 worse of 12 comparisons\n", "1 worse, 11 the same of 12" },
        { { "p50", "memory" },
          NULL,
          "### ▲ 2 worse of 12 comparisons\n",
          "2 worse, 10 the same of 12" },
        { { "p50", "memory" },
          "larger tables",
          "### ▲ 1 slower of 12 comparisons\n",
          "2 worse, 10 the same of 12" },
    };

    make(m, 12, same, 1);
    m->c.settings.metrics = asked;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t k = 0; k < 2 && rows[i].regressed[k]; k++) {
            made_row(m, k, VERDICT_REGRESSED, 0.1);
            m->items[k].metric = metric_find(rows[i].regressed[k], &err);
        }
        m->rows[1].accepted = rows[i].accepted;
        memset(m->c.count, 0, sizeof(m->c.count));
        made_comparison_count(m);
        struct strbuf out = comment_of(m, &options);
        assert_has(out.data, rows[i].title);
        assert_has(out.data, rows[i].counts);
        strbuf_release(&out);
    }
}

/* The unit of a number that a program prints is any line of text. */
TEST(a_unit_stays_between_its_quotes)
{
    static const struct {
        const char *unit, *axis;
    } rows[] = {
        { "\"MB\" `a`", "    y-axis \"x (”MB” ’a’)\" " },
        { "a\" 1 --> 2\n", "    y-axis \"x (a” 1 --> 2" },
        { "MB/s", "    y-axis \"x (MB/s)\" " },
        { "", "    y-axis \"x\" " },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const double values[] = { 45, 46, 48 };
        const struct mermaid_trend trend = { "x", QUANTITY_PLAIN, rows[i].unit, values, 3, NAN };
        struct strbuf out;
        strbuf_init(&out);
        mermaid_trend_add(&trend, &out);
        assert_has(out.data, rows[i].axis);
        check_markdown(out.data);
        strbuf_release(&out);
    }
}

TEST(charts_keep_to_the_grammar)
{
    double many[80];

    for (size_t i = 0; i < 80; i++)
        many[i] = 123456 + 10 * (double)(i % 7);
    assert_chart(many, 80, QUANTITY_TIME, "");
    assert_chart(many, 5, QUANTITY_RATE, "FLOP/s");
    assert_chart((double[]) { 1, 1, 1 }, 3, QUANTITY_TIME, "");
    assert_chart((double[]) { 1e-3, 2e-3, 3e-3 }, 3, QUANTITY_TIME, "");
    assert_chart((double[]) { 1, 1e6, 1e12 }, 3, QUANTITY_TIME, "");
    assert_chart((double[]) { 5e9, 5.1e9, 9e9 }, 3, QUANTITY_TIME, "");
    assert_chart((double[]) { 0.5, 0.25, 0.75 }, 3, QUANTITY_SHARE, "");
    assert_chart((double[]) { -5, 3, 10 }, 3, QUANTITY_PLAIN, "");
    assert_chart((double[]) { 3, 10, -5 }, 3, QUANTITY_PLAIN, "");
    assert_chart((double[]) { -4, -5, -3 }, 3, QUANTITY_PLAIN, "");
    assert_chart((double[]) { -1, 0, -1 }, 3, QUANTITY_PLAIN, "");
    assert_begins_at((double[]) { 45, 46, 48 }, 40.3, "\"x\" 40.3 --> ");
    assert_begins_at((double[]) { 45, 39, 48 }, 40.3, "\"x\" 39 --> ");
    struct strbuf out;
    const struct mermaid_trend two = { "x", QUANTITY_TIME, "", many, 2, NAN };
    strbuf_init(&out);
    mermaid_trend_add(&two, &out);
    assert_int_equal(out.length, 0);
    strbuf_release(&out);
}

RUN_TESTS(NULL, NULL)
