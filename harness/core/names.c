/* SPDX-License-Identifier: MIT */
#include "core/names.h"

#include "base/clean.h"
#include "base/text.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

bool fact_is_count(int64_t value)
{
    return value >= 0 && value <= FACT_COUNT_MAX;
}

bool fact_is_date(int64_t ms)
{
    return ms >= FACT_DATE_MIN && ms <= FACT_DATE_MAX;
}

bool fact_is_amount(double value)
{
    return isnan(value) || (value >= 0 && value <= FACT_AMOUNT_MAX);
}

bool fact_is_finite(double value)
{
    return fabs(value) <= FACT_AMOUNT_MAX; /* NaN is not */
}

int name_find(const char *const *names, size_t nr, const char *name)
{
    for (size_t i = 0; i < nr; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

bool name_has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);

    return length > end && strcmp(name + length - end, ending) == 0;
}

bool name_filter_fits_any(const char *filter, const char *(*key)(const void *of, size_t i),
                          const void *of, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        if (text_filter_matches(filter + (*filter == '!'), key(of, i)))
            return true;
    return false;
}

bool name_is_line(const char *text)
{
    while (*text) {
        uint32_t code;
        size_t length = utf8_decode(text, &code);
        if (length == 0 || !clean_is_shown(code))
            return false;
        text += length;
    }
    return true;
}

bool name_mend(char *text)
{
    char *to = text;
    bool mended = false;

    while (*text) {
        uint32_t code;
        size_t length = utf8_decode(text, &code);
        bool shown = length > 0 && clean_is_shown(code);
        length = length ? length : 1;
        if (shown)
            memmove(to, text, length);
        else
            *to = '?';
        to += shown ? length : 1;
        mended |= !shown;
        text += length;
    }
    *to = '\0';
    return mended;
}

static bool has_only_plain(const char *name)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "._/+-";

    return name[strspn(name, plain)] == '\0';
}

int name_check_baseline(const char *name, size_t size, struct error *err)
{
    size_t length = strlen(name);

    if (length == 0 || length >= size)
        return error_set(err, "a baseline's name has 1 to %zu characters", size - 1);
    if (!has_only_plain(name))
        return error_set(err, "\"%s\" cannot name a baseline: use letters, digits and ._/+-", name);
    if (name[0] == '-')
        return error_set(err, "\"%s\" cannot name a baseline: it begins like an option", name);
    if (strcmp(name, "latest") == 0 || strspn(name, "0123456789") == length)
        return error_set(
            err, "\"%s\" cannot name a baseline: as a REF it means a run; add a letter", name);
    return 0;
}

int name_check_baseline_file(const char *name, size_t size, struct error *err)
{
    static const char ending[] = ".json";
    size_t end = strlen(ending), whole = strlen(name);

    if (name_check_baseline(name, size, err))
        return -1;
    if (whole >= end && strcmp(name + whole - end, ending) == 0)
        return error_set(err,
                         "\"%s\" cannot name a baseline's file: as a REF it means that file; leave "
                         "%s out",
                         name, ending);
    for (const char *part = name;; part++) {
        size_t length = strcspn(part, "/");
        if (length <= 2 && strspn(part, ".") >= length)
            return error_set(err,
                             "\"%s\" cannot name a baseline's file: what stands between its / must "
                             "not be empty, \".\" or \"..\"",
                             name);
        part += length;
        if (!*part)
            return 0;
    }
}
