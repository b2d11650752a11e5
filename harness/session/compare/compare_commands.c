/* SPDX-License-Identifier: MIT */
#include "session/compare/compare_commands.h"

#include "base/memory.h"
#include "command/command_words.h"
#include "explain/evidence.h"
#include "process/process.h"
#include "session/verdict_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where nothing is said of that: enough for most differences that are there, and for a few blocks
 * of programs that take long. */
enum { USUAL_BUDGET_S = 30, USUAL_BLOCKS = 8 };

/* ---- settings ---- */

static const struct guests *guests_of(const struct commands_compared *c, size_t command)
{
    return command ? &c->guests[command] : &c->workload.guests;
}

static char *fill_for(const struct commands_compared *c, const struct benchmark *b,
                      const char *text)
{
    return command_fill_all(c->workload.guests.command_guest, b->variant, &b->shape, text);
}

/* --setup and --cleanup; a setup may start what stays until the cleanup. `stop` ends it when set;
 * NULL: nothing does. */
static int run_line(const struct commands_compared *c, const struct benchmark *b,
                    const char *option, const char *template, const volatile sig_atomic_t *stop,
                    struct error *err)
{
    char *line = fill_for(c, b, template);
    const char *argv[] = { "/bin/sh", "-c", line, NULL };
    const struct process process = { .argv = argv, .leaves = true, .interrupted = stop };
    struct process_result result;
    struct strbuf said;

    if (!line)
        return 0;
    strbuf_init(&said);
    int rc = process_run(&process, &said, NULL, &result, err);
    strbuf_keep_last(&said, said.length < 400 ? said.length : 400);
    while (said.length > 0 && said.data[said.length - 1] == '\n')
        said.data[--said.length] = '\0';
    if (rc == 0 && result.end == PROCESS_INTERRUPTED)
        rc = error_set(err, "%s was interrupted", option);
    else if (rc == 0 && (result.end != PROCESS_EXITED || result.status != 0))
        rc = error_set(err, "%s %s %d%s%s", option,
                       result.end == PROCESS_EXITED ? "exited with status" : "died by signal",
                       result.status, said.length ? ": " : "", said.data);
    strbuf_release(&said);
    free(line);
    return rc;
}

/* ---- the first runs ---- */

/* What fails there, of one command. */
struct first_runs {
    struct commands_compared *c;
    const struct benchmark_list *list;
    size_t command, which; /* in the list: what ends next */
    bool failed;
    double block; /* s: about what a block will take */
};

static int first_ends(void *context, const struct launch *l, const struct measurement *m,
                      struct error *err)
{
    struct first_runs *first = context;
    const struct benchmark *b = &first->list->items[first->which++];

    (void)l;
    (void)err;
    double run = m->nr_samples ? m->seconds / (double)m->nr_samples : 0;
    first->block += AB_LAUNCHES * fmax(run, first->c->workload.suite.sampling.max_time);
    if (m->outcome == OUTCOME_OK)
        return 0;
    struct command_result *result = commands_add_result(first->c, first->command, b);
    result->outcome = m->outcome;
    result->message = memory_string(m->message);
    first->failed = true;
    return 0;
}

static int run_first(const struct commands_request *r, struct commands_compared *c,
                     const struct benchmark_list *list, struct first_runs *told, struct error *err)
{
    struct first_runs first = { .c = c, .list = list };
    const struct measurement_sink sink = { .context = &first, .measurement = first_ends };
    struct sweep sweep = {
        .what = measuring_set(&r->measuring, &c->workload, c->workload.device.spec),
        .launches = 1,
        .in_order = true,
    };
    enum sweep_end end = SWEEP_DONE;
    int rc = 0;

    sweep.what.benchmarks = list->items;
    sweep.what.nr = list->nr;
    sweep.what.settings.sampling.iterations = r->warmup ? r->warmup : 1;
    sweep.what.once = true;
    for (; rc == 0 && first.command < c->nr && end != SWEEP_INTERRUPTED; first.command++) {
        first.which = 0;
        sweep.what.settings.guests = guests_of(c, first.command);
        rc = sweep_run(&sweep, &sink, &end, err);
    }
    *told = first;
    if (end == SWEEP_INTERRUPTED)
        c->interrupted = (int)*r->measuring.interrupted;
    return rc;
}

/* ---- measuring ---- */

static void note_commands(const struct commands_request *r, const struct commands_compared *c)
{
    size_t settings = c->workload.list.nr;

    sink_note(r->measuring.sink, "measuring %zu commands in turn", c->nr);
    if (settings > 1)
        sink_note(r->measuring.sink, ", with %zu settings each", settings);
    sink_note(r->measuring.sink, "\n");
}

/* Several comparisons share the alarms that are allowed. */
static struct ab_request make_commands_ab(const struct commands_request *r,
                                          const struct commands_compared *c, size_t groups)
{
    struct ab_request ab = {
        .nr_sides = (int)c->nr,
        .store = c->store,
        .compare = r->rule->settings,
        .label = r->label ? r->label : "commands",
        .measuring = r->measuring,
        .blocks_max = (int)(r->runs ? r->runs / AB_LAUNCHES : r->blocks),
        .whole = r->runs > 0,
    };

    if (r->runs) /* no more than was said */
        ab.measuring.no_repeat = true;
    ab.compare.q /= (double)((c->nr - 1) * groups);
    for (size_t i = 0; i < c->nr; i++)
        ab.side[i] = (struct ab_request_side) { .name = c->report.commands[i].name,
                                                .guests = guests_of(c, i) };
    return ab;
}

static void record_pairs(const struct commands_request *r, const struct commands_compared *c,
                         struct ab_session *s)
{
    for (int i = AB_HEAD; i < (int)c->nr && !r->no_record; i++) {
        const struct verdict_sides sides = { s->what[AB_BASE], s->what[i], &s->records[AB_BASE],
                                             &s->records[i] };
        verdict_keep(c->store, &sides, ab_session_comparison(s, i), r->measuring.sink);
    }
}

static int measure_group(const struct commands_request *r, struct commands_compared *c,
                         struct ab_request *ab, const struct benchmark_list *list,
                         struct error *err)
{
    struct ab_session *s = &c->sessions[c->nr_sessions];
    struct first_runs first = { .failed = false };

    if (run_first(r, c, list, &first, err))
        return -1;
    if (first.failed || c->interrupted)
        return 0;
    if (!(r->measuring.budget > 0) && !r->runs && !r->blocks) {
        ab->measuring.budget = fmax(USUAL_BUDGET_S, USUAL_BLOCKS * first.block);
        ab->blocks_least = COMPARE_LAUNCHES_MIN;
    }
    c->nr_sessions++;
    if (ab_session_run(ab, s, err))
        return -1;
    c->report.seconds += s->seconds;
    if (s->end == AB_INTERRUPTED)
        c->interrupted = (int)*r->measuring.interrupted;
    commands_describe_session(c, s, list);
    if (s->end != AB_INTERRUPTED)
        record_pairs(r, c, s);
    return 0;
}

static bool has_failed(const struct commands_compared *c)
{
    for (size_t i = 0; i < c->report.nr; i++)
        if (c->report.results[i].outcome != OUTCOME_OK)
            return true;
    return false;
}

/* Whatever came before, and what is `rc` of that: the signal that ended the runs must not end what
 * comes behind them, too. A second one ends this process, and all that it started with it. */
static int clean_up(const struct commands_request *r, const struct commands_compared *c,
                    const struct benchmark *b, int rc, struct error *err)
{
    const struct measuring *m = &r->measuring;
    const volatile sig_atomic_t *stop = measuring_interrupted(m) ? NULL : m->interrupted;
    struct error why;

    if (run_line(c, b, "--cleanup", r->cleanup, stop, &why) == 0)
        return rc;
    if (rc == 0 && !c->interrupted) {
        *err = why;
        return -1;
    }
    sink_note(m->sink, "harness: %s\n", why.message);
    return rc;
}

/* Between its setup and its cleanup. */
static int measure_between(const struct commands_request *r, struct commands_compared *c,
                           const struct ab_request *asked, const struct benchmark_list *list,
                           struct error *err)
{
    const struct benchmark *b = &list->items[0];
    struct workload some = c->workload;
    struct ab_request ab = *asked;

    some.list = *list;
    ab.workload = &some;
    int rc = run_line(c, b, "--setup", r->setup, r->measuring.interrupted, err);
    if (rc == 0)
        rc = measure_group(r, c, &ab, list, err);
    return clean_up(r, c, b, rc, err);
}

static int measure_groups(const struct commands_request *r, struct commands_compared *c,
                          struct error *err)
{
    const struct benchmark_list *all = &c->workload.list;
    bool apart = (r->setup || r->cleanup) && all->nr > 1;
    size_t groups = apart ? all->nr : 1;
    struct ab_request ab = make_commands_ab(r, c, groups);

    c->sessions = memory_zeroed(groups, sizeof(*c->sessions));
    for (size_t i = 0; i < groups && !c->interrupted && !has_failed(c); i++) {
        const struct benchmark_list one = { &all->items[i], 1, 1 };
        if (r->measuring.budget > 0) { /* what is left, for what is left */
            double left = r->measuring.budget - c->report.seconds;
            ab.measuring.budget = fmax(left, 0.001) / (double)(groups - i);
        }
        if (measure_between(r, c, &ab, apart ? &one : all, err))
            return -1;
    }
    return 0;
}

/* ---- the report ---- */

static const char *end_name(const struct commands_compared *c)
{
    static const char *const names[] = { [AB_DECIDED] = "decided",
                                         [AB_BUDGET] = "budget",
                                         [AB_BLOCKS] = "blocks",
                                         [AB_INTERRUPTED] = "interrupted" };
    enum ab_end end = AB_DECIDED;

    if (c->nr_sessions == 0)
        return c->interrupted ? "interrupted" : "failed";
    for (size_t i = 0; i < c->nr_sessions; i++)
        end = c->sessions[i].end > end ? c->sessions[i].end : end;
    return names[end];
}

static int find_exit_status(struct commands_compared *c)
{
    bool any = false, regressed = has_failed(c);

    for (size_t s = 0; s < c->nr_sessions; s++)
        for (int i = AB_HEAD; i < (int)c->nr; i++) {
            int status = ab_session_comparison(&c->sessions[s], i)->exit_status;
            regressed |= status == EXIT_REGRESSION;
            any |= status == EXIT_SAME;
        }
    return regressed ? EXIT_REGRESSION : any ? EXIT_SAME : EXIT_UNDECIDED;
}

static void finish_report(const struct commands_request *r, struct commands_compared *c)
{
    c->report.shell = r->command.shell;
    c->report.delta = r->rule->settings.delta;
    c->report.q = r->rule->settings.q;
    c->report.end = end_name(c);
    c->report.exit_status = find_exit_status(c);
}

/* What is compared and shown. */
static void choose_metrics(const struct commands_request *r, struct commands_report *report)
{
    const struct comparison planned = { .settings = r->rule->settings };
    const struct number_specs *specs = &r->rule->numbers;
    struct error ignored; /* they were declared */

    report->nr_metrics = comparison_metrics(&planned, report->metrics);
    for (size_t i = 0; i < specs->nr; i++) {
        const struct number_spec *spec = &specs->items[i];
        const struct number_kind *kind =
            number_kind_of(spec->name, spec->unit, spec->better, &ignored);
        if (kind)
            report->numbers[report->nr_numbers++] = kind;
    }
}

/* ---- explaining ---- */

/* The program that a command starts, where it is a file of its own. */
static char *program_of(const struct commands_compared *c, size_t i)
{
    const struct string_list *argv = &guests_of(c, i)->command.argv;
    struct error ignored;

    return argv->nr ? command_find_program(argv->items[evidence_program_place(argv)], &ignored)
                    : NULL;
}

/* Benchmarks of all commands have one name: the command's own is for people. */
static void name_explanations(struct commands_compared *c, size_t from, size_t command)
{
    for (size_t i = from; i < c->explanations.items.nr; i++)
        c->explanations.items.items[i].what = memory_string(c->report.commands[command].name);
}

static int explain_pair(const struct commands_request *r, struct commands_compared *c,
                        struct ab_session *s, size_t head, struct error *err)
{
    char *program[] = { program_of(c, 0), program_of(c, head) };
    struct explain_request request = {
        .comparison = ab_session_comparison(s, (int)head),
        .measuring = &r->measuring,
    };
    const size_t commands[] = { 0, head };
    size_t before = c->explanations.items.nr;

    for (int i = 0; i < EXPLAIN_SIDES; i++)
        request.side[i] = (struct explain_source) {
            .records = &s->records[commands[i]],
            .binary = program[i],
            .words = &c->report.commands[commands[i]].argv,
        };
    int rc = explain_comparison(&request, &c->explanations, err);
    name_explanations(c, before, head);
    for (int i = 0; i < EXPLAIN_SIDES; i++)
        free(program[i]);
    return rc;
}

static int explain_sessions(const struct commands_request *r, struct commands_compared *c,
                            struct error *err)
{
    for (size_t s = 0; r->explain && s < c->nr_sessions && !c->interrupted; s++)
        for (size_t head = AB_HEAD; head < c->nr; head++)
            if (explain_pair(r, c, &c->sessions[s], head, err))
                return -1;
    return 0;
}

int commands_compare_run(const struct commands_request *r, struct commands_compared *c,
                         struct error *err)
{
    note_commands(r, c);
    choose_metrics(r, &c->report);
    if (measure_groups(r, c, err))
        return -1;
    finish_report(r, c);
    return explain_sessions(r, c, err);
}

void commands_compared_release(struct commands_compared *c)
{
    commands_report_release(&c->report);
    explanations_release(&c->explanations);
    for (size_t i = 0; i < c->nr_sessions; i++)
        ab_session_release(&c->sessions[i]);
    free(c->sessions);
    for (size_t i = 0; i < COMMANDS_MAX; i++) {
        command_spec_release(&c->specs[i]);
        if (i > 0)
            guests_close(&c->guests[i]);
    }
    workload_release(&c->workload);
}
