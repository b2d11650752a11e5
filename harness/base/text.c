/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIST_MAX = 10000 };

int text_parse_int(const char *text, int64_t low, int64_t high, const char *what, int64_t *value,
                   struct error *err)
{
    char *end;

    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno == EINVAL)
        return error_set(err, "%s: \"%s\" is not a whole number", what, text);
    if (errno == ERANGE || number < low || number > high)
        return error_set(err, "%s: %s is out of range (%lld to %lld)", what, text, (long long)low,
                         (long long)high);
    *value = number;
    return 0;
}

int text_parse_double(const char *text, double low, double high, const char *what, double *value,
                      struct error *err)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || *end)
        return error_set(err, "%s: \"%s\" is not a number", what, text);
    if (!(number >= low && number <= high))
        return error_set(err, "%s: %s is out of range (%g to %g)", what, text, low, high);
    *value = number;
    return 0;
}

static int add_int(int64_t value, const char *what, struct int_list *list, struct error *err)
{
    if (list->nr >= LIST_MAX)
        return error_set(err, "%s: more than %d values", what, LIST_MAX);
    *array_push(list) = value;
    return 0;
}

/* "low:high:*factor" or "low:high:+step" */
static int parse_range(char *item, int64_t low, int64_t high, const char *what,
                       struct int_list *list, struct error *err)
{
    char *second = strchr(item, ':'), *third = second ? strchr(second + 1, ':') : NULL;
    int64_t first, last, by;

    if (!third || (third[1] != '*' && third[1] != '+'))
        return error_set(err, "%s: \"%s\" is not a range like 32:512:*2 or 64:256:+64", what, item);
    *second = *third = '\0';
    bool times = third[1] == '*';
    if (text_parse_int(item, low, high, what, &first, err) ||
        text_parse_int(second + 1, low, high, what, &last, err) ||
        text_parse_int(third + 2, times ? 2 : 1, high, what, &by, err))
        return -1;
    if (last < first || (times && first < 1))
        return error_set(err, "%s: the range %s:%s:%s is empty or does not end", what, item,
                         second + 1, third + 1);
    for (int64_t x = first; x <= last; x = times ? x * by : x + by) {
        if (add_int(x, what, list, err))
            return -1;
        if (x > (times ? INT64_MAX / by : INT64_MAX - by))
            break;
    }
    return 0;
}

int text_parse_ints(const char *text, int64_t low, int64_t high, const char *what,
                    struct int_list *list, struct error *err)
{
    char *copy = memory_string(text), *rest = copy, *item;
    int rc = 0;

    while (rc == 0 && (item = strsep(&rest, ","))) {
        int64_t value;
        if (strchr(item, ':'))
            rc = parse_range(item, low, high, what, list, err);
        else if ((rc = text_parse_int(item, low, high, what, &value, err)) == 0)
            rc = add_int(value, what, list, err);
    }
    free(copy);
    return rc;
}

int text_parse_duration(const char *text, const char *what, double *seconds, struct error *err)
{
    static const struct {
        const char *suffix;
        double factor;
    } units[] = { { "", 1 },   { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 },
                  { "m", 60 }, { "h", 3600 },  { "d", 86400 } };
    char *end;
    double number = strtod(text, &end);

    for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].suffix) == 0 && number >= 0 && number * units[i].factor < 1e9) {
            *seconds = number * units[i].factor;
            return 0;
        }
    }
    return error_set(err, "%s: \"%s\" is not a duration like 250ms, 90s, 2m or 1h", what, text);
}

/* Of what stands behind the number; 0 where it is no unit. */
static double size_factor(const char *unit)
{
    static const char letters[] = "KMGT";
    const char *letter = *unit ? strchr(letters, toupper((unsigned char)*unit)) : NULL;

    if (*unit == '\0' || strcmp(unit, "B") == 0)
        return 1;
    if (!letter)
        return 0;
    double power = (double)(letter - letters + 1);
    if (unit[1] == '\0' || strcmp(unit + 1, "iB") == 0)
        return exp2(10 * power);
    return strcmp(unit + 1, "B") == 0 ? pow(1000, power) : 0;
}

int text_parse_size(const char *text, int64_t low, const char *what, int64_t *bytes,
                    struct error *err)
{
    char *end, least[TEXT_UNIT_SIZE];
    double number = strtod(text, &end), factor = size_factor(end);

    if (end == text || factor == 0 || !(number >= 0 && number * factor < 0x1p62))
        return error_set(err, "%s: \"%s\" is not a size like 500M or 2GiB", what, text);
    if (number * factor < (double)low)
        return error_set(err, "%s: %s is less than %s", what, text, text_bytes((double)low, least));
    *bytes = (int64_t)(number * factor);
    return 0;
}

int text_parse_fraction(const char *text, const char *what, double *fraction, struct error *err)
{
    char *end;
    double number = strtod(text, &end);
    bool percent = end != text && strcmp(end, "%") == 0;

    if (percent)
        number /= 100;
    if (end == text || (*end && !percent) || !(number >= 0 && number < 10))
        return error_set(err, "%s: \"%s\" is not a share like 3%% or 0.03", what, text);
    if (!percent && number >= 1) /* "5" is as likely to mean 5 % as 500 % */
        return error_set(err, "%s: \"%s\" has no unit: write %s%%, or a share below 1 such as 0.05",
                         what, text, text);
    *fraction = number;
    return 0;
}

/* Levenshtein distance, cut off at 63 characters a side. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[64], nr = strnlen(b, 63);

    for (size_t j = 0; j <= nr; j++)
        row[j] = j;
    for (size_t i = 0; i < 63 && a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < nr; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            best = best < row[j] + 1 ? best : row[j] + 1;
            row[j + 1] = best < diagonal + 1 ? best : diagonal + 1;
        }
    }
    return row[nr];
}

const char *text_nearest(const char *word, const char *const *names)
{
    size_t best = 1 + strlen(word) / 2;
    const char *nearest = NULL;

    size_t edits = 0; /* of several that contain the word, the one that is hardly longer */
    for (; *names; names++) {
        size_t all = edit_distance(word, *names), d = strstr(*names, word) && *word ? 1 : all;
        if (d < best || (d == best && d == 1 && all < edits)) {
            best = d;
            edits = all;
            nearest = *names;
        }
    }
    return nearest;
}

void text_slug(const char *text, char *out, size_t size)
{
    size_t used = 0;

    for (; *text && used + 1 < size; text++) {
        if (isalnum((unsigned char)*text))
            out[used++] = (char)tolower((unsigned char)*text);
        else if (used > 0 && out[used - 1] != '-')
            out[used++] = '-';
    }
    while (used > 0 && out[used - 1] == '-')
        used--;
    out[used] = '\0';
}

bool text_lists(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; length && (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

bool text_filter_matches(const char *filter, const char *key)
{
    struct strbuf prefix;
    /* A whole key is itself, whatever is in it: "test_sort[8-quick]". */
    bool matches = strcmp(filter, key) == 0 || fnmatch(filter, key, 0) == 0;

    if (matches)
        return true;
    strbuf_init(&prefix);
    strbuf_addf(&prefix, "%s/*", filter);
    matches = fnmatch(prefix.data, key, 0) == 0;
    strbuf_release(&prefix);
    return matches;
}

bool text_filters_take(const char *const *filters, size_t nr, const char *key)
{
    return text_filters_take_by(filters, nr, key, text_filter_matches);
}

bool text_filters_take_by(const char *const *filters, size_t nr, const char *key,
                          bool (*fits)(const char *filter, const char *key))
{
    bool taken = true;

    for (size_t i = 0; i < nr; i++)
        if (filters[i][0] != '!')
            taken = false; /* one of those must match */
    for (size_t i = 0; i < nr; i++) {
        bool leaves_out = filters[i][0] == '!';
        if (fits(filters[i] + leaves_out, key))
            taken = !leaves_out;
    }
    return taken;
}

static char *scaled_text(double value, double step, const char *const *units, size_t nr,
                         char *buffer)
{
    /* 999.95 would print as 1000, and 1023.5, without decimals, as 1024: go to the next unit
     * where rounding would reach it. */
    double most = step > 1000 ? step - 0.5 : step - 0.05;
    size_t unit = 0;

    if (!isfinite(value))
        return snprintf(buffer, TEXT_UNIT_SIZE, "n/a"), buffer;
    while (unit + 1 < nr && fabs(value) >= most) {
        value /= step;
        unit++;
    }
    int decimals = fabs(value) >= 999.95   ? 0
                   : fabs(value) >= 99.995 ? 1
                   : fabs(value) >= 9.9995 ? 2
                                           : 3;
    snprintf(buffer, TEXT_UNIT_SIZE, "%.*f %s", decimals, value, units[unit]);
    return buffer;
}

char *text_time(double ns, char buffer[TEXT_UNIT_SIZE])
{
    static const char *const units[] = { "ns", "us", "ms", "s" };

    return scaled_text(ns, 1000, units, 4, buffer);
}

char *text_bytes(double bytes, char buffer[TEXT_UNIT_SIZE])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };

    return scaled_text(bytes, 1024, units, 6, buffer);
}

char *text_rate(double per_second, const char *unit, char buffer[TEXT_UNIT_SIZE])
{
    static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
    char number[TEXT_UNIT_SIZE];

    scaled_text(per_second, 1000, prefixes, 6, number);
    if (!isfinite(per_second))
        unit = "";
    snprintf(buffer, TEXT_UNIT_SIZE, "%.12s%.16s", number, unit);
    return buffer;
}

/* The number alone. What is beyond a million percent has no room for its digits. */
static int percent_number(double fraction, const char *plus, char buffer[TEXT_UNIT_SIZE])
{
    double percent = fraction * 100, size = fabs(percent);
    const char *sign = percent < 0 ? "-" : plus;

    if (!isfinite(fraction))
        return snprintf(buffer, TEXT_UNIT_SIZE, "n/a");
    if (size < 0.05)
        return snprintf(buffer, TEXT_UNIT_SIZE, "%s0.0", plus);
    if (size < 999999.5)
        return snprintf(buffer, TEXT_UNIT_SIZE, "%s%.*f", sign, size < 99.95, size);
    return snprintf(buffer, TEXT_UNIT_SIZE, "%s%.2g", sign, size);
}

static char *percent_text(double fraction, const char *plus, char buffer[TEXT_UNIT_SIZE])
{
    char number[TEXT_UNIT_SIZE];

    percent_number(fraction, plus, number);
    snprintf(buffer, TEXT_UNIT_SIZE, isfinite(fraction) ? "%.16s %%" : "%.16s", number);
    return buffer;
}

char *text_share(double fraction, char buffer[TEXT_UNIT_SIZE])
{
    return percent_text(fraction, "", buffer);
}

/* From here on nobody sees in a percentage how many times it is. */
static bool percent_is_times(double fraction)
{
    return isfinite(fraction) && fraction >= 99;
}

/* "1,897x", "0.98x" of a change: how many times as much it is afterwards. */
static int times_text(double fraction, char buffer[TEXT_UNIT_SIZE])
{
    double times = 1 + fraction;
    long whole = times < 1e6 ? lrint(times) : 0;

    if (!isfinite(times))
        return snprintf(buffer, TEXT_UNIT_SIZE, "n/a");
    if (times < 999.5)
        return snprintf(buffer, TEXT_UNIT_SIZE, "%.*fx", times < 9.995 ? 2 : times < 99.95, times);
    if (times < 999999.5)
        return snprintf(buffer, TEXT_UNIT_SIZE, "%ld,%03ldx", whole / 1000, whole % 1000);
    return snprintf(buffer, TEXT_UNIT_SIZE, "%.2gx", times);
}

char *text_percent(double fraction, char buffer[TEXT_UNIT_SIZE])
{
    if (!percent_is_times(fraction))
        return percent_text(fraction, "+", buffer);
    times_text(fraction, buffer);
    return buffer;
}

char *text_percent_size(double fraction, char buffer[TEXT_UNIT_SIZE])
{
    if (!percent_is_times(fraction))
        return text_share(fabs(fraction), buffer);
    times_text(fraction, buffer);
    return buffer;
}

char *text_percent_range(double low, double high, char buffer[TEXT_UNIT_SIZE])
{
    bool times = percent_is_times(low) || percent_is_times(high);
    char from[TEXT_UNIT_SIZE], to[TEXT_UNIT_SIZE];

    if (times) {
        times_text(low, from);
        times_text(high, to);
    } else {
        percent_number(low, "+", from);
        percent_number(high, "+", to);
    }
    snprintf(buffer, TEXT_UNIT_SIZE, "%.12s to %.12s%s", from, to, times ? "" : " %");
    return buffer;
}

char *text_figures(double value, int figures, char buffer[TEXT_UNIT_SIZE])
{
    char rounded[TEXT_UNIT_SIZE];
    double number;

    snprintf(rounded, sizeof(rounded), "%.*e", figures - 1, value);
    number = strtod(rounded, NULL);
    if (fabs(number) >= pow(10, figures) && fabs(number) < 1e15)
        snprintf(buffer, TEXT_UNIT_SIZE, "%.0f", number);
    else
        snprintf(buffer, TEXT_UNIT_SIZE, "%.*g", figures, value);
    return buffer;
}

char *text_about(double fraction, int figures, char buffer[TEXT_UNIT_SIZE])
{
    char number[TEXT_UNIT_SIZE];

    text_figures(fraction * 100, figures, number);
    snprintf(buffer, TEXT_UNIT_SIZE, "%.24s %%", number);
    return buffer;
}

/* ---- dates ---- */

/* Exactly `digits` of them; moves on. */
static bool date_number(const char **at, int digits, int *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (!isdigit((unsigned char)**at))
            return false;
        *value = *value * 10 + (**at - '0');
    }
    return true;
}

static bool date_sign(const char **at, char c)
{
    bool there = **at == c;

    *at += there;
    return there;
}

/* ".25", as far as ms. */
static int date_fraction(const char **at)
{
    int ms = 0;

    if (!date_sign(at, '.'))
        return 0;
    for (int place = 100; isdigit((unsigned char)**at); (*at)++, place /= 10)
        ms += place * (**at - '0');
    return ms;
}

static bool date_time_of_day(const char **at, struct tm *tm, int *ms)
{
    if (!date_number(at, 2, &tm->tm_hour) || !date_sign(at, ':') ||
        !date_number(at, 2, &tm->tm_min))
        return false;
    if (date_sign(at, ':')) {
        if (!date_number(at, 2, &tm->tm_sec))
            return false;
        *ms = date_fraction(at);
    }
    return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 61;
}

/* "Z", "+02:00", "-0530" or nothing, in minutes. */
static bool date_offset(const char **at, int *minutes)
{
    int direction = **at == '-' ? -1 : 1, hours, rest;

    *minutes = 0;
    if (**at == '\0' || date_sign(at, 'Z'))
        return **at == '\0';
    if (!date_sign(at, '+') && !date_sign(at, '-'))
        return false;
    if (!date_number(at, 2, &hours))
        return false;
    date_sign(at, ':');
    if (!date_number(at, 2, &rest) || hours > 15 || rest > 59)
        return false;
    *minutes = direction * (hours * 60 + rest);
    return **at == '\0';
}

int text_parse_date(const char *text, const char *what, int64_t *ms, struct error *err)
{
    struct tm tm = { 0 };
    const char *at = text;
    int year, thousandth = 0, minutes = 0;
    bool valid = date_number(&at, 4, &year) && date_sign(&at, '-') &&
                 date_number(&at, 2, &tm.tm_mon) && date_sign(&at, '-') &&
                 date_number(&at, 2, &tm.tm_mday);

    if (valid && (date_sign(&at, 'T') || date_sign(&at, ' ')))
        valid = date_time_of_day(&at, &tm, &thousandth) && date_offset(&at, &minutes);
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

char *text_timestamp(int64_t ms, char buffer[TEXT_UNIT_SIZE])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    strftime(buffer, TEXT_UNIT_SIZE, "%Y-%m-%d %H:%M:%SZ", &tm);
    return buffer;
}
