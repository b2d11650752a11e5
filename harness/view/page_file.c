/* SPDX-License-Identifier: MIT */
#include "view/page_file.h"

#include "view/page_chunks.h"
#include "view/page_parts.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_FOR_WORDS = 4096 }; /* notes and the ends of blocks */

struct filling {
    struct page *page;
    const struct page_file_options *options;
    size_t budget;
    const char *html;
    struct page_figures figures;
    struct strbuf table, drawn, samples; /* packed; samples empty: none */
    struct page_chunks chunks;
    struct string_list *notes;
    size_t first_note; /* of ours */
};

int page_samples_find(const char *word, struct error *err)
{
    static const char *const words[] = {
        [PAGE_SAMPLES_FIT] = "fit",
        [PAGE_SAMPLES_NONE] = "none",
        [PAGE_SAMPLES_HEAD] = "head",
        [PAGE_SAMPLES_ALL] = "all",
    };

    for (int i = 0; i < (int)(sizeof(words) / sizeof(words[0])); i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return error_set(err,
                     "\"%.40s\": samples are fit (as many as there is room for), none, head "
                     "(and its base) or all",
                     word);
}

static void write_notes(struct filling *f, bool over)
{
    struct strbuf text;

    while (f->notes->nr > f->first_note)
        free(f->notes->items[--f->notes->nr]);
    page_chunks_note(&f->chunks, f->page, f->options->samples, f->notes);
    if (!over)
        return;
    strbuf_init(&text);
    strbuf_addf(&text, "This file is larger than the %zu bytes that it should have at most.",
                f->budget);
    string_list_add(f->notes, text.data);
    strbuf_release(&text);
}

/* The document as it now is. */
static int assemble(struct filling *f, bool over, struct strbuf *out, struct error *err)
{
    struct page_options *options = &f->page->options;
    struct strbuf core, title;

    write_notes(f, over);
    options->notes = (const char *const *)f->notes->items;
    options->nr_notes = f->notes->nr;
    strbuf_init(&core);
    strbuf_init(&title);
    page_json_take(page_core(f->page, &f->figures), &core);
    page_title(f->page, &title);
    const struct page_document document = {
        .title = title.data,
        .core = core.data,
        .table = f->table.data,
        .figures = f->drawn.data,
        .samples = f->samples.length ? f->samples.data : NULL,
    };
    strbuf_clear(out);
    int rc = page_html(f->html, &document, out, err);
    strbuf_release(&core);
    strbuf_release(&title);
    options->notes = NULL;
    options->nr_notes = 0;
    return rc;
}

static void make_blocks(struct filling *f, const struct presets *presets)
{
    struct strbuf text;

    strbuf_init(&text);
    page_table(f->page, &text);
    page_pack(&f->table, text.data, text.length);
    strbuf_clear(&text);
    page_figures_build(&f->figures, f->page->view, presets, PAGE_POINTS);
    page_figures_text(&f->figures, &text);
    page_pack(&f->drawn, text.data, text.length);
    strbuf_release(&text);
}

/* First without samples, to see how much room they have. */
static int fill(struct filling *f, struct strbuf *out, struct error *err)
{
    if (assemble(f, false, out, err))
        return -1;
    size_t taken = out->length + ROOM_FOR_WORDS;
    page_chunks_choose(&f->chunks, f->page, f->options->samples,
                       taken < f->budget ? f->budget - taken : 0);
    for (;;) {
        strbuf_clear(&f->samples);
        page_chunks_pack(&f->chunks, &f->samples);
        if (assemble(f, false, out, err))
            return -1;
        if (out->length <= f->budget || f->options->samples == PAGE_SAMPLES_ALL)
            return 0;
        if (f->chunks.nr == 0)
            return assemble(f, true, out, err);
        page_chunks_drop_last(&f->chunks);
    }
}

int page_file_make(struct page *page, const struct presets *presets,
                   const struct page_file_options *options, struct strbuf *out,
                   struct string_list *notes, struct error *err)
{
    struct filling f = {
        .page = page,
        .options = options,
        .budget = options->budget ? options->budget : PAGE_BUDGET,
        .html = options->html ? options->html : page_template(err),
        .notes = notes,
        .first_note = notes->nr,
    };

    if (!f.html)
        return -1;
    strbuf_init(&f.table);
    strbuf_init(&f.drawn);
    strbuf_init(&f.samples);
    make_blocks(&f, presets);
    int rc = fill(&f, out, err);
    page_figures_release(&f.figures);
    strbuf_release(&f.table);
    strbuf_release(&f.drawn);
    strbuf_release(&f.samples);
    page_chunks_release(&f.chunks);
    return rc;
}
