/* SPDX-License-Identifier: MIT */
/* A thread's lists: one adds, others read. */
#include "profile/internal.h"

#include <stdlib.h>

enum { FIRST_CHUNK = 64, MOST_CHUNK = 1 << 14 };

uint32_t prof_chunk_size(uint32_t previous, size_t room)
{
    size_t size = previous ? (size_t)previous * 2 : FIRST_CHUNK;

    size = size > MOST_CHUNK ? MOST_CHUNK : size;
    return (uint32_t)(size < room ? size : room);
}

/* The chunk behind the one that is full; NULL: there may be none. */
static struct prof_list_chunk *chunk_next(struct prof_list *list, size_t size, size_t most)
{
    struct prof_list_chunk *full = list->filling;
    struct prof_list_chunk **link = full ? &full->next : &list->first;

    if (!*link) {
        uint32_t base = full ? full->base + full->nr : 0;
        uint32_t nr = prof_chunk_size(full ? full->nr : 0, most - base);
        struct prof_list_chunk *chunk = nr ? malloc(sizeof(*chunk) + nr * size) : NULL;
        if (chunk)
            *chunk = (struct prof_list_chunk) { .base = base, .nr = nr };
        *link = chunk;
    } /* analyzer: the list owns it, see prof_list_release() */
    return *link;
}

static void *entry_of(const struct prof_list_chunk *chunk, size_t size, uint32_t index)
{
    return (char *)chunk->entries + (index - chunk->base) * size;
}

void *prof_list_slot(struct prof_list *list, size_t size, size_t most)
{
    struct prof_list_chunk *chunk = list->filling;

    if (list->full)
        return NULL;
    if (!chunk || list->nr - chunk->base == chunk->nr) {
        chunk = chunk_next(list, size, most);
        list->full = !chunk;
        if (!chunk)
            return NULL;
        list->filling = chunk;
    }
    return entry_of(chunk, size, list->nr);
}

void prof_list_publish(struct prof_list *list)
{
    __atomic_store_n(&list->nr, list->nr + 1, __ATOMIC_RELEASE);
}

const void *prof_list_at(const struct prof_list *list, size_t size, uint32_t index,
                         const struct prof_list_chunk **chunk)
{
    if (!*chunk || index < (*chunk)->base)
        *chunk = list->first;
    while (index - (*chunk)->base >= (*chunk)->nr)
        *chunk = (*chunk)->next;
    return entry_of(*chunk, size, index);
}

void prof_list_empty(struct prof_list *list)
{
    list->filling = NULL; /* the next one is the first again */
    list->full = false;
    __atomic_store_n(&list->nr, 0, __ATOMIC_RELAXED);
}

void prof_list_release(struct prof_list *list)
{
    while (list->first) {
        struct prof_list_chunk *chunk = list->first;
        list->first = chunk->next;
        free(chunk);
    }
}
