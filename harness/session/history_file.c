/* SPDX-License-Identifier: MIT */
#include "session/history_file.h"

#include "base/file.h"
#include "base/memory.h"
#include "machine/environment.h"
#include "metrics/run_rows.h"
#include "query/ref.h"
#include "session/measure/measuring.h"

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

const char *history_builds(const char *given, struct strbuf *path)
{
    struct strbuf history;

    strbuf_init(&history);
    history_path(given, &history);
    history_sibling(history.data, "builds", path);
    strbuf_release(&history);
    return path->data;
}

int history_baseline_folder(struct strbuf *path, struct error *err)
{
    struct machine machine;

    strbuf_clear(path);
    if (environment_machine(&machine, err))
        return -1;
    history_project_top(path);
    strbuf_addf(path, "/baselines/%s", machine.class_name);
    return 0;
}

int history_load_side(struct store *store, const char *ref, const struct ref_scope *scope,
                      const struct store_filter *filter, struct history_side *side,
                      struct error *err)
{
    struct strbuf baselines;

    *side = (struct history_side) { 0 };
    strbuf_init(&baselines);
    int rc = history_baseline_folder(&baselines, err);
    struct history_source source = { store, baselines.data, filter };
    if (rc == 0)
        rc = history_side_load(&source, ref, scope, side, err);
    strbuf_release(&baselines);
    return rc;
}

int history_load_baseline_here(struct store *store, const char *name, struct history_side *side,
                               struct error *err)
{
    struct store_filter facts = { .without_samples = true, .without_telemetry = true };
    struct machine machine;
    const char *here = machine.class_name;
    const struct ref_scope scope = { .classes = &here, .nr_classes = 1 };
    struct strbuf ref;

    *side = (struct history_side) { 0 };
    if (environment_machine(&machine, err))
        return -1;
    strbuf_init(&ref);
    strbuf_addf(&ref, "baseline:%s", name);
    int rc = history_load_side(store, ref.data, &scope, &facts, side, err);
    side->nothing = rc && side->runs.nothing;
    strbuf_release(&ref);
    return rc;
}

/* ---- what is told of it ---- */

static void note_place(void *sink, const char *text)
{
    sink_note(sink, "harness: %s\n", text);
}

struct store_teller history_teller(const struct session_sink *sink)
{
    return (struct store_teller) { sink ? note_place : NULL, (void *)sink };
}

void history_note_left_out(const struct string_list *files, const struct session_sink *sink)
{
    for (size_t i = 0; i < files->nr; i++)
        sink_note(sink, "harness: left out: %s\n", files->items[i]);
}

/* ---- series ---- */

int64_t history_first_start(const struct records *runs, const char *class_name)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < runs->nr_runs; i++)
        if (run_is_on(&runs->runs[i], class_name) && runs->runs[i].started_ms < first)
            first = runs->runs[i].started_ms;
    return first;
}

void history_keep_runs(struct records *runs, const bool *keep)
{
    size_t nr = 0;

    for (size_t i = 0; i < runs->nr_runs; i++) {
        if (keep[i])
            runs->runs[nr++] = runs->runs[i];
        else
            run_release(&runs->runs[i]);
    }
    runs->nr_runs = nr;
}

static int add_series_measurement(void *context, size_t run, int launch_seq, struct measurement *m,
                                  struct error *err)
{
    (void)err;
    series_builder_add(context, run, launch_seq, m);
    return 0;
}

int history_series(struct store *store, const struct records *runs, const struct metric *metric,
                   const struct store_filter *filter, struct series_list *out, struct error *err)
{
    struct series_builder *builder = series_builder_create(metric, runs);
    struct store_sink sink = { builder, add_series_measurement };
    int64_t *ids = memory_zeroed(runs->nr_runs + 1, sizeof(*ids));

    for (size_t i = 0; i < runs->nr_runs; i++)
        ids[i] = runs->runs[i].id;
    int rc = store_scan(store, ids, runs->nr_runs, filter, &sink, err);
    if (rc == 0)
        series_builder_finish(builder, out);
    series_builder_free(builder);
    free(ids);
    return rc;
}

void history_meet_metrics(const char *given)
{
    struct store *store = NULL;
    struct strbuf path;
    struct error ignored;

    strbuf_init(&path);
    history_path(given, &path);
    if (store_is_database(path.data) && store_open(&store, path.data, STORE_LOOK, &ignored) == 0)
        store_close(store);
    strbuf_release(&path);
}
