/* SPDX-License-Identifier: MIT */
#include "cli/history_file.h"

#include "base/file.h"
#include "base/json.h"
#include "measure/environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The nearest folder upwards that holds .harness or .git; "." if there is none. */
static void project_top(struct strbuf *top)
{
    static const char *const marks[] = { "/.harness", "/.git" };
    char cwd[PATH_MAX];
    struct strbuf probe;

    strbuf_adds(top, ".");
    if (!getcwd(cwd, sizeof(cwd)))
        return;
    strbuf_init(&probe);
    for (char *end = cwd + strlen(cwd); end; end = strrchr(cwd, '/')) {
        *end = '\0';
        for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
            strbuf_clear(&probe);
            strbuf_addf(&probe, "%s%s", cwd, marks[i]);
            if (file_exists(probe.data)) {
                strbuf_clear(top);
                strbuf_adds(top, *cwd ? cwd : "/");
                goto out;
            }
        }
    }
out:
    strbuf_release(&probe);
}

void history_path(const char *given, struct strbuf *path)
{
    const char *variable = getenv("HARNESS_DB");

    strbuf_clear(path);
    if (given || (variable && *variable)) {
        strbuf_adds(path, given ? given : variable);
        return;
    }
    project_top(path);
    strbuf_adds(path, "/.harness/history.db");
}

int history_open(struct store **store, const char *given, enum store_mode mode, struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    history_path(given, &path);
    int rc = store_open(store, path.data, mode, err);
    strbuf_release(&path);
    return rc;
}

void history_baseline_file(const char *machine_class, const char *name, struct strbuf *path)
{
    strbuf_clear(path);
    project_top(path);
    strbuf_addf(path, "/baselines/%s/%s.json", machine_class, name);
}

void history_sibling(const char *history, const char *name, struct strbuf *path)
{
    const char *slash = strrchr(history, '/');

    strbuf_clear(path);
    if (slash)
        strbuf_add(path, history, (size_t)(slash - history + 1));
    strbuf_adds(path, name);
}

static int load_file(const char *path, struct history_side *side, struct error *err)
{
    cJSON *json = json_parse_file(path, err);

    if (!json)
        return -1;
    int rc = records_from_json(json, &side->records, err);
    cJSON_Delete(json);
    snprintf(side->what, sizeof(side->what), "file %.200s", path);
    return rc ? error_prefix(err, "%s", path) : 0;
}

static bool is_file_name(const char *ref)
{
    size_t length = strlen(ref);

    return (length > 5 && strcmp(ref + length - 5, ".json") == 0) || ref[0] == '/' ||
           strncmp(ref, "./", 2) == 0 || strncmp(ref, "../", 3) == 0;
}

/* The history's own baseline of that name? */
static bool is_baseline(struct store *store, const char *name, const struct store_scope *scope)
{
    struct store_runs runs;
    struct strbuf ref;
    struct error ignored;

    strbuf_init(&ref);
    strbuf_addf(&ref, "baseline:%s", name);
    bool found = store_resolve(store, ref.data, scope, &runs, &ignored) == 0;
    store_runs_release(&runs);
    strbuf_release(&ref);
    return found;
}

/* A reviewed baseline of this machine class; true if there is one that counts. A baseline of the
 * same name in the history goes before it, a branch of that name does not. */
static bool baseline_file_for(struct store *store, const char *ref, const struct store_scope *scope,
                              struct strbuf *path)
{
    static const char rule[] = "baseline:";
    const char *name = strncmp(ref, rule, strlen(rule)) == 0 ? ref + strlen(rule) : ref;
    struct machine machine;

    if (strpbrk(name, "/:"))
        return false;
    environment_machine(&machine);
    history_baseline_file(machine.class_name, name, path);
    return file_exists(path->data) && !is_baseline(store, name, scope);
}

int history_load_side(struct store *store, const char *ref, const struct store_scope *scope,
                      const struct store_filter *filter, struct history_side *side,
                      struct error *err)
{
    struct strbuf path;
    int rc;

    *side = (struct history_side) { 0 };
    if (is_file_name(ref))
        return load_file(ref, side, err);
    strbuf_init(&path);
    if (baseline_file_for(store, ref, scope, &path)) {
        rc = load_file(path.data, side, err);
        goto out;
    }
    rc = store_resolve(store, ref, scope, &side->runs, err);
    side->nothing = side->runs.elsewhere;
    if (rc == 0) {
        snprintf(side->what, sizeof(side->what), "%s", side->runs.what);
        rc = store_load(store, side->runs.ids, side->runs.nr, filter, &side->records, err);
    }
out:
    strbuf_release(&path);
    return rc;
}

void history_side_release(struct history_side *side)
{
    records_release(&side->records);
    store_runs_release(&side->runs);
}
