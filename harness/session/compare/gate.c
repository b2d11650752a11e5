/* SPDX-License-Identifier: MIT */
#include "session/compare/gate.h"

#include "base/memory.h"
#include "session/bench/reach_kernels.h"
#include "session/compare/compare_measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the commits ---- */

/* The branch that changes go to, as far as a clone tells. */
static const char *find_main_branch(void)
{
    static const char *const names[] = { "origin/HEAD", "main", "master", "origin/main",
                                         "origin/master" };
    struct git_commit ignored;
    struct error why;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (git_resolve(names[i], &ignored, &why) == 0)
            return names[i];
    return NULL;
}

static int find_fork(struct gate *g, struct error *err)
{
    const char *arguments[] = { "merge-base", g->base.hash, g->head.hash, NULL };
    struct strbuf out;
    struct error why;

    strbuf_init(&out);
    int rc = git_run(arguments, &out, &why);
    if (rc || out.length >= sizeof(g->fork.hash)) {
        rc = error_set(err,
                       "%.7s and %.7s have no commit in common; is the clone a shallow one? (in a "
                       "workflow: fetch-depth: 0)",
                       g->base.hash, g->head.hash);
    } else {
        memcpy(g->fork.hash, out.data, out.length + 1);
        rc = git_title(&g->fork, err);
    }
    strbuf_release(&out);
    return rc;
}

static int resolve_gate_ref(const char *ref, struct git_commit *commit, struct error *err)
{
    struct error why;

    if (git_resolve(ref, commit, &why) == 0)
        return 0;
    return error_set(err, "%s (in a workflow fetch all of the history: fetch-depth: 0)",
                     why.message);
}

static int find_gate_ends(struct gate *g, struct error *err)
{
    const struct gate_request *r = g->request;
    const char *base = r->base, *head = r->head;

    if (!base && g->event.base[0])
        base = g->event.base;
    if (!head && g->event.head[0] && !r->base)
        head = g->event.head;
    if (!base)
        base = find_main_branch();
    if (!base)
        return error_set(err, "give --base REF: the branch or commit to compare with");
    if (resolve_gate_ref(base, &g->base, err) ||
        resolve_gate_ref(head ? head : "HEAD", &g->head, err))
        return -1;
    if (!head && git_tree_dirty() > 0)
        sink_note(r->compare.measuring.sink,
                  "note: HEAD is measured as it is committed; the tree has changes that are not in "
                  "it\n");
    return find_fork(g, err);
}

/* free() it. */
static struct reach_thing *gate_things(const struct bench_list *benches)
{
    struct reach_thing *things = memory_zeroed(benches->nr + 1, sizeof(*things));

    for (size_t i = 0; i < benches->nr; i++) {
        things[i].name = benches->items[i].name;
        things[i].command = benches->items[i].command;
    }
    return things;
}

static int check_gate_map(const struct gate_request *r, struct error *err)
{
    struct reach_thing *things = gate_things(&r->benches);
    const struct reach_request map = { .things = things,
                                       .nr = r->benches.nr,
                                       .map = r->compare.changed_map };
    int rc = r->benches.nr > 0 ? reach_check(&map, err)
                               : reach_kernels_check(r->compare.changed_map, err);

    free(things);
    return rc;
}

int gate_begin(struct gate *g, struct error *err)
{
    struct compare_request *compare = &g->request->compare;

    if (check_gate_map(g->request, err))
        return -1;
    if (!g->request->base && gate_event_read(&g->event, err))
        return -1;
    g->nothing = g->event.closed;
    if (g->nothing)
        return 0;
    if (find_gate_ends(g, err))
        return -1;
    g->nothing = strcmp(g->fork.hash, g->head.hash) == 0;
    compare->build = true;
    compare->baseline = g->fork.hash;
    compare->head = g->head.hash;
    return 0;
}

/* ---- building ---- */

/* A project's commit, by this recipe; what could not be built is an error that says why. */
static int build_gate_side(const struct build_recipe *recipe, const char *commit, struct built *out,
                           struct error *err)
{
    if (builds_make(commit, recipe, out, err))
        return -1;
    if (out->program)
        return 0;
    return error_set(err, "%.7s %s does not build:\n%s", commit, out->title,
                     out->complaint ? out->complaint : "");
}

static int build_gate_sides(struct gate *g, struct error *err)
{
    const struct compare_request *r = &g->request->compare;
    const struct build_recipe recipe = {
        .command = r->build_command,
        .foreign = true,
        .folder = r->builds,
        .interrupted = r->measuring.interrupted,
        .begins = measuring_build_begins,
        .context = &r->measuring,
    };

    return build_gate_side(&recipe, g->fork.hash, &g->built[AB_BASE], err) ||
                   build_gate_side(&recipe, g->head.hash, &g->built[AB_HEAD], err)
               ? -1
               : 0;
}

/* ---- what the change reaches ---- */

static void name_gate_left_out(const struct gate *g, struct strbuf *out)
{
    const struct bench_list *benches = &g->request->benches;

    for (size_t i = 0; i < benches->nr; i++)
        if (g->reach.left_out[i])
            strbuf_addf(out, "%s%s", out->length ? ", " : REACH_LEFT_OUT, benches->items[i].name);
}

static int find_gate_reach(struct gate *g, struct compared *c, struct error *err)
{
    const struct compare_request *r = &g->request->compare;
    const struct session_sink *sink = r->measuring.sink;
    struct strbuf text;

    if (!r->changed && !r->changed_map)
        return 0;
    struct reach_thing *things = gate_things(&g->request->benches);
    const struct reach_request request = {
        .things = things,
        .nr = g->request->benches.nr,
        .side = { &g->built[AB_BASE], &g->built[AB_HEAD] },
        .map = r->changed_map,
    };
    int rc = reach_find(&request, &g->reach, err);
    free(things);
    if (rc)
        return -1;
    strbuf_init(&text);
    name_gate_left_out(g, &text);
    if (text.length)
        sink_note(sink, "%s\n", text.data);
    reach_note_unknown(&g->reach, sink);
    c->left_out = strbuf_detach(&text);
    c->idle = g->reach.nr_left_out == g->request->benches.nr;
    return 0;
}

/* ---- measuring ---- */

static int measure_gate_benches(struct gate *g, struct compared *c, struct error *err)
{
    const struct compare_request *r = &g->request->compare;
    char names[AB_SIDES][GIT_TITLE_SIZE + 16];
    struct ab_session session;

    snprintf(names[AB_BASE], sizeof(names[0]), "base at %.7s", g->fork.hash);
    snprintf(names[AB_HEAD], sizeof(names[0]), "head at %.7s", g->head.hash);
    struct bench_ab_request request = {
        .benches = &g->request->benches,
        .left_out = g->reach.left_out,
        .side = { &g->built[AB_BASE], &g->built[AB_HEAD] },
        .name = { names[AB_BASE], names[AB_HEAD] },
        .format = g->request->format,
        .numbers = &c->rule.numbers,
        .betters = c->rule.numbers.nr ? NULL : &r->numbers.betters,
        .filters = (const char *const *)r->filters,
        .nr_filters = r->nr_filters,
        .build_command = r->build_command,
        .store = c->store,
        .compare = c->rule.settings,
        .label = r->label,
        .measuring = r->measuring,
        .blocks_max = (int)r->blocks,
    };
    int rc = bench_ab_run(&request, &session, err);
    compared_take_session(c, &session, rc == 0, &r->measuring);
    return rc;
}

int gate_measure(struct gate *g, struct compared *c, struct error *err)
{
    if (g->request->benches.nr == 0)
        return compare_sides_find(&g->request->compare, c, err);
    if (build_gate_sides(g, err) || find_gate_reach(g, c, err))
        return -1;
    return c->idle ? 0 : measure_gate_benches(g, c, err);
}

int gate_exit_status(const char *fail_on, int status)
{
    bool passes = status == EXIT_UNDECIDED && !(fail_on && strcmp(fail_on, "undecided") == 0);

    return passes ? 0 : status;
}

void gate_release(struct gate *g)
{
    for (int i = 0; i < AB_SIDES; i++)
        built_release(&g->built[i]);
    reach_release(&g->reach);
    bench_list_release(&g->request->benches);
}
