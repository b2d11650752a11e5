/* SPDX-License-Identifier: MIT */
#include "session/series_file.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int series_from_json(const char *text, size_t length, const char *what,
                            struct series_values *out, struct error *err)
{
    cJSON *json = json_parse(text, length, what, err);
    const cJSON *value;
    int rc = json ? 0 : -1;

    if (!json)
        return -1;
    const cJSON *array = cJSON_IsObject(json) ? cJSON_GetObjectItem(json, "values") : json;
    if (!cJSON_IsArray(array))
        rc = error_set(err, "%s: an object needs an array \"values\"", what);
    cJSON_ArrayForEach(value, array)
    {
        if (rc)
            break;
        if (cJSON_IsNumber(value) && isfinite(value->valuedouble))
            *(double *)array_push(out) = value->valuedouble;
        else
            rc = error_set(err, "%s: element %zu (from 0) is not a finite number", what, out->nr);
    }
    cJSON_Delete(json);
    return rc;
}

/* The last column of [line, end), without quotes; its length in *length. */
static const char *last_number_column(const char *line, const char *end, size_t *length)
{
    static const char around[] = " \t\r\"'";
    const char *start;

    while (end > line && strchr(around, end[-1]))
        end--;
    for (start = end; start > line && !strchr(",; \t\"'", start[-1]); start--)
        ;
    *length = (size_t)(end - start);
    return start;
}

static bool read_series_number(const char *text, size_t length, double *value)
{
    char copy[64], *end;

    if (length == 0 || length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *value = strtod(copy, &end);
    return *end == '\0';
}

static int series_from_lines(const char *text, const char *stop, const char *what,
                             struct series_values *out, struct error *err)
{
    bool header = false;
    size_t number = 1;

    for (const char *line = text, *end; line < stop; line = end + 1, number++) {
        const char *newline = memchr(line, '\n', (size_t)(stop - line));
        size_t length;
        double value;
        end = newline ? newline : stop;
        const char *column = last_number_column(line, end, &length);
        if (*line == '#' || (length == 0 && column == line))
            continue;
        if (!read_series_number(column, length, &value)) {
            if (out->nr > 0 || header)
                return error_set(err, "%s: line %zu: \"%.*s\" is not a number", what, number,
                                 (int)(length < 60 ? length : 60), column);
            header = true;
            continue;
        }
        if (!isfinite(value))
            return error_set(err, "%s: line %zu: %.*s is not a finite number", what, number,
                             (int)length, column);
        *(double *)array_push(out) = value;
    }
    return 0;
}

int series_parse(const char *text, size_t length, const char *what, struct series_values *out,
                 struct error *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* what some programs begin UTF-8 with */
    const char *stop = text + length;

    *out = (struct series_values)ARRAY_EMPTY;
    if (length >= 3 && memcmp(text, mark, 3) == 0)
        text += 3;
    while (text < stop && strchr(" \t\r", *text) && *text)
        text++;
    if (text < stop && (*text == '[' || *text == '{'))
        return series_from_json(text, (size_t)(stop - text), what, out, err);
    if (memchr(text, '\0', (size_t)(stop - text)))
        return error_set(err, "%s: this is no text", what);
    return series_from_lines(text, stop, what, out, err);
}

int series_read(const char *path, struct series_values *out, struct error *err)
{
    bool input = strcmp(path, "-") == 0;
    size_t length;
    char *text = file_read(input ? "/dev/stdin" : path, FILE_RECORDS_MOST, &length, err);

    *out = (struct series_values)ARRAY_EMPTY;
    if (!text)
        return -1;
    int rc = series_parse(text, length, input ? "standard input" : path, out, err);
    free(text);
    return rc;
}
