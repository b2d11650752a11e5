/* SPDX-License-Identifier: MIT */
#include "session/bench/bench_keys.h"

#include <stdio.h>
#include <string.h>

/* The place in the order of the first that is not before `key`. */
static size_t place_in_order(const struct bench_keys *keys, const char *key)
{
    size_t low = 0, high = keys->order.nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(keys->known.items[keys->order.items[middle]].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct bench_key *bench_keys_find(const struct bench_keys *keys, const char *key)
{
    size_t place = place_in_order(keys, key);

    if (place == keys->order.nr)
        return NULL;
    struct bench_key *found = &keys->known.items[keys->order.items[place]];
    return strcmp(found->key, key) == 0 ? found : NULL;
}

void bench_keys_add(struct bench_keys *keys, const char *key, size_t bench)
{
    size_t place = place_in_order(keys, key), behind = keys->order.nr - place;
    struct bench_key *added = array_push(&keys->known);

    snprintf(added->key, sizeof(added->key), "%s", key);
    added->bench = bench;
    added->need = true;
    array_push(&keys->order);
    size_t *at = keys->order.items + place;
    memmove(at + 1, at, behind * sizeof(*at));
    *at = keys->known.nr - 1;
}

void bench_keys_release(struct bench_keys *keys)
{
    array_release(&keys->known);
    array_release(&keys->order);
}
