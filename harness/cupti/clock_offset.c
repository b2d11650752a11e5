/* SPDX-License-Identifier: MIT */
#include "cupti/clock_offset.h"

#include "base/monotonic.h"

enum { READINGS = 64 };

struct clock_offset clock_offset_of(const struct clock_bracket *brackets, size_t nr)
{
    struct clock_offset best = { .error = -1 };

    for (size_t i = 0; i < nr; i++) {
        const struct clock_bracket *b = &brackets[i];
        int64_t width = b->after - b->before;
        int64_t error = width / 2 + width % 2;
        if (width < 0 || (best.error >= 0 && error >= best.error))
            continue;
        best = (struct clock_offset) { b->before + width / 2 - b->other, error, b->other };
    }
    return best;
}

struct clock_offset clock_offset_measure(clock_read_fn *read, void *ctx)
{
    struct clock_bracket brackets[READINGS];
    size_t nr = 0;

    for (int i = 0; i < READINGS; i++) {
        struct clock_bracket *b = &brackets[nr];
        b->before = (int64_t)monotonic_ns();
        if (read(ctx, &b->other) != 0)
            continue;
        b->after = (int64_t)monotonic_ns();
        nr++;
    }
    return clock_offset_of(brackets, nr);
}
