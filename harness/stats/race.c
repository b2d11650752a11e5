/* SPDX-License-Identifier: MIT */
#include "stats/race.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No clock gives less noise than this from round to round; it keeps t finite. */
static const double smallest_variance = 1e-12;
/* Noisier than this against the others: a runner keeps its own variance. */
static const double noisy_level = 0.01;
enum { PRIOR_MOST = 60 }; /* degrees of freedom that the others' variances are worth at most */

void race_init(struct race *r, size_t nr, const struct race_rule *rule)
{
    *r = (struct race) { .rule = *rule, .nr = nr };
    r->rule.least = r->rule.least < 2 ? 2 : r->rule.least;
    r->runners = memory_zeroed(nr + 1, sizeof(*r->runners));
    for (size_t i = 0; i < nr; i++)
        r->runners[i] = (struct race_runner) { .behind = NAN, .interval = { NAN, NAN } };
}

void race_release(struct race *r)
{
    free(r->runners);
    free(r->logs);
    *r = (struct race) { .runners = NULL };
}

size_t race_count(const struct race *r)
{
    size_t nr = 0;

    for (size_t i = 0; i < r->nr; i++)
        nr += r->runners[i].state != RACE_OUT;
    return nr;
}

bool race_wants(const struct race *r, size_t runner)
{
    enum race_state state = r->runners[runner].state;

    return !r->decided && (state == RACE_OPEN || state == RACE_LEADS);
}

void race_take_out(struct race *r, size_t runner)
{
    r->runners[runner] = (struct race_runner) {
        .state = RACE_OUT,
        .rounds = r->runners[runner].rounds,
        .left = r->rounds + 1,
        .behind = NAN,
        .interval = { NAN, NAN },
    };
}

/* ---- two of them, over the rounds that both have run ---- */

struct race_pair {
    double mean, variance, df; /* of the differences of logs: how much slower than the other */
    size_t n;
    bool wild; /* some were drawn in */
};

static size_t take_differences(const struct race *r, size_t runner, size_t other, double *out)
{
    size_t nr = 0;

    for (size_t i = 0; i < r->rounds; i++) {
        double d = r->logs[i * r->nr + runner] - r->logs[i * r->nr + other];
        if (!isnan(d))
            out[nr++] = d;
    }
    return nr;
}

static bool draw_in(double *d, size_t nr, double reach, double *scratch)
{
    bool wild = false;

    memcpy(scratch, d, nr * sizeof(*d));
    double middle = stats_median(scratch, nr);
    for (size_t i = 0; i < nr; i++) {
        double from = d[i] - middle;
        if (fabs(from) <= reach)
            continue;
        d[i] = middle + copysign(reach, from);
        wild = true;
    }
    return wild;
}

/* `room` has place for two values a round. `reach` infinite: nothing is drawn in. */
static struct race_pair look_at_pair(const struct race *r, size_t runner, size_t other,
                                     double reach, double *room)
{
    struct race_pair p = { .n = take_differences(r, runner, other, room) };

    if (p.n == 0)
        return p;
    p.wild = isfinite(reach) && draw_in(room, p.n, reach, room + r->rounds);
    p.mean = stats_mean(room, p.n);
    p.df = (double)p.n - 1;
    p.variance = p.n > 1 ? fmax(pow(stats_sd(room, p.n), 2), smallest_variance) : NAN;
    return p;
}

static void moderate_variance(struct race_pair *p, const struct variance_prior *prior)
{
    if (p->wild || !(prior->df > 0) ||
        stats_f_tail(p->variance / prior->scale, p->df, prior->df) < noisy_level)
        return;
    p->variance = (prior->df * prior->scale + p->df * p->variance) / (prior->df + p->df);
    p->df += prior->df;
}

/* ---- how all of them scatter ---- */

/* The logs as a level of each runner and one of each round, which hits all alike: what is left is
 * noise. A leader's own noise is in all differences from it, so that these tell of it alone. */
struct race_levels {
    double *runner, *round, *scratch;
};

enum { LEVELS_PASSES = 8 };

static double log_at(const struct race *r, size_t round, size_t runner)
{
    return r->logs[round * r->nr + runner];
}

static double round_level(const struct race *r, size_t round, const struct race_levels *l)
{
    size_t nr = 0;

    for (size_t i = 0; i < r->nr; i++)
        if (!isnan(log_at(r, round, i)))
            l->scratch[nr++] = log_at(r, round, i) - l->runner[i];
    return nr ? stats_median(l->scratch, nr) : 0;
}

static double runner_level(const struct race *r, size_t runner, const struct race_levels *l)
{
    double sum = 0, nr = 0;

    for (size_t i = 0; i < r->rounds; i++) {
        double log = log_at(r, i, runner);
        if (isnan(log))
            continue;
        sum += log - l->round[i];
        nr++;
    }
    return nr > 0 ? sum / nr : 0;
}

static void fit_levels(const struct race *r, struct race_levels *l)
{
    for (int pass = 0; pass < LEVELS_PASSES; pass++) {
        for (size_t i = 0; i < r->nr; i++)
            l->runner[i] = runner_level(r, i, l);
        for (size_t i = 0; i < r->rounds; i++)
            l->round[i] = round_level(r, i, l);
    }
}

static double runner_variance(const struct race *r, size_t runner, const struct race_levels *l,
                              double *df)
{
    double level = runner_level(r, runner, l), squares = 0, nr = 0;

    for (size_t i = 0; i < r->rounds; i++) {
        double log = log_at(r, i, runner);
        if (isnan(log))
            continue;
        squares += pow(log - l->round[i] - level, 2);
        nr++;
    }
    *df = nr - 1;
    return nr > 1 ? fmax(squares / *df, smallest_variance) : NAN;
}

/* Of a difference of two. */
static struct variance_prior find_prior(const struct race *r)
{
    double *room = memory_zeroed(5 * r->nr + r->rounds, sizeof(*room));
    double *variances = room, *dfs = room + r->nr, df;
    struct race_levels l = { room + 2 * r->nr, room + 4 * r->nr, room + 3 * r->nr };
    struct variance_prior prior = { NAN, 0 };
    size_t nr = 0;

    fit_levels(r, &l);
    for (size_t i = 0; i < r->nr; i++) {
        double variance = runner_variance(r, i, &l, &df);
        if (r->runners[i].state == RACE_OUT || isnan(variance))
            continue;
        variances[nr] = 2 * variance;
        dfs[nr++] = df;
    }
    if (nr > 0)
        prior = stats_variance_prior(variances, nr, stats_median(dfs, nr), PRIOR_MOST);
    free(room);
    return prior;
}

/* ---- a look ---- */

/* Of those that still run, the fastest on average, each against the leader so far. */
static size_t find_leader(const struct race *r, size_t from, double *room)
{
    size_t leader = from;
    double least = 0;

    for (size_t i = 0; i < r->nr; i++) {
        if (i == from || !race_wants(r, i))
            continue;
        struct race_pair p = look_at_pair(r, i, from, INFINITY, room);
        if (p.n == 0 || p.mean >= least)
            continue;
        least = p.mean;
        leader = i;
    }
    return leader;
}

/* Of those in it, the fastest by what they were behind the leader so far. Asked where nobody runs:
 * all were settled then, and are known to be behind by something. */
static size_t least_behind(const struct race *r)
{
    size_t best = r->nr;

    for (size_t i = 0; i < r->nr; i++)
        if (r->runners[i].state != RACE_OUT &&
            (best == r->nr || r->runners[i].behind < r->runners[best].behind))
            best = i;
    return best;
}

/* Who led; where that is out, any that runs; where all such are out with it, the best of those that
 * were settled. Some must be in it. */
static size_t first_candidate(const struct race *r)
{
    if (r->runners[r->leader].state != RACE_OUT)
        return r->leader;
    for (size_t i = 0; i < r->nr; i++)
        if (race_wants(r, i))
            return i;
    return least_behind(r);
}

/* What a look may spend of the error of one pair. */
static double look_share(const struct race *r)
{
    double before = (double)(r->rounds - r->rule.least) + RACE_HALF_LOOKS;
    double others = (double)race_count(r) - 1;

    return r->rule.alpha / fmax(others, 1) * RACE_HALF_LOOKS / (before * (before + 1));
}

/* P(X < below, Y >= bar) of two normal deviates, by Simpson's rule over Y. */
static double first_crossing(double below, double bar, double correlation)
{
    enum { STEPS = 48 };
    const double width = 6.0 / STEPS, rest = sqrt(1 - correlation * correlation);
    double sum = 0;

    for (int i = 0; i <= STEPS; i++) {
        double y = bar + i * width, weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        double under = 0.5 * erfc(-(below - correlation * y) / rest / M_SQRT2);
        sum += weight * exp(-y * y / 2) * under;
    }
    return sum * width / 3 / sqrt(2 * M_PI);
}

/* The bar whose first crossing in this look costs the share, where the bar of the look before was
 * not reached: the same rounds are in both, but one. */
static double find_bar(const struct race *r, double share)
{
    double high = stats_normal_quantile(1 - share), low = high / 2;
    double correlation = sqrt((double)(r->rounds - 1) / (double)r->rounds);

    for (int i = 0; i < 30; i++) {
        double middle = (low + high) / 2;
        *(first_crossing(r->bar, middle, correlation) > share ? &low : &high) = middle;
    }
    return high;
}

/* The nominal levels of a look: of pairs that were in all rounds, and of others. */
struct look_levels {
    double whole, other;
};

static struct look_levels look_levels(struct race *r)
{
    if (r->rounds < r->rule.least)
        return (struct look_levels) { NAN, NAN };
    double share = look_share(r);
    r->bar = r->rounds == r->rule.least ? stats_normal_quantile(1 - share) : find_bar(r, share);
    return (struct look_levels) { 1 - stats_normal_cdf(r->bar), share };
}

static void set_state(struct race *r, size_t runner, const struct race_pair *p, double half)
{
    struct race_runner *x = &r->runners[runner];
    bool slower = p->mean - half > 0, settled = p->mean - half > -log1p(r->rule.tolerance);

    x->behind = p->n ? expm1(p->mean) : NAN;
    x->interval = isfinite(half)
                      ? (struct interval) { expm1(p->mean - half), expm1(p->mean + half) }
                      : (struct interval) { NAN, NAN };
    x->state = slower ? RACE_SLOWER : settled ? RACE_WITHIN : RACE_OPEN;
    x->left = !settled ? 0 : x->left ? x->left : r->rounds;
}

/* Holds all against the leader. Returns how many are open. */
static size_t hold_against_leader(struct race *r, double *room)
{
    struct variance_prior prior = find_prior(r);
    struct look_levels levels = look_levels(r);
    double reach = prior.df > 0 ? RACE_REACH * sqrt(prior.scale) : INFINITY;
    size_t open = 0;

    for (size_t i = 0; i < r->nr; i++) {
        if (i == r->leader || r->runners[i].state == RACE_OUT)
            continue;
        struct race_pair p = look_at_pair(r, i, r->leader, reach, room);
        double half = INFINITY, level = p.n == r->rounds ? levels.whole : levels.other;
        if (p.n >= 2)
            moderate_variance(&p, &prior);
        if (p.n >= 2 && level > 0)
            half = stats_t_quantile(1 - level, p.df) * sqrt(p.variance / (double)p.n);
        set_state(r, i, &p, half);
        open += r->runners[i].state == RACE_OPEN;
    }
    return open;
}

static bool race_look(struct race *r)
{
    double *room = memory_zeroed(2 * r->rounds, sizeof(*room));
    size_t open = 0;

    if (race_count(r) > 0) {
        r->leader = find_leader(r, first_candidate(r), room);
        r->runners[r->leader] =
            (struct race_runner) { RACE_LEADS, r->runners[r->leader].rounds, 0, 0, { 0, 0 } };
        open = hold_against_leader(r, room);
    }
    free(room);
    return open == 0;
}

bool race_round(struct race *r, const double *times)
{
    if (r->rounds == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        r->logs = memory_resize(r->logs, r->capacity * (r->nr + 1), sizeof(*r->logs));
    }
    for (size_t i = 0; i < r->nr; i++) {
        bool run = r->runners[i].state != RACE_OUT && times[i] > 0;
        r->logs[r->rounds * r->nr + i] = run ? log(times[i]) : NAN;
        r->runners[i].rounds += run;
    }
    r->rounds++;
    r->decided = race_look(r);
    return r->decided;
}

const char *race_state_name(enum race_state state)
{
    static const char *const names[] = {
        [RACE_OPEN] = "open",     [RACE_LEADS] = "leads", [RACE_SLOWER] = "slower",
        [RACE_WITHIN] = "within", [RACE_OUT] = "out",
    };

    return names[state];
}
