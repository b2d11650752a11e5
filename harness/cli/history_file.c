/* SPDX-License-Identifier: MIT */
#include "cli/history_file.h"

#include "base/file.h"
#include "cli/terminal.h"
#include "measure/environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void history_project_top(struct strbuf *top)
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
    history_project_top(path);
    strbuf_adds(path, "/.harness/history.db");
}

static void tell_wait(const char *path, int seconds)
{
    fprintf(stderr, "harness: waiting for another process that keeps %s locked (%d s at most)\n",
            path, seconds);
}

int history_open(struct store **store, const char *given, enum store_mode mode, struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    history_path(given, &path);
    int rc = store_open(store, path.data, mode, err);
    strbuf_release(&path);
    if (rc == 0) {
        store_tell_waits(*store, tell_wait);
        history_tell(*store);
    }
    return rc;
}

void history_tell(struct store *store)
{
    char *note = store_take_note(store);

    if (note)
        terminal_note("harness: %s\n", note);
    free(note);
}

void history_baseline_file(const char *machine_class, const char *name, struct strbuf *path)
{
    strbuf_clear(path);
    history_project_top(path);
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

void history_baseline_folder(struct strbuf *path)
{
    struct machine machine;

    environment_machine(&machine);
    strbuf_clear(path);
    history_project_top(path);
    strbuf_addf(path, "/baselines/%s", machine.class_name);
}

int history_load_side(struct store *store, const char *ref, const struct store_scope *scope,
                      const struct store_filter *filter, struct history_side *side,
                      struct error *err)
{
    struct strbuf baselines;

    strbuf_init(&baselines);
    history_baseline_folder(&baselines);
    struct history_source source = { store, baselines.data, filter };
    int rc = history_side_load(&source, ref, scope, side, err);
    strbuf_release(&baselines);
    return rc;
}
