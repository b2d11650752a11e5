/* SPDX-License-Identifier: MIT */
/* One size for all: what is compared across models must not differ in batch or sequence length. */
#include "chart/base/chart_base.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct held_size {
    int64_t batch, seq;
    char key[64];
    size_t kernels; /* that were measured at it */
};

struct held_sizes {
    struct held_size *items;
    size_t nr, capacity;
    char (*pairs)[KEY_SIZE]; /* sizes with kernels seen; owned */
    size_t nr_pairs;
};

static bool hold_is_size(const void *owner, size_t at, const char *key, size_t run)
{
    (void)run;
    return strcmp(((const struct held_sizes *)owner)->items[at].key, key) == 0;
}

static bool hold_is_pair(const void *owner, size_t at, const char *key, size_t run)
{
    (void)run;
    return strcmp(((const struct held_sizes *)owner)->pairs[at], key) == 0;
}

static struct held_size hold_size_of(const struct chart_item *item)
{
    struct held_size size = { .batch = benchmark_name_dim(item->bench, "batch", -1),
                              .seq = benchmark_name_dim(item->bench, "seq", -1) };
    char batch[32] = "", seq[32] = "";

    if (size.batch >= 0)
        snprintf(batch, sizeof(batch), "batch=%lld", (long long)size.batch);
    if (size.seq >= 0)
        snprintf(seq, sizeof(seq), "seq=%lld", (long long)size.seq);
    snprintf(size.key, sizeof(size.key), "%s%s%s", batch, *batch && *seq ? " " : "", seq);
    return size;
}

static void hold_count(struct held_sizes *sizes, const struct chart_items *items)
{
    struct chart_places places, pairs;

    chart_places_init(&places, sizes, hold_is_size, items->nr);
    chart_places_init(&pairs, sizes, hold_is_pair, items->nr);
    sizes->pairs = memory_zeroed(items->nr + 1, sizeof(*sizes->pairs));
    for (size_t i = 0; i < items->nr; i++) {
        struct held_size size = hold_size_of(&items->items[i]);
        size_t *place = chart_place(&places, size.key, 0);
        if (*place == 0) {
            *array_push(sizes) = size;
            *place = sizes->nr;
        }
        char *pair = sizes->pairs[sizes->nr_pairs];
        snprintf(pair, KEY_SIZE, "%s of %s", size.key, items->items[i].bench->kernel);
        size_t *known = chart_place(&pairs, pair, 0);
        if (*known == 0) {
            *known = ++sizes->nr_pairs;
            sizes->items[*place - 1].kernels++;
        }
    }
    chart_places_release(&places);
    chart_places_release(&pairs);
}

/* That of most kernels; of equal ones the largest, where the machine has most to do. */
static const struct held_size *hold_choose(const struct held_sizes *sizes)
{
    const struct held_size *best = sizes->items;

    for (size_t i = 1; i < sizes->nr; i++) {
        const struct held_size *one = &sizes->items[i];
        if (one->kernels != best->kernels ? one->kernels > best->kernels
                                          : one->batch * one->seq > best->batch * best->seq)
            best = one;
    }
    return best;
}

void chart_items_hold(struct chart_items *items, char words[CHART_HELD_SIZE])
{
    struct held_sizes sizes = { .nr = 0 };
    size_t kept = 0;

    words[0] = '\0';
    if (!items->nr)
        return;
    hold_count(&sizes, items);
    const struct held_size *held = hold_choose(&sizes);
    for (size_t i = 0; i < items->nr; i++)
        if (strcmp(hold_size_of(&items->items[i]).key, held->key) == 0)
            items->items[kept++] = items->items[i];
    items->left_out += items->nr - kept;
    items->nr = kept;
    snprintf(words, CHART_HELD_SIZE, "%s", held->key);
    free(sizes.pairs);
    array_release(&sizes);
}
