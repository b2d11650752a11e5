/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/json.h"
#include "base/memory.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/render/profile_counters.h"
#include "cli/render/profile_diff.h"
#include "cli/render/profile_import.h"
#include "cli/render/profile_view.h"
#include "cli/shared_options.h"
#include "cupti/collect.h"
#include "session/measure/profile_record.h"
#include "session/measure/recording.h"
#include "terminal/terminal.h"
#include "timeline/timeline_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct profile_options {
    struct workload_options what;
    const char *db, *label, *output, *plant;
    int64_t launches, iterations, top, gap;
    struct measuring measuring;
    bool no_store, counters, diff, import, json;
};

enum { LAUNCHES = 3, ITERATIONS = 30, TOP = 12 };

/* ---- profiles of our own ---- */

struct profiling_session {
    const struct profile_options *o;
    struct profile_output output;
    struct profile_request request;
    struct profile_result result;
    struct strbuf folder;
    struct error no_counters; /* why, as it was said last */
    cJSON *list;
    int status;
};

/* Where the files of a benchmark go: a folder of its own where there are several. */
static int profile_place(const struct profiling_session *s, const struct benchmark_name *name,
                         struct strbuf *place, struct error *err)
{
    strbuf_init(place);
    strbuf_adds(place, s->folder.data);
    return s->request.workload.list.nr > 1 ? profile_subfolder(name->key, place, err) : 0;
}

static int move_trace(const struct profiling_session *s, const struct benchmark_name *name,
                      const char *place, struct error *err)
{
    struct strbuf to;
    char *from = profiling_file(s->folder.data, name);

    strbuf_init(&to);
    strbuf_addf(&to, "%s/trace.json", place);
    int rc = rename(from, to.data) ? error_set(err, "%s: %s", from, strerror(errno)) : 0;
    strbuf_release(&to);
    free(from);
    return rc;
}

static int show_profile_view(struct profiling_session *s, struct profile_view *view,
                             const struct measurement *m, const struct benchmark_name *name,
                             const char *place, struct error *err)
{
    struct profile_counters counters = { .reason = { "" } };
    const char *reason = counters.reason.message;
    int rc = s->o->counters ? profile_counters_take(s->folder.data, name, m, &counters, err) : 0;

    if (rc == 0 && reason[0] && strcmp(reason, s->no_counters.message) != 0)
        terminal_note("no hardware counters: %s\n", reason);
    s->no_counters = counters.reason; /* several benchmarks have one reason */
    view->launches = s->request.workload.suite.launches;
    view->counters = s->o->counters ? &counters : NULL;
    if (rc == 0)
        rc = profile_show(&s->output, view, place, s->list, err);
    profile_counters_release(&counters);
    return rc;
}

static int show_profile(struct profiling_session *s, const struct benchmark *bench,
                        const struct benchmark_name *name, const struct measurement *m,
                        struct error *err)
{
    struct timeline_roofs roofs = profile_roofs(&s->result, bench, &s->request.workload.device);
    struct profile_view view;
    struct prof_trace trace;
    struct strbuf place;

    int rc = profile_place(s, name, &place, err) || move_trace(s, name, place.data, err) ||
             timeline_read(place.data, &trace, err);
    if (rc == 0) {
        if (trace.meta.scope_ns > 0) /* with the hooks of a GPU on: that is what was paid */
            s->result.cost.on = s->result.cost.memory = trace.meta.scope_ns;
        if (trace.meta.note)
            terminal_note("%s\n", trace.meta.note);
        rc = profile_view_init(&view, name->key, &trace, &roofs, &s->result.cost, s->output.gap_ns,
                               err);
        if (rc == 0)
            rc = show_profile_view(s, &view, m, name, place.data, err);
        profile_view_release(&view);
    }
    strbuf_release(&place);
    return rc ? -1 : 0;
}

/* The last measurement of the whole tells whether there is a trace. */
static const struct measurement *whole_measurement(const struct profiling_session *s,
                                                   struct benchmark_name *name)
{
    struct benchmark_name whole = *name;

    benchmark_name_operation(&whole, BENCHMARK_WHOLE);
    for (size_t i = s->result.records.nr; i-- > 0;)
        if (strcmp(s->result.records.items[i].m.bench.key, whole.key) == 0)
            return &s->result.records.items[i].m;
    return NULL;
}

static int show_profile_or_tell(struct profiling_session *s, const struct benchmark *bench,
                                struct error *err)
{
    struct benchmark_name name;

    benchmark_name_of(bench, &s->request.workload.device, &name);
    const struct measurement *m = whole_measurement(s, &name);
    if (m && m->outcome == OUTCOME_OK)
        return show_profile(s, bench, &name, m, err);
    terminal_note("%s: %s%s%s\n", name.key, m ? outcome_name(m->outcome) : "not measured",
                  m && m->message ? ": " : "", m && m->message ? m->message : "");
    if (m && m->outcome == OUTCOME_UNSUPPORTED && s->status == EXIT_SAME)
        s->status = EXIT_UNDECIDED;
    if (m && m->outcome != OUTCOME_UNSUPPORTED)
        s->status = EXIT_REGRESSION;
    return 0;
}

static int show_profiles(struct profiling_session *s, struct error *err)
{
    const struct benchmark_list *list = &s->request.workload.list;

    s->list = cJSON_CreateArray();
    for (size_t i = 0; i < list->nr; i++)
        if (show_profile_or_tell(s, &list->items[i], err))
            return -1;
    if (s->o->json) {
        cJSON *json = cJSON_CreateObject();
        json_add_int(json, "schema_version", 1);
        json_add_int(json, "run", s->result.run);
        cJSON_AddItemToObject(json, "profiles", s->list);
        s->list = NULL;
        return output_json(json, NULL, err);
    }
    if (s->result.run)
        terminal_print("run %lld in %s\n", (long long)s->result.run, store_path(s->request.store));
    return 0;
}

/* What the GPU does is collected where CUPTI is at hand; the scopes' own times do without. */
static bool wants_activity(const struct device *d)
{
    struct error why;
    uint32_t version;

    if (d->kind != DEVICE_CUDA)
        return false;
    if (activity_available(&version, &why) == 0)
        return true;
    terminal_note("no kernels and copies in the trace, scopes alone: %s\n", why.message);
    return false;
}

static int make_profile_folder(struct profiling_session *s, struct error *err)
{
    struct strbuf name;

    strbuf_init(&name);
    profile_name(&s->request.workload.list, &name);
    int rc = profile_folder(&s->output, name.data, &s->folder, err);
    s->request.profiling.folder = s->folder.data;
    strbuf_release(&name);
    return rc;
}

static int prepare_profile(struct profiling_session *s, int argc, char **argv, struct error *err)
{
    const struct profile_options *o = s->o;
    struct profile_request *r = &s->request;

    if (argc == 0 && !o->what.models.nr && !o->what.suite && !workload_has_guests(&o->what))
        return error_set(err, "name what to profile: harness profile 'gpt/nano/prefill'");
    if (workload_make(&r->workload, &o->what, argv, argc, "quick", err))
        return -1;
    if (r->workload.device.kind == DEVICE_FAKE)
        return error_set(err, "the fake device invents its time: there is nothing to profile");
    if (o->counters && r->workload.device.kind != DEVICE_CUDA)
        return error_set(err,
                         "--counters: hardware counters are read of CUDA devices alone; leave the "
                         "option out, or choose one with --device cuda");
    if (!o->what.variants.nr && !o->what.dtypes.nr)
        profile_choose(&r->workload.list);
    r->workload.suite.launches = o->launches ? (int)o->launches : LAUNCHES;
    r->label = o->label;
    r->unkept = o->no_store;
    r->measuring = &o->measuring;
    r->profiling =
        (struct profiling) { .iterations = o->iterations ? (int)o->iterations : ITERATIONS,
                             .activity = wants_activity(&r->workload.device),
                             .counters = o->counters };
    return profile_set_plant(r, o->plant, err) || make_profile_folder(s, err) ? -1 : 0;
}

static int profile_benchmarks(struct profile_options *o, const struct profile_output *out, int argc,
                              char **argv, struct error *err)
{
    struct profiling_session s = { .o = o, .output = *out };
    struct progress progress;

    progress_attach(&progress, &o->measuring, true);

    strbuf_init(&s.folder);
    int rc = prepare_profile(&s, argc, argv, err);
    if (rc == 0)
        rc = recording_check_label(o->label, 0, err);
    if (rc == 0)
        rc = history_open(&s.request.store, o->db, STORE_WRITE, err);
    if (rc == 0)
        rc = profile_record(&s.request, &s.result, err);
    if (rc == 0 && s.result.interrupted)
        terminal_note("interrupted\n");
    else if (rc == 0)
        rc = show_profiles(&s, err);
    if (rc == 0 && measuring_interrupted(&o->measuring)) /* while the roofs were measured, too */
        s.status = 128 + (int)*o->measuring.interrupted;
    cJSON_Delete(s.list);
    profile_result_release(&s.result);
    store_close(s.request.store);
    strbuf_release(&s.folder);
    free(s.request.planted);
    workload_release(&s.request.workload);
    return rc ? rc : s.status;
}

/* ---- those of others ---- */

/* Its last `parts` parts; all of it where it has no more. */
static const char *path_end(const char *path, size_t parts)
{
    const char *p = path + strlen(path);

    while (p > path && p[-1] == '/')
        p--;
    while (p > path && (p[-1] != '/' || --parts > 0))
        p--;
    return p;
}

/* Of a folder for each of several files. */
struct import_name {
    const char *path;
    size_t parts; /* of the path that are in it */
    char *name;   /* owned */
};

static void name_import(struct import_name *n, size_t parts)
{
    struct strbuf name;

    strbuf_init(&name);
    profile_folder_name(&name, path_end(n->path, parts));
    free(n->name);
    n->name = strbuf_detach(&name);
    n->parts = parts;
}

/* Another file of that name; `nr`: there is none. */
static size_t twin_of(const struct import_name *names, size_t nr, size_t i)
{
    size_t k = 0;

    while (k < nr && (k == i || strcmp(names[k].name, names[i].name) != 0))
        k++;
    return k;
}

/* All that have a twin get a part more, until none has one. */
static int tell_imports_apart(struct import_name *names, size_t nr, struct error *err)
{
    bool *alike = memory_zeroed(nr + 1, sizeof(*alike));
    size_t same = nr, longer;

    do {
        longer = 0;
        same = nr;
        for (size_t i = 0; i < nr; i++) {
            alike[i] = twin_of(names, nr, i) < nr;
            same = alike[i] ? i : same;
        }
        for (size_t i = 0; i < nr; i++)
            if (alike[i] && path_end(names[i].path, names[i].parts) > names[i].path) {
                name_import(&names[i], names[i].parts + 1);
                longer++;
            }
    } while (longer > 0);
    free(alike);
    if (same == nr)
        return 0;
    return error_set(err, "--import: %s and %s would go into one folder, \"%s\"",
                     names[twin_of(names, nr, same)].path, names[same].path, names[same].name);
}

static int import_profile(const struct profile_output *o, const struct import_name *file,
                          bool several, cJSON *list, struct error *err)
{
    struct profile_view view;
    struct prof_trace trace;
    struct strbuf folder;

    strbuf_init(&folder);
    int rc = profile_import(file->path, &trace, err);
    if (rc == 0)
        rc = profile_folder(o, file->name, &folder, err);
    if (rc == 0 && several && o->folder)
        rc = profile_subfolder(file->name, &folder, err);
    if (rc == 0) {
        rc = profile_view_init(&view, file->path, &trace, NULL, NULL, o->gap_ns, err);
        if (rc == 0)
            rc = profile_write_trace(&view, folder.data, err);
        if (rc == 0)
            rc = profile_show(o, &view, folder.data, list, err);
        profile_view_release(&view);
    }
    prof_trace_release(&trace);
    strbuf_release(&folder);
    return rc;
}

static int import_profiles(const struct profile_output *o, int argc, char **argv, struct error *err)
{
    struct import_name *names = memory_zeroed((size_t)argc + 1, sizeof(*names));
    cJSON *json = cJSON_CreateObject(), *list;
    int rc = argc > 0 ? 0 : error_set(err, "--import: name one file or several");

    for (int i = 0; i < argc; i++) {
        names[i].path = argv[i];
        name_import(&names[i], 1);
    }
    if (rc == 0)
        rc = tell_imports_apart(names, (size_t)argc, err);
    json_add_int(json, "schema_version", 1);
    list = cJSON_AddArrayToObject(json, "profiles");
    for (int i = 0; rc == 0 && i < argc; i++)
        rc = import_profile(o, &names[i], argc > 1, list, err);
    for (int i = 0; i < argc; i++)
        free(names[i].name);
    free(names);
    if (rc == 0 && o->json)
        return output_json(json, NULL, err);
    cJSON_Delete(json);
    return rc;
}

/* The name of an option that is for measuring, of which files have none. */
static const char *option_of_measuring(const struct profile_options *o)
{
    const struct option_given options[] = {
        { "--iterations", o->iterations }, { "--launches", o->launches },
        { "--no-store", o->no_store },     { "--plant", o->plant },
        { "--label", o->label },           { "--timeout", o->measuring.timeout > 0 },
        { "--seed", o->measuring.seed },   { "--memory-limit", o->measuring.memory_limit },
        { "--param", o->what.params.nr },  { "--model", o->what.models.nr },
    };
    const char *given = options_first_given(options, sizeof(options) / sizeof(options[0]));

    return given ? given : workload_option(&o->what);
}

static int check_files(const struct profile_options *o, int argc, struct error *err)
{
    const char *measuring = option_of_measuring(o);

    if (o->diff && o->import)
        return error_set(err,
                         "--diff and --import do not go together: --diff reads the same files");
    if (o->counters)
        return error_set(err, "--counters: there is nothing to count in files");
    if (measuring)
        return error_set(err, "%s is for measuring: %s reads files", measuring,
                         o->diff ? "--diff" : "--import");
    if (o->gap && o->diff)
        return error_set(err, "--gap is of the parts of one profile's time; --diff shows none");
    if (o->diff && argc != 2)
        return error_set(err, "--diff: name two profiles, folders or trace files");
    return 0;
}

static int run_profile(int argc, char **argv, void *options, struct error *err)
{
    struct profile_options *o = options;
    const struct profile_output out = {
        .folder = o->output, .top = o->top ? (size_t)o->top : TOP, .gap_ns = o->gap, .json = o->json
    };

    if ((o->diff || o->import) && check_files(o, argc, err))
        return -1;
    if (o->diff)
        return profile_diff(&out, (const char *const[]) { argv[0], argv[1] }, err);
    return o->import ? import_profiles(&out, argc, argv, err)
                     : profile_benchmarks(o, &out, argc, argv, err);
}

static const struct option_row rows[] = {
    WORKLOAD_OPTION_ROWS(struct profile_options, what, "none", 'b'),
    PARAM_ROW(struct profile_options, what),
    OPTION_RANGE_ROW("iterations", 0, OPTION_INT, struct profile_options, iterations, 1, 100000,
                     "N", "recorded in each launch (default 30)"),
    OPTION_RANGE_ROW("launches", 'l', OPTION_INT, struct profile_options, launches, 1, 1000, "N",
                     "fresh processes: the unit of evidence (default 3)"),
    OPTION_RANGE_ROW("top", 0, OPTION_INT, struct profile_options, top, 1, 1000, "N",
                     "operations in the tables (default 12)"),
    OPTION_RANGE_ROW("gap", 0, OPTION_INT, struct profile_options, gap, 1, 1000000000, "NS",
                     "do not count a GPU's gaps shorter than this as waiting (ns, default 30)"),
    OPTION_ROW("counters", 0, OPTION_FLAG, struct profile_options, counters, NULL,
               "on CUDA: DRAM bytes and FLOPs of each kernel, in a pass of its own"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct profile_options, output, "FOLDER",
               "of the files (default profile-<what>)"),
    OPTION_ROW("no-store", 0, OPTION_FLAG, struct profile_options, no_store, NULL,
               "keep no statistics of the operations in the history"),
    OPTION_ROW("plant", 0, OPTION_STRING, struct profile_options, plant, "OPERATION=SHARE",
               "plant a known slow-down, to see whether `compare` finds it; `trend` leaves such a "
               "run out"),
    OPTION_ROW("diff", 0, OPTION_FLAG, struct profile_options, diff, NULL,
               "compare two profiles: folders or files, before and after"),
    OPTION_ROW("import", 0, OPTION_FLAG, struct profile_options, import, NULL,
               "show files of other profilers: trace JSON, nsys SQLite, ncu --csv"),
    TIMEOUT_ROW(struct profile_options, measuring),
    MEMORY_LIMIT_ROW(struct profile_options, measuring),
    SEED_ROW(struct profile_options, measuring),
    OPTION_ROW("label", 0, OPTION_LINE, struct profile_options, label, "TEXT",
               "a name for the run, usable as a REF"),
    DB_ROW(struct profile_options, db),
    OPTION_ROW("json", 0, OPTION_FLAG, struct profile_options, json, NULL,
               "what profile.json holds, on standard output"),
    OPTION_END,
};

extern const struct command cmd_profile;
const struct command cmd_profile = {
    .name = "profile",
    .arguments = "[FILTER... | --diff A B | --import FILE...]",
    .summary = "where the time goes: operations, bottlenecks, timeline",
    .details =
        "  harness profile gpt/tile-large/prefill --batch 4 --seq 64\n"
        "  harness profile --diff profile-before profile-after\n"
        "  harness profile --import report.sqlite\n"
        "\n"
        "Checks and warms up as `run` does, then records iterations scope by scope. Plain and\n"
        "vendor variants are left out where another is chosen too, unless --variant names them.\n"
        "Statistics of each operation go into the history as KERNEL:OPERATION, the whole as\n"
        "KERNEL:all, for `compare`, `trend` and `plot`. A machine may keep its GPU's counters to\n"
        "the administrator: --counters then says so, and the rest goes on. Exit status 1 if a\n"
        "result was wrong or failed, 77 if a benchmark cannot run here.",
    .options = rows,
    .options_size = sizeof(struct profile_options),
    .run = run_profile,
};
