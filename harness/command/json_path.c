/* SPDX-License-Identifier: MIT */
#include "command/json_path.h"

#include "base/json.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- where it begins ---- */

static const char blanks[] = " \t\r\n";

/* Is there a bracket, with what JSON has behind it? */
static bool json_opens(const char *at)
{
    const char *next = at + 1;

    if (*at != '{' && *at != '[')
        return false;
    next += strspn(next, blanks);
    return *next && strchr(*at == '{' ? "\"}" : "{[]\"-0123456789tfn", *next);
}

/* The next line from `at` on that may begin a document; the text's length: there is none. */
static size_t json_next(const struct strbuf *text, size_t at)
{
    for (; at < text->length; at++)
        if ((at == 0 || text->data[at - 1] == '\n') && json_opens(text->data + at))
            return at;
    return text->length;
}

cJSON *json_path_parse(const struct strbuf *text, struct error *err)
{
    enum { LOOKS = 16 };
    size_t first = json_next(text, 0), looked = 0, values;
    struct error ignored;

    for (size_t at = first; at < text->length && looked <= LOOKS * text->length;
         at = json_next(text, at + 1)) {
        const char *begin = text->data + at;
        size_t rest = text->length - at, extent = json_extent(begin, rest, &values);
        looked += extent;
        if (extent + strspn(begin + extent, blanks) < rest)
            continue;
        cJSON *json = json_parse(begin, rest, "what it printed", &ignored);
        if (json)
            return json;
    }
    first = first < text->length ? first : 0;
    return json_parse(text->data + first, text->length - first, "what it printed", err);
}

/* ---- a place in it ---- */

enum { PATH_LENGTH_MAX = 256, PATH_NAMES_SHOWN = 8 };

/* One step of the way. */
struct step {
    char name[PATH_LENGTH_MAX + 1];
    bool item; /* [N] */
    int index;
};

/* ".name": up to the next mark. */
static bool step_member(const char **at, struct step *s)
{
    size_t length = strcspn(++*at, ".[");

    memcpy(s->name, *at, length);
    s->name[length] = '\0';
    *at += length;
    return length > 0;
}

static bool step_quoted(const char **at, struct step *s)
{
    char quote = (*at)[1];
    const char *begin = *at + 2, *end = strchr(begin, quote);

    if (!end || end[1] != ']')
        return false;
    memcpy(s->name, begin, (size_t)(end - begin));
    s->name[end - begin] = '\0';
    *at = end + 2;
    return true;
}

static bool step_item(const char **at, struct step *s)
{
    char *end;
    long index = strtol(*at + 1, &end, 10);

    if (end == *at + 1 || *end != ']' || index > INT_MAX || index < -INT_MAX)
        return false;
    s->item = true;
    s->index = (int)index;
    *at = end + 1;
    return true;
}

static bool step_next(const char **at, struct step *s)
{
    s->item = false;
    if (**at == '.')
        return step_member(at, s);
    if (**at == '[' && ((*at)[1] == '\'' || (*at)[1] == '"'))
        return step_quoted(at, s);
    return **at == '[' && step_item(at, s);
}

int json_path_check(const char *path, struct error *err)
{
    const char *at = path + 1, *from;
    struct step s;

    if (*path != '$' || strlen(path) > PATH_LENGTH_MAX)
        return error_set(err, "a path begins with \"$\" and has at most %d characters",
                         PATH_LENGTH_MAX);
    while (*(from = at))
        if (!step_next(&at, &s))
            return error_set(
                err,
                "column %d of the path: after \"$\" come .NAME, ['NAME'], [N], or [-N] "
                "from the end",
                (int)(from - path) + 1);
    return 0;
}

static void add_member_names(const cJSON *object, struct strbuf *out)
{
    int nr = 0;

    for (const cJSON *item = object->child; item && nr < PATH_NAMES_SHOWN; item = item->next, nr++)
        strbuf_addf(out, "%s%.40s", nr ? ", " : "; there are ", item->string);
    if (nr == PATH_NAMES_SHOWN)
        strbuf_adds(out, ", ...");
}

static int path_lost(const cJSON *json, const char *path, const char *at, struct error *err)
{
    struct strbuf what;

    strbuf_init(&what);
    if (cJSON_IsObject(json))
        add_member_names(json, &what);
    else if (cJSON_IsArray(json))
        strbuf_addf(&what, "; the list has %d items", cJSON_GetArraySize(json));
    error_set(err, "there is no %.*s%s", (int)(at - path), path, what.data);
    strbuf_release(&what);
    return -1;
}

static const cJSON *path_take(const cJSON *json, const struct step *s)
{
    if (!s->item)
        return cJSON_IsObject(json) ? cJSON_GetObjectItemCaseSensitive(json, s->name) : NULL;
    int nr = cJSON_IsArray(json) ? cJSON_GetArraySize(json) : 0;
    int index = s->index < 0 ? nr + s->index : s->index;
    return index >= 0 && index < nr ? cJSON_GetArrayItem(json, index) : NULL;
}

const cJSON *json_path_find(const cJSON *json, const char *path, struct error *err)
{
    const char *at = path + 1;
    struct step s;

    while (*at && step_next(&at, &s)) {
        const cJSON *next = path_take(json, &s);
        if (!next) {
            path_lost(json, path, at, err);
            return NULL;
        }
        json = next;
    }
    return json;
}
