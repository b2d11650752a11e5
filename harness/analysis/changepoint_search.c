/* SPDX-License-Identifier: MIT */
/*
 * The search, night by night: each point is taken as it came, and nothing behind it is known. What
 * is found is therefore what a nightly job would have reported, when, and whether it still stands;
 * a longer series never forgets a step that a shorter one had, unless there is a reason.
 */
#include "analysis/changepoint_parts.h"
#include "base/array.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Windows end at the night's point: all points since the last step, which may spend most of the
 * level and shows a lone step best, and shorter ones, each by the square root of two. */
enum { WINDOWS = 40 };

/* The test by ranks, and that by likelihood. */
static const double whole_ranks = 0.7, whole_model = 0.85;

/* Long windows change little from night to night: they are looked at in every 64th part of their
 * length, which keeps the time linear. */
enum { LOOKS = 64 };

struct window {
    size_t length;
    double ranks_share, model_share;
    struct scan scan;
};

struct search {
    const double *x;
    size_t night; /* points that are known */
    const struct changepoint_settings *settings;
    struct cut_list *cuts;
    struct window windows[WINDOWS]; /* whose ranks say that something changed */
    size_t nr_windows;
    size_t recent[2 * LOOKS], nr_recent; /* the newest points, ascending by value */
    size_t *order;                       /* scratch, and the next */
    double *ranks;
    double clearest;  /* smallest p of the last looks that were not named */
    size_t withdrawn; /* steps that were named and no longer stand */
};

static size_t level_start(const struct search *s)
{
    return s->cuts->nr ? s->cuts->items[s->cuts->nr - 1].index : 0;
}

/* Lengths of the windows of a level of m points, m itself last. */
static size_t window_lengths(size_t m, size_t least, size_t lengths[WINDOWS])
{
    size_t nr = 0;

    for (double length = 2 * (double)least; length < 0.75 * (double)m && nr + 1 < WINDOWS;
         length *= sqrt(2))
        lengths[nr++] = (size_t)length;
    lengths[nr++] = m;
    return nr;
}

double search_whole_share(size_t n, const struct changepoint_settings *settings)
{
    size_t lengths[WINDOWS];

    return window_lengths(n, settings->min_segment, lengths) > 1 ? whole_ranks : 1;
}

static bool is_due(size_t night, size_t length)
{
    return length < 2 * LOOKS || night % (length / LOOKS) == 0;
}

/* Short windows are looked at each night: their points stay sorted. */
static void take_point(struct search *s)
{
    size_t point = s->night - 1, kept = 0, at;

    for (size_t i = 0; i < s->nr_recent; i++)
        if (point - s->recent[i] < 2 * LOOKS)
            s->recent[kept++] = s->recent[i];
    for (at = kept; at > 0 && s->x[s->recent[at - 1]] > s->x[point]; at--)
        s->recent[at] = s->recent[at - 1];
    s->recent[at] = point;
    s->nr_recent = kept + 1;
}

static size_t *order_of(struct search *s, size_t from, size_t length)
{
    size_t nr = 0;

    if (length > s->nr_recent)
        return scan_order(s->x + from, length);
    for (size_t i = 0; i < s->nr_recent; i++)
        if (s->recent[i] >= from)
            s->order[nr++] = s->recent[i] - from;
    return s->order;
}

static void scan_window(struct search *s, struct window *w)
{
    size_t from = s->night - w->length, *order = order_of(s, from, w->length);

    w->scan = scan_ranks(s->x + from, order, w->length, s->settings->min_segment, s->ranks);
    w->scan.p = fmin(1, w->scan.p / w->ranks_share);
    if (order != s->order)
        free(order);
    if (w->scan.p <= s->settings->level)
        s->windows[s->nr_windows++] = *w;
    else
        s->clearest = fmin(s->clearest, w->scan.p);
}

static int by_clarity(const void *left, const void *right)
{
    const struct window *a = left, *b = right;

    if (a->scan.z != b->scan.z)
        return a->scan.z > b->scan.z ? -1 : 1;
    return a->length < b->length ? -1 : a->length > b->length;
}

static void scan_windows(struct search *s)
{
    size_t lengths[WINDOWS], m = s->night - level_start(s);
    size_t nr = window_lengths(m, s->settings->min_segment, lengths);

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
        if (is_due(s->night, w.length))
            scan_window(s, &w);
    }
    if (s->nr_windows > 1)
        qsort(s->windows, s->nr_windows, sizeof(*s->windows), by_clarity);
}

/* Among all points of the level it must be the same step. */
static double judge_whole(const struct search *s, size_t at)
{
    size_t start = level_start(s), least = s->settings->min_segment;
    struct step whole =
        step_judge(s->x + start, s->night - start, at - start, least, s->settings->level);

    return start + whole.index <= at + least && at <= start + whole.index + least ? whole.p : 1;
}

/* p of one night as that of all nights so far. What nights cost at the usual level noise_p() has
 * paid; far below it they say the less, the fewer points there are to tell what correlates them:
 * fitted to AR(1) series with correlations up to 0.5 (test_p_is_honest in statistics_changes.c). */
static double p_of_nights(double p, size_t n)
{
    static const double usual = 0.05;

    return p < usual ? usual * pow(p / usual, 1 - 10 / fmax(24, (double)n)) : p;
}

/* What all tests say of the step of a window; the first that says no is enough. */
static struct cut judge_window(const struct search *s, const struct window *w)
{
    double level = s->settings->level;
    size_t from = s->night - w->length, least = s->settings->min_segment;
    struct step step =
        step_judge(s->x + from, w->length, w->scan.index, least, level * w->model_share);
    struct cut cut = { .index = from + step.index,
                       .p = fmin(1, fmax(w->scan.p, step.p / w->model_share)),
                       .named = s->night };

    if (cut.p <= level)
        cut.p = fmax(cut.p, judge_whole(s, cut.index));
    if (cut.p <= level)
        cut.p = fmax(cut.p, noise_p(s->x, s->night, s->cuts, cut.index));
    return cut;
}

/* Names the night's clearest step, if there is one. */
static bool name_step(struct search *s)
{
    scan_windows(s);
    for (size_t i = 0; i < s->nr_windows; i++) {
        struct cut cut = judge_window(s, &s->windows[i]);
        if (cut.p <= s->settings->level) {
            cut.p = p_of_nights(cut.p, s->night);
            *(struct cut *)array_push(s->cuts) = cut;
            return true;
        }
        s->clearest = fmin(s->clearest, cut.p);
    }
    return false;
}

/* Where the last level ends for sure: before what may be the next step, a few points ago. */
static size_t level_end(const struct search *s)
{
    enum { RECENT = 8 };
    const struct window *w = s->windows;
    size_t after = s->nr_windows ? w->length - w->scan.index : 0;

    return after <= RECENT ? s->night - after : s->night;
}

/* What the ranks of all points about a cut say. */
static double ranks_about(const struct search *s, size_t from, size_t to)
{
    size_t *order = scan_order(s->x + from, to - from);
    struct scan scan =
        scan_ranks(s->x + from, order, to - from, s->settings->min_segment, s->ranks);

    free(order);
    return scan.p;
}

/* p above which a step no longer stands, so many points after it, among m. A young one has had no
 * time to show itself: it need not explain them better than anything else (5), only not worse. But
 * few points cannot tell it from a slope. */
static double asked_to_stand(size_t age, size_t m)
{
    enum { SHORT = 34, YOUNG = 16, OLD = 40 };

    return m < SHORT || age >= OLD ? 0.3 : age < YOUNG ? 5 : 0.9;
}

/* Does step i still stand between its neighbours? It takes far less to stand than to be named, so
 * that it is not named one night and forgotten the next: it goes where a slope, a curve or wilder
 * noise, in the light of later nights, explains it better. Its place and p follow the evidence. */
static bool review(struct search *s, size_t i)
{
    struct cut *cut = &s->cuts->items[i];
    size_t from = segment_start(s->cuts, i), to = segment_end(s->cuts, i + 1, level_end(s));
    if (to < cut->index + s->settings->min_segment)
        return true;
    struct step step =
        step_judge(s->x + from, to - from, cut->index - from, s->settings->min_segment,
                   asked_to_stand(to - cut->index, to - from));

    if (!step.enough || ranks_about(s, from, to) > 0.2)
        return false;
    cut->index = step.index ? from + step.index : cut->index;
    if (i + 1 == s->cuts->nr && to == s->night) {
        struct cut_list before = { .items = s->cuts->items, .nr = i };
        double p = fmax(step.p, noise_p(s->x, s->night, &before, cut->index));
        cut->p = fmin(cut->p, p_of_nights(p, s->night));
    }
    return true;
}

static void withdraw(struct search *s, size_t i)
{
    struct cut *items = s->cuts->items;

    memmove(items + i, items + i + 1, (s->cuts->nr - i - 1) * sizeof(*items));
    s->cuts->nr--;
    s->withdrawn++;
}

/* The last step, ever more rarely; or when another one is named, that before it, whose level is
 * complete then. Not in a crowd of steps: one that went would take its neighbours along, which are
 * judged across it. */
static void review_steps(struct search *s, bool named)
{
    enum { CROWD = 4 };
    size_t nr = s->cuts->nr, rarely = nr ? (s->night - level_start(s)) / 8 + 1 : 1;

    if (nr == 0 || nr >= CROWD)
        return;
    if (named)
        s->nr_windows = 0; /* they are of the level before */
    if (named && nr > 1 && !review(s, nr - 2))
        withdraw(s, nr - 2);
    if (!named && s->night % rarely == 0 && !review(s, nr - 1))
        withdraw(s, nr - 1);
}

/* Up to n points; where modes are looked for it stops when the newest step is a switch between
 * two, and says which. */
static struct modes search_nights(struct search *s, size_t n, bool look_for_modes)
{
    struct modes none = { 0 };
    size_t least = s->settings->min_segment;

    s->cuts->nr = 0;
    s->nr_recent = 0;
    for (s->night = 1; s->night <= n; s->night++) {
        take_point(s);
        if (s->night < 2 * least)
            continue;
        size_t m = s->night - level_start(s);
        bool longer;
        s->nr_windows = 0;
        if (s->night + m / LOOKS < n) /* not the last look at its windows */
            s->clearest = 1;
        bool named = m >= 2 * least && name_step(s);
        if (named && look_for_modes) {
            struct modes modes =
                modes_at(s->x, s->night, s->cuts, s->cuts->nr - 1, s->settings->level, &longer);
            if (modes.high > modes.low && !longer)
                return modes;
        }
        review_steps(s, named);
    }
    return none;
}

static int by_index(const void *left, const void *right)
{
    const struct cut *a = left, *b = right;

    return a->index < b->index ? -1 : a->index > b->index;
}

static bool has_near(const struct cut_list *cuts, size_t index, size_t least)
{
    for (size_t i = 0; i < cuts->nr; i++)
        if (cuts->items[i].index < index + least && index < cuts->items[i].index + least)
            return true;
    return false;
}

/* Visits to a mode that last longer than chance makes them are levels all the same. */
static void add_visits(struct search *s, const double *x, size_t n, const struct modes *m)
{
    struct cut_list longer = { 0 };

    modes_outstayed(x, n, m, s->settings->level, &longer);
    for (size_t i = 0; i < longer.nr; i++)
        if (!has_near(s->cuts, longer.items[i].index, s->settings->min_segment))
            *(struct cut *)array_push(s->cuts) = longer.items[i];
    if (s->cuts->nr > 1)
        qsort(s->cuts->items, s->cuts->nr, sizeof(*s->cuts->items), by_index);
    array_release(&longer);
}

/* Modes are joined to one level, and the nights begin anew in what remains. */
static struct modes search_all(struct search *s, size_t n)
{
    enum { MOST = 3 }; /* pairs of modes */
    struct modes widest = modes_of(s->x, n);
    double *joined = memory_zeroed(n + 1, sizeof(*joined));
    const double *x = s->x;

    memcpy(joined, x, n * sizeof(*joined));
    for (int i = 0; i <= MOST; i++) {
        struct modes m = search_nights(s, n, i < MOST);
        if (!(m.high > m.low))
            break;
        if (m.high - m.low > widest.high - widest.low)
            widest = m;
        modes_join(joined, n, &m, joined);
        s->withdrawn += s->cuts->nr - 1; /* all but the one that showed it */
        s->x = joined;
    }
    if (s->x == joined)
        add_visits(s, x, n, &widest);
    free(joined);
    return widest;
}

void cuts_find(const double *x, size_t n, const struct changepoint_settings *settings,
               struct cut_list *out, struct search_result *verdict)
{
    struct search s = { .x = x, .settings = settings, .cuts = out, .clearest = 1 };

    *verdict = (struct search_result) { 0 };
    if (n >= 2 * settings->min_segment) {
        s.ranks = memory_zeroed(n + 1, sizeof(*s.ranks));
        s.order = memory_zeroed(2 * LOOKS, sizeof(*s.order));
        verdict->modes = search_all(&s, n);
    }
    verdict->clearest = s.clearest;
    verdict->withdrawn = s.withdrawn;
    for (size_t i = 0; i < out->nr; i++)
        verdict->clearest = fmin(verdict->clearest, out->items[i].p);
    free(s.order);
    free(s.ranks);
}
