/* SPDX-License-Identifier: MIT */
#include "profile/name_map.h"

#include <stdlib.h>

static struct prof_map_slot *map_slot(struct prof_map_slot *slots, size_t size, uint64_t a,
                                      uint64_t b)
{
    size_t i = (size_t)prof_map_mixed(a + prof_map_mixed(b));

    for (i &= size - 1; slots[i].is_used; i = (i + 1) & (size - 1)) {
        if (slots[i].a == a && slots[i].b == b)
            break;
    }
    return &slots[i];
}

static int map_grow(struct prof_map *map)
{
    size_t size = map->size ? map->size * 2 : 64;
    struct prof_map_slot *slots = calloc(size, sizeof(*slots));

    if (!slots)
        return -1;
    for (size_t i = 0; i < map->size; i++) {
        if (map->slots[i].is_used)
            *map_slot(slots, size, map->slots[i].a, map->slots[i].b) = map->slots[i];
    }
    free(map->slots);
    map->slots = slots;
    map->size = size;
    return 0;
}

int *prof_map_at(struct prof_map *map, uint64_t a, uint64_t b, int fresh)
{
    if (map->nr * 2 >= map->size && map_grow(map) != 0)
        return NULL;
    struct prof_map_slot *slot = map_slot(map->slots, map->size, a, b);
    if (!slot->is_used) {
        *slot = (struct prof_map_slot) { a, b, fresh, 1 };
        map->nr++;
    }
    return &slot->value;
}

const int *prof_map_find(const struct prof_map *map, uint64_t a, uint64_t b)
{
    const struct prof_map_slot *slot = map->size ? map_slot(map->slots, map->size, a, b) : NULL;

    return slot && slot->is_used ? &slot->value : NULL;
}

void prof_map_release(struct prof_map *map)
{
    free(map->slots);
    *map = (struct prof_map) { NULL, 0, 0 };
}
