/* SPDX-License-Identifier: MIT */
/* text/ticks.h, figure_finish(): axes of any doubles. It ends, with no more ticks than it says,
 * in order and within the range. */
#include "fuzz.h"

#include "figure/figure.h"

#include <math.h>
#include <string.h>

enum { EVEN_MOST = 256, DECADES_MOST = 9 * 634, POWERS_MOST = 2002 };

static void check(struct ticks *ticks, size_t most)
{
    FUZZ_CHECK(ticks->nr <= most);
    for (size_t i = 0; i < ticks->nr; i++) {
        FUZZ_CHECK(isfinite(ticks->items[i].at));
        FUZZ_CHECK(i == 0 || ticks->items[i].at > ticks->items[i - 1].at);
    }
    ticks_release(ticks);
}

/* A figure of these points: ranges and ticks are finite, whatever the data. */
static void draw(const double *v, size_t nr, enum axis_scale scale, enum mark mark)
{
    struct figure *f = figure_create("fuzz", "fuzz");
    struct panel *p = figure_panel(f);

    axis_set(&p->x, "x", QUANTITY_TIME, "", scale);
    axis_set(&p->y, "y", QUANTITY_RATE, "FLOP/s", scale);
    struct layer *s = panel_layer(p, mark, "layer");
    for (size_t i = 0; i + 3 < nr; i += 4) {
        struct datum *d = layer_add(s, v[i], v[i + 1]);
        d->low = v[i + 2];
        d->high = v[i + 3];
    }
    figure_finish(f);
    if (!f->reason) {
        FUZZ_CHECK(isfinite(p->x.low) && isfinite(p->x.high) && p->x.high > p->x.low);
        FUZZ_CHECK(isfinite(p->y.low) && isfinite(p->y.high) && p->y.high > p->y.low);
        FUZZ_CHECK(p->x.ticks.nr <= DECADES_MOST && p->y.ticks.nr <= DECADES_MOST);
    }
    figure_free(f);
}

FUZZ_TARGET(ticks)
{
    double v[64] = { 0 };
    size_t nr = size / sizeof(double);
    struct ticks ticks = { 0 };
    int most = size ? data[size - 1] % 40 : 0;

    nr = nr < 64 ? nr : 64;
    memcpy(v, data, nr * sizeof(double));
    ticks_linear(&ticks, v[0], v[1], most);
    check(&ticks, EVEN_MOST);
    ticks_log(&ticks, v[0], v[1], most, QUANTITY_TIME, "");
    check(&ticks, DECADES_MOST);
    ticks_ratio(&ticks, v[0], v[1], most);
    check(&ticks, POWERS_MOST);
    ticks_widen(&v[0], &v[1], most);
    memcpy(v, data, nr * sizeof(double));
    draw(v, nr, AXIS_LINEAR, most % 2 ? MARK_BARS : MARK_POINTS);
    draw(v, nr, AXIS_LOG, most % 2 ? MARK_BAND : MARK_LINE);
}
