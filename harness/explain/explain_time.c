/* SPDX-License-Identifier: MIT */
/* The parts of the sum: processors, clock, kernel, stalls; and instructions. */
#include "explain/explain_parts.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The change that makes time longer: of what time is divided by. */
static struct explain_change upside_down(const struct explain_change *c)
{
    return (struct explain_change) { c->base, c->head, -c->mid, -c->high, -c->low };
}

/* `part` in logs, of the time; more than noise, as its caller knows. NULL: it is too small. */
static struct cause *add_shown_part(struct ranking *r, enum cause_kind kind, const char *name,
                                    const struct explain_change *part)
{
    double share = part->mid / r->all;

    if (share < PART_LEAST)
        return NULL;
    struct cause *cause = ranking_add(r, kind, name);
    cause_set_share(cause, share, BELIEF_MEASURED);
    cause->share_of[0] = part->low / r->all;
    cause->share_of[1] = part->high / r->all;
    r->measured += part->mid;
    return cause;
}

/* NULL also where it is noise. */
static struct cause *add_part(struct ranking *r, enum cause_kind kind, const char *name,
                              const struct explain_change *part)
{
    return change_is_shown(part) ? add_shown_part(r, kind, name, part) : NULL;
}

/* ---- processors and clock ---- */

/* "120000 instructions a run, were 60000" */
static void write_counts(const struct explain_change *c, const char *of, struct strbuf *out)
{
    char head[TEXT_UNIT_SIZE], base[TEXT_UNIT_SIZE];

    strbuf_addf(out, "%s %s a run, were %s", text_figures(c->head, 3, head), of,
                text_figures(c->base, 3, base));
}

/* Of what may be 0, and so has no log: by how much the head's median is above. 0 where a side does
 * not tell. */
static double median_above(const struct explain_series *s)
{
    double above = 0;

    if (!s->of[EXPLAIN_BASE].nr || !s->of[EXPLAIN_HEAD].nr)
        return 0;
    for (int side = 0; side < EXPLAIN_SIDES; side++) {
        size_t nr = s->of[side].nr;
        double *copy = memory_zeroed(nr + 1, sizeof(*copy)); /* the median sorts */
        for (size_t i = 0; i < nr; i++)
            copy[i] = s->of[side].items[i];
        above += (side == EXPLAIN_HEAD ? 1 : -1) * stats_median(copy, nr);
        free(copy);
    }
    return above;
}

/* What threads do is known of those of a kernel, and where a setting says how many there are; a
 * program may as well have waited for a disk. */
static const char *name_of_busy(const struct explain_case *c, bool others)
{
    return others                                             ? "other programs on its processors"
           : c->is_program && !case_has_fact(c, FACT_THREADS) ? "fewer processors at work"
                                                              : "fewer threads at work";
}

static void add_busy(struct ranking *r)
{
    const struct explain_change *busy = &r->of[EXPLAIN_BUSY], part = upside_down(busy);
    struct strbuf evidence;
    double waited = median_above(&r->c->of[EXPLAIN_WAITED]);
    double preempted = median_above(&r->c->of[EXPLAIN_PREEMPTED]);

    bool others =
        (waited > 10 || preempted > PREEMPTED_LEAST) && !case_has_fact(r->c, FACT_THREADS);
    struct cause *cause =
        add_part(r, others ? CAUSE_MACHINE : CAUSE_THREADS, name_of_busy(r->c, others), &part);
    if (!cause)
        return;
    cause->change = expm1(busy->mid);
    strbuf_init(&evidence);
    case_write_facts(r->c, FACT_THREADS, &evidence);
    strbuf_addf(&evidence, "%s%.2f processors busy, were %.2f", evidence.length ? "; " : "",
                busy->head, busy->base);
    if (others && r->c->is_program)
        strbuf_addf(&evidence, "; it lost one to others %.0f times a second more", preempted);
    else if (others)
        strbuf_addf(&evidence, "; it waited for one %.0f %% of the time longer", waited);
    cause->evidence = strbuf_detach(&evidence);
}

/* From counted cycles where they are, else as the system says, else as the probe lets on. */
static struct explain_change clock_change(const struct ranking *r, const char **how)
{
    const struct explain_change *cycles = &r->of[EXPLAIN_CYCLES], *busy = &r->of[EXPLAIN_BUSY];
    const struct explain_change *time = &r->of[EXPLAIN_TIME], *mhz = &r->of[EXPLAIN_CLOCK];
    const struct explain_change *probe = &r->of[EXPLAIN_PROBE];

    *how = "cycles that were counted in its time";
    if (change_is_known(cycles) && change_is_known(busy) &&
        !change_is_shown(&r->of[EXPLAIN_SYSTEM])) {
        double mid = cycles->mid - time->mid - busy->mid;
        double reach = hypot(hypot(cycles->high - cycles->low, time->high - time->low),
                             busy->high - busy->low) /
                       2;
        return (struct explain_change) { cycles->base / (time->base * busy->base) * 1000,
                                         cycles->head / (time->head * busy->head) * 1000, mid,
                                         mid - reach, mid + reach };
    }
    *how = "as the system reads it";
    if (change_is_shown(mhz))
        return *mhz;
    *how = "by the probe, a fixed piece of work beside it";
    return (struct explain_change) { NAN, NAN, -probe->mid, -probe->high, -probe->low };
}

static void add_clock(struct ranking *r)
{
    const char *how;
    struct explain_change clock = clock_change(r, &how), part = upside_down(&clock);
    struct strbuf evidence;

    struct cause *cause = add_part(
        r, CAUSE_CLOCK, isfinite(clock.base) ? "a slower clock" : "a slower machine", &part);
    if (!cause)
        return;
    cause->change = expm1(clock.mid);
    strbuf_init(&evidence);
    case_write_facts(r->c, FACT_CLOCK, &evidence);
    if (isfinite(clock.base))
        strbuf_addf(&evidence, "%s%.0f MHz, were %.0f, %s", evidence.length ? "; " : "", clock.head,
                    clock.base, how);
    else
        strbuf_addf(&evidence, "%s%s", evidence.length ? "; " : "", how);
    cause->evidence = strbuf_detach(&evidence);
}

/* ---- where the CPU time goes, by counters ---- */

/* Events for which instructions wait, and about what one costs that is waited for. */
static const struct stall {
    enum explain_quantity events;
    enum cause_kind kind;
    const char *name;
    double cycles_each;
} stalls[] = {
    { EXPLAIN_CACHE_MISSES, CAUSE_CACHE, "cache misses", MISS_CYCLES },
    { EXPLAIN_BRANCH_MISSES, CAUSE_BRANCHES, "mispredicted branches", BRANCH_CYCLES },
};

enum { STALLS = sizeof(stalls) / sizeof(stalls[0]) };

/* Cycles that what there is more of them could cost; 0: less than a third of those that were
 * stalled. */
static double stall_cost(const struct ranking *r, const struct stall *s, double stalled)
{
    const struct explain_change *e = &r->of[s->events];

    if (!change_is_shown(e) || e->mid <= 0)
        return 0;
    double cost = (e->head - e->base * exp(r->of[EXPLAIN_INSTRUCTIONS].mid)) * s->cycles_each;
    return cost < 0.3 * stalled ? 0 : cost;
}

static void add_stall(struct ranking *r, const struct stall *s, const struct explain_change *part)
{
    const struct explain_change *e = &r->of[s->events], *cycles = &r->of[EXPLAIN_CYCLES];
    const struct explain_change *work = &r->of[EXPLAIN_INSTRUCTIONS];
    struct cause *cause = add_shown_part(r, s->kind, s->name, part);
    struct strbuf evidence;

    if (!cause)
        return;
    cause->change = expm1(e->mid);
    strbuf_init(&evidence);
    write_counts(e, s->name, &evidence);
    strbuf_addf(&evidence, "; %.2f cycles an instruction, were %.2f", cycles->head / work->head,
                cycles->base / work->base);
    cause->evidence = strbuf_detach(&evidence);
}

/* The cycles that instructions take longer are one part of the sum: it is that of the events that
 * could cost a third of them or more, and of several each has its own by what it could cost.
 * Whether they are more than noise is asked of all of them: where nobody knows the noise a part of
 * them would seem too small. */
static void add_stalls(struct ranking *r)
{
    const struct explain_change *cycles = &r->of[EXPLAIN_CYCLES];
    const struct explain_change *work = &r->of[EXPLAIN_INSTRUCTIONS];
    double mid = cycles->mid - work->mid, cost[STALLS], all = 0;
    double reach = hypot(cycles->high - cycles->low, work->high - work->low) / 2;
    double stalled = cycles->head - cycles->base * exp(work->mid);
    const struct explain_change whole = { NAN, NAN, mid, mid - reach, mid + reach };

    if (!(stalled > 0) || !change_is_shown(&whole)) /* nor where one of them is not known */
        return;
    for (size_t i = 0; i < STALLS; i++)
        all += cost[i] = stall_cost(r, &stalls[i], stalled);
    for (size_t i = 0; i < STALLS; i++) {
        double share = all > 0 ? cost[i] / all : 0;
        const struct explain_change part = { NAN, NAN, share * mid, share * whole.low,
                                             share * whole.high };
        if (share > 0)
            add_stall(r, &stalls[i], &part);
    }
}

/* Of programs: what the kernel does for them. */
static void add_system(struct ranking *r)
{
    const struct explain_change *s = &r->of[EXPLAIN_SYSTEM], *time = &r->of[EXPLAIN_TIME];
    const struct explain_change *busy = &r->of[EXPLAIN_BUSY];
    struct strbuf evidence;

    if (!change_is_shown(s) || !change_is_known(busy))
        return;
    double more = (s->head - s->base) * 1e6;
    double cpu = time->head * busy->head - time->base * busy->base;
    if (!(more > 0) || !(cpu > 0))
        return;
    double part = share_clipped(more / cpu) * (time->mid + busy->mid);
    const struct explain_change of_time = { s->base, s->head, part, part * s->low / s->mid,
                                            part * s->high / s->mid };
    struct cause *cause = add_part(r, CAUSE_SYSTEM, "time in the kernel", &of_time);
    if (!cause)
        return;
    cause->change = expm1(s->mid);
    strbuf_init(&evidence);
    write_counts(s, "ms of system time", &evidence);
    if (change_is_shown(&r->of[EXPLAIN_FAULTS])) {
        strbuf_adds(&evidence, "; ");
        write_counts(&r->of[EXPLAIN_FAULTS], "page faults", &evidence);
    }
    cause->evidence = strbuf_detach(&evidence);
}

void ranking_add_parts(struct ranking *r)
{
    add_busy(r);
    add_clock(r);
    add_system(r);
    add_stalls(r);
}

/* ---- instructions ---- */

static void write_functions(const struct code_diff *d, struct strbuf *out)
{
    for (size_t i = 0; i < d->changed.nr && i < 3; i++)
        strbuf_addf(out, "%s%.60s()",
                    i ? ", " : "; other machine code: ", d->changed.items[i].name);
}

void ranking_add_work(struct ranking *r)
{
    const struct explain_change *work = &r->of[EXPLAIN_INSTRUCTIONS];
    double share = work->mid / r->all;
    struct strbuf evidence;

    if (!change_is_shown(work) || !(share >= PART_LEAST))
        return;
    struct cause *cause = ranking_add(r, CAUSE_WORK, "more instructions");
    cause_set_share(cause, share, BELIEF_WORK);
    cause->change = expm1(work->mid);
    cause->share_of[0] = work->low / r->all;
    cause->share_of[1] = work->high / r->all;
    strbuf_init(&evidence);
    write_counts(work, "instructions", &evidence);
    if (r->localised <= 0)
        write_functions(&r->c->code, &evidence);
    cause->evidence = strbuf_detach(&evidence);
}
