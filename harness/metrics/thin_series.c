/* SPDX-License-Identifier: MIT */
#include "metrics/thin_series.h"

enum { EACH = 4 };

static void thin_keep(size_t index, size_t *kept, size_t *nr)
{
    size_t at = *nr;

    for (size_t i = 0; i < *nr; i++)
        if (kept[i] == index)
            return;
    for (; at > 0 && kept[at - 1] > index; at--)
        kept[at] = kept[at - 1];
    kept[at] = index;
    ++*nr;
}

/* Up to EACH indices of the values from `begin` on. */
static size_t thin_stretch(const double *values, size_t begin, size_t end, size_t *kept)
{
    size_t least = begin, most = begin, nr = 0;

    for (size_t i = begin; i < end; i++) { /* a NaN at the start gives way to what comes */
        if (values[i] < values[least] || values[least] != values[least])
            least = i;
        if (values[i] > values[most] || values[most] != values[most])
            most = i;
    }
    thin_keep(least, kept, &nr);
    thin_keep(most, kept, &nr);
    thin_keep(begin + (end - begin) / 4, kept, &nr);
    thin_keep(begin + (end - begin) * 3 / 4, kept, &nr);
    return nr;
}

size_t thin_series(const double *values, size_t n, size_t most, size_t *kept)
{
    size_t nr = 0, stretches = most / EACH;

    if (n <= most) {
        for (size_t i = 0; i < n; i++)
            kept[i] = i;
        return n;
    }
    for (size_t i = 0; i < stretches; i++)
        nr += thin_stretch(values, i * n / stretches, (i + 1) * n / stretches, kept + nr);
    return nr;
}
