/* SPDX-License-Identifier: MIT */
#include "timeline/event_text.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int event_text_failed(const struct event_text *t, const char *at, const char *reason,
                      struct error *err)
{
    size_t line = 1, column = 1;

    for (const char *p = t->text; p < at && p < t->end; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    return error_set(err, "%s: line %zu, column %zu: %s", t->what, line, column, reason);
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r\n", *at) && *at)
        at++;
    return at;
}

static int refuse_crowded(const struct event_text *t, struct error *err)
{
    char reason[128];

    snprintf(reason, sizeof(reason),
             "more than %zu values in one event, or beside them, which is more than any has",
             JSON_VALUES_MOST);
    return event_text_failed(t, t->at, reason, err);
}

/* The same again of a value with a NaN in it: the text is copied only where it has to be. */
static cJSON *parse_tolerantly(const struct event_text *t, size_t length, const char **end)
{
    char *copy = json_without_no_numbers(t->at, length);
    const char *copy_end = NULL;
    cJSON *json = memcmp(copy, t->at, length) != 0
                      ? cJSON_ParseWithLengthOpts(copy, length, &copy_end, 0)
                      : NULL;

    if (json) /* over the blanks in the place of a NaN that stands alone */
        copy_end = skip_blanks(copy_end, copy + length);
    if (copy_end)
        *end = t->at + (copy_end - copy);
    free(copy);
    return json;
}

/* The value at t->at; *end is behind it. */
static cJSON *parse_value(const struct event_text *t, const char **end, struct error *err)
{
    size_t values, length = json_extent(t->at, (size_t)(t->end - t->at), &values);

    if (values > JSON_VALUES_MOST) {
        refuse_crowded(t, err);
        return NULL;
    }
    cJSON *json = cJSON_ParseWithLengthOpts(t->at, (size_t)(t->end - t->at), end, 0);

    if (!json)
        json = parse_tolerantly(t, length, end);
    if (!json)
        event_text_failed(t, *end ? *end : t->at, "not valid JSON", err);
    return json;
}

/* Hands over the value at t->at and goes behind it. */
static int use_value(struct event_text *t, const char *key, event_fn *use, void *ctx,
                     struct error *err)
{
    const char *end = NULL;

    t->at = skip_blanks(t->at, t->end);
    cJSON *json = parse_value(t, &end, err);
    if (!json)
        return -1;
    int rc = use(ctx, t, key, json, end, err);
    cJSON_Delete(json);
    t->at = skip_blanks(end, t->end);
    return rc;
}

/* t->at is behind '['. `is_open`: its end may be missing. */
static int walk_array(struct event_text *t, bool is_open, event_fn *use, void *ctx,
                      struct error *err)
{
    for (bool more = true; more;) {
        t->at = skip_blanks(t->at, t->end);
        if (t->at == t->end && is_open)
            return 0;
        if (t->at < t->end && *t->at == ']')
            break;
        if (use_value(t, NULL, use, ctx, err))
            return -1;
        more = t->at < t->end && *t->at == ',';
        t->at += more;
    }
    if (t->at == t->end && is_open)
        return 0;
    if (t->at == t->end || *t->at != ']')
        return event_text_failed(t, t->at, "expected , or ] in the list of events", err);
    t->at++;
    return 0;
}

/* t->at is at a member's key. */
static int walk_member(struct event_text *t, event_fn *use, void *ctx, struct error *err)
{
    const char *end = NULL;
    int rc;

    cJSON *key = parse_value(t, &end, err);
    if (!key)
        return -1;
    const char *colon = skip_blanks(end, t->end);
    if (!cJSON_IsString(key) || colon == t->end || *colon != ':') {
        cJSON_Delete(key);
        return event_text_failed(t, t->at, "expected a name and a colon", err);
    }
    t->at = skip_blanks(colon + 1, t->end);
    if (strcmp(key->valuestring, "traceEvents") != 0) {
        rc = use_value(t, key->valuestring, use, ctx, err);
    } else if (t->at < t->end && *t->at == '[') {
        t->at++;
        rc = walk_array(t, false, use, ctx, err);
        t->at = skip_blanks(t->at, t->end);
    } else {
        rc = event_text_failed(t, t->at, "\"traceEvents\" is not a list", err);
    }
    cJSON_Delete(key);
    return rc;
}

/* t->at is behind '{'. */
static int walk_object(struct event_text *t, event_fn *use, void *ctx, struct error *err)
{
    t->at = skip_blanks(t->at, t->end);
    if (t->at < t->end && *t->at == '}') {
        t->at++;
        return 0;
    }
    for (;;) {
        t->at = skip_blanks(t->at, t->end);
        if (walk_member(t, use, ctx, err))
            return -1;
        if (t->at == t->end || (*t->at != ',' && *t->at != '}'))
            return event_text_failed(t, t->at, "expected , or }", err);
        if (*t->at++ == '}')
            return 0;
    }
}

/* Each names its phase. */
size_t event_text_count(const char *text, size_t length)
{
    static const char phase[] = "\"ph\"";
    const char *at = text, *end = text + length;
    size_t nr = 0;

    while ((at = memmem(at, (size_t)(end - at), phase, sizeof(phase) - 1))) {
        at += sizeof(phase) - 1;
        nr++;
    }
    return nr;
}

int event_text_walk(struct event_text *t, event_fn *use, void *ctx, struct error *err)
{
    size_t length = (size_t)(t->end - t->text);
    int rc;

    t->at = t->text + (length >= 3 && !memcmp(t->text, "\xef\xbb\xbf", 3) ? 3 : 0);
    t->at = skip_blanks(t->at, t->end);
    if (t->at == t->end || (*t->at != '{' && *t->at != '['))
        return event_text_failed(t, t->at, "not a trace: neither an object nor a list", err);
    bool is_object = *t->at++ == '{';
    rc = is_object ? walk_object(t, use, ctx, err) : walk_array(t, true, use, ctx, err);
    if (rc)
        return -1;
    t->at = skip_blanks(t->at, t->end);
    if (t->at < t->end && *t->at)
        return event_text_failed(t, t->at, "something follows the end of the trace", err);
    return 0;
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* Exponents beyond this are 0 or too large, whatever the digits. */
enum { EXPONENT_MOST = 10000 };

static int exponent_at(const char *at, const char *end)
{
    int exponent = 0, sign = 1;

    if (at == end || (*at != 'e' && *at != 'E'))
        return 0;
    at++;
    if (at < end && (*at == '+' || *at == '-'))
        sign = *at++ == '-' ? -1 : 1;
    for (; is_digit(at, end); at++)
        exponent = exponent < EXPONENT_MOST ? exponent * 10 + (*at - '0') : exponent;
    return sign * exponent;
}

/* The next digit, over the point; -1: there is none. */
static int next_digit(const char **at, const char *end)
{
    if (*at < end && **at == '.')
        ++*at;
    return is_digit(*at, end) ? *(*at)++ - '0' : -1;
}

bool event_number(const char *text, const char *end, int places, int64_t *value)
{
    const char *at = text + (text < end && *text == '-'), *digits = at, *point = NULL;
    int64_t sum = 0;

    if (!is_digit(at, end))
        return false;
    for (; is_digit(at, end) || (at < end && *at == '.' && !point); at++)
        point = *at == '.' ? at : point;
    /* How many digits stand before the point of the result. */
    long whole = (long)((point ? point : at) - digits) + places + exponent_at(at, end);
    for (; whole > 0; whole--) {
        int digit = next_digit(&digits, at);
        if (digit < 0 && sum == 0)
            break; /* zeros, whatever the exponent */
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, digit < 0 ? 0 : digit, &sum))
            return false;
    }
    if (whole == 0 && next_digit(&digits, at) >= 5 && __builtin_add_overflow(sum, 1, &sum))
        return false;
    *value = *text == '-' ? -sum : sum;
    return true;
}

/* Behind the string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

const char *event_member(const char *text, const char *end, const char *key)
{
    size_t length = strlen(key);
    int depth = 0;

    for (const char *at = text; at < end;) {
        if (*at != '"') {
            depth += *at == '{' || *at == '[';
            depth -= *at == '}' || *at == ']';
            at++;
            continue;
        }
        const char *from = at + 1;
        at = skip_string(at, end);
        const char *colon = skip_blanks(at, end);
        if (depth == 1 && colon < end && *colon == ':' && at - from == (ptrdiff_t)length + 1 &&
            !memcmp(from, key, length))
            return skip_blanks(colon + 1, end);
    }
    return NULL;
}

bool event_id(const cJSON *event, const int64_t *process, char id[EVENT_ID_SIZE])
{
    const cJSON *second = cJSON_GetObjectItemCaseSensitive(event, "id2");
    const cJSON *local = cJSON_GetObjectItemCaseSensitive(second, "local");
    const cJSON *global = cJSON_GetObjectItemCaseSensitive(second, "global");
    const cJSON *first = cJSON_GetObjectItemCaseSensitive(event, "id");
    const cJSON *item = first ? first : global ? global : local;
    char of[32] = "";

    if (!item)
        return false;
    if (item == local && process)
        snprintf(of, sizeof(of), "%" PRId64 ": ", *process);
    if (cJSON_IsNumber(item))
        snprintf(id, EVENT_ID_SIZE, "%s%.17g", of, item->valuedouble);
    else if (cJSON_IsString(item))
        snprintf(id, EVENT_ID_SIZE, "%s%.200s", of, item->valuestring);
    return cJSON_IsNumber(item) || cJSON_IsString(item);
}
