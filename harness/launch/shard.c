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

/* 0 where none is known. */
static double mean(const struct shard_item *const *items, size_t nr)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < nr; i++) {
        if (!known(items[i]))
            continue;
        sum += items[i]->seconds;
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

/* Within a kernel as they are listed, so that sums are the same to the last bit everywhere. */
static int order_by_kernel(const void *x, const void *y)
{
    const struct shard_item *const *a = x, *const *b = y;
    int order = strcmp((*a)->kernel, (*b)->kernel);

    return order ? order : (*a > *b) - (*a < *b);
}

/* The items of one kernel. */
static void guess_kernel(const struct shard_item *const *items, size_t nr,
                         const struct shard_item *first, double otherwise, struct load *loads)
{
    double of_kernel = mean(items, nr);

    for (size_t i = 0; i < nr; i++) {
        double seconds = known(items[i]) ? items[i]->seconds : of_kernel;
        size_t index = (size_t)(items[i] - first);
        loads[index] = (struct load) { items[i]->key, seconds > 0 ? seconds : otherwise, index };
    }
}

static void guess(const struct shard_item *items, size_t nr, struct load *loads)
{
    const struct shard_item **sorted = memory_zeroed(nr + 1, sizeof(*sorted));

    for (size_t i = 0; i < nr; i++)
        sorted[i] = &items[i];
    double all = mean(sorted, nr);
    qsort(sorted, nr, sizeof(*sorted), order_by_kernel);
    for (size_t i = 0, end; i < nr; i = end) {
        for (end = i + 1; end < nr && strcmp(sorted[end]->kernel, sorted[i]->kernel) == 0;)
            end++;
        guess_kernel(sorted + i, end - i, items, all, loads);
    }
    free(sorted);
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
