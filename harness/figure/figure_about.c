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

/* Which names are used, by their places from 1, or where they went. */
struct name_places {
    int *benchmarks, *runs;
};

typedef void about_fn(struct about *about, const struct name_places *places);

static void about_mark(struct about *about, const struct name_places *places)
{
    places->benchmarks[about->benchmark] = places->runs[about->run] = 1;
}

static void about_move(struct about *about, const struct name_places *places)
{
    about->benchmark = places->benchmarks[about->benchmark];
    about->run = places->runs[about->run];
}

static void figure_each_about(struct figure *f, about_fn *visit, const struct name_places *places)
{
    visit(&f->about, places);
    for (size_t i = 0; i < f->nr_panels; i++) {
        struct panel *p = f->panels[i];
        for (size_t row = 0; row < p->nr_rows; row++)
            visit(&p->rows[row], places);
        for (size_t k = 0; k < p->nr; k++)
            for (size_t at = 0; at < p->layers[k]->nr; at++)
                visit(&p->layers[k]->items[at].about, places);
    }
}

/* Keeps those marked, in their order; the marks become places. */
static void names_keep(struct figure_names *names, int *places)
{
    size_t all = names->nr;

    names->nr = 0;
    places[0] = 0; /* about none */
    for (size_t i = 0; i < all; i++) {
        if (!places[i + 1]) {
            free(names->items[i]);
            continue;
        }
        names->items[names->nr++] = names->items[i];
        places[i + 1] = (int)names->nr;
    }
    for (size_t i = 0; i < names->nr_slots; i++)
        names->slots[i] = 0;
    for (size_t i = 0; i < names->nr; i++)
        *names_slot(names, names->items[i]) = i + 1;
}

void figure_forget_names(struct figure *f)
{
    struct name_places places = {
        memory_zeroed(f->benchmarks.nr + 1, sizeof(int)),
        memory_zeroed(f->runs.nr + 1, sizeof(int)),
    };

    figure_each_about(f, about_mark, &places);
    names_keep(&f->benchmarks, places.benchmarks);
    names_keep(&f->runs, places.runs);
    figure_each_about(f, about_move, &places);
    free(places.benchmarks);
    free(places.runs);
}
