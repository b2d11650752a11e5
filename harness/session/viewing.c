/* SPDX-License-Identifier: MIT */
/* What --profile names. */
#include "session/viewing.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "chart/base/profile_file.h"
#include "machine/environment.h"
#include "models/gpt_config.h"
#include "query/ref.h"
#include "session/acceptance.h"
#include "session/history_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Commas part one profile from the next, and stand in the names of our own folders: as many items
 * as make a path that exists, or the one item where none do. Returns how many that were. */
static size_t next_path(char *const *items, size_t nr, struct strbuf *path)
{
    strbuf_clear(path);
    for (size_t i = 0; i < nr; i++) {
        strbuf_addf(path, "%s%s", i > 0 ? "," : "", items[i]);
        if (file_exists(path->data))
            return i + 1;
    }
    strbuf_clear(path);
    strbuf_adds(path, items[0]);
    return 1;
}

static int read_profiles(struct viewing *v, const struct viewing_options *o, size_t *nr,
                         struct error *err)
{
    struct strbuf path;
    int rc = 0;

    strbuf_init(&path);
    for (size_t i = 0; rc == 0 && i < o->profiles.nr; ++*nr) {
        i += next_path(o->profiles.items + i, o->profiles.nr - i, &path);
        rc = *nr < 2 ? profile_file_read(path.data, &v->profiles[*nr], err)
                     : error_set(err, "one profile, or two to compare");
        if (rc == 0 && v->profiles[*nr].note)
            sink_note(v->sink, "harness: %s\n", v->profiles[*nr].note);
    }
    strbuf_release(&path);
    return rc;
}

int viewing_profiles(struct viewing *v, const struct viewing_options *o, struct error *err)
{
    size_t nr = 0;

    if (read_profiles(v, o, &nr, err))
        return error_prefix(err, "--profile");
    if (nr > 1 && (!v->profiles[0].trace.nr_slices || !v->profiles[1].trace.nr_slices))
        return error_set(err,
                         "--profile: two are compared by their traces, and %.200s has none (is "
                         "trace.json still beside its profile.json?)",
                         v->profiles[v->profiles[0].trace.nr_slices > 0].name);
    v->request.profile = nr ? &v->profiles[nr - 1] : NULL;
    v->request.profile_base = nr > 1 ? &v->profiles[0] : NULL;
    return 0;
}

/* ---- what is viewed ---- */

static void name_model_kernels(struct plot_model *model)
{
    const struct registry *r = registry_builtin();
    const struct kernel *k;
    int nr = 0;

    for (size_t i = 0; nr < PLOT_MODEL_KERNELS && (k = registry_kernel_at(r, i)); i++)
        if (k->model && strcmp(k->model, model->name) == 0)
            model->kernels[nr++] = k->name;
}

static void add_model_facts(struct viewing *v)
{
    size_t nr = 0;

    for (const struct gpt_config *c = gpt_configs; c->name && nr < VIEWING_MODELS; c++) {
        v->models[nr] = (struct plot_model) {
            .name = c->name,
            .layers = c->layers,
            .heads = c->heads,
            .width = c->width,
            .block = c->block,
            .parameters = (double)gpt_config_parameters(c),
            .flops_per_token = gpt_config_flops_per_token(c, 64),
        };
        name_model_kernels(&v->models[nr++]);
    }
    v->request.models = v->models;
    v->request.nr_models = nr;
}

static int viewing_accept(struct store *store, const struct records *base,
                          const struct records *head, struct comparison *c,
                          struct store_acceptances *accepted, struct error *err)
{
    const struct verdict_sides sides = { .base_records = base, .head_records = head };

    return acceptances_mark(store, &sides, c, accepted, err);
}

void viewing_init(struct viewing *v)
{
    *v = (struct viewing) { .request = { .accept = viewing_accept }, .view = { .head = -1 } };
    strbuf_init(&v->home);
    strbuf_init(&v->baselines);
    add_model_facts(v);
}

void viewing_release(struct viewing *v)
{
    view_release(&v->view);
    config_release(&v->config);
    store_close(v->store);
    strbuf_release(&v->home);
    strbuf_release(&v->baselines);
    string_list_release(&v->refs);
    for (size_t i = 0; i < sizeof(v->profiles) / sizeof(v->profiles[0]); i++)
        profile_data_release(&v->profiles[i]);
}

/* A file that need not be there. */
static int load_if_there(struct config *config, const char *path, struct error *err)
{
    return file_exists(path) ? config_load(config, path, err) : 0;
}

static int load_user_config(struct config *config, struct error *err)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct strbuf path;

    strbuf_init(&path);
    if (folder && *folder)
        strbuf_addf(&path, "%s/harness/harness.json", folder);
    else if (home && *home)
        strbuf_addf(&path, "%s/.config/harness/harness.json", home);
    int rc = path.length ? load_if_there(config, path.data, err) : 0;
    strbuf_release(&path);
    return rc;
}

static int load_project_config(struct config *config, struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    history_project_top(&path);
    strbuf_adds(&path, "/harness.json");
    int rc = load_if_there(config, path.data, err);
    strbuf_release(&path);
    return rc;
}

/* The history file that an argument means: itself, or one in its folder; false if none. */
static bool find_database(const char *argument, struct strbuf *path)
{
    static const char *const places[] = { "", "/history.db", "/.harness/history.db" };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        strbuf_clear(path);
        strbuf_addf(path, "%s%s", argument, places[i]);
        if (store_is_database(path->data))
            return true;
    }
    strbuf_clear(path);
    return false;
}

static void meet_metrics(const struct viewing *v, const struct viewing_options *o)
{
    struct strbuf path;

    strbuf_init(&path);
    history_meet_metrics(o->db);
    for (int i = 0; i < v->nr_arguments; i++)
        if (find_database(v->arguments[i], &path))
            history_meet_metrics(path.data);
    strbuf_release(&path);
}

int viewing_configure(struct viewing *v, const struct viewing_options *o, struct error *err)
{
    meet_metrics(v, o);
    if (config_init(&v->config, err) || load_user_config(&v->config, err) ||
        load_project_config(&v->config, err) ||
        (o->config && config_load(&v->config, o->config, err)))
        return -1;
    for (size_t i = 0; i < o->presets.nr; i++)
        if (presets_load_file(&v->config.presets, o->presets.items[i], err))
            return -1;
    if (o->delta > 0) {
        v->config.delta = o->delta;
        free(v->config.delta_from);
        v->config.delta_from = memory_string("--delta");
    }
    if (!o->group_by)
        return 0;
    v->request.named_by = run_fact_find(o->group_by, err);
    return v->request.named_by ? 0 : error_prefix(err, "--group-by");
}

/* Takes the arguments apart: REFs, and at most one history. */
static int sort_arguments(struct viewing *v, int argc, char **argv, struct strbuf *db,
                          struct error *err)
{
    struct strbuf path;
    int rc = 0;

    strbuf_init(&path);
    for (int i = 0; i < argc && rc == 0; i++) {
        if (!find_database(argv[i], &path))
            string_list_add(&v->refs, argv[i]);
        else if (db->length)
            rc = error_set(err, "%.200s and %.200s are histories: one at a time", db->data,
                           path.data);
        else
            strbuf_adds(db, path.data);
    }
    strbuf_release(&path);
    return rc;
}

/* Does anything name a run of the history? */
static bool needs_history(const struct viewing *v, const struct viewing_options *o, const char *db)
{
    bool there = file_exists(db);

    if (v->refs.nr == 0 && v->request.nr_run_ids == 0)
        return true;
    if (o->baseline && !history_is_path(o->baseline))
        return true;
    for (size_t i = 0; i < v->refs.nr; i++)
        if (!history_is_path(v->refs.items[i]) && (there || !file_exists(v->refs.items[i])))
            return true;
    return v->request.nr_run_ids > 0;
}

/* Without a history, what an earlier step of a pipeline left here. */
static int use_artifacts(struct viewing *v, struct strbuf *db, struct error *err)
{
    static char artifacts[] = "./artifacts";
    char *arguments[] = { artifacts };

    if (!file_is_folder(artifacts))
        return error_set(err,
                         "%s: there is no history yet, and no folder ./artifacts; `harness run` "
                         "makes the first, or name a file or folder of records",
                         db->data);
    strbuf_clear(db);
    return sort_arguments(v, 1, arguments, db, err);
}

/* A word that names nothing in the history and is a folder here means the folder. */
static void find_folders(struct viewing *v)
{
    for (size_t i = 0; i < v->refs.nr; i++) {
        struct ref_runs runs = { .nr = 0 };
        struct error ignored;
        char **ref = &v->refs.items[i];
        if (history_is_path(*ref) || !file_is_folder(*ref))
            continue;
        if (!v->store || ref_resolve(v->store, *ref, NULL, &runs, &ignored))
            figure_set(ref, "./%s", *ref);
        ref_runs_release(&runs);
    }
}

static void close_viewed_store(struct viewing *v)
{
    store_close(v->store);
    v->store = NULL;
}

/* `harness profile --no-store` leaves a history without runs: its profile stands alone. */
static bool store_has_runs(struct store *store)
{
    struct ref_runs runs = { .nr = 0 };
    struct error ignored;
    bool any = ref_resolve(store, "latest", NULL, &runs, &ignored) == 0 && runs.nr > 0;

    ref_runs_release(&runs);
    return any;
}

static int open_viewed_store(struct viewing *v, const struct viewing_options *o, const char *db,
                             struct error *err)
{
    const struct store_teller tell = history_teller(v->sink);

    if (needs_history(v, o, db) && store_open_telling(&v->store, db, STORE_READ, &tell, err))
        return -1;
    find_folders(v);
    if (v->store && !needs_history(v, o, db)) /* it was all about a folder */
        close_viewed_store(v);
    if (v->store && v->request.profile && v->refs.nr == 0 && !store_has_runs(v->store))
        close_viewed_store(v);
    return 0;
}

/* A profile needs no run beside it. */
static bool is_profile_alone(const struct viewing *v, const char *db)
{
    return v->request.profile && v->refs.nr == 0 && (v->profile_alone || !file_exists(db));
}

/* A history that is nobody's choice need not be there. */
static int heed_no_history(struct viewing *v, struct strbuf *db, struct error *err)
{
    int there = file_look(db->data, err);

    if (there)
        return there < 0 ? -1 : 0;
    return v->request.profile ? 0 : use_artifacts(v, db, err);
}

static int find_viewed_store(struct viewing *v, const struct viewing_options *o, int argc,
                             char **argv, struct error *err)
{
    struct strbuf db;

    strbuf_init(&db);
    int rc = sort_arguments(v, argc, argv, &db, err);
    if (rc == 0 && db.length && o->db)
        rc = error_set(err, "--db %.200s and %.200s are two histories: one at a time", o->db,
                       db.data);
    if (rc == 0 && !db.length) {
        history_path(o->db, &db);
        if (v->refs.nr == 0 && !v->request.nr_run_ids && !o->db && !v->profile_alone)
            rc = heed_no_history(v, &db, err);
    }
    if (rc == 0 && !is_profile_alone(v, db.data))
        rc = open_viewed_store(v, o, db.data, err);
    strbuf_release(&db);
    return rc;
}

/* A folder of records or of a profile is at home in itself, a file in its folder, all else beside
 * the history. */
static void find_viewing_home(struct viewing *v, const struct viewing_options *o)
{
    const char *last = v->refs.nr                    ? v->refs.items[v->refs.nr - 1]
                       : !v->store && o->profiles.nr ? o->profiles.items[o->profiles.nr - 1]
                                                     : "";
    bool path = !v->store || history_is_path(last);

    if (path && file_is_folder(last)) {
        strbuf_adds(&v->home, last);
        while (v->home.length > 1 && v->home.data[v->home.length - 1] == '/')
            v->home.data[--v->home.length] = '\0';
        return;
    }
    history_sibling(path ? last : store_path(v->store), ".", &v->home);
    if (v->home.length > 2) /* "x/." */
        v->home.data[v->home.length -= 2] = '\0';
}

/* Peaks of other machines than this one are no mistake; if all are, a device may be mistyped. */
static void note_unused_peaks(const struct viewing *v)
{
    if (v->config.nr_peaks && !v->view.peaks_from && v->view.records.nr)
        sink_note(
            v->sink,
            "harness: left out: the peaks of %s: none is of a device measured here, such as %s\n",
            v->config.peaks[0].from, v->view.records.items[0].m.bench.device);
}

static void note_unfit_filters(const struct viewing *v)
{
    struct string_list notes = { 0 };

    view_note_unfit_filters(&v->view, v->request.filters, v->request.nr_filters, &notes);
    for (size_t i = 0; i < notes.nr; i++)
        sink_note(v->sink, "harness: %s\n", notes.items[i]);
    string_list_release(&notes);
}

int viewing_open(struct viewing *v, const struct viewing_options *o, int argc, char **argv,
                 struct error *err)
{
    if (viewing_profiles(v, o, err) || find_viewed_store(v, o, argc, argv, err))
        return -1;
    if (history_baseline_folder(&v->baselines, err))
        return -1;
    v->request.refs = (const char *const *)v->refs.items;
    v->request.nr_refs = v->refs.nr;
    v->request.baseline = o->baseline;
    v->request.baselines = v->baselines.data;
    v->request.filters = (const char *const *)o->filters.items;
    v->request.nr_filters = o->filters.nr;
    v->request.config = &v->config;
    find_viewing_home(v, o);
    if (view_load(v->store, &v->request, &v->view, err))
        return -1;
    history_note_left_out(&v->view.notes, v->sink);
    note_unused_peaks(v);
    note_unfit_filters(v);
    return 0;
}

void viewing_generator(struct strbuf *out)
{
    struct build build;

    environment_build(&build);
    strbuf_addf(out, "harness %s%s%.7s%s", build.version, build.commit[0] ? " (" : "", build.commit,
                build.commit[0] ? ")" : "");
}

void viewing_path(const struct viewing *v, const char *name, struct strbuf *path)
{
    strbuf_clear(path);
    strbuf_addf(path, "%s/%s", v->home.data, name);
}
