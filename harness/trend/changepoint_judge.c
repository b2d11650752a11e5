/* SPDX-License-Identifier: MIT */
/*
 * One night: the windows that end at its point, and the clearest step that they show. All three
 * tests must agree; what costs least says no first.
 */
#include "base/memory.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdlib.h>

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

/* ---- the order of points ---- */

/* Points that are too old go. */
static void drop_old(struct newest *n, size_t oldest)
{
    size_t kept = 0;

    for (size_t i = 0; i < n->nr; i++) {
        n->items[kept] = n->items[i];
        kept += n->items[i] >= oldest;
    }
    n->nr = kept;
}

/* Puts points behind all that are not larger: they are newer than those. */
static void merge_newest(const double *x, struct newest *n, const size_t *points, size_t nr)
{
    size_t old = n->nr, at = n->nr + nr;

    n->nr = at;
    while (nr > 0) {
        bool larger = old > 0 && x[n->items[old - 1]] > x[points[nr - 1]];
        n->items[--at] = larger ? n->items[--old] : points[--nr];
    }
}

static void merge_sorted(const double *x, struct newest *n, size_t first, size_t nr)
{
    size_t *points = scan_order(x + first, nr);

    for (size_t i = 0; i < nr; i++)
        points[i] += first;
    merge_newest(x, n, points, nr);
    free(points);
}

/* As of this night. */
static void bring_up(const struct windows *ws, struct newest *n)
{
    size_t oldest = ws->night > n->most ? ws->night - n->most : 0;
    size_t first = n->night > oldest ? n->night : oldest, nr = ws->night - first;

    if (nr == 0)
        return;
    if (oldest > 0)
        drop_old(n, oldest);
    if (nr == 1) /* of the shortest list always */
        merge_newest(ws->x, n, &first, 1);
    else
        merge_sorted(ws->x, n, first, nr);
    n->night = ws->night;
}

const struct newest *windows_newest(struct windows *ws, size_t length)
{
    struct newest *n = ws->newest;

    while (n->most < length)
        n++;
    bring_up(ws, n);
    return n;
}

const size_t *windows_order(struct windows *ws, size_t length)
{
    const struct newest *n = windows_newest(ws, length);
    size_t from = ws->night - length, nr = 0;

    if (from == 0)
        return n->items;
    for (size_t i = 0; i < n->nr; i++) {
        ws->order[nr] = n->items[i] - from;
        nr += n->items[i] >= from;
    }
    return ws->order;
}

/* Each has twice the points of that before, the last all of n. */
static void newest_init(struct windows *ws, size_t n)
{
    size_t most = 2 * WINDOW_LOOKS;

    for (struct newest *list = ws->newest;; list++, most *= 2) {
        list->most = most;
        list->items = memory_zeroed((n < most ? n : most) + 1, sizeof(*list->items));
        if (most >= n)
            return;
    }
}

/* ---- windows ---- */

static void scan_window(struct windows *ws, struct window *w)
{
    size_t from = ws->night - w->length;
    const size_t *order = windows_order(ws, w->length);

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
    newest_init(ws, n);
}

void windows_release(struct windows *ws)
{
    for (size_t i = 0; i < WINDOWS_MAX; i++)
        free(ws->newest[i].items);
    free(ws->order);
    free(ws->ranks);
}

void windows_restart(struct windows *ws)
{
    for (size_t i = 0; i < WINDOWS_MAX; i++)
        ws->newest[i].nr = ws->newest[i].night = 0;
}

/* The last looks count for `clearest`: at some window, and at those of this night. */
void windows_begin_night(struct windows *ws, size_t n)
{
    size_t m = ws->night - windows_level_start(ws);

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
