/* SPDX-License-Identifier: MIT */
/* The page as one file: the budget holds for a long history, what is left out is said, and what is
 * there is whole. Covers: S1-16, S1-18, S1-20. */
#include "testing.h"

#include "long_history.h"
#include "page_fixture.h"

#include "base/resource.h"
#include "page/page_budget.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS = 100, SAMPLES = 200 };

static const struct page_options options = {
    .generator = "harness 0.1.0",
    .created_ms = 1790000000000,
    .history = "",
};

/* What the page's program and Plotly take, where they are not built in. */
enum { STAND_IN_SIZE = 850000 };

static char *stand_in(size_t size)
{
    struct strbuf html;

    strbuf_init(&html);
    strbuf_adds(&html, "<!doctype html><title>{{title}}</title><!-- {{connect}} -->{{data}}");
    strbuf_pad(&html, size, ' ');
    return strbuf_detach(&html);
}

static void make_view(struct view *view, int runs, size_t samples)
{
    view_made(view, runs - 1);
    for (int run = 0; run < runs; run++)
        long_history_add(&view->records, run, runs, LONG_HISTORY_BENCHMARKS, samples);
    made_roofs(&view->records);
}

/* The records serve as history, too. */
static void share_history(struct view *view)
{
    view->history = view->records;
    view->history_is_borrowed = true;
}

static void unshare_history(struct view *view)
{
    view->history = (struct records) { 0 };
    view->history_is_borrowed = false;
}

static int make(struct view *view, const struct presets *presets,
                const struct page_file_options *how, struct strbuf *out, struct string_list *notes)
{
    struct page page;
    struct error err;

    page_init(&page, view, &options);
    assert_ok(page_file_make(&page, presets, how, out, notes, &err), &err);
    int base_or_head = page.head;
    page_release(&page);
    return base_or_head;
}

static bool says(const struct string_list *notes, const char *text)
{
    for (size_t i = 0; i < notes->nr; i++)
        if (strstr(notes->items[i], text))
            return true;
    return false;
}

static int samples_of_run(const cJSON *samples, int run)
{
    const cJSON *item;
    int nr = 0;

    cJSON_ArrayForEach(item, samples) nr += atoi(item->string) == run;
    return nr;
}

/* Figures, or those of them that have more rows for readers who filter. */
static int figures_named(const cJSON *figures, bool whole)
{
    const cJSON *item;
    int nr = 0;

    cJSON_ArrayForEach(item, figures) nr += (strchr(item->string, '/') != NULL) == whole;
    return nr;
}

static void print_block(const char *html, const char *id)
{
    char *text = block_of(html, id);

    print_message(", %s %zu", id, strlen(text));
    free(text);
}

#define VIEW_TEST(name) TEST_WITH_A(name, struct view, view, view_release)

/* 100 runs x 60 benchmarks within 1.9 MB, with every figure and every number of the table. */
VIEW_TEST(test_budget)
{
    const struct resource *built_in = resource_find("web/page.html");
    char *instead = built_in ? NULL : stand_in(STAND_IN_SIZE);
    const struct page_file_options how = { .html = instead };
    struct presets presets = { 0 };
    struct string_list notes = { 0 };
    struct strbuf html;
    struct error err;

    make_view(view, RUNS, SAMPLES);
    share_history(view);
    assert_ok(presets_load_embedded(&presets, &err), &err);
    strbuf_init(&html);
    int head = make(view, &presets, &how, &html, &notes);
    assert_true(html.length <= PAGE_BUDGET);
    cJSON *table = unpacked_block(html.data, "table"),
          *figures = unpacked_block(html.data, "figures");
    assert_int_equal(cJSON_GetArraySize(member(table, "run")), RUNS * 60);
    assert_int_equal(figures_named(figures, false), (int)presets.nr);
    assert_true(figures_named(figures, true) > 0);
    cJSON *samples = unpacked_block(html.data, "samples");
    assert_int_equal(samples_of_run(samples, head), 60);
    assert_true(says(&notes, "runs are not in this file"));
    /* The core says the same. */
    char *text = block_of(html.data, "core");
    cJSON *core = parsed(text);
    assert_int_equal(cJSON_GetArraySize(member(core, "notes")), (int)notes.nr);
    assert_int_equal(cJSON_GetArraySize(member(core, "figures")), (int)presets.nr);
    print_message("%zu bytes: template %zu, core %zu", html.length,
                  strlen(instead ? instead : built_in->data), strlen(text));
    print_block(html.data, "table");
    print_block(html.data, "figures");
    print_block(html.data, "samples");
    print_message(", of %d of %d series\n", cJSON_GetArraySize(samples), RUNS * 60);
    cJSON_Delete(core);
    cJSON_Delete(samples);
    cJSON_Delete(figures);
    cJSON_Delete(table);
    free(text);
    free(instead);
    strbuf_release(&html);
    string_list_release(&notes);
    presets_release(&presets);
    unshare_history(view);
}

/* Of the first `nr` runs only summaries are left, as `history prune` leaves them. */
static void prune_samples(struct view *view, int nr)
{
    for (size_t i = 0; i < view->records.nr; i++)
        view->records.items[i].m.thinned = view->records.items[i].run < nr;
}

/* The words of --samples, on a history that could be there whole: what is gone is nowhere. */
VIEW_TEST(test_choice_of_samples)
{
    static const struct {
        const char *word;
        int pruned, series;
        const char *note, *summary;
    } rows[] = {
        { "fit", 0, 180, NULL, NULL },
        { "none", 0, 0, "samples of 3 of 3 runs are not", NULL },
        { "head", 0, 60, "samples of 2 of 3 runs are not", NULL },
        { "all", 0, 180, NULL, NULL },
        { "fit", 3, 0, NULL, "Of 3 of 3 runs a summary" },
        { "all", 3, 0, NULL, "Of 3 of 3 runs a summary" },
        { "fit", 1, 120, NULL, "Of 1 of 3 runs a summary" },
        { "none", 1, 0, "samples of 2 of 3 runs are not", "Of 1 of 3 runs a summary" },
    };
    char *html = stand_in(100);
    struct presets none = { 0 };
    struct error err;

    make_view(view, 3, 30);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int choice = page_samples_find(rows[i].word, &err);
        const struct page_file_options how = { .html = html,
                                               .samples = (enum page_samples_choice)choice };
        struct string_list notes = { 0 };
        struct strbuf out;
        assert_true(choice >= 0);
        strbuf_init(&out);
        prune_samples(view, rows[i].pruned);
        make(view, &none, &how, &out, &notes);
        if (rows[i].series) {
            cJSON *samples = unpacked_block(out.data, "samples");
            assert_int_equal(cJSON_GetArraySize(samples), rows[i].series);
            cJSON_Delete(samples);
        } else {
            assert_null(block_of(out.data, "samples"));
        }
        assert_int_equal(notes.nr, (rows[i].note != NULL) + (rows[i].summary != NULL));
        assert_true(!rows[i].note || says(&notes, rows[i].note));
        assert_true(!rows[i].summary || says(&notes, rows[i].summary));
        string_list_release(&notes);
        strbuf_release(&out);
    }
    assert_int_equal(page_samples_find("some", &err), -1);
    assert_non_null(strstr(err.message, "some"));
    free(html);
}

/* A small budget thins the head first, and says how far. */
VIEW_TEST(test_small_budgets)
{
    char *html = stand_in(100);
    struct presets none = { 0 };
    size_t last = 0;

    make_view(view, 2, 400);
    for (size_t budget = 100000; budget <= 400000; budget += 50000) {
        const struct page_file_options how = { .html = html, .budget = budget };
        struct string_list notes = { 0 };
        struct strbuf out;
        size_t kept = 0;
        strbuf_init(&out);
        int head = make(view, &none, &how, &out, &notes);
        assert_true(out.length <= budget);
        cJSON *samples = unpacked_block(out.data, "samples"), *item;
        cJSON_ArrayForEach(item, samples)
        {
            kept += (size_t)member(item, "kept")->valueint;
            assert_int_equal(member(item, "of")->valueint, 1200);
        }
        assert_int_equal(samples_of_run(samples, head), 60);
        assert_true(kept >= last); /* more room, more samples */
        if (kept < 2 * 60 * 1200)
            assert_true(notes.nr > 0);
        last = kept;
        cJSON_Delete(samples);
        string_list_release(&notes);
        strbuf_release(&out);
    }
    free(html);
}

/* Where not even the numbers fit, the file is made all the same, and says so. */
VIEW_TEST(test_too_small_a_budget)
{
    char *html = stand_in(20000);
    const struct page_file_options how = { .html = html, .budget = 1000 };
    struct presets none = { 0 };
    struct string_list notes = { 0 };
    struct strbuf out;

    make_view(view, 1, 30);
    strbuf_init(&out);
    string_list_add(&notes, "A note from before.");
    make(view, &none, &how, &out, &notes);
    assert_true(out.length > 1000);
    assert_true(says(&notes, "larger than the 1000 bytes"));
    assert_string_equal(notes.items[0], "A note from before.");
    assert_null(block_of(out.data, "samples"));
    strbuf_release(&out);
    string_list_release(&notes);
    free(html);
}

RUN_TESTS(NULL, NULL)
