/* SPDX-License-Identifier: MIT */
/* What programs say of themselves, as facts: kinds, values, JSON. */
#include "testing.h"

#include "base/memory.h"
#include "core/number.h"
#include "core/record.h"

TEST(a_kind_is_one_pointer)
{
    struct error err = { "" };
    const struct number_kind *a = number_kind_of("rate", "req/s", BETTER_HIGHER, &err);

    assert_non_null(a);
    assert_ptr_equal(a, number_kind_of("rate", "req/s", BETTER_HIGHER, &err));
    assert_string_equal(a->id, "rate");
    /* Another unit or direction is another thing, and says so. */
    const struct number_kind *b = number_kind_of("rate", "s", BETTER_LOWER, &err);
    assert_ptr_not_equal(a, b);
    assert_string_equal(b->id, "rate (s, lower)");
    assert_string_equal(number_kind_of("rate", "", BETTER_NONE, &err)->id, "rate (none)");
    assert_ptr_equal(number_kind_at(0), a);
    assert_null(number_kind_at(3));
}

TEST(names_and_units)
{
    static const struct {
        const char *name, *unit;
        bool fine;
    } rows[] = {
        { "a", "", true },
        { "_x9", "µs", true },
        { "", "", false },
        { "9a", "", false },
        { "a-b", "", false },
        { "a", "two\nlines", false },
        { "a", "a unit of more than any needs", false },
        { "a_name_that_is_longer_than_any_needs", "", false },
    };
    struct error err;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(number_kind_of(rows[i].name, rows[i].unit, BETTER_NONE, &err) != NULL,
                         rows[i].fine);
}

/* More than are kept: as many quantiles, so that the median and the ends stay. */
TEST(many_values_become_quantiles)
{
    enum { NR = 50001 };
    struct error err;
    struct number n = { number_kind_of("many", "", BETTER_NONE, &err),
                        memory_zeroed(NR, sizeof(double)), NR };

    for (int i = 0; i < NR; i++)
        n.values[i] = (i * 7919) % NR;
    assert_close(number_median(&n), 25000, 0);
    number_keep(&n);
    assert_int_equal(n.nr, NUMBER_VALUES_MAX);
    assert_close(number_median(&n), 25000, 7);
    assert_true(n.values[0] < 14 && n.values[n.nr - 1] > NR - 14);
    free(n.values);
}

/* To the last bit, through the form that processes, files and histories share. */
TEST(json_and_back)
{
    static const double values[] = { 0.1, 1e300 * 0, -3, 1.0000000000000002, 9007199254740993.0 };
    struct error err = { "" };
    struct measurement m = { .outcome = OUTCOME_OK }, again;

    assert_int_equal(benchmark_name_parse("command/x/exec/fp32/process/warm", &m.bench, &err), 0);
    m.numbers[0] = (struct number) { number_kind_of("v", "x/s", BETTER_LOWER, &err),
                                     memory_zeroed(5, sizeof(double)), 5 };
    memcpy(m.numbers[0].values, values, sizeof(values));
    m.nr_numbers = 1;
    cJSON *json = measurement_to_json(&m);
    char *text = cJSON_PrintUnformatted(json);
    cJSON *parsed = cJSON_Parse(text);
    assert_int_equal(measurement_from_json(parsed, &again, &err), 0);
    assert_int_equal(again.nr_numbers, 1);
    assert_ptr_equal(again.numbers[0].kind, m.numbers[0].kind);
    assert_memory_equal(again.numbers[0].values, values, sizeof(values));
    measurement_release(&again);
    measurement_copy(&again, &m);
    measurement_release(&m);
    assert_memory_equal(again.numbers[0].values, values, sizeof(values));
    measurement_release(&again);
    cJSON_Delete(json);
    cJSON_Delete(parsed);
    cJSON_free(text);
}

TEST(json_that_is_none)
{
    static const struct {
        const char *json, *why; /* NULL: fine */
    } rows[] = {
        { "{}", NULL },
        { "null", NULL },
        { "{\"a\":{\"unit\":\"s\",\"better\":\"lower\",\"values\":[]}}", NULL },
        { "[]", "no object" },
        { "{\"a\":1}", "\"better\" is not" },
        { "{\"a\":{\"better\":\"up\",\"values\":[]}}", "\"better\" is not" },
        { "{\"a\":{\"better\":\"lower\"}}", "\"values\" is no list" },
        { "{\"a\":{\"better\":\"lower\",\"values\":[\"1\"]}}", "is no number" },
        { "{\"a\":{\"better\":\"lower\",\"values\":[1e30]}}", "is no number" },
        { "{\"a b\":{\"better\":\"lower\",\"values\":[1]}}", "cannot be the name" },
        { "{\"a\":{\"unit\":\"\\u001b[1m\",\"better\":\"lower\",\"values\":[1]}}", "be a unit" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct number numbers[NUMBERS_MAX];
        struct error err = { "" };
        cJSON *json = cJSON_Parse(rows[i].json);
        int nr, rc = numbers_from_json(json, numbers, &nr, &err);
        if (rc != (rows[i].why ? -1 : 0) || (rows[i].why && !strstr(err.message, rows[i].why)))
            fail_msg("%s: %s", rows[i].json, err.message);
        numbers_release(numbers, nr);
        cJSON_Delete(json);
    }
}

/* A file of a stranger may be full of them. */
TEST(more_kinds_than_a_process_takes)
{
    struct error err = { "" };
    char name[32];
    int nr = 0;

    for (int i = 0; i < 2 * NUMBER_KINDS_MAX; i++) {
        snprintf(name, sizeof(name), "k%d", i);
        nr += number_kind_of(name, "", BETTER_NONE, &err) != NULL;
    }
    assert_in_range(nr, 1, NUMBER_KINDS_MAX);
    assert_non_null(strstr(err.message, "more than 1000"));
    assert_null(number_kind_at(NUMBER_KINDS_MAX));
}

RUN_TESTS(NULL, NULL)
