/* SPDX-License-Identifier: MIT */
/* The code of guests is not that of a commit of the harness: what is known of it are the files. */
#include "verdict/compare_parts.h"

#include "base/json.h"

#include <string.h>

static cJSON *settings_of(const struct run *run)
{
    return run->settings ? cJSON_Parse(run->settings) : NULL;
}

static void note_file(struct comparison *c, const char *what, const char *name, const char *base,
                      const char *head)
{
    if (!base)
        return; /* the base has nothing of it: its benchmarks are new */
    if (strlen(base) != strlen(head))
        return; /* digests of two kinds: what was measured by another version says nothing here */
    if (strcmp(base, head) == 0)
        comparison_note(c, "%s %s is the same file in base and head (%s).", what, name, head);
    else
        comparison_note(c, "%s %s is another file in the head: %s in the base, now %s.", what, name,
                        base, head);
}

void compare_guest_notes(struct comparison *c, const struct run *base, const struct run *head)
{
    cJSON *before = settings_of(base), *after = settings_of(head), *plugin;
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(before, "plugins");
    const cJSON *old_command = cJSON_GetObjectItemCaseSensitive(before, "command");
    const cJSON *command = cJSON_GetObjectItemCaseSensitive(after, "command");
    const char *name = json_string(command, "name", "");

    cJSON_ArrayForEach(plugin, cJSON_GetObjectItemCaseSensitive(after, "plugins"))
    {
        if (cJSON_IsString(plugin))
            note_file(c, "Plugin", plugin->string, json_string(old, plugin->string, NULL),
                      plugin->valuestring);
    }
    if (strcmp(name, json_string(old_command, "name", "")) == 0 &&
        json_string(command, "digest", NULL))
        note_file(c, "Program", name, json_string(old_command, "digest", NULL),
                  json_string(command, "digest", NULL));
    cJSON_Delete(before);
    cJSON_Delete(after);
}
