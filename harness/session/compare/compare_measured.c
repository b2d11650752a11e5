/* SPDX-License-Identifier: MIT */
#include "session/compare/compare_measured.h"

#include "base/file.h"
#include "base/memory.h"
#include "machine/environment.h"
#include "session/bench/reach_kernels.h"
#include "session/builds/builds.h"
#include "session/builds/git.h"
#include "session/measure/recording.h"
#include "session/measure/roofs.h"
#include "session/tune/tuned_workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One side on its way from words to a program. */
struct ab_source {
    char *path; /* owned; NULL: this program */
    char name[200];
    struct built built;
};

const char *compare_request_old_guest(const struct compare_request *o)
{
    return o->baseline_plugin ? o->baseline_plugin : o->baseline_python;
}

/* What stands against it. */
static const char *new_guest(const struct compare_request *o)
{
    if (!compare_request_old_guest(o))
        return NULL;
    return o->baseline_plugin ? o->what.plugins.items[0] : o->what.python.items[0];
}

bool compare_request_measures(const struct compare_request *o)
{
    return o->build || o->baseline_bin || o->head_bin || compare_request_old_guest(o);
}

const char *compare_request_option(const struct compare_request *o)
{
    const struct option_given options[] = {
        { "--budget", o->measuring.budget > 0 },
        { "--blocks", o->blocks },
        { "--timeout", o->measuring.timeout > 0 },
        { "--no-repeat", o->measuring.no_repeat },
        { "--memory-limit", o->measuring.memory_limit },
        { "--seed", o->measuring.seed },
        { "--label", o->label },
        { "--build-command", o->build_command },
        { "--build-program", o->build_program },
        { "--changed", o->changed },
        { "--changed-map", o->changed_map },
    };

    const char *given = options_first_given(options, sizeof(options) / sizeof(options[0]));

    return given ? given : workload_option(&o->what);
}

/* One side is measured, by this program, without turns. */
static int check_run(const struct compare_request *o, struct error *err)
{
    const struct option_given others[] = {
        { "--head", o->head },
        { "--build", o->build },
        { "--baseline-bin", o->baseline_bin },
        { "--head-bin", o->head_bin },
        { "--baseline-plugin", o->baseline_plugin },
        { "--baseline-python", o->baseline_python },
        { "--blocks", o->blocks },
        { "--build-command", o->build_command },
        { "--build-program", o->build_program },
        { "--changed", o->changed || o->changed_map },
    };

    const char *given = options_first_given(others, sizeof(others) / sizeof(others[0]));

    if (given)
        return error_set(err,
                         "--run measures the new side with this program, the old one is "
                         "--baseline REF of the history: no %s",
                         given);
    return o->baseline ? 0 : error_set(err, "--run needs --baseline REF, the old side");
}

static int check_tuned(const struct compare_request *o, struct error *err)
{
    if (!o->tuned || o->run)
        return 0;
    return error_set(err,
                     "--tuned goes with --run: what is compared in turn, or was measured "
                     "before, has its settings");
}

int compare_measured_check(const struct compare_request *o, struct error *err)
{
    const char *option = compare_request_option(o);

    if (recording_check_label(o->label, sizeof(" base") - 1, err) || check_tuned(o, err))
        return -1;
    if (o->run)
        return check_run(o, err);
    if (!compare_request_measures(o))
        return option ? error_set(err,
                                  "%s is for measuring: give --baseline-bin PATH, or "
                                  "--baseline-plugin FILE, or --build with --baseline REF",
                                  option)
                      : 0;
    if (o->build && (o->baseline_bin || o->head_bin || compare_request_old_guest(o)))
        return error_set(err,
                         "--build and --baseline-bin, --head-bin, --baseline-plugin, "
                         "--baseline-python exclude each other");
    if ((o->changed || o->changed_map) && !o->build)
        return error_set(err, "%s goes with --build: it is git that tells what changed",
                         o->changed ? "--changed" : "--changed-map");
    if (o->build)
        return o->baseline ? 0 : error_set(err, "--build needs --baseline REF: a branch or commit");
    if (o->baseline_plugin && !o->what.plugins.nr)
        return error_set(err, "--baseline-plugin needs --plugin FILE, the new side");
    if (o->baseline_python && !o->what.python.nr)
        return error_set(err, "--baseline-python needs --python FILE::NAME, the new side");
    if (o->baseline_plugin && o->baseline_python)
        return error_set(err, "--baseline-plugin and --baseline-python exclude each other");
    if (!o->baseline_bin && !compare_request_old_guest(o))
        return error_set(err, "--head-bin needs --baseline-bin PATH");
    if (o->baseline || o->head)
        return error_set(err, "programs are given by path: --baseline and --head go with --build");
    if (o->build_command || o->build_program)
        return error_set(err, "--build-command and --build-program go with --build");
    return 0;
}

static int find_program(const char *path, const char *option, const char *plugin,
                        struct ab_source *side, struct error *err)
{
    if (!path) {
        snprintf(side->name, sizeof(side->name), "%s", plugin ? plugin : "this program");
        return 0;
    }
    snprintf(side->name, sizeof(side->name), "%s", path);
    side->path = realpath(path, NULL);
    return side->path ? 0 : error_set(err, "%s: %s: %s", option, path, strerror(errno));
}

static int build_side(const struct compare_request *r, const char *ref, struct ab_source *side,
                      struct error *err)
{
    const struct build_recipe recipe = {
        .command = r->build_command,
        .program = r->build_program,
        .folder = r->builds,
        .interrupted = r->measuring.interrupted,
        .begins = measuring_build_begins,
        .context = &r->measuring,
    };
    char commit[GIT_HASH_SIZE];

    if (builds_resolve(ref, commit, err) || builds_make(commit, &recipe, &side->built, err))
        return -1;
    if (!side->built.program)
        return error_set(err, "%s (%.7s %s) gives no program to measure:\n%s", ref, commit,
                         side->built.title, side->built.complaint ? side->built.complaint : "");
    snprintf(side->name, sizeof(side->name), "%.120s at %.7s", ref, commit);
    side->path = memory_string(side->built.program);
    return 0;
}

static int find_sources(const struct compare_request *r, struct ab_source sides[AB_SIDES],
                        struct error *err)
{
    if (!r->build)
        return find_program(r->baseline_bin, "--baseline-bin", compare_request_old_guest(r),
                            &sides[AB_BASE], err) ||
                       find_program(r->head_bin, "--head-bin", new_guest(r), &sides[AB_HEAD], err)
                   ? -1
                   : 0;
    if (!r->head && git_tree_dirty() > 0)
        sink_note(r->measuring.sink,
                  "note: HEAD is built as it is committed; the tree has changes "
                  "that are not in it\n");
    return build_side(r, r->baseline, &sides[AB_BASE], err) ||
                   build_side(r, r->head ? r->head : "HEAD", &sides[AB_HEAD], err)
               ? -1
               : 0;
}

static void note_plan(const struct compare_request *r, const struct workload *workload)
{
    const struct suite *suite = &workload->suite;
    size_t nr = workload->list.nr;

    sink_note(r->measuring.sink, "measuring %zu benchmark%s%s%s on %s by two %s in turn\n", nr,
              nr == 1 ? "" : "s", suite->name[0] ? " of suite " : "", suite->name,
              workload->device.label,
              r->baseline_bin      ? "programs"
              : r->baseline_plugin ? "plugins"
              : r->baseline_python ? "functions"
                                   : "programs");
}

/* Now, not at the end: a benchmark leaves when it is decided by these settings. */
static int heed_placement_here(struct compared *c, const struct device *device, struct error *err)
{
    struct machine machine;

    if (environment_machine(&machine, err))
        return -1;
    placements_heed(&c->rule.placements, c->store, machine.class_name, device->label,
                    &c->rule.settings);
    return 0;
}

static void note_session(const struct ab_session *s, const struct measuring *m)
{
    struct strbuf text;

    strbuf_init(&text);
    ab_session_summary(s, m, &text);
    sink_note(m->sink, "%s\n", text.data);
    strbuf_release(&text);
}

void compared_take_session(struct compared *c, struct ab_session *s, bool finished,
                           const struct measuring *m)
{
    struct history_side *sides[AB_SIDES] = { [AB_BASE] = &c->base, [AB_HEAD] = &c->head };

    if (finished) {
        note_session(s, m);
        c->interrupted = s->end == AB_INTERRUPTED ? (int)*m->interrupted : 0;
    }
    for (int i = 0; i < AB_SIDES; i++) {
        sides[i]->records = s->records[i];
        s->records[i] = (struct records) { 0 };
        snprintf(sides[i]->what, sizeof(sides[i]->what), "%s", s->what[i]);
    }
    ab_session_release(s);
}

static int measure_sides(const struct compare_request *r, const struct ab_source sides[AB_SIDES],
                         const struct workload *workload, const struct guests *old,
                         struct compared *c, struct error *err)
{
    struct ab_session session = { .blocks = 0 };

    if (heed_placement_here(c, &workload->device, err))
        return -1;
    struct ab_request request = {
        .workload = workload,
        .store = c->store,
        .compare = c->rule.settings,
        .label = r->label,
        .measuring = r->measuring,
        .blocks_max = (int)r->blocks,
    };

    for (int i = 0; i < AB_SIDES; i++)
        request.side[i] = (struct ab_request_side) {
            .program = sides[i].path,
            .name = sides[i].name,
            .commit = sides[i].built.commit[0] ? sides[i].built.commit : NULL,
        };
    if (compare_request_old_guest(r))
        request.side[AB_BASE].guests = old;
    note_plan(r, workload);
    int rc = ab_session_run(&request, &session, err);
    compared_take_session(c, &session, rc == 0, &r->measuring);
    return rc;
}

/* What the base measures in place of --plugin. */
static int open_old_plugin(const struct compare_request *o, const struct string_list *settings,
                           struct guests *old, struct error *err)
{
    struct string_list list = { 0 };

    if (!o->baseline_plugin)
        return 0;
    string_list_add(&list, o->baseline_plugin);
    const struct guests_asked asked = { .plugins = &list, .settings = settings };
    int rc = guests_open(old, registry_builtin(), &asked, err);
    string_list_release(&list);
    return rc ? error_prefix(err, "--baseline-plugin") : 0;
}

/* A single function stands for a single one, whatever the two are called. */
static const char *shared_name(const struct compare_request *o)
{
    const char *text = o->what.python.items[0], *name = strrchr(text, ':');

    return o->what.python.nr == 1 && name && !strpbrk(name, ",") && !strchr(o->baseline_python, ',')
               ? name + 1
               : NULL;
}

static int open_old_python(const struct compare_request *o, struct guests *old, struct error *err)
{
    struct string_list list = { 0 };

    if (!o->baseline_python)
        return 0;
    string_list_add(&list, o->baseline_python);
    struct python_request python = { &list, o->what.like, &o->what.dtypes, shared_name(o),
                                     DEVICE_CPU };
    const struct guests_asked asked = { .python = &python };
    int rc = workload_python_device(&o->what, &python.device, err);
    rc = rc ? rc : guests_open(old, registry_builtin(), &asked, err);
    string_list_release(&list);
    return rc ? error_prefix(err, "--baseline-python") : 0;
}

static int leave_out_unreached(const struct compare_request *r,
                               const struct ab_source sides[AB_SIDES], struct workload *workload,
                               struct compared *c, struct error *err)
{
    const struct built *built[AB_SIDES] = { &sides[AB_BASE].built, &sides[AB_HEAD].built };
    struct strbuf text;

    if (!r->changed && !r->changed_map)
        return 0;
    strbuf_init(&text);
    int rc =
        reach_kernels_leave_out(workload, built, r->changed_map, r->measuring.sink, &text, err);
    c->left_out = strbuf_detach(&text);
    c->idle = rc == 0 && workload->list.nr == 0;
    return rc;
}

/* The sources end; what they measured by stays. */
static void keep_programs(const struct compare_request *r, struct ab_source sides[AB_SIDES],
                          struct compared_programs *p)
{
    p->is_there = true;
    for (int i = 0; i < AB_SIDES; i++) {
        p->path[i] = sides[i].path;
        p->binary[i] = sides[i].path;
        built_release(&sides[i].built);
    }
    if (compare_request_old_guest(r)) {
        p->binary[AB_BASE] = compare_request_old_guest(r);
        p->binary[AB_HEAD] = new_guest(r);
    }
}

int compare_measured_find(const struct compare_request *r, struct compared *c, struct error *err)
{
    struct ab_source sides[AB_SIDES] = { { .path = NULL } };
    struct compared_programs *p = &c->programs;

    int rc = workload_make(&p->workload, &r->what, r->filters, (int)r->nr_filters, "ci", err);
    if (rc == 0)
        rc = open_old_plugin(r, &p->workload.guests.settings, &p->old, err);
    if (rc == 0)
        rc = open_old_python(r, &p->old, err);
    if (rc == 0)
        rc = find_sources(r, sides, err);
    if (rc == 0) { /* also where nothing is measured */
        snprintf(c->base.what, sizeof(c->base.what), "%s", sides[AB_BASE].name);
        snprintf(c->head.what, sizeof(c->head.what), "%s", sides[AB_HEAD].name);
        rc = leave_out_unreached(r, sides, &p->workload, c, err);
    }
    if (rc == 0 && !c->idle)
        rc = measure_sides(r, sides, &p->workload, &p->old, c, err);
    keep_programs(r, sides, p);
    return rc;
}

bool compare_base_is_file(const struct compare_request *r)
{
    return history_is_path(r->baseline) && file_exists(r->baseline);
}

/* As `harness run` makes it. -1, too, where it was interrupted: what was finished is kept. */
static int record_head(const struct compare_request *r, const struct workload *workload,
                       struct store *store, struct run *run, struct error *err)
{
    enum sweep_end end = SWEEP_DONE;
    struct recording recording = {
        .workload = workload,
        .store = store,
        .measuring = &r->measuring,
        .run = run,
    };

    const struct recorded what = { .kind = RUN_MEASURED,
                                   .suite = workload->suite.name,
                                   .label = r->label,
                                   .settings = recording_settings(workload),
                                   .guests = &workload->guests,
                                   .sink = r->measuring.sink };
    if (recording_describe(run, &what, err) || roofs_recording_run(&recording, &end, err))
        return -1;
    if (!measuring_interrupted(&r->measuring))
        return 0;
    return error_set(err, "interrupted: what was finished is kept as run %lld (unfinished)",
                     (long long)run->id);
}

/* Sets r->measured: the run's id, also of one that was interrupted. */
static int measure_head(struct compare_request *r, const struct workload_options *what,
                        struct store *store, struct error *err)
{
    struct workload workload;
    struct run run = { .id = 0 };
    int rc = workload_make(&workload, what, r->filters, (int)r->nr_filters, "quick", err);

    if (rc == 0)
        rc = record_head(r, &workload, store, &run, err);
    snprintf(r->measured, sizeof(r->measured), "%lld", (long long)run.id);
    run_release(&run);
    workload_release(&workload);
    return rc;
}

int compare_head_measure(struct compare_request *r, struct store *store, struct error *err)
{
    struct workload_options what = r->what;
    struct tuned tuned = { .sink = NULL };
    struct history_side base = { .nothing = false };
    int rc = 0;

    if (!compare_base_is_file(r))
        rc = history_load_side(store, r->baseline, NULL, NULL, &base, err);
    history_side_release(&base);
    if (rc == 0 && r->tuned)
        rc = tuned_open(&tuned, &what, store, r->measuring.sink, err);
    if (rc == 0)
        rc = measure_head(r, &what, store, err);
    tuned_close(&tuned);
    r->head = r->measured;
    return rc;
}

void compared_programs_release(struct compared_programs *p)
{
    if (!p->is_there)
        return;
    for (int i = 0; i < AB_SIDES; i++)
        free(p->path[i]);
    guests_close(&p->old);
    workload_release(&p->workload);
}
