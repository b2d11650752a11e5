/* SPDX-License-Identifier: MIT */
/* Dates as tools write them, names of content, slugs, columns of JSON values. Covers: U-10, S0-10.
 */
#include "testing.h"

#include "base/digest.h"
#include "base/json_source.h"
#include "base/text.h"

TEST(dates_are_read)
{
    static const struct {
        const char *text;
        int64_t ms;
    } rows[] = {
        { "1970-01-01", 0 },
        { "2026-01-31", 1769817600000 },
        { "2026-01-31 12:30", 1769862600000 },
        { "2026-01-31T12:30:05Z", 1769862605000 },
        { "2026-01-31T12:30:05.250Z", 1769862605250 },
        { "2026-01-31T12:30:05.2506789", 1769862605250 },
        { "2026-01-31T12:30:05+02:00", 1769855405000 },
        { "2026-01-31T12:30:05-0330", 1769875205000 },
        { "2024-02-29", 1709164800000 },
        { "2026-11-21 09:54:00Z", 1795254840000 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct error err;
        int64_t ms;
        assert_ok(text_parse_date(rows[i].text, "date", &ms, &err), &err);
        if (ms != rows[i].ms)
            fail_msg("%s is %lld, expected %lld", rows[i].text, (long long)ms,
                     (long long)rows[i].ms);
    }
}

TEST(what_is_no_date_is_refused)
{
    static const char *const texts[] = {
        "",
        "2026",
        "2026-1-31",
        "2026-02-30",
        "2026-13-01",
        "2026-00-10",
        "2025-02-29",
        "2026-01-31x",
        "31.01.2026",
        "2026-01-31T",
        "2026-01-31T25:00",
        "2026-01-31T12:61",
        "yesterday",
        "-026-01-31",
        "2026-01-31T12:30:",
        "2026-01-31T12:30+2",
        "2026-01-31T12:30:05+02:00 ",
        "2026-01-31T12:30:05+99:00",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct error err = { "" };
        int64_t ms;
        if (text_parse_date(texts[i], "--date", &ms, &err) != -1)
            fail_msg("\"%s\" was taken for %lld", texts[i], (long long)ms);
        assert_non_null(strstr(err.message, "--date: "));
    }
}

/* Published values of FNV-1a with 128 bits: of nothing, "a" and "foobar". */
TEST(digests_are_fnv)
{
    static const struct {
        const char *text, *digest;
    } rows[] = {
        { "", "6c62272e07bb014262b821756295c58d" },
        { "a", "d228cb696f1a8caf78912b704e4a8964" },
        { "foobar", "343e1662793c64bf6f0d3597ba446f18" },
    };
    struct digest d;
    char text[DIGEST_TEXT_SIZE], uuid[37];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        digest_init(&d);
        digest_add(&d, rows[i].text, strlen(rows[i].text));
        digest_text(&d, text);
        assert_string_equal(text, rows[i].digest);
    }
    digest_uuid(&d, uuid);
    assert_string_equal(uuid, "343e1662-793c-84bf-af0d-3597ba446f18");
}

TEST(ends_of_texts_count)
{
    struct digest a, b;

    digest_init(&a);
    digest_init(&b);
    digest_add_text(&a, "ab");
    digest_add_text(&a, "c");
    digest_add_text(&b, "a");
    digest_add_text(&b, "bc");
    assert_true(a.low != b.low || a.high != b.high);
    digest_init(&a);
    digest_init(&b);
    digest_add_text(&a, NULL);
    digest_add_text(&b, "");
    assert_true(a.low == b.low && a.high == b.high);
}

TEST(slugs)
{
    char out[16];

    text_slug("  Intel(R) Core(TM) i5!", out, sizeof(out));
    assert_string_equal(out, "intel-r-core-tm");
    text_slug("!?", out, sizeof(out));
    assert_string_equal(out, "");
}

TEST(values_have_columns)
{
    static const char text[] = "{ \"a\": 1,\n  \"b\": [ 2, { \"c\": 3 } ] }";
    struct json_source s;
    struct error err;

    assert_ok(json_source_parse(&s, text, strlen(text), "t.json", &err), &err);
    const cJSON *b = cJSON_GetObjectItem(s.root, "b");
    assert_int_equal(json_source_column(&s, s.root), 1);
    assert_int_equal(json_source_column(&s, cJSON_GetObjectItem(s.root, "a")), 3);
    assert_int_equal(json_source_column(&s, b), 3);
    assert_int_equal(json_source_column(&s, b->child), 10);
    assert_int_equal(json_source_column(&s, cJSON_GetObjectItem(b->child->next, "c")), 15);
    json_source_release(&s);
}

RUN_TESTS(NULL, NULL)
