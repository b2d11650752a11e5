/* SPDX-License-Identifier: MIT */
/* hyperfine's --export-json. */
#include "importers/import_base.h"

#include <stdlib.h>
#include <string.h>

static const double ns = 1e9; /* in a second, hyperfine's unit */

static bool hyperfine_is_word_character(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.';
}

/* The place of a whole word that is there just once, else NULL. */
static const char *hyperfine_only_place(const char *text, const char *word)
{
    const char *found = NULL;
    size_t length = strlen(word);

    for (const char *p = strstr(text, word); *word && p; p = strstr(p + 1, word)) {
        bool whole = (p == text || !hyperfine_is_word_character(p[-1])) &&
                     !hyperfine_is_word_character(p[length]);
        if (whole && found)
            return NULL;
        if (whole)
            found = p;
    }
    return found;
}

/* "sort -n 8" with n = 8 becomes "sort -n {n}", so that all values are of one name. */
static void hyperfine_generalise(struct import_name *name, const char *parameter, const char *value)
{
    const char *place = hyperfine_only_place(name->text.data, value);
    struct strbuf text;

    if (!place)
        return;
    strbuf_init(&text);
    strbuf_add(&text, name->text.data, (size_t)(place - name->text.data));
    strbuf_addf(&text, "{%s}%s", parameter, place + strlen(value));
    strbuf_release(&name->text);
    name->text = text;
}

static void hyperfine_read_parameters(struct import_name *name, const cJSON *parameters)
{
    const cJSON *item;
    int64_t value;

    cJSON_ArrayForEach(item, parameters)
    {
        if (cJSON_IsString(item) && import_whole(item->valuestring, &value) &&
            import_name_dim(name, item->string, value))
            hyperfine_generalise(name, item->string, item->valuestring);
    }
}

/* Statuses other than 0, and ends by a signal, which are null. */
static int hyperfine_count_failures(const cJSON *codes)
{
    const cJSON *item;
    int nr = 0;

    cJSON_ArrayForEach(item, codes)
    {
        nr += !cJSON_IsNumber(item) || item->valuedouble != 0;
    }
    return nr;
}

static int hyperfine_read_times(struct import_build *b, const cJSON *result, struct import_case *c)
{
    const cJSON *times = import_member(result, "times"), *item;
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
    return import_statistic_of(b, c, result, key, ns);
}

static int hyperfine_read_result(void *context, const cJSON *result)
{
    struct import_build *b = context;
    const char *command;
    struct import_name name;

    if (import_text(b, result, "command", &command))
        return -1;
    import_name_init(&name, command);
    hyperfine_read_parameters(&name, import_member(result, "parameters"));
    struct import_case *c = import_case(b, &name);
    import_note_again(b, c, "runs");
    int failures = hyperfine_count_failures(import_member(result, "exit_codes"));
    if (failures)
        import_note(b, "\"%.80s\": %d of its runs failed, and their times count all the same",
                    c->m.bench.key, failures);
    import_beside(c, "user_seconds", import_optional(result, "user"));
    import_beside(c, "system_seconds", import_optional(result, "system"));
    return hyperfine_read_times(b, result, c);
}

static bool hyperfine_fits(const cJSON *root)
{
    return import_member(import_first(root, "results"), "command") != NULL;
}

static int hyperfine_parse(struct import_build *b)
{
    const cJSON *results;

    b->clock = "hyperfine";
    return import_list(b, b->source.root, "results", &results) ||
                   import_each(b, results, "a result", hyperfine_read_result, b)
               ? -1
               : 0;
}

const struct import_format_row import_hyperfine = {
    .name = "hyperfine", .title = "hyperfine", .fits = hyperfine_fits, .parse = hyperfine_parse
};
