/* SPDX-License-Identifier: MIT */
#include "command/json_printed.h"

#include "base/json.h"

#include <stdbool.h>
#include <string.h>

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

cJSON *json_printed(const struct strbuf *text, struct error *err)
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
