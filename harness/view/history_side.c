/* SPDX-License-Identifier: MIT */
#include "view/history_side.h"

#include "base/file.h"
#include "core/names.h"
#include "query/ref.h"
#include "view/records_files.h"

#include <stdio.h>
#include <string.h>

bool history_is_path(const char *ref)
{
    return ref[0] == '/' || strncmp(ref, "./", 2) == 0 || strncmp(ref, "../", 3) == 0 ||
           strcmp(ref, ".") == 0 || strcmp(ref, "..") == 0 || name_has_ending(ref, ".json") ||
           name_has_ending(ref, "/");
}

static int history_load_path(const char *path, struct history_side *side, struct error *err)
{
    bool folder = file_is_folder(path);

    snprintf(side->what, sizeof(side->what), "%s %.200s", folder ? "folder" : "file", path);
    return folder ? records_read_folder(path, &side->records, &side->notes, err)
                  : records_read_file(path, &side->records, err);
}

/* The history's own baseline of that name? */
static bool history_has_baseline(struct store *store, const char *name,
                                 const struct ref_scope *scope)
{
    struct ref_runs runs;
    struct strbuf ref;
    struct error ignored;

    if (!store)
        return false;
    strbuf_init(&ref);
    strbuf_addf(&ref, "baseline:%s", name);
    bool found = ref_resolve(store, ref.data, scope, &runs, &ignored) == 0;
    ref_runs_release(&runs);
    strbuf_release(&ref);
    return found;
}

/* A reviewed baseline of this machine class; true if there is one that counts. A baseline of the
 * same name in the history goes before it, a branch of that name does not. What no baseline can be
 * called, such as "latest", means a run, whatever files lie there. */
static bool history_baseline_file(const struct history_source *source, const char *ref,
                                  const struct ref_scope *scope, struct strbuf *path)
{
    static const char rule[] = "baseline:";
    const char *name = strncmp(ref, rule, strlen(rule)) == 0 ? ref + strlen(rule) : ref;
    struct error ignored;

    if (!source->baselines || name_check_baseline_file(name, STORE_NAME_SIZE, &ignored))
        return false;
    strbuf_addf(path, "%s/%s.json", source->baselines, name);
    return file_exists(path->data) && !history_has_baseline(source->store, name, scope);
}

static int history_load_stored(const struct history_source *source, const char *ref,
                               const struct ref_scope *scope, struct history_side *side,
                               struct error *err)
{
    int rc = ref_resolve(source->store, ref, scope, &side->runs, err);

    side->nothing = side->runs.elsewhere;
    if (rc && side->runs.nothing && !side->runs.elsewhere && file_is_folder(ref)) {
        rc = history_load_path(ref, side, err);
    } else if (rc == 0) {
        snprintf(side->what, sizeof(side->what), "%s", side->runs.what);
        rc = store_load(source->store, side->runs.ids, side->runs.nr, source->filter,
                        &side->records, err);
    }
    return rc;
}

int history_side_load(const struct history_source *source, const char *ref,
                      const struct ref_scope *scope, struct history_side *side, struct error *err)
{
    struct strbuf path;
    int rc;

    *side = (struct history_side) { 0 };
    if (history_is_path(ref))
        return history_load_path(ref, side, err);
    strbuf_init(&path);
    if (history_baseline_file(source, ref, scope, &path))
        rc = history_load_path(path.data, side, err);
    else if (source->store)
        rc = history_load_stored(source, ref, scope, side, err);
    else if (file_exists(ref))
        rc = history_load_path(ref, side, err);
    else
        rc = error_set(err,
                       "there is no history in which to look for \"%.100s\", and no file or "
                       "folder of that name",
                       ref);
    strbuf_release(&path);
    return rc;
}

void history_side_release(struct history_side *side)
{
    records_release(&side->records);
    ref_runs_release(&side->runs);
    string_list_release(&side->notes);
}
