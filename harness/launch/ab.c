/* SPDX-License-Identifier: MIT */
#include "launch/ab.h"

#include "base/memory.h"
#include "core/clock.h"
#include "device/devices.h"
#include "launch/remeasure.h"
#include "launch/supervisor.h"
#include "stats/random.h"

#include <stdlib.h>
#include <string.h>

enum { REPEATS_PASSES = 4 }; /* of what was disturbed in a block, on each side at most */

struct state {
    const struct ab *ab;
    struct device device; /* ours only to name things */
    int nr_sides;
    double *harm;    /* by index in ab->what.benchmarks: how bad it looks; below 0: decided */
    bool *take;      /* and whether it is part of the block in hand */
    double *seconds; /* and what its cases took in its last block */
    struct disturbed_watch watch;
    struct remeasure repeats[AB_SIDES_MAX];
    size_t *drawn; /* the pair in hand: indices of all that is needed, in order */
    size_t nr_drawn;
    size_t *order; /* the set in hand: those that its side has not lost */
    size_t nr;
    enum ab_side side;
    struct random random;
    uint64_t start;
    int block;          /* 0-based */
    size_t done, total; /* cases of the block, with those made again */
    uint64_t begun;     /* when the case in hand began; 0: none did */
    double in_cases;    /* s, of the block */
    double beside;      /* s, of the last block: processes that started and ended */
    bool interrupted;
};

static double elapsed(const struct state *s)
{
    return (double)(clock_ns() - s->start) * 1e-9;
}

static size_t count_needed(const struct state *s)
{
    size_t nr = 0;

    for (size_t i = 0; i < s->ab->what.nr; i++)
        nr += s->harm[i] >= 0;
    return nr;
}

static void on_begin(void *context, size_t which)
{
    struct state *s = context;
    struct benchmark_name name;
    struct ab_progress p = {
        .block = s->block + 1,
        .left = count_needed(s),
        .of = s->ab->what.nr,
        .done = s->done,
        .total = s->total,
        .elapsed = elapsed(s),
        .budget = s->ab->what.budget,
        .key = name.key,
    };

    benchmark_name_of(&s->ab->what.benchmarks[which], &s->device, &name);
    s->begun = clock_ns();
    if (s->ab->progress)
        s->ab->progress(s->ab->context, &p);
}

/* What a process that died had not begun took no time. */
static void note_seconds(struct state *s, size_t which)
{
    double seconds = s->begun ? (double)(clock_ns() - s->begun) * 1e-9 : 0;

    s->seconds[which] += seconds;
    s->in_cases += seconds;
    s->begun = 0;
}

static int on_end(void *context, size_t which, struct measurement *m, struct error *err)
{
    struct state *s = context;

    note_seconds(s, which);
    s->done++;
    return remeasure_measured(&s->repeats[s->side], which, m, err);
}

static int on_process_end(void *context, const struct launch_result *r, struct error *err)
{
    struct state *s = context;

    (void)err;
    remeasure_process_end(&s->repeats[s->side], r);
    return 0;
}

static void list_cases(struct state *s)
{
    s->nr = 0;
    for (size_t i = 0; i < s->nr_drawn; i++)
        if (!s->repeats[s->side].lost[s->drawn[i]])
            s->order[s->nr++] = s->drawn[i];
}

static int run_set(struct state *s, uint64_t seed, struct error *err)
{
    const struct ab *ab = s->ab;
    const struct case_sink sink = {
        .context = s,
        .process_end = on_process_end,
        .begin = on_begin,
        .end = on_end,
    };
    struct supervised set = {
        .what = ab->what,
        .device = &s->device,
        .plant = ab->plant[s->side],
        .order = s->order,
        .nr = s->nr,
    };

    set.what.limits.program = ab->program[s->side];
    set.what.settings.seed = seed;
    set.what.settings.guests = ab->guests[s->side];
    set.what.settings.fixed_placement = ab->fixed[s->side];
    return supervisor_run(&set, &sink, &s->interrupted, err);
}

static int run_launch(struct state *s, enum ab_side side, int seq, uint64_t seed, struct error *err)
{
    struct remeasure *r = &s->repeats[side];

    s->side = side;
    list_cases(s);
    if (s->nr == 0)
        return 0;
    return remeasure_launch_begin(r, seq, err) || run_set(s, seed, err) ||
                   remeasure_launch_end(r, err)
               ? -1
               : 0;
}

/* What waits of a side, once. */
static int repeat_side(struct state *s, enum ab_side side, uint64_t seed, struct error *err)
{
    struct remeasure *r = &s->repeats[side];

    s->side = side;
    s->nr = remeasure_wanted(r, s->order);
    s->total = s->done + s->nr;
    r->again = true;
    int rc = s->nr > 0 ? run_set(s, seed, err) : 0;
    r->again = false;
    return rc ? rc : remeasure_settle(r, err);
}

/* The sides in the order of a block: one leads, any other may follow. */
struct ab_order {
    enum ab_side side[AB_SIDES_MAX];
};

static struct ab_order draw_sides(struct state *s)
{
    size_t first = (size_t)random_below(&s->random, (uint64_t)s->nr_sides), nr = 0;
    size_t others[AB_SIDES_MAX];
    struct ab_order order = { .side = { (enum ab_side)first } };

    for (size_t side = 0; side < (size_t)s->nr_sides; side++)
        if (side != first)
            others[nr++] = side;
    random_shuffle(&s->random, others, nr);
    for (size_t i = 0; i < nr; i++)
        order.side[i + 1] = (enum ab_side)others[i];
    return order;
}

/* The i-th there, or on the way back. */
static enum ab_side side_in_turn(const struct state *s, const struct ab_order *order, int pass,
                                 int i)
{
    return order->side[pass % 2 ? s->nr_sides - 1 - i : i];
}

/* All sides in turn, a few times. */
static int repeat_disturbed(struct state *s, struct error *err)
{
    const struct ab_order order = draw_sides(s);

    for (int pass = 0; pass < REPEATS_PASSES && !s->interrupted; pass++) {
        uint64_t seed = random_u64(&s->random);
        for (int i = 0; i < s->nr_sides && !s->interrupted; i++)
            if (repeat_side(s, side_in_turn(s, &order, pass, i), seed, err))
                return -1;
    }
    return 0;
}

/* What there is must do; it is finished, also where an error `rc` ends the block. */
static int end_repeats(struct state *s, int rc, struct error *err)
{
    for (int i = 0; i < s->nr_sides; i++)
        rc = remeasure_end(&s->repeats[i], rc, err);
    return rc;
}

/* The benchmarks of the block, in a fresh order. */
static void draw_order(struct state *s)
{
    random_permutation(&s->random, s->drawn, s->ab->what.nr);
    s->nr_drawn = 0;
    for (size_t i = 0; i < s->ab->what.nr; i++)
        if (s->take[s->drawn[i]])
            s->drawn[s->nr_drawn++] = s->drawn[i];
}

/* A straight drift hits both sides alike: their launches have the same middle. */
static int run_launches(struct state *s, struct error *err)
{
    const struct ab_order order = draw_sides(s);
    int seq = AB_LAUNCHES * s->block;

    for (int pass = 0; pass < AB_LAUNCHES && !s->interrupted; pass++) {
        uint64_t seed = random_u64(&s->random);
        draw_order(s);
        for (int i = 0; i < s->nr_sides && !s->interrupted; i++)
            if (run_launch(s, side_in_turn(s, &order, pass, i), seq + pass, seed, err))
                return -1;
    }
    return 0;
}

static int run_block(struct state *s, struct error *err)
{
    double before = elapsed(s);

    s->done = 0;
    s->in_cases = 0;
    for (size_t i = 0; i < s->ab->what.nr; i++)
        s->seconds[i] = s->take[i] ? 0 : s->seconds[i];
    int rc = run_launches(s, err);
    if (rc == 0)
        rc = repeat_disturbed(s, err);
    rc = end_repeats(s, rc, err);
    s->beside = elapsed(s) - before - s->in_cases;
    return rc;
}

static bool has_two_sides(const struct state *s, size_t benchmark)
{
    int others = 0;

    for (int i = AB_HEAD; i < s->nr_sides; i++)
        others += !s->repeats[i].lost[benchmark];
    return others > 0 && !s->repeats[AB_BASE].lost[benchmark];
}

/* What a side cannot run has no difference to be found. */
static int judge_blocks(struct state *s, struct error *err)
{
    size_t nr = s->ab->what.nr;
    double *harm = memory_zeroed(nr + 1, sizeof(*harm));

    for (size_t i = 0; i < nr; i++) {
        if (!has_two_sides(s, i))
            s->harm[i] = -1;
        harm[i] = s->harm[i] < 0 ? -1 : 0;
    }
    int rc = s->ab->look(s->ab->context, s->block + 1, harm, nr, err);
    for (size_t i = 0; i < nr; i++)
        s->harm[i] = s->harm[i] < 0 ? -1 : harm[i];
    free(harm);
    return rc;
}

struct fit {
    double harm;
    size_t which;
};

static int order_fit(const void *a, const void *b)
{
    const struct fit *x = a, *y = b;

    if (x->harm != y->harm)
        return x->harm > y->harm ? -1 : 1;
    return x->which < y->which ? -1 : 1;
}

size_t ab_fit(const double *seconds, const double *harm, size_t nr, double left, bool *take)
{
    struct fit *open = memory_zeroed(nr + 1, sizeof(*open));
    size_t wanted = 0, kept = 0;

    for (size_t i = 0; i < nr; i++)
        if (take[i])
            open[wanted++] = (struct fit) { harm[i], i };
    qsort(open, wanted, sizeof(*open), order_fit);
    for (size_t i = 0; i < wanted; i++) {
        size_t which = open[i].which;
        take[which] = seconds[which] <= left;
        left -= take[which] ? seconds[which] : 0;
        kept += take[which];
    }
    free(open);
    return kept;
}

/* At least one block is whole; of a further one only what should end in time. Returns how many
 * benchmarks there are in it. */
static size_t choose_cases(struct state *s)
{
    const struct ab *ab = s->ab;
    size_t needed = count_needed(s);
    double left = ab->what.budget - elapsed(s) - s->beside;

    for (size_t i = 0; i < ab->what.nr; i++)
        s->take[i] = s->harm[i] >= 0;
    if (ab->what.budget <= 0 || s->block == 0 || s->block < ab->blocks_least)
        return needed;
    size_t kept = ab_fit(s->seconds, s->harm, ab->what.nr, left, s->take);
    return ab->whole && kept < needed ? 0 : kept;
}

static int run_blocks(struct state *s, enum ab_end *end, struct error *err)
{
    const struct ab *ab = s->ab;

    for (s->block = 0; ab->blocks_max <= 0 || s->block < ab->blocks_max; s->block++) {
        size_t cases = choose_cases(s);
        if (s->block > 0 && cases == 0) {
            *end = AB_BUDGET;
            return 0;
        }
        s->total = (size_t)s->nr_sides * AB_LAUNCHES * cases;
        if (run_block(s, err))
            return -1;
        if (s->interrupted) {
            *end = AB_INTERRUPTED;
            return 0;
        }
        if (judge_blocks(s, err))
            return -1;
        if (count_needed(s) == 0) {
            *end = AB_DECIDED;
            return 0;
        }
    }
    *end = AB_BLOCKS;
    return 0;
}

int ab_run(const struct ab *ab, const struct measurement_sink *sinks, enum ab_end *end,
           struct error *err)
{
    struct state s = { .ab = ab,
                       .start = clock_ns(),
                       .nr_sides = ab->nr_sides ? ab->nr_sides : AB_SIDES };

    if (device_open(&s.device, ab->what.device_spec, err))
        return -1;
    s.harm = memory_zeroed(ab->what.nr + 1, sizeof(*s.harm));
    s.take = memory_zeroed(ab->what.nr + 1, sizeof(*s.take));
    s.seconds = memory_zeroed(ab->what.nr + 1, sizeof(*s.seconds));
    for (int i = 0; i < s.nr_sides; i++) {
        remeasure_init(&s.repeats[i], &s.watch, &sinks[i], ab->what.nr);
        s.repeats[i].once = ab->what.once;
    }
    s.drawn = memory_zeroed(ab->what.nr + 1, sizeof(*s.drawn));
    s.order = memory_zeroed(ab->what.nr + 1, sizeof(*s.order));
    random_seed(&s.random, ab->what.settings.seed ? ab->what.settings.seed : random_fresh_seed());
    int rc = run_blocks(&s, end, err);
    free(s.harm);
    free(s.take);
    free(s.seconds);
    for (int i = 0; i < s.nr_sides; i++)
        remeasure_release(&s.repeats[i]);
    disturbed_watch_release(&s.watch);
    free(s.drawn);
    free(s.order);
    device_close(&s.device);
    return rc;
}
