/* SPDX-License-Identifier: MIT */
/* What the importers read JSON with. */
#include "base/date.h"
#include "output/import_parts.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of a number that JSON does not have, as C++ and Python print it; 0: there is none here. */
static size_t no_number(const char *at, const char *end)
{
    static const char *const words[] = { "NaN", "nan", "Infinity", "inf" };
    size_t sign = at < end && *at == '-';

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - at) >= sign + length && memcmp(at + sign, words[i], length) == 0)
            return sign + length;
    }
    return 0;
}

/* Puts "" and blanks in their place, which are as long, so that lines and columns stay. */
static void hide_no_numbers(char *text, size_t length)
{
    char *end = text + length;
    bool quoted = false;

    for (char *p = text; p < end; p++) {
        if (quoted && *p == '\\') {
            p++;
        } else if (*p == '"') {
            quoted = !quoted;
        } else if (!quoted && strchr("Nn-Ii", *p) && *p) {
            size_t nr = no_number(p, end);
            if (!nr)
                continue;
            memset(p, ' ', nr);
            p[0] = p[1] = '"';
            p += nr - 1;
        }
    }
}

int import_read(struct import_build *b, const char *text, size_t length, struct error *err)
{
    char *copy = memory_resize(NULL, length + 1, 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    hide_no_numbers(copy, length);
    json_source_release(&b->source);
    int rc = json_source_parse(&b->source, copy, length, b->what, err);
    free(copy);
    return rc;
}

int import_refuse(struct import_build *b, const cJSON *at, const char *format, ...)
{
    char message[sizeof(b->err->message)];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return error_set(b->err, "%s:%d:%d: %.800s", b->what, json_source_line(&b->source, at),
                     json_source_column(&b->source, at), message);
}

bool import_value(const cJSON *item, double *value)
{
    char *end;

    if (cJSON_IsNumber(item)) {
        *value = item->valuedouble;
        return isfinite(*value);
    }
    if (!cJSON_IsString(item) || !strchr("-0123456789.", item->valuestring[0]) ||
        !item->valuestring[0])
        return false;
    *value = strtod(item->valuestring, &end);
    return *end == '\0' && isfinite(*value);
}

int import_number(struct import_build *b, const cJSON *object, const char *key, double low,
                  double *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!item)
        return import_refuse(b, object, "\"%s\" is missing", key);
    if (!import_value(item, value))
        return import_refuse(b, item, "\"%s\" is not a finite number", key);
    if (*value < low)
        return import_refuse(b, item, "\"%s\" is %g, less than %g", key, *value, low);
    return 0;
}

double import_optional(const cJSON *object, const char *key)
{
    double value;

    return import_value(cJSON_GetObjectItemCaseSensitive(object, key), &value) ? value : NAN;
}

int import_text(struct import_build *b, const cJSON *object, const char *key, const char **value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!item)
        return import_refuse(b, object, "\"%s\" is missing", key);
    if (!cJSON_IsString(item) || !item->valuestring[0])
        return import_refuse(b, item, "\"%s\" is no text, or an empty one", key);
    *value = item->valuestring;
    return 0;
}

int import_date(struct import_build *b, const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    struct error why;
    int64_t ms;

    if (!item || cJSON_IsNull(item))
        return 0;
    if (!cJSON_IsString(item) || date_parse(item->valuestring, key, &ms, &why))
        return import_refuse(b, item, "\"%s\" is no date such as 2026-01-31T12:30:00Z", key);
    if (ms <= 0)
        return import_refuse(b, item, "\"%s\" is before 1970", key);
    b->run->started_ms = ms;
    return 0;
}

void import_fact(struct import_build *b, const char *key, const char *text)
{
    char copy[256];

    if (!text || !*text)
        return;
    import_copy(copy, sizeof(copy), text);
    json_add_string(b->facts, key, copy);
}

void import_note(struct import_build *b, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    string_list_add(&b->out->notes, text);
}
