/* SPDX-License-Identifier: MIT */
/* What options, presets and requests take as one word: numbers, lists, sizes, durations, shares,
 * dates, parts of a sweep (base/text.h, session/measure/sharding.h). */
#include "fuzz.h"

#include "base/text.h"
#include "session/measure/sharding.h"

#include <string.h>

static void numbers(const char *text)
{
    struct int_list list = { .nr = 0 };
    int64_t whole;
    double number;
    struct error err;

    if (text_parse_int(text, -9, 1000, "text", &whole, &err) == 0)
        FUZZ_CHECK(whole >= -9 && whole <= 1000);
    text_parse_ints(text, INT64_MIN, INT64_MAX, "text", &list, &err);
    list.nr = 0;
    if (text_parse_ints(text, 1, 1 << 20, "text", &list, &err) == 0)
        for (size_t i = 0; i < list.nr; i++)
            FUZZ_CHECK(list.items[i] >= 1 && list.items[i] <= 1 << 20);
    array_release(&list);
    if (text_parse_double(text, -1, 2, "text", &number, &err) == 0)
        FUZZ_CHECK(number >= -1 && number <= 2);
    if (text_parse_duration(text, "text", &number, &err) == 0)
        FUZZ_CHECK(number >= 0 && number < 1e9);
    if (text_parse_fraction(text, "text", &number, &err) == 0)
        FUZZ_CHECK(number >= 0 && number < 10);
}

FUZZ_TARGET(values)
{
    const int64_t years = INT64_C(10000) * 366 * 86400000;
    char *text = fuzz_text(data, size), slug[16], stamp[TEXT_UNIT_SIZE];
    struct sharding shard;
    struct error err;
    int64_t ms;

    numbers(text);
    if (text_parse_date(text, "text", &ms, &err) == 0) {
        FUZZ_CHECK(ms > -years && ms < years);
        text_timestamp(ms, stamp);
    }
    if (sharding_parse(text, &shard, &err) == 0)
        FUZZ_CHECK(shard.index >= 1 && shard.index <= shard.count);
    text_slug(text, slug, sizeof(slug));
    FUZZ_CHECK(strlen(slug) < sizeof(slug));
    free(text);
}
