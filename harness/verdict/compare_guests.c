/* SPDX-License-Identifier: MIT */
/* The code of guests is not that of a commit of the harness: what is known of it are the files. */
#include "verdict/compare_parts.h"

#include "base/json.h"
#include "base/strbuf.h"

#include <string.h>

/* Where notes go, of one machine class. */
struct guest_notes {
    struct comparison *c;
    const char *where; /* "", or " on machine class ..." */
};

static bool is_told(const struct comparison *c, const char *sentence)
{
    for (size_t i = 0; i < c->nr_notes; i++)
        if (strcmp(c->notes[i], sentence) == 0)
            return true;
    return false;
}

/* A sentence but for its full stop, which is released. What holds of the first class as well is
 * told once; builds of a plugin may differ by class. */
static void tell_sentence(const struct guest_notes *to, struct strbuf *text)
{
    size_t length = text->length;

    strbuf_adds(text, ".");
    if (!is_told(to->c, text->data))
        comparison_note(to->c, "%.*s%s.", (int)length, text->data, to->where);
    strbuf_release(text);
}

static cJSON *settings_of(const struct run *run)
{
    return run->settings ? cJSON_Parse(run->settings) : NULL;
}

static void note_file(const struct guest_notes *to, const char *what, const char *name,
                      const char *base, const char *head)
{
    struct strbuf text;

    if (!base)
        return; /* the base has nothing of it: its benchmarks are new */
    if (strlen(base) != strlen(head))
        return; /* digests of two kinds: what was measured by another version says nothing here */
    strbuf_init(&text);
    if (strcmp(base, head) == 0)
        strbuf_addf(&text, "%s %s is the same file in base and head (%s)", what, name, head);
    else
        strbuf_addf(&text, "%s %s is another file in the head: %s in the base, now %s", what, name,
                    base, head);
    tell_sentence(to, &text);
}

static void add_words(const cJSON *argv, struct strbuf *out)
{
    const cJSON *word;

    cJSON_ArrayForEach(word, argv)
    {
        strbuf_addf(out, "%s%s", out->length ? " " : "",
                    cJSON_IsString(word) ? word->valuestring : "?");
    }
}

/* Under one name that somebody gave, they are one benchmark all the same. */
static void note_arguments(const struct guest_notes *to, const char *name, const cJSON *base,
                           const cJSON *head)
{
    struct strbuf before, after, text;

    if (!base || cJSON_Compare(base, head, true))
        return;
    strbuf_init(&before);
    strbuf_init(&after);
    add_words(base, &before);
    add_words(head, &after);
    strbuf_init(&text);
    strbuf_addf(
        &text, "Program %s has other arguments in the head: \"%.200s\" in the base, now \"%.200s\"",
        name, before.data, after.data);
    tell_sentence(to, &text);
    strbuf_release(&before);
    strbuf_release(&after);
}

static void note_python(const struct guest_notes *to, const cJSON *before, const cJSON *after)
{
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(before, "files"), *file;
    const char *base = json_string(before, "interpreter", NULL);
    const char *head = json_string(after, "interpreter", NULL);
    struct strbuf text;

    cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(after, "files"))
    {
        if (cJSON_IsString(file))
            note_file(to, "Python file", file->string, json_string(old, file->string, NULL),
                      file->valuestring);
    }
    old = cJSON_GetObjectItemCaseSensitive(before, "functions");
    cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(after, "functions"))
    {
        const char *other = json_string(old, file->string, NULL);
        if (!other || !cJSON_IsString(file) || strcmp(other, file->valuestring) == 0)
            continue;
        strbuf_init(&text);
        strbuf_addf(&text, "%s is the function %s in the base, %s in the head", file->string, other,
                    file->valuestring);
        tell_sentence(to, &text);
    }
    if (!base || !head || strcmp(base, head) == 0)
        return;
    strbuf_init(&text);
    strbuf_addf(&text, "Python is another program in the head: %s in the base, now %s", base, head);
    tell_sentence(to, &text);
}

void compare_guest_notes(struct comparison *c, const struct run *base, const struct run *head,
                         const char *where)
{
    const struct guest_notes to = { c, where };
    cJSON *before = settings_of(base), *after = settings_of(head), *plugin;
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(before, "plugins");
    const cJSON *old_command = cJSON_GetObjectItemCaseSensitive(before, "command");
    const cJSON *command = cJSON_GetObjectItemCaseSensitive(after, "command");
    const char *name = json_string(command, "name", "");

    cJSON_ArrayForEach(plugin, cJSON_GetObjectItemCaseSensitive(after, "plugins"))
    {
        if (cJSON_IsString(plugin))
            note_file(&to, "Plugin", plugin->string, json_string(old, plugin->string, NULL),
                      plugin->valuestring);
    }
    note_python(&to, cJSON_GetObjectItemCaseSensitive(before, "python"),
                cJSON_GetObjectItemCaseSensitive(after, "python"));
    if (command && strcmp(name, json_string(old_command, "name", "")) == 0) {
        if (json_string(command, "digest", NULL))
            note_file(&to, "Program", name, json_string(old_command, "digest", NULL),
                      json_string(command, "digest", NULL));
        note_arguments(&to, name, cJSON_GetObjectItemCaseSensitive(old_command, "argv"),
                       cJSON_GetObjectItemCaseSensitive(command, "argv"));
    }
    cJSON_Delete(before);
    cJSON_Delete(after);
}
