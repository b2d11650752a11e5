/* SPDX-License-Identifier: MIT */
/*
 * One night: the windows that end at its point, and the clearest step that they show. All three
 * tests must agree; what costs least says no first.
 */
#include "base/memory.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The test by ranks, and that by likelihood. */
static const double whole_ranks = 0.7, whole_model = 0.85;

size_t windows_level_start(const struct windows *ws)
{
    return ws->cuts->nr ? ws->cuts->items[ws->cuts->nr - 1].index : 0;
}

/* Lengths of the windows of a level of m points, m itself last. */
static size_t window_lengths(size_t m, size_t least, size_t lengths[WINDOWS_MAX])
{
    size_t nr = 0;

    for (double length = 2 * (double)least; length < 0.75 * (double)m && nr + 1 < WINDOWS_MAX;
         length *= sqrt(2))
        lengths[nr++] = (size_t)length;
    lengths[nr++] = m;
    return nr;
}

double search_whole_share(size_t n, const struct changepoint_settings *settings)
{
    size_t lengths[WINDOWS_MAX];

    return window_lengths(n, settings->min_segment, lengths) > 1 ? whole_ranks : 1;
}

static bool is_due(size_t night, size_t length)
{
    return length < 2 * WINDOW_LOOKS || night % (length / WINDOW_LOOKS) == 0;
}

/* Puts a point behind all that are not larger. */
static void insert_by_value(const double *x, size_t *order, size_t nr, size_t point)
{
    size_t low = 0, high = nr;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (x[order[middle]] > x[point])
            high = middle;
        else
            low = middle + 1;
    }
    memmove(order + low + 1, order + low, (nr - low) * sizeof(*order));
    order[low] = point;
}

/* All points stay sorted. The newest do so by themselves: short windows are looked at each night.
 */
static void take_point(struct windows *ws)
{
    size_t point = ws->night - 1, kept = 0;

    for (size_t i = 0; i < ws->nr_recent; i++)
        if (point - ws->recent[i] < 2 * WINDOW_LOOKS)
            ws->recent[kept++] = ws->recent[i];
    insert_by_value(ws->x, ws->recent, kept, point);
    ws->nr_recent = kept + 1;
    insert_by_value(ws->x, ws->known, point, point);
}

/* The order of the newest points, without that of what came before. */
static const size_t *order_of(struct windows *ws, size_t from, size_t length)
{
    bool is_short = length <= ws->nr_recent;
    const size_t *known = is_short ? ws->recent : ws->known;
    size_t all = is_short ? ws->nr_recent : ws->night, nr = 0;

    for (size_t i = 0; i < all; i++) {
        ws->order[nr] = known[i] - from;
        nr += known[i] >= from;
    }
    return ws->order;
}

static void scan_window(struct windows *ws, struct window *w)
{
    size_t from = ws->night - w->length;
    const size_t *order = order_of(ws, from, w->length);

    w->scan = scan_ranks(ws->x + from, order, w->length, ws->settings->min_segment, ws->ranks);
    w->scan.p = fmin(1, w->scan.p / w->ranks_share);
    if (w->scan.p <= ws->settings->level)
        ws->items[ws->nr++] = *w;
    else
        ws->clearest = fmin(ws->clearest, w->scan.p);
}

static int by_clarity(const void *left, const void *right)
{
    const struct window *a = left, *b = right;

    if (a->scan.z != b->scan.z)
        return a->scan.z > b->scan.z ? -1 : 1;
    return a->length < b->length ? -1 : a->length > b->length;
}

static void scan_windows(struct windows *ws)
{
    size_t lengths[WINDOWS_MAX], m = ws->night - windows_level_start(ws);
    size_t nr = window_lengths(m, ws->settings->min_segment, lengths);

    for (size_t i = 0; i < nr; i++) {
        bool whole = i + 1 == nr;
        struct window w = {
            .length = lengths[i],
            .ranks_share = nr == 1 ? 1
                           : whole ? whole_ranks
                                   : (1 - whole_ranks) / (double)(nr - 1),
            .model_share = nr == 1 ? 1
                           : whole ? whole_model
                                   : (1 - whole_model) / (double)(nr - 1),
        };
        if (is_due(ws->night, w.length))
            scan_window(ws, &w);
    }
    if (ws->nr > 1)
        qsort(ws->items, ws->nr, sizeof(*ws->items), by_clarity);
}

/* Among all points of the level it must be the same step. */
static double judge_whole(const struct windows *ws, size_t at)
{
    size_t start = windows_level_start(ws), least = ws->settings->min_segment;
    struct step whole =
        step_judge(ws->x + start, ws->night - start, at - start, least, ws->settings->level);

    return start + whole.index <= at + least && at <= start + whole.index + least ? whole.p : 1;
}

/* The noise of the whole history says no to most, and quickly. */
static bool is_noise(struct windows *ws, size_t from, const struct window *w)
{
    size_t at =
        from + step_place(ws->x + from, w->length, w->scan.index, ws->settings->min_segment);

    if (at != ws->noise_at && noise_p(ws->x, ws->night, ws->cuts, at) <= ws->settings->level)
        return false;
    ws->noise_at = at;
    return true;
}

/* What all tests say of the step of a window; the first that says no is enough. */
static struct cut judge_window(struct windows *ws, const struct window *w)
{
    double level = ws->settings->level;
    size_t from = ws->night - w->length, least = ws->settings->min_segment;

    if (!ws->last_look && is_noise(ws, from, w))
        return (struct cut) { .p = 1 };
    struct step step =
        step_judge(ws->x + from, w->length, w->scan.index, least, level * w->model_share);
    struct cut cut = { .index = from + step.index,
                       .p = fmin(1, fmax(w->scan.p, step.p / w->model_share)) };

    if (cut.p <= level)
        cut.p = fmax(cut.p, judge_whole(ws, cut.index));
    if (cut.p <= level)
        cut.p = fmax(cut.p, noise_p(ws->x, ws->night, ws->cuts, cut.index));
    return cut;
}

void windows_init(struct windows *ws, size_t n, const struct changepoint_settings *settings,
                  const struct cut_list *cuts)
{
    *ws = (struct windows) { .settings = settings, .cuts = cuts, .clearest = 1 };
    ws->ranks = memory_zeroed(n + 1, sizeof(*ws->ranks));
    ws->order = memory_zeroed(n + 1, sizeof(*ws->order));
    ws->known = memory_zeroed(n + 1, sizeof(*ws->known));
}

void windows_release(struct windows *ws)
{
    free(ws->known);
    free(ws->order);
    free(ws->ranks);
}

/* The last looks count for `clearest`: at some window, and at those of this night. */
void windows_begin_night(struct windows *ws, size_t n)
{
    size_t m = ws->night - windows_level_start(ws);

    take_point(ws);
    ws->nr = 0;
    ws->last_look = ws->night + 1 + (ws->night + 1) / WINDOW_LOOKS >= n;
    if (ws->night + m / WINDOW_LOOKS < n) /* not the last look at its windows */
        ws->clearest = 1;
}

bool windows_step(struct windows *ws, struct cut *cut)
{
    ws->noise_at = 0;
    scan_windows(ws);
    for (size_t i = 0; i < ws->nr; i++) {
        *cut = judge_window(ws, &ws->items[i]);
        if (cut->p <= ws->settings->level)
            return true;
        ws->clearest = fmin(ws->clearest, cut->p);
    }
    return false;
}
