/* SPDX-License-Identifier: MIT */
/* S1-22, S2-05: conditions as people type them, their mistakes with columns. What is typed must
 * never become SQL. */
#include "query_testing.h"

static void test_good_conditions(void **state)
{
    static const char *const texts[] = {
        "",
        "  ",
        "batch >= 4",
        "batch=4",
        "batch = 1, 4,16",
        "kernel = gemm/*",
        "kernel = \"gemm/*\" and variant != 'simd'",
        "batch >= 4 and (kernel = \"gemm/*\" or variant = simd) and not device = \"cuda*\"",
        "branch = main and started > 2026-11-01",
        "NOT (NOT dirty = yes) OR outcome = wrong",
        "label = \"it's \\\"quoted\\\" \\\\ here\"",
        "label = \"\"",
        "started >= 2026-11-01T13:30",
        "((((batch<2))))",
        "label = \"\xc3\xa4\xe2\x80\xae\"",
        "run = 3 or id != 4,5",
        "commit = 3f2a91c",
        "notes = 7", /* a dim, for all the grammar knows */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct query q;
        struct error err;
        size_t column;
        assert_ok(query_parse(&q, texts[i], &column, &err), &err);
        query_release(&q);
    }
}

static void test_nothing_fits_everything(void **state)
{
    struct query q;
    struct error err;
    size_t column;

    (void)state;
    assert_ok(query_parse(&q, NULL, &column, &err), &err);
    assert_int_equal(q.sql.length, 0);
    assert_false(q.of_runs || q.of_benchmarks || q.of_outcomes);
    query_release(&q);
}

static void test_mistakes_have_columns(void **state)
{
    static const struct {
        const char *text;
        size_t column;
        const char *says;
    } cases[] = {
        { "batch", 6, "one of = != < <= > >= is missing" },
        { "batch 4", 7, "there is \"4\"" },
        { "batch >=", 9, "a value is missing" },
        { "batch >= four", 1, "A dim takes whole numbers" },
        { "run = 4x", 7, "no whole number" },
        { "batch = 1, 99999999999999999999", 12, "no whole number" },
        { "kernal = gemm", 1, "did you mean \"kernel\"" },
        { "kernel < gemm", 8, "only compared by = and !=" },
        { "kernel = a and", 15, "a field such as" },
        { "and kernel = a", 1, "a field such as" },
        { "kernel = a variant = b", 12, "\"and\", \"or\" or the end" },
        { "(kernel = a", 1, "a ) is missing" },
        { "kernel = a)", 11, "\"and\", \"or\" or the end" },
        { "kernel = (a)", 10, "a value is missing" },
        { "label = \"open", 9, "does not end" },
        { "label = 'open\\", 9, "does not end" },
        { "label = \"\xc3\xa4\xc3\xb6\" and batch", 23, "is missing" }, /* characters, not bytes */
        { "dirty = maybe", 9, "yes or no" },
        { "started > yesterday", 11, "no day such as" },
        { "started > 2026-02-31", 11, "no day such as" },
        { "outcome = GOOD", 11, "an outcome is" },
        { "batch < 1, 2", 12, "several values" },
        { "a\x01 = 1", 2, "control character" },
        { "not", 4, "a field such as" },
        { ",", 1, "a field such as" },
        { "= 4", 1, "a field such as" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct query q;
        struct error err = { "" };
        size_t column = 0;
        int rc = query_parse(&q, cases[i].text, &column, &err);
        if (rc != -1 || column != cases[i].column || !strstr(err.message, cases[i].says))
            fail_msg("\"%s\": rc %d, column %zu, \"%s\"", cases[i].text, rc, column, err.message);
        query_release(&q);
    }
}

/* Repeats a piece, with a beginning and an end. */
static char *repeated(const char *begin, const char *piece, size_t nr, const char *end)
{
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb, begin);
    for (size_t i = 0; i < nr; i++)
        strbuf_adds(&sb, piece);
    strbuf_adds(&sb, end);
    return strbuf_detach(&sb);
}

static void assert_refused(char *text, const char *says)
{
    struct query q;
    struct error err = { "" };
    size_t column;

    assert_int_equal(query_parse(&q, text, &column, &err), -1);
    if (!strstr(err.message, says))
        fail_msg("%s", err.message);
    query_release(&q);
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    assert_refused(repeated("batch = 1", " and batch = 1", QUERY_TESTS_MAX, ""), "tests");
    assert_refused(repeated("", "(", QUERY_DEPTH_MAX + 1, "batch = 1"), "brackets");
    assert_refused(repeated("", "not ", QUERY_DEPTH_MAX + 1, "batch = 1"), "brackets");
    assert_refused(repeated("label = \"", "x", QUERY_VALUE_MAX + 1, "\""), "longer than 255");
    assert_refused(repeated("label = ", "x", QUERY_VALUE_MAX + 1, ""), "longer than 255");
    assert_refused(repeated("batch = 1", ",1", 40, ""), "more than 32 values");
    assert_refused(repeated("", " ", QUERY_LENGTH_MAX + 1, ""), "longer than 4096");
    assert_refused(repeated("", "f", 100, " = 1"), "so long a name");
}

static void assert_same_sql(const char *before, const char *value, const char *after,
                            const char *harmless)
{
    struct query q, plain;
    struct strbuf text, other;
    struct error err;
    size_t column;

    strbuf_init(&text);
    strbuf_init(&other);
    strbuf_adds(&text, before);
    add_quoted(&text, value);
    strbuf_adds(&text, after);
    strbuf_addf(&other, "%s%s%s", before, harmless, after);
    assert_ok(query_parse(&q, text.data, &column, &err), &err);
    assert_ok(query_parse(&plain, other.data, &column, &err), &err);
    assert_string_equal(q.sql.data, plain.sql.data);
    assert_int_equal(q.nr_bindings, plain.nr_bindings);
    query_release(&q);
    query_release(&plain);
    strbuf_release(&text);
    strbuf_release(&other);
}

static void test_values_are_bound(void **state)
{
    static const char *const fields[] = {
        "key",  "kernel", "variant", "math",   "device", "cache",
        "fill", "label",  "suite",   "branch", "commit", "machine"
    };
    char before[64];

    (void)state;
    for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
        for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
            snprintf(before, sizeof(before), "%s = ", fields[f]);
            assert_same_sql(before, hostile[i], "", "x");
            snprintf(before, sizeof(before), "not (%s != ", fields[f]);
            assert_same_sql(before, hostile[i], " or batch > 3)", "x");
        }
}

/* Random texts either are refused, or give SQL made of our own words and signs alone. */
static void test_random_texts(void **state)
{
    static const char *const words[] = { "kernel", "batch", "and", "or",  "not",   "(",    ")",
                                         "=",      "!=",    ">=",  "\"a", "\"",    "'",    ";",
                                         "--",     "x'",    ",",   "12",  "\\",    "DROP", "run",
                                         "label",  "\xf0",  "%",   "?",   "dirty", "yes" };
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.()=<>? ";
    struct random random;
    size_t accepted = 0;

    (void)state;
    random_seed(&random, 7);
    for (int round = 0; round < 20000; round++) {
        struct strbuf text;
        struct query q;
        struct error err;
        size_t column;
        strbuf_init(&text);
        for (uint64_t i = random_u64(&random) % 9; i > 0; i--)
            strbuf_addf(&text, "%s%s",
                        words[random_u64(&random) % (sizeof(words) / sizeof(words[0]))],
                        random_u64(&random) % 3 ? " " : "");
        if (query_parse(&q, text.data, &column, &err) == 0) {
            accepted++;
            assert_int_equal(strspn(q.sql.data, allowed), q.sql.length);
            size_t marks = 0;
            for (const char *c = q.sql.data; *c; c++)
                marks += *c == '?';
            assert_int_equal(marks, q.nr_bindings);
        } else {
            assert_true(column >= 1 && column <= strlen(text.data) + 1);
        }
        query_release(&q);
        strbuf_release(&text);
    }
    assert_true(accepted > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_conditions),
        cmocka_unit_test(test_nothing_fits_everything),
        cmocka_unit_test(test_mistakes_have_columns),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_values_are_bound),
        cmocka_unit_test(test_random_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
