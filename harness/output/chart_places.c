/* SPDX-License-Identifier: MIT */
#include "output/chart.h"

#include "base/digest.h"
#include "base/memory.h"

#include <stdlib.h>

void chart_places_init(struct chart_places *places, const void *owner, chart_place_fn *is,
                       size_t most)
{
    *places = (struct chart_places) { .owner = owner, .is = is, .nr = 2 * most + 1 };
    places->slots = memory_zeroed(places->nr, sizeof(*places->slots));
}

size_t *chart_place(struct chart_places *places, const char *key, size_t run)
{
    struct digest d;

    digest_init(&d);
    digest_add_text(&d, key);
    digest_add(&d, &run, sizeof(run));
    for (size_t i = (size_t)d.low;; i++) {
        size_t *slot = &places->slots[i % places->nr];
        if (*slot == 0 || places->is(places->owner, *slot - 1, key, run))
            return slot;
    }
}

void chart_places_release(struct chart_places *places)
{
    free(places->slots);
}
