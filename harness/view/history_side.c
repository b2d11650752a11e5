/* SPDX-License-Identifier: MIT */
#include "view/history_side.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);

    return length > end && strcmp(text + length - end, ending) == 0;
}

bool history_is_path(const char *ref)
{
    return ref[0] == '/' || strncmp(ref, "./", 2) == 0 || strncmp(ref, "../", 3) == 0 ||
           strcmp(ref, ".") == 0 || strcmp(ref, "..") == 0 || ends_with(ref, ".json") ||
           ends_with(ref, "/");
}

int records_read_file(const char *path, struct records *out, struct error *err)
{
    struct records read = { 0 };
    cJSON *json = json_parse_file(path, FILE_RECORDS_MOST, err);

    if (!json)
        return -1;
    int rc = records_from_json(json, &read, err);
    cJSON_Delete(json);
    if (rc)
        error_prefix(err, "%s", path);
    else
        records_absorb(out, &read, NULL);
    records_release(&read);
    return rc;
}

static int find_run(const struct records *records, const struct run *run)
{
    for (size_t i = 0; run->uuid[0] && i < records->nr_runs; i++)
        if (strcmp(records->runs[i].uuid, run->uuid) == 0)
            return (int)i;
    return -1;
}

static int64_t newest_ms(const struct records *records)
{
    int64_t newest = INT64_MIN;

    for (size_t i = 0; i < records->nr_runs; i++)
        if (records->runs[i].started_ms > newest)
            newest = records->runs[i].started_ms;
    return newest;
}

static void swap_ceilings(struct records *a, struct records *b)
{
    struct records kept = *a;

    a->ceilings = b->ceilings;
    a->nr_ceilings = b->nr_ceilings;
    a->ceilings_capacity = b->ceilings_capacity;
    b->ceilings = kept.ceilings;
    b->nr_ceilings = kept.nr_ceilings;
    b->ceilings_capacity = kept.ceilings_capacity;
}

/* Moves the runs; places[i] is -1 - index for one that was there already. */
static void absorb_runs(struct records *to, struct records *from, int *places)
{
    for (size_t i = 0; i < from->nr_runs; i++) {
        int there = find_run(to, &from->runs[i]);
        places[i] = there >= 0 ? -1 - there : (int)to->nr_runs;
        if (there >= 0)
            continue;
        *records_add_run(to) = from->runs[i];
        from->runs[i] = (struct run) { 0 };
    }
}

void records_absorb(struct records *to, struct records *from, int *places)
{
    int *moved = memory_zeroed(from->nr_runs + 1, sizeof(*moved));

    if (newest_ms(from) > newest_ms(to))
        swap_ceilings(to, from);
    absorb_runs(to, from, moved);
    for (size_t i = 0; i < from->nr; i++) {
        struct record *r = &from->items[i];
        if (moved[r->run] < 0)
            continue;
        records_add(to, moved[r->run], r->launch_seq)->m = r->m;
        r->m = (struct measurement) { .outcome = OUTCOME_OK };
    }
    for (size_t i = 0; places && i < from->nr_runs; i++)
        places[i] = moved[i] < 0 ? -1 - moved[i] : moved[i];
    free(moved);
    records_release(from);
}

static int load_path(const char *path, struct history_side *side, struct error *err)
{
    bool folder = is_folder(path);

    snprintf(side->what, sizeof(side->what), "%s %.200s", folder ? "folder" : "file", path);
    return folder ? records_read_folder(path, &side->records, &side->notes, err)
                  : records_read_file(path, &side->records, err);
}

/* The history's own baseline of that name? */
static bool is_baseline(struct store *store, const char *name, const struct store_scope *scope)
{
    struct store_runs runs;
    struct strbuf ref;
    struct error ignored;

    if (!store)
        return false;
    strbuf_init(&ref);
    strbuf_addf(&ref, "baseline:%s", name);
    bool found = store_resolve(store, ref.data, scope, &runs, &ignored) == 0;
    store_runs_release(&runs);
    strbuf_release(&ref);
    return found;
}

/* A reviewed baseline of this machine class; true if there is one that counts. A baseline of the
 * same name in the history goes before it, a branch of that name does not. */
static bool baseline_file_for(const struct history_source *source, const char *ref,
                              const struct store_scope *scope, struct strbuf *path)
{
    static const char rule[] = "baseline:";
    const char *name = strncmp(ref, rule, strlen(rule)) == 0 ? ref + strlen(rule) : ref;

    if (!source->baselines || strpbrk(name, "/:"))
        return false;
    strbuf_addf(path, "%s/%s.json", source->baselines, name);
    return file_exists(path->data) && !is_baseline(source->store, name, scope);
}

static int load_stored(const struct history_source *source, const char *ref,
                       const struct store_scope *scope, struct history_side *side,
                       struct error *err)
{
    int rc = store_resolve(source->store, ref, scope, &side->runs, err);

    side->nothing = side->runs.elsewhere;
    if (rc && side->runs.nothing && !side->runs.elsewhere && is_folder(ref)) {
        rc = load_path(ref, side, err);
    } else if (rc == 0) {
        snprintf(side->what, sizeof(side->what), "%s", side->runs.what);
        rc = store_load(source->store, side->runs.ids, side->runs.nr, source->filter,
                        &side->records, err);
    }
    return rc;
}

int history_side_load(const struct history_source *source, const char *ref,
                      const struct store_scope *scope, struct history_side *side, struct error *err)
{
    struct strbuf path;
    int rc;

    *side = (struct history_side) { 0 };
    if (history_is_path(ref))
        return load_path(ref, side, err);
    strbuf_init(&path);
    if (baseline_file_for(source, ref, scope, &path))
        rc = load_path(path.data, side, err);
    else if (source->store)
        rc = load_stored(source, ref, scope, side, err);
    else if (file_exists(ref))
        rc = load_path(ref, side, err);
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
    store_runs_release(&side->runs);
    string_list_release(&side->notes);
}
