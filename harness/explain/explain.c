/* SPDX-License-Identifier: MIT */
#include "explain/explain.h"

#include "base/memory.h"
#include "explain/explain_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *cause_kind_name(enum cause_kind kind)
{
    static const char *const names[] = {
        [CAUSE_OPERATION] = "operation", [CAUSE_CACHE] = "cache misses",
        [CAUSE_BRANCHES] = "branches",   [CAUSE_SYSTEM] = "system",
        [CAUSE_THREADS] = "threads",     [CAUSE_CLOCK] = "clock",
        [CAUSE_MACHINE] = "machine",     [CAUSE_BUILD] = "build",
        [CAUSE_LIBRARY] = "library",     [CAUSE_SETTING] = "setting",
        [CAUSE_WORK] = "work",           [CAUSE_CODE] = "code",
        [CAUSE_UNKNOWN] = "unknown",
    };

    return names[kind];
}

/* ---- the order ---- */

/* What is believed, what is not known, what is doubted. */
static int cause_rank(const struct cause *cause)
{
    return cause->kind == CAUSE_UNKNOWN ? 1 : cause->is_doubted ? 2 : 0;
}

static int by_standing_and_weight(const void *x, const void *y)
{
    const struct cause *a = x, *b = y;

    if (cause_rank(a) != cause_rank(b))
        return cause_rank(a) - cause_rank(b);
    if (a->weight < b->weight || a->weight > b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->kind < b->kind ? -1 : a->kind > b->kind;
}

static void write_missing(const struct ranking *r, struct strbuf *out)
{
    const struct {
        bool there;
        const char *what;
    } parts[] = {
        { case_has_operations(r->c), r->c->is_without_self
                                         ? "self times of operations (an older profile has none)"
                                         : "scopes (a profile of both sides)" },
        { change_is_known(&r->of[EXPLAIN_INSTRUCTIONS]), "hardware counters" },
        { r->c->code.known, "the machine code of both sides" },
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!parts[i].there)
            strbuf_addf(out, "%s%s", out->length ? ", " : "not at hand: ", parts[i].what);
    if (out->length == 0)
        strbuf_adds(out, "nothing that was looked at differs by as much");
}

/* Behind what is believed; alone where there is nothing else. */
static void add_unknown(struct ranking *r)
{
    double told = 1 - ranking_rest(r), work = 0;
    struct strbuf evidence;

    for (size_t i = 0; i < r->out->causes.nr; i++)
        if (r->out->causes.items[i].kind == CAUSE_WORK)
            work = r->out->causes.items[i].share;
    double rest = r->has_fact ? 1 : share_clipped(r->localised > work ? r->localised : work);
    double left = 1 - share_clipped(told + ranking_rest(r) * rest);
    if (left < SHARE_UNTOLD)
        return;
    struct cause *cause = ranking_add(r, CAUSE_UNKNOWN, "not known");
    cause_set_share(cause, left, 0);
    strbuf_init(&evidence);
    write_missing(r, &evidence);
    cause->evidence = strbuf_detach(&evidence);
}

void explain_causes(const struct explain_case *c, struct explanation *out)
{
    struct ranking r = { .c = c, .out = out };

    *out = (struct explanation) { .key = memory_string(c->key) };
    for (int q = 0; q < EXPLAIN_QUANTITIES; q++)
        r.of[q] = explain_change_of(&c->of[q]);
    out->change = r.of[EXPLAIN_TIME];
    r.all = out->change.mid;
    if (r.all > 0) {
        ranking_add_parts(&r);
        ranking_add_operations(&r);
        ranking_add_facts(&r);
        ranking_add_work(&r);
        ranking_add_code(&r);
    } else {
        r.all = 1; /* nothing to share out */
    }
    add_unknown(&r);
    qsort(out->causes.items, out->causes.nr, sizeof(*out->causes.items), by_standing_and_weight);
}
