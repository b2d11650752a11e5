/* SPDX-License-Identifier: MIT */
#include "view/accepted_steps.h"

#include "base/array.h"

int accepted_steps_load(struct store *store, struct accepted_steps *out, struct error *err)
{
    *out = (struct accepted_steps) { .nr = 0 };
    if (store_acceptance_list(store, NULL, &out->stored, err))
        return -1;
    for (size_t i = 0; i < out->stored.nr; i++) {
        const struct store_acceptance *a = &out->stored.items[i];
        *array_push(out) = (struct trend_acceptance) {
            .key = a->key,
            .metric = a->metric,
            .machine = a->machine,
            .commit = a->commit,
            .change = a->change,
            .reason = a->reason,
        };
    }
    return 0;
}

void accepted_steps_release(struct accepted_steps *a)
{
    array_release(a);
    store_acceptances_release(&a->stored);
}
