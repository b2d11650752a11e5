/* SPDX-License-Identifier: MIT */
/* Numbers for CTest: the elements that ctest takes out of an output, which are there and which are
 * left out. Covers: U-10, S0-15. */
#include "verdict/compare.h"

#include "compare_fixture.h"
#include "xml_testing.h"

#include "base/strbuf.h"
#include "reporters/ctest.h"

static const struct ctest_options everything = { .filters = NULL };

/* Every element as it must be, inside a root of its own: names, numbers, in `out`'s order. */
struct found {
    char names[16][160];
    size_t nr;
};

static void on_element(struct xml_reader *r, const struct xml_element *e)
{
    struct found *f = r->context;

    if (strcmp(e->name, "root") == 0)
        return;
    assert_string_equal(e->name, "CTestMeasurement");
    assert_string_equal(xml_attribute(e, "type"), "numeric/double");
    assert_true(f->nr < 16);
    snprintf(f->names[f->nr++], 160, "%s", xml_attribute(e, "name"));
}

static struct found read_elements(const struct strbuf *text)
{
    struct found f = { .nr = 0 };
    struct xml_reader r = { .begin = on_element, .context = &f };
    struct strbuf whole;

    strbuf_init(&whole);
    strbuf_addf(&whole, "<?xml version=\"1.0\"?>\n<root>%s</root>\n", text->data);
    xml_read(&r, whole.data);
    strbuf_release(&whole);
    return f;
}

static bool has(const struct found *f, const char *name)
{
    for (size_t i = 0; i < f->nr; i++)
        if (strcmp(f->names[i], name) == 0)
            return true;
    return false;
}

#define OUT_TEST(name) TEST_WITH_A(name, struct strbuf, out, strbuf_release)

OUT_TEST(test_numbers_of_a_comparison)
{
    struct pair p = pair_new("box", "box");

    fixture_launches(&p.base, A, steady, 5);
    fixture_launches(&p.head, A, slower, 5);
    struct comparison c = compare(&p, &defaults);
    strbuf_init(out);
    ctest_write(&p.head, &c, &everything, out);
    struct found f = read_elements(out);
    assert_true(has(&f, "p50 " A " (ns)"));
    assert_true(has(&f, "change p50 " A " (%)"));
    assert_has(out->data, "name=\"p50 " A " (ns)\">1100000</CTestMeasurement>\n");
    const char *change = strstr(out->data, "name=\"change p50 " A " (%)\">");
    assert_close(strtod(strchr(change, '>') + 1, NULL), 10, 0.01);
    assert_false(has(&f, "p99 " A " (ns)")); /* of 15 samples */
    pair_release(&p, &c);
}

OUT_TEST(test_tails_where_the_samples_carry_them)
{
    struct records head = { 0 };

    fixture_run(&head, "box", 1);
    for (int launch = 0; launch < 3; launch++)
        fixture_add(&head, launch, A, 1000 + launch, 2000);
    strbuf_init(out);
    ctest_write(&head, NULL, &everything, out);
    struct found f = read_elements(out);
    assert_int_equal(f.nr, 3);
    assert_string_equal(f.names[0], "p50 " A " (ns)");
    assert_string_equal(f.names[1], "p95 " A " (ns)");
    assert_string_equal(f.names[2], "p99 " A " (ns)");
    assert_has(out->data, "p99 " A " (ns)\">1002<");
    records_release(&head);
}

OUT_TEST(test_only_what_is_asked_for)
{
    static const char *const filters[] = { "layernorm" };
    static const struct ctest_options layernorm = { filters, 1 };
    struct pair p = pair_new("box", "box");

    fixture_launches(&p.base, A, steady, 5);
    fixture_launches(&p.base, C, steady, 5);
    fixture_launches(&p.head, A, steady, 5);
    fixture_launches(&p.head, C, steady, 5);
    struct comparison c = compare(&p, &defaults);
    strbuf_init(out);
    ctest_write(&p.head, &c, &layernorm, out);
    struct found f = read_elements(out);
    assert_true(has(&f, "p50 " C " (ns)"));
    assert_true(has(&f, "change p50 " C " (%)"));
    assert_lacks(out->data, "gemm");
    pair_release(&p, &c);
}

/* No time is no number, and a name is text whatever it holds. */
OUT_TEST(test_nothing_where_there_is_no_number)
{
    struct pair p = pair_new("box", "box");

    fixture_launches(&p.base, A, steady, 5);
    fixture_add(&p.head, 0, A, 0, 0);
    fixture_launches(&p.head, "BM_sum<int>/\"8\"", steady, 5);
    struct comparison c = compare(&p, &defaults);
    strbuf_init(out);
    ctest_write(&p.head, &c, &everything, out);
    struct found f = read_elements(out);
    assert_lacks(out->data, A);
    assert_lacks(out->data, "nan");
    assert_true(f.nr > 0);
    assert_has(f.names[0], "p50 BM_sum&lt;int&gt;/&quot;8&quot;");
    pair_release(&p, &c);
}

RUN_TESTS(NULL, NULL)
