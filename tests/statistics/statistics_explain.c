/* SPDX-License-Identifier: MIT */
/*
 * Is the cause of a slow-down named first? Trials plant one of a known kind into noisy evidence of
 * launches (explain/explain.h), beside facts, functions and small changes that have nothing to do
 * with it, by the day's seed (HARNESS_SEED takes one again). At least 95 of 100 must be named
 * first, of each kind; and where the cause left no trace, none may be named. HARNESS_TRIALS
 * multiplies the trials.
 */
#include "explain/explain.h"
#include "knocks.h"
#include "simulation.h"
#include "testing.h"

#include "base/memory.h"

enum { OPERATIONS = 6, TRIALS = 100 };

static const char *const operation_names[OPERATIONS] = {
    "embedding", "layernorm", "attention", "qkv", "mlp", "head",
};

/* The truth of one trial, head over base. */
struct planted {
    double operation[OPERATIONS]; /* factors */
    double busy, clock, instructions, misses, branches, system;
};

struct trial {
    struct random *r;
    struct explain_case c;
    double share[OPERATIONS]; /* of the base's time */
    double noise;             /* sd of a launch */
    double processors, stall;
    int launches;
    bool counters, has_clock, scopes, command;
};

static double between(struct random *r, double low, double high)
{
    return low + (high - low) * random_uniform(r);
}

static bool happens(struct random *r, double probability)
{
    return random_uniform(r) < probability;
}

/* A launch's factor: lognormal, now and then a wild one. */
static double launch_noise(struct trial *t, double sd)
{
    return exp(sd * random_normal(t->r)) * (happens(t->r, 0.04) ? between(t->r, 1.1, 1.5) : 1);
}

static void draw_trial(struct trial *t)
{
    double sum = 0;

    explain_case_init(&t->c, "kernel/variant/fp32/n=1/cpu-4t/warm");
    for (int i = 0; i < OPERATIONS; i++)
        sum += t->share[i] = between(t->r, 0.3, 2);
    for (int i = 0; i < OPERATIONS; i++)
        t->share[i] /= sum;
    t->noise = between(t->r, 0.003, 0.03);
    t->processors = 1 + (double)random_below(t->r, 4);
    t->launches = 4 + (int)random_below(t->r, 5);
    t->stall = between(t->r, 0.1, 0.5);
    t->counters = happens(t->r, 0.5);
    t->has_clock = true;
    t->scopes = true;
}

static const struct planted nothing = {
    .operation = { 1, 1, 1, 1, 1, 1 },
    .busy = 1,
    .clock = 1,
    .instructions = 1,
    .misses = 1,
    .branches = 1,
    .system = 1,
};

/* CPU time of head over base, but for the clock. */
static double cpu_factor(const struct trial *t, const struct planted *p)
{
    double cpu = 0;

    for (int i = 0; i < OPERATIONS; i++)
        cpu += t->share[i] * p->operation[i];
    return cpu;
}

static void launch_with_scopes(struct trial *t, const struct planted *p, enum explain_side side)
{
    bool head = side == EXPLAIN_HEAD;
    double all = launch_noise(t, t->noise), whole = 0;

    for (int i = 0; i < OPERATIONS; i++) {
        double ns = 1e6 * t->share[i] * all * launch_noise(t, 0.02);
        if (head)
            ns *= p->operation[i] / (p->busy * p->clock);
        explain_add_operation(&t->c, operation_names[i], side, ns);
        whole += ns;
    }
    explain_add(&t->c, EXPLAIN_SCOPED, side, whole);
}

static void count_launch(struct trial *t, const struct planted *p, enum explain_side side,
                         double cpu)
{
    bool head = side == EXPLAIN_HEAD;
    double cycles = 3000 * cpu * (head ? cpu_factor(t, p) : 1); /* of 3 GHz */
    double misses = 3000 * cpu * t->stall / 200;                /* each costs 200 cycles */

    explain_add(&t->c, EXPLAIN_CYCLES, side, cycles * exp(0.004 * random_normal(t->r)));
    explain_add(&t->c, EXPLAIN_INSTRUCTIONS, side,
                6000 * cpu * (head ? p->instructions : 1) * exp(0.001 * random_normal(t->r)));
    explain_add(&t->c, EXPLAIN_CACHE_MISSES, side,
                misses * (head ? p->misses : 1) * exp(0.05 * random_normal(t->r)));
    explain_add(&t->c, EXPLAIN_BRANCH_MISSES, side,
                3 * cpu * (head ? p->branches : 1) * exp(0.05 * random_normal(t->r)));
}

static void launch_plain(struct trial *t, const struct planted *p, enum explain_side side)
{
    bool head = side == EXPLAIN_HEAD;
    double noise = launch_noise(t, t->noise);
    double time = 1e6 * noise;

    if (head)
        time *= cpu_factor(t, p) / (p->busy * p->clock);
    explain_add(&t->c, EXPLAIN_TIME, side, time);
    explain_add(&t->c, EXPLAIN_BUSY, side,
                t->processors * (head ? p->busy : 1) * exp(0.01 * random_normal(t->r)));
    explain_add(&t->c, EXPLAIN_WAITED, side, between(t->r, 0, 4));
    if (t->has_clock)
        explain_add(&t->c, EXPLAIN_CLOCK, side,
                    3000 * (head ? p->clock : 1) * exp(0.01 * random_normal(t->r)));
    explain_add(&t->c, EXPLAIN_PROBE, side,
                5000 / (head ? p->clock : 1) * exp(0.01 * random_normal(t->r)));
    if (t->counters)
        count_launch(t, p, side, 1e3 * t->processors * noise);
}

static void measure(struct trial *t, const struct planted *p)
{
    for (int i = 0; i < t->launches; i++)
        for (int side = 0; side < EXPLAIN_SIDES; side++) {
            launch_plain(t, p, (enum explain_side)side);
            if (t->scopes)
                launch_with_scopes(t, p, (enum explain_side)side);
        }
}

/* What has nothing to do with it: another commit, small changes, a setting, a few functions. */
static void add_distractors(struct trial *t, struct planted *p)
{
    explain_add_fact(&t->c, FACT_IDENTITY, "commit", "3f2a91c", "77ab012");
    if (happens(t->r, 0.2))
        explain_add_fact(&t->c, FACT_OTHER, "kernel_release", "6.1.0-18", "6.1.0-21");
    for (int i = 0; i < OPERATIONS; i++)
        p->operation[i] *= exp(0.01 * random_normal(t->r));
    p->misses *= exp(0.1 * random_normal(t->r));
    p->branches *= exp(0.05 * random_normal(t->r));
}

static void set_code(struct trial *t, double changed, const char *name)
{
    t->c.code.known = true;
    t->c.code.common = 400;
    t->c.code.same = (size_t)(400 * (1 - changed));
    if (name)
        *array_push(&t->c.code.changed) =
            (struct code_function) { memory_string(name), { 900, 1000 } };
}

/* An operation that takes a seventh of the time at least, so that it can turn the whole red. */
static int draw_operation(struct trial *t)
{
    int i;

    do
        i = (int)random_below(t->r, OPERATIONS);
    while (t->share[i] < 1.0 / 7);
    return i;
}

/* ---- the kinds ---- */

static const char *plant_operation(struct trial *t, struct planted *p)
{
    int i = draw_operation(t);
    char name[64];

    p->operation[i] = between(t->r, 1.6, 2.5);
    p->instructions = cpu_factor(t, p);
    snprintf(name, sizeof(name), "%s_simd", operation_names[i]);
    if (happens(t->r, 0.5))
        set_code(t, between(t->r, 0.002, 0.05), name);
    if (t->c.code.known && happens(t->r, 0.2)) /* flags that changed hardly anything */
        explain_add_fact(&t->c, FACT_BUILD, "flags", "-O2", "-O2 -Wall");
    return operation_names[i];
}

static const char *plant_cache(struct trial *t, struct planted *p)
{
    bool local = happens(t->r, 0.5);
    int which = draw_operation(t);
    double before = 1, more;

    t->counters = true;
    p->misses = between(t->r, 2, 6);
    more = (p->misses - 1) * t->stall; /* as a share of the base's cycles */
    for (int i = 0; i < OPERATIONS; i++)
        if (!local || i == which)
            p->operation[i] = before + more / (local ? t->share[which] : 1);
    return "cache misses";
}

static const char *plant_threads(struct trial *t, struct planted *p)
{
    t->processors = 4;
    p->busy = (1 + (double)random_below(t->r, 3)) / 4;
    if (happens(t->r, 0.5))
        explain_add_fact(&t->c, FACT_THREADS, "OMP_NUM_THREADS", "4", "2");
    return NULL;
}

static const char *plant_flag(struct trial *t, struct planted *p)
{
    for (int i = 0; i < OPERATIONS; i++)
        p->operation[i] = between(t->r, 1.05, 3);
    p->instructions = cpu_factor(t, p) * between(t->r, 0.9, 1.1);
    explain_add_fact(&t->c, FACT_BUILD, "flags", "-O2", "-O0");
    if (happens(t->r, 0.5))
        set_code(t, between(t->r, 0.4, 1), "attention_simd");
    return "flags";
}

static const char *plant_library(struct trial *t, struct planted *p)
{
    p->operation[draw_operation(t)] = between(t->r, 1.6, 2.5);
    if (happens(t->r, 0.5))
        p->operation[draw_operation(t)] = between(t->r, 1.2, 2.5);
    p->instructions = cpu_factor(t, p);
    explain_add_fact(&t->c, FACT_LIBRARY, "libc", "2.36", "2.38");
    if (happens(t->r, 0.5))
        set_code(t, between(t->r, 0, 0.01), "parse_options");
    return "libc";
}

static const char *plant_clock(struct trial *t, struct planted *p)
{
    t->has_clock = happens(t->r, 0.5); /* else the cycles or the probe tell */
    p->clock = between(t->r, 0.55, 0.9);
    if (happens(t->r, 0.3))
        explain_add_fact(&t->c, FACT_CLOCK, "governor", "performance", "powersave");
    return NULL;
}

/* Everything is slower, and nothing that is looked at says why. */
static const char *plant_secret(struct trial *t, struct planted *p)
{
    double factor = between(t->r, 1.15, 2);

    t->counters = false;
    for (int i = 0; i < OPERATIONS; i++)
        p->operation[i] = factor;
    return NULL;
}

static const struct {
    const char *what;
    enum cause_kind kind;
    const char *(*plant)(struct trial *t, struct planted *p);
} kinds[] = {
    { "one operation slower is named first", CAUSE_OPERATION, plant_operation },
    { "cache misses are named first", CAUSE_CACHE, plant_cache },
    { "a thread count is named first", CAUSE_THREADS, plant_threads },
    { "a compiler flag is named first", CAUSE_BUILD, plant_flag },
    { "a library's version is named first", CAUSE_LIBRARY, plant_library },
    { "a clock is named first", CAUSE_CLOCK, plant_clock },
    { "what leaves no trace is said to be unknown", CAUSE_UNKNOWN, plant_secret },
};

static bool is_named_first(size_t kind, struct random *r)
{
    struct trial t = { .r = r };
    struct planted p = nothing;
    struct explanation e;

    draw_trial(&t);
    add_distractors(&t, &p);
    const char *name = kinds[kind].plant(&t, &p);
    measure(&t, &p);
    explain_causes(&t.c, &e);
    const struct cause *first = &e.causes.items[0];
    bool right = first->kind == kinds[kind].kind && (!name || strcmp(first->name, name) == 0);
    if (!right && getenv("HARNESS_TELL"))
        printf("  %s: %s (%s, %.0f %%): %s\n", kinds[kind].what, first->name,
               cause_kind_name(first->kind), 100 * first->share, first->evidence);
    explanation_release(&e);
    code_diff_release(&t.c.code);
    explain_case_release(&t.c);
    return right;
}

TEST(causes_are_named_first)
{
    uint64_t seed = knock_seed();

    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        size_t nr = trials(TRIALS), right = 0;
        struct random r;
        random_seed(&r, seed + kind);
        for (size_t i = 0; i < nr; i++)
            right += is_named_first(kind, &r);
        assert_rate_at_least(kinds[kind].what, right, nr, 0.95);
    }
}

RUN_TESTS(NULL, NULL)
