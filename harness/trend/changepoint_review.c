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

struct search {
    struct windows now; /* the night, and what its windows show */
    struct cut_list *cuts;
    struct search_log *log;
    const double *raw;         /* the points before modes were joined */
    struct visits_seen visits; /* to the widest modes that were joined */
    struct visits_seen left;   /* the same before an outstayed visit was left, */
    size_t left_at;            /* at this point; 0: it was not */
    struct cut_list longer;    /* where outstayed visits begin and end, ascending */
};

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
    size_t least = s->now.settings->min_segment;
    struct cut *new = array_push(s->cuts);

    cut.p = p_of_nights(cut.p, s->now.night);
    cut.gone = has_near(&s->longer, cut.index, least);
    *new = cut;
    if (cut.gone)
        return;
    double before = segment_level(s->now.x, s->now.night, s->cuts, s->cuts->nr - 1);
    bool up = segment_level(s->now.x, s->now.night, s->cuts, s->cuts->nr) > before;
    log_name(s->log, new, s->now.night, up, least);
}

/* Names the night's clearest step, if there is one. */
static bool name_step(struct search *s)
{
    struct cut cut;

    if (!windows_step(&s->now, &cut))
        return false;
    add_step(s, cut);
    return true;
}

/* Where the last level ends for sure: before what may be the next step, a few points ago. */
static size_t level_end(const struct search *s)
{
    enum { RECENT = 8 };
    const struct window *w = s->now.items;
    size_t after = s->now.nr ? w->length - w->scan.index : 0;

    return after <= RECENT ? s->now.night - after : s->now.night;
}

/* What the ranks of all points about a cut say. */
static double ranks_about(const struct search *s, size_t from, size_t to)
{
    size_t *order = scan_order(s->now.x + from, to - from);
    struct scan scan =
        scan_ranks(s->now.x + from, order, to - from, s->now.settings->min_segment, s->now.ranks);

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
static bool step_stands(struct search *s, size_t from, size_t at, size_t to, struct step *step)
{
    size_t least = s->now.settings->min_segment;

    *step = step_judge(s->now.x + from, to - from, at - from, least,
                       asked_to_stand(to - at, to - from));
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
    size_t least = crowd ? s->now.settings->min_segment : NEWEST;
    size_t next = split_best(s->now.x + at, to - at, least);

    if (!next || to - (at + next) > (crowd ? NIGHTS : YOUNG))
        return to;
    return crowd || (s->cuts->nr > 1 && is_far(s->now.x + at, next, to - at)) ? at + next : to;
}

/* The place and p of the newest step follow the evidence. */
static void refresh_newest(struct search *s, struct cut *cut, const struct step *step)
{
    struct cut_list before = { .items = s->cuts->items, .nr = s->cuts->nr - 1 };
    double p = fmax(step->p, noise_p(s->now.x, s->now.night, &before, cut->index));

    p = p_of_nights(p, s->now.night);
    if (p < cut->p) {
        cut->p = p;
        log_look(s->log, cut, s->now.night);
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
static bool review_step(struct search *s, size_t i)
{
    struct cut *cut = &s->cuts->items[i];
    size_t from = segment_start(s->cuts, i), to = piece_end(s, i);
    struct step step;

    if (to < cut->index + s->now.settings->min_segment)
        return true;
    if (!step_stands(s, from, cut->index, to, &step)) {
        size_t next = next_place(s, cut->index, to);
        return next < to && step_stands(s, from, cut->index, next, &step);
    }
    cut->index = step.index ? from + step.index : cut->index;
    if (i + 1 == s->cuts->nr && to == s->now.night)
        refresh_newest(s, cut, &step);
    return true;
}

/* In a crowd of steps one that goes stays a border of the pieces, or it would take its neighbours
 * along: they would be judged across it. */
static void withdraw_step(struct search *s, size_t i, enum step_end why)
{
    struct cut *items = s->cuts->items;

    log_withdraw(s->log, s->now.x, s->now.night, s->cuts, i, why);
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
    size_t nr = cuts->nr, rarely = nr ? (s->now.night - windows_level_start(&s->now)) / 8 + 1 : 1;

    if (named)
        s->now.nr = 0; /* they are of the level before */
    if (named && nr > 1 && !cuts->items[nr - 2].gone && !review_step(s, nr - 2))
        withdraw_step(s, nr - 2, STEP_OVERTAKEN);
    if (nr && !named && !cuts->items[nr - 1].gone && s->now.night % rarely == 0 &&
        !review_step(s, nr - 1))
        withdraw_step(s, nr - 1, STEP_EXPLAINED);
}

/* ---- two modes ---- */

/* Where an outstayed visit begins or ends. */
static void name_visit(struct search *s, size_t index, double p, bool up)
{
    size_t least = s->now.settings->min_segment;

    if (has_near(s->cuts, index, least))
        return;
    struct cut *cut = array_push(&s->longer);
    *cut = (struct cut) { .index = index, .p = p };
    log_name(s->log, cut, s->now.night, up, least);
}

/* The longer the visit, the clearer. */
static void name_running(struct search *s, double p)
{
    struct cut *last = s->longer.nr ? &s->longer.items[s->longer.nr - 1] : NULL;

    if (!last || last->index != s->visits.from) {
        name_visit(s, s->visits.from, p, s->visits.place == 2);
    } else if (p < 0.5 * last->p) {
        last->p = p;
        log_look(s->log, last, s->now.night);
    }
}

/* Was it left for good, or for two points? */
static void end_visit(struct search *s)
{
    double middle = 0.5 * (s->visits.modes.low + s->visits.modes.high);
    size_t high = 0, nr = s->now.night - s->left_at;
    bool was_high = s->left.place == 2;

    for (size_t t = s->left_at; t < s->now.night; t++)
        high += s->raw[t] > middle;
    if (2 * (was_high ? nr - high : high) > nr) {
        name_visit(s, s->left_at, visits_outstayed(&s->left), !was_high);
    } else {
        s->visits = s->left;
        s->visits.to = s->now.night;
    }
    s->left_at = 0;
}

/* Visits to a mode that last longer than chance makes them are levels all the same. */
static void follow_visits(struct search *s)
{
    double level = s->now.settings->level;
    struct visits_seen before = s->visits;

    visits_take(&s->visits, s->raw[s->now.night - 1], s->now.night - 1);
    if (!s->left_at && s->visits.complete > before.complete && visits_outstayed(&before) <= level) {
        s->left = before;
        s->left_at = s->visits.from;
    }
    if (s->left_at && s->now.night >= s->left_at + s->now.settings->min_segment)
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
        modes_at(s->now.x, s->now.night, s->cuts, s->cuts->nr - 1, s->now.settings->level, &longer);

    return longer ? (struct modes) { 0 } : m;
}

/* Up to n points; where modes are looked for it stops when the newest step is a switch between
 * two, and says which. */
static struct modes search_nights(struct search *s, size_t n, bool look_for_modes)
{
    struct modes none = { 0 };
    size_t least = s->now.settings->min_segment;

    s->cuts->nr = 0;
    windows_restart(&s->now);
    for (s->now.night = 1; s->now.night <= n; s->now.night++) {
        windows_begin_night(&s->now, n);
        bool named = s->now.night - windows_level_start(&s->now) >= 2 * least && name_step(s);
        if (named && look_for_modes) {
            struct modes modes = modes_at_newest(s);
            if (modes.high > modes.low)
                return modes;
        }
        review_steps(s, named);
        if (s->visits.modes.visits)
            follow_visits(s);
        if (s->now.night == s->log->since) {
            log_begin(s->log, s->cuts, least);
            log_begin(s->log, &s->longer, least);
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
        log_withdraw(s->log, s->raw, s->now.night, s->cuts, i, STEP_MODES);
    if (s->now.night > s->log->since)
        s->log->since = s->now.night;
    if (m->high - m->low > s->visits.modes.high - s->visits.modes.low)
        follow_modes(s, m);
    else
        follow_modes(s, &s->visits.modes);
}

/* Modes are joined to one level, and the nights begin anew in what remains. */
static struct modes search_all(struct search *s, size_t n)
{
    enum { MOST = 3 }; /* pairs of modes */
    struct modes now = modes_of(s->now.x, n);
    double *joined = memory_zeroed(n + 1, sizeof(*joined));

    s->raw = s->now.x;
    memcpy(joined, s->now.x, n * sizeof(*joined));
    for (int i = 0; i <= MOST; i++) {
        struct modes m = search_nights(s, n, i < MOST);
        if (!(m.high > m.low))
            break;
        begin_anew(s, &m);
        modes_join(joined, n, &m, joined);
        s->now.x = joined;
    }
    join_cuts(s);
    array_release(&s->longer);
    free(joined);
    const struct modes *seen = &s->visits.modes;
    return seen->high - seen->low > now.high - now.low ? *seen : now;
}

void cuts_find(const double *x, size_t n, const struct changepoint_settings *settings,
               struct cut_list *out, struct search_result *verdict, struct search_log *log)
{
    struct search s = { .cuts = out, .log = log };

    *verdict = (struct search_result) { 0 };
    windows_init(&s.now, n, settings, out);
    s.now.x = x;
    if (n >= 2 * settings->min_segment)
        verdict->modes = search_all(&s, n);
    verdict->clearest = s.now.clearest;
    for (size_t i = 0; i < out->nr; i++)
        verdict->clearest = fmin(verdict->clearest, out->items[i].p);
    windows_release(&s.now);
}
