/* SPDX-License-Identifier: MIT */
/* What marks stand for: each key and uuid once in the figure, marks have their places. */
#include "base/array.h"
#include "base/digest.h"
#include "base/memory.h"
#include "figure/figure.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_LEAST = 64 };

/* The slot of a name, or the free one where it belongs. */
static size_t *names_slot(const struct figure_names *names, const char *name)
{
    size_t at = checksum_xxh64(name, strlen(name), 0) & (names->nr_slots - 1);

    while (names->slots[at] && strcmp(names->items[names->slots[at] - 1], name) != 0)
        at = (at + 1) & (names->nr_slots - 1);
    return &names->slots[at];
}

/* At least half of the slots stay free. */
static void names_make_room(struct figure_names *names)
{
    if (names->nr_slots && names->nr < names->nr_slots / 2)
        return;
    free(names->slots);
    names->nr_slots = names->nr_slots ? 2 * names->nr_slots : SLOTS_LEAST;
    names->slots = memory_zeroed(names->nr_slots, sizeof(*names->slots));
    for (size_t i = 0; i < names->nr; i++)
        *names_slot(names, names->items[i]) = i + 1;
}

/* Its place from 1; 0 for none. */
static int names_place(struct figure_names *names, const char *name)
{
    if (!name || !*name)
        return 0;
    names_make_room(names);
    size_t *slot = names_slot(names, name);
    if (!*slot) {
        *array_push(names) = memory_string(name);
        *slot = names->nr;
    }
    return (int)*slot;
}

void figure_names_release(struct figure_names *names)
{
    for (size_t i = 0; i < names->nr; i++)
        free(names->items[i]);
    array_release(names);
    free(names->slots);
    *names = (struct figure_names) { 0 };
}

static struct about about_of_names(struct figure *f, const char *key, const char *uuid)
{
    return (struct about) { names_place(&f->benchmarks, key), names_place(&f->runs, uuid) };
}

void figure_about(struct figure *f, const char *key, const char *uuid)
{
    f->about = about_of_names(f, key, uuid);
}

void panel_row_is_about(struct panel *p, size_t row, const char *key, const char *uuid)
{
    if (row >= p->nr_rows) {
        struct about *rows = memory_zeroed(row + 1, sizeof(*rows));
        if (p->nr_rows)
            memcpy(rows, p->rows, p->nr_rows * sizeof(*rows));
        free(p->rows);
        p->rows = rows;
        p->nr_rows = row + 1;
    }
    p->rows[row] = about_of_names(p->figure, key, uuid);
}
