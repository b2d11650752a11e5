/* SPDX-License-Identifier: MIT */
#include "session/compare.h"
#include "session/acceptance.h"

#include "base/memory.h"
#include "machine/environment.h"
#include "query/ref.h"
#include "session/builds/builds.h"
#include "session/builds/git.h"
#include "session/measure/ab.h"
#include "session/measure/recording.h"
#include "view/earlier_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_PATIENCE_MS = 5000 };

/* One side on its way from words to a program. */
struct ab_source {
    char *path; /* owned; NULL: this program */
    char name[200];
    struct built built;
};

bool compare_request_measures(const struct compare_request *o)
{
    return o->build || o->baseline_bin || o->head_bin || o->baseline_plugin;
}

const char *compare_request_option(const struct compare_request *o)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        { "--budget", o->measuring.budget > 0 },
        { "--blocks", o->blocks },
        { "--timeout", o->measuring.timeout > 0 },
        { "--no-repeat", o->measuring.no_repeat },
        { "--memory-limit", o->measuring.memory_limit },
        { "--seed", o->measuring.seed },
        { "--label", o->label },
        { "--build-command", o->build_command },
        { "--build-program", o->build_program },
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (options[i].given)
            return options[i].name;
    return workload_option(&o->what);
}

/* How it is to be measured, and by what. */
static int check_measuring(const struct compare_request *o, struct error *err)
{
    const char *option = compare_request_option(o);

    if (recording_check_label(o->label, sizeof(" base") - 1, err))
        return -1;
    if (!compare_request_measures(o))
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
        return o->baseline ? 0 : error_set(err, "--build needs --baseline REF: a branch or commit");
    if (o->baseline_plugin && !o->what.plugins.nr)
        return error_set(err, "--baseline-plugin needs --plugin FILE, the new side");
    if (!o->baseline_bin && !o->baseline_plugin)
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
        return find_program(r->baseline_bin, "--baseline-bin", r->baseline_plugin, &sides[AB_BASE],
                            err) ||
                       find_program(r->head_bin, "--head-bin",
                                    r->baseline_plugin ? r->what.plugins.items[0] : NULL,
                                    &sides[AB_HEAD], err)
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
              r->baseline_plugin && !r->baseline_bin ? "plugins" : "programs");
}

static void note_end(const struct ab_request *r, const struct ab_session *s)
{
    struct strbuf text;

    strbuf_init(&text);
    ab_session_summary(r, s, &text);
    sink_note(r->measuring.sink, "%s\n", text.data);
    strbuf_release(&text);
}

/* Now, not at the end: a benchmark leaves when it is decided by these settings. */
static void heed_placement_here(struct compared *c, const struct device *device)
{
    struct machine machine = { 0 };

    environment_machine(&machine);
    placements_heed(&c->rule.placements, c->store, machine.class_name, device->label,
                    &c->rule.settings);
}

/* The records go over to the sides; the rest of the session ends here. */
static void hand_over_records(struct ab_session *s, struct compared *c)
{
    struct history_side *sides[AB_SIDES] = { [AB_BASE] = &c->base, [AB_HEAD] = &c->head };

    for (int i = 0; i < AB_SIDES; i++) {
        sides[i]->records = s->records[i];
        s->records[i] = (struct records) { 0 };
        snprintf(sides[i]->what, sizeof(sides[i]->what), "%s", s->what[i]);
    }
}

static int measure_sides(const struct compare_request *r, const struct ab_source sides[AB_SIDES],
                         const struct workload *workload, const struct guests *old,
                         struct compared *c, struct error *err)
{
    struct ab_session session = { .blocks = 0 };

    heed_placement_here(c, &workload->device);
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
    if (r->baseline_plugin)
        request.side[AB_BASE].guests = old;
    note_plan(r, workload);
    int rc = ab_session_run(&request, &session, err);
    if (rc == 0) {
        note_end(&request, &session);
        c->interrupted = session.end == AB_INTERRUPTED ? (int)*r->measuring.interrupted : 0;
    }
    hand_over_records(&session, c);
    ab_session_release(&session);
    return rc;
}

/* What the base measures in place of --plugin. */
static int open_old_plugin(const struct compare_request *o, struct guests *old, struct error *err)
{
    struct string_list list = { 0 };

    if (!o->baseline_plugin)
        return 0;
    string_list_add(&list, o->baseline_plugin);
    int rc = guests_open(old, registry_builtin(), &list, NULL, err);
    string_list_release(&list);
    return rc ? error_prefix(err, "--baseline-plugin") : 0;
}

/* What is measured now, in turn. */
static int find_measured(const struct compare_request *r, struct compared *c, struct error *err)
{
    struct ab_source sides[AB_SIDES] = { { .path = NULL } };
    struct workload workload;
    struct guests old = { .command_guest = NULL };

    int rc = workload_make(&workload, &r->what, r->filters, (int)r->nr_filters, "ci", err);
    if (rc == 0)
        rc = open_old_plugin(r, &old, err);
    if (rc == 0)
        rc = find_sources(r, sides, err);
    if (rc == 0)
        rc = measure_sides(r, sides, &workload, &old, c, err);
    for (int i = 0; i < AB_SIDES; i++) {
        free(sides[i].path);
        built_release(&sides[i].built);
    }
    guests_close(&old);
    workload_release(&workload);
    return rc;
}

/* What the history has. The head first: its own runs must not stand in for the baseline "main" of
 * the same branch. */
static int find_stored(const struct compare_request *r, struct compared *c, struct error *err)
{
    struct machine machine;
    struct ref_scope scope = { .machine_class = machine.class_name };

    environment_machine(&machine);
    if (history_load_side(c->store, r->head ? r->head : "latest", NULL, NULL, &c->head, err))
        return -1;
    scope.exclude = c->head.runs.ids;
    scope.nr_exclude = c->head.runs.nr;
    if (c->head.records.nr_runs > 0)
        scope.machine_class = c->head.records.runs[0].machine.class_name;
    return history_load_side(c->store, r->baseline, &scope, NULL, &c->base, err);
}

int compare_sides_find(const struct compare_request *r, struct compared *c, struct error *err)
{
    return compare_request_measures(r) ? find_measured(r, c, err) : find_stored(r, c, err);
}

/* ---- deciding ---- */

/* All but the metrics that are not known yet: the history or what is measured may bring them, and
 * if it does not, the comparison says so. */
static int check_known_metrics(const struct compare_settings *settings, struct error *err)
{
    const char *known[COMPARE_METRICS_MAX + 1] = { NULL };
    struct compare_settings now = *settings;
    size_t nr = 0;

    for (const char *const *id = settings->metrics; id && *id; id++)
        if (metric_find(*id, NULL))
            known[nr++] = *id;
    now.metrics = nr > 0 ? known : NULL;
    return compare_check_settings(&now, err);
}

static void point_at_judged(struct compare_rule *rule)
{
    for (size_t i = 0; i < rule->judged.nr; i++)
        rule->metrics[i] = rule->judged.items[i];
    rule->settings.metrics = rule->judged.nr > 0 ? rule->metrics : NULL;
}

static bool asks_for_printed(const struct number_options *o)
{
    for (size_t i = 0; i < o->metrics.nr; i++)
        if (strchr(o->metrics.items[i], '='))
            return true;
    return false;
}

/* Where nothing is to be printed, --better is of numbers in the results of benches. */
static int judge_by_options(const struct compare_request *r, struct compare_rule *rule,
                            struct error *err)
{
    struct number_options asked = r->numbers;

    if (r->benches && !asks_for_printed(&r->numbers)) {
        if (number_check_ways(&asked.betters, err))
            return -1;
        asked.betters = (struct string_list) { NULL, 0, 0 };
    }
    return number_options_judged(&asked, &rule->numbers, &rule->judged, err);
}

int compare_request_rule(struct compare_request *r, struct compare_rule *rule, struct error *err)
{
    rule->settings = (struct compare_settings)COMPARE_DEFAULTS;
    rule->settings.any_machine = r->any_machine;
    if (r->q > 0)
        rule->settings.q = r->q;
    if (judge_by_options(r, rule, err))
        return -1;
    if (rule->judged.nr > COMPARE_METRICS_MAX)
        return error_set(err, "--metric: at most %d at a time", COMPARE_METRICS_MAX);
    point_at_judged(rule);
    if (floors_parse(&r->deltas, &rule->floors, &rule->settings, err))
        return -1;
    if (compare_request_measures(r) && !r->benches && rule->numbers.nr == 0)
        return compare_check_settings(&rule->settings, err);
    return check_known_metrics(&rule->settings, err);
}

int compare_rule_declare(struct compare_rule *rule, struct error *err)
{
    if (number_specs_declare(&rule->numbers, &rule->judged, err))
        return -1;
    point_at_judged(rule);
    return 0;
}

void compare_rule_release(struct compare_rule *rule)
{
    number_specs_release(&rule->numbers);
    string_list_release(&rule->judged);
    floors_release(&rule->floors);
    placements_release(&rule->placements);
}

static int check_models(const struct string_list *models, struct error *err)
{
    struct string_list ignored = { 0 };
    int rc = selection_model_filters(registry_builtin(), models, &ignored, err);

    string_list_release(&ignored);
    return rc;
}

int compare_request_check(struct compare_request *r, struct compare_rule *rule, struct error *err)
{
    if (check_measuring(r, err) || compare_request_rule(r, rule, err))
        return -1;
    if (rule->numbers.nr > 0 && !r->benches)
        return error_set(err,
                         "--metric %s=... reads what a program prints: harness compare --metric "
                         "... -- A --versus B, or harness gate --bench COMMAND; what is in the "
                         "history is asked for by its name alone, --metric %s",
                         rule->numbers.items[0].name, rule->numbers.items[0].name);
    if (compare_request_measures(r))
        return 0;
    if (!r->baseline)
        return error_set(err, "give --baseline REF: a baseline, branch, commit, run or file");
    return check_models(&r->what.models, err);
}

/* Where the last self-test of the machine shows that it cannot carry this floor. */
static void note_gate(struct store *store, struct comparison *c)
{
    const struct compare_item *item = c->nr ? c->rows[0].item : NULL;
    char text[SELFTEST_TEXT_SIZE];

    if (item && gate_warning(store, item->machine, item->bench->device,
                             item->evidence.design == DESIGN_BLOCKS, c->settings.delta, text))
        comparison_note(c, "The last self-test here: %s", text);
}

/* The whole family, whatever is shown of it. Where that fails, the comparison stands all the same.
 */
static void record_verdicts(const struct compare_request *r, const struct compared *c,
                            const struct verdict_sides *sides)
{
    struct error why;

    if (c->comparison.nr == 0)
        return;
    if (c->cannot_record) {
        sink_note(r->measuring.sink, "harness: these verdicts are not recorded%s\n",
                  c->cannot_record);
        return;
    }
    store_set_patience(c->store, RECORD_PATIENCE_MS);
    if (verdict_add(c->store, sides, &c->comparison, &why))
        sink_note(r->measuring.sink,
                  "harness: these verdicts are not recorded (--no-record asks for that): %s\n",
                  why.message);
}

/* What placement alone may move is no change of the code: of each device that the head was measured
 * on, and each machine. */
static void heed_placement(struct compared *c)
{
    const struct records *head = &c->head.records;

    for (size_t i = 0; i < head->nr; i++) {
        const struct record *r = &head->items[i];
        placements_heed(&c->rule.placements, c->store, head->runs[r->run].machine.class_name,
                        r->m.bench.device, &c->rule.settings);
    }
}

/* Of what is in the history, models are a further filter. */
static int show_models_alone(const struct string_list *models, struct comparison *c,
                             struct error *err)
{
    struct string_list filters = { 0 };
    int rc = selection_model_filters(registry_builtin(), models, &filters, err);

    if (rc == 0)
        compare_show(c, (const char *const *)filters.items, filters.nr);
    string_list_release(&filters);
    return rc;
}

int compare_sides_decide(const struct compare_request *r, struct compared *c, struct error *err)
{
    struct records earlier = { 0 }, *base = &c->base.records, *head = &c->head.records;
    struct verdict_sides sides = { c->base.what, c->head.what, base, head };

    heed_placement(c);
    int rc = earlier_runs_load(c->store, base, head, &earlier, err);
    if (rc == 0)
        rc = compare_sides_run(&(struct compare_sides) { base, head, &earlier }, &c->rule.settings,
                               &c->comparison, err);
    records_release(&earlier);
    if (rc == 0)
        rc = acceptances_mark(c->store, &sides, &c->comparison, &c->accepted, err);
    if (rc)
        return -1;
    if (!r->no_record)
        record_verdicts(r, c, &sides);
    note_gate(c->store, &c->comparison);
    /* Where it was measured now, the filters chose what: all of it is shown. */
    if (compare_request_measures(r))
        return 0;
    compare_show(&c->comparison, (const char *const *)r->filters, r->nr_filters);
    return show_models_alone(&r->what.models, &c->comparison, err);
}

void compared_release(struct compared *c)
{
    comparison_release(&c->comparison);
    store_acceptances_release(&c->accepted);
    history_side_release(&c->base);
    history_side_release(&c->head);
    compare_rule_release(&c->rule);
}
