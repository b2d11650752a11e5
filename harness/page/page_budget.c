/* SPDX-License-Identifier: MIT */
#include "page/page_budget.h"

#include "base/array.h"
#include "base/text.h"
#include "page/page_parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROOM_FOR_WORDS = 4096, /* notes and the ends of blocks */
    NAMED_MOST = 5,        /* runs that a note names */
    TRACE_PART = 4,        /* a trace has no more of the budget than one of so many parts */
    PACKED_SLICE = 3,      /* bytes of a slice in the file, at least */
};

/* ---- which runs have their raw samples in the file, and how many of them ---- */

/* The samples of one run. */
struct chunk {
    int run;
    size_t most, packed; /* of a launch, 0: all; bytes in the file, by itself */
    struct page_samples count;
    char *text; /* page_samples_of_run(); owned */
};

struct chunks {
    struct chunk *items; /* in the order in which they got room */
    size_t nr, capacity;
};

static size_t chunk_packed_size(const char *text)
{
    struct strbuf packed;

    strbuf_init(&packed);
    page_pack(&packed, text, strlen(text));
    size_t size = packed.length;
    strbuf_release(&packed);
    return size;
}

static struct chunk chunk_make(const struct page *page, int run, size_t most)
{
    struct chunk chunk = { .run = run, .most = most };
    struct strbuf text;

    strbuf_init(&text);
    page_samples_of_run(page, run, most, &chunk.count, &text);
    chunk.packed = text.length ? chunk_packed_size(text.data) : 0;
    chunk.text = strbuf_detach(&text);
    return chunk;
}

static bool chunks_have(const struct chunks *chunks, int run)
{
    for (size_t i = 0; i < chunks->nr; i++)
        if (chunks->items[i].run == run)
            return true;
    return false;
}

static void chunks_drop_last(struct chunks *chunks)
{
    free(chunks->items[--chunks->nr].text);
}

static void chunks_release(struct chunks *chunks)
{
    while (chunks->nr)
        chunks_drop_last(chunks);
    array_release(chunks);
}

/* A choice on its way. */
struct choosing {
    struct chunks *chunks;
    const struct page *page;
    size_t room;
};

/* True where the run has its samples in, or has none. */
static bool choosing_take(struct choosing *c, int run, size_t most)
{
    if (chunks_have(c->chunks, run))
        return true;
    struct chunk chunk = chunk_make(c->page, run, most);
    if (chunk.count.kept == 0 || chunk.packed > c->room) {
        free(chunk.text);
        return chunk.count.kept == 0;
    }
    c->room -= chunk.packed;
    *array_push(c->chunks) = chunk;
    return true;
}

static void runs_add(struct int_list *runs, int run)
{
    if (run >= 0)
        *array_push(runs) = run;
}

/* What is looked at: head, base, and the other runs that were asked for. */
static void runs_list_sides(const struct page *page, struct int_list *runs)
{
    const struct view *view = page->view;

    runs_add(runs, page->head);
    runs_add(runs, page->base);
    for (size_t i = 0; i < view->nr_runs; i++)
        runs_add(runs, page_find_run(page, &view->records.runs[view->runs[i]]));
}

static void runs_list_others(const struct page *page, struct int_list *runs)
{
    for (size_t i = page->nr_runs; i-- > 0;)
        runs_add(runs, (int)i);
}

/* All of these runs, or none of them. */
static bool choosing_take_all(struct choosing *c, const struct int_list *runs, size_t most)
{
    size_t nr = c->chunks->nr, room = c->room;

    for (size_t i = 0; i < runs->nr; i++) {
        if (choosing_take(c, (int)runs->items[i], most))
            continue;
        while (c->chunks->nr > nr)
            chunks_drop_last(c->chunks);
        c->room = room;
        return false;
    }
    return true;
}

/* All alike, and thinned as little as there is room for. */
static bool choosing_take_thinned(struct choosing *c, const struct int_list *runs, size_t least)
{
    static const size_t limits[] = { 0, 2000, 1000, 500, 200, 100, 50, 20 };

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i] && limits[i] < least)
            break;
        if (choosing_take_all(c, runs, limits[i]))
            return true;
    }
    return false;
}

/* As many runs as there is room for; the last of them with fewer samples. */
static void choosing_take_some(struct choosing *c, const struct int_list *runs)
{
    size_t most = PAGE_OLDER_MOST;

    for (size_t i = 0; i < runs->nr; i++) {
        while (!choosing_take(c, (int)runs->items[i], most)) {
            most /= 2;
            if (most < PAGE_OLDER_LEAST)
                return;
        }
    }
}

/* As the choice says, within `room` bytes; PAGE_SAMPLES_ALL looks at no room. */
static void chunks_choose(struct chunks *chunks, const struct page *page,
                          enum page_samples_choice choice, size_t room)
{
    struct choosing c = { chunks, page, choice == PAGE_SAMPLES_ALL ? SIZE_MAX : room };
    struct int_list sides = { 0 }, others = { 0 };

    if (choice == PAGE_SAMPLES_NONE)
        return;
    runs_list_sides(page, &sides);
    if (choice != PAGE_SAMPLES_HEAD)
        runs_list_others(page, &others);
    if (choosing_take_thinned(&c, &sides, 0) &&
        !choosing_take_thinned(&c, &others, PAGE_OLDER_MOST))
        choosing_take_some(&c, &others);
    array_release(&sides);
    array_release(&others);
}

/* The samples block; nothing where there are none. */
static void chunks_pack(const struct chunks *chunks, struct strbuf *out)
{
    struct strbuf text;

    if (chunks->nr == 0)
        return;
    strbuf_init(&text);
    for (size_t i = 0; i < chunks->nr; i++) {
        strbuf_adds(&text, i ? "," : "{");
        strbuf_adds(&text, chunks->items[i].text);
    }
    strbuf_addc(&text, '}');
    page_pack(out, text.data, text.length);
    strbuf_release(&text);
}

/* The runs that were thinned alike, in one sentence. */
static void chunks_note_thinned_to(const struct chunks *chunks, const struct page *page,
                                   size_t most, struct string_list *notes)
{
    struct page_samples count = { 0 };
    struct strbuf text;
    size_t runs = 0;

    strbuf_init(&text);
    strbuf_adds(&text, "Of the raw samples of ");
    for (size_t i = 0; i < chunks->nr; i++) {
        const struct chunk *chunk = &chunks->items[i];
        if (chunk->most != most || chunk->count.kept == chunk->count.of)
            continue;
        if (runs++ < NAMED_MOST)
            strbuf_addf(&text, "%s%s", runs > 1 ? ", " : "", page->runs[chunk->run].name);
        count.of += chunk->count.of;
        count.kept += chunk->count.kept;
    }
    if (runs > NAMED_MOST)
        strbuf_addf(&text, " and %zu more", runs - NAMED_MOST);
    strbuf_addf(&text,
                ", %zu of %zu are in this file: at most %zu of each launch, evenly spread. Numbers "
                "and figures are made from all of them.",
                count.kept, count.of, most);
    if (runs)
        string_list_add(notes, text.data);
    strbuf_release(&text);
}

static void chunks_note_thinned(const struct chunks *chunks, const struct page *page,
                                struct string_list *notes)
{
    for (size_t i = 0; i < chunks->nr; i++) {
        size_t most = chunks->items[i].most, first = 0;
        while (chunks->items[first].most != most)
            first++;
        if (most && first == i)
            chunks_note_thinned_to(chunks, page, most, notes);
    }
}

static bool values_were_timed(const struct run_values *values)
{
    for (size_t i = 0; i < values->nr; i++)
        if (values->items[i].n > 0)
            return true;
    return false;
}

/* Appends what was thinned, how many runs have their samples elsewhere, and how many nowhere. */
static void chunks_note(const struct chunks *chunks, const struct page *page,
                        enum page_samples_choice choice, struct string_list *notes)
{
    size_t missing = 0, summaries = 0;
    struct strbuf text;

    chunks_note_thinned(chunks, page, notes);
    for (size_t i = 0; i < page->nr_runs; i++) {
        if (!values_were_timed(page->runs[i].values) || chunks_have(chunks, (int)i))
            continue;
        *(page_run_has_samples(page, (int)i) ? &missing : &summaries) += 1;
    }
    strbuf_init(&text);
    if (missing) {
        strbuf_addf(&text,
                    "Raw samples of %zu of %zu runs are not in this file%s. `harness report RUN` "
                    "puts those of a run in, `harness report --samples all` those of every run; "
                    "`harness serve` has them all.",
                    missing, page->nr_runs,
                    choice == PAGE_SAMPLES_FIT ? ": there is no room for them" : "");
        string_list_add(notes, text.data);
    }
    strbuf_clear(&text);
    strbuf_addf(&text, "Of %zu of %zu runs a summary of the samples is all that is kept.",
                summaries, page->nr_runs);
    if (summaries)
        string_list_add(notes, text.data);
    strbuf_release(&text);
}

/* ---- the file ---- */

struct filling {
    struct page *page;
    const struct page_file_options *options;
    size_t budget;
    const char *html;
    struct page_figures figures;
    struct strbuf table, drawn, samples, trace; /* packed; samples and trace empty: none */
    struct chunks chunks;
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

static void page_file_notes(struct filling *f, bool over)
{
    struct strbuf text;

    while (f->notes->nr > f->first_note)
        free(f->notes->items[--f->notes->nr]);
    chunks_note(&f->chunks, f->page, f->options->samples, f->notes);
    if (!over)
        return;
    strbuf_init(&text);
    strbuf_addf(&text, "This file is larger than the %zu bytes that it should have at most.",
                f->budget);
    string_list_add(f->notes, text.data);
    strbuf_release(&text);
}

/* The document as it now is. */
static int page_file_assemble(struct filling *f, bool over, struct strbuf *out, struct error *err)
{
    struct page_options *options = &f->page->options;
    struct strbuf core, title;

    page_file_notes(f, over);
    options->notes = (const char *const *)f->notes->items;
    options->nr_notes = f->notes->nr;
    strbuf_init(&core);
    strbuf_init(&title);
    json_take_script(page_core(f->page, &f->figures), &core);
    page_title(f->page, &title);
    const struct page_document document = {
        .title = title.data,
        .core = core.data,
        .table = f->table.data,
        .figures = f->drawn.data,
        .samples = f->samples.length ? f->samples.data : NULL,
        .trace = f->trace.length ? f->trace.data : NULL,
    };
    strbuf_clear(out);
    int rc = page_html(f->html, &document, out, err);
    strbuf_release(&core);
    strbuf_release(&title);
    options->notes = NULL;
    options->nr_notes = 0;
    return rc;
}

/* The slices of a profile, the longest first, in at most `room` bytes. */
static void page_file_trace(struct filling *f, size_t room)
{
    bool all = f->options->samples == PAGE_SAMPLES_ALL;
    size_t most = PAGE_SLICES_MOST;
    struct strbuf text;

    if (!all && most > room / PACKED_SLICE)
        most = room / PACKED_SLICE;
    strbuf_init(&text);
    while (most > 0 && page_trace(f->page->view, most, &text) > 0) {
        page_pack(&f->trace, text.data, text.length);
        if (all || f->trace.length <= room)
            break;
        most = (size_t)(0.95 * (double)most * (double)room / (double)f->trace.length);
        strbuf_clear(&f->trace);
        strbuf_clear(&text);
    }
    strbuf_release(&text);
}

static void page_file_blocks(struct filling *f, const struct presets *presets)
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
    page_file_trace(f, f->budget / TRACE_PART);
}

/* First without samples, to see how much room they have. */
static int page_file_fill(struct filling *f, struct strbuf *out, struct error *err)
{
    if (page_file_assemble(f, false, out, err))
        return -1;
    size_t taken = out->length + ROOM_FOR_WORDS;
    chunks_choose(&f->chunks, f->page, f->options->samples,
                  taken < f->budget ? f->budget - taken : 0);
    for (;;) {
        strbuf_clear(&f->samples);
        chunks_pack(&f->chunks, &f->samples);
        if (page_file_assemble(f, false, out, err))
            return -1;
        if (out->length <= f->budget || f->options->samples == PAGE_SAMPLES_ALL)
            return 0;
        if (f->chunks.nr == 0)
            return page_file_assemble(f, true, out, err);
        chunks_drop_last(&f->chunks);
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
    strbuf_init(&f.trace);
    page_file_blocks(&f, presets);
    int rc = page_file_fill(&f, out, err);
    page_figures_release(&f.figures);
    strbuf_release(&f.table);
    strbuf_release(&f.drawn);
    strbuf_release(&f.samples);
    strbuf_release(&f.trace);
    chunks_release(&f.chunks);
    return rc;
}
