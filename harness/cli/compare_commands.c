/* SPDX-License-Identifier: MIT */
#include "cli/compare_commands.h"

#include "cli/history_open.h"
#include "metrics/metric.h"
#include "reporters/explain_report.h"
#include "session/compare/compare_commands.h"
#include "terminal/terminal.h"
#include "verdict/compare.h"

#include <stdio.h>
#include <string.h>

int compare_commands_asked(const struct compare_commands_options *o, bool plugins,
                           struct error *err)
{
    const struct option_given options[] = {
        { "--setup", o->setup },
        { "--cleanup", o->cleanup },
        { "--warmup", o->warmup },
        { "--runs", o->runs },
    };
    const char *given;

    if (o->command.argv.argv)
        return 1;
    if (command_options_unused(&o->command, plugins, "compare", err))
        return -1;
    given = options_first_given(options, sizeof(options) / sizeof(options[0]));
    if (given)
        return error_set(err, "%s is of commands: harness compare %s ... -- A --versus B", given,
                         given);
    return 0;
}

/* What says where results of benchmarks are found or come from, and which of them are meant. */
static const char *option_of_benchmarks(const struct compare_request *r)
{
    const struct option_given options[] = {
        { "--baseline", r->baseline },
        { "--head", r->head },
        { "--run", r->run },
        { "--tuned", r->tuned },
        { "--changed", r->changed },
        { "--changed-map", r->changed_map },
        { "--build", r->build },
        { "--baseline-bin", r->baseline_bin },
        { "--head-bin", r->head_bin },
        { "--baseline-plugin", r->baseline_plugin },
        { "--baseline-python", r->baseline_python },
        { "--build-command", r->build_command },
        { "--build-program", r->build_program },
        { "--any-machine", r->any_machine },
        { "--explain-budget", r->explain_budget > 0 },
    };

    return options_first_given(options, sizeof(options) / sizeof(options[0]));
}

static int check_commands_request(const struct compare_request *r, struct error *err)
{
    const char *option = option_of_benchmarks(r);

    if (option)
        return error_set(err, "%s does not go with commands: they are measured now, in turn",
                         option);
    if (r->nr_filters)
        return error_set(err, "commands are measured alone: leave out \"%s\"", r->filters[0]);
    return 0;
}

/* Of commands nothing can be compared but times, costs and what they are asked to print. */
static int check_metrics(const struct compare_rule *rule, struct error *err)
{
    for (size_t i = 0; i < rule->judged.nr; i++) {
        bool printed = false;
        if (compare_asked_id(rule->judged.items[i]) > rule->judged.items[i])
            return error_set(err,
                             "--metric %s: commands are compared with each other, each by all "
                             "metrics: leave out what stands before the \":\"",
                             rule->judged.items[i]);
        for (size_t n = 0; n < rule->numbers.nr; n++)
            printed |= strcmp(rule->judged.items[i], rule->numbers.items[n].name) == 0;
        if (!printed && !metric_find(rule->judged.items[i], err))
            return -1;
    }
    return 0;
}

enum commands_form { COMMANDS_TEXT, COMMANDS_MARKDOWN, COMMANDS_JSON };

static int choose_form(const char *name, enum commands_form *form, struct error *err)
{
    static const char *const names[] = { "text", "markdown", "json", NULL };
    int chosen = output_choose_format(name, names, err);

    *form = (enum commands_form)chosen;
    return chosen < 0 ? error_prefix(err, "with commands") : 0;
}

static void add_explanations(enum commands_form form, const struct explanations *why,
                             struct strbuf *text)
{
    if (form == COMMANDS_TEXT) {
        explain_text(why, text);
    } else if (why->items.nr) {
        strbuf_adds(text, "\n### Why it is slower\n\n");
        explain_markdown(why, why->items.nr, text);
    }
}

static int print_report(const struct compare_commands_output *o, enum commands_form form,
                        const struct commands_compared *c, bool explain, struct error *err)
{
    const struct commands_report *report = &c->report;
    struct strbuf text;

    if (form == COMMANDS_JSON) {
        cJSON *json = commands_report_json(report);
        if (explain)
            cJSON_AddItemToObject(json, "explanations", explain_json(&c->explanations));
        return output_json(json, o->output, err);
    }
    strbuf_init(&text);
    if (form == COMMANDS_MARKDOWN)
        commands_report_markdown(report, &text);
    else
        commands_report_text(report, output_width(o->output), output_colour(o->output), &text);
    add_explanations(form, &c->explanations, &text);
    int rc = form == COMMANDS_TEXT ? output_page(&text, o->output, err)
                                   : output_text(&text, o->output, err);
    strbuf_release(&text);
    return rc;
}

static void tell_place(const struct commands_compared *c)
{
    const struct ab_session *sessions = c->sessions;

    if (c->nr_sessions == 0)
        return;
    const struct records *first = &sessions[0].records[AB_BASE];
    const struct records *last = &sessions[c->nr_sessions - 1].records[c->nr - 1];
    if (first->nr_runs && last->nr_runs)
        terminal_print("runs %lld to %lld in %s\n", (long long)first->runs[0].id,
                       (long long)last->runs[0].id, store_path(c->store));
}

static struct commands_request make_request(const struct compare_commands_options *o,
                                            const struct compare_request *r,
                                            struct compare_rule *rule)
{
    return (struct commands_request) {
        .command = o->command,
        .what = r->what,
        .rule = rule,
        .setup = o->setup,
        .cleanup = o->cleanup,
        .label = r->label,
        .warmup = o->warmup,
        .runs = o->runs,
        .blocks = r->blocks,
        .no_record = r->no_record,
        .explain = r->explain,
        .measuring = r->measuring,
    };
}

static int measure_and_print(const struct commands_request *request,
                             const struct compare_commands_output *o, enum commands_form form,
                             struct commands_compared *c, struct error *err)
{
    if (commands_compare_prepare(request, c, err) ||
        history_open(&c->store, o->db, STORE_WRITE, err) ||
        compare_rule_declare(request->rule, err) || commands_compare_run(request, c, err) ||
        print_report(o, form, c, request->explain, err))
        return -1;
    if (form == COMMANDS_TEXT || !output_is_standard(o->output))
        tell_place(c);
    history_tell(c->store);
    if (!c->interrupted)
        return c->report.exit_status;
    terminal_note("interrupted: what was finished is kept\n");
    return 128 + c->interrupted;
}

int compare_commands(const struct compare_commands_options *o, struct compare_request *r,
                     const struct compare_commands_output *output, struct error *err)
{
    struct commands_compared c = { .store = NULL };
    struct compare_rule rule = { .settings = { .delta = 0 } };
    enum commands_form form;
    int rc = -1;

    if (choose_form(output->format, &form, err) == 0 && check_commands_request(r, err) == 0 &&
        compare_request_rule(r, &rule, err) == 0 && check_metrics(&rule, err) == 0) {
        const struct commands_request request = make_request(o, r, &rule);
        rc = measure_and_print(&request, output, form, &c, err);
    }
    commands_compared_release(&c);
    store_close(c.store);
    compare_rule_release(&rule);
    return rc;
}
