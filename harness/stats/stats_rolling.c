/* SPDX-License-Identifier: MIT */
/* The median of a window that goes over a series, whatever its width: n log n. */
#include "stats/stats.h"

#include "base/memory.h"

#include <stdlib.h>

/* Which values are in the window, by their ranks in the whole series: sums over them are found in
 * a tree (Fenwick 1994, "A new data structure for cumulative frequency tables"). */
struct rolling {
    size_t *counts; /* from 1 */
    size_t nr, top; /* values; the largest power of two that is not above that */
};

struct ranked {
    double value;
    size_t at;
};

static int rolling_order(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int order = (x->value > y->value) - (x->value < y->value);

    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* A value comes in, or goes: one more, or one less, in each sum that has it. */
static void rolling_change(struct rolling *r, size_t rank, bool comes)
{
    for (size_t i = rank + 1; i <= r->nr; i += i & (~i + 1))
        r->counts[i] += comes ? 1 : (size_t)-1;
}

/* The rank of the value before which there are `below` in the window. */
static size_t rolling_rank(const struct rolling *r, size_t below)
{
    size_t at = 0;

    for (size_t step = r->top; step; step /= 2)
        if (at + step <= r->nr && r->counts[at + step] <= below) {
            at += step;
            below -= r->counts[at];
        }
    return at;
}

static double rolling_median(const struct rolling *r, const struct ranked *sorted, size_t n)
{
    const double middle[] = { sorted[rolling_rank(r, (n - 1) / 2)].value,
                              sorted[rolling_rank(r, n / 2)].value };

    return stats_quantile(middle, 2, 0.5);
}

void stats_rolling_median(const double *x, size_t n, size_t window, double *medians)
{
    struct rolling r = { memory_zeroed(n + 1, sizeof(*r.counts)), n, 1 };
    struct ranked *sorted = memory_zeroed(n + 1, sizeof(*sorted));
    size_t *ranks = memory_zeroed(n + 1, sizeof(*ranks));

    while (2 * r.top <= n)
        r.top *= 2;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct ranked) { x[i], i };
    qsort(sorted, n, sizeof(*sorted), rolling_order);
    for (size_t i = 0; i < n; i++)
        ranks[sorted[i].at] = i;
    for (size_t i = 0; i < n; i++) {
        rolling_change(&r, ranks[i], true);
        if (i >= window)
            rolling_change(&r, ranks[i - window], false);
        medians[i] = rolling_median(&r, sorted, i < window ? i + 1 : window);
    }
    free(r.counts);
    free(sorted);
    free(ranks);
}
