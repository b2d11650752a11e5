/* SPDX-License-Identifier: MIT */
#include "stats/thin_samples.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FIRST = 4, LAST = 16, PERCENTILES = 100 };

static int order_ranks(const void *x, const void *y)
{
    size_t a = *(const size_t *)x, b = *(const size_t *)y;

    return (a > b) - (a < b);
}

/* Those percentiles whose upper neighbour is kept too, so that they are exact. */
static bool is_exact(size_t k)
{
    return k % 5 == 0 || k == 1 || k == PERCENTILES - 1;
}

static void add_rank(struct thin_samples *kept, size_t rank, size_t n)
{
    if (rank < n)
        kept->ranks[kept->nr++] = rank;
}

static void add_ends(struct thin_samples *kept, size_t n)
{
    for (size_t i = 0; i < FIRST; i++)
        add_rank(kept, i, n);
    for (size_t i = 1; i <= LAST && i <= n; i++)
        add_rank(kept, n - i, n);
}

static void add_percentiles(struct thin_samples *kept, size_t n)
{
    for (size_t k = 0; k <= PERCENTILES; k++) {
        size_t rank = k * (n - 1) / PERCENTILES;
        add_rank(kept, rank, n);
        if (is_exact(k))
            add_rank(kept, rank + 1, n);
    }
}

/* Closer together towards both ends. */
static void add_tails(struct thin_samples *kept, size_t n)
{
    for (size_t step = LAST; step < n; step *= 2) {
        add_rank(kept, step, n);
        add_rank(kept, step + step / 2, n);
        add_rank(kept, n - 1 - step, n);
        add_rank(kept, n - 1 - step - step / 2, n); /* below 0: beyond n, as unsigned */
    }
}

static void drop_repeats(struct thin_samples *kept)
{
    size_t distinct = 0;

    qsort(kept->ranks, kept->nr, sizeof(*kept->ranks), order_ranks);
    for (size_t i = 0; i < kept->nr; i++)
        if (i == 0 || kept->ranks[i] != kept->ranks[distinct - 1])
            kept->ranks[distinct++] = kept->ranks[i];
    kept->nr = distinct;
}

struct thin_samples thin_samples_of(size_t n)
{
    struct thin_samples kept = { .nr = 0 };

    add_ends(&kept, n);
    add_percentiles(&kept, n);
    add_tails(&kept, n);
    drop_repeats(&kept);
    return kept;
}
