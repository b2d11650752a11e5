/* SPDX-License-Identifier: MIT */
#include "base/date.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Exactly `digits` of them; moves on. */
static bool number(const char **at, int digits, int *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (!isdigit((unsigned char)**at))
            return false;
        *value = *value * 10 + (**at - '0');
    }
    return true;
}

static bool sign(const char **at, char c)
{
    bool there = **at == c;

    *at += there;
    return there;
}

/* ".25", as far as ms. */
static int fraction(const char **at)
{
    int ms = 0;

    if (!sign(at, '.'))
        return 0;
    for (int place = 100; isdigit((unsigned char)**at); (*at)++, place /= 10)
        ms += place * (**at - '0');
    return ms;
}

static bool time_of_day(const char **at, struct tm *tm, int *ms)
{
    if (!number(at, 2, &tm->tm_hour) || !sign(at, ':') || !number(at, 2, &tm->tm_min))
        return false;
    if (sign(at, ':')) {
        if (!number(at, 2, &tm->tm_sec))
            return false;
        *ms = fraction(at);
    }
    return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 61;
}

/* "Z", "+02:00", "-0530" or nothing, in minutes. */
static bool offset(const char **at, int *minutes)
{
    int direction = **at == '-' ? -1 : 1, hours, rest;

    *minutes = 0;
    if (**at == '\0' || sign(at, 'Z'))
        return **at == '\0';
    if (!sign(at, '+') && !sign(at, '-'))
        return false;
    if (!number(at, 2, &hours))
        return false;
    sign(at, ':');
    if (!number(at, 2, &rest) || hours > 15 || rest > 59)
        return false;
    *minutes = direction * (hours * 60 + rest);
    return **at == '\0';
}

int date_parse(const char *text, const char *what, int64_t *ms, struct error *err)
{
    struct tm tm = { 0 };
    const char *at = text;
    int year, thousandth = 0, minutes = 0;
    bool valid = number(&at, 4, &year) && sign(&at, '-') && number(&at, 2, &tm.tm_mon) &&
                 sign(&at, '-') && number(&at, 2, &tm.tm_mday);

    if (valid && (sign(&at, 'T') || sign(&at, ' ')))
        valid = time_of_day(&at, &tm, &thousandth) && offset(&at, &minutes);
    tm.tm_year = year - 1900;
    tm.tm_mon--;
    struct tm date = tm;
    time_t seconds = valid ? timegm(&date) : 0;
    /* timegm() makes 3 March of 31 February. */
    if (!valid || *at || date.tm_mday != tm.tm_mday || date.tm_mon != tm.tm_mon)
        return error_set(err, "%s: \"%.60s\" is no date such as 2026-01-31 or 2026-01-31T12:30:00Z",
                         what, text);
    *ms = ((int64_t)seconds - minutes * 60) * 1000 + thousandth;
    return 0;
}
