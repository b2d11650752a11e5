/* SPDX-License-Identifier: MIT */
#include "launch/shard.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool known(const struct shard_item *item)
{
    return item->seconds > 0; /* false for NaN */
}

/* Of those of `kernel`, or of all where it is NULL; 0 where none is known. */
static double mean(const struct shard_item *items, size_t nr, const char *kernel)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < nr; i++) {
        if (!known(&items[i]) || (kernel && strcmp(kernel, items[i].kernel) != 0))
            continue;
        sum += items[i].seconds;
        count++;
    }
    return count ? sum / (double)count : 0;
}

struct load {
    const char *key;
    double seconds;
    size_t index;
};

static int longest_first(const void *a, const void *b)
{
    const struct load *x = a, *y = b;

    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return strcmp(x->key, y->key);
}

static void guess(const struct shard_item *items, size_t nr, struct load *loads)
{
    double all = mean(items, nr, NULL);

    for (size_t i = 0; i < nr; i++) {
        double of_kernel = known(&items[i]) ? items[i].seconds : mean(items, nr, items[i].kernel);
        loads[i] = (struct load) { items[i].key, of_kernel > 0 ? of_kernel : all, i };
    }
}

static void spread(const struct load *loads, size_t nr, size_t count, size_t *owner)
{
    double *sums = memory_zeroed(count, sizeof(*sums));

    for (size_t i = 0; i < nr; i++) {
        size_t least = 0;
        for (size_t part = 1; part < count; part++)
            if (sums[part] < sums[least])
                least = part;
        sums[least] += loads[i].seconds;
        owner[loads[i].index] = least;
    }
    free(sums);
}

void shard_assign(const struct shard_item *items, size_t nr, size_t count, size_t *owner,
                  double *seconds)
{
    struct load *loads = memory_zeroed(nr + 1, sizeof(*loads));

    guess(items, nr, loads);
    for (size_t i = 0; seconds && i < nr; i++)
        seconds[i] = loads[i].seconds;
    if (nr > 0 && loads[0].seconds > 0) { /* something is known: then all have a guess */
        qsort(loads, nr, sizeof(*loads), longest_first);
        spread(loads, nr, count, owner);
    } else {
        for (size_t i = 0; i < nr; i++)
            owner[i] = i % count;
    }
    free(loads);
}

/* Of one item; the sum of these does not hang on the order in which they are listed. FNV-1a. */
static uint64_t digest_of(const char *key, size_t owner)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
    return (hash ^ owner) * UINT64_C(0x100000001b3);
}

uint64_t shard_digest(const struct shard_item *items, size_t nr, size_t count, const size_t *owner)
{
    uint64_t digest = count;

    for (size_t i = 0; i < nr; i++)
        digest += digest_of(items[i].key, owner[i]);
    return digest;
}
