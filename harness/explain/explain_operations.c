/* SPDX-License-Identifier: MIT */
/* In which scopes the time is. */
#include "explain/explain_parts.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ns of an iteration: medians, and half the 95 % interval of their difference; NaN: too few
 * profiles of a side for one. */
struct operation_change {
    const struct explain_operation *operation;
    double base, head, reach;
};

/* An operation that a side lacks takes no time there, without doubt. */
static struct middle ns_middle(const struct explain_series *s, int side)
{
    size_t nr = s->of[side].nr;

    if (nr == 0)
        return (struct middle) { 0, 0 };
    double *x = memory_zeroed(nr, sizeof(*x));

    for (size_t i = 0; i < nr; i++)
        x[i] = s->of[side].items[i];
    struct middle m = middle_of(x, nr);
    free(x);
    return m;
}

static struct operation_change operation_change_of(const struct explain_operation *o)
{
    struct middle base = ns_middle(&o->self, EXPLAIN_BASE);
    struct middle head = ns_middle(&o->self, EXPLAIN_HEAD);
    size_t nr = o->self.of[0].nr + o->self.of[1].nr;
    double t = stats_t_quantile(0.975, nr > 3 ? (double)nr - 2 : 1);

    return (struct operation_change) { o, base.median, head.median,
                                       hypot(base.error, head.error) * t };
}

/* What all that matter got slower by: the median of their logs, the lower one of two, since of two
 * the lesser change is the common one. One alone has nothing in common. */
static double common_change(const struct operation_change *o, size_t nr, double total)
{
    double *logs = memory_zeroed(nr + 1, sizeof(*logs)), common = 0;
    size_t n = 0;

    for (size_t i = 0; i < nr; i++)
        if (o[i].base > 0.02 * total && o[i].head > 0)
            logs[n++] = log(o[i].head / o[i].base);
    stats_sort(logs, n);
    if (n > 1)
        common = logs[(n - 1) / 2];
    free(logs);
    return common > 0 ? common : 0;
}

static void write_operation(const struct ranking *r, const struct operation_change *o,
                            struct cause *cause)
{
    const struct code_function *f = code_diff_of(&r->c->code, o->operation->name);
    char from[TEXT_UNIT_SIZE], to[TEXT_UNIT_SIZE];
    struct strbuf evidence;

    strbuf_init(&evidence);
    strbuf_addf(&evidence, "%s an iteration, were %s", text_time(o->head, to),
                text_time(o->base, from));
    if (f)
        strbuf_addf(&evidence, "; %.80s() has other machine code", f->name);
    else if (r->c->code.known)
        strbuf_adds(&evidence, "; no function of that name has other machine code");
    cause->evidence = strbuf_detach(&evidence);
}

/* Is what it got slower by beyond what all did more than noise? As change_is_shown() asks. */
static bool own_is_shown(const struct operation_change *o, double common)
{
    double expected = o->base * exp(common);

    return o->head - expected > (isfinite(o->reach) ? o->reach : expected * expm1(UNTESTED_LEAST));
}

static void add_operation(struct ranking *r, const struct operation_change *o, double common,
                          double change)
{
    double own = o->head - o->base * exp(common), share = own / change;

    if (!own_is_shown(o, common) || share < PART_LEAST)
        return;
    struct cause *cause = ranking_add(r, CAUSE_OPERATION, o->operation->name);
    cause_set_share(cause, share, BELIEF_OPERATION);
    cause->share_of[0] = (own - o->reach) / change;
    cause->share_of[1] = (own + o->reach) / change;
    cause->change = o->base > 0 ? o->head / o->base - 1 : NAN;
    write_operation(r, o, cause);
    r->localised += cause->share;
}

/* Beside a side without any profile all operations of the other would look new. */
bool case_has_operations(const struct explain_case *c)
{
    bool has[EXPLAIN_SIDES] = { false };

    for (size_t i = 0; i < c->operations.nr; i++)
        for (int s = 0; s < EXPLAIN_SIDES; s++)
            has[s] |= c->operations.items[i].self.of[s].nr > 0;
    return c->operations.nr > 1 && has[EXPLAIN_BASE] && has[EXPLAIN_HEAD];
}

void ranking_add_operations(struct ranking *r)
{
    size_t nr = r->c->operations.nr;
    struct operation_change *o = memory_zeroed(nr + 1, sizeof(*o));
    double total[2] = { 0 };

    for (size_t i = 0; i < nr; i++) {
        o[i] = operation_change_of(&r->c->operations.items[i]);
        total[0] += o[i].base;
        total[1] += o[i].head;
    }
    double common = common_change(o, nr, total[0]), change = total[1] - total[0];
    if (case_has_operations(r->c) && change > 0.2 * (exp(r->all) - 1) * total[0])
        for (size_t i = 0; i < nr; i++)
            add_operation(r, &o[i], common, change);
    free(o);
}
