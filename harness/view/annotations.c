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
    out->remarks = memory_zeroed(out->texts.nr + 1, sizeof(*out->remarks));
    for (; out->nr_remarks < out->texts.nr; out->nr_remarks++) {
        const struct store_annotation *a = &out->texts.items[out->nr_remarks];
        out->remarks[out->nr_remarks] = (struct trend_remark) { .run = a->run, .text = a->text };
    }
    return 0;
}

void annotations_release(struct annotations *a)
{
    free(a->remarks);
    store_acceptances_release(&a->acceptances);
    store_annotations_release(&a->texts);
}

void annotations_apply(const struct annotations *a, struct trend_settings *settings)
{
    settings->accepted = a->acceptances.items;
    settings->nr_accepted = a->acceptances.nr;
    settings->remarks = a->remarks;
    settings->nr_remarks = a->nr_remarks;
}
