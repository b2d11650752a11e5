/* SPDX-License-Identifier: MIT */
/* Expressions over metrics and parameters: values, what is refused and where. Covers: S1-45. */
#include "testing.h"

#include "base/strbuf.h"
#include "metrics/expression.h"

#include <stdlib.h>

struct names {
    size_t asked;
};

/* a = 8, b = 2, zero = 0; "absent" is known and has no value. */
static double get(void *ctx, const char *name)
{
    struct names *names = ctx;

    names->asked++;
    if (strcmp(name, "a") == 0)
        return 8;
    if (strcmp(name, "b") == 0)
        return 2;
    if (strcmp(name, "min") == 0)
        return 5;
    return strcmp(name, "zero") == 0 ? 0 : (double)NAN;
}

static bool known(void *ctx, const char *name)
{
    static const char *const all[] = { "a", "b", "zero", "absent", "min", "p_99" };

    (void)ctx;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(all[i], name) == 0)
            return true;
    return false;
}

static double value_of(const char *text)
{
    struct names names = { 0 };
    struct error err;
    struct expression *e = expression_parse(text, known, &names, &err);

    if (!e)
        fail_msg("\"%s\": %s", text, err.message);
    double value = expression_value(e, get, &names);
    expression_free(e);
    return value;
}

TEST(values)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        { "a", 8 },
        { " a ", 8 },
        { "a / b", 4 },
        { "a - b - 1", 5 }, /* from the left */
        { "a / b / 2", 2 },
        { "a - (b - 1)", 7 },
        { "1 + a * b", 17 },
        { "(1 + a) * b", 18 },
        { "-a + b", -6 },
        { "--a", 8 },
        { "+a", 8 },
        { "a * -b", -16 },
        { "a - -b", 10 },
        { "2.5e1 / .5", 50 },
        { "1e-3*1000", 1 },
        { "1.", 1 },
        { "min(a, b)", 2 },
        { "max(a, b, 9, 1)", 9 },
        { "min (a,3)", 3 },
        { "a - min", 3 }, /* not a function without a bracket */
        { "log2(a)", 3 },
        { "sqrt(a * b)", 4 },
        { "log2(max(a, min(b, 1)) * sqrt(4))", 4 },
        { "zero / a", 0 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_close(value_of(rows[i].text), rows[i].value, 1e-12);
}

/* What cannot be computed is absent, never 0 and never infinite. */
TEST(no_value)
{
    static const char *const texts[] = {
        "a / zero",       "zero / zero",    "absent",          "absent * zero",
        "min(a, absent)", "max(absent, a)", "log2(zero)",      "log2(-a)",
        "sqrt(-1)",       "1e308 * 10 * a", "1 / (a - 4 * b)", "p_99",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (!isnan(value_of(texts[i])))
            fail_msg("\"%s\" has a value", texts[i]);
}

TEST(refused)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "", "column 1: a name" },
        { "   ", "column 4: a name" },
        { "a +", "column 4: a name" },
        { "a // b", "column 4: a name" },
        { "a b", "column 3: one of + - * /" },
        { "a / c", "column 5: unknown name \"c\"" },
        { "2a", "column 2: one of" },
        { "0x10", "column 2: one of" },
        { "inf", "unknown name \"inf\"" },
        { "1e999", "column 1: the number is too large" },
        { "(a", "column 3: a ')' is missing" },
        { "a)", "column 2: one of" },
        { "min(a)", "column 1: min and max take two" },
        { "1+min(a)", "column 3: min and max take two" },
        { "log2(a, b)", "column 1: log2 and sqrt take one" },
        { "sqrt(", "column 6: a name" },
        { "f(a)", "unknown name \"f\"" },
        { "a; b", "column 2: one of" },
        { "a^b", "column 2: one of" },
        { ".", "column 1: a name" },
        { "a = b", "column 3: one of" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct error err = { "" };
        struct expression *e = expression_parse(rows[i].text, known, NULL, &err);
        if (e || !strstr(err.message, rows[i].says))
            fail_msg("\"%s\": %s", rows[i].text, e ? "taken" : err.message);
    }
}

/* A text from a stranger costs no more than its bounds say. */
TEST(bounded)
{
    struct strbuf deep, far;
    struct error err;

    strbuf_init(&deep);
    strbuf_init(&far);
    strbuf_pad(&deep, EXPRESSION_DEPTH_MAX, '(');
    strbuf_adds(&deep, "a");
    assert_null(expression_parse(deep.data, known, NULL, &err));
    assert_non_null(strstr(err.message, "too many levels"));
    strbuf_adds(&far, "a");
    while (far.length + 2 <= EXPRESSION_LENGTH_MAX)
        strbuf_adds(&far, "-b");
    assert_close(value_of(far.data), 8 - (double)(far.length - 1), 1e-9);
    strbuf_pad(&far, EXPRESSION_LENGTH_MAX + 1, ' ');
    assert_null(expression_parse(far.data, known, NULL, &err));
    assert_non_null(strstr(err.message, "longer than 256"));
    strbuf_clear(&far);
    strbuf_pad(&far, EXPRESSION_NAME_SIZE, 'a');
    assert_null(expression_parse(far.data, NULL, NULL, &err));
    assert_non_null(strstr(err.message, "the name is too long"));
    strbuf_release(&deep);
    strbuf_release(&far);
}

TEST(any_name_without_a_list)
{
    struct names names = { 0 };
    struct error err;
    struct expression *e = expression_parse("whatever_1 + a", NULL, NULL, &err);

    assert_non_null(e);
    assert_true(isnan(expression_value(e, get, &names)));
    assert_int_equal(names.asked, 2);
    expression_free(e);
    expression_free(NULL);
}

TEST(plain_names)
{
    static const struct {
        const char *text;
        bool plain;
    } cases[] = {
        { "p99", true },  { "  steal_percent ", true },
        { "", false },    { "9p", false },
        { "a b", false }, { "a/b", false },
        { "a-b", false }, { "(a)", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(expression_is_plain(cases[i].text), cases[i].plain);
}

/* Random texts of the alphabet: an error or a value, never anything else (sanitizers look on). */
TEST(random_texts)
{
    static const char alphabet[] = "ab10.e()+-*/, minlog2sqrt";
    unsigned seed = 12345;
    size_t taken = 0;

    for (int round = 0; round < 20000; round++) {
        struct names names = { 0 };
        struct error err;
        char text[24];
        size_t length = 1 + (unsigned)round % 20;
        for (size_t i = 0; i < length; i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] = alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
        }
        text[length] = '\0';
        struct expression *e = expression_parse(text, NULL, NULL, &err);
        if (e) {
            double value = expression_value(e, get, &names);
            assert_true(isnan(value) || isfinite(value));
            taken++;
        }
        expression_free(e);
    }
    assert_true(taken > 500);
}

RUN_TESTS(NULL, NULL)
