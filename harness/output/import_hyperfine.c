/* SPDX-License-Identifier: MIT */
/* hyperfine's --export-json. */
#include "output/import_parts.h"

#include <stdlib.h>
#include <string.h>

static const double ns = 1e9; /* in a second, hyperfine's unit */

static bool is_word_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.';
}

/* The place of a whole word that is there just once, else NULL. */
static const char *only_place(const char *text, const char *word)
{
    const char *found = NULL;
    size_t length = strlen(word);

    for (const char *p = strstr(text, word); *word && p; p = strstr(p + 1, word)) {
        bool whole = (p == text || !is_word_character(p[-1])) && !is_word_character(p[length]);
        if (whole && found)
            return NULL;
        if (whole)
            found = p;
    }
    return found;
}

/* "sort -n 8" with n = 8 becomes "sort -n {n}", so that all values are of one name. */
static void generalise(struct import_name *name, const char *parameter, const char *value)
{
    const char *place = only_place(name->text.data, value);
    struct strbuf text;

    if (!place)
        return;
    strbuf_init(&text);
    strbuf_add(&text, name->text.data, (size_t)(place - name->text.data));
    strbuf_addf(&text, "{%s}%s", parameter, place + strlen(value));
    strbuf_release(&name->text);
    name->text = text;
}

static void read_parameters(struct import_name *name, const cJSON *parameters)
{
    const cJSON *item;
    int64_t value;

    cJSON_ArrayForEach(item, parameters)
    {
        if (cJSON_IsString(item) && import_whole(item->valuestring, &value) &&
            import_name_dim(name, item->string, value))
            generalise(name, item->string, item->valuestring);
    }
}

/* Statuses other than 0, and ends by a signal, which are null. */
static int count_failures(const cJSON *codes)
{
    const cJSON *item;
    int nr = 0;

    cJSON_ArrayForEach(item, codes)
    {
        nr += !cJSON_IsNumber(item) || item->valuedouble != 0;
    }
    return nr;
}

static int read_times(struct import_build *b, const cJSON *result, struct import_case *c)
{
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(result, "times"), *item;
    double value;

    if (times && !cJSON_IsArray(times))
        return import_refuse(b, times, "\"times\" is no list");
    cJSON_ArrayForEach(item, times)
    {
        if (!import_value(item, &value))
            return import_refuse(b, item, "\"times\" holds something that is no finite number");
        if (import_time(b, c, item, value * ns, 1))
            return -1;
    }
    if (cJSON_GetArraySize(times) > 0)
        return 0;
    const char *key = cJSON_HasObjectItem(result, "median") ? "median" : "mean";
    b->statistic = "the median or mean of the runs";
    return import_number(b, result, key, 0, &value) ||
                   import_statistic(b, c, cJSON_GetObjectItemCaseSensitive(result, key), value * ns)
               ? -1
               : 0;
}

static int read_result(struct import_build *b, const cJSON *result)
{
    const char *command;
    struct import_name name;

    if (import_text(b, result, "command", &command))
        return -1;
    import_name_init(&name, command);
    read_parameters(&name, cJSON_GetObjectItemCaseSensitive(result, "parameters"));
    struct import_case *c = import_case(b, &name, 0);
    import_name_release(&name);
    if (c->times.nr)
        import_note(b, "\"%.80s\" is there more than once: its runs are put together",
                    c->m.bench.key);
    int failures = count_failures(cJSON_GetObjectItemCaseSensitive(result, "exit_codes"));
    if (failures)
        import_note(b, "\"%.80s\": %d of its runs failed, and their times count all the same",
                    c->m.bench.key, failures);
    import_beside(c, "user_seconds", import_optional(result, "user"));
    import_beside(c, "system_seconds", import_optional(result, "system"));
    return read_times(b, result, c);
}

int import_hyperfine(struct import_build *b)
{
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(b->source.root, "results"), *item;

    b->clock = "hyperfine";
    if (!cJSON_IsArray(results))
        return import_refuse(b, b->source.root, "\"results\" is missing or no list");
    cJSON_ArrayForEach(item, results)
    {
        if (!cJSON_IsObject(item))
            return import_refuse(b, item, "a result is no object");
        if (read_result(b, item))
            return -1;
    }
    return 0;
}
