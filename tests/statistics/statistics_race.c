/* SPDX-License-Identifier: MIT */
/*
 * Races of settings (stats/race.h) on scripted times: how often the winner is more than the
 * tolerance slower than the best, how often the same landscape gives a winner within 1 % of the
 * best, and what a race costs beside trying all.
 *
 * "Trying all" is a plan with a fixed number of rounds for every setting, that which makes the same
 * promise: each setting told from the best to within the tolerance, nine times in ten.
 */
#include "simulation.h"
#include "stats/race.h"
#include "testing.h"

#include <math.h>

enum { MOST = 512, ROUNDS_MAX = 200 };

struct landscape {
    const char *name;
    size_t nr;
    double spread; /* of settings behind the best, on average */
    double noise;  /* sd of a setting in a round */
    double common; /* sd of a round, all settings alike */
    enum noise_kind kind;
    bool flat;     /* all but one are equal, and that one is `spread` faster */
    double lasts;  /* correlation of a setting's noise with that in the round before */
    size_t rounds; /* at most */
};

static const struct landscape landscapes[] = {
    { "a quiet machine", 24, 0.30, 0.007, 0.02, NOISE_NORMAL, false, 0, ROUNDS_MAX },
    { "a usual machine", 24, 0.30, 0.010, 0.02, NOISE_NORMAL, false, 0, ROUNDS_MAX },
    { "skewed noise", 24, 0.30, 0.010, 0.02, NOISE_LOGNORMAL, false, 0, ROUNDS_MAX },
    { "heavy tails", 24, 0.30, 0.010, 0.02, NOISE_HEAVY, false, 0, ROUNDS_MAX },
    { "two modes", 24, 0.30, 0.010, 0.02, NOISE_BIMODAL, false, 0, ROUNDS_MAX },
    { "many settings", 64, 0.30, 0.010, 0.02, NOISE_NORMAL, false, 0, ROUNDS_MAX },
    { "few settings", 9, 0.30, 0.010, 0.02, NOISE_NORMAL, false, 0, ROUNDS_MAX },
    { "settings alike", 24, 0.05, 0.010, 0.02, NOISE_NORMAL, false, 0, ROUNDS_MAX },
};

/* Where an error is likeliest: one is just above the tolerance faster than all others, which are
 * equal; and where nothing is faster at all. */
static const struct landscape flats[] = {
    { "one is faster", 24, 0.0102, 0.010, 0.02, NOISE_NORMAL, true, 0, ROUNDS_MAX },
    { "one is faster, skewed", 24, 0.0102, 0.010, 0.02, NOISE_LOGNORMAL, true, 0, ROUNDS_MAX },
    { "one is faster, heavy tails", 24, 0.0102, 0.010, 0.02, NOISE_HEAVY, true, 0, ROUNDS_MAX },
    { "one is faster, two modes", 24, 0.0102, 0.010, 0.02, NOISE_BIMODAL, true, 0, ROUNDS_MAX },
    { "one of four is faster", 4, 0.0102, 0.010, 0.02, NOISE_NORMAL, true, 0, ROUNDS_MAX },
    { "one of two is faster", 2, 0.0102, 0.010, 0.02, NOISE_NORMAL, true, 0, ROUNDS_MAX },
    { "one of two, two modes", 2, 0.0102, 0.010, 0.02, NOISE_BIMODAL, true, 0, ROUNDS_MAX },
};

/* What docs/tuning.md says of races beyond the promise: noise that is not independent from round to
 * round, as where a neighbour is in the way of large blocks for some minutes; and more settings
 * than the rounds of `harness tune` are enough for. */
static const struct landscape lasting = {
    .name = "noise that lasts",
    .nr = 15,
    .spread = 0.0102,
    .noise = 0.010,
    .common = 0.02,
    .kind = NOISE_NORMAL,
    .flat = true,
    .lasts = 0.6,
    .rounds = ROUNDS_MAX,
};
static const struct landscape crowded = {
    .name = "500 settings, 40 rounds",
    .nr = 500,
    .spread = 0.30,
    .noise = 0.010,
    .common = 0.02,
    .kind = NOISE_NORMAL,
    .rounds = 40,
};

static void draw_truth(const struct landscape *l, struct random *r, double *truth)
{
    for (size_t i = 0; i < l->nr; i++)
        truth[i] = l->flat ? 1 : 1 - l->spread * log(1 - random_uniform(r));
    if (l->flat)
        truth[random_below(r, l->nr)] = 1 / (1 + l->spread);
}

static double best_of(const struct landscape *l, const double *truth)
{
    double best = INFINITY;

    for (size_t i = 0; i < l->nr; i++)
        best = fmin(best, truth[i]);
    return best;
}

struct outcome_of_race {
    bool decided;
    double loss; /* of the winner against the best */
    double cost; /* measurements */
    size_t rounds;
};

/* `own`: what the setting's noise was in the round before, and is now. */
static double next_noise(const struct landscape *l, struct random *r, bool first, double *own)
{
    double kept = first ? 0 : l->lasts;

    *own = kept * *own + sqrt(1 - kept * kept) * noise_draw(r, l->kind);
    return *own;
}

static struct outcome_of_race run_race(const struct landscape *l, const double *truth,
                                       struct random *r)
{
    const struct race_rule rule = RACE_DEFAULTS;
    struct outcome_of_race out = { .cost = 0 };
    double times[MOST], own[MOST] = { 0 };
    struct race race;

    race_init(&race, l->nr, &rule);
    while (!race.decided && race.rounds < l->rounds) {
        double common = l->common * random_normal(r);
        for (size_t i = 0; i < l->nr; i++) {
            double noise = l->noise * next_noise(l, r, race.rounds == 0, &own[i]);
            bool wanted = race_wants(&race, i);
            times[i] = wanted ? 1e6 * truth[i] * exp(common + noise) : NAN;
            out.cost += wanted;
        }
        race_round(&race, times);
    }
    out.decided = race.decided;
    out.loss = truth[race.leader] / best_of(l, truth) - 1;
    out.rounds = race.rounds;
    race_release(&race);
    return out;
}

/* Rounds of the plan that tries all. */
static double planned_rounds(const struct landscape *l)
{
    double level = 0.05 / (double)(l->nr - 1);
    double reach = stats_normal_quantile(1 - level) + stats_normal_quantile(0.9);

    return fmax(3, ceil(pow(reach * sqrt(2) * l->noise / log1p(0.01), 2)));
}

struct tally {
    size_t wrong, open, races;
    /* On average: measurements as a share of the plan's, and of all settings in each of the rounds;
     * rounds. */
    double worst, cost, kept, rounds;
};

static struct tally tally_races(const struct landscape *l, size_t races, uint64_t seed)
{
    struct tally t = { .races = races };
    double truth[MOST];
    struct random r;

    random_seed(&r, seed);
    for (size_t i = 0; i < races; i++) {
        draw_truth(l, &r, truth);
        struct outcome_of_race o = run_race(l, truth, &r);
        t.wrong += o.loss > 0.01 + 1e-9;
        t.open += !o.decided;
        t.worst = fmax(t.worst, o.loss);
        t.cost += o.cost / (double)(l->nr) / planned_rounds(l) / (double)races;
        t.kept += o.cost / (double)(l->nr * o.rounds) / (double)races;
        t.rounds += (double)o.rounds / (double)races;
    }
    print_message(
        "%-28s wrong %zu, open %zu of %zu; worst %.2f %%; %.1f rounds; measurements: %.2f "
        "of trying all (%g rounds), %.2f of all in each round\n",
        l->name, t.wrong, t.open, t.races, 100 * t.worst, t.rounds, t.cost, planned_rounds(l),
        t.kept);
    return t;
}

TEST(test_the_winner_keeps_the_promise)
{
    double cost = 0;

    for (size_t i = 0; i < sizeof(flats) / sizeof(flats[0]); i++) {
        struct tally t = tally_races(&flats[i], trials(flats[i].nr > 2 ? 60 : 1500), 100 + i);
        assert_rate_at_most(flats[i].name, t.wrong, t.races, 0.05);
        cost += flats[i].nr == 24 ? t.cost / 4 : 0;
    }
    assert_true(cost <= 1.0 / 3); /* of the four with many settings */
}

TEST(test_beyond_the_promise)
{
    struct tally t = tally_races(&lasting, trials(100), 400);

    assert_rate_at_most(lasting.name, t.wrong, t.races, 0.4);
    t = tally_races(&crowded, trials(20), 500);
    assert_seen_at_most("not within 1 %", t.wrong, t.races, 0.05);
}

TEST(test_races_end_early)
{
    for (size_t i = 0; i < sizeof(landscapes) / sizeof(landscapes[0]); i++) {
        struct tally t = tally_races(&landscapes[i], trials(50), 200 + i);
        assert_rate_at_most(landscapes[i].name, t.wrong, t.races, 0.05);
        assert_seen_at_most("open", t.open, t.races, 0.02);
        assert_true(t.cost <= 1.0 / 3);
    }
}

TEST(test_twenty_repeats)
{
    double truth[MOST];

    for (size_t i = 0; i < sizeof(landscapes) / sizeof(landscapes[0]); i++) {
        const struct landscape *l = &landscapes[i];
        struct random r;
        double cost = 0;
        random_seed(&r, 300 + i);
        draw_truth(l, &r, truth);
        for (int repeat = 0; repeat < 20; repeat++) {
            struct outcome_of_race o = run_race(l, truth, &r);
            assert_true(o.loss <= 0.01);
            cost += o.cost / (double)l->nr / planned_rounds(l) / 20;
        }
        print_message("%-28s %.2f of trying all\n", l->name, cost);
        assert_true(cost <= 1.0 / 3);
    }
}

int main(void)
{
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
