/* SPDX-License-Identifier: MIT */
/* What the parts of the ranking share. */
#include "explain/explain_parts.h"

#include "base/memory.h"

#include <math.h>

bool change_is_known(const struct explain_change *c)
{
    return isfinite(c->mid);
}

/* Is it more than noise? With too few launches for an interval, it must be large. */
bool change_is_shown(const struct explain_change *c)
{
    if (!change_is_known(c))
        return false;
    return isfinite(c->low) ? c->low > 0 || c->high < 0 : fabs(c->mid) > UNTESTED_LEAST;
}

struct cause *ranking_add(struct ranking *r, enum cause_kind kind, const char *name)
{
    struct cause *cause = array_push(&r->out->causes);

    cause->kind = kind;
    cause->name = memory_string(name);
    cause->change = cause->share_of[0] = cause->share_of[1] = NAN;
    return cause;
}

/* A share of what no part explains so far: of the whole change. */
double ranking_rest(const struct ranking *r)
{
    double rest = 1 - r->measured / r->all;

    return rest < 0 ? 0 : rest > 1 ? 1 : rest;
}

double share_clipped(double share)
{
    return share > 1 ? 1 : share;
}

void cause_set_share(struct cause *cause, double share, double belief)
{
    cause->share = share_clipped(share);
    cause->weight = cause->share * belief;
}
