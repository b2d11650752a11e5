/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/clean.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/utf8.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void find_line_and_column(const char *text, const char *at, int *line, int *column)
{
    *line = *column = 1;
    for (; text < at && *text; text++) {
        *column = *text == '\n' ? 1 : *column + 1;
        *line += *text == '\n';
    }
}

static void *json_allocate(size_t size)
{
    return memory_resize(NULL, size, 1);
}

void json_begin(void)
{
    cJSON_InitHooks(&(cJSON_Hooks) { .malloc_fn = json_allocate, .free_fn = free });
}

/* Length of a number that JSON does not have, as C++ and Python print it; 0: there is none here. */
static size_t no_number_length(const char *at, const char *end)
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

char *json_without_no_numbers(const char *text, size_t length)
{
    char *copy = memory_resize(NULL, length + 1, 1), *end = copy + length;
    bool quoted = false;

    memcpy(copy, text, length);
    *end = '\0';
    for (char *p = copy; p < end; p++) {
        if (quoted && *p == '\\') {
            p++;
        } else if (*p == '"') {
            quoted = !quoted;
        } else if (!quoted && strchr("Nn-Ii", *p) && *p) {
            size_t nr = no_number_length(p, end);
            if (!nr)
                continue;
            memset(p, ' ', nr);
            p[0] = p[1] = '"';
            p += nr - 1;
        }
    }
    return copy;
}

/* Behind each separator outside of strings there is a value. */
size_t json_extent(const char *text, size_t length, size_t *values)
{
    size_t depth = 0, i = 0;
    bool string = false;

    *values = 1;
    for (; i < length; i++) {
        char c = text[i];
        if (c == '"') {
            string = !string;
            if (!string && depth == 0)
                return i + 1;
        } else if (string) {
            i += c == '\\';
        } else if (c == '[' || c == '{') {
            depth++;
            ++*values;
        } else if (c == ']' || c == '}') {
            if (depth <= 1)
                return i + depth;
            depth--;
        } else if (c == ',') {
            if (depth == 0)
                return i;
            ++*values;
        }
    }
    return length;
}

cJSON *json_parse(const char *text, size_t length, const char *what, struct error *err)
{
    const char *end = NULL;
    size_t values;

    json_extent(text, length, &values); /* what follows is refused, and no value of the tree */
    if (values > JSON_VALUES_MOST) {
        error_set(err, "%s: more than %zu values, which is more than one JSON file may have", what,
                  JSON_VALUES_MOST);
        return NULL;
    }
    cJSON *json = cJSON_ParseWithLengthOpts(text, length, &end, 0);

    if (json) {
        while (end < text + length && strchr(" \t\r\n", *end) && *end)
            end++;
        if (end == text + length || *end == '\0')
            return json;
        cJSON_Delete(json);
    }
    int line = 1, column = 1;
    if (end)
        find_line_and_column(text, end, &line, &column);
    error_set(err, "%s: not valid JSON at line %d, column %d", what, line, column);
    return NULL;
}

cJSON *json_parse_file(const char *path, size_t most, struct error *err)
{
    size_t length;
    char *text = file_read(path, most, &length, err);

    if (!text)
        return NULL;
    cJSON *json = json_parse(text, length, path, err);
    free(text);
    return json;
}

/* Outside of strings, JSON is ASCII. */
static void add_escaped(struct strbuf *out, uint32_t code)
{
    if (code > 0xffff) {
        code -= 0x10000;
        strbuf_addf(out, "\\u%04x", (unsigned)(0xd800 + (code >> 10)));
        code = 0xdc00 + (code & 0x3ff);
    }
    strbuf_addf(out, "\\u%04x", (unsigned)code);
}

/* What needs no look: printable ASCII and the line ends between members. */
static size_t plain_length(const char *s)
{
    size_t length = 0;

    while ((s[length] >= ' ' && s[length] < 0x7f && s[length] != '#') || s[length] == '\n' ||
           s[length] == '\t')
        length++;
    return length;
}

static void add_code(struct strbuf *out, const char **s)
{
    uint32_t code = 0;
    size_t length = utf8_decode(*s, &code);

    if (strncmp(*s, "##", 2) == 0) /* a log of a CI system would take "##[" for a command */
        add_escaped(out, code);
    else if (clean_is_shown(code))
        strbuf_add(out, *s, length);
    else
        add_escaped(out, code);
    *s += length;
}

int json_text(const cJSON *json, bool pretty, struct strbuf *out, struct error *err)
{
    char *printed = pretty ? cJSON_Print(json) : cJSON_PrintUnformatted(json);

    if (!printed)
        return error_set(err, "too large for JSON: it would be more than 2 GiB");
    utf8_mend(printed);
    for (const char *s = printed; *s;) {
        size_t plain = plain_length(s);
        strbuf_add(out, s, plain);
        s += plain;
        if (*s)
            add_code(out, &s);
    }
    cJSON_free(printed);
    return 0;
}

int json_write_file(const cJSON *json, const char *path, bool pretty, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    int rc = json_text(json, pretty, &text, err);
    strbuf_addc(&text, '\n');
    rc = rc ? error_prefix(err, "%s", path) : file_write(path, text.data, text.length, err);
    strbuf_release(&text);
    return rc;
}

char *json_take_text(cJSON *json)
{
    struct strbuf text;
    struct error ignored;

    strbuf_init(&text);
    json_text(json, false, &text, &ignored);
    cJSON_Delete(json);
    return strbuf_detach(&text);
}

/* Appends a JSON text as json_text() makes it, valid and without line separators. What would end
 * the element around it can only stand inside of its strings. */
static void add_for_script(struct strbuf *out, const char *json)
{
    for (const char *at; (at = strchr(json, '<')); json = at + 1) {
        strbuf_add(out, json, (size_t)(at - json));
        strbuf_adds(out, "\\u003c");
    }
    strbuf_adds(out, json);
}

void json_take_script(cJSON *json, struct strbuf *out)
{
    char *text = json_take_text(json);

    add_for_script(out, *text ? text : "null");
    cJSON_free(text);
}

int json_get_string(const cJSON *object, const char *key, const char **value, struct error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsString(item))
        return error_set(err, "\"%s\" is missing or not a string", key);
    *value = item->valuestring;
    return 0;
}

int json_get_number(const cJSON *object, const char *key, double *value, struct error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsNumber(item))
        return error_set(err, "\"%s\" is missing or not a number", key);
    *value = item->valuedouble;
    return 0;
}

static bool json_is_whole(double number)
{
    return fabs(number) <= 0x1p53 && number == floor(number);
}

int json_get_int(const cJSON *object, const char *key, int64_t *value, struct error *err)
{
    double number;

    if (json_get_number(object, key, &number, err))
        return -1;
    if (!json_is_whole(number))
        return error_set(err, "\"%s\" is not a whole number", key);
    *value = (int64_t)number;
    return 0;
}

const char *json_string(const cJSON *object, const char *key, const char *otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsString(item) ? item->valuestring : otherwise;
}

double json_number(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

int64_t json_int(const cJSON *object, const char *key, int64_t otherwise)
{
    double number = json_number(object, key, NAN);

    return json_is_whole(number) ? (int64_t)number : otherwise;
}

int json_count(const cJSON *object, const char *key)
{
    int64_t value = json_int(object, key, 0);

    return value >= 0 && value <= INT_MAX ? (int)value : 0;
}

bool json_bool(const cJSON *object, const char *key, bool otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsBool(item) ? cJSON_IsTrue(item) : otherwise;
}

/* cJSON's own printing may lose the last bit. */
char *json_number_text(double value, char text[JSON_NUMBER_SIZE])
{
    if (!isfinite(value)) {
        snprintf(text, JSON_NUMBER_SIZE, "null");
        return text;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, JSON_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

void json_add_number(cJSON *object, const char *key, double value)
{
    char text[JSON_NUMBER_SIZE];

    cJSON_AddRawToObject(object, key, json_number_text(value, text));
}

void json_add_string(cJSON *object, const char *key, const char *value)
{
    if (value && *value)
        cJSON_AddStringToObject(object, key, value);
}

void json_add_strings(cJSON *object, const char *key, char *const *values, size_t nr)
{
    cJSON *array = cJSON_AddArrayToObject(object, key);

    for (size_t i = 0; i < nr; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(values[i]));
}

void json_add_int(cJSON *object, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)value);
    cJSON_AddRawToObject(object, key, text);
}

int json_only_keys(const cJSON *object, const char *const *keys, const char *what,
                   struct error *err)
{
    if (!cJSON_IsObject(object))
        return error_set(err, "%s: not a JSON object", what);
    for (const cJSON *item = object->child; item; item = item->next) {
        const char *const *key = keys;
        while (*key && strcmp(*key, item->string) != 0)
            key++;
        if (!*key) {
            const char *nearest = text_nearest(item->string, keys);
            return error_set(err, "%s: unknown key \"%s\"%s%s%s", what, item->string,
                             nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                             nearest ? "\"?" : "");
        }
    }
    return 0;
}
