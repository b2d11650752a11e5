/* SPDX-License-Identifier: MIT */
/* --param: names and values of a scan, and what of it is a dim. */
#include "testing.h"

#include "session/measure/param.h"

#include <stdlib.h>

/* All values of one text, with blanks between them; "!" and the error where it is refused. */
static char *values_of(const char *text, bool *whole)
{
    struct string_list texts = { 0 };
    struct param_list params = { 0 };
    struct error err = { "" };
    struct strbuf out;

    strbuf_init(&out);
    string_list_add(&texts, text);
    *whole = false;
    if (param_parse(&texts, &params, &err)) {
        strbuf_addf(&out, "! %s", err.message);
    } else {
        *whole = params.items[0].whole;
        for (size_t i = 0; i < params.items[0].values.nr; i++)
            strbuf_addf(&out, "%s%s", i ? " " : "", params.items[0].values.items[i]);
    }
    param_release(&params);
    string_list_release(&texts);
    return strbuf_detach(&out);
}

TEST(values_of_a_parameter)
{
    static const struct {
        const char *text, *values;
        bool whole;
    } rows[] = {
        { "n=1,2,4", "1 2 4", true },
        { "n=0", "0", true },
        { "n=1:4", "1 2 3 4", true },
        { "n=1:9:+4", "1 5 9", true },
        { "n=1:9:4", "1 5 9", true },
        { "n=1:8:*2,100", "1 2 4 8 100", true },
        { "x=0:1:+0.25", "0 0.25 0.5 0.75 1", false },
        { "x=0.1:0.3:0.1", "0.1 0.2 0.3", false },
        { "x=-1:1", "-1 0 1", false },
        { "cc=gcc,clang", "gcc clang", false },
        { "n=1,2,many", "1 2 many", false },
        { "n=01", "01", false },                 /* not the number 1: it is put in as it is */
        { "n=4000000000", "4000000000", false }, /* beyond what a dim may be */
        { "at=host:80,host:81", "host:80 host:81", false },
        { "f=a=b", "a=b", false },
        { "n=", "! --param n: a value is empty", false },
        { "n=1,,2", "! --param n: a value is empty", false },
        { "n=1,2,1", "! --param n: the value 1 is there twice", false },
        { "n=4:1", "! --param n: the range never comes to its end", false },
        { "n=1:4:0", "! --param n: the range never comes to its end", false },
        { "n=0:4:*2", "! --param n: the range never comes to its end", false },
        { "n=1:4:*1", "! --param n: the range never comes to its end", false },
        { "n=1:100000", "! --param n: more than 1000 values", false },
        { "n",
          "! --param: \"n\" is not NAME=VALUE,...; {NAME} in the command is replaced by each, "
          "and a plugin's variants get each",
          false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool whole;
        char *values = values_of(rows[i].text, &whole);
        if (strcmp(values, rows[i].values) != 0 || whole != rows[i].whole)
            fail_msg("%s: %s (%s)", rows[i].text, values, whole ? "dims" : "texts");
        free(values);
    }
}

static void parse_two(struct param_list *params)
{
    struct string_list texts = { 0 };
    struct error err;

    string_list_add(&texts, "n=1,2,3");
    string_list_add(&texts, "cc=gcc,clang");
    assert_ok(param_parse(&texts, params, &err), &err);
    string_list_release(&texts);
}

TEST(settings_are_all_combinations)
{
    static const char *const expected[] = { "n=1,cc=gcc",   "n=1,cc=clang", "n=2,cc=gcc",
                                            "n=2,cc=clang", "n=3,cc=gcc",   "n=3,cc=clang" };
    struct param_list params = { 0 };

    parse_two(&params);
    assert_int_equal(param_settings(&params), 6);
    for (size_t i = 0; i < 6; i++) {
        struct command_spec spec = { .name = "" };
        string_list_add(&spec.argv, "n={n},cc={cc}");
        spec.conclude = memory_string("{cc}{other}");
        param_fill(&params, i, &spec);
        assert_string_equal(spec.argv.items[0], expected[i]);
        assert_string_equal(spec.conclude, i % 2 ? "clang{other}" : "gcc{other}");
        command_spec_release(&spec);
    }
    param_release(&params);
}

TEST(whole_numbers_become_dims_and_texts_variants)
{
    struct selection selection = { .nr_dims = 0 };
    struct command_spec spec = { .name = "" };
    struct param_list params = { 0 };
    struct error err;

    parse_two(&params);
    assert_ok(param_give(&params, &spec, &selection, &err), &err);
    assert_int_equal(spec.dims.nr, 1);
    assert_string_equal(spec.dims.items[0], "n");
    assert_int_equal(selection.nr_dims, 1);
    assert_int_equal(selection.dims[0].values.nr, 3);
    assert_int_equal(spec.texts.nr, 1);
    assert_string_equal(spec.texts.items[0].name, "cc");
    assert_int_equal(spec.texts.items[0].values.nr, 2);
    command_spec_release(&spec);
    selection_release(&selection);
    param_release(&params);
}

RUN_TESTS(NULL, NULL)
