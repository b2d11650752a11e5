/* SPDX-License-Identifier: MIT */
/* What must hold for every figure that is drawn, and its JSON against a file. */
#ifndef HARNESS_TESTS_FIGURE_TESTING_H
#define HARNESS_TESTS_FIGURE_TESTING_H

#include "testing.h"

#include "golden.h"
#include "golden_json.h"

#include "base/json.h"
#include "figure/figure.h"
#include "text/textwidth.h"

#include <stdlib.h>
#include <string.h>

static inline void check_panel_place(const struct figure *f, const struct panel *p)
{
    const struct rect *a = &p->area;

    assert_true(a->x > 0 && a->x + a->width <= f->width && a->width > 100);
    assert_true(a->y > 0 && a->y + a->height <= f->height && a->height > 30);
    assert_true(p->x.ticks.nr > 0 && p->y.ticks.nr > 0);
    assert_true(p->x.low < p->x.high && p->y.low < p->y.high);
}

/* Everything inside the figure, and words for those who cannot see it. */
static inline void check_places(const struct figure *f)
{
    assert_null(f->reason);
    bool is_table = f->view && strcmp(f->view, "table") == 0; /* as wide as its columns need */
    assert_true(f->nr_panels > 0 && f->height > 100);
    assert_true(is_table ? f->width >= 1200 : f->width == 1200);
    assert_non_null(f->alt);
    assert_non_null(f->caption);
    for (size_t i = 0; i < f->nr_texts; i++) {
        const struct placed_text *t = &f->texts[i];
        double width = t->angle == 0 ? text_width(t->text, t->size, t->bold) : 0;
        double left = t->x - (t->anchor == ANCHOR_CENTRE ? width / 2 : 0);
        assert_true(left >= 0 && left + width <= f->width);
        assert_true(t->y - t->size / 2 >= 0 && t->y + t->size / 2 <= f->height);
    }
    for (size_t i = 0; i < f->nr_panels; i++)
        check_panel_place(f, f->panels[i]);
}

static inline struct rect data_text_box(const struct panel *p, const struct datum *d)
{
    static const double before[] = { [ANCHOR_LEFT] = 0, [ANCHOR_CENTRE] = 0.5, [ANCHOR_RIGHT] = 1 };
    double width = text_width(d->text, 12, false);

    return (struct rect) { panel_x(p, d->x) + d->dx - width * before[d->anchor],
                           panel_y(p, d->y) + d->dy - 6, width, 12 };
}

/* Upright texts of one panel's data: inside the figure, and no two over each other. */
static inline void check_data_texts(const struct figure *f, const struct panel *p)
{
    struct rect boxes[200];
    size_t nr = 0;

    for (size_t i = 0; i < p->nr; i++) {
        const struct layer *l = p->layers[i];
        for (size_t k = 0; l->mark == MARK_TEXT && !l->follow && k < l->nr && nr < 200; k++) {
            if (!l->items[k].text[0]) /* it found no place */
                continue;
            struct rect box = data_text_box(p, &l->items[k]);
            assert_true(box.x >= 0 && box.x + box.width <= f->width);
            for (size_t n = 0; n < nr; n++)
                assert_false(box.x < boxes[n].x + boxes[n].width &&
                             boxes[n].x < box.x + box.width && fabs(box.y - boxes[n].y) < 12);
            boxes[nr++] = box;
        }
    }
}

/* The figure's JSON is tests/fixtures/figures/<id>.json. Frees the figure. */
static inline void check_golden(struct figure *f)
{
    cJSON *json = figure_to_json(f);
    char *text = golden_json(json), name[128];

    check_places(f);
    for (size_t i = 0; i < f->nr_panels; i++)
        check_data_texts(f, f->panels[i]);
    snprintf(name, sizeof(name), "%s.json", f->id);
    assert_golden(text, "figures", name);
    free(text);
    cJSON_Delete(json);
    figure_free(f);
}

/* A reason in words, or something drawn. Frees the figure. */
static inline void check_state(struct figure *f)
{
    if (f->reason)
        assert_true(strlen(f->reason) > 10);
    else
        check_places(f);
    figure_free(f);
}

/* The first layer of this mark whose label has this in it (NULL: any); NULL if there is none. */
static inline const struct layer *find_layer(const struct panel *p, enum mark mark,
                                             const char *label)
{
    for (size_t i = 0; i < p->nr; i++) {
        const struct layer *l = p->layers[i];
        if (l->mark == mark && (!label || (l->label && strstr(l->label, label))))
            return l;
    }
    return NULL;
}

#endif
