/* SPDX-License-Identifier: MIT */
#include "base/stats.h"

#include <math.h>

static void swap(double *a, double *b)
{
    double t = *a;

    *a = *b;
    *b = t;
}

static void order_two(double *a, double *b)
{
    if (*b < *a)
        swap(a, b);
}

/* Puts the k-th smallest of x[low..high], counted from the start of x, where sorting would put it:
 * nothing larger before it, nothing smaller after it. Selection by partition (Hoare 1961) about the
 * median of three, which does well on data in order and on many equal numbers. */
static void place(double *x, ptrdiff_t low, ptrdiff_t high, ptrdiff_t k)
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
                swap(&x[i++], &x[j--]);
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
    place(x, 0, (ptrdiff_t)n - 1, (ptrdiff_t)low);
    if (low + 1 >= n)
        return x[low];
    double next = x[low + 1];
    for (size_t i = low + 2; i < n; i++)
        next = x[i] < next ? x[i] : next;
    return x[low] + (at - (double)low) * (next - x[low]);
}
