/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "analysis/compare.h"
#include "base/json.h"
#include "cli/history_file.h"
#include "cli/terminal.h"
#include "measure/environment.h"
#include "output/compare_json.h"
#include "output/compare_table.h"

#include <stdio.h>
#include <string.h>

struct compare_options {
    const char *db, *baseline, *head, *metric, *format, *output;
    double delta, q;
    bool all, json, any_machine;
};

struct sides {
    struct history_side base, head;
    struct machine machine;
};

/* The head first: its own runs must not stand in for the baseline "main" of the same branch. */
static int load_sides(struct store *store, const struct compare_options *o, struct sides *s,
                      struct error *err)
{
    struct store_scope scope = { .machine_class = s->machine.class_name };

    if (history_load_side(store, o->head ? o->head : "latest", NULL, NULL, &s->head, err))
        return -1;
    scope.exclude = s->head.runs.ids;
    scope.nr_exclude = s->head.runs.nr;
    if (s->head.records.nr_runs > 0)
        scope.machine_class = s->head.records.runs[0].machine.class_name;
    return history_load_side(store, o->baseline, &scope, NULL, &s->base, err);
}

static int print(const struct comparison *c, const struct compare_options *o, const struct sides *s,
                 struct error *err)
{
    struct compare_table_options table = {
        .all = o->all,
        .base_name = s->base.what,
        .head_name = s->head.what,
    };
    const char *format = o->json ? "json" : o->format ? o->format : "text";
    struct strbuf text;

    if (strcmp(format, "json") == 0)
        return output_json(compare_to_json(c, s->base.what, s->head.what), o->output, err);
    strbuf_init(&text);
    if (strcmp(format, "markdown") == 0) {
        compare_table_markdown(c, &table, &text);
    } else {
        table.width = o->output ? 0 : terminal_width();
        table.colour = !o->output && terminal_colour();
        compare_table_text(c, &table, &text);
    }
    int rc = output_text(&text, o->output, err);
    strbuf_release(&text);
    return rc;
}

static int check_format(const struct compare_options *o, struct error *err)
{
    static const char *const formats[] = { "text", "markdown", "json", NULL };

    for (const char *const *f = formats; *f; f++)
        if (!o->format || strcmp(o->format, *f) == 0)
            return 0;
    return error_set(err, "unknown format \"%s\"; there are text, markdown, json", o->format);
}

static int decide(const struct compare_options *o, const struct sides *s, struct error *err)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct comparison c = { 0 };

    settings.any_machine = o->any_machine;
    if (o->delta > 0)
        settings.delta = o->delta;
    if (o->q > 0)
        settings.q = o->q;
    if (o->metric)
        settings.metric = o->metric;
    if (compare_run(&s->base.records, &s->head.records, &settings, &c, err))
        return -1;
    int rc = print(&c, o, s, err);
    int status = c.exit_status;
    comparison_release(&c);
    return rc ? -1 : status;
}

static int run(int argc, char **argv, void *options, struct error *err)
{
    const struct compare_options *o = options;
    struct sides s = { 0 };
    struct store *store;

    (void)argv;
    if (argc > 0)
        return error_set(err, "harness compare takes no arguments; --head REF names the new side");
    if (!o->baseline)
        return error_set(err, "give --baseline REF: a baseline, branch, commit, run or file");
    if (check_format(o, err) || history_open(&store, o->db, STORE_READ, err))
        return -1;
    environment_machine(&s.machine);
    int rc = load_sides(store, o, &s, err);
    if (rc == 0) {
        rc = decide(o, &s, err);
    } else if (s.base.nothing) { /* a known name with nothing to compare is no mistake */
        fprintf(stderr, "harness: %s\n", err->message);
        rc = EXIT_UNDECIDED;
    }
    history_side_release(&s.base);
    history_side_release(&s.head);
    store_close(store);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("baseline", 'b', OPTION_STRING, struct compare_options, baseline, "REF",
               "the old side: baseline, branch, commit, run, label or file"),
    OPTION_ROW("head", 0, OPTION_STRING, struct compare_options, head, "REF",
               "the new side (default latest)"),
    OPTION_ROW("delta", 0, OPTION_FRACTION, struct compare_options, delta, "SHARE",
               "changes smaller than this do not matter (default 3%)"),
    OPTION_ROW("fdr", 0, OPTION_FRACTION, struct compare_options, q, "SHARE",
               "share of false alarms among the alarms (default 5%)"),
    OPTION_ROW("metric", 0, OPTION_STRING, struct compare_options, metric, "NAME",
               "what is compared (default p50), see `harness list metrics`"),
    OPTION_ROW("all", 'a', OPTION_FLAG, struct compare_options, all, NULL,
               "also the rows that are the same"),
    OPTION_ROW("any-machine", 0, OPTION_FLAG, struct compare_options, any_machine, NULL,
               "compare across machine classes, too"),
    OPTION_ROW("format", 0, OPTION_STRING, struct compare_options, format, "FORM",
               "text (default), markdown, json"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct compare_options, json, NULL, "--format json"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct compare_options, output, "FILE",
               "write the result there"),
    OPTION_ROW("db", 0, OPTION_STRING, struct compare_options, db, "FILE",
               "the history (default .harness/history.db of the project)"),
    OPTION_END,
};

extern const struct command cmd_compare;
const struct command cmd_compare = {
    .name = "compare",
    .arguments = "--baseline REF",
    .summary = "say whether something got slower",
    .details =
        "  harness compare --baseline main\n"
        "  harness compare --baseline 3f2a91c --head my-branch\n"
        "\n"
        "Decided from launches (fresh processes), at least three a side, five for a gate.\n"
        "Exit status: 0 no regression, 1 regression, 77 cannot tell or nothing to compare\n"
        "with, 2 usage or failure.",
    .options = rows,
    .options_size = sizeof(struct compare_options),
    .run = run,
};
