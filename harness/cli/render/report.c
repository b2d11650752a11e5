/* SPDX-License-Identifier: MIT */
#include "cli/render/report.h"

#include "base/file.h"
#include "cli/progress.h"
#include "cli/render/profile_view.h"

#include "base/memory.h"
#include "core/clock.h"
#include "page/page_budget.h"
#include "reporters/run_table.h"
#include "session/builds/repository.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS_USUAL = 100, OPERATIONS_MAX = 40 /* in the Markdown */ };

static void print_report_written(const char *path, size_t bytes, const struct string_list *notes)
{
    terminal_print("%s: %.2f MB\n", path, (double)bytes / 1e6);
    for (size_t i = 0; i < notes->nr; i++)
        terminal_print("  %s\n", notes->items[i]);
}

/* A folder cannot become a file: said before minutes of work, and in words. */
static int check_report_target(const char *path, struct error *err)
{
    if (file_is_folder(path))
        return error_set(err, "-o %s: that is a folder; name the file, such as %s/report.html",
                         path, path);
    return 0;
}

struct page_asked report_asked(const struct viewing_options *o)
{
    return (struct page_asked) {
        .filters = o->filters,
        .presets = o->presets,
        .profiles = o->profiles,
        .group_by = o->group_by,
        .config = o->config,
        .delta = o->delta,
    };
}

/* What the page says about itself and its commands. */
static struct page_options describe_report(const struct viewing *v, const struct viewing_options *o,
                                           const struct page_asked *asked, struct strbuf *generator)
{
    struct page_options options = {
        .created_ms = clock_epoch_ms(),
        .baseline = o->baseline,
        .asked = asked,
    };

    viewing_generator(generator);
    options.generator = generator->data;
    if (v->store) {
        options.history = o->db ? o->db : "";
    } else {
        options.refs = (const char *const *)v->refs.items;
        options.nr_refs = v->refs.nr;
    }
    return options;
}

static int write_report_page(const struct viewing *v, const struct viewing_options *viewing,
                             const struct report_options *o, const char *path, struct error *err)
{
    int samples = o->samples ? page_samples_find(o->samples, err) : PAGE_SAMPLES_FIT;
    const struct page_file_options how = {
        .samples = (enum page_samples_choice)samples,
        .budget = (size_t)o->budget,
    };
    struct string_list notes = { 0 };
    struct strbuf generator, html;
    struct page page;

    if (samples < 0)
        return error_prefix(err, "--samples");
    strbuf_init(&generator);
    strbuf_init(&html);
    for (size_t i = 0; i < v->view.notes.nr; i++)
        string_list_add(&notes, v->view.notes.items[i]);
    const struct page_asked asked = report_asked(viewing);
    struct page_options options = describe_report(v, viewing, &asked, &generator);
    struct repository *repository = repository_create();
    options.repository = repository_for_trends(repository);
    page_init(&page, &v->view, &options);
    int rc = page_file_make(&page, &v->config.presets, &how, &html, &notes, err);
    if (rc == 0)
        rc = output_text(&html, path, err);
    if (rc == 0 && !output_is_standard(path))
        print_report_written(path, html.length, &notes);
    page_release(&page);
    repository_free(repository);
    string_list_release(&notes);
    strbuf_release(&html);
    strbuf_release(&generator);
    return rc;
}

/* What the terminal shows of a profile, from what is known of it. */
static void add_report_profile(const struct profile_data *p, struct strbuf *text)
{
    struct profile_view view = {
        /* all of it borrowed */
        .trace = p->trace, .main = p->main,         .summary = p->rows,
        .found = p->found, .roofs = p->facts.roofs,
    };

    snprintf(view.title, sizeof(view.title), "%s", p->name);
    profile_markdown(&view, OPERATIONS_MAX, text);
}

/* Of two profiles the newer is told, as in the page. */
static int write_report_markdown(const struct view *view, const char *path, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    if (view->records.nr_runs > 0)
        markdown_report(&view->records, view->head, &text);
    if (view->profile)
        add_report_profile(view->profile, &text);
    int rc = output_text(&text, path, err);
    strbuf_release(&text);
    return rc;
}

static int write_report(const struct viewing *v, const struct viewing_options *viewing,
                        const struct report_options *o, struct error *err)
{
    struct strbuf path;

    if (o->markdown)
        return write_report_markdown(&v->view, o->output, err);
    strbuf_init(&path);
    if (o->output)
        strbuf_adds(&path, o->output);
    else
        viewing_path(v, "visualizations/report.html", &path);
    int rc = check_report_target(path.data, err);
    if (rc == 0)
        rc = write_report_page(v, viewing, o, path.data, err);
    strbuf_release(&path);
    return rc;
}

/* What the page alone can heed: the table has the numbers of one run. */
static int check_markdown(const struct viewing_options *viewing, const struct report_options *o,
                          struct error *err)
{
    const struct option_given of_page[] = {
        { "--baseline", viewing->baseline },
        { "--delta", viewing->delta > 0 },
        { "--group-by", viewing->group_by },
        { "--preset", viewing->presets.nr },
        { "--runs", o->runs },
        { "--samples", o->samples },
        { "--budget", o->budget },
    };
    const char *given = options_first_given(of_page, sizeof(of_page) / sizeof(of_page[0]));

    if (!o->markdown || !given)
        return 0;
    return error_set(err,
                     "%s is of the page: --md has the numbers of a run alone, and `harness compare "
                     "--format markdown` what changed",
                     given);
}

int report_run(const struct viewing_options *viewing, const struct report_options *options,
               int argc, char **argv, struct error *err)
{
    struct viewing v;

    if (check_markdown(viewing, options, err) || (!options->markdown && !page_template(err)))
        return -1; /* before anything is read */
    viewing_init(&v);
    v.sink = &terminal_notes;
    v.request.history = options->runs ? (size_t)options->runs : RUNS_USUAL;
    v.request.without_history = options->markdown;
    v.request.head_too = true;
    v.arguments = argv;
    v.nr_arguments = argc;
    int rc = viewing_configure(&v, viewing, err);
    if (rc == 0)
        rc = viewing_open(&v, viewing, argc, argv, err);
    if (rc == 0)
        rc = write_report(&v, viewing, options, err);
    viewing_release(&v);
    return rc;
}
