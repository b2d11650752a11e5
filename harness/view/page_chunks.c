/* SPDX-License-Identifier: MIT */
#include "view/page_chunks.h"

#include "base/array.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MOST = 5 }; /* runs that a note names */

static size_t packed_size(const char *text)
{
    struct strbuf packed;

    strbuf_init(&packed);
    page_pack(&packed, text, strlen(text));
    size_t size = packed.length;
    strbuf_release(&packed);
    return size;
}

static struct page_chunk make_chunk(const struct page *page, int run, size_t most)
{
    struct page_chunk chunk = { .run = run, .most = most };
    struct strbuf text;

    strbuf_init(&text);
    page_samples_of_run(page, run, most, &chunk.count, &text);
    chunk.packed = text.length ? packed_size(text.data) : 0;
    chunk.text = strbuf_detach(&text);
    return chunk;
}

static bool has_chunk(const struct page_chunks *chunks, int run)
{
    for (size_t i = 0; i < chunks->nr; i++)
        if (chunks->items[i].run == run)
            return true;
    return false;
}

void page_chunks_drop_last(struct page_chunks *chunks)
{
    free(chunks->items[--chunks->nr].text);
}

void page_chunks_release(struct page_chunks *chunks)
{
    while (chunks->nr)
        page_chunks_drop_last(chunks);
    array_release(chunks);
}

/* A choice on its way. */
struct choosing {
    struct page_chunks *chunks;
    const struct page *page;
    size_t room;
};

/* True where the run has its samples in, or has none. */
static bool take(struct choosing *c, int run, size_t most)
{
    if (has_chunk(c->chunks, run))
        return true;
    struct page_chunk chunk = make_chunk(c->page, run, most);
    if (chunk.count.kept == 0 || chunk.packed > c->room) {
        free(chunk.text);
        return chunk.count.kept == 0;
    }
    c->room -= chunk.packed;
    *array_push(c->chunks) = chunk;
    return true;
}

static void add_run(struct int_list *runs, int run)
{
    if (run >= 0)
        *array_push(runs) = run;
}

/* What is looked at: head, base, and the other runs that were asked for. */
static void list_sides(const struct page *page, struct int_list *runs)
{
    const struct view *view = page->view;

    add_run(runs, page->head);
    add_run(runs, page->base);
    for (size_t i = 0; i < view->nr_runs; i++)
        add_run(runs, page_find_run(page, &view->records.runs[view->runs[i]]));
}

static void list_others(const struct page *page, struct int_list *runs)
{
    for (size_t i = page->nr_runs; i-- > 0;)
        add_run(runs, (int)i);
}

/* All of these runs, or none of them. */
static bool take_all(struct choosing *c, const struct int_list *runs, size_t most)
{
    size_t nr = c->chunks->nr, room = c->room;

    for (size_t i = 0; i < runs->nr; i++) {
        if (take(c, (int)runs->items[i], most))
            continue;
        while (c->chunks->nr > nr)
            page_chunks_drop_last(c->chunks);
        c->room = room;
        return false;
    }
    return true;
}

/* All alike, and thinned as little as there is room for. */
static bool take_thinned(struct choosing *c, const struct int_list *runs, size_t least)
{
    static const size_t limits[] = { 0, 2000, 1000, 500, 200, 100, 50, 20 };

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i] && limits[i] < least)
            break;
        if (take_all(c, runs, limits[i]))
            return true;
    }
    return false;
}

/* As many runs as there is room for; the last of them with fewer samples. */
static void take_some(struct choosing *c, const struct int_list *runs)
{
    size_t most = PAGE_OLDER_MOST;

    for (size_t i = 0; i < runs->nr; i++) {
        while (!take(c, (int)runs->items[i], most)) {
            most /= 2;
            if (most < PAGE_OLDER_LEAST)
                return;
        }
    }
}

void page_chunks_choose(struct page_chunks *chunks, const struct page *page,
                        enum page_samples_choice choice, size_t room)
{
    struct choosing c = { chunks, page, choice == PAGE_SAMPLES_ALL ? SIZE_MAX : room };
    struct int_list sides = { 0 }, others = { 0 };

    if (choice == PAGE_SAMPLES_NONE)
        return;
    list_sides(page, &sides);
    if (choice != PAGE_SAMPLES_HEAD)
        list_others(page, &others);
    if (take_thinned(&c, &sides, 0) && !take_thinned(&c, &others, PAGE_OLDER_MOST))
        take_some(&c, &others);
    array_release(&sides);
    array_release(&others);
}

void page_chunks_pack(const struct page_chunks *chunks, struct strbuf *out)
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
static void note_thinned_to(const struct page_chunks *chunks, const struct page *page, size_t most,
                            struct string_list *notes)
{
    struct page_samples count = { 0 };
    struct strbuf text;
    size_t runs = 0;

    strbuf_init(&text);
    strbuf_adds(&text, "Of the raw samples of ");
    for (size_t i = 0; i < chunks->nr; i++) {
        const struct page_chunk *chunk = &chunks->items[i];
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

static void note_thinned(const struct page_chunks *chunks, const struct page *page,
                         struct string_list *notes)
{
    for (size_t i = 0; i < chunks->nr; i++) {
        size_t most = chunks->items[i].most, first = 0;
        while (chunks->items[first].most != most)
            first++;
        if (most && first == i)
            note_thinned_to(chunks, page, most, notes);
    }
}

static bool was_timed(const struct run_values *values)
{
    for (size_t i = 0; i < values->nr; i++)
        if (values->items[i].n > 0)
            return true;
    return false;
}

void page_chunks_note(const struct page_chunks *chunks, const struct page *page,
                      enum page_samples_choice choice, struct string_list *notes)
{
    size_t missing = 0;
    struct strbuf text;

    note_thinned(chunks, page, notes);
    for (size_t i = 0; i < page->nr_runs; i++)
        missing += was_timed(page->runs[i].values) && !has_chunk(chunks, (int)i);
    if (missing == 0)
        return;
    strbuf_init(&text);
    strbuf_addf(&text,
                "Raw samples of %zu of %zu runs are not in this file%s. `harness report RUN` puts "
                "those of a run in, `harness report --samples all` those of every run; `harness "
                "serve` has them all.",
                missing, page->nr_runs,
                choice == PAGE_SAMPLES_FIT ? ": there is no room for them" : "");
    string_list_add(notes, text.data);
    strbuf_release(&text);
}
