/* SPDX-License-Identifier: MIT */
/* Which cause is named first, with which share. The rates on noisy evidence are in
 * tests/statistics/statistics_explain.c. */
#include "testing.h"

#include "base/memory.h"
#include "explain/explain.h"

enum { LAUNCHES = 5 };

/* A launch a number: base, and head as `factor` times that, with a little noise. */
static void add_series(struct explain_case *c, enum explain_quantity q, double base, double factor)
{
    static const double noise[LAUNCHES] = { 0.999, 1.001, 1, 1.002, 0.998 };

    for (int i = 0; i < LAUNCHES; i++) {
        explain_add(c, q, EXPLAIN_BASE, base * noise[i]);
        explain_add(c, q, EXPLAIN_HEAD, base * factor * noise[LAUNCHES - 1 - i]);
    }
}

static void add_operation(struct explain_case *c, const char *name, double base, double head)
{
    for (int i = 0; i < LAUNCHES; i++) {
        explain_add_operation(c, name, EXPLAIN_BASE, base * (1 + 0.001 * i));
        explain_add_operation(c, name, EXPLAIN_HEAD, head * (1 + 0.001 * i));
    }
}

/* ---- what is known of the cases ---- */

static void know_clock(struct explain_case *c)
{
    add_series(c, EXPLAIN_CLOCK, 3000, 1 / 1.5);
    add_operation(c, "attention", 600, 900);
    add_operation(c, "mlp", 300, 450);
    add_operation(c, "head", 100, 150);
}

static void know_probe(struct explain_case *c)
{
    add_series(c, EXPLAIN_PROBE, 5000, 1.5);
}

static void know_threads(struct explain_case *c)
{
    add_series(c, EXPLAIN_BUSY, 1.5, 1 / 1.5);
    explain_add_fact(c, FACT_THREADS, "OMP_NUM_THREADS", "3", "2");
}

/* Of three parts the clock is one: the rest is not known. */
static void know_a_third(struct explain_case *c)
{
    add_series(c, EXPLAIN_CLOCK, 3000, pow(1.5, -1.0 / 3));
}

static void know_others(struct explain_case *c)
{
    add_series(c, EXPLAIN_BUSY, 1.5, 1 / 1.5);
    add_series(c, EXPLAIN_WAITED, 20, 3);
}

static void know_others_of_a_program(struct explain_case *c)
{
    add_series(c, EXPLAIN_BUSY, 0.96, 1 / 1.5);
    add_series(c, EXPLAIN_PREEMPTED, 2, 60);
    c->is_program = true;
}

/* Whatever it waits for, it is not said to have threads. */
static void know_a_program_that_waits(struct explain_case *c)
{
    add_series(c, EXPLAIN_BUSY, 0.96, 1 / 1.5);
    add_series(c, EXPLAIN_PREEMPTED, 2, 1);
    c->is_program = true;
}

static void know_threads_of_a_program(struct explain_case *c)
{
    know_a_program_that_waits(c);
    explain_add_fact(c, FACT_THREADS, "-j", "3", "2");
}

static void know_attention(struct explain_case *c)
{
    add_operation(c, "attention", 500, 915);
    add_operation(c, "mlp", 300, 385);
    add_operation(c, "layer norm", 100, 100);
    add_operation(c, "head", 100, 100);
}

static void know_flags_and_attention(struct explain_case *c)
{
    know_attention(c);
    explain_add_fact(c, FACT_BUILD, "flags", "-O2", "-O0");
}

/* Flags that changed nothing but attention. */
static void know_code(struct explain_case *c)
{
    know_flags_and_attention(c);
    c->code.known = true;
    c->code.common = 100;
    c->code.same = 99;
    *array_push(&c->code.changed) =
        (struct code_function) { memory_string("attention_simd_avx2"), { 900, 950 } };
}

static void know_misses(struct explain_case *c)
{
    add_series(c, EXPLAIN_BUSY, 1, 1);
    add_series(c, EXPLAIN_INSTRUCTIONS, 200000, 1);
    add_series(c, EXPLAIN_CYCLES, 100000, 1.5);
    add_series(c, EXPLAIN_CACHE_MISSES, 50, 9);
    know_attention(c);
}

static void know_branches(struct explain_case *c)
{
    add_series(c, EXPLAIN_BUSY, 1, 1);
    add_series(c, EXPLAIN_INSTRUCTIONS, 200000, 1);
    add_series(c, EXPLAIN_CYCLES, 100000, 1.5);
    add_series(c, EXPLAIN_CACHE_MISSES, 50, 1);
    add_series(c, EXPLAIN_BRANCH_MISSES, 500, 8);
}

/* Of 50,000 cycles more the misses could cost 25,000, the branches 17,500. */
static void know_misses_and_branches(struct explain_case *c)
{
    add_series(c, EXPLAIN_BUSY, 1, 1);
    add_series(c, EXPLAIN_INSTRUCTIONS, 200000, 1);
    add_series(c, EXPLAIN_CYCLES, 100000, 1.5);
    add_series(c, EXPLAIN_CACHE_MISSES, 50, 3.5);
    add_series(c, EXPLAIN_BRANCH_MISSES, 500, 10.0 / 3);
}

static void know_work(struct explain_case *c)
{
    add_series(c, EXPLAIN_BUSY, 1, 1);
    add_series(c, EXPLAIN_INSTRUCTIONS, 200000, 1.5);
    add_series(c, EXPLAIN_CYCLES, 100000, 1.5);
}

static void know_system(struct explain_case *c)
{
    add_series(c, EXPLAIN_BUSY, 1, 1);
    add_series(c, EXPLAIN_SYSTEM, 0.0001, 6); /* ms of 1 us: 0.1 us became 0.6 */
    add_series(c, EXPLAIN_FAULTS, 10, 90);
}

static void know_library(struct explain_case *c)
{
    explain_add_fact(c, FACT_LIBRARY, "libc", "2.36", "2.38");
    explain_add_fact(c, FACT_OTHER, "kernel_release", "6.1", "6.5");
    explain_add_fact(c, FACT_IDENTITY, "commit", "a", "b");
}

static void know_vague(struct explain_case *c)
{
    explain_add_fact(c, FACT_OTHER, "kernel_release", "6.1", "6.5");
}

static void know_nothing(struct explain_case *c)
{
    explain_add_fact(c, FACT_IDENTITY, "commit", "a", "b");
}

/* The function that changed is named, not the one that is new and larger. */
static void know_a_function(struct explain_case *c)
{
    c->code.known = true;
    c->code.common = 5;
    c->code.same = 4;
    *array_push(&c->code.changed) = (struct code_function) { memory_string("clear"), { 0, 300 } };
    *array_push(&c->code.changed) = (struct code_function) { memory_string("launch"), { 90, 120 } };
}

static void know_a_function_and_its_operation(struct explain_case *c)
{
    know_attention(c);
    know_a_function(c);
}

static void know_a_function_and_its_instructions(struct explain_case *c)
{
    know_work(c);
    know_a_function(c);
}

static void know_a_function_and_a_library(struct explain_case *c)
{
    know_library(c);
    know_a_function(c);
}

static void know_many_functions(struct explain_case *c)
{
    c->code.known = true;
    c->code.common = 20;
    c->code.same = 4;
}

static const struct {
    const char *what;
    void (*know)(struct explain_case *c);
    enum cause_kind kind;
    const char *name; /* NULL: whatever it is called */
    double share;     /* of the first */
    const char *evidence;
    size_t causes;
} cases[] = {
    { "a clock", know_clock, CAUSE_CLOCK, NULL, 1, "2000 MHz, were 3000", 1 },
    { "the probe alone", know_probe, CAUSE_CLOCK, "a slower machine", 1, "by the probe", 1 },
    { "threads", know_threads, CAUSE_THREADS, NULL, 1, "OMP_NUM_THREADS: 3 -> 2", 1 },
    { "a part of it", know_a_third, CAUSE_CLOCK, NULL, 1.0 / 3, "MHz", 2 },
    { "other programs", know_others, CAUSE_MACHINE, NULL, 1, "waited for one 40 %", 1 },
    { "other programs beside one", know_others_of_a_program, CAUSE_MACHINE,
      "other programs on its processors", 1, "lost one to others 118 times a second more", 1 },
    { "a program that waits", know_a_program_that_waits, CAUSE_THREADS, "fewer processors at work",
      1, "0.64 processors busy, were 0.96", 1 },
    { "threads of a program", know_threads_of_a_program, CAUSE_THREADS, "fewer threads at work", 1,
      "-j: 3 -> 2", 1 },
    { "an operation", know_attention, CAUSE_OPERATION, "attention", 0.83, "916.8 ns", 2 },
    { "flags beside it", know_flags_and_attention, CAUSE_BUILD, "flags", 1, "-O2 -> -O0", 3 },
    { "flags that did nothing", know_code, CAUSE_OPERATION, "attention", 0.83,
      "attention_simd_avx2() has other machine code", 3 },
    { "cache misses", know_misses, CAUSE_CACHE, NULL, 1, "450 cache misses a run, were 50", 3 },
    { "branches", know_branches, CAUSE_BRANCHES, NULL, 1, "4000 mispredicted", 1 },
    { "both", know_misses_and_branches, CAUSE_CACHE, NULL, 25.0 / 42.5, "175 cache misses", 2 },
    { "more work", know_work, CAUSE_WORK, NULL, 1, "300000 instructions a run", 1 },
    { "the kernel", know_system, CAUSE_SYSTEM, NULL, 1, "900 page faults a run, were 10", 1 },
    { "a library", know_library, CAUSE_LIBRARY, "libc", 1, "2.36 -> 2.38", 2 },
    { "what seldom matters", know_vague, CAUSE_UNKNOWN, NULL, 1, "not at hand", 2 },
    { "nothing", know_nothing, CAUSE_UNKNOWN, NULL, 1, "hardware counters", 1 },
    { "a function", know_a_function, CAUSE_CODE, "other code in launch() and 1 more", 1,
      "launch() has other machine code (120 bytes, were 90), clear() is new", 1 },
    { "a function and an operation", know_a_function_and_its_operation, CAUSE_OPERATION,
      "attention", 0.83, "no function of that name", 2 },
    { "a function and work", know_a_function_and_its_instructions, CAUSE_WORK, NULL, 1,
      "other machine code: clear(), launch()", 1 },
    { "a function and a library", know_a_function_and_a_library, CAUSE_LIBRARY, "libc", 1,
      "1 of 5 functions", 3 },
    { "another build", know_many_functions, CAUSE_BUILD, NULL, 1, "16 of 20 functions", 1 },
};

TEST(the_cause_is_named_first)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct explain_case c;
        struct explanation e;
        explain_case_init(&c, "k/v");
        add_series(&c, EXPLAIN_TIME, 1000, 1.5);
        cases[i].know(&c);
        explain_causes(&c, &e);
        const struct cause *first = &e.causes.items[0];
        if (first->kind != cases[i].kind || e.causes.nr != cases[i].causes)
            fail_msg("%s: %zu causes, first %s (%s), %s", cases[i].what, e.causes.nr, first->name,
                     cause_kind_name(first->kind), first->evidence);
        if (cases[i].name)
            assert_string_equal(first->name, cases[i].name);
        assert_close(first->share, cases[i].share, 0.02);
        assert_has(first->evidence, cases[i].evidence);
        explanation_release(&e);
        code_diff_release(&c.code);
        explain_case_release(&c);
    }
}

TEST(shares_and_what_is_left)
{
    struct explain_case c;
    struct explanation e;

    explain_case_init(&c, "k/v");
    add_series(&c, EXPLAIN_TIME, 1000, 1.5);
    know_a_third(&c);
    explain_causes(&c, &e);
    assert_int_equal(e.causes.items[1].kind, CAUSE_UNKNOWN);
    assert_close(e.causes.items[1].share, 2.0 / 3, 0.01);
    assert_true(e.causes.items[0].share_of[0] < 1.0 / 3 && e.causes.items[0].share_of[1] > 1.0 / 3);
    explanation_release(&e);
    explain_case_release(&c);
}

/* The same cycles count once, whatever they waited for. */
TEST(stalled_cycles_are_shared_out)
{
    struct explain_case c;
    struct explanation e;

    explain_case_init(&c, "k/v");
    add_series(&c, EXPLAIN_TIME, 1000, 1.5);
    know_misses_and_branches(&c);
    explain_causes(&c, &e);
    assert_int_equal(e.causes.items[1].kind, CAUSE_BRANCHES);
    assert_close(e.causes.items[0].share + e.causes.items[1].share, 1, 0.01);
    assert_close(e.causes.items[1].share_of[0] / e.causes.items[0].share_of[0], 17.5 / 25, 0.01);
    explanation_release(&e);
    explain_case_release(&c);
}

/* Misses and branches that could each cost half of the cycles that are more. */
static void know_halves(struct explain_case *c, double factor)
{
    double half = 100000 * (factor - 1) / 2;

    add_series(c, EXPLAIN_TIME, 1000, factor);
    add_series(c, EXPLAIN_BUSY, 1, 1);
    add_series(c, EXPLAIN_INSTRUCTIONS, 200000, 1);
    add_series(c, EXPLAIN_CYCLES, 100000, factor);
    add_series(c, EXPLAIN_CACHE_MISSES, 50, 1 + half / 200 / 50);
    add_series(c, EXPLAIN_BRANCH_MISSES, 500, 1 + half / 15 / 500);
}

/* One launch a side, or two, have no interval: then all stalled cycles must be 5 % of the time, not
 * what each kind has of them. */
TEST(stalled_cycles_of_few_launches_must_be_many)
{
    static const struct {
        size_t launches;
        double factor;
        bool shown;
    } rows[] = {
        { 1, 1.083, true }, { 2, 1.083, true }, { LAUNCHES, 1.083, true },
        { 1, 1.04, false }, { 2, 1.04, false }, { LAUNCHES, 1.04, true },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct explain_case c;
        struct explanation e;
        explain_case_init(&c, "k/v");
        know_halves(&c, rows[i].factor);
        for (size_t k = 0; k < 2 * EXPLAIN_QUANTITIES; k++)
            if (c.of[k / 2].of[k % 2].nr > rows[i].launches)
                c.of[k / 2].of[k % 2].nr = rows[i].launches;
        explain_causes(&c, &e);
        assert_int_equal(e.causes.nr, rows[i].shown ? 2 : 1);
        for (size_t k = 0; k < e.causes.nr; k++) {
            const struct cause *cause = &e.causes.items[k];
            bool stalls = cause->kind == CAUSE_CACHE || cause->kind == CAUSE_BRANCHES;
            assert_int_equal(stalls, rows[i].shown);
            assert_close(cause->share, rows[i].shown ? 0.5 : 1, 0.02);
            assert_int_equal(stalls && isfinite(cause->share_of[0]), rows[i].launches == LAUNCHES);
        }
        explanation_release(&e);
        explain_case_release(&c);
    }
}

/* One profile a side, or two, have no interval: then an operation must be 5 % slower of itself. All
 * are 2.5 % slower here, and attention (600 ns) more. */
TEST(an_operation_of_few_profiles_must_be_much_slower)
{
    static const struct {
        int profiles;
        double base, head; /* of attention; a base of 0: that side lacks it */
        bool shown, limits;
    } rows[] = {
        { 1, 600, 640, false, false }, { 1, 600, 660, true, false }, { 2, 600, 640, false, false },
        { 2, 600, 660, true, false },  { 3, 600, 640, true, true },  { 1, 0, 60, true, false },
        { 3, 0, 60, true, true },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct explain_case c;
        struct explanation e;
        explain_case_init(&c, "k/v");
        add_series(&c, EXPLAIN_TIME, 1000, 1.05);
        for (int n = 0; n < rows[i].profiles; n++) {
            double noise = 1 + 0.001 * n;
            if (rows[i].base > 0)
                explain_add_operation(&c, "attention", EXPLAIN_BASE, rows[i].base * noise);
            explain_add_operation(&c, "attention", EXPLAIN_HEAD, rows[i].head * noise);
            explain_add_operation(&c, "mlp", EXPLAIN_BASE, 400 * noise);
            explain_add_operation(&c, "mlp", EXPLAIN_HEAD, 410 * noise);
        }
        explain_causes(&c, &e);
        const struct cause *first = &e.causes.items[0];
        assert_int_equal(first->kind, rows[i].shown ? CAUSE_OPERATION : CAUSE_UNKNOWN);
        if (rows[i].shown)
            assert_string_equal(first->name, "attention");
        assert_int_equal(isfinite(first->share_of[0]) && isfinite(first->share_of[1]),
                         rows[i].limits);
        explanation_release(&e);
        explain_case_release(&c);
    }
}

TEST(what_did_not_get_slower_has_no_cause)
{
    static const double factors[] = { 0.7, 1 };

    for (size_t i = 0; i < 2; i++) {
        struct explain_case c;
        struct explanation e;
        explain_case_init(&c, "k/v");
        add_series(&c, EXPLAIN_TIME, 1000, factors[i]);
        know_attention(&c);
        explain_add_fact(&c, FACT_BUILD, "flags", "-O2", "-O0");
        c.of[EXPLAIN_TIME].of[EXPLAIN_HEAD].nr -= i ? LAUNCHES : 0; /* or no time at all */
        explain_causes(&c, &e);
        assert_int_equal(e.causes.nr, 1);
        assert_int_equal(e.causes.items[0].kind, CAUSE_UNKNOWN);
        explanation_release(&e);
        explain_case_release(&c);
    }
}

RUN_TESTS(NULL, NULL)
