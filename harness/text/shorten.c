/* SPDX-License-Identifier: MIT */
#include "text/shorten.h"

#include "base/clean.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ELLIPSIS "…"

/* What parts words. */
static const char signs[] = " /,:;_-<>()[]";

/* A word of a name with the signs behind it. The last one is all that is left. */
enum { WORDS_MOST = 60 };

struct words {
    size_t end[WORDS_MOST]; /* bytes */
    int nr;
};

struct short_name {
    const char *name;
    size_t index;
    struct words words;
    uint64_t needed; /* bit i: word i tells it from another name that begins alike */
    char *text;
};

struct short_set {
    struct short_name *items; /* sorted by name */
    size_t nr;
};

static void split_words(const char *name, struct words *w)
{
    w->nr = 0;
    for (size_t at = 0; name[at] && w->nr < WORDS_MOST;) {
        at += strcspn(name + at, signs);
        at += strspn(name + at, signs);
        w->end[w->nr++] = at;
    }
    if (w->nr > 0)
        w->end[w->nr - 1] = strlen(name);
}

/* Does another name, with the same first bytes, have the word that ends there? What stands behind
 * it may differ: nothing, or other signs. */
static bool is_shared(const char *name, size_t end, const char *other, size_t alike)
{
    while (end > 0 && strchr(signs, name[end - 1]))
        end--;
    return end < alike || (end == alike && (!other[end] || strchr(signs, other[end])));
}

/* How many words at its beginning a name shares with another; -1: it is the same. */
static int words_shared(const struct short_name *a, const char *b)
{
    size_t alike = 0;
    int nr = 0;

    while (a->name[alike] && a->name[alike] == b[alike])
        alike++;
    if (!a->name[alike] && !b[alike])
        return -1;
    while (nr < a->words.nr && is_shared(a->name, a->words.end[nr], b, alike))
        nr++;
    return nr;
}

/* Of a name's words, those that tell it from what stands on one side in the sorted set: where it
 * parts from its neighbour, and what told that from names further away, before they part. */
static uint64_t words_needed(const struct short_name *s, const char *neighbour, uint64_t theirs)
{
    int shared = words_shared(s, neighbour);

    if (shared < 0)
        return theirs;
    return shared < WORDS_MOST ? UINT64_C(1) << shared | (theirs & ((UINT64_C(1) << shared) - 1))
                               : theirs;
}

static int by_whole_name(const void *x, const void *y)
{
    const struct short_name *a = x, *b = y;
    int order = strcmp(a->name, b->name);

    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static struct short_set short_set_make(const char *const *names, size_t nr)
{
    struct short_set set = { memory_zeroed(nr + 1, sizeof(*set.items)), nr };
    uint64_t side = 0;

    for (size_t i = 0; i < nr; i++) {
        set.items[i].name = names[i];
        set.items[i].index = i;
        split_words(names[i], &set.items[i].words);
    }
    qsort(set.items, nr, sizeof(*set.items), by_whole_name);
    for (size_t i = 1; i < nr; i++)
        set.items[i].needed = side = words_needed(&set.items[i], set.items[i - 1].name, side);
    side = 0;
    for (size_t i = nr; i-- > 1;) {
        side = words_needed(&set.items[i - 1], set.items[i].name, side);
        set.items[i - 1].needed |= side;
    }
    return set;
}

static void short_set_release(struct short_set *set)
{
    for (size_t i = 0; i < set->nr; i++)
        free(set->items[i].text);
    free(set->items);
}

/* The words that are kept, an ellipsis and its last sign for each run of the others. */
static char *join_words(const struct short_name *s, uint64_t kept)
{
    struct strbuf out;
    size_t begin = 0;

    strbuf_init(&out);
    for (int i = 0; i < s->words.nr; begin = s->words.end[i++]) {
        bool next = i + 1 < s->words.nr && (kept >> (i + 1) & 1);
        if (kept >> i & 1)
            strbuf_add(&out, s->name + begin, s->words.end[i] - begin);
        else if (next)
            strbuf_addf(&out, ELLIPSIS "%c", s->name[s->words.end[i] - 1]);
        else if (i + 1 == s->words.nr)
            strbuf_adds(&out, ELLIPSIS);
    }
    return strbuf_detach(&out);
}

/* The word nearest to the middle that is kept and not needed; -1 if there is none. */
static int dispensable_word(const struct short_name *s, uint64_t kept)
{
    int best = -1, away = 2 * WORDS_MOST;

    for (int i = 0; i < s->words.nr; i++) {
        int distance = abs(2 * i + 1 - s->words.nr);
        if ((kept >> i & 1) && !(s->needed >> i & 1) && distance < away) {
            best = i;
            away = distance;
        }
    }
    return best;
}

static char *shorten_name(const struct short_name *s, size_t width)
{
    uint64_t kept = UINT64_MAX;
    char *text = memory_string(s->name);
    int word;

    while (clean_columns(text) > width && (word = dispensable_word(s, kept)) >= 0) {
        kept &= ~(UINT64_C(1) << word);
        free(text);
        text = join_words(s, kept);
    }
    if (clean_columns(text) <= width)
        return text;
    free(text);
    return shorten_text(s->name, width);
}

static int by_short_form(const void *x, const void *y)
{
    const struct short_name *const *a = x, *const *b = y;

    return strcmp((*a)->text, (*b)->text);
}

static void keep_whole(struct short_name *s)
{
    free(s->text);
    s->text = memory_string(s->name);
}

/* Whole names for those whose short form is that of another; how many. Equal texts lie together, so
 * that each is compared with the one before, as that was. */
static size_t keep_alike_whole(struct short_set *set)
{
    struct short_name **sorted = memory_zeroed(set->nr + 1, sizeof(*sorted));
    bool *alike = memory_zeroed(set->nr + 1, sizeof(*alike));
    size_t whole = 0;

    for (size_t i = 0; i < set->nr; i++)
        sorted[i] = &set->items[i];
    qsort(sorted, set->nr, sizeof(struct short_name *), by_short_form);
    for (size_t begin = 0, end; begin < set->nr; begin = end) {
        bool differ = false;
        for (end = begin + 1; end < set->nr && by_short_form(&sorted[begin], &sorted[end]) == 0;
             end++)
            differ |= strcmp(sorted[begin]->name, sorted[end]->name) != 0;
        for (size_t i = begin; differ && i < end; i++)
            alike[i] = true;
    }
    for (size_t i = 0; i < set->nr; i++)
        if (alike[i]) {
            keep_whole(sorted[i]);
            whole++;
        }
    free(sorted);
    free(alike);
    return whole;
}

/* How many names have no short form. */
static size_t shorten_set(struct short_set *set, size_t width)
{
    for (size_t i = 0; i < set->nr; i++) {
        free(set->items[i].text);
        set->items[i].text = shorten_name(&set->items[i], width);
    }
    return keep_alike_whole(set);
}

char *shorten_text(const char *text, size_t width)
{
    size_t columns = clean_columns(text), head = width > 1 ? (width - 1) * 3 / 5 : 0;
    struct strbuf out;

    if (columns <= width)
        return memory_string(text);
    size_t tail = width > 0 ? width - 1 - head : 0, from = clean_fitting(text, columns - tail);
    if (clean_columns(text + from) > tail) /* half of a wide character */
        from += clean_fitting(text + from, 2);
    strbuf_init(&out);
    strbuf_add(&out, text, clean_fitting(text, head));
    strbuf_adds(&out, width ? ELLIPSIS : "");
    strbuf_adds(&out, text + from);
    return strbuf_detach(&out);
}

char **shorten_names(const char *const *names, size_t nr, size_t width)
{
    struct short_set set = short_set_make(names, nr);
    char **texts = memory_zeroed(nr + 1, sizeof(*texts));

    shorten_set(&set, width);
    for (size_t i = 0; i < nr; i++) {
        texts[set.items[i].index] = set.items[i].text;
        set.items[i].text = NULL;
    }
    short_set_release(&set);
    return texts;
}

void shorten_free(char **names, size_t nr)
{
    for (size_t i = 0; names && i < nr; i++)
        free(names[i]);
    free(names);
}

size_t shorten_least(const char *const *names, size_t nr, size_t low, size_t high)
{
    enum { STEP = 4 };
    struct short_set set = short_set_make(names, nr);
    size_t width = low;

    while (width < high && shorten_set(&set, width) > 0)
        width += STEP;
    short_set_release(&set);
    return width < high ? width : high;
}
