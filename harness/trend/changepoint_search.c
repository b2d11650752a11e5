/* SPDX-License-Identifier: MIT */
/*
 * The search, night by night: each point is taken as it came, and nothing behind it is known. What
 * is found is therefore what a nightly job would have reported, when, and whether it still stands;
 * a longer series never forgets a step that a shorter one had, unless there is a reason.
 */
#include "base/array.h"
#include "base/memory.h"
#include "trend/changepoint_parts.h"

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
    size_t *known;                       /* all points so far, the same */
    size_t *order;                       /* scratch, and the next */
    double *ranks;
    size_t noise_at; /* the last place in this night that the noise of all explains; 0: none */
    bool last_look;  /* of all nights at some window: its p may be told, whatever it is */
    double clearest; /* smallest p of the last looks that were not named */
    struct search_past *past;
    const double *raw;         /* the points before modes were joined */
    struct visits_seen visits; /* to the widest modes that were joined */
    struct visits_seen left;   /* the same before an outstayed visit was left, */
    size_t left_at;            /* at this point; 0: it was not */
    struct cut_list longer;    /* where outstayed visits begin and end, ascending */
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

/* Puts a point behind all that are not larger. */
static void insert(const double *x, size_t *order, size_t nr, size_t point)
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
static void take_point(struct search *s)
{
    size_t point = s->night - 1, kept = 0;

    for (size_t i = 0; i < s->nr_recent; i++)
        if (point - s->recent[i] < 2 * LOOKS)
            s->recent[kept++] = s->recent[i];
    insert(s->x, s->recent, kept, point);
    s->nr_recent = kept + 1;
    insert(s->x, s->known, point, point);
}

/* The order of the newest points, without that of what came before. */
static const size_t *order_of(struct search *s, size_t from, size_t length)
{
    bool is_short = length <= s->nr_recent;
    const size_t *known = is_short ? s->recent : s->known;
    size_t all = is_short ? s->nr_recent : s->night, nr = 0;

    for (size_t i = 0; i < all; i++) {
        s->order[nr] = known[i] - from;
        nr += known[i] >= from;
    }
    return s->order;
}

static void scan_window(struct search *s, struct window *w)
{
    size_t from = s->night - w->length;
    const size_t *order = order_of(s, from, w->length);

    w->scan = scan_ranks(s->x + from, order, w->length, s->settings->min_segment, s->ranks);
    w->scan.p = fmin(1, w->scan.p / w->ranks_share);
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

/* The noise of the whole history says no to most, and quickly. */
static bool is_noise(struct search *s, size_t from, const struct window *w)
{
    size_t at = from + step_place(s->x + from, w->length, w->scan.index, s->settings->min_segment);

    if (at != s->noise_at && noise_p(s->x, s->night, s->cuts, at) <= s->settings->level)
        return false;
    s->noise_at = at;
    return true;
}

/* What all tests say of the step of a window; the first that says no is enough. */
static struct cut judge_window(struct search *s, const struct window *w)
{
    double level = s->settings->level;
    size_t from = s->night - w->length, least = s->settings->min_segment;

    if (!s->last_look && is_noise(s, from, w))
        return (struct cut) { .p = 1 };
    struct step step =
        step_judge(s->x + from, w->length, w->scan.index, least, level * w->model_share);
    struct cut cut = { .index = from + step.index,
                       .p = fmin(1, fmax(w->scan.p, step.p / w->model_share)) };

    if (cut.p <= level)
        cut.p = fmax(cut.p, judge_whole(s, cut.index));
    if (cut.p <= level)
        cut.p = fmax(cut.p, noise_p(s->x, s->night, s->cuts, cut.index));
    return cut;
}

static bool has_near(const struct cut_list *cuts, size_t index, size_t least)
{
    for (size_t i = 0; i < cuts->nr; i++)
        if (!cuts->items[i].gone && cuts->items[i].index < index + least &&
            index < cuts->items[i].index + least)
            return true;
    return false;
}

/* A border from now on; told, unless a visit that begins or ends there was. */
static void add_step(struct search *s, struct cut cut)
{
    size_t least = s->settings->min_segment;
    struct cut *new = array_push(s->cuts);

    cut.p = p_of_nights(cut.p, s->night);
    cut.gone = has_near(&s->longer, cut.index, least);
    *new = cut;
    if (cut.gone)
        return;
    double before = segment_level(s->x, s->night, s->cuts, s->cuts->nr - 1);
    bool up = segment_level(s->x, s->night, s->cuts, s->cuts->nr) > before;
    past_name(s->past, new, s->night, up, least);
}

/* Names the night's clearest step, if there is one. */
static bool name_step(struct search *s)
{
    s->noise_at = 0;
    scan_windows(s);
    for (size_t i = 0; i < s->nr_windows; i++) {
        struct cut cut = judge_window(s, &s->windows[i]);
        if (cut.p <= s->settings->level) {
            add_step(s, cut);
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

/* Does the step at cut i still stand among the points between two others? */
static bool stands(struct search *s, size_t from, size_t at, size_t to, struct step *step)
{
    size_t least = s->settings->min_segment;

    *step =
        step_judge(s->x + from, to - from, at - from, least, asked_to_stand(to - at, to - from));
    return step->enough && ranks_about(s, from, to) <= 0.2;
}

/* So many steps are a crowd: more than gradual changes are taken for. */
enum { CROWD = 4 };

/* Are the points from `next` on so many standard errors from those before that no slope makes it?
 */
static bool is_far(const double *x, size_t next, size_t to)
{
    static const double far = 6;
    double own = stats_mean(x + next, to - next), sd = stats_sd(x, next);
    double se = sd * sqrt(1 / (double)next + 1 / (double)(to - next));

    return fabs(own - stats_mean(x, next)) > far * se;
}

/* Where its level ends, if the newest points are on their way to be the next step: that one may
 * take some nights to be named, and until then it must not speak against this one. Outside a crowd
 * only where there was another step before, and the newest points are few and far: a first step may
 * be the beginning of a slope. */
static size_t next_place(const struct search *s, size_t at, size_t to)
{
    enum { NEWEST = 2, YOUNG = 6, NIGHTS = 24 };
    bool crowd = s->cuts->nr >= CROWD;
    size_t least = crowd ? s->settings->min_segment : NEWEST;
    size_t next = split_best(s->x + at, to - at, least);

    if (!next || to - (at + next) > (crowd ? NIGHTS : YOUNG))
        return to;
    return crowd || (s->cuts->nr > 1 && is_far(s->x + at, next, to - at)) ? at + next : to;
}

/* The place and p of the newest step follow the evidence. */
static void refresh(struct search *s, struct cut *cut, const struct step *step)
{
    struct cut_list before = { .items = s->cuts->items, .nr = s->cuts->nr - 1 };
    double p = fmax(step->p, noise_p(s->x, s->night, &before, cut->index));

    p = p_of_nights(p, s->night);
    if (p < cut->p) {
        cut->p = p;
        past_look(s->past, cut, s->night);
    }
}

/* Where the points end that tell of step i. In a crowd the far ones tell of later changes: a slope
 * that begins there is none of the step. */
static size_t piece_end(const struct search *s, size_t i)
{
    enum { NEAR = 100 };
    size_t to = segment_end(s->cuts, i + 1, level_end(s)), near = s->cuts->items[i].index + NEAR;

    return s->cuts->nr >= CROWD && to > near ? near : to;
}

/* Does step i still stand between its neighbours, which are fixed? It takes far less to stand than
 * to be named, so that it is not named one night and forgotten the next: it goes where a slope, a
 * curve or wilder noise, in the light of later nights, explains it better. */
static bool review(struct search *s, size_t i)
{
    struct cut *cut = &s->cuts->items[i];
    size_t from = segment_start(s->cuts, i), to = piece_end(s, i);
    struct step step;

    if (to < cut->index + s->settings->min_segment)
        return true;
    if (!stands(s, from, cut->index, to, &step)) {
        size_t next = next_place(s, cut->index, to);
        return next < to && stands(s, from, cut->index, next, &step);
    }
    cut->index = step.index ? from + step.index : cut->index;
    if (i + 1 == s->cuts->nr && to == s->night)
        refresh(s, cut, &step);
    return true;
}

/* In a crowd of steps one that goes stays a border of the pieces, or it would take its neighbours
 * along: they would be judged across it. */
static void withdraw(struct search *s, size_t i, enum step_end why)
{
    struct cut *items = s->cuts->items;

    past_withdraw(s->past, s->x, s->night, s->cuts, i, why);
    items[i].gone = s->cuts->nr >= CROWD;
    if (items[i].gone)
        return;
    memmove(items + i, items + i + 1, (s->cuts->nr - i - 1) * sizeof(*items));
    s->cuts->nr--;
}

/* The last step, ever more rarely; or when another one is named, that before it, whose level is
 * complete then. */
static void review_steps(struct search *s, bool named)
{
    const struct cut_list *cuts = s->cuts;
    size_t nr = cuts->nr, rarely = nr ? (s->night - level_start(s)) / 8 + 1 : 1;

    if (named)
        s->nr_windows = 0; /* they are of the level before */
    if (named && nr > 1 && !cuts->items[nr - 2].gone && !review(s, nr - 2))
        withdraw(s, nr - 2, STEP_OVERTAKEN);
    if (nr && !named && !cuts->items[nr - 1].gone && s->night % rarely == 0 && !review(s, nr - 1))
        withdraw(s, nr - 1, STEP_EXPLAINED);
}

/* ---- two modes ---- */

/* Where an outstayed visit begins or ends. */
static void name_visit(struct search *s, size_t index, double p, bool up)
{
    size_t least = s->settings->min_segment;

    if (has_near(s->cuts, index, least))
        return;
    struct cut *cut = array_push(&s->longer);
    *cut = (struct cut) { .index = index, .p = p };
    past_name(s->past, cut, s->night, up, least);
}

/* The longer the visit, the clearer. */
static void name_running(struct search *s, double p)
{
    struct cut *last = s->longer.nr ? &s->longer.items[s->longer.nr - 1] : NULL;

    if (!last || last->index != s->visits.from) {
        name_visit(s, s->visits.from, p, s->visits.place == 2);
    } else if (p < 0.5 * last->p) {
        last->p = p;
        past_look(s->past, last, s->night);
    }
}

/* Was it left for good, or for two points? */
static void end_visit(struct search *s)
{
    double middle = 0.5 * (s->visits.modes.low + s->visits.modes.high);
    size_t high = 0, nr = s->night - s->left_at;
    bool was_high = s->left.place == 2;

    for (size_t t = s->left_at; t < s->night; t++)
        high += s->raw[t] > middle;
    if (2 * (was_high ? nr - high : high) > nr) {
        name_visit(s, s->left_at, visits_outstayed(&s->left), !was_high);
    } else {
        s->visits = s->left;
        s->visits.to = s->night;
    }
    s->left_at = 0;
}

/* Visits to a mode that last longer than chance makes them are levels all the same. */
static void follow_visits(struct search *s)
{
    double level = s->settings->level;
    struct visits_seen before = s->visits;

    visits_take(&s->visits, s->raw[s->night - 1], s->night - 1);
    if (!s->left_at && s->visits.complete > before.complete && visits_outstayed(&before) <= level) {
        s->left = before;
        s->left_at = s->visits.from;
    }
    if (s->left_at && s->night >= s->left_at + s->settings->min_segment)
        end_visit(s);
    double p = visits_outstayed(&s->visits);
    if (!s->left_at && p <= level)
        name_running(s, p);
}

static void follow_modes(struct search *s, const struct modes *m)
{
    s->longer.nr = 0;
    s->left_at = 0;
    s->visits = (struct visits_seen) { .modes = *m };
}

/* Is the newest step a switch between two modes? */
static struct modes modes_at_newest(const struct search *s)
{
    bool longer;
    struct modes m =
        modes_at(s->x, s->night, s->cuts, s->cuts->nr - 1, s->settings->level, &longer);

    return longer ? (struct modes) { 0 } : m;
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
        size_t m = s->night - level_start(s);
        take_point(s);
        s->nr_windows = 0;
        s->last_look = s->night + 1 + (s->night + 1) / LOOKS >= n;
        if (s->night + m / LOOKS < n) /* not the last look at its windows */
            s->clearest = 1;
        bool named = m >= 2 * least && name_step(s);
        if (named && look_for_modes) {
            struct modes modes = modes_at_newest(s);
            if (modes.high > modes.low)
                return modes;
        }
        review_steps(s, named);
        if (s->visits.modes.visits)
            follow_visits(s);
        if (s->night == s->past->since) {
            past_begin(s->past, s->cuts, least);
            past_begin(s->past, &s->longer, least);
        }
    }
    return none;
}

static int by_index(const void *left, const void *right)
{
    const struct cut *a = left, *b = right;

    return a->index < b->index ? -1 : a->index > b->index;
}

/* All that stands, by place. */
static void join_cuts(struct search *s)
{
    struct cut_list *cuts = s->cuts;
    size_t kept = 0;

    for (size_t i = 0; i < s->longer.nr; i++)
        *(struct cut *)array_push(cuts) = s->longer.items[i];
    if (cuts->nr > 1)
        qsort(cuts->items, cuts->nr, sizeof(*cuts->items), by_index);
    for (size_t i = 0; i < cuts->nr; i++)
        if (!cuts->items[i].gone)
            cuts->items[kept++] = cuts->items[i];
    cuts->nr = kept;
}

/* All is withdrawn; the nights begin anew. */
static void begin_anew(struct search *s, const struct modes *m)
{
    join_cuts(s);
    for (size_t i = s->cuts->nr; i-- > 0;)
        past_withdraw(s->past, s->raw, s->night, s->cuts, i, STEP_MODES);
    if (s->night > s->past->since)
        s->past->since = s->night;
    if (m->high - m->low > s->visits.modes.high - s->visits.modes.low)
        follow_modes(s, m);
    else
        follow_modes(s, &s->visits.modes);
}

/* Modes are joined to one level, and the nights begin anew in what remains. */
static struct modes search_all(struct search *s, size_t n)
{
    enum { MOST = 3 }; /* pairs of modes */
    struct modes now = modes_of(s->x, n);
    double *joined = memory_zeroed(n + 1, sizeof(*joined));

    s->raw = s->x;
    memcpy(joined, s->x, n * sizeof(*joined));
    for (int i = 0; i <= MOST; i++) {
        struct modes m = search_nights(s, n, i < MOST);
        if (!(m.high > m.low))
            break;
        begin_anew(s, &m);
        modes_join(joined, n, &m, joined);
        s->x = joined;
    }
    join_cuts(s);
    array_release(&s->longer);
    free(joined);
    const struct modes *seen = &s->visits.modes;
    return seen->high - seen->low > now.high - now.low ? *seen : now;
}

void cuts_find(const double *x, size_t n, const struct changepoint_settings *settings,
               struct cut_list *out, struct search_result *verdict, struct search_past *past)
{
    struct search s = { .x = x, .settings = settings, .cuts = out, .clearest = 1, .past = past };

    *verdict = (struct search_result) { 0 };
    if (n >= 2 * settings->min_segment) {
        s.ranks = memory_zeroed(n + 1, sizeof(*s.ranks));
        s.order = memory_zeroed(n + 1, sizeof(*s.order));
        s.known = memory_zeroed(n + 1, sizeof(*s.known));
        verdict->modes = search_all(&s, n);
    }
    verdict->clearest = s.clearest;
    for (size_t i = 0; i < out->nr; i++)
        verdict->clearest = fmin(verdict->clearest, out->items[i].p);
    free(s.known);
    free(s.order);
    free(s.ranks);
}
