/* SPDX-License-Identifier: MIT */
#include "chart/base/compare_labels.h"

#include "base/memory.h"
#include "metrics/label.h"

#include <stdlib.h>
#include <string.h>

void compare_add_which(const struct compare_several *several, const struct compare_row *row,
                       struct strbuf *name)
{
    if (several->metrics)
        strbuf_addf(name, "%s%s", name->length ? " " : "", row->item->metric->id);
    if (several->machines)
        strbuf_addf(name, "%s%s", name->length ? " on " : "", row->item->machine);
}

static char *compare_row_label(const struct compare_several *several, const struct compare_row *row,
                               const char *name)
{
    struct strbuf label;

    strbuf_init(&label);
    strbuf_adds(&label, name);
    compare_add_which(several, row, &label);
    return strbuf_detach(&label);
}

char **compare_row_labels(const struct compare_several *several,
                          const struct compare_row *const *rows, size_t nr)
{
    const struct benchmark_name **names = memory_zeroed(nr + 1, sizeof(*names));

    for (size_t i = 0; i < nr; i++)
        names[i] = rows[i]->item->bench;
    char **labels = labels_create(names, nr);
    for (size_t i = 0; (several->metrics || several->machines) && i < nr; i++) {
        char *name = labels[i];
        labels[i] = compare_row_label(several, rows[i], name);
        free(name);
    }
    free(names);
    return labels;
}
