/* SPDX-License-Identifier: MIT */
#include "cli/profile_output.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/terminal.h"

/* No name leads out of the folder, and none needs quotes. */
static void add_name(struct strbuf *path, const char *name)
{
    for (const char *p = name; *p; p++)
        strbuf_addc(path, *p == '/' || *p == ' ' ? '-' : *p);
}

int profile_folder(const struct profile_output *o, const char *what, struct strbuf *path,
                   struct error *err)
{
    strbuf_adds(path, o->folder ? o->folder : "profile-");
    if (!o->folder)
        add_name(path, what);
    return file_make_directory(path->data, err);
}

int profile_subfolder(const char *name, struct strbuf *path, struct error *err)
{
    strbuf_addc(path, '/');
    add_name(path, name);
    return file_make_directory(path->data, err);
}

int profile_show(const struct profile_output *o, const struct profile_view *view,
                 const char *folder, struct cJSON *list, struct error *err)
{
    struct strbuf text;

    if (profile_write(view, folder, o->top, err))
        return -1;
    if (o->json) {
        cJSON *json = profile_to_json(view, o->top, err);
        if (!json)
            return -1;
        cJSON_AddStringToObject(json, "folder", folder);
        cJSON_AddItemToArray(list, json);
        return 0;
    }
    strbuf_init(&text);
    if (profile_print(view, o->top, &text, err)) {
        strbuf_release(&text);
        return -1;
    }
    strbuf_addf(&text,
                "\nin %s: profile.json; trace.json for ui.perfetto.dev and speedscope.app; "
                "stacks.folded for flame graphs\n",
                folder);
    return profile_say(&text, err);
}

int profile_say(struct strbuf *text, struct error *err)
{
    int rc = output_text(text, NULL, err);

    strbuf_release(text);
    return rc;
}
