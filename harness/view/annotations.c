/* SPDX-License-Identifier: MIT */
#include "view/annotations.h"

#include "base/memory.h"

#include <stdlib.h>

int annotations_load(struct store *store, struct annotations *out, struct error *err)
{
    *out = (struct annotations) { 0 };
    if (store_acceptance_list(store, NULL, &out->acceptances, err) ||
        store_annotation_list(store, 0, &out->texts, err))
        return -1;
    out->accepted = memory_zeroed(out->acceptances.nr + 1, sizeof(*out->accepted));
    for (; out->nr_accepted < out->acceptances.nr; out->nr_accepted++) {
        const struct store_acceptance *a = &out->acceptances.items[out->nr_accepted];
        out->accepted[out->nr_accepted] = (struct trend_acceptance) {
            .key = a->key,
            .metric = a->metric,
            .machine = a->machine,
            .commit = a->commit,
            .change = a->change,
            .reason = a->reason,
        };
    }
    out->remarks = memory_zeroed(out->texts.nr + 1, sizeof(*out->remarks));
    for (; out->nr_remarks < out->texts.nr; out->nr_remarks++) {
        const struct store_annotation *a = &out->texts.items[out->nr_remarks];
        out->remarks[out->nr_remarks] = (struct trend_remark) { .run = a->run, .text = a->text };
    }
    return 0;
}

void annotations_release(struct annotations *a)
{
    free(a->accepted);
    free(a->remarks);
    store_acceptances_release(&a->acceptances);
    store_annotations_release(&a->texts);
}

void annotations_apply(const struct annotations *a, struct trend_settings *settings)
{
    settings->accepted = a->accepted;
    settings->nr_accepted = a->nr_accepted;
    settings->remarks = a->remarks;
    settings->nr_remarks = a->nr_remarks;
}
