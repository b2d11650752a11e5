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
    out->annotations = memory_zeroed(out->texts.nr + 1, sizeof(*out->annotations));
    for (; out->nr_annotations < out->texts.nr; out->nr_annotations++) {
        const struct store_annotation *a = &out->texts.items[out->nr_annotations];
        out->annotations[out->nr_annotations] =
            (struct trend_annotation) { .run = a->run, .text = a->text };
    }
    return 0;
}

void annotations_release(struct annotations *a)
{
    free(a->annotations);
    store_acceptances_release(&a->acceptances);
    store_annotations_release(&a->texts);
}

void annotations_apply(const struct annotations *a, struct trend_settings *settings)
{
    settings->accepted = a->acceptances.items;
    settings->nr_accepted = a->acceptances.nr;
    settings->annotations = a->annotations;
    settings->nr_annotations = a->nr_annotations;
}
