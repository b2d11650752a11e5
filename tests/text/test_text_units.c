/* SPDX-License-Identifier: MIT */
/*
 * Numbers in words: the table that the page's own formatter is tested with too.
 * Covers: S3-10.
 */
#include "testing.h"

#include "base/file.h"
#include "base/json.h"
#include "text/ticks.h"

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

TEST(texts_are_those_of_the_table)
{
    const char *path = HARNESS_SOURCE_DIR "/tests/fixtures/units.json";
    char text[QUANTITY_TEXT_SIZE];
    struct error err;
    cJSON *row;

    cJSON *table = json_parse_file(path, FILE_RECORDS_MOST, &err);
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
        quantity_unit_text(quantity, json_string(row, "base", ""), value, text);
        assert_string_equal(text, json_string(row, "with_unit", expected));
    }
    cJSON_Delete(table);
}

TEST(ratios)
{
    static const struct {
        double ratio;
        const char *text;
    } rows[] = {
        { 0, "0.00×" },         { 1e-10, "1/1e+10×" },
        { 0.0072, "1/139×" },   { 0.018, "1/55.6×" },
        { 0.494, "1/2.02×" },   { 0.4999999, "0.50×" },
        { 0.81, "0.81×" },      { 1, "1.00×" },
        { 9.99, "9.99×" },      { 9.996, "10.0×" },
        { 61.7, "61.7×" },      { 99.96, "100×" },
        { 351.09, "351×" },     { 9241, "9241×" },
        { 2.5e10, "2e+10×" },   { (double)INFINITY, "∞×" },
        { (double)NAN, "n/a" },
    };
    char text[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(ratio_text(rows[i].ratio, text), rows[i].text);
}

RUN_TESTS(NULL, NULL)
