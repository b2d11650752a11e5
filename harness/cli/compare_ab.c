/* SPDX-License-Identifier: MIT */
#include "cli/compare_ab.h"

#include "base/memory.h"
#include "cli/ab.h"
#include "cli/builds.h"
#include "cli/git_tree.h"
#include "cli/interrupt.h"
#include "cli/recording.h"
#include "cli/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One side on its way from words to a program. */
struct side {
    char *path; /* owned; NULL: this program */
    char name[200];
    struct built built;
};

bool compare_ab_wanted(const struct compare_ab_options *o)
{
    return o->build || o->baseline_bin || o->head_bin || o->baseline_plugin;
}

const char *compare_ab_option(const struct compare_ab_options *o)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        { "--suite", o->what.suite },
        { "--device", o->what.device },
        { "--model", o->what.models.nr },
        { "--variant", o->what.variants.nr },
        { "--dtype", o->what.dtypes.nr },
        { "--cache", o->what.caches.nr },
        { "--dim", o->what.dims.nr },
        { "--batch", o->what.batch.nr },
        { "--seq", o->what.seq.nr },
        { "--test-shapes", o->what.test_shapes },
        { "--plugin", o->what.plugins.nr },
        { "--budget", o->budget > 0 },
        { "--blocks", o->blocks },
        { "--timeout", o->timeout > 0 },
        { "--no-repeat", o->no_repeat },
        { "--memory-limit", o->memory_limit },
        { "--seed", o->seed },
        { "--label", o->label },
        { "--build-command", o->build_command },
        { "--build-program", o->build_program },
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (options[i].given)
            return options[i].name;
    return NULL;
}

int compare_ab_check(const struct compare_ab_options *o, const char *baseline, const char *head,
                     struct error *err)
{
    const char *option = compare_ab_option(o);

    if (recording_check_label(o->label, sizeof(" base") - 1, err))
        return -1;
    if (!compare_ab_wanted(o))
        return option ? error_set(err,
                                  "%s is for measuring: give --baseline-bin PATH, or "
                                  "--baseline-plugin FILE, or --build with --baseline REF",
                                  option)
                      : 0;
    if (o->build && (o->baseline_bin || o->head_bin || o->baseline_plugin))
        return error_set(err,
                         "--build and --baseline-bin, --head-bin, --baseline-plugin exclude each "
                         "other");
    if (o->build)
        return baseline ? 0 : error_set(err, "--build needs --baseline REF: a branch or commit");
    if (o->baseline_plugin && !o->what.plugins.nr)
        return error_set(err, "--baseline-plugin needs --plugin FILE, the new side");
    if (!o->baseline_bin && !o->baseline_plugin)
        return error_set(err, "--head-bin needs --baseline-bin PATH");
    if (baseline || head)
        return error_set(err, "programs are given by path: --baseline and --head go with --build");
    if (o->build_command || o->build_program)
        return error_set(err, "--build-command and --build-program go with --build");
    return 0;
}

static int find_program(const char *path, const char *option, const char *plugin, struct side *side,
                        struct error *err)
{
    if (!path) {
        snprintf(side->name, sizeof(side->name), "%s", plugin ? plugin : "this program");
        return 0;
    }
    snprintf(side->name, sizeof(side->name), "%s", path);
    side->path = realpath(path, NULL);
    return side->path ? 0 : error_set(err, "%s: %s: %s", option, path, strerror(errno));
}

static int build_side(const struct compare_ab *ab, const char *ref,
                      const volatile sig_atomic_t *interrupted, struct side *side,
                      struct error *err)
{
    struct build_recipe recipe = {
        .command = ab->options->build_command,
        .program = ab->options->build_program,
        .db = ab->db,
        .interrupted = interrupted,
        .begins = builds_tell,
    };
    char commit[GIT_HASH_SIZE];

    if (builds_resolve(ref, commit, err))
        return -1;
    if (builds_make(commit, &recipe, &side->built, err))
        return -1;
    if (!side->built.program)
        return error_set(err, "%s (%.7s %s) gives no program to measure:\n%s", ref, commit,
                         side->built.title, side->built.complaint ? side->built.complaint : "");
    snprintf(side->name, sizeof(side->name), "%.120s at %.7s", ref, commit);
    side->path = memory_string(side->built.program);
    return 0;
}

static int find_sides(const struct compare_ab *ab, const volatile sig_atomic_t *interrupted,
                      struct side sides[AB_SIDES], struct error *err)
{
    const struct compare_ab_options *o = ab->options;

    if (!o->build)
        return find_program(o->baseline_bin, "--baseline-bin", o->baseline_plugin, &sides[AB_BASE],
                            err) ||
                       find_program(o->head_bin, "--head-bin",
                                    o->baseline_plugin ? o->what.plugins.items[0] : NULL,
                                    &sides[AB_HEAD], err)
                   ? -1
                   : 0;
    if (!ab->head && git_tree_dirty() > 0)
        terminal_note(
            "note: HEAD is built as it is committed; the tree has changes that are "
            "not in it\n");
    return build_side(ab, ab->baseline, interrupted, &sides[AB_BASE], err) ||
                   build_side(ab, ab->head ? ab->head : "HEAD", interrupted, &sides[AB_HEAD], err)
               ? -1
               : 0;
}

static void tell_plan(const struct choice *choice, bool plugins)
{
    const struct suite *suite = &choice->suite;
    size_t nr = choice->list.nr;

    terminal_note("measuring %zu benchmark%s%s%s on %s by two %s in turn\n", nr, nr == 1 ? "" : "s",
                  suite->name[0] ? " of suite " : "", suite->name, choice->device.label,
                  plugins ? "plugins" : "programs");
}

static void tell_end(const struct ab_request *r, const struct ab_session *s)
{
    struct strbuf text;

    strbuf_init(&text);
    ab_session_summary(r, s, &text);
    terminal_note("%s\n", text.data);
    strbuf_release(&text);
}

/* The records go over to the sides; the rest of the session ends here. */
static void hand_over(struct ab_session *s, struct history_side *base, struct history_side *head)
{
    struct history_side *sides[AB_SIDES] = { [AB_BASE] = base, [AB_HEAD] = head };

    for (int i = 0; i < AB_SIDES; i++) {
        sides[i]->records = s->records[i];
        s->records[i] = (struct records) { 0 };
        snprintf(sides[i]->what, sizeof(sides[i]->what), "%s", s->what[i]);
    }
}

static int measure(const struct compare_ab *ab, const struct side sides[AB_SIDES],
                   const struct choice *choice, const struct guests *old,
                   const volatile sig_atomic_t *interrupted, struct ab_session *session,
                   struct error *err)
{
    const struct compare_ab_options *o = ab->options;
    struct ab_request request = {
        .choice = choice,
        .store = ab->store,
        .compare = *ab->settings,
        .label = o->label,
        .budget = o->budget,
        .blocks_max = (int)o->blocks,
        .case_timeout = o->timeout,
        .memory_limit = o->memory_limit,
        .once = o->no_repeat,
        .seed = (uint64_t)o->seed,
        .interrupted = interrupted,
    };

    for (int i = 0; i < AB_SIDES; i++)
        request.side[i] = (struct ab_request_side) {
            .program = sides[i].path,
            .name = sides[i].name,
            .commit = sides[i].built.commit[0] ? sides[i].built.commit : NULL,
        };
    if (o->baseline_plugin)
        request.side[AB_BASE].guests = old;
    tell_plan(choice, o->baseline_plugin && !o->baseline_bin);
    if (ab_session_run(&request, session, err))
        return -1;
    tell_end(&request, session);
    return session->end == AB_INTERRUPTED ? 128 + (int)*interrupted : 0;
}

/* What the base measures in place of --plugin. */
static int open_old_plugin(const struct compare_ab_options *o, struct guests *old,
                           struct error *err)
{
    struct string_list list = { 0 };

    if (!o->baseline_plugin)
        return 0;
    string_list_add(&list, o->baseline_plugin);
    int rc = guests_open(old, registry_builtin(), &list, NULL, err);
    string_list_release(&list);
    return rc ? error_prefix(err, "--baseline-plugin") : 0;
}

int compare_ab_run(const struct compare_ab *ab, struct history_side *base,
                   struct history_side *head, struct error *err)
{
    const volatile sig_atomic_t *interrupted = interrupt_watch();
    struct side sides[AB_SIDES] = { { .path = NULL } };
    struct ab_session session = { .blocks = 0 };
    struct choice choice;
    struct guests old = { .command_guest = NULL };

    int rc = choice_make(&choice, &ab->options->what, ab->filters, ab->nr_filters, "ci", err);
    if (rc == 0)
        rc = open_old_plugin(ab->options, &old, err);
    if (rc == 0)
        rc = find_sides(ab, interrupted, sides, err);
    if (rc == 0)
        rc = measure(ab, sides, &choice, &old, interrupted, &session, err);
    hand_over(&session, base, head);
    ab_session_release(&session);
    for (int i = 0; i < AB_SIDES; i++) {
        free(sides[i].path);
        built_release(&sides[i].built);
    }
    guests_close(&old);
    choice_release(&choice);
    return rc;
}
