/* SPDX-License-Identifier: MIT */
#include "session/compare/compare.h"
#include "session/acceptance.h"

#include "base/memory.h"
#include "machine/environment.h"
#include "query/ref.h"
#include "session/bench/reach_kernels.h"
#include "session/compare/compare_measured.h"
#include "view/earlier_runs.h"

#include <stdlib.h>
#include <string.h>

enum { RECORD_PATIENCE_MS = 5000 };

/* With --any-machine, a name that has no runs of the head's machine classes stands for those of
 * others. */
static int find_stored_base(const struct compare_request *r, struct ref_scope *scope,
                            struct compared *c, struct error *err)
{
    int rc = history_load_side(c->store, r->baseline, scope, NULL, &c->base, err);

    if (rc == 0 || !r->any_machine || !c->base.nothing)
        return rc;
    history_side_release(&c->base);
    c->base = (struct history_side) { .nothing = false };
    scope->nr_classes = 0;
    return history_load_side(c->store, r->baseline, scope, NULL, &c->base, err);
}

/* Each once, of records that stay: free() the list. Where there are no runs, this machine's. */
static const char **classes_of(const struct records *records, const struct machine *here,
                               size_t *nr)
{
    const char **classes = memory_zeroed(records->nr_runs + 1, sizeof(*classes)); /* NOLINT */

    *nr = 0;
    for (size_t i = 0; i < records->nr_runs; i++) {
        const char *name = records->runs[i].machine.class_name;
        size_t known = 0;
        while (known < *nr && strcmp(classes[known], name) != 0)
            known++;
        if (known == *nr)
            classes[(*nr)++] = name;
    }
    if (*nr == 0)
        classes[(*nr)++] = here->class_name;
    return classes;
}

/* What the history has. The head first: its own runs must not stand in for the baseline "main" of
 * the same branch, and where it has runs of several machine classes, the base is that of each. With
 * --any-machine these are joined to one row: a base of two commits would be none of either. */
static int find_stored(const struct compare_request *r, struct compared *c, struct error *err)
{
    struct machine machine;

    if (environment_machine(&machine, err) ||
        history_load_side(c->store, r->head ? r->head : "latest", NULL, NULL, &c->head, err))
        return -1;
    struct ref_scope scope = { .exclude = c->head.records.runs,
                               .nr_exclude = c->head.records.nr_runs,
                               .together = r->any_machine };
    const char **classes = classes_of(&c->head.records, &machine, &scope.nr_classes);
    scope.classes = classes;
    int rc = find_stored_base(r, &scope, c, err);
    free(classes);
    return rc;
}

int compare_sides_find(const struct compare_request *r, struct compared *c, struct error *err)
{
    return compare_request_measures(r) ? compare_measured_find(r, c, err) : find_stored(r, c, err);
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
    if (compare_measured_check(r, err) || compare_request_rule(r, rule, err))
        return -1;
    if (r->explain_budget > 0 && !r->explain)
        return error_set(err, "--explain-budget goes with --explain");
    if (rule->numbers.nr > 0 && !r->benches)
        return error_set(err,
                         "--metric %s=... reads what a program prints: harness compare --metric "
                         "... -- A --versus B, or harness gate --bench COMMAND; what is in the "
                         "history is asked for by its name alone, --metric %s",
                         rule->numbers.items[0].name, rule->numbers.items[0].name);
    if (compare_request_measures(r))
        return r->benches ? 0 : reach_kernels_check(r->changed_map, err);
    if (!r->baseline)
        return error_set(err, "give --baseline REF: a baseline, branch, commit, run or file");
    return check_models(&r->what.models, err);
}

/* Self-tests compare times. What is no time, nor a rate over it, has a floor and a noise of its
 * own: a machine on which 0.5 % of time cannot be seen counts instructions as any other does. */
static const struct compare_item *first_of_time(const struct comparison *c)
{
    for (size_t i = 0; i < c->nr; i++)
        if (c->rows[i].item->metric->kind != METRIC_FACT)
            return c->rows[i].item;
    return NULL;
}

/* Where the last self-test of the machine shows that it cannot carry this floor. */
static void note_gate(struct store *store, struct comparison *c)
{
    const struct compare_item *item = first_of_time(c);
    char text[SELFTEST_TEXT_SIZE];

    if (item && gate_warning(store, item->machine, item->bench->device,
                             item->evidence.design == DESIGN_BLOCKS, c->settings.delta, text))
        comparison_note(c, "The last self-test here: %s", text);
}

/* Verdicts of a part of what was asked for say so. */
static void note_left_out(struct comparison *c, const struct history_side *side)
{
    for (size_t i = 0; i < side->notes.nr; i++)
        comparison_note(c, "Left out of the %s: %s", side->what, side->notes.items[i]);
}

/* The whole family, whatever is shown of it. */
static void record_verdicts(const struct compare_request *r, const struct compared *c,
                            const struct verdict_sides *sides)
{
    if (c->comparison.nr == 0)
        return;
    if (c->cannot_record) {
        sink_note(r->measuring.sink, "harness: these verdicts are not recorded%s\n",
                  c->cannot_record);
        return;
    }
    store_set_patience(c->store, RECORD_PATIENCE_MS);
    verdict_keep(c->store, sides, &c->comparison, r->measuring.sink);
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

    if (c->store)
        heed_placement(c);
    int rc = c->store ? earlier_runs_load(c->store, base, head, &earlier, err) : 0;
    if (rc == 0)
        rc = compare_sides_run(&(struct compare_sides) { base, head, &earlier }, &c->rule.settings,
                               &c->comparison, err);
    records_release(&earlier);
    if (rc == 0 && c->store)
        rc = acceptances_mark(c->store, &sides, &c->comparison, &c->accepted, err);
    if (rc)
        return -1;
    if (!r->no_record && !c->interrupted) /* half a measurement is no newest verdict */
        record_verdicts(r, c, &sides);
    if (c->store)
        note_gate(c->store, &c->comparison);
    note_left_out(&c->comparison, &c->base);
    note_left_out(&c->comparison, &c->head);
    if (c->left_out && *c->left_out)
        comparison_note(&c->comparison, "%s", c->left_out);
    /* Where it was measured now, the filters chose what: all of it is shown. */
    if (compare_request_measures(r))
        return 0;
    compare_warn_filters(&c->comparison, (const char *const *)r->filters, r->nr_filters);
    compare_show(&c->comparison, (const char *const *)r->filters, r->nr_filters);
    return show_models_alone(&r->what.models, &c->comparison, err);
}

/* ---- explaining ---- */

static struct explain_source explained_side(const struct compare_request *r,
                                            const struct compared *c, enum ab_side side)
{
    const struct compared_programs *p = &c->programs;
    struct explain_source source = {
        .records = side == AB_BASE ? &c->base.records : &c->head.records,
    };

    if (!p->is_there)
        return source;
    source.scoped.program = p->path[side];
    source.scoped.guests = side == AB_BASE && compare_request_old_guest(r) ? &p->old : NULL;
    source.binary = p->binary[side] ? p->binary[side] : "/proc/self/exe";
    return source;
}

void compare_sides_explain(const struct compare_request *r, struct compared *c)
{
    struct error why;
    const struct explain_request request = {
        .comparison = &c->comparison,
        .side = { explained_side(r, c, AB_BASE), explained_side(r, c, AB_HEAD) },
        .workload = c->programs.is_there ? &c->programs.workload : NULL,
        .store = c->store,
        .budget = r->explain_budget,
        .measuring = &r->measuring,
    };

    if (!r->explain || c->interrupted || !explain_comparison(&request, &c->explanations, &why))
        return;
    if (measuring_interrupted(&r->measuring))
        c->interrupted = (int)*r->measuring.interrupted;
    sink_note(r->measuring.sink, "harness: not all is explained: %s\n", why.message);
}

void compared_release(struct compared *c)
{
    explanations_release(&c->explanations);
    compared_programs_release(&c->programs);
    comparison_release(&c->comparison);
    store_acceptances_release(&c->accepted);
    history_side_release(&c->base);
    history_side_release(&c->head);
    compare_rule_release(&c->rule);
    free(c->left_out);
}
