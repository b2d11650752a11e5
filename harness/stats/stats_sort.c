/* SPDX-License-Identifier: MIT */
/* Order: sorting, places in what is sorted, and a single quantile without it. */
#include "base/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sorting by digits, least first: its time grows with n alone. Launches have a thousand samples
 * each, and a comparison sorts them all. */
enum { DIGIT_BITS = 8, DIGITS = 64 / DIGIT_BITS, DIGIT_VALUES = 1 << DIGIT_BITS, FEW = 64 };

/* Numbers of the same order as the doubles: the sign bit turned round, all bits of negatives. */
static uint64_t key_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
}

static double of_key(uint64_t key)
{
    uint64_t bits = key ^ (key >> 63 ? UINT64_C(1) << 63 : UINT64_MAX);
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void sort_few(double *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double value = x[i];
        size_t at = i;
        for (; at > 0 && x[at - 1] > value; at--)
            x[at] = x[at - 1];
        x[at] = value;
    }
}

static bool is_sorted(const double *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (x[i - 1] > x[i])
            return false;
    return true;
}

/* One pass over a digit, in the order found; false if all have the same one. */
static bool sort_digit(const uint64_t *from, uint64_t *to, size_t n, const size_t *counts,
                       unsigned shift)
{
    size_t starts[DIGIT_VALUES], start = 0;

    if (counts[from[0] >> shift & (DIGIT_VALUES - 1)] == n)
        return false;
    for (size_t v = 0; v < DIGIT_VALUES; v++) {
        starts[v] = start;
        start += counts[v];
    }
    for (size_t i = 0; i < n; i++)
        to[starts[from[i] >> shift & (DIGIT_VALUES - 1)]++] = from[i];
    return true;
}

static void sort_many(double *x, size_t n)
{
    size_t counts[DIGITS][DIGIT_VALUES] = { { 0 } };
    uint64_t *keys = memory_zeroed(2 * n, sizeof(*keys)), *from = keys, *to = keys + n;

    for (size_t i = 0; i < n; i++) {
        from[i] = key_of(x[i]);
        for (unsigned d = 0; d < DIGITS; d++)
            counts[d][from[i] >> d * DIGIT_BITS & (DIGIT_VALUES - 1)]++;
    }
    for (unsigned d = 0; d < DIGITS; d++)
        if (sort_digit(from, to, n, counts[d], d * DIGIT_BITS)) {
            uint64_t *swap = from;
            from = to;
            to = swap;
        }
    for (size_t i = 0; i < n; i++)
        x[i] = of_key(from[i]);
    free(keys);
}

void stats_sort(double *x, size_t n)
{
    if (n <= FEW)
        sort_few(x, n);
    else if (!is_sorted(x, n))
        sort_many(x, n);
}

size_t stats_count_below(const double *sorted, size_t n, double x, bool or_equal)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < x || (or_equal && sorted[middle] == x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- one quantile ---- */

static void swap_two(double *a, double *b)
{
    double t = *a;

    *a = *b;
    *b = t;
}

static void order_two(double *a, double *b)
{
    if (*b < *a)
        swap_two(a, b);
}

/* Puts the k-th smallest of x[low..high], counted from the start of x, where sorting would put it:
 * nothing larger before it, nothing smaller after it. Selection by partition (Hoare 1961) about the
 * median of three, which does well on data in order and on many equal numbers. */
static void place_kth(double *x, ptrdiff_t low, ptrdiff_t high, ptrdiff_t k)
{
    while (low < high) {
        ptrdiff_t i = low, j = high;
        double *middle = &x[low + (high - low) / 2];
        order_two(&x[low], middle);
        order_two(middle, &x[high]);
        order_two(&x[low], middle);
        double pivot = *middle;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (pivot < x[j])
                j--;
            if (i <= j)
                swap_two(&x[i++], &x[j--]);
        }
        if (k > j && k < i) /* what lies between equals the pivot */
            return;
        if (k <= j)
            high = j;
        else
            low = i;
    }
}

double stats_select_quantile(double *x, size_t n, double p)
{
    if (n == 0 || !(p >= 0 && p <= 1))
        return NAN;
    double at = p * (double)(n - 1);
    size_t low = (size_t)at;
    place_kth(x, 0, (ptrdiff_t)n - 1, (ptrdiff_t)low);
    if (low + 1 >= n)
        return x[low];
    double next = x[low + 1];
    for (size_t i = low + 2; i < n; i++)
        next = x[i] < next ? x[i] : next;
    return x[low] + (at - (double)low) * (next - x[low]);
}
