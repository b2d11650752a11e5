/* SPDX-License-Identifier: MIT */
#include "view/remarks.h"

#include "base/array.h"

int remarks_load(struct store *store, struct remarks *out, struct error *err)
{
    *out = (struct remarks) { .nr = 0 };
    if (store_annotation_list(store, 0, &out->stored, err))
        return -1;
    for (size_t i = 0; i < out->stored.nr; i++) {
        const struct store_annotation *a = &out->stored.items[i];
        *array_push(out) = (struct trend_remark) { .run = a->run, .text = a->text };
    }
    return 0;
}

void remarks_release(struct remarks *r)
{
    array_release(r);
    store_annotations_release(&r->stored);
}
