/* SPDX-License-Identifier: MIT */
/* Features: U-12. Change points on series with known answers; statistics_changes.c has the rates.
 */
#include "testing.h"

#include "base/file.h"
#include "base/json.h"
#include "stats/random.h"
#include "trend/changepoint_parts.h"

#include <dirent.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 10000 };

static struct changes find(const double *x, size_t n)
{
    static const struct changepoint_settings settings = CHANGEPOINT_DEFAULTS;
    struct changes c;
    struct error err;

    assert_int_equal(changes_find(x, n, &settings, &c, &err), 0);
    return c;
}

static size_t only_step(const struct changes *c)
{
    assert_int_equal(c->nr, 1);
    const struct changepoint *s = &c->items[0];
    assert_true(s->low <= s->index && s->index <= s->high);
    assert_true(s->change.low <= s->after - s->before && s->after - s->before <= s->change.high);
    assert_true(s->p > 0 && s->p <= 0.05);
    assert_true(c->p <= s->p);
    return s->index;
}

static void assert_quiet(const double *x, size_t n)
{
    struct changes c = find(x, n);
    assert_int_equal(c.nr, 0);
    changes_release(&c);
}

static bool near_label(const cJSON *labels, size_t index)
{
    const cJSON *label;

    cJSON_ArrayForEach(label,
                       labels) if (fabs(label->valuedouble - (double)index) <= 3) return true;
    return false;
}

static void check_labelled(const char *path)
{
    struct error err;
    cJSON *json = json_parse_file(path, FILE_RECORDS_MOST, &err);
    assert_non_null(json);
    const cJSON *values = cJSON_GetObjectItem(json, "values"), *value;
    const cJSON *label = cJSON_GetObjectItem(json, "label");
    const cJSON *expected = cJSON_GetObjectItem(label, "change_points");
    double x[512];
    size_t n = 0;
    cJSON_ArrayForEach(value, values)
    {
        assert_true(n < 512);
        x[n++] = value->valuedouble;
    }
    struct changes c = find(x, n);
    if (c.nr != (size_t)cJSON_GetArraySize(expected))
        fail_msg("%s: %zu steps, not %d", path, c.nr, cJSON_GetArraySize(expected));
    for (size_t i = 0; i < c.nr; i++)
        if (!near_label(expected, c.items[i].index))
            fail_msg("%s: a step at %zu", path, c.items[i].index);
    if (strstr(json_string(label, "note", ""), "slow drift"))
        assert_true(c.drift.found && fabs(c.drift.per_point - 0.1) < 1e-9);
    changes_release(&c);
    cJSON_Delete(json);
}

TEST(test_labelled_series)
{
    static const char folder[] = HARNESS_SOURCE_DIR "/tests/fixtures/series";
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    char path[4096];
    int nr = 0;
    assert_non_null(dir);
    while ((entry = readdir(dir)))
        if (strstr(entry->d_name, ".json")) {
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            check_labelled(path);
            nr++;
        }
    closedir(dir);
    assert_int_equal(nr, 15);
}

TEST(test_steps_without_noise)
{
    static const size_t lengths[] = { 11, 24, 100, 3000, LONGEST };
    static double x[LONGEST];
    for (size_t k = 0; k < sizeof(lengths) / sizeof(*lengths); k++) {
        size_t n = lengths[k], at = n / 2;
        for (size_t i = 0; i < n; i++)
            x[i] = i < at ? 0.1 : 0.3;
        struct changes c = find(x, n);
        assert_int_equal(only_step(&c), at);
        assert_int_equal(c.items[0].low, at);
        assert_int_equal(c.items[0].high, at);
        assert_true(c.items[0].before == 0.1 && c.items[0].after == 0.3);
        assert_true(c.noise == 0 && !c.drift.found);
        changes_release(&c);
    }
}

TEST(test_several_steps)
{
    static const size_t steps[] = { 600, 1100, 1500, 2400 };
    static const double levels[] = { 1, 3, 2, 2.5, 1.25 };
    static double x[3000];
    for (size_t i = 0, level = 0; i < 3000; i++) {
        while (level < 4 && i >= steps[level])
            level++;
        x[i] = levels[level];
    }
    struct changes c = find(x, 3000);
    assert_int_equal(c.nr, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(c.items[i].index, steps[i]);
        assert_true(c.items[i].before == levels[i] && c.items[i].after == levels[i + 1]);
    }
    changes_release(&c);
}

/* Levels that come near each other by chance are no recurring modes. */
TEST(test_many_steps)
{
    struct random r;
    static double x[3000];
    size_t found = 0;
    random_seed(&r, 2);
    for (size_t i = 0; i < 3000; i++)
        x[i] = fmod(7.3 * floor((double)i / 100) + 0.5, 5) + 0.05 * random_normal(&r);
    struct changes c = find(x, 3000);
    for (size_t i = 0; i < c.nr; i++) {
        assert_true((c.items[i].index + 3) % 100 <= 6);
        found++;
    }
    assert_true(found >= 27 && found <= 29);
    changes_release(&c);
}

TEST(test_up_and_down)
{
    struct random r;
    double x[120];
    random_seed(&r, 5);
    for (size_t i = 0; i < 120; i++)
        x[i] = 10 + 0.1 * random_normal(&r) + (i >= 50 && i < 65 ? 1 : 0);
    struct changes c = find(x, 120);
    assert_int_equal(c.nr, 2);
    assert_int_equal(c.items[0].index, 50);
    assert_int_equal(c.items[1].index, 65);
    assert_true(fabs(c.items[0].after - 11) < 0.1 && fabs(c.items[1].after - 10) < 0.1);
    assert_true(c.noise > 0.07 && c.noise < 0.13);
    changes_release(&c);
}

TEST(test_spikes_are_no_steps)
{
    double x[60];
    for (size_t i = 0; i < 60; i++)
        x[i] = i == 20 || i == 21 || i == 45 ? 15 : 1;
    assert_quiet(x, 60);
    x[59] = 50;
    assert_quiet(x, 60);
    for (size_t i = 30; i < 60; i++)
        x[i] += 1; /* a true step among them */
    struct changes c = find(x, 60);
    assert_int_equal(only_step(&c), 30);
    changes_release(&c);
}

TEST(test_gradual_changes_are_no_steps)
{
    static double x[1000];
    for (size_t i = 0; i < 1000; i++)
        x[i] = 0.2 * cos((double)i / 100);
    assert_quiet(x, 1000);
    for (size_t i = 500; i < 1000; i++)
        x[i] += 1; /* and a step on top is one */
    struct changes c = find(x, 1000);
    assert_int_equal(only_step(&c), 500);
    changes_release(&c);
    for (size_t i = 0; i < 100; i++)
        x[i] = i < 40 ? 1 : i < 60 ? 1 + (double)(i - 40) / 20 : 2;
    assert_quiet(x, 100);
}

TEST(test_ramp_is_drift)
{
    static double x[1000];
    for (size_t n = 24; n <= 1000; n = 3 * n + 7) {
        for (size_t i = 0; i < n; i++)
            x[i] = 7 - 0.25 * (double)i;
        struct changes c = find(x, n);
        assert_int_equal(c.nr, 0);
        assert_true(c.drift.found && fabs(c.drift.per_point + 0.25) < 1e-12);
        assert_true(fabs(c.drift.total + 0.25 * (double)(n - 1)) < 1e-9);
        assert_true(c.drift.slope.low <= -0.25 && c.drift.slope.high >= -0.25 - 1e-12);
        changes_release(&c);
    }
}

TEST(test_step_on_a_drift)
{
    struct random r;
    double x[100];
    random_seed(&r, 3);
    for (size_t i = 0; i < 100; i++)
        x[i] = 0.05 * (double)i + random_normal(&r) + (i >= 60 ? 6 : 0);
    struct changes c = find(x, 100);
    assert_int_equal(only_step(&c), 60);
    assert_true(c.drift.found && c.drift.slope.low < 0.05 && c.drift.slope.high > 0.05);
    assert_true(c.items[0].change.low < 6 && c.items[0].change.high > 6);
    /* The levels are those of the data where the step is. */
    assert_close(c.items[0].before, 0.05 * 59.5, 1);
    assert_close(c.items[0].after, 0.05 * 59.5 + 6, 1);
    changes_release(&c);
}

/* Two modes that last for some nights each, and come back. */
TEST(test_recurring_modes_are_no_steps)
{
    static const size_t stays[] = { 11, 4, 17, 8, 22, 6, 13, 9, 3, 15, 12 };
    struct random r;
    double x[120];
    random_seed(&r, 9);
    for (size_t k = 0, i = 0; k < sizeof(stays) / sizeof(*stays); k++)
        for (size_t t = 0; t < stays[k]; t++, i++)
            x[i] = (k % 2 ? 25 : 13) + 0.2 * random_normal(&r);
    assert_quiet(x, 120);
    for (size_t i = 60; i < 120; i++)
        x[i] += 30; /* both modes move */
    struct changes c = find(x, 120);
    assert_int_equal(only_step(&c), 60);
    changes_release(&c);
}

TEST(test_degenerate_series)
{
    double x[40];
    for (size_t i = 0; i < 40; i++)
        x[i] = 5;
    for (size_t n = 0; n <= 40; n++) {
        struct changes c = find(x, n);
        assert_int_equal(c.nr, 0);
        assert_true(!c.drift.found && c.noise == 0 && c.correlation == 0 && c.p == 1);
        changes_release(&c);
    }
    for (size_t i = 0; i < 40; i++)
        x[i] = i % 2 ? 2 : 1;
    assert_quiet(x, 40);
    for (size_t i = 0; i < 9; i++)
        x[i] = i < 5 ? 1 : 100;
    assert_quiet(x, 9); /* no room for two levels of five */
}

/* The unit of the series does not matter, not even where squares would overflow. */
TEST(test_any_unit)
{
    static const double units[] = { 1e-300, 1e-9, -1, 3e7, 1e307 };
    struct random r;
    double x[80], y[80];
    random_seed(&r, 4);
    for (size_t i = 0; i < 80; i++)
        x[i] = 2 + 0.1 * random_normal(&r) + (i >= 47 ? 0.5 : 0);
    struct changes c = find(x, 80);
    size_t at = only_step(&c);
    for (size_t k = 0; k < sizeof(units) / sizeof(*units); k++) {
        for (size_t i = 0; i < 80; i++)
            y[i] = x[i] * units[k];
        struct changes d = find(y, 80);
        assert_int_equal(only_step(&d), at);
        assert_true(fabs(d.items[0].after / units[k] / c.items[0].after - 1) < 1e-9);
        assert_true(fabs(d.noise / fabs(units[k]) / c.noise - 1) < 1e-9);
        assert_true(fabs(d.items[0].p / c.items[0].p - 1) < 1e-6);
        changes_release(&d);
    }
    changes_release(&c);
}

TEST(test_quantised_values)
{
    struct random r;
    double x[200];
    random_seed(&r, 8);
    for (size_t i = 0; i < 200; i++)
        x[i] = round(20 + 0.6 * random_normal(&r));
    assert_quiet(x, 200);
    for (size_t i = 120; i < 200; i++)
        x[i] += 2;
    struct changes c = find(x, 200);
    assert_int_equal(only_step(&c), 120);
    assert_true(c.items[0].before == 20 && c.items[0].after == 22);
    changes_release(&c);
}

/* Where no two points change places the tail is known: 2 / (n over k), and a split's share of the
 * chance is 1 over its smaller side. */
TEST(test_ranks_that_do_not_mix)
{
    static const struct {
        size_t n, after;
        double ways; /* n over after */
    } cases[] = { { 40, 5, 658008 }, { 40, 8, 76904685 }, { 60, 8, 2558620845 } };
    double x[60], ranks[60];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t n = cases[i].n, after = cases[i].after;
        double shares = 0;
        for (size_t k = 5; k + 5 <= n; k++)
            shares += 1 / fmin((double)k, (double)(n - k));
        for (size_t t = 0; t < n; t++) /* an arch, so that no earlier split is clearer */
            x[t] = t + after < n ? -fabs((double)t - 0.5 * (double)(n - after))
                                 : 100 + sin(2.5 * (double)t);
        size_t *order = scan_order(x, n);
        struct scan scan = scan_ranks(x, order, n, 5, ranks);
        free(order);
        double expected = 2 / cases[i].ways * shares * (double)after;
        assert_int_equal(scan.index, n - after);
        assert_true(fabs(scan.p / expected - 1) < 1e-3);
    }
}

/* The points before a large step are not taken for its own, whatever they happen to be. */
TEST(test_place_of_a_large_step)
{
    struct random r;
    double x[60];
    random_seed(&r, 21);
    for (size_t size = 10; size <= 1000; size *= 10) {
        for (size_t t = 0; t < 60; t++) /* what comes before the step is high by itself */
            x[t] = 0.5 * random_normal(&r) + (t >= 48 && t < 52 ? 1.5 : 0) +
                   (t >= 52 ? (double)size : 0);
        struct changes c = find(x, 60);
        assert_true(c.nr > 0); /* what comes before the step may be one too */
        assert_int_equal(c.items[c.nr - 1].index, 52);
        assert_true(c.items[c.nr - 1].p < 1e-4);
        changes_release(&c);
    }
}

/* A level that ends in a clear ramp went gradually, in short series too. */
TEST(test_short_late_ramp)
{
    struct random r;
    double x[30];
    size_t steps = 0;
    random_seed(&r, 12);
    for (int i = 0; i < 40; i++) {
        for (size_t t = 0; t < 30; t++)
            x[t] = 0.2 * random_normal(&r) + 2 * fmax(0, (double)t / 30 - 0.6) / 0.4;
        struct changes c = find(x, 30);
        steps += c.nr > 0;
        changes_release(&c);
    }
    assert_true(steps <= 3);
}

static void check_order(struct windows *ws, size_t length)
{
    size_t *sorted = scan_order(ws->x + ws->night - length, length);
    size_t least = length > WINDOW_LOOKS ? length : WINDOW_LOOKS;

    assert_memory_equal(windows_order(ws, length), sorted, length * sizeof(*sorted));
    assert_true(windows_newest(ws, length)->nr <= 2 * least);
    free(sorted);
}

/* A window's order is that of its points alone, and takes time by their number, however many came
 * before: it is taken out of at most twice as many. */
TEST(test_order_of_windows)
{
    enum { POINTS = 3000, ROUNDS = 3 };
    static const size_t lengths[] = { 10, 113, 127, 128, 129, 320, 640, 1280, POINTS };
    static const struct changepoint_settings settings = CHANGEPOINT_DEFAULTS;
    static double x[POINTS];
    const struct cut_list cuts = { 0 };
    struct windows ws;
    struct random r;
    random_seed(&r, 23);
    windows_init(&ws, POINTS, &settings, &cuts);
    ws.x = x;
    for (uint64_t rarely = 1; rarely <= ROUNDS; rarely++) {
        for (size_t i = 0; i < POINTS; i++) /* many are equal */
            x[i] = round(3 * random_normal(&r));
        windows_restart(&ws);
        for (ws.night = 1; ws.night <= POINTS; ws.night += 1 + random_below(&r, 60))
            for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
                if (random_below(&r, rarely) == 0)
                    check_order(&ws, lengths[i] < ws.night ? lengths[i] : ws.night);
    }
    windows_release(&ws);
}

/* ---- night by night ---- */

enum { NIGHTS = 180, FIRST_NIGHT = 20, STEPS_MOST = 64 };

/* Two modes, with the chance `jumps` of a switch each night, and the higher one all through `stay`
 * nights from `from` on. */
static void draw_modes(struct random *r, double *x, size_t n, double jumps, size_t from,
                       size_t stay)
{
    bool high = false;

    for (size_t i = 0; i < n; i++) {
        bool stays = i >= from && i < from + stay;
        high = stays || (high != (random_uniform(r) < jumps));
        x[i] = (high ? 25 : 13) + 0.5 * random_normal(r);
    }
}

static void draw_correlated(struct random *r, double *x, double rho)
{
    double value = random_normal(r);

    for (size_t i = 0; i < NIGHTS; i++) {
        x[i] = value;
        value = rho * value + sqrt(1 - rho * rho) * random_normal(r);
    }
}

static void draw_levels(struct random *r, double *x, const double *levels, size_t nr)
{
    draw_correlated(r, x, 0);
    for (size_t i = 0; i < NIGHTS; i++)
        x[i] += levels[i * nr / NIGHTS];
}

static void draw_ramp_from(struct random *r, double *x, size_t from, double size)
{
    draw_correlated(r, x, 0);
    for (size_t i = from; i < NIGHTS; i++)
        x[i] += size * (double)(i - from) / (double)(NIGHTS - from);
}

static const char *const history_names[] = {
    "a step",
    "steps there and back",
    "six steps",
    "AR(1) 0.5",
    "AR(1) 0.9",
    "AR(1) 0.97",
    "a ramp",
    "a late ramp",
    "a steep late ramp",
    "a wave",
    "modes of 5 nights",
    "modes of 3 nights and a long stay",
    "modes of 10 nights and a long stay",
    "modes that move",
};

enum { HISTORIES = sizeof(history_names) / sizeof(*history_names) };

static void draw_history(size_t kind, struct random *r, double *x)
{
    static const double step[] = { 0, 2.5 }, back[] = { 0, 4, 0 };
    static const double six[] = { 0, 4, 8, 4, 0, -4, 0 };
    static const double serial[] = { 0.5, 0.9, 0.97 }, jumps[] = { 0.2, 0.33, 0.1, 0.33 };

    if (kind < 3)
        draw_levels(r, x, kind == 0 ? step : kind == 1 ? back : six, kind == 0 ? 2 : kind * 4 - 1);
    else if (kind < 6)
        draw_correlated(r, x, serial[kind - 3]);
    else if (kind < 9)
        draw_ramp_from(r, x, kind == 6 ? 0 : 90, kind == 8 ? 12 : 6);
    else if (kind == 9)
        draw_correlated(r, x, 0);
    else
        draw_modes(r, x, NIGHTS, jumps[kind - 10], 100, kind == 11 || kind == 12 ? 60 : 0);
    for (size_t i = 0; i < NIGHTS; i++)
        x[i] += kind == 9 ? 2 * cos((double)i * 0.11) : kind == 13 && i >= 100 ? 20 : 0;
}

/* With how many points each step was named, that is named or was. */
struct told {
    size_t named[STEPS_MOST], nr;
};

static void add_told(struct told *t, size_t named)
{
    assert_true(t->nr < STEPS_MOST);
    t->named[t->nr++] = named;
}

/* False where there is none. */
static bool take_told(struct told *t, size_t named)
{
    for (size_t i = 0; i < t->nr; i++)
        if (t->named[i] == named) {
            t->named[i] = t->named[--t->nr];
            return true;
        }
    return false;
}

struct night {
    struct told all, gone;
};

/* What was told stays told, with the night in which it was named, or is told to be gone; what is
 * new is so since this night. */
static void check_night(const char *what, size_t night, const struct changes *c, struct night *last)
{
    struct night now = { 0 };

    for (size_t i = 0; i < c->nr; i++) {
        add_told(&now.all, c->items[i].named);
        assert_true(i == 0 || c->items[i].index > c->items[i - 1].index);
    }
    for (size_t i = 0; i < c->withdrawn.nr; i++) {
        const struct withdrawn_step *past = &c->withdrawn.items[i];
        add_told(&now.all, past->named);
        add_told(&now.gone, past->named);
        if (night > FIRST_NIGHT && !take_told(&last->gone, past->named) && past->gone != night)
            fail_msg("%s: night %zu tells of an end with %zu points for the first time", what,
                     night, past->gone);
    }
    struct told fresh = now.all;
    for (size_t i = 0; i < last->all.nr; i++)
        if (!take_told(&fresh, last->all.named[i]))
            fail_msg("%s: night %zu forgot the step named with %zu points", what, night,
                     last->all.named[i]);
    for (size_t i = 0; i < fresh.nr; i++)
        if (night > FIRST_NIGHT && fresh.named[i] != night)
            fail_msg("%s: night %zu says at first that a step was named with %zu points", what,
                     night, fresh.named[i]);
    *last = now;
}

/* One pass over a history says what a job said that ran in each of its nights. */
TEST(test_prefixes_agree)
{
    double x[NIGHTS];
    size_t named = 0, gone = 0;
    for (size_t kind = 0; kind < HISTORIES; kind++) {
        struct night last = { 0 };
        struct random r;
        random_seed(&r, 60 + kind);
        draw_history(kind, &r, x);
        for (size_t night = FIRST_NIGHT; night <= NIGHTS; night++) {
            struct changes c = find(x, night);
            check_night(history_names[kind], night, &c, &last);
            changes_release(&c);
        }
        named += last.all.nr;
        gone += last.gone.nr;
    }
    assert_true(named >= 12 && gone >= 4); /* else this test says little */
}

/* A stay in one mode that outlasts those before it is a level; its end is a step, too. */
TEST(test_a_long_stay_is_a_level)
{
    enum { POINTS = 260, FROM = 130, STAY = 70 };
    double x[POINTS];
    size_t named = 0;
    struct random r;
    random_seed(&r, 85); /* one in which the modes had looked like a step before */
    draw_modes(&r, x, POINTS, 0.33, FROM, STAY);
    for (size_t night = FROM; night <= POINTS; night++) {
        struct changes c = find(x, night);
        named = named ? named : c.nr ? night : 0;
        if (named) {
            assert_int_equal(c.nr, night < FROM + STAY + 5 ? 1 : 2);
            assert_true(c.items[0].named == named && c.modes.visits > 0);
            assert_in_range(c.items[0].index, FROM - 2, FROM + 2);
            assert_true(c.nr < 2 || c.items[1].index == FROM + STAY);
        }
        changes_release(&c);
    }
    assert_in_range(named, FROM + 10, FROM + 50);
}

/* Steps 4 and 5 sd high, and a ramp behind them: that it is no step comes out as after few. */
TEST(test_a_ramp_after_many_steps)
{
    enum { LENGTH = 300, SERIES = 25, LAST_STEP = 140, RAMP = 180 };
    size_t standing = 0, seen = 0, left = 0;
    double x[LENGTH];
    struct random r;
    random_seed(&r, 77);
    for (size_t k = 0; k < SERIES; k++) {
        double level = 0;
        for (size_t i = 0; i < LENGTH; i++) {
            if (i && i <= LAST_STEP && i % 35 == 0)
                level += random_uniform(&r) < 0.5 ? 5 : -5;
            x[i] = level + random_normal(&r) + (i > RAMP ? 8 * (double)(i - RAMP) / 120 : 0);
        }
        struct changes c = find(x, LENGTH);
        size_t after = 0, past = 0;
        for (size_t i = 0; i < c.nr; i++)
            after += c.items[i].index > LAST_STEP + 5;
        for (size_t i = 0; i < c.withdrawn.nr; i++)
            past += c.withdrawn.items[i].index > LAST_STEP + 5;
        standing += c.nr - after;
        seen += after + past > 0;
        left += after > 0;
        changes_release(&c);
    }
    assert_true(standing >= 4 * SERIES - 3);
    assert_true(seen >= 6); /* else this test says nothing */
    assert_true(3 * left <= seen);
}

TEST(test_settings)
{
    struct changepoint_settings settings = { .level = 0.05, .min_segment = 12 };
    struct changes c;
    struct error err;
    double x[40];
    for (size_t i = 0; i < 40; i++)
        x[i] = i < 32 ? 1 : 2;
    assert_int_equal(changes_find(x, 40, &settings, &c, &err), 0);
    for (size_t i = 0; i < c.nr; i++)
        assert_true(c.items[i].index >= 12 && c.items[i].index <= 28);
    changes_release(&c);
    settings = (struct changepoint_settings) { .level = 1e-6, .min_segment = 5 };
    assert_int_equal(changes_find(x + 26, 12, &settings, &c, &err), 0);
    assert_int_equal(c.nr, 0); /* 12 points cannot say so much */
    assert_true(c.p > 1e-6 && c.p < 0.05);
    changes_release(&c);
}

TEST(test_refusals)
{
    struct changepoint_settings settings = CHANGEPOINT_DEFAULTS;
    double x[] = { 1, 2, NAN, INFINITY };
    struct changes c;
    struct error err;
    assert_int_equal(changes_find(x, 4, &settings, &c, &err), -1);
    assert_string_equal(err.message, "point 2 of the series is not a finite number");
    assert_int_equal(c.nr, 0);
    settings.level = 0.5;
    assert_int_equal(changes_find(x, 2, &settings, &c, &err), -1);
    settings = (struct changepoint_settings) { .level = 0.05, .min_segment = 0 };
    assert_int_equal(changes_find(x, 2, &settings, &c, &err), -1);
}

RUN_TESTS(NULL, NULL)
