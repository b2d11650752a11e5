/* SPDX-License-Identifier: MIT */
/* Ticks of an axis of dates: where days and hours begin, none twice. */
#include "testing.h"

#include "base/strbuf.h"
#include "text/ticks.h"

#define FIRST_MS INT64_C(1793538000000) /* 2026-11-01 13:00:00Z */
enum { MOST = 8 };

TEST(test_where_days_and_hours_begin)
{
    static const struct {
        double low, high; /* days since the first run */
        const char *texts;
    } rows[] = {
        { 0, 0.001, "13:00, 13:01" }, /* one run: a minute and a half */
        { 0.0001, 0.0002, "" },
        { 0, 0.09, "13:00, 13:30, 14:00, 14:30, 15:00" },
        { 0, 0.4, "14:00, 16:00, 18:00, 20:00, 22:00" },
        { 0, 0.9,
          "11-01 15:00, 11-01 18:00, 11-01 21:00, 11-02 00:00, 11-02 03:00, 11-02 06:00, "
          "11-02 09:00" },
        { 0, 2, "11-02 00:00, 11-02 12:00, 11-03 00:00, 11-03 12:00" },
        { 0, 4, "2026-11-02, 2026-11-03, 2026-11-04, 2026-11-05" },
        { 0, 30, "2026-11-05, 2026-11-12, 2026-11-19, 2026-11-26" },
        { 0, 365, "2026-12-03, 2027-03-03, 2027-06-01, 2027-08-30" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ticks ticks = { 0 };
        struct strbuf texts;
        strbuf_init(&texts);
        ticks_dates(&ticks, FIRST_MS, rows[i].low, rows[i].high, MOST);
        for (size_t k = 0; k < ticks.nr; k++)
            strbuf_addf(&texts, "%s%s", k ? ", " : "", ticks.items[k].text);
        assert_string_equal(texts.data, rows[i].texts);
        strbuf_release(&texts);
        ticks_release(&ticks);
    }
}

TEST(test_places_are_days)
{
    struct ticks ticks = { 0 };

    ticks_dates(&ticks, FIRST_MS, 0, 4, MOST);
    assert_int_equal(ticks.nr, 4);
    assert_true(fabs(ticks.items[0].at - 11.0 / 24) < 1e-9);
    assert_true(fabs(ticks.items[3].at - ticks.items[0].at - 3) < 1e-9);
    ticks_release(&ticks);
    for (double span = 0.001; span < 1e6; span *= 1.1) { /* and never too many */
        ticks_dates(&ticks, FIRST_MS, -0.02 * span, 1.02 * span, MOST);
        assert_in_range(ticks.nr, 1, MOST);
        ticks_release(&ticks);
    }
}

RUN_TESTS(NULL, NULL)
