/* SPDX-License-Identifier: MIT */
/*
 * Numbers in words: the table that the page's own formatter is tested with too.
 * Covers: S3-10.
 */
#include "testing.h"

#include "base/json.h"
#include "output/ticks.h"

#include <math.h>

static enum quantity quantity_of(const char *name)
{
    static const char *const names[] = { "plain", "time", "bytes", "rate", "percent", "share" };
    static const enum quantity quantities[] = { QUANTITY_PLAIN, QUANTITY_TIME,    QUANTITY_BYTES,
                                                QUANTITY_RATE,  QUANTITY_PERCENT, QUANTITY_SHARE };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return quantities[i];
    fail_msg("unknown quantity \"%s\"", name);
    return QUANTITY_PLAIN;
}

static void texts_are_those_of_the_table(void **state)
{
    const char *path = HARNESS_SOURCE_DIR "/tests/fixtures/units.json";
    char text[QUANTITY_TEXT_SIZE];
    struct error err;
    cJSON *row;

    (void)state;
    cJSON *table = json_parse_file(path, &err);
    if (!table)
        fail_msg("%s", err.message);
    assert_true(cJSON_GetArraySize(table) > 50);
    cJSON_ArrayForEach(row, table)
    {
        enum quantity quantity = quantity_of(json_string(row, "quantity", ""));
        const char *expected = json_string(row, "text", "");
        double value = json_number(row, "value", NAN);
        quantity_text(quantity, json_string(row, "base", ""), value, text);
        if (strcmp(text, expected) != 0)
            fail_msg("%s %.17g: \"%s\", expected \"%s\"", json_string(row, "quantity", ""), value,
                     text, expected);
    }
    cJSON_Delete(table);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_those_of_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
