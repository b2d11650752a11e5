/* SPDX-License-Identifier: MIT */
/*
 * Features: U-07, U-11, S0-29. How often `harness trend` is wrong over a whole history of many
 * series: any step named where nothing changed, false steps among those named, and steps found.
 */
#include "simulation.h"
#include "testing.h"

#include "base/memory.h"
#include "trend/trend.h"

#include <stdlib.h>

enum { SERIES = 50, POINTS = 60, AT = 40, PLANTED = 5 };

/* A family of series with noise of 1 %; the first `PLANTED` have a step if `step` is not 0. */
struct family {
    enum noise_kind kind;
    double serial; /* correlation of neighbouring points, AR(1) */
    double step;   /* in sd of the noise, on the log scale */
};

static void make_series(const struct family *f, bool planted, struct random *r,
                        struct series_point *points)
{
    double noise = noise_draw(r, f->kind), fresh = sqrt(1 - f->serial * f->serial);

    for (size_t i = 0; i < POINTS; i++) {
        if (i > 0)
            noise = f->serial * noise + fresh * noise_draw(r, f->kind);
        double level = planted && i >= AT ? f->step : 0;
        points[i] = (struct series_point) { .time_ms = (int64_t)i, .commit = "" };
        points[i].value = 1e5 * exp(0.01 * (level + noise));
    }
}

struct counts {
    size_t alarms;       /* families with a step where there is none */
    size_t wrong, named; /* steps */
    double share_wrong;  /* sum over the families of wrong / named */
    size_t found;        /* planted steps found within 3 points */
};

static void judge(const struct series_list *list, double step, struct counts *c)
{
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct records nothing = { 0 };
    struct trends t;
    struct error err;
    size_t wrong = 0;

    assert_ok(trends_find(list, &nothing, &settings, &t, &err), &err);
    for (size_t i = 0; i < t.nr; i++) {
        bool found = false;
        for (size_t k = 0; k < t.items[i].nr; k++) {
            const struct trend_step *s = &t.items[i].items[k];
            bool right = step != 0 && i < PLANTED && s->index + 3 >= AT && s->index <= AT + 3;
            wrong += !right;
            found |= right;
        }
        c->found += found;
    }
    c->alarms += wrong > 0;
    c->wrong += wrong;
    c->named += t.steps;
    c->share_wrong += t.steps ? (double)wrong / (double)t.steps : 0;
    trends_release(&t);
}

static struct counts run(const struct family *f, size_t families, uint64_t seed)
{
    static struct benchmark_name name;
    struct series_point *points = memory_zeroed((size_t)SERIES * POINTS, sizeof(*points));
    struct series series[SERIES];
    struct series_list list = { .items = series, .nr = SERIES };
    struct counts c = { 0 };
    struct random r;

    random_seed(&r, seed);
    for (size_t i = 0; i < families; i++) {
        for (size_t k = 0; k < SERIES; k++) {
            series[k] = (struct series) { &name, "m", points + k * POINTS, POINTS, POINTS };
            make_series(f, f->step != 0 && k < PLANTED, &r, series[k].items);
        }
        judge(&list, f->step, &c);
    }
    free(points);
    return c;
}

TEST(test_nothing_changed)
{
    static const struct family families[] = {
        { NOISE_NORMAL, 0, 0 },  { NOISE_NORMAL, 0.5, 0 }, { NOISE_LOGNORMAL, 0, 0 },
        { NOISE_BIMODAL, 0, 0 }, { NOISE_HEAVY, 0, 0 },
    };
    size_t nr = trials(150);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        struct counts c = run(&families[i], nr, 40 + i);
        char what[96];
        snprintf(what, sizeof(what), "50 series, nothing changed, %s%s: any step",
                 noise_names[families[i].kind], families[i].serial > 0 ? ", AR(1) 0.5" : "");
        assert_rate_at_most(what, c.alarms, nr, 0.05);
    }
}

TEST(test_planted)
{
    static const struct family family = { NOISE_NORMAL, 0, 4 };
    size_t nr = trials(60);
    struct counts c = run(&family, nr, 50);
    printf("5 steps of 4 sd in 50 series: %.1f %% of the steps named are false (bound 10 %%)\n",
           100 * c.share_wrong / (double)nr);
    assert_true(c.share_wrong / (double)nr <= 0.10);
    assert_rate_at_least("5 steps of 4 sd in 50 series: found within 3 points", c.found,
                         nr * PLANTED, 0.9);
}

/* A step as large as would have been told 3 times in 4 is, among all the series. */
TEST(test_could_see)
{
    enum { MEMBERS = 10, AFTER = CHANGEPOINT_DETECTABLE_AFTER };
    static const struct family quiet = { NOISE_NORMAL, 0, 0 };
    static struct series_point points[MEMBERS][POINTS];
    static const struct benchmark_name name;
    struct series series[MEMBERS];
    struct series_list list = { .items = series, .nr = MEMBERS };
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct records nothing = { 0 };
    size_t nr = trials(80), told = 0, looked = 0;
    struct random r;
    random_seed(&r, 70);
    for (size_t i = 0; i < nr; i++) {
        struct trends t;
        struct error err;
        for (size_t k = 0; k < MEMBERS; k++) {
            make_series(&quiet, false, &r, points[k]);
            series[k] = (struct series) { &name, "m", points[k], POINTS, POINTS };
        }
        assert_ok(trends_find(&list, &nothing, &settings, &t, &err), &err);
        double size = 1 + t.items[0].detectable;
        trends_release(&t);
        if (!isfinite(size)) /* a step by chance, whose level is short */
            continue;
        looked++;
        for (size_t k = POINTS - AFTER; k < POINTS; k++)
            points[0][k].value *= size;
        assert_ok(trends_find(&list, &nothing, &settings, &t, &err), &err);
        told += t.items[0].nr > 0;
        trends_release(&t);
    }
    assert_rate_at_least("a step that could be seen 3 times in 4: told", told, looked, 0.7);
    assert_rate_at_most("a step that could be seen 3 times in 4: told", told, looked, 0.85);
}

/* ---- night by night ---- */

enum { WIDTH = 12, NIGHTS = 140, UP = 40, BACK = 80, HALF = 100, PLANTED_SERIES = 7 };

/* What is planted: one step stays, one goes back, one by halves, one is about the floor of 3 %, one
 * is in noise of correlation 0.3, one in two modes, and six follow one another. */
enum planted { STAYS, GOES_BACK, BY_HALF, SMALL, SERIAL, IN_MODES, MANY };

enum {
    MANY_FROM = 34,
    MANY_EVERY = 18,
    MANY_STEPS = 6,
    PLANTED_STEPS = PLANTED_SERIES - 1 + MANY_STEPS
};

/* Levels, in per cent. */
static double planted_level(size_t series, size_t night)
{
    static const double size[] = { 5, 6, 8, 3.2, 6, 14 };

    if (series == MANY) {
        size_t steps = night < MANY_FROM ? 0 : 1 + (night - MANY_FROM) / MANY_EVERY;
        return 6.0 * (double)(steps < MANY_STEPS ? steps : MANY_STEPS);
    }
    if (series >= PLANTED_SERIES || night < UP || (series == GOES_BACK && night >= BACK))
        return 0;
    return series == BY_HALF && night >= HALF ? 4 : size[series];
}

/* The first nights at the levels of the steps of a series. */
static size_t planted_at(size_t series, size_t step)
{
    return series == MANY ? MANY_FROM + step * MANY_EVERY : UP;
}

static size_t planted_steps(size_t series)
{
    return series == MANY ? MANY_STEPS : 1;
}

/* Nothing has undone the step by then. */
static bool stands_at(size_t series, size_t night)
{
    return series != GOES_BACK || night < BACK;
}

static void draw_nights(size_t series, struct random *r, struct series_point *points)
{
    double rho = series == SERIAL ? 0.3 : 0, noise = random_normal(r);
    bool slow = false;

    for (size_t night = 0; night < NIGHTS; night++) {
        double level = 1 + planted_level(series, night) / 100;
        noise = rho * noise + sqrt(1 - rho * rho) * random_normal(r);
        slow = series == IN_MODES && slow != (random_uniform(r) < 0.33);
        points[night] = (struct series_point) {
            .time_ms = (int64_t)night,
            .commit = "",
            .value = 1e5 * level * (slow ? 1.06 : 1) * exp(0.01 * noise),
        };
    }
}

/* What the nights said of the planted steps. */
struct said {
    bool named[WIDTH][MANY_STEPS], back[WIDTH][MANY_STEPS], lost[WIDTH][MANY_STEPS];
    size_t undone; /* said to have gone back while it stands, or no longer said */
    size_t flips;  /* of the exit status from 1 to 0 */
    int status;
};

static const struct trend_step *find_planted(const struct trend *t, size_t at)
{
    for (size_t k = 0; k < t->nr; k++)
        if (t->items[k].index + 6 >= at && t->items[k].index <= at + 6)
            return &t->items[k];
    return NULL;
}

static void look(const struct trends *t, size_t night, struct said *said)
{
    for (size_t i = 0; i < PLANTED_SERIES; i++)
        for (size_t k = 0; k < planted_steps(i); k++) {
            const struct trend_step *step = find_planted(&t->items[i], planted_at(i, k));
            bool back = step && step->back;
            said->lost[i][k] |= said->named[i][k] && !step;
            said->named[i][k] = step;
            said->undone += back ? stands_at(i, night) : said->back[i][k];
            said->back[i][k] = back;
        }
    said->flips += said->status == EXIT_REGRESSION && t->exit_status != EXIT_REGRESSION;
    said->status = t->exit_status;
}

static struct said year(struct random *r)
{
    static const struct benchmark_name name;
    static struct series_point points[WIDTH][NIGHTS];
    struct series series[WIDTH];
    struct trend_settings settings = { .metric = metric_find("p50", NULL),
                                       .fdr = 0.05,
                                       .delta = 0.03 };
    struct said said = { 0 };

    for (size_t i = 0; i < WIDTH; i++)
        draw_nights(i, r, points[i]);
    for (size_t night = 20; night <= NIGHTS; night++) {
        struct series_list list = { .items = series, .nr = WIDTH };
        struct records nothing = { 0 };
        struct trends t;
        struct error err;
        for (size_t i = 0; i < WIDTH; i++)
            series[i] = (struct series) { &name, "m", points[i], night, night };
        assert_ok(trends_find(&list, &nothing, &settings, &t, &err), &err);
        look(&t, night - 1, &said);
        trends_release(&t);
    }
    return said;
}

/* What a night has named stays named while its level stands, and the status with it. */
TEST(test_nights)
{
    size_t nr = trials(4), lost = 0, undone = 0, flips = 0;
    struct random r;
    random_seed(&r, 60);
    for (size_t i = 0; i < nr; i++) {
        struct said said = year(&r);
        for (size_t k = 0; k < PLANTED_SERIES; k++)
            for (size_t n = 0; n < planted_steps(k); n++)
                lost += said.lost[k][n];
        undone += said.undone > 0;
        flips += said.flips;
    }
    printf(
        "%zu histories of %d nights, %d steps among %d series: %zu steps lost that stand, in "
        "%zu histories one was said wrongly to have gone back, %zu times the status fell\n",
        nr, NIGHTS, PLANTED_STEPS, WIDTH, lost, undone, flips);
    assert_int_equal(lost, 0);
    assert_int_equal(undone, 0);
    assert_int_equal(flips, 0);
}

/* Was it told, and did a later night take it back though it stood, for good or for some nights? The
 * last night tells of all (test_prefixes_agree in test_changepoint.c). */
static void count_lost(const struct trend *t, size_t at, size_t *told, size_t *lost)
{
    const struct trend_step *step = find_planted(t, at);
    bool was_lost = false, was_told = step != NULL;

    for (size_t k = 0; k < t->withdrawn.nr; k++) {
        const struct trend_withdrawn *p = &t->withdrawn.items[k];
        if (p->index + 6 < at || p->index > at + 6 || p->gone <= at)
            continue;
        was_told = true;
        was_lost |= !step || step->told > p->gone;
    }
    *told += was_told;
    *lost += was_lost;
}

TEST(test_memory)
{
    static const struct benchmark_name name;
    static struct series_point points[WIDTH][NIGHTS];
    struct series series[WIDTH];
    struct series_list list = { .items = series, .nr = WIDTH };
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct records nothing = { 0 };
    size_t nr = trials(60), told = 0, lost = 0;
    struct random r;
    random_seed(&r, 61);
    for (size_t i = 0; i < nr; i++) {
        struct trends t;
        struct error err;
        for (size_t k = 0; k < WIDTH; k++) {
            draw_nights(k, &r, points[k]);
            series[k] = (struct series) { &name, "m", points[k], NIGHTS, NIGHTS };
        }
        assert_ok(trends_find(&list, &nothing, &settings, &t, &err), &err);
        for (size_t k = 0; k < PLANTED_SERIES; k++)
            for (size_t n = 0; n < planted_steps(k); n++)
                count_lost(&t.items[k], planted_at(k, n), &told, &lost);
        trends_release(&t);
    }
    assert_rate_at_least("planted steps, 3.2 to 14 sd: told in any night", told, nr * PLANTED_STEPS,
                         0.9);
    assert_seen_at_most("... lost while they stand", lost, told, 0.01);
}

/* ---- the sixth step as the first ---- */

enum { LATE_NIGHTS = 400, LATE_STEPS = 6, LATE_SERIES = 60, LATE_EVERY = LATE_NIGHTS / 7 };
enum { SHORT_NIGHTS = 12 };

/* Up and down by `size` sd, at random. */
static void make_late(double size, struct random *r, struct series_point *points)
{
    double level = 0;

    for (size_t i = 0; i < LATE_NIGHTS; i++) {
        if (i && i % LATE_EVERY == 0 && i / LATE_EVERY <= LATE_STEPS)
            level += random_uniform(r) < 0.5 ? size : -size;
        points[i] = (struct series_point) { .time_ms = (int64_t)i, .commit = "" };
        points[i].value = 1e5 * exp(0.01 * (level + random_normal(r)));
    }
}

/* Which of them the nights had told a dozen nights later. */
static void count_late(const struct series_list *list, size_t told[LATE_STEPS])
{
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct records nothing = { 0 };
    struct trends t;
    struct error err;

    assert_ok(trends_find(list, &nothing, &settings, &t, &err), &err);
    for (size_t i = 0; i < t.items[0].nr; i++) {
        const struct trend_step *s = &t.items[0].items[i];
        size_t step = (s->index + LATE_EVERY / 2) / LATE_EVERY, at = step * LATE_EVERY;
        if (step && step <= LATE_STEPS && s->index + 3 >= at && s->index <= at + 3)
            told[step - 1] += s->told <= at + 12;
    }
    trends_release(&t);
}

/* The others of the family are long enough to count, and do not move: they help with nothing. */
static void count_late_steps(double size, size_t histories, size_t told[LATE_STEPS])
{
    static const struct benchmark_name name;
    static struct series_point points[LATE_SERIES][LATE_NIGHTS];
    struct series series[LATE_SERIES];
    struct series_list list = { .items = series, .nr = LATE_SERIES };
    struct random r;

    random_seed(&r, 80 + (uint64_t)size);
    for (size_t k = 1; k < LATE_SERIES; k++)
        for (size_t i = 0; i < SHORT_NIGHTS; i++)
            points[k][i] =
                (struct series_point) { .time_ms = (int64_t)i, .commit = "", .value = 1e5 };
    for (size_t i = 0; i < histories; i++) {
        make_late(size, &r, points[0]);
        for (size_t k = 0; k < LATE_SERIES; k++) {
            size_t nights = k ? SHORT_NIGHTS : LATE_NIGHTS;
            series[k] = (struct series) { &name, "m", points[k], nights, nights };
        }
        count_late(&list, told);
    }
}

/* However many steps there were, the next one is told as soon. */
TEST(test_late_steps)
{
    static const struct {
        double size, least;
    } rows[] = { { 3, 0.65 }, { 4, 0.9 }, { 6, 0.95 } };
    size_t histories = trials(120);
    char what[96];
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        size_t told[LATE_STEPS] = { 0 };
        count_late_steps(rows[k].size, histories, told);
        for (size_t i = 0; i < LATE_STEPS; i++) {
            snprintf(what, sizeof(what), "60 series, step %zu of 6, %g sd: told within 12 nights",
                     i + 1, rows[k].size);
            assert_rate_at_least(what, told[i], histories, rows[k].least);
        }
        struct interval first = stats_proportion_interval(told[0], histories, 0.998);
        struct interval last = stats_proportion_interval(told[LATE_STEPS - 1], histories, 0.998);
        assert_true(last.high >= first.low - 0.05);
    }
}

/* ---- what a family of 60 waits, and what it calls in a year ---- */

enum { FAMILY = 60, FAMILY_NIGHTS = 120, FAMILY_AT = 60, FAMILY_YEAR = 365 };

/* When the only step of 60 series is told. */
TEST(test_family_delay)
{
    static const double sizes[] = { 2, 3, 5 }, floors[] = { 0.75, 0.95, 0.98 };
    static const struct benchmark_name name;
    static struct series_point points[FAMILY][FAMILY_NIGHTS];
    struct series series[FAMILY];
    struct series_list list = { .items = series, .nr = FAMILY };
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct records nothing = { 0 };
    size_t histories = trials(40);
    for (size_t s = 0; s < 3; s++) {
        size_t delay = 0, told = 0, by_8 = 0;
        struct random r;
        random_seed(&r, 90 + s);
        for (size_t i = 0; i < histories; i++) {
            struct trends t;
            struct error err;
            for (size_t k = 0; k < FAMILY; k++) {
                for (size_t night = 0; night < FAMILY_NIGHTS; night++) {
                    double level = k == 0 && night >= FAMILY_AT ? sizes[s] : 0;
                    points[k][night] =
                        (struct series_point) { .time_ms = (int64_t)night,
                                                .commit = "",
                                                .value =
                                                    1e5 * exp(0.01 * (level + random_normal(&r))) };
                }
                series[k] = (struct series) { &name, "m", points[k], FAMILY_NIGHTS, FAMILY_NIGHTS };
            }
            assert_ok(trends_find(&list, &nothing, &settings, &t, &err), &err);
            const struct trend_step *step = find_planted(&t.items[0], FAMILY_AT);
            told += step != NULL;
            by_8 += step && step->told <= FAMILY_AT + 8;
            delay += (step ? step->told : FAMILY_NIGHTS) - FAMILY_AT;
            trends_release(&t);
        }
        printf(
            "60 series, one step of %g sd after %d nights: told in %zu of %zu, %zu within 8 "
            "nights, after %.1f in the mean\n",
            sizes[s], FAMILY_AT, told, histories, by_8, (double)delay / (double)histories);
        assert_rate_at_least("... told within 60 nights", told, histories, floors[s]);
    }
}

/* Every step that any night told is there, or is told to be withdrawn. */
TEST(test_quiet_year)
{
    static const struct benchmark_name name;
    static struct series_point points[FAMILY][FAMILY_YEAR];
    struct series series[FAMILY];
    struct series_list list = { .items = series, .nr = FAMILY };
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct records nothing = { 0 };
    size_t years = trials(60), alarms = 0;
    struct random r;
    random_seed(&r, 99);
    for (size_t i = 0; i < years; i++) {
        struct trends t;
        struct error err;
        for (size_t k = 0; k < FAMILY; k++) {
            for (size_t night = 0; night < FAMILY_YEAR; night++)
                points[k][night] =
                    (struct series_point) { .time_ms = (int64_t)night,
                                            .commit = "",
                                            .value = 1e5 * exp(0.01 * random_normal(&r)) };
            series[k] = (struct series) { &name, "m", points[k], FAMILY_YEAR, FAMILY_YEAR };
        }
        assert_ok(trends_find(&list, &nothing, &settings, &t, &err), &err);
        alarms += t.steps + t.withdrawn > 0;
        trends_release(&t);
    }
    assert_seen_at_most("60 unchanged series, a year: any step told in any night", alarms, years,
                        0.05);
}

RUN_TESTS(NULL, NULL)
