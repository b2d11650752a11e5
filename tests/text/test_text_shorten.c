/* SPDX-License-Identifier: MIT */
/* Short names that stay apart, and long lines broken. Covers: S0-26. */
#include "testing.h"

#include "base/clean.h"
#include "stats/random.h"
#include "text/shorten.h"
#include "text/wrap.h"

#include <stdlib.h>

enum { NAMES_MOST = 4 };

static void what_differs_is_kept(void **state)
{
    static const struct {
        size_t width;
        const char *names[NAMES_MOST], *texts[NAMES_MOST];
    } rows[] = {
        /* at the end, at the beginning, in the middle */
        { 14,
          { "sort/vector/int/16", "sort/vector/int/64" },
          { "sort/…/int/16", "sort/…/int/64" } },
        { 14, { "read/file/cold/4k", "write/file/cold/4k" }, { "read/…/cold/4k", "write/…/4k" } },
        { 14,
          { "a/long/way/x/to/the/end", "a/long/way/y/to/the/end" },
          { "a/…/x/…/end", "a/…/y/…/end" } },
        /* each by another word */
        { 20,
          { "gemm/linear/n=1/warm/one", "gemm/linear/n=2/warm/one", "gemm/linear/n=2/cold/one" },
          { "gemm/…/n=1/warm/one", "gemm/…/n=2/warm/one", "gemm/…/n=2/cold/one" } },
        /* one is the beginning of the other; one stands there twice */
        { 10, { "copy/memory", "copy/memory/far" }, { "…/memory", "copy/…/far" } },
        { 8, { "copy/memory", "copy/memory" }, { "…/memory", "…/memory" } },
        /* no sign to part it at; nothing short is its own */
        { 8, { "abcdefghijkl", "bcdefghijklm" }, { "abcd…jkl", "bcde…klm" } },
        { 8, { "abcdefghijkl", "abcdeFghijkl" }, { "abcdefghijkl", "abcdeFghijkl" } },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t nr = 0;
        while (nr < NAMES_MOST && rows[i].names[nr])
            nr++;
        char **texts = shorten_names(rows[i].names, nr, rows[i].width);
        for (size_t k = 0; k < nr; k++)
            if (strcmp(texts[k], rows[i].texts[k]) != 0)
                fail_msg("row %zu: \"%s\", expected \"%s\"", i, texts[k], rows[i].texts[k]);
        shorten_free(texts, nr);
    }
}

static void one_text_keeps_both_ends(void **state)
{
    static const struct {
        const char *text;
        size_t width;
        const char *shown;
    } rows[] = {
        { "short", 5, "short" },
        { "longer", 5, "lo…er" },
        { "longer", 1, "…" },
        { "longer", 0, "" },
        { "日本語です", 6, "日…す" },
        { "", 3, "" },
        { "xyze\u0301e\u0301e\u0301", 5, "xy…e\u0301e\u0301" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *shown = shorten_text(rows[i].text, rows[i].width);
        if (strcmp(shown, rows[i].shown) != 0)
            fail_msg("\"%s\", expected \"%s\"", shown, rows[i].shown);
        assert_true(clean_columns(shown) <= rows[i].width);
        free(shown);
    }
}

static void the_least_width_is_found(void **state)
{
    static const char *const names[] = { "gemm/linear/simd/batch=1,seq=64/warm",
                                         "gemm/linear/simd/batch=4,seq=64/warm" };
    static const char *const alike[] = { "abcdefghijklmnopqrstuvwxyz",
                                         "abcdefghijklmNopqrstuvwxyz" };

    assert_int_equal(shorten_least(names, 2, 24, 40), 24);
    assert_int_equal(shorten_least(alike, 2, 8, 20), 20);
    assert_int_equal(shorten_least(alike, 0, 8, 20), 8);
}

/* Of few words, so that names have much in common: at their ends and within. */
static void made_name(struct random *r, char *name, size_t size)
{
    static const char *const words[] = { "a", "bb", "linear", "batch=16", "日本", "" };
    static const char *const signs[] = { "/", ",", " ", "_", "::", "x" };

    name[0] = '\0';
    for (uint64_t left = 1 + random_below(r, 7); left > 0; left--) {
        size_t used = strlen(name);
        snprintf(name + used, size - used, "%s%s", words[random_below(r, 6)],
                 signs[random_below(r, 6)]);
    }
}

enum { SET = 30, NAME_BYTES = 128 };

static void check_set(char names[SET][NAME_BYTES], size_t width)
{
    const char *set[SET];

    for (int i = 0; i < SET; i++)
        set[i] = names[i];
    char **texts = shorten_names(set, SET, width);
    for (int i = 0; i < SET; i++) {
        if (clean_columns(texts[i]) > width && strcmp(texts[i], names[i]) != 0)
            fail_msg("\"%s\" of \"%s\" is wider than %zu", texts[i], names[i], width);
        for (int k = 0; k < i; k++)
            if (strcmp(texts[i], texts[k]) == 0 && strcmp(names[i], names[k]) != 0)
                fail_msg("\"%s\" and \"%s\" are both \"%s\"", names[i], names[k], texts[i]);
    }
    shorten_free(texts, SET);
}

static void no_two_of_any_set_look_alike(void **state)
{
    struct random r;

    random_seed(&r, 7);
    for (int round = 0; round < 200; round++) {
        char names[SET][NAME_BYTES];
        for (int i = 0; i < SET; i++)
            made_name(&r, names[i], NAME_BYTES);
        for (size_t width = 4; width < 40; width += 3)
            check_set(names, width);
    }
}

static void long_lines_are_broken(void **state)
{
    static const struct {
        const char *text, *wrapped;
    } rows[] = {
        { "fits in its line\n", "fits in its line\n" },
        { "one two three four five six\n", "one two three four\nfive six\n" },
        { "  one two three four five\n", "  one two three\n    four five\n" },
        { "  -x    one two three four\n", "  -x    one two\n        three four\n" },
        { "a name that is too   long\n", "a name that is too\nlong\n" },
        { "a /path/that/is/much/too/long b\n", "a\n/path/that/is/much/too/long\nb\n" },
        { "see `harness list all` here\n", "see\n`harness list all`\nhere\n" },
        { "\n\nno end", "\n\nno end" },
        { "日本語 日本語 日本語 日本語", "日本語 日本語\n日本語 日本語" },
    };
    struct strbuf out;

    strbuf_init(&out);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        strbuf_clear(&out);
        wrap_text(rows[i].text, 18, &out);
        if (strcmp(out.data, rows[i].wrapped) != 0)
            fail_msg("row %zu: \"%s\", expected \"%s\"", i, out.data, rows[i].wrapped);
        strbuf_clear(&out);
        wrap_text(rows[i].text, 0, &out);
        assert_string_equal(out.data, rows[i].text);
    }
    strbuf_release(&out);
}

static void paragraphs_are_joined(void **state)
{
    struct strbuf out;

    strbuf_init(&out);
    wrap_join("  harness run\n  harness list\n\nOne line\nand another.\n\nA third\n  example\nend",
              &out);
    assert_string_equal(out.data,
                        "  harness run\n  harness list\n\nOne line and another.\n\nA third\n"
                        "  example\nend");
    strbuf_release(&out);
}

static void words_are_broken_where_they_must(void **state)
{
    assert_int_equal(wrap_line("abcdef", 4, false), 4);
    assert_int_equal(wrap_line("abcdef gh", 4, true), 6);
    assert_int_equal(wrap_line("ab cd", 3, false), 2);
    assert_int_equal(wrap_line("日", 1, false), 3);
    assert_int_equal(wrap_line("か\u3099日", 1, false), 6);
    assert_int_equal(wrap_line("abe\u0301f", 3, false), 5);
    assert_int_equal(wrap_line("", 4, false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_is_kept),
        cmocka_unit_test(one_text_keeps_both_ends),
        cmocka_unit_test(the_least_width_is_found),
        cmocka_unit_test(no_two_of_any_set_look_alike),
        cmocka_unit_test(long_lines_are_broken),
        cmocka_unit_test(paragraphs_are_joined),
        cmocka_unit_test(words_are_broken_where_they_must),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
