/* SPDX-License-Identifier: MIT */
/* What differs beside the times, and what that may have caused. */
#include "explain/explain_parts.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool case_has_fact(const struct explain_case *c, enum explain_fact_kind kind)
{
    for (size_t i = 0; i < c->facts.nr; i++)
        if (c->facts.items[i].kind == kind)
            return true;
    return false;
}

/* Does `text` hold this word, between blanks? */
static bool holds_word(const char *text, const char *word, size_t length)
{
    for (const char *at = text; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

/* Of a long value, such as flags, the words that the other side has not. */
static void write_value(const char *value, const char *other, struct strbuf *out)
{
    size_t before = out->length;

    if (!value || !other || !strchr(value, ' ')) {
        strbuf_addf(out, "%.120s", value ? value : "(not told)");
        return;
    }
    for (const char *at = value; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length && out->length < before + 120 && !holds_word(other, at, length))
            strbuf_addf(out, "%s%.*s", out->length > before ? " " : "", (int)length, at);
    }
    if (out->length == before)
        strbuf_adds(out, "(without)");
}

/* "OMP_NUM_THREADS: 2 -> 1; affinity: ..." of that kind, appended. */
void case_write_facts(const struct explain_case *c, enum explain_fact_kind kind, struct strbuf *out)
{
    for (size_t i = 0; i < c->facts.nr; i++) {
        const struct explain_fact *f = &c->facts.items[i];
        if (f->kind != kind)
            continue;
        strbuf_addf(out, "%s%s: ", out->length ? "; " : "", f->name);
        write_value(f->base, f->head, out);
        strbuf_adds(out, " -> ");
        write_value(f->head, f->base, out);
    }
}

static double share_of_changed_code(const struct code_diff *d)
{
    return d->common ? (double)(d->common - d->same) / (double)d->common : 0;
}

/* Does changed code explain the operation that most of the time went to? */
static bool is_explained_by_code(const struct ranking *r)
{
    for (size_t i = 0; i < r->out->causes.nr; i++) {
        const struct cause *cause = &r->out->causes.items[i];
        if (cause->kind == CAUSE_OPERATION && cause->share > 0.3 &&
            code_diff_of(&r->c->code, cause->name))
            return true;
    }
    return false;
}

/* Well enough to be a part of the sum, if it has any: then a fact adds nothing to it. */
static bool is_measured(const struct ranking *r, enum explain_quantity quantity)
{
    const struct explain_change *c = &r->of[quantity];

    return change_is_known(c) && (!isfinite(c->low) || c->high - c->low < 0.5 * r->all);
}

static double belief_in(const struct ranking *r, enum explain_fact_kind kind)
{
    const struct code_diff *code = &r->c->code;
    bool few = code->known && share_of_changed_code(code) < SMALL_CODE_CHANGE;

    switch (kind) {
    case FACT_BUILD:
        return few ? BELIEF_DOUBTED : BELIEF_FACT;
    case FACT_LIBRARY:
        return is_explained_by_code(r) ? BELIEF_DOUBTED : BELIEF_FACT;
    case FACT_THREADS:
        return is_measured(r, EXPLAIN_BUSY) ? 0 : BELIEF_FACT;
    case FACT_CLOCK:
        return is_measured(r, EXPLAIN_CYCLES) || is_measured(r, EXPLAIN_CLOCK) ? 0 : BELIEF_FACT;
    case FACT_MEMORY:
        return change_is_known(&r->of[EXPLAIN_CACHE_MISSES]) ? BELIEF_DOUBTED : BELIEF_VAGUE;
    case FACT_MACHINE:
    case FACT_INPUT:
        return BELIEF_FACT;
    case FACT_OTHER:
        return BELIEF_DOUBTED;
    case FACT_IDENTITY:
        return 0;
    }
    return 0;
}

static const struct {
    enum explain_fact_kind fact;
    enum cause_kind cause;
    const char *name; /* where several differ */
} fact_causes[] = {
    { FACT_MACHINE, CAUSE_MACHINE, "another machine" },
    { FACT_BUILD, CAUSE_BUILD, "another build" },
    { FACT_LIBRARY, CAUSE_LIBRARY, "other libraries" },
    { FACT_THREADS, CAUSE_THREADS, "other threads" },
    { FACT_CLOCK, CAUSE_CLOCK, "another clock" },
    { FACT_INPUT, CAUSE_SETTING, "other arguments" },
    { FACT_MEMORY, CAUSE_SETTING, "other memory settings" },
    { FACT_OTHER, CAUSE_SETTING, "other settings" },
};

static void write_fact_evidence(const struct ranking *r, enum explain_fact_kind kind, double belief,
                                struct strbuf *out)
{
    const struct code_diff *code = &r->c->code;

    case_write_facts(r->c, kind, out);
    if ((kind == FACT_BUILD || kind == FACT_LIBRARY) && code->known)
        strbuf_addf(out, "; %zu of %zu functions have other machine code",
                    code->common - code->same, code->common);
    if (belief < BELIEF_FACT && belief > 0 && (kind == FACT_BUILD || kind == FACT_LIBRARY))
        strbuf_adds(out, ", which speaks for another cause");
}

/* All facts of a kind are one cause: nothing tells them apart. */
static void add_facts_of(struct ranking *r, size_t row)
{
    enum explain_fact_kind kind = fact_causes[row].fact;
    double belief = belief_in(r, kind), rest = ranking_rest(r);
    const struct explain_fact *only = NULL;
    struct strbuf evidence;
    size_t nr = 0;

    for (size_t i = 0; i < r->c->facts.nr; i++)
        if (r->c->facts.items[i].kind == kind && ++nr)
            only = &r->c->facts.items[i];
    if (nr == 0 || belief <= 0 || rest < PART_LEAST)
        return;
    struct cause *cause =
        ranking_add(r, fact_causes[row].cause, nr == 1 ? only->name : fact_causes[row].name);
    cause_set_share(cause, rest, belief);
    cause->by_elimination = true;
    cause->is_doubted = belief <= BELIEF_DOUBTED;
    r->has_fact |= belief >= BELIEF_FACT;
    strbuf_init(&evidence);
    write_fact_evidence(r, kind, belief, &evidence);
    cause->evidence = strbuf_detach(&evidence);
}

/* Builds that say nothing of themselves: most functions differ. */
static void add_other_code(struct ranking *r)
{
    const struct code_diff *code = &r->c->code;
    double changed = share_of_changed_code(code), rest = ranking_rest(r);
    struct strbuf evidence;

    if (!code->known || code->common < 3 || changed < 0.5 || rest < PART_LEAST ||
        case_has_fact(r->c, FACT_BUILD))
        return;
    struct cause *cause = ranking_add(r, CAUSE_BUILD, "built otherwise: flags or compiler");
    cause_set_share(cause, rest, BELIEF_FACT);
    cause->by_elimination = true;
    r->has_fact = true;
    strbuf_init(&evidence);
    strbuf_addf(&evidence,
                "%zu of %zu functions have other machine code; neither side says its flags",
                code->common - code->same, code->common);
    cause->evidence = strbuf_detach(&evidence);
}

void ranking_add_facts(struct ranking *r)
{
    for (size_t i = 0; i < sizeof(fact_causes) / sizeof(fact_causes[0]); i++)
        add_facts_of(r, i);
    add_other_code(r);
}

/* ---- a few functions ---- */

static void write_function_change(const struct code_function *f, struct strbuf *out)
{
    strbuf_addf(out, "%.60s() ", f->name);
    if (f->size[0] && f->size[1])
        strbuf_addf(out, "has other machine code (%llu bytes, were %llu)",
                    (unsigned long long)f->size[1], (unsigned long long)f->size[0]);
    else
        strbuf_adds(out, f->size[1] ? "is new" : "is gone");
}

/* What changed, before what is new or gone: new functions are called by one that changed. */
static const struct code_function *first_changed(const struct code_diff *code)
{
    for (size_t i = 0; i < code->changed.nr; i++)
        if (code->changed.items[i].size[0] && code->changed.items[i].size[1])
            return &code->changed.items[i];
    return &code->changed.items[0];
}

/* One of this name: a kernel is there once for each kind of vectors. */
static bool is_named(const struct code_function *const *named, size_t nr,
                     const struct code_function *f)
{
    for (size_t i = 0; i < nr; i++)
        if (!strcmp(named[i]->name, f->name))
            return true;
    return false;
}

static void write_changed_functions(const struct code_diff *code, const struct code_function *first,
                                    struct strbuf *out)
{
    enum { NAMED = 3 };
    const struct code_function *named[NAMED] = { first };
    size_t nr = 1;

    write_function_change(first, out);
    for (size_t i = 0; i < code->changed.nr && nr < NAMED; i++) {
        if (is_named(named, nr, &code->changed.items[i]))
            continue;
        strbuf_adds(out, ", ");
        write_function_change(&code->changed.items[i], out);
        named[nr++] = &code->changed.items[i];
    }
}

/* An operation that is named has its function beside it, and so have instructions. */
void ranking_add_code(struct ranking *r)
{
    const struct code_diff *code = &r->c->code;
    double rest = ranking_rest(r);
    struct strbuf text;

    if (!code->known || code->changed.nr == 0 || share_of_changed_code(code) >= 0.5 ||
        r->localised >= PART_LEAST || rest < PART_LEAST ||
        change_is_shown(&r->of[EXPLAIN_INSTRUCTIONS]))
        return;
    const struct code_function *first = first_changed(code);
    strbuf_init(&text);
    strbuf_addf(&text, "other code in %.60s()", first->name);
    if (code->changed.nr > 1)
        strbuf_addf(&text, " and %zu more", code->changed.nr - 1);
    struct cause *cause = ranking_add(r, CAUSE_CODE, text.data);
    cause_set_share(cause, rest, BELIEF_VAGUE);
    cause->by_elimination = true;
    r->has_fact = true;
    strbuf_clear(&text);
    write_changed_functions(code, first, &text);
    cause->evidence = strbuf_detach(&text);
}
