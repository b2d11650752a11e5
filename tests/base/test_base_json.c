/* SPDX-License-Identifier: MIT */
/* JSON in and out: errors name the place, numbers come back exactly. Features: S0-10, S1-39. */
#include "testing.h"

#include "base/file.h"
#include "base/json.h"
#include "stats/random.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>

static const char path[] = HARNESS_TEST_DIR "/base_json.json";

static cJSON *parse(const char *text)
{
    struct error err = { "" };
    cJSON *json = json_parse(text, strlen(text), "t.json", &err);

    if (!json)
        fail_msg("%s", err.message);
    return json;
}

TEST(errors_name_line_and_column)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "t.json: not valid JSON at line 1, column 1" },
        { "x", "line 1, column 1" },
        { "{\"a\": 1,\n \"b\": x}", "line 2, column 7" },
        { "{\"a\": 1}\n{", "line 2, column 1" }, /* more than one value */
        { "[1,\n2,\n   oops]", "line 3, column 4" },
        { "{} trailing", "line 1, column 4" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct error err = { "" };
        assert_null(json_parse(bad[i].text, strlen(bad[i].text), "t.json", &err));
        assert_has(err.message, bad[i].says);
    }
}

TEST(the_extent_of_a_first_value)
{
    static const struct {
        const char *text;
        size_t length, values;
    } rows[] = {
        { "", 0, 1 },
        { "1", 1, 1 },
        { "1,2", 1, 1 },
        { "true]", 4, 1 },
        { "\"a,\\\"[\" : 1", 7, 1 },
        { "[]", 2, 2 },
        { "{\"a\":[1,2]},[3]", 11, 4 },
        { "[[[", 3, 4 },
        { "[\"]\",{\"}\":0}] x", 13, 4 },
        { "\"never closed", 13, 1 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t values = 0, length = json_extent(rows[i].text, strlen(rows[i].text), &values);
        if (length != rows[i].length || values != rows[i].values)
            fail_msg("%s: %zu bytes, %zu values", rows[i].text, length, values);
    }
}

/* Cut anywhere, a text is refused or whole; never read past its end. */
TEST(truncated_texts_are_refused)
{
    static const char text[] =
        "{\"a\": [1, 2.5e3, \"x\\u00e9\"], \"b\": {\"c\": null, \"d\": true}}";

    for (size_t length = 0; length + 1 < sizeof(text); length++) {
        struct error err = { "" };
        char *copy = malloc(length + 1); /* exact, so that a sanitizer sees one byte too far */
        assert_non_null(copy);
        memcpy(copy, text, length);
        copy[length] = '\0';
        cJSON *json = json_parse(copy, length, "cut", &err);
        if (json)
            fail_msg("%zu bytes were accepted", length);
        assert_has(err.message, "cut: not valid JSON at line 1, column ");
        free(copy);
    }
    cJSON_Delete(parse(text));
}

TEST(white_space_around_is_fine)
{
    cJSON_Delete(parse(" \n\t{ } \r\n "));
}

/* Through text and back, bit by bit: many doubles, the edges among them. */
TEST(doubles_come_back_exactly)
{
    static const double edges[] = { 0,          0.1,       1.0 / 3,       DBL_MAX,
                                    -DBL_MAX,   DBL_MIN,   5e-324,        0x1p53,
                                    0x1p53 + 2, 1e22,      1e23,          -2.5,
                                    1e-7,       123456789, 0.30000000004, 1 + DBL_EPSILON };
    enum { EDGES = sizeof(edges) / sizeof(edges[0]), N = 5000 };
    struct random r;

    random_seed(&r, 5);
    for (int i = 0; i < N; i++) {
        cJSON *json = cJSON_CreateObject();
        uint64_t bits = random_u64(&r);
        double value, back;
        memcpy(&value, &bits, sizeof(value));
        value = i < EDGES ? edges[i] : value;
        json_add_number(json, "x", value);
        char *text = cJSON_PrintUnformatted(json);
        cJSON *again = parse(text);
        struct error err;
        if (isfinite(value)) {
            assert_ok(json_get_number(again, "x", &back, &err), &err);
            assert_memory_equal(&value, &back, sizeof(value));
        } else {
            assert_true(cJSON_IsNull(cJSON_GetObjectItem(again, "x")));
            assert_true(isnan(json_number(again, "x", (double)NAN)));
        }
        free(text);
        cJSON_Delete(json);
        cJSON_Delete(again);
    }
}

TEST(integers_print_every_digit)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "most", INT64_MAX);
    json_add_int(json, "least", INT64_MIN);
    char *text = cJSON_PrintUnformatted(json);
    assert_string_equal(text, "{\"most\":9223372036854775807,\"least\":-9223372036854775808}");
    free(text);
    cJSON_Delete(json);
}

TEST(required_members)
{
    cJSON *json = parse("{\"s\": \"text\", \"n\": 2.5, \"i\": -7, \"big\": 1e300, \"null\": null}");
    struct error err;
    const char *text;
    double number;
    int64_t whole;

    assert_ok(json_get_string(json, "s", &text, &err), &err);
    assert_string_equal(text, "text");
    assert_ok(json_get_number(json, "n", &number, &err), &err);
    assert_true(number == 2.5);
    assert_ok(json_get_int(json, "i", &whole, &err), &err);
    assert_int_equal(whole, -7);
    assert_int_equal(json_get_string(json, "n", &text, &err), -1);
    assert_string_equal(err.message, "\"n\" is missing or not a string");
    assert_int_equal(json_get_string(json, "S", &text, &err), -1); /* case counts */
    assert_int_equal(json_get_number(json, "s", &number, &err), -1);
    assert_int_equal(json_get_number(json, "null", &number, &err), -1);
    assert_int_equal(json_get_int(json, "n", &whole, &err), -1);
    assert_string_equal(err.message, "\"n\" is not a whole number");
    assert_int_equal(json_get_int(json, "big", &whole, &err), -1);
    cJSON_Delete(json);
}

TEST(optional_members)
{
    cJSON *json = parse("{\"s\": \"text\", \"n\": 2.5, \"i\": 7, \"t\": true}");

    assert_string_equal(json_string(json, "s", "no"), "text");
    assert_string_equal(json_string(json, "n", "no"), "no");
    assert_true(json_number(json, "n", 1) == 2.5);
    assert_true(json_number(json, "none", 1) == 1);
    assert_int_equal(json_int(json, "i", 1), 7);
    assert_int_equal(json_int(json, "n", 1), 1);
    assert_true(json_bool(json, "t", false));
    assert_true(json_bool(json, "i", true));
    assert_false(json_bool(json, "i", false));
    cJSON_Delete(json);
}

TEST(counts)
{
    cJSON *json = parse(
        "{\"n\": 7, \"most\": 2147483647, \"less\": -3, \"half\": 2.5, \"s\": \"7\", "
        "\"more\": 2147483648}");

    assert_int_equal(json_count(json, "n"), 7);
    assert_int_equal(json_count(json, "most"), 2147483647);
    for (const char *const *key = (const char *const[]) { "less", "half", "s", "more", "no", NULL };
         *key; key++)
        assert_int_equal(json_count(json, *key), 0);
    cJSON_Delete(json);
}

TEST(empty_strings_are_not_written)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "empty", "");
    json_add_string(json, "null", NULL);
    json_add_string(json, "some", "a\"\\\n\x01");
    char *text = cJSON_PrintUnformatted(json);
    assert_string_equal(text, "{\"some\":\"a\\\"\\\\\\n\\u0001\"}");
    free(text);
    cJSON_Delete(json);
}

TEST(lists_of_strings_are_written_whole)
{
    char *values[] = { (char *)"a", (char *)"", (char *)"\"b\n" };
    static const struct {
        size_t nr;
        const char *text;
    } cases[] = {
        { 0, "{\"list\":[]}" },
        { 1, "{\"list\":[\"a\"]}" },
        { 3, "{\"list\":[\"a\",\"\",\"\\\"b\\n\"]}" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cJSON *json = cJSON_CreateObject();
        json_add_strings(json, "list", cases[i].nr ? values : NULL, cases[i].nr);
        char *text = cJSON_PrintUnformatted(json);
        assert_string_equal(text, cases[i].text);
        free(text);
        cJSON_Delete(json);
    }
}

TEST(unknown_keys_name_the_nearest)
{
    static const char *const keys[] = { "filters", "launches", "dims", NULL };
    cJSON *good = parse("{\"dims\": 1, \"filters\": 2}"), *near = parse("{\"filter\": 1}");
    cJSON *far = parse("{\"xyzzy\": 1}"), *array = parse("[1, 2]");
    struct error err;

    assert_ok(json_only_keys(good, keys, "suite", &err), &err);
    assert_int_equal(json_only_keys(near, keys, "suite", &err), -1);
    assert_string_equal(err.message, "suite: unknown key \"filter\"; did you mean \"filters\"?");
    assert_int_equal(json_only_keys(far, keys, "suite", &err), -1);
    assert_string_equal(err.message, "suite: unknown key \"xyzzy\"");
    assert_int_equal(json_only_keys(array, keys, "suite", &err), -1);
    assert_string_equal(err.message, "suite: not a JSON object");
    assert_int_equal(json_only_keys(NULL, keys, "suite", &err), -1);
    cJSON_Delete(good);
    cJSON_Delete(near);
    cJSON_Delete(far);
    cJSON_Delete(array);
}

TEST(files_in_and_out)
{
    struct error err;
    size_t length;

    for (int pretty = 0; pretty <= 1; pretty++) {
        cJSON *json = parse("{\"a\": [1, {\"b\": \"c\"}]}");
        assert_ok(json_write_file(json, path, pretty, &err), &err);
        cJSON *back = json_parse_file(path, FILE_RECORDS_MOST, &err);
        assert_non_null(back);
        assert_true(cJSON_Compare(json, back, true));
        char *text = file_read(path, FILE_RECORDS_MOST, &length, &err);
        assert_int_equal(text[length - 1], '\n');
        assert_true(length > 1 && text[length - 2] != '\n');
        free(text);
        cJSON_Delete(json);
        cJSON_Delete(back);
    }
    assert_null(json_parse_file(HARNESS_TEST_DIR "/no-such.json", FILE_RECORDS_MOST, &err));
    assert_has(err.message, "no-such.json: cannot open: No such file");
    assert_ok(file_write(path, "{\n\"a\":\n}", 8, &err), &err);
    assert_null(json_parse_file(path, FILE_RECORDS_MOST, &err));
    assert_has(err.message, path);
    assert_has(err.message, "line 3, column 1");
}

RUN_TESTS(NULL, NULL)
