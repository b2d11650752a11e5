/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/array.h"
#include "chart/default_figures.h"
#include "chart/plots.h"
#include "cli/commands/serving.h"
#include "cli/progress.h"
#include "cli/render/report.h"
#include "cli/shared_options.h"
#include "session/viewing.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plot_options {
    struct viewing_options viewing;
    const char *output, *host, *port;
    struct string_list formats, only;
    bool print_config, html, all;
};

/* The figures chosen, in the order of the presets. */
struct plan {
    struct plot_request *items;
    size_t nr, capacity;
};

static int parse_picture_formats(const struct string_list *names, unsigned *formats,
                                 struct error *err)
{
    for (size_t i = 0; i < names->nr; i++) {
        int format = picture_format_find(names->items[i], err);
        if (format < 0)
            return -1;
        *formats |= 1U << format;
    }
    return 0;
}

static bool is_figure_named(const struct viewing *v, const struct string_list *only,
                            const struct preset *preset)
{
    for (size_t i = 0; i < only->nr; i++)
        if (presets_mean(&v->config.presets, only->items[i], preset))
            return true;
    return false;
}

/* Figures of a profile are not missed by who has said which figures are drawn. */
static bool is_figure_missed(const struct viewing *v, const struct preset *preset)
{
    if (v->view.head < 0)
        return false; /* a profile alone */
    for (int bit = 0; bit < PLOT_MODE_NR; bit++)
        if (v->config.defaults[bit].from && preset->modes == PLOT_PROFILE)
            return false;
    return true;
}

/* By name; else what is drawn by default, and what would be of things that are not here, so that
 * its absence is told. */
static bool is_figure_chosen(const struct viewing *v, const struct string_list *only,
                             const struct preset *preset)
{
    if (only->nr > 0)
        return is_figure_named(v, only, preset);
    enum default_figure drawn = default_figure_of(&v->config, preset, view_modes(&v->view));
    return drawn == FIGURE_DRAWN || (drawn == FIGURE_ELSEWHERE && is_figure_missed(v, preset));
}

/* Names of an earlier version still mean their figures; that is told once each. */
static int check_figure_names(const struct presets *presets, const struct string_list *only,
                              struct error *err)
{
    for (size_t i = 0; i < only->nr; i++) {
        const struct preset *preset = presets_find(presets, only->items[i], err);
        if (!preset)
            return -1;
        if (presets_is_former(presets, only->items[i]))
            terminal_note("harness: the figure \"%s\" is \"%s\" now\n", only->items[i],
                          preset->name);
    }
    return 0;
}

static int make_plot_plan(const struct viewing *v, const struct string_list *only,
                          struct plan *plan, struct error *err)
{
    const struct presets *presets = &v->config.presets;

    if (check_figure_names(presets, only, err))
        return -1;
    for (size_t i = 0; i < presets->nr; i++) {
        const struct preset *preset = &presets->items[i];
        if (!is_figure_chosen(v, only, preset))
            continue;
        struct plot_request *request = array_push(plan);
        view_chart(&v->view, preset, &request->chart);
        request->absence = view_absence(&v->view, preset);
    }
    return 0;
}

static void print_boxes(const struct plots_summary *summary)
{
    size_t nr = 0;

    for (size_t i = 0; i < summary->nr; i++)
        nr += summary->items[i].boxes != NULL;
    if (nr)
        terminal_print(
            "  in %zu of them boxes stand for characters that no font here has: "
            "summary.txt tells which\n",
            nr);
}

static void print_plots(const struct plots_summary *summary, const char *folder)
{
    struct strbuf absences;

    strbuf_init(&absences);
    plots_add_absences(summary, "", &absences);
    for (size_t i = 0; i < summary->nr; i++)
        if (!summary->items[i].reason)
            terminal_print("  %-26s %s\n", summary->items[i].preset->name,
                           summary->items[i].preset->title);
    print_boxes(summary);
    char *rest = absences.data;
    for (const char *line; (line = strsep(&rest, "\n")) && *line;)
        terminal_print("  not drawn, %s\n", line);
    terminal_print("%zu plot%s in %s, %zu not drawn\n", summary->drawn,
                   summary->drawn == 1 ? "" : "s", folder, summary->absent);
    strbuf_release(&absences);
}

static int draw_plots(const struct viewing *v, const struct plot_options *o, struct error *err)
{
    struct plots_options options = { .formats = 0 };
    struct plots_summary summary = { 0 };
    struct plan plan = { 0 };
    struct strbuf folder;

    strbuf_init(&folder);
    if (o->output)
        strbuf_adds(&folder, o->output);
    else
        viewing_path(v, "plots", &folder);
    options.folder = folder.data;
    options.flat = o->only.nr > 0 || v->config.alone;
    int rc = parse_picture_formats(&v->config.formats.names, &options.formats, err);
    if (rc == 0)
        rc = make_plot_plan(v, &o->only, &plan, err);
    if (rc == 0)
        rc = plots_draw(plan.items, plan.nr, &options, &summary, err);
    if (rc == 0)
        print_plots(&summary, folder.data);
    plots_summary_release(&summary);
    array_release(&plan);
    strbuf_release(&folder);
    return rc;
}

/* The page: `harness report` and `harness serve` by another name. */
static int show_plot_page(const struct plot_options *o, int argc, char **argv, struct error *err)
{
    const struct report_options report = { .output = o->output };
    int64_t port = SERVING_PORT;
    const struct serving_options serving = {
        .host = o->host, .port = &port, .argc = argc, .argv = argv
    };

    if (o->only.nr || o->formats.nr || o->print_config || o->all)
        return error_set(err, "%s shows all figures: no --only, --all, --format or --print-config",
                         o->html ? "--html" : "--host");
    if (o->html && o->host)
        return error_set(err, "--html writes a file, --host serves the page: one of the two");
    if (o->html && o->port)
        return error_set(err, "--port goes with --host");
    if (o->html)
        return report_run(&o->viewing, &report, argc, argv, err);
    if (o->output)
        return error_set(err, "--host writes no files: no --output");
    if (o->port && text_parse_int(o->port, 0, 65535, "--port", &port, err))
        return -1;
    return serving_run(&o->viewing, &serving, err);
}

/* With a profile, words are names of figures: `plot flame --profile FOLDER`. */
static int take_figure_names(const struct viewing *v, struct plot_options *o, int argc, char **argv,
                             struct error *err)
{
    for (int i = 0; i < argc; i++) {
        if (!presets_find(&v->config.presets, argv[i], err))
            return -1;
        string_list_add(&o->only, argv[i]);
    }
    return 0;
}

static int open_and_draw_plots(struct viewing *v, struct plot_options *o, int argc, char **argv,
                               struct error *err)
{
    if (o->viewing.profiles.nr) {
        if (take_figure_names(v, o, argc, argv, err))
            return -1;
        v->profile_alone = true;
        argc = 0;
    }
    return viewing_open(v, &o->viewing, argc, argv, err) || draw_plots(v, o, err) ? -1 : 0;
}

static int run_plot(int argc, char **argv, void *options, struct error *err)
{
    struct plot_options *o = options;
    unsigned formats = 0;
    struct viewing v;

    if (o->html || o->host)
        return show_plot_page(o, argc, argv, err);
    if (o->port)
        return error_set(err, "--port goes with --host");
    viewing_init(&v);
    v.sink = &terminal_notes;
    v.arguments = argv;
    v.nr_arguments = argc;
    int rc = parse_picture_formats(&o->formats, &formats, err);
    if (rc == 0)
        rc = viewing_configure(&v, &o->viewing, err);
    if (rc == 0 && o->formats.nr)
        config_set(&v.config.formats, &o->formats, "--format");
    v.config.all = o->all;
    if (rc == 0 && o->print_config)
        rc = output_json(config_to_json(&v.config), o->output, err);
    else if (rc == 0)
        rc = open_and_draw_plots(&v, o, argc, argv, err);
    viewing_release(&v);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("format", 0, OPTION_STRINGS, struct plot_options, formats, "png,svg,pdf",
               "pictures to make (default png,svg)"),
    OPTION_ROW("only", 0, OPTION_STRINGS, struct plot_options, only, "NAME,...",
               "these figures alone, see `harness list figures`; latency: all latency-*"),
    OPTION_ROW("all", 'a', OPTION_FLAG, struct plot_options, all, NULL,
               "draw every figure that has data, not only the usual dozen"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct plot_options, output, "FOLDER",
               "where they go (default: plots beside the history)"),
    OPTION_ROW("html", 0, OPTION_FLAG, struct plot_options, html, NULL,
               "one page with all of it instead: `harness report`"),
    OPTION_ROW("host", 0, OPTION_STRING, struct plot_options, host, "ADDRESS",
               "that page served live, at 127.0.0.1 for example: `harness serve`"),
    OPTION_ROW("port", 'p', OPTION_STRING, struct plot_options, port, "N",
               "of that server; default 8080; 0: any free one"),
    OPTION_ROW("print-config", 0, OPTION_FLAG, struct plot_options, print_config, NULL,
               "print the merged configuration and where each value is from"),
    VIEWING_OPTION_ROWS(struct plot_options, viewing),
    OPTION_END,
};

extern const struct command cmd_plot;
const struct command cmd_plot = {
    .name = "plot",
    .arguments = "[RUN...]",
    .summary = "draw the figures of a run (default: the latest), or of several, as PNG and SVG",
    .details =
        "  harness plot\n"
        "  harness plot --baseline main --all\n"
        "  harness plot 12 --only roofline,latency-prefill --format pdf\n"
        "  harness plot 9 12                         what changed from 9 to 12, both side by side\n"
        "  harness plot gcc clang --group-by compiler\n"
        "  harness plot results/                     a folder with files of records\n"
        "  harness plot results/ --host 127.0.0.1    the same as a live page\n"
        "  harness plot --config view.json           the figure saved in a report\n"
        "  harness plot --profile profile-nano/      where the time goes\n"
        "  harness plot flame --profile OLD,NEW      what changed, as a flame graph\n"
        "\n"
        "A RUN is a number, label, branch, commit or baseline, a file of records, a folder of\n"
        "such files, or a history. One run gives its figures and the trend; several give figures\n"
        "of several runs, and of two what changed from the first to the second.\n"
        "\n"
        "By default the dozen figures that answer the usual questions are drawn; --all draws\n"
        "every figure that has data. The folder has index.html and a folder for each section:\n"
        "kernels, models, comparison, history, machine, profile. Figures that are named (--only)\n"
        "lie in the folder itself.\n"
        "\n"
        "Beside the pictures: summary.txt, which also says why figures are absent,\n"
        "plots.json, and for each figure its gnuplot script and its data.\n"
        "\n"
        "harness.json at the top of the project, or in ~/.config/harness, chooses figures,\n"
        "formats and peaks: docs/formats/settings.md.",
    .options = rows,
    .options_size = sizeof(struct plot_options),
    .run = run_plot,
};
