/* SPDX-License-Identifier: MIT */
#include "gputrace/names.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char *raw, *shown;
};

/* Open addressing, at most half full; `size` is a power of two. */
struct activity_names {
    struct entry *entries;
    size_t size, nr;
};

enum { FIRST_SIZE = 64 };

struct activity_names *activity_names_create(void)
{
    struct activity_names *names = memory_zeroed(1, sizeof(*names));

    names->size = FIRST_SIZE;
    names->entries = memory_zeroed(names->size, sizeof(*names->entries));
    return names;
}

void activity_names_free(struct activity_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->size; i++) {
        free(names->entries[i].raw);
        free(names->entries[i].shown);
    }
    free(names->entries);
    free(names);
}

/* FNV-1a. */
static uint64_t hash_name(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/* The entry of this name, or the free one where it belongs. */
static struct entry *find_name(const struct activity_names *names, const char *raw)
{
    size_t i = hash_name(raw) & (names->size - 1);

    while (names->entries[i].raw && strcmp(names->entries[i].raw, raw) != 0)
        i = (i + 1) & (names->size - 1);
    return &names->entries[i];
}

static void grow_names(struct activity_names *names)
{
    struct activity_names old = *names;

    names->size = old.size * 2;
    names->entries = memory_zeroed(names->size, sizeof(*names->entries));
    for (size_t i = 0; i < old.size; i++)
        if (old.entries[i].raw)
            *find_name(names, old.entries[i].raw) = old.entries[i];
    free(old.entries);
}

const char *activity_names_get(struct activity_names *names, const char *raw)
{
    struct entry *entry = find_name(names, raw);

    if (entry->raw)
        return entry->shown;
    if (names->nr * 2 >= names->size) {
        grow_names(names);
        entry = find_name(names, raw);
    }
    names->nr++;
    entry->raw = memory_string(raw);
    entry->shown = activity_demangle(raw);
    if (!entry->shown)
        entry->shown = memory_string(raw);
    return entry->shown;
}
