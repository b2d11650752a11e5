/* SPDX-License-Identifier: MIT */
#include "text/ticks.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No axis has room for more. */
enum { TICKS_LIMIT = 256 };

/* Whose inverse is a number, too. */
#define RATIO_LEAST 0x1p-1000

struct prefix {
    const char *name;
    double factor;
};

static const struct prefix time_units[] = {
    { "ns", 1 }, { "µs", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }
};
static const struct prefix rate_prefixes[] = { { "", 1 },    { "k", 1e3 },  { "M", 1e6 },
                                               { "G", 1e9 }, { "T", 1e12 }, { "P", 1e15 } };
static const struct prefix byte_units[] = {
    { "B", 1 }, { "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 }
};

static const struct prefix *fitting_prefix(const struct prefix *list, size_t nr, double largest)
{
    size_t i = 0;

    while (i + 1 < nr && fabs(largest) >= list[i + 1].factor)
        i++;
    return &list[i];
}

#define FITTING(list, largest) fitting_prefix((list), sizeof(list) / sizeof((list)[0]), largest)

const char *quantity_name(enum quantity quantity)
{
    static const char *const names[] = {
        [QUANTITY_PLAIN] = "plain", [QUANTITY_TIME] = "time",       [QUANTITY_BYTES] = "bytes",
        [QUANTITY_RATE] = "rate",   [QUANTITY_PERCENT] = "percent", [QUANTITY_SHARE] = "share",
    };

    return names[quantity];
}

struct unit unit_for(enum quantity quantity, const char *base, double largest)
{
    struct unit unit = { .factor = 1 };
    const struct prefix *p;

    switch (quantity) {
    case QUANTITY_TIME:
    case QUANTITY_BYTES:
        p = quantity == QUANTITY_TIME ? FITTING(time_units, largest) : FITTING(byte_units, largest);
        snprintf(unit.name, sizeof(unit.name), "%s", p->name);
        unit.factor = p->factor;
        break;
    case QUANTITY_RATE:
        p = FITTING(rate_prefixes, largest);
        base += *base == ' ' && !*p->name;
        snprintf(unit.name, sizeof(unit.name), "%s%s", p->name, base);
        unit.factor = p->factor;
        break;
    case QUANTITY_PERCENT:
    case QUANTITY_SHARE:
        snprintf(unit.name, sizeof(unit.name), "%%");
        unit.factor = 0.01;
        break;
    case QUANTITY_PLAIN:
        snprintf(unit.name, sizeof(unit.name), "%s", base ? base : "");
        break;
    }
    return unit;
}

/* Between a bare number and " tokens/s" one space is enough. */
static void single_space(const char *from, char text[QUANTITY_TEXT_SIZE])
{
    const char *two = strstr(from, "  ");

    if (two)
        snprintf(text, QUANTITY_TEXT_SIZE, "%.*s%s", (int)(two - from), from, two + 1);
    else
        snprintf(text, QUANTITY_TEXT_SIZE, "%s", from);
}

/* "12.30 us" with a real micro sign. */
static void ticks_micro(const char *from, char text[QUANTITY_TEXT_SIZE])
{
    const char *us = strstr(from, " us");

    if (us)
        snprintf(text, QUANTITY_TEXT_SIZE, "%.*s µs", (int)(us - from), from);
    else
        snprintf(text, QUANTITY_TEXT_SIZE, "%s", from);
}

/* Four digits; what has more of them before its point gets a prefix: "12.34 k". */
static void plain_text(double value, char text[QUANTITY_TEXT_SIZE])
{
    static const double digits = 9999.5, prefixes = 999.95e15;
    char buffer[TEXT_UNIT_SIZE];

    if (fabs(value) >= digits && fabs(value) < prefixes)
        snprintf(text, QUANTITY_TEXT_SIZE, "%s", text_rate(value, "", buffer));
    else
        snprintf(text, QUANTITY_TEXT_SIZE, "%.4g", value);
}

char *quantity_text(enum quantity quantity, const char *base, double value,
                    char text[QUANTITY_TEXT_SIZE])
{
    char buffer[TEXT_UNIT_SIZE];

    snprintf(text, QUANTITY_TEXT_SIZE, "n/a");
    if (!isfinite(value))
        return text;
    switch (quantity) {
    case QUANTITY_TIME:
        ticks_micro(text_time(value, buffer), text);
        break;
    case QUANTITY_BYTES:
        snprintf(text, QUANTITY_TEXT_SIZE, "%s", text_bytes(value, buffer));
        break;
    case QUANTITY_RATE:
        single_space(text_rate(value, base, buffer), text);
        break;
    case QUANTITY_PERCENT:
        snprintf(text, QUANTITY_TEXT_SIZE, "%s", text_percent(value, buffer));
        break;
    case QUANTITY_SHARE:
        snprintf(text, QUANTITY_TEXT_SIZE, "%s", text_share(value, buffer));
        break;
    case QUANTITY_PLAIN:
        plain_text(value, text);
        break;
    }
    return text;
}

char *quantity_unit_text(enum quantity quantity, const char *base, double value,
                         char text[QUANTITY_TEXT_SIZE])
{
    size_t length = strlen(quantity_text(quantity, base, value, text));

    if (quantity == QUANTITY_PLAIN && *base && isfinite(value))
        snprintf(text + length, QUANTITY_TEXT_SIZE - length, " %s", base + (*base == ' '));
    return text;
}

char *ratio_text(double ratio, char text[QUANTITY_TEXT_SIZE])
{
    bool fraction = ratio > 0 && ratio < 0.495;
    double times = fraction ? 1 / ratio : ratio;
    int decimals = times < 9.995 ? 2 : times < 99.95 ? 1 : 0;

    if (!isfinite(ratio)) {
        snprintf(text, QUANTITY_TEXT_SIZE, ratio > 0 ? "∞×" : "n/a");
        return text;
    }
    snprintf(text, QUANTITY_TEXT_SIZE, times < 1e9 ? "%s%.*f×" : "%s%.*e×", fraction ? "1/" : "",
             decimals, times);
    return text;
}

double ticks_step(double low, double high, int most)
{
    static const double nice[] = { 1, 2, 2.5, 5, 10 };
    double rough = (high - low) / most;

    if (!(rough > 0) || !isfinite(rough))
        return 1;
    double power = pow(10, floor(log10(rough)));
    for (size_t i = 0; i < sizeof(nice) / sizeof(nice[0]); i++)
        if (nice[i] * power >= rough * (1 - 1e-9))
            return nice[i] * power;
    return 10 * power;
}

void ticks_add(struct ticks *ticks, double at, const char *text, bool minor)
{
    if (!isfinite(at)) /* nine times the largest power of ten is none */
        return;
    *array_push(ticks) = (struct tick) { .at = at, .text = memory_string(text), .minor = minor };
}

enum { MINUTE_MS = 60000, DAY_MS = 1440 * MINUTE_MS };

/* Minutes, hours, days, weeks, and about months and years: the first of which at most `most` fit
 * into the span, ms. */
static int64_t ticks_date_step(int64_t span, int most)
{
    static const int64_t minutes[] = { 1,   2,   5,    10,   15,    30,    60,    120,    180,
                                       360, 720, 1440, 2880, 10080, 20160, 43200, 129600, 525600 };
    size_t last = sizeof(minutes) / sizeof(minutes[0]) - 1, i = 0;

    while (i < last && span / (minutes[i] * MINUTE_MS) >= most)
        i++;
    int64_t step = minutes[i] * MINUTE_MS;
    while (span / step >= most)
        step *= 2;
    return step;
}

void ticks_dates(struct ticks *ticks, int64_t first_ms, double low, double high, int most)
{
    int64_t begin = first_ms + (int64_t)ceil(low * DAY_MS);
    int64_t end = first_ms + (int64_t)floor(high * DAY_MS);
    int64_t step = ticks_date_step(end - begin, most), from = begin / step * step;
    char text[TEXT_UNIT_SIZE];

    from += from < begin ? step : 0;
    bool whole_days = step >= DAY_MS, one_day = from / DAY_MS == end / DAY_MS;
    for (int64_t at = from; at <= end; at += step) {
        text_timestamp(at, text);
        text[strlen(whole_days ? "2026-11-21" : "2026-11-21 13:00")] = '\0';
        ticks_add(ticks, (double)(at - first_ms) / DAY_MS,
                  text + (whole_days ? 0 : strlen(one_day ? "2026-11-21 " : "2026-")), false);
    }
}

void ticks_release(struct ticks *ticks)
{
    for (size_t i = 0; i < ticks->nr; i++)
        free(ticks->items[i].text);
    array_release(ticks);
}

enum { DECIMALS_MOST = 6, DIGITS_LEAST = 4, DIGITS_MOST = 15 };

/* Digits after the point that a multiple of `step` needs; with more than DECIMALS_MOST of them
 * numbers are no longer read so. */
static int ticks_decimals_of(double step)
{
    int decimals = 0;

    for (double x = step; decimals <= DECIMALS_MOST && fabs(x - round(x)) > 1e-6 * fabs(x); x *= 10)
        decimals++;
    return decimals;
}

/* Significant digits in which a multiple of `step` differs from the next. */
static int ticks_digits_of(double at, double step)
{
    double digits = floor(log10(fabs(at))) - floor(log10(step)) + 2;

    return (int)fmin(fmax(digits, DIGITS_LEAST), DIGITS_MOST);
}

/* How many multiples of `step` lie within [low, high], and which is the first; none where they
 * cannot be told apart, or a limit is not finite. */
static int count_multiples(double low, double high, double step, double *first)
{
    *first = ceil(low / step - 1e-9);
    double nr = floor(high / step + 1e-9) - *first + 1;

    if (!(nr >= 1) || !(fabs(*first) + nr < 0x1p52))
        return 0;
    return (int)fmin(nr, TICKS_LIMIT);
}

/* At the multiples of `step`. */
static void ticks_add_multiples(struct ticks *ticks, double low, double high, double step)
{
    int decimals = ticks_decimals_of(step);
    double first;
    int nr = count_multiples(low, high, step, &first);

    for (int i = 0; i < nr; i++) {
        char text[64];
        double at = (first + i) * step + 0.0; /* no -0 */
        if (fabs(at) >= 1e7 || decimals > DECIMALS_MOST)
            snprintf(text, sizeof(text), "%.*g", ticks_digits_of(at, step), at);
        else
            snprintf(text, sizeof(text), "%.*f", decimals, at);
        ticks_add(ticks, at, text, false);
    }
}

void ticks_linear(struct ticks *ticks, double low, double high, int most)
{
    ticks_add_multiples(ticks, low, high, ticks_step(low, high, most));
}

void ticks_widen(double *low, double *high, int most)
{
    double step = ticks_step(*low, *high, most);

    *low = floor(*low / step + 1e-9) * step;
    *high = ceil(*high / step - 1e-9) * step;
}

static void log_text(double value, enum quantity quantity, const char *base, char *text)
{
    struct unit unit = { .factor = 1 };
    bool plain = quantity == QUANTITY_PLAIN;

    if (!plain)
        unit = unit_for(quantity, base, value * (1 + 1e-9));
    else if (value >= 1e5) /* 1 M is read faster than 1000000 */
        unit = unit_for(QUANTITY_RATE, "", value * (1 + 1e-9));
    snprintf(text, QUANTITY_TEXT_SIZE, "%.9g%s%s", value / unit.factor, unit.name[0] ? " " : "",
             unit.name);
}

static bool ticks_is_within(double at, double low, double high)
{
    return at >= low * (1 - 1e-9) && at <= high * (1 + 1e-9);
}

/* Would there be room for texts at 1, 2 and 5 of each decade? */
static bool ticks_has_room_for_fine(double low, double high, int first, int last, int most)
{
    static const double digits[3] = { 1, 2, 5 };
    int nr = 0;

    if (last - first > most)
        return false;
    for (int decade = first; decade <= last; decade++)
        for (int k = 0; k < 3; k++)
            nr += ticks_is_within(digits[k] * pow(10, decade), low, high);
    return nr <= most;
}

/* Has a logarithmic axis from low to high an end? A double has 633 decades at most. */
static bool ticks_has_decades(double low, double high)
{
    return low > 0 && high >= low && isfinite(high);
}

/* Of `nr` ticks, each how manieth has a text where there is room for `most`? */
static int every_nth(int nr, int most)
{
    return nr > 1 && most > 1 ? 1 + (nr - 1) / most : nr > 1 ? nr : 1;
}

static void ticks_add_decades(struct ticks *ticks, double low, double high, int most,
                              enum quantity quantity, const char *base)
{
    int first = (int)floor(log10(low) + 1e-9), last = (int)ceil(log10(high) - 1e-9);
    int decades = last - first;
    bool fine = ticks_has_room_for_fine(low, high, first, last, most);
    int every = every_nth(decades, most);

    for (int decade = first; decade <= last; decade++) {
        for (int digit = 1; digit < 10; digit++) {
            double at = digit * pow(10, decade);
            bool major =
                digit == 1 ? (decade - first) % every == 0 : fine && (digit == 2 || digit == 5);
            char text[QUANTITY_TEXT_SIZE] = "";
            if (!ticks_is_within(at, low, high) || (!major && decades > 6))
                continue;
            if (major)
                log_text(at, quantity, base, text);
            ticks_add(ticks, at, text, !major);
        }
    }
}

static size_t ticks_count_texts(const struct ticks *ticks)
{
    size_t nr = 0;

    for (size_t i = 0; i < ticks->nr; i++)
        nr += ticks->items[i].text[0] != '\0';
    return nr;
}

void ticks_log(struct ticks *ticks, double low, double high, int most, enum quantity quantity,
               const char *base)
{
    double first;

    if (!ticks_has_decades(low, high))
        return;
    ticks_add_decades(ticks, low, high, most, quantity, base);
    size_t texts = ticks_count_texts(ticks);
    if (texts > 2 || (texts == 2 && high >= 10 * low))
        return;
    ticks_release(ticks); /* less than a decade: even steps say more */
    double step = ticks_step(low, high, most);
    int nr = count_multiples(low, high * (1 + 1e-9), step, &first);
    for (int i = 0; i < nr; i++) {
        char text[QUANTITY_TEXT_SIZE];
        log_text((first + i) * step, quantity, base, text);
        ticks_add(ticks, (first + i) * step, text, false);
    }
}

static void ticks_add_powers(struct ticks *ticks, double low, double high, int most)
{
    int first = (int)ceil(log2(fmax(low, RATIO_LEAST)) - 1e-9);
    int last = (int)floor(log2(fmin(high, 1 / RATIO_LEAST)) + 1e-9);
    int every = every_nth(last - first + 1, most);

    for (int power = first; power <= last; power++) {
        char text[32] = "";
        bool major = power % every == 0; /* so that 1 is among them */
        if (major)
            snprintf(text, sizeof(text), power < 0 ? "1/%.6g×" : "%.6g×", exp2(abs(power)));
        if (major || every <= 4)
            ticks_add(ticks, exp2(power), text, !major);
    }
}

void ticks_ratio(struct ticks *ticks, double low, double high, int most)
{
    if (!ticks_has_decades(low, high))
        return;
    if (high > 6 * low) {
        ticks_add_powers(ticks, low, high, most);
        return;
    }
    size_t from = ticks->nr;
    /* Steps that suit the whole may have none below 1, as halves between 0.65 and 3: that part then
     * has steps of its own, as many as its share of the axis. */
    double step = ticks_step(low, high, most);
    if (low < 1 && high > 1 && 1 - step < low * (1 - 1e-9)) {
        int below = (int)ceil(most * log(low) / log(low / high));
        double finer = ticks_step(low, 1, below);
        ticks_add_multiples(ticks, low, 1 - finer, finer);
        low = 1;
    }
    ticks_add_multiples(ticks, low, high, step);
    for (size_t i = from; i < ticks->nr; i++) {
        char text[40];
        snprintf(text, sizeof(text), "%s×", ticks->items[i].text);
        free(ticks->items[i].text);
        ticks->items[i].text = memory_string(text);
    }
}

void ticks_names(struct ticks *ticks, const char *const *names, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        ticks_add(ticks, (double)i, names[i], false);
}
