/* SPDX-License-Identifier: MIT */
/*
 * Features: U-06. The search for a culprit among 64 commits, with answers that are wrong at their
 * stated rate, that cannot tell, and with commits that do not build. HARNESS_TRIALS multiplies the
 * trials.
 */
#include "simulation.h"
#include "testing.h"

#include "base/memory.h"
#include "trend/bisect.h"

enum { COMMITS = 64 };

/* How the answers come about. */
struct oracle {
    size_t culprit; /* 1 to COMMITS; COMMITS + 1: none */
    double unbuilt; /* share of the commits between */
    double wrong, untold;
    /* Instead of these two: interleaved blocks are simulated and judged. */
    const struct simulation *blocks;
    double effect;            /* of the culprit, log */
    double luck[COMMITS + 1]; /* of each build, log */
    double luck_sd;
    struct compare_settings settings;
};

/* What became of many searches. */
struct tally {
    size_t named;     /* a cell was stated */
    size_t right;     /* and holds the culprit */
    size_t exact;     /* and nothing else that could have been told apart */
    size_t nothing;   /* "not worse" */
    size_t questions; /* asked in all */
    size_t trials;
};

/* The first `blocks` blocks of an item, judged. */
static enum bisect_answer judge(const struct compare_item *all, int blocks,
                                const struct compare_settings *settings, bool *decided)
{
    const struct evidence_side *from[] = { &all->evidence.base, &all->evidence.head };
    struct compare_item *item = memory_zeroed(1, sizeof(*item));
    struct evidence_side *to[] = { &item->evidence.base, &item->evidence.head };
    struct comparison c;
    struct error err;

    *item = *all;
    for (int i = 0; i < 2; i++) {
        to[i]->nr = to[i]->capacity = 2 * (size_t)blocks;
        to[i]->values = memory_zeroed(to[i]->nr, sizeof(*to[i]->values));
        memcpy(to[i]->values, from[i]->values, to[i]->nr * sizeof(*to[i]->values));
    }
    assert_ok(compare_decide(item, 1, settings, &c, &err), &err);
    *decided = c.rows[0].verdict != VERDICT_UNDECIDED;
    enum bisect_answer answer = bisect_read(&c.rows[0], settings->delta);
    comparison_release(&c);
    return answer;
}

/* A comparison as it is made: a look after each block until it is decided. */
static enum bisect_answer measure(const struct oracle *o, struct bisect_question q,
                                  struct random *r)
{
    bool worse = o->culprit > q.from && o->culprit <= q.to;
    double factor = exp((worse ? o->effect : 0) + o->luck[q.to] - o->luck[q.from]);
    struct compare_item *item = simulate_items(o->blocks, &factor, r);
    enum bisect_answer answer = BISECT_UNTOLD;
    bool decided = false;

    for (int i = 3; !decided && i <= o->blocks->blocks; i++)
        answer = judge(item, i, &o->settings, &decided);
    compare_items_release(item, 1);
    return answer;
}

static enum bisect_answer reply(const struct oracle *o, struct bisect_question q, struct random *r)
{
    bool worse = o->culprit > q.from && o->culprit <= q.to;

    if (o->blocks)
        return measure(o, q, r);
    if (random_uniform(r) < o->untold)
        return BISECT_UNTOLD;
    if (random_uniform(r) < o->wrong)
        worse = !worse;
    return worse ? BISECT_WORSE : BISECT_NOT_WORSE;
}

/* The commits that no search could tell from the culprit. */
static struct bisect_range truth(const bool *unbuilt, size_t culprit)
{
    struct bisect_range range = { culprit, culprit, 1 };

    while (range.first > 1 && unbuilt[range.first - 1])
        range.first--;
    while (range.last < COMMITS && unbuilt[range.last])
        range.last++;
    return range;
}

static void search(const struct oracle *o, const struct bisect_settings *settings, struct random *r,
                   struct tally *t)
{
    bool unbuilt[COMMITS + 1] = { false };
    struct bisect_question q;
    enum bisect_state state;
    struct bisect b;

    for (size_t i = 1; i < COMMITS; i++)
        unbuilt[i] = random_uniform(r) < o->unbuilt;
    bisect_init(&b, COMMITS, settings);
    while ((state = bisect_next(&b, &q)) == BISECT_ASK) {
        if (unbuilt[q.from])
            bisect_unbuilt(&b, q.from);
        else if (unbuilt[q.to])
            bisect_unbuilt(&b, q.to);
        else
            bisect_tell(&b, q, reply(o, q, r));
    }
    struct bisect_range got = bisect_range(&b), want = truth(unbuilt, o->culprit);
    bool right = got.first <= o->culprit && o->culprit <= got.last;
    t->trials++;
    t->questions += b.steps.nr;
    t->nothing += state == BISECT_NOTHING;
    t->named += state == BISECT_FOUND;
    t->right += state == BISECT_FOUND && right;
    t->exact += state == BISECT_FOUND && got.first == want.first && got.last == want.last;
    bisect_release(&b);
}

static struct tally run(struct oracle o, const char *what, size_t searches, uint64_t seed)
{
    struct bisect_settings settings = BISECT_DEFAULTS;
    struct tally t = { 0 };
    struct random r;
    bool none = o.culprit > COMMITS;

    random_seed(&r, seed);
    for (size_t i = 0; i < searches; i++) {
        if (!none)
            o.culprit = 1 + (size_t)(random_uniform(&r) * COMMITS);
        for (int j = 0; j <= COMMITS; j++)
            o.luck[j] = o.luck_sd * random_normal(&r);
        search(&o, &settings, &r, &t);
    }
    printf("%s: %.1f comparisons, %.1f %% named, %.1f %% nothing\n", what,
           (double)t.questions / (double)t.trials, 100 * (double)t.named / (double)t.trials,
           100 * (double)t.nothing / (double)t.trials);
    return t;
}

TEST(test_planted)
{
    static const struct {
        const char *what;
        double wrong, untold, unbuilt;
    } cases[] = {
        { "answers always right", 0, 0, 0 },
        { "5 % of the answers wrong", 0.05, 0, 0 },
        { "5 % wrong, 10 % cannot tell", 0.05, 0.1, 0 },
        { "5 % wrong, 20 % do not build", 0.05, 0, 0.2 },
        { "5 % wrong, 10 % cannot tell, 10 % do not build", 0.05, 0.1, 0.1 },
        { "1 % wrong, 10 % cannot tell, 10 % do not build", 0.01, 0.1, 0.1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct oracle o = {
            .wrong = cases[i].wrong,
            .untold = cases[i].untold,
            .unbuilt = cases[i].unbuilt,
        };
        struct tally t = run(o, cases[i].what, trials(2000), 100 + i);
        assert_rate_at_least("  the culprit, as narrow as can be", t.exact, t.trials, 0.95);
        assert_rate_at_most("  stated wrong", t.named - t.right, t.trials, 0.05);
    }
}

TEST(test_nothing_planted)
{
    struct oracle o = { .culprit = COMMITS + 1, .wrong = 0.05, .untold = 0.1, .unbuilt = 0.1 };
    struct tally t = run(o, "no culprit, 5 % wrong", trials(2000), 200);
    assert_rate_at_most("  a culprit where there is none", t.named, t.trials, 0.05);
    assert_rate_at_least("  said so", t.nothing, t.trials, 0.9);
}

/* The whole of it: launches with noise, verdicts with a look after each block, and the search. The
 * culprit is three sd of a launch; the floor is as the command sets it, half of that. */
TEST(test_planted_in_noise)
{
    static const struct {
        const char *what;
        enum noise_kind kind;
        double luck; /* sd of what a build has by chance, such as its layout */
    } cases[] = {
        { "normal noise, 3 sd", NOISE_NORMAL, 0 },
        { "lognormal noise, 3 sd", NOISE_LOGNORMAL, 0 },
        { "bimodal noise, 3 sd", NOISE_BIMODAL, 0 },
        { "heavy noise, 3 sd", NOISE_HEAVY, 0 },
        { "normal noise, 3 sd, builds differ by 0.3 sd", NOISE_NORMAL, 0.003 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct simulation s = {
            .kind = cases[i].kind, .benchmarks = 1, .between = 0.01, .blocks = 40
        };
        struct oracle o = {
            .blocks = &s,
            .unbuilt = 0.1,
            .effect = 0.03,
            .luck_sd = cases[i].luck,
            .settings = COMPARE_DEFAULTS,
        };
        o.settings.delta = 0.015;
        struct tally t = run(o, cases[i].what, trials(200), 300 + i);
        assert_rate_at_least("  the culprit, as narrow as can be", t.exact, t.trials, 0.95);
        assert_rate_at_most("  stated wrong", t.named - t.right, t.trials, 0.05);
    }
}

RUN_TESTS(NULL, NULL)
