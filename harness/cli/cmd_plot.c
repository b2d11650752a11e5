/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "analysis/compare.h"
#include "cli/accepted_steps.h"
#include "cli/history_file.h"
#include "models/gpt_config.h"
#include "output/plots.h"

#include <stdio.h>
#include <string.h>

struct plot_options {
    const char *db, *baseline, *output;
    struct string_list formats, only, presets;
    double delta;
};

/* What is drawn, loaded before anything is painted. */
struct subject {
    struct store *store;
    struct history_side head, base;
    struct records history;
    struct accepted_steps accepted;
    struct comparison comparison;
    bool compared;
    struct strbuf folder;
    struct presets presets;
};

static int parse_formats(const struct string_list *names, unsigned *formats, struct error *err)
{
    for (size_t i = 0; i < names->nr; i++) {
        int format = picture_format_find(names->items[i], err);
        if (format < 0)
            return -1;
        *formats |= 1U << format;
    }
    return 0;
}

static int load_base(struct subject *s, const char *ref, double delta, struct error *err)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct store_scope scope = { .exclude = s->head.runs.ids, .nr_exclude = s->head.runs.nr };

    if (!ref)
        return 0;
    if (delta > 0)
        settings.delta = delta;
    if (history_load_side(s->store, ref, &scope, NULL, &s->base, err) ||
        compare_run(&s->base.records, &s->head.records, &settings, &s->comparison, err))
        return -1;
    s->compared = true;
    return 0;
}

static int load_history(struct subject *s, struct error *err)
{
    struct store_filter filter = { 0 };

    if (s->head.records.nr_runs == 0)
        return error_set(err, "there is no run to draw");
    if (store_series(s->store, s->head.records.runs[0].machine.class_name, &filter, &s->history,
                     err))
        return -1;
    return accepted_steps_load(s->store, &s->accepted, err);
}

static int load_presets(struct subject *s, const struct string_list *files, struct error *err)
{
    if (presets_load_embedded(&s->presets, err))
        return -1;
    for (size_t i = 0; i < files->nr; i++)
        if (presets_load_file(&s->presets, files->items[i], err))
            return -1;
    return 0;
}

static size_t describe_models(struct plot_model *models)
{
    size_t nr = 0;

    for (const struct gpt_config *c = gpt_configs; c->name; c++)
        models[nr++] = (struct plot_model) {
            .name = c->name,
            .layers = c->layers,
            .heads = c->heads,
            .width = c->width,
            .block = c->block,
            .parameters = (double)gpt_config_parameters(c),
            .flops_per_token = gpt_config_flops_per_token(c, 64),
        };
    return nr;
}

static int draw(struct subject *s, const struct plot_options *o, const char *base, unsigned formats,
                struct error *err)
{
    struct plot_model models[16];
    struct plots_options options = {
        .folder = s->folder.data,
        .formats = formats,
        .presets = &s->presets,
        .only = &o->only,
        .models = models,
        .nr_models = describe_models(models),
        .comparison = s->compared ? &s->comparison : NULL,
        .base_label = base,
        .history = &s->history,
        .accepted = s->accepted.items,
        .nr_accepted = s->accepted.nr,
    };
    struct plots_summary summary = { 0 };
    int rc = plots_draw(&s->head.records, &options, &summary, err);

    for (size_t i = 0; rc == 0 && i < summary.nr; i++)
        printf("  %-22s %s%s\n", summary.items[i].name,
               summary.items[i].reason ? "not drawn: " : "",
               summary.items[i].reason ? summary.items[i].reason : summary.items[i].title);
    if (rc == 0)
        printf("%zu plot%s in %s, %zu not drawn\n", summary.drawn, summary.drawn == 1 ? "" : "s",
               s->folder.data, summary.absent);
    plots_summary_release(&summary);
    return rc;
}

static int load_and_draw(struct subject *s, const struct plot_options *o, int argc, char **argv,
                         struct error *err)
{
    /* One run alone, or two: what changed from the first to the second. */
    const char *head = argc > 0 ? argv[argc - 1] : "latest";
    const char *base = argc == 2 ? argv[0] : o->baseline;
    unsigned formats = 0;

    if (argc > 2 || (argc == 2 && o->baseline))
        return error_set(err, "harness plot draws one run, or what changed between two");
    if (parse_formats(&o->formats, &formats, err) || load_presets(s, &o->presets, err) ||
        history_open(&s->store, o->db, STORE_READ, err) ||
        history_load_side(s->store, head, NULL, NULL, &s->head, err) ||
        load_base(s, base, o->delta, err) || load_history(s, err))
        return -1;
    if (o->output)
        strbuf_adds(&s->folder, o->output);
    else
        history_sibling(store_path(s->store), "plots", &s->folder);
    return draw(s, o, base, formats, err);
}

static int run(int argc, char **argv, void *options, struct error *err)
{
    const struct plot_options *o = options;
    struct subject s = { 0 };

    strbuf_init(&s.folder);
    int rc = load_and_draw(&s, o, argc, argv, err);
    if (s.compared)
        comparison_release(&s.comparison);
    history_side_release(&s.head);
    history_side_release(&s.base);
    records_release(&s.history);
    accepted_steps_release(&s.accepted);
    presets_release(&s.presets);
    strbuf_release(&s.folder);
    store_close(s.store);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("baseline", 'b', OPTION_STRING, struct plot_options, baseline, "REF",
               "also draw what changed since it"),
    OPTION_ROW("delta", 0, OPTION_FRACTION, struct plot_options, delta, "SHARE",
               "changes smaller than this do not matter (default 3%)"),
    OPTION_ROW("format", 0, OPTION_STRINGS, struct plot_options, formats, "png,svg,pdf",
               "pictures to make (default png,svg)"),
    OPTION_ROW("only", 0, OPTION_STRINGS, struct plot_options, only, "NAME,...",
               "these figures alone, see `harness list figures`"),
    OPTION_ROW("preset", 0, OPTION_STRINGS, struct plot_options, presets, "FILE,...",
               "figures of your own (JSON, as in plots/presets)"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct plot_options, output, "FOLDER",
               "where they go (default: plots beside the history)"),
    OPTION_ROW("db", 0, OPTION_STRING, struct plot_options, db, "FILE",
               "the history (default .harness/history.db of the project)"),
    OPTION_END,
};

extern const struct command cmd_plot;
const struct command cmd_plot = {
    .name = "plot",
    .arguments = "[[BASE] RUN]",
    .summary = "draw the figures of a run (default: the latest), as PNG and SVG",
    .details =
        "  harness plot\n"
        "  harness plot --baseline main\n"
        "  harness plot 12 --only roofline,latency-prefill --format pdf\n"
        "\n"
        "Beside the pictures: summary.txt, which also says why a figure is absent,\n"
        "plots.json, and for each figure its gnuplot script and its data.",
    .options = rows,
    .options_size = sizeof(struct plot_options),
    .run = run,
};
