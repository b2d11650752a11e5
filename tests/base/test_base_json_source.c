/* SPDX-License-Identifier: MIT */
/*
 * Lines of values in JSON that people write, and messages that name them.
 * Covers: S1-39.
 */
#include "testing.h"

#include "base/json_source.h"

static const char text[] =
    "{\n"
    "  \"name\": \"a \\\" ] }\",\n"
    "  \"list\": [ 1,\n"
    "\n"
    "            2, { \"deep\":\n"
    "                 true } ],\n"
    "  \"_why\": \"a comment\", \"last\": null\n"
    "}\n";

static const cJSON *member(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);

    assert_non_null(found);
    return found;
}

TEST(every_value_has_its_line)
{
    struct json_source s;
    struct error err;

    assert_ok(json_source_parse(&s, text, strlen(text), "t.json", &err), &err);
    const cJSON *list = member(s.root, "list");
    assert_int_equal(json_source_line(&s, s.root), 1);
    assert_int_equal(json_source_line(&s, member(s.root, "name")), 2);
    assert_int_equal(json_source_line(&s, list), 3);
    assert_int_equal(json_source_line(&s, cJSON_GetArrayItem(list, 0)), 3);
    assert_int_equal(json_source_line(&s, cJSON_GetArrayItem(list, 1)), 5);
    assert_int_equal(json_source_line(&s, member(cJSON_GetArrayItem(list, 2), "deep")), 5);
    assert_int_equal(json_source_line(&s, member(s.root, "last")), 7);
    assert_int_equal(json_source_error(&s, member(s.root, "last"), &err, "%s is %d", "x", 3), -1);
    assert_string_equal(err.message, "t.json:7: x is 3");
    json_source_release(&s);
}

TEST(a_byte_order_mark_counts_nothing)
{
    static const char marked[] = "\xef\xbb\xbf{\n\"a\": 1 }";
    struct json_source s;
    struct error err;

    assert_ok(json_source_parse(&s, marked, strlen(marked), "t.json", &err), &err);
    assert_int_equal(json_source_line(&s, member(s.root, "a")), 2);
    json_source_release(&s);
}

TEST(keys_are_checked)
{
    static const char *const keys[] = { "colour", "size", NULL };
    static const struct {
        const char *text, *says; /* NULL: it is fine */
    } rows[] = {
        { "{ \"size\": 1, \"_note\": 2, \"$schema\": \"x\" }", NULL },
        { "{ \"size\": 1,\n \"colr\": 2 }",
          "t.json:2: unknown key \"colr\"; did you mean \"colour\"?" },
        { "{ \"zzzzzzzz\": 1 }", "t.json:1: unknown key \"zzzzzzzz\"" },
        { "{ \"size\": 1,\n\n \"size\": 2 }", "t.json:3: \"size\" is there twice" },
        { "[ 1 ]", "t.json:1: a JSON object { ... } is expected here" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json_source s;
        struct error err;
        assert_ok(json_source_parse(&s, rows[i].text, strlen(rows[i].text), "t.json", &err), &err);
        int rc = json_source_only_keys(&s, s.root, keys, &err);
        assert_int_equal(rc, rows[i].says ? -1 : 0);
        if (rows[i].says)
            assert_string_equal(err.message, rows[i].says);
        json_source_release(&s);
    }
}

TEST(what_cannot_be_read_is_refused)
{
    struct json_source s;
    struct error err;

    assert_int_equal(json_source_parse(&s, "{ \"a\":", 6, "t.json", &err), -1);
    assert_non_null(strstr(err.message, "t.json: not valid JSON at line 1"));
}

RUN_TESTS(NULL, NULL)
