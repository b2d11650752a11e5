/* SPDX-License-Identifier: MIT */
/* Texts of others on their way to people: what is printed and what stands in errors holds no
 * control character, no mark that turns or hides text, and valid UTF-8 alone; JSON keeps all of it
 * as escapes. */
#include "testing.h"

#include "base/clean.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

static size_t __attribute__((format(printf, 3, 4)))
print(char *out, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    size_t length = clean_print(out, size, format, args);
    va_end(args);
    return length;
}

static const struct {
    const char *from, *to;
    bool clean;
} texts[] = {
    { "plain", "plain", true },
    { "", "", true },
    { "caf\xc3\xa9 \xe4\xb8\xad", "caf\xc3\xa9 \xe4\xb8\xad", true },
    { "\x1b]0;title\x07", " ]0;title ", false },
    { "two\nlines\r\ttab\x7f", "two lines  tab ", false },
    { "c1 \xc2\x9b", "c1  ", false },
    { "\xe2\x80\xaertl\xe2\x81\xa6", "?rtl?", false },
    { "ls\xe2\x80\xa8ps\xe2\x80\xa9", "ls ps ", false },
    { "zero\xe2\x80\x8bwidth\xef\xbb\xbf", "zero?width?", false },
    { "bad\xff\xfe\xc3", "bad???", false },
    { "\xed\xa0\x80 \xef\xbf\xbf", "??? ?", false },
    { "tag\xf3\xa0\x80\xa1", "tag?", false },
};

TEST(texts_are_cleaned)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct strbuf out;
        struct error err;
        strbuf_init(&out);
        clean_text(&out, texts[i].from);
        assert_string_equal(out.data, texts[i].to);
        assert_true(clean_is(out.data));
        assert_int_equal(clean_is(texts[i].from), texts[i].clean);
        assert_int_equal(clean_check(texts[i].from, "--label", &err), texts[i].clean ? 0 : -1);
        strbuf_release(&out);
    }
}

static const struct {
    const char *text;
    size_t columns;
} widths[] = {
    { "", 0 },
    { "abc", 3 },
    { "\xc3\xa9", 1 },
    { "e\xcc\x81", 1 },                            /* an accent behind its letter */
    { "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 2 }, /* Hangul taken apart */
    { "\xe3\x81\x8b\xe3\x82\x99", 2 },             /* hiragana with a mark */
    { "\xe2\x9a\xa0\xef\xb8\x8f", 1 },             /* a variation selector */
    { "\xe2\x9c\x93 \xe2\x9c\x85", 4 },            /* U+2713 and U+2705 */
    { "\xef\xb8\xb0\xef\xbf\xa0", 4 },             /* U+FE30 and U+FFE0 */
    { "\xf0\x97\x80\x80", 2 },                     /* Tangut */
    { "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa", 2 },     /* a flag */
    { "\xf0\x9f\x9a\x80\xf0\x9f\x8c\xb6", 3 },     /* U+1F680 and U+1F336 */
    { "\x1b\xff\xe2\x80\x8b", 3 },                 /* each cleaned */
};

TEST(columns_of_texts)
{
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        if (clean_columns(widths[i].text) != widths[i].columns)
            fail_msg("\"%s\" has %zu columns, not %zu", widths[i].text,
                     clean_columns(widths[i].text), widths[i].columns);
}

TEST(marks_stay_with_their_letter)
{
    static const char text[] = "ae\xcc\x81\xcc\xa3z", picture[] = "\xe2\x9c\x85\xef\xb8\x8f!";

    assert_int_equal(clean_fitting(text, 0), 0);
    assert_int_equal(clean_fitting(text, 1), 1);
    assert_int_equal(clean_fitting(text, 2), 6);
    assert_int_equal(clean_fitting(text, 3), 7);
    assert_int_equal(clean_fitting(picture, 1), 0);
    assert_int_equal(clean_fitting(picture, 2), 6);
}

/* As printf, for all that it knows: the program's formats must not change. */
TEST(formats_are_those_of_printf)
{
    char out[512], expected[512];

#define SAME(...)                                                                                  \
    do {                                                                                           \
        int length = snprintf(expected, sizeof(expected), __VA_ARGS__);                            \
        assert_int_equal(print(out, sizeof(out), __VA_ARGS__), length);                            \
        assert_string_equal(out, expected);                                                        \
    } while (0)
    SAME("%d %5d %-5d| %05d %+d %x %X %o %u", -3, 4, 5, 6, 7, 255, 255, 8, 9U);
    SAME("%ld %lld %zu %jd %hd %hhu %" PRId64 " %016llx", -1L, -2LL, (size_t)3, (intmax_t)4,
         (short)5, (unsigned char)6, INT64_MIN, 7ULL);
    SAME("%g %.3g %8.2f %-8.2f| %e %+.4g %.*f %*d %.0e %Lg", 1.5, 2.0 / 3, 3.14159, 2.5, 1e300, 7.0,
         2, 1.005, 6, 42, 1e24, 1.25L);
    SAME("%s|%10s|%-10s|%.3s|%.*s|%c%%", "text", "right", "left", "cut off", 2, "abc", 'x');
    SAME("%-*s|%*s|", 6, "ab", -6, "cd");
    SAME("%f", -1.7976931348623157e308);
#undef SAME
}

TEST(arguments_are_cleaned_and_the_format_is_not)
{
    static const char no_end[3] = { 'a', '\xc3', '\xa9' };
    char out[64];

    print(out, sizeof(out), "\r\033[K%s\n", "a\033[31m\nb");
    assert_string_equal(out, "\r\033[Ka [31m b\n");
    print(out, sizeof(out), "%-6s|%5s|", "\xe4\xb8\xad", "\xc3\xa9"); /* columns, not bytes */
    assert_string_equal(out, "\xe4\xb8\xad    |    \xc3\xa9|");
    print(out, sizeof(out), "%.2s|%.*s|", no_end, 3, no_end);
    assert_string_equal(out, "a?|a\xc3\xa9|");
    assert_int_equal(print(out, 5, "%s", "abc\xc3\xa9\xc3\xa9"), 7);
    assert_string_equal(out, "abc"); /* no half of a character */
    assert_int_equal(print(NULL, 0, "%s %d", "abc", 7), 5);
}

TEST(what_has_no_room_is_cut_between_characters)
{
    static const struct {
        const char *text, *copy; /* of 6 bytes */
    } cases[] = {
        { "", "" },
        { "abcde", "abcde" },
        { "abcdef", "abcde" },
        { "abcd\xc3\xa9", "abcd" },
        { "abc\xc3\xa9"
          "f",
          "abc\xc3\xa9" },
        { "ab\xf0\x9f\x98\x80"
          "c",
          "ab" },
        { "\xa9\xa9\xa9\xa9\xa9\xa9", "" }, /* no character */
    };
    char out[6];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        utf8_copy(out, sizeof(out), cases[i].text);
        assert_string_equal(out, cases[i].copy);
    }
}

TEST(errors_are_cleaned)
{
    struct error err;

    assert_int_equal(error_set(&err, "no \"%s\"", "x\033]0;y\007\xe2\x80\xae"), -1);
    assert_string_equal(err.message, "no \"x ]0;y ?\"");
    assert_int_equal(error_prefix(&err, "%s", "bad\xff"), -1);
    assert_string_equal(err.message, "bad?: no \"x ]0;y ?\"");
    error_set(&err, "it said: %s", "one\ntwo"); /* lines of a program stay lines */
    assert_string_equal(err.message, "it said: one\ntwo");
}

/* JSON loses nothing but bytes that are no text, and shows none of it raw. */
TEST(json_keeps_it_as_escapes)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cJSON *json = cJSON_CreateString(texts[i].from);
        struct strbuf out;
        struct error err;
        strbuf_init(&out);
        assert_ok(json_text(json, false, &out, &err), &err);
        assert_true(clean_is(out.data));
        cJSON *back = json_parse(out.data, out.length, "it", &err);
        assert_non_null(back);
        char *mended = memory_string(texts[i].from);
        utf8_mend(mended);
        assert_string_equal(back->valuestring, mended);
        free(mended);
        cJSON_Delete(back);
        cJSON_Delete(json);
        strbuf_release(&out);
    }
}

/* Trees take far more memory than their texts. */
TEST(json_has_no_more_values_than_it_may)
{
    struct strbuf text;
    struct error err;

    strbuf_init(&text);
    strbuf_addc(&text, '[');
    for (size_t i = 0; i < JSON_VALUES_MOST; i++)
        strbuf_adds(&text, "0,");
    strbuf_adds(&text, "0]");
    assert_null(json_parse(text.data, text.length, "zeros", &err));
    assert_string_equal(
        err.message, "zeros: more than 2097152 values, which is more than one JSON file may have");
    strbuf_clear(&text);
    strbuf_addc(&text, '"');
    strbuf_pad(&text, 3 * JSON_VALUES_MOST, ','); /* inside a string they are none */
    strbuf_adds(&text, "\\\"[\"");
    cJSON *json = json_parse(text.data, text.length, "commas", &err);
    assert_non_null(json);
    cJSON_Delete(json);
    strbuf_release(&text);
}

RUN_TESTS(NULL, NULL)
