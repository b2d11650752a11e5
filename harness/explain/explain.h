/* SPDX-License-Identifier: MIT */
/*
 * Why did it get slower? From what is known of both sides of one benchmark to a list of causes, the
 * likeliest first, each with its share of the change. A pure function: nothing is measured or read
 * here (session/explain does that, evidence.h takes records apart).
 *
 *     struct explain_case c;
 *     explain_case_init(&c, key);
 *     explain_add(&c, EXPLAIN_TIME, EXPLAIN_BASE, ns); ... one value a launch
 *     explain_causes(&c, &explanation);
 *     ... explanation.causes[0] ...
 *     explanation_release(&explanation); explain_case_release(&c);
 *
 * The parts. A launch takes T = CPU time / processors busy, and its CPU time is instructions x
 * cycles an instruction / clock. So the logarithm of the change is a sum,
 *
 *     log T'/T = - log(busy'/busy) - log(clock'/clock) + log(instructions) + log(cycles each)
 *
 * and a part's share is its logarithm over that of the whole: shares of such parts add up, and a
 * part whose 95 % interval holds 0 has none. What the machine does not count is left out of the
 * sum, never taken for 0: its share stays with what is not told apart.
 *
 * Operations. In which scope the time is, is another view of the same change: shares of ns. What
 * all operations have in common (the median of their changes) is the machine's or the build's; an
 * operation's share is what it got slower by beyond that.
 *
 * Facts (compiler, flags, libraries, settings) have no size of their own. One that differs may have
 * caused all that no measured part explains, and no more; it is believed less where what else is
 * known speaks against it, such as flags that changed hardly any function.
 *
 * Values are medians over launches. The standard error of a median is taken from the median
 * absolute deviation, so that a wild launch moves neither (Rousseeuw and Croux 1993).
 */
#ifndef HARNESS_EXPLAIN_EXPLAIN_H
#define HARNESS_EXPLAIN_EXPLAIN_H

#include "base/array.h"
#include "explain/code_diff.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>

enum explain_side { EXPLAIN_BASE, EXPLAIN_HEAD, EXPLAIN_SIDES };

/* What may be known of a launch. Counts are of one run of what is measured. */
enum explain_quantity {
    EXPLAIN_TIME,          /* ns, without scopes */
    EXPLAIN_SCOPED,        /* ns, with scopes on */
    EXPLAIN_BUSY,          /* processors at work for it: CPU time / time */
    EXPLAIN_WAITED,        /* % of the time in which its threads were ready and had no processor */
    EXPLAIN_PREEMPTED,     /* of programs: how often a second they lost one to others */
    EXPLAIN_CLOCK,         /* MHz */
    EXPLAIN_PROBE,         /* ns: a fixed piece of work beside it (machine/probe.h) */
    EXPLAIN_SYSTEM,        /* ms in the kernel */
    EXPLAIN_INSTRUCTIONS,  /* these and the next: in user space */
    EXPLAIN_CYCLES,        /* */
    EXPLAIN_CACHE_MISSES,  /* */
    EXPLAIN_BRANCH_MISSES, /* */
    EXPLAIN_FAULTS,        /* page faults */
    EXPLAIN_QUANTITIES,
};

/* One value a launch, both sides. */
struct explain_series {
    ARRAY(double) of[EXPLAIN_SIDES];
};

/* What became of it: medians, and log(head / base) with its 95 % interval. NaN: not known; limits
 * alone NaN: too few launches. */
struct explain_change {
    double base, head, mid, low, high;
};

struct explain_operation {
    char *name;                 /* owned */
    struct explain_series self; /* ns of an iteration, without the scopes inside it */
};

enum explain_fact_kind {
    FACT_IDENTITY, /* which commit or run it is: no cause */
    FACT_BUILD,    /* compiler, flags, build type */
    FACT_LIBRARY,
    FACT_THREADS,
    FACT_CLOCK,
    FACT_MEMORY,
    FACT_MACHINE,
    FACT_INPUT, /* other arguments: other work */
    FACT_OTHER,
};

struct explain_fact {
    enum explain_fact_kind kind;
    char *name, *base, *head; /* owned; a value is NULL where that side does not say */
};

struct explain_case {
    const char *key; /* borrowed */
    struct explain_series of[EXPLAIN_QUANTITIES];
    ARRAY(struct explain_operation) operations; /* with the rest; together they are an iteration */
    ARRAY(struct explain_fact) facts;
    bool is_program;       /* nobody sees its threads, nor how long they wait */
    bool is_without_self;  /* a profile tells no self times, so its operations are left out */
    struct code_diff code; /* what it owns is borrowed: one serves all benchmarks */
};

enum cause_kind {
    CAUSE_OPERATION,
    CAUSE_CACHE,
    CAUSE_BRANCHES,
    CAUSE_SYSTEM, /* the kernel: page faults, files */
    CAUSE_THREADS,
    CAUSE_CLOCK,
    CAUSE_MACHINE, /* another machine, or other programs on it */
    CAUSE_BUILD,
    CAUSE_LIBRARY,
    CAUSE_SETTING,
    CAUSE_WORK, /* more instructions, of which nobody knows why */
    CAUSE_CODE, /* a few functions have other machine code, and nothing tells more */
    CAUSE_UNKNOWN,
    CAUSE_KINDS,
};

struct cause {
    enum cause_kind kind;
    char *name;          /* "attention", "threads 2 -> 1"; owned */
    char *evidence;      /* one line; owned */
    double change;       /* of its own quantity, head / base - 1; NaN: it has none */
    double share;        /* of the change; (0, 1] */
    double share_of[2];  /* 95 % interval; NaN: not known, as always where it is by elimination */
    bool by_elimination; /* a fact: up to that share */
    bool is_doubted;     /* a fact that something speaks against; behind what is not known */
    double weight;       /* by which causes are ranked: share times belief; [0, 1] */
};

struct explanation {
    char *key;     /* owned */
    char *what;    /* for people, in place of the key; owned, may be NULL */
    char *machine; /* class that it is on, where several are compared; owned, may be NULL */
    struct explain_change change;
    ARRAY(struct cause)
    causes;              /* likeliest first; then what is not known, where it is a tenth or
                          * more; then what is doubted. Never empty */
    ARRAY(char *) notes; /* sentences on what could not be had; owned */
    size_t launches;     /* run again, of each side */
    double seconds;      /* that took */
};

/* Of a comparison: the worst benchmark first. */
struct explanations {
    ARRAY(struct explanation) items;
    size_t left_out; /* red benchmarks for which the time did not suffice */
};

const char *cause_kind_name(enum cause_kind kind); /* "operation", "cache misses" */

void explain_case_init(struct explain_case *c, const char *key);
void explain_case_release(struct explain_case *c);
/* Values that are no positive number are left out, but for EXPLAIN_WAITED and
 * EXPLAIN_PREEMPTED, which may be 0. */
void explain_add(struct explain_case *c, enum explain_quantity quantity, enum explain_side side,
                 double value);
void explain_add_operation(struct explain_case *c, const char *name, enum explain_side side,
                           double ns);
/* `base` or `head` may be NULL. A fact that is there already is not added again. */
void explain_add_fact(struct explain_case *c, enum explain_fact_kind kind, const char *name,
                      const char *base, const char *head);
struct explain_change explain_change_of(const struct explain_series *series);

/* Fills `out` but for notes, launches and seconds. */
void explain_causes(const struct explain_case *c, struct explanation *out);
void explanation_note(struct explanation *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void explanation_release(struct explanation *e);
void explanations_release(struct explanations *e);

#endif
