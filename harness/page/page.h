/* SPDX-License-Identifier: MIT */
/*
 * What the page shows, as data: docs/formats/page.md has its form. `harness report` writes
 * all of it into one file (page/page_budget.h), `harness serve` sends it in parts.
 *
 *     struct page page;
 *     page_init(&page, &view, &options);
 *     page_figures_build(&figures, &view, presets, PAGE_POINTS);
 *     page_core(&page, &figures);  page_table(&page, &text);  page_samples(&page, run, ...);
 *     page_figures_release(&figures);
 *     page_release(&page);
 *
 * A page borrows from its view, and from what the options point to.
 */
#ifndef HARNESS_PAGE_PAGE_H
#define HARNESS_PAGE_PAGE_H

#include "page/run_values.h"
#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

enum {
    PAGE_POINTS = 2000, /* most points of a series in a figure of the page */
    PAGE_SLICES_MOST = 1000000
}; /* of a trace */

/* A run of the page: facts, values, and where its samples are. */
struct page_run {
    const struct run *run;           /* borrowed */
    const struct run_values *values; /* borrowed */
    const struct records *records;   /* that hold its measurements; NULL: they are not loaded */
    int index;                       /* of the run in these records */
    char *name;                      /* short, unique among the page's runs; owned by the page */
    uint64_t epoch_id;               /* of its environment */
    int epoch;                       /* states of the environment, counted as they came */
};

/* What a page was asked for beside its runs and their base, so that its commands ask for the same.
 * The lists are borrowed; what is empty, NULL or 0 was not asked for. */
struct page_asked {
    struct string_list filters, presets, profiles;
    const char *group_by, *config;
    double delta;
};

struct page_options {
    bool live;             /* sent by `harness serve`, not a file */
    const char *generator; /* "harness 0.1.0 (3f2a91c)" */
    int64_t created_ms;
    const char *title;   /* NULL: what is compared */
    const char *history; /* for the commands: --db; "": the project's own; NULL: there is none */
    const char *const *refs; /* for the commands: files looked at; nr_refs, 0: runs by number */
    size_t nr_refs;
    const char *baseline;           /* for the commands: REF of the base; NULL: its run by number */
    const struct page_asked *asked; /* for the commands; borrowed; NULL: nothing */
    /* Further runs, whose values are known already; `run` and `values` of each are read, and
     * `records` and `index` where there are some. */
    const struct page_run *more;
    size_t nr_more;
    const struct trend_repository *repository; /* for cards of trends; NULL: nothing is known */
    const char *const *notes; /* sentences on what is not there; nr_notes of them */
    size_t nr_notes;
};

struct page_benchmark {
    struct benchmark_name name;
    bool vendor;
    char *label; /* short, unique; owned */
};

struct page {
    const struct view *view;
    struct page_options options;
    struct page_run *runs; /* oldest first, each once: of the view, its base, its history, `more` */
    size_t nr_runs, runs_capacity;
    int head, base;                    /* indices into runs; -1: none */
    struct page_benchmark *benchmarks; /* in reading order: all that some run has */
    size_t nr_benchmarks;
    size_t *by_key;            /* indices of the benchmarks in the order of their keys */
    bool *has;                 /* of each metric: does any run have it? */
    size_t nr_metrics;         /* that there were when the page was made */
    struct run_values *own[3]; /* of the runs of view, base and history; empty where another part
                                * had the run first */
    size_t nr_own[3];
};

void page_init(struct page *page, const struct view *view, const struct page_options *options);
void page_release(struct page *page);

/* Index of a run or benchmark, -1 if the page has none such. */
int page_find_run(const struct page *page, const struct run *run);
int page_find_benchmark(const struct page *page, const char *key);

/* ---- figures ---- */

struct page_figure {
    const struct preset *preset; /* borrowed */
    char *json;                  /* figure_to_json() as a text; owned */
    char *whole; /* the same with more rows, where the figure leaves some out; owned, or NULL */
    char *alt, *reason; /* owned; NULL: none */
};

struct page_figures {
    struct page_figure *items; /* one a preset, in their order */
    size_t nr, capacity;
};

/* The figure of one preset over the view, finished and thinned; one that does not belong to what
 * is looked at has a reason. Free with figure_free(). */
struct figure *page_figure(const struct view *view, const struct preset *preset, size_t points);
void page_figures_build(struct page_figures *figures, const struct view *view,
                        const struct presets *presets, size_t points);
/* The list alone, for whoever builds each figure when it is asked for: no JSON, no alt sentence,
 * and of the reasons only what view_absence() knows. */
void page_figures_list(struct page_figures *figures, const struct view *view,
                       const struct presets *presets);
void page_figures_release(struct page_figures *figures);
/* {"<id>": the figure, ...} */
void page_figures_text(const struct page_figures *figures, struct strbuf *out);

/* ---- the blocks ---- */

/* All but table, figures and samples. The caller frees the tree. */
struct cJSON *page_core(const struct page *page, const struct page_figures *figures);

/* One row for each benchmark of each run, column by column, as JSON. Numbers have five digits;
 * docs/formats/page.md says how they are packed. */
void page_table(const struct page *page, struct strbuf *out);

/* All slices of the view's profile, at most `most` of them, the longest first, column by column as
 * JSON: docs/formats/page.md has its form. Returns how many were written; 0, and nothing appended:
 * there are none. */
size_t page_trace(const struct view *view, size_t most, struct strbuf *out);

struct page_samples {
    size_t of, kept; /* samples measured, and written */
};

/* Appends {"batch", "launches", "of", "kept", "clock", "started_ms", "facts"} of one benchmark of
 * one run of the records: ns for one launch of the kernel, in the order measured, at most `most` of
 * each launch (0: all), thinned evenly. False, and nothing appended, where there is no sample. */
bool page_samples_add(const struct records *records, int run, const char *key, size_t most,
                      struct page_samples *count, struct strbuf *out);
/* The same of all benchmarks of one of the page's runs, as the inside of an object with a comma
 * between: "<run>:<benchmark>": {...}, with facts where nothing is thinned. Nothing where its
 * samples are not loaded. */
void page_samples_of_run(const struct page *page, int run, size_t most, struct page_samples *count,
                         struct strbuf *out);
/* Would that be anything? Not where no more than a summary of the samples is kept. */
bool page_run_has_samples(const struct page *page, int run);

/* ---- the document ---- */

struct page_document {
    const char *title;
    bool live;        /* may ask its server */
    const char *core; /* JSON, by json_take_script() */
    /* gzip and base64 of JSON (page_pack()); NULL: not in the document */
    const char *table, *figures, *samples, *trace;
};

/* Appends gzip and base64 of a JSON text. */
void page_pack(struct strbuf *out, const char *json, size_t length);
/* The template inside the binary; NULL and an error that says why it is not there, and how to get
 * it. */
const char *page_template(struct error *err);
/* Fills a template in. -1 where it lacks a placeholder, or has one twice. */
int page_html(const char *html, const struct page_document *document, struct strbuf *out,
              struct error *err);

#endif
