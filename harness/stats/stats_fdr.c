/* SPDX-License-Identifier: MIT */
/* A family of tests: the false-discovery rate. Which tests are a family decide
 * verdict/compare_judge.c, of a comparison, and trend/trend.c, of a history. */
#include "base/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

struct ranked_p {
    double p;
    size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    double x = ((const struct ranked_p *)a)->p, y = ((const struct ranked_p *)b)->p;

    return (x > y) - (x < y);
}

void stats_fdr(const double *p, double *q, size_t n)
{
    struct ranked_p *ranked = memory_zeroed(n ? n : 1, sizeof(*ranked));
    size_t family = 0;
    double smallest = 1;

    for (size_t i = 0; i < n; i++) {
        q[i] = NAN;
        if (!isnan(p[i]))
            ranked[family++] = (struct ranked_p) { p[i], i };
    }
    qsort(ranked, family, sizeof(*ranked), compare_ranked);
    for (size_t rank = family; rank > 0; rank--) {
        smallest = fmin(smallest, ranked[rank - 1].p * (double)family / (double)rank);
        q[ranked[rank - 1].index] = smallest;
    }
    free(ranked);
}
