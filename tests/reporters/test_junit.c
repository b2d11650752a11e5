/* SPDX-License-Identifier: MIT */
/* JUnit XML: the structure that both common schemas of the format take (junit-10.xsd of Jenkins'
 * xUnit plugin, JUnit.xsd of Ant), its counts, and what a test is. Covers: S0-15, S0-19. */
#include "reporters/comment/comment.h"
#include "verdict/compare.h"

#include "comment_testing.h"
#include "xml_testing.h"

#include "base/strbuf.h"
#include "reporters/junit.h"

/* What the schemas say of the elements that are used here: where they stand and what they need.
 * Both forbid other attributes than those. */
struct rule {
    const char *name, *parent;
    const char *needs[12];
};

static const struct rule rules[] = {
    { "testsuites", "", { NULL } },
    { "testsuite",
      "testsuites",
      { "name", "package", "id", "hostname", "timestamp", "tests", "failures", "errors", "skipped",
        "time", NULL } },
    { "properties", "testsuite", { NULL } },
    { "property", "properties", { "name", "value", NULL } },
    { "testcase", "testsuite", { "classname", "name", "time", NULL } },
    { "failure", "testcase", { "type", "message", NULL } },
    { "error", "testcase", { "type", "message", NULL } },
    { "skipped", "testcase", { "message", NULL } },
    { "system-out", "testsuite", { NULL } },
    { "system-err", "testsuite", { NULL } },
};

struct counts {
    size_t suites, cases, failures, errors, skipped;
    size_t said_tests, said_failures, said_errors, said_skipped; /* by the suites */
    double seconds;                                              /* of all tests */
    struct {
        double tests;
        char said[32];
    } times[8]; /* a suite */
    int stage;  /* of the children of a suite: properties, testcase, system-out, system-err */
    char names[64][96];
    char classes[64][96];
};

static const struct rule *rule_of(const char *name)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    fail_msg("no schema knows <%s>", name);
    return NULL;
}

/* xs:decimal: digits and a point. */
static double decimal(const char *text)
{
    assert_int_equal(strspn(text, "0123456789."), strlen(text));
    return strtod(text, NULL);
}

static void count_suite(struct counts *c, const struct xml_element *e)
{
    int at = 0;

    assert_int_equal(strtoul(xml_attribute(e, "id"), NULL, 10), c->suites);
    c->suites++;
    c->said_tests += strtoul(xml_attribute(e, "tests"), NULL, 10);
    c->said_failures += strtoul(xml_attribute(e, "failures"), NULL, 10);
    c->said_errors += strtoul(xml_attribute(e, "errors"), NULL, 10);
    c->said_skipped += strtoul(xml_attribute(e, "skipped"), NULL, 10);
    assert_true(c->suites <= 8);
    decimal(xml_attribute(e, "time"));
    snprintf(c->times[c->suites - 1].said, sizeof(c->times[0].said), "%s",
             xml_attribute(e, "time"));
    sscanf(xml_attribute(e, "timestamp"), "%*4d-%*2d-%*2dT%*2d:%*2d:%*2d%n", &at);
    assert_int_equal(at, 19);
    c->stage = 0;
}

static void on_element(struct xml_reader *r, const struct xml_element *e)
{
    static const char *const order[] = { "properties", "testcase", "system-out", "system-err" };
    const struct rule *rule = rule_of(e->name);
    struct counts *c = r->context;
    size_t needs = 0;

    assert_string_equal(r->depth ? r->open[r->depth - 1] : "", rule->parent);
    for (; rule->needs[needs]; needs++)
        if (!xml_attribute(e, rule->needs[needs]) || !*xml_attribute(e, rule->needs[needs]))
            fail_msg("<%s> has no %s", e->name, rule->needs[needs]);
    assert_int_equal(e->nr, needs);
    for (int i = 0; i < 4; i++)
        if (strcmp(e->name, order[i]) == 0) {
            assert_true(i >= c->stage);
            c->stage = i;
        }
    if (strcmp(e->name, "testsuite") == 0)
        count_suite(c, e);
    if (strcmp(e->name, "testcase") == 0) {
        double seconds = decimal(xml_attribute(e, "time"));
        c->seconds += seconds;
        c->times[c->suites - 1].tests += seconds;
        snprintf(c->names[c->cases], 96, "%s", xml_attribute(e, "name"));
        snprintf(c->classes[c->cases++], 96, "%s", xml_attribute(e, "classname"));
    }
    c->failures += strcmp(e->name, "failure") == 0;
    c->errors += strcmp(e->name, "error") == 0;
    c->skipped += strcmp(e->name, "skipped") == 0;
}

static struct counts read_counts(const char *text)
{
    struct counts c = { 0 };
    struct xml_reader r = { .begin = on_element, .context = &c };

    xml_read(&r, text);
    assert_int_equal(c.cases, c.said_tests);
    assert_int_equal(c.failures, c.said_failures);
    assert_int_equal(c.errors, c.said_errors);
    assert_int_equal(c.skipped, c.said_skipped);
    for (size_t i = 0; i < c.suites; i++) { /* Jenkins takes three decimals and no more */
        char sum[32];
        snprintf(sum, sizeof(sum), "%.3f", c.times[i].tests);
        assert_string_equal(c.times[i].said, sum);
    }
    return c;
}

static const enum verdict verdicts[VERDICT_NR] = {
    VERDICT_REGRESSED, VERDICT_BROKEN, VERDICT_FAILING, VERDICT_IMPROVED, VERDICT_FIXED,
    VERDICT_UNDECIDED, VERDICT_SAME,   VERDICT_NEW,     VERDICT_MISSING,
};

static void make(struct made_comparison *m, size_t nr)
{
    struct error err;

    made_comparison_init(m, nr);
    for (size_t i = 0; i < nr; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "%s/simd/fp32/batch=%zu/cpu-4t/warm",
                 i % 2 ? "gemm/linear" : "attention/causal", i + 1);
        assert_ok(benchmark_name_parse(key, &m->names[i], &err), &err);
        made_row(m, i, verdicts[i % VERDICT_NR], i % VERDICT_NR == 0 ? 0.12 : -0.05);
    }
    made_comparison_count(m);
}

static const struct junit_options options = { "main", "head", "class-a", 1790000000000 };

TEST(each_verdict_is_a_result)
{
    struct made_comparison m;
    struct strbuf out;

    make(&m, 2 * VERDICT_NR);
    snprintf(m.rows[5].why, sizeof(m.rows[5].why), "1 and 1 launches");
    m.rows[VERDICT_NR].accepted = "safer"; /* the second that regressed */
    strbuf_init(&out);
    junit_write(&m.c, &options, &out);
    struct counts c = read_counts(out.data);
    assert_int_equal(c.suites, 2);
    assert_int_equal(c.cases, 2 * VERDICT_NR);
    assert_int_equal(c.failures, 3); /* 2 broken, 1 regressed */
    assert_int_equal(c.errors, 2);
    assert_int_equal(c.skipped, 4);
    assert_string_equal(c.classes[0], "attention/causal");
    assert_string_equal(c.names[0], "simd/fp32/batch=1/cpu-4t/warm");
    assert_has(out.data,
               "name=\"simd/fp32/batch=1/cpu-4t/warm\" time=\"0.001120000\">\n"
               "      <failure type=\"regressed\" message=\"slower: +12.0 % "
               "(+11.0 to +13.0 %), 1.000 ms -&gt; 1.120 ms\"/>");
    assert_has(out.data,
               "<skipped message=\"undecided: -5.0 % (-6.0 "
               "to -4.0 %), 1.000 ms -&gt; 950.0 µs: 1 and 1 launches\"/>");
    assert_has(out.data,
               "<property name=\"simd/fp32/batch=1/cpu-4t/warm: change\" "
               "value=\"+12.0 %\"/>");
    assert_has(out.data,
               "<property name=\"simd/fp32/batch=1/cpu-4t/warm: interval\" "
               "value=\"+11.0 to +13.0 %\"/>");
    assert_has(out.data, "; accepted: safer\n");
    strbuf_release(&out);
    made_comparison_release(&m);
}

/* Keys of other origin, rates, several metrics, and nothing at all. */
TEST(odd_comparisons_are_valid)
{
    static const char *const metrics[] = { "p50", "gflops", NULL };
    struct made_comparison m;
    struct strbuf out;
    struct error err;

    strbuf_init(&out);
    make(&m, 2);
    m.c.settings.metrics = metrics;
    assert_ok(benchmark_name_parse("BM_Sort", &m.names[0], &err), &err);
    m.items[1].metric = metric_find("gflops", &err);
    junit_write(&m.c, &(struct junit_options) { 0 }, &out);
    struct counts c = read_counts(out.data);
    assert_int_equal(c.cases, 2);
    assert_string_equal(c.names[0], "BM_Sort p50");
    assert_string_equal(c.names[1], "simd/fp32/batch=2/cpu-4t/warm gflops");
    assert_close(c.seconds, 0.00112, 1e-9); /* a rate is no time */
    made_comparison_release(&m);

    struct comparison none = { .settings = COMPARE_DEFAULTS };
    strbuf_clear(&out);
    junit_write(&none, &options, &out);
    assert_int_equal(read_counts(out.data).suites, 0);
    strbuf_release(&out);
}

RUN_TESTS(NULL, NULL)
