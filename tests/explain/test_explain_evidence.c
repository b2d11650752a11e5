/* SPDX-License-Identifier: MIT */
/* What records, facts and commands say of the two sides. */
#include "testing.h"

#include "base/memory.h"
#include "explain/evidence.h"
#include "explain/explain.h"

enum { LAUNCHES = 5 };

/* ---- profiles among records ---- */

/* `self` below 0: an older profile, which does not tell it. */
static void add_profiled(struct records *r, int launch, const char *operation, uint64_t total,
                         double self)
{
    struct record *record = records_add(r, 0, launch);
    struct measurement *m = &record->m;
    struct error err;
    char key[128];

    snprintf(key, sizeof(key), "gpt/x:%s/v/fp32/n=1/cpu-1t/warm", operation);
    assert_ok(benchmark_name_parse(key, &m->bench, &err), &err);
    m->batch = 1;
    m->nr_samples = 1;
    m->samples = memory_zeroed(1, sizeof(*m->samples));
    m->samples[0] = total;
    if (self >= 0)
        measurement_add_telemetry(m, "self_ns", self);
}

/* all ( layer-0 ( attention ) layer-1 ( attention ) layer-2 ( attention ) ): 46 ns of a layer are
 * its own. */
static void add_profiles(struct explain_case *c, enum explain_side side, int attention, bool self)
{
    static const char *const layers[] = { "layer-0", "layer-1", "layer-2" };
    struct records r = { 0 };

    records_add_run(&r);
    for (int launch = 0; launch < LAUNCHES; launch++) {
        add_profiled(&r, launch, "all", 20 + 3 * (uint64_t)(46 + attention), -1);
        for (size_t i = 0; i < 3; i++)
            add_profiled(&r, launch, layers[i], (uint64_t)(46 + attention), self ? 46 : -1);
        add_profiled(&r, launch, "attention", 3 * (uint64_t)attention, self ? 3 * attention : -1);
    }
    evidence_add_records(c, &r, "", side);
    records_release(&r);
}

/* What an operation is nested in got slower by as much, and is no cause. */
TEST(nested_operations_are_counted_once)
{
    static const struct {
        bool self[EXPLAIN_SIDES];
        enum cause_kind kind;
        const char *words;
    } rows[] = {
        { { true, true }, CAUSE_OPERATION, "162.0 ns an iteration, were 42.00 ns" },
        { { false, false }, CAUSE_UNKNOWN, "self times of operations" },
        { { false, true }, CAUSE_UNKNOWN, "self times of operations" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct explain_case c;
        struct explanation e;
        explain_case_init(&c, "gpt/x/v/fp32/n=1/cpu-1t/warm");
        for (int launch = 0; launch < LAUNCHES; launch++) {
            explain_add(&c, EXPLAIN_TIME, EXPLAIN_BASE, 200 + 0.1 * launch);
            explain_add(&c, EXPLAIN_TIME, EXPLAIN_HEAD, 320 + 0.1 * launch);
        }
        add_profiles(&c, EXPLAIN_BASE, 14, rows[i].self[EXPLAIN_BASE]);
        add_profiles(&c, EXPLAIN_HEAD, 54, rows[i].self[EXPLAIN_HEAD]);
        explain_causes(&c, &e);
        assert_int_equal(e.causes.nr, 1);
        assert_int_equal(e.causes.items[0].kind, rows[i].kind);
        assert_close(e.causes.items[0].share, 1, 0.001);
        assert_has(e.causes.items[0].evidence, rows[i].words);
        if (rows[i].kind == CAUSE_OPERATION)
            assert_string_equal(e.causes.items[0].name, "attention");
        explanation_release(&e);
        explain_case_release(&c);
    }
}

/* ---- programs ---- */

/* waited_percent is of the threads of this process, whose a program's are not. */
TEST(how_long_a_program_waited_is_not_known)
{
    for (int program = 0; program < 2; program++) {
        struct measurement m = { .batch = 1, .nr_samples = 1 };
        struct explain_case c;
        m.samples = memory_zeroed(1, sizeof(*m.samples));
        m.samples[0] = 500000000;
        measurement_add_telemetry(&m, "waited_percent", 0);
        measurement_add_telemetry(&m, "cpu_seconds_per_second", 2);
        if (program) {
            measurement_add_telemetry(&m, "command_user_ms", 100);
            measurement_add_telemetry(&m, "command_system_ms", 25);
            measurement_add_telemetry(&m, "command_involuntary_switches", 30);
        }
        explain_case_init(&c, "k/v");
        evidence_add_measurement(&c, &m, EXPLAIN_HEAD);
        assert_int_equal(c.is_program, program);
        assert_int_equal(c.of[EXPLAIN_WAITED].of[EXPLAIN_HEAD].nr, !program);
        assert_int_equal(c.of[EXPLAIN_PREEMPTED].of[EXPLAIN_HEAD].nr, program);
        assert_close(c.of[EXPLAIN_BUSY].of[EXPLAIN_HEAD].items[0], program ? 0.25 : 2, 1e-12);
        if (program)
            assert_close(c.of[EXPLAIN_PREEMPTED].of[EXPLAIN_HEAD].items[0], 60, 1e-9);
        explain_case_release(&c);
        measurement_release(&m);
    }
}

/* ---- facts and words ---- */

TEST(facts_are_of_a_kind)
{
    static const struct {
        const char *name;
        enum explain_fact_kind kind;
    } facts[] = {
        { "flags", FACT_BUILD },
        { "compiler", FACT_BUILD },
        { "build type", FACT_BUILD },
        { "libc", FACT_LIBRARY },
        { "libfoo", FACT_LIBRARY },
        { "OPENBLAS_CORETYPE", FACT_LIBRARY },
        { "gpu_driver", FACT_LIBRARY },
        { "OMP_NUM_THREADS", FACT_THREADS },
        { "threads", FACT_THREADS },
        { "OPENBLAS_NUM_THREADS", FACT_THREADS },
        { "governor", FACT_CLOCK },
        { "no_turbo", FACT_CLOCK },
        { "CPU", FACT_MACHINE },
        { "machine", FACT_MACHINE },
        { "machine id", FACT_IDENTITY },
        { "commit", FACT_IDENTITY },
        { "transparent_hugepages", FACT_MEMORY },
        { "kernel_release", FACT_OTHER },
    };

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        if (evidence_fact_kind(facts[i].name) != facts[i].kind)
            fail_msg("%s is of kind %d", facts[i].name, evidence_fact_kind(facts[i].name));
}

/* Words behind each other, cut at blanks. */
static struct string_list words_of(char *text)
{
    struct string_list list = { 0 };

    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        string_list_add(&list, word);
    return list;
}

TEST(words_of_commands)
{
    static const struct {
        const char *base, *head, *name, *from, *to;
        enum explain_fact_kind kind;
    } rows[] = {
        { "a 1", "b 1", NULL, NULL, NULL, FACT_OTHER },
        { "a 1", "a 2", "argument 1", "1", "2", FACT_INPUT },
        { "a -j 4", "a -j 1", "-j", "4", "1", FACT_THREADS },
        { "a --threads=4", "a --threads=1", "--threads", "4", "1", FACT_THREADS },
        { "a -j4", "a -j1", "-j", "4", "1", FACT_THREADS },
        { "a x", "a x y", "argument 2", "(without)", "y", FACT_INPUT },
        { "a -1", "a -2", "argument 1", "-1", "-2", FACT_INPUT },
        { "a --size -1", "a --size -2", "--size", "-1", "-2", FACT_INPUT },
        { "a -- x", "a -- y", "argument 1", "x", "y", FACT_INPUT },
        { "a http://b?c=1", "a http://b?c=2", "argument 1", "http://b?c=1", "http://b?c=2",
          FACT_INPUT },
        { "a --warmup 1 --threads 4", "a --threads 4", "--warmup", "1", "(without)", FACT_INPUT },
        { "a --threads 4", "a --warmup=1 --threads 4", "--warmup", "(without)", "1", FACT_INPUT },
        { "a --threads 4 --n 5", "a --n 5 --threads=2", "--threads", "4", "2", FACT_THREADS },
        { "a x --n 5 y", "a --n 5 x y", NULL, NULL, NULL, FACT_OTHER },
        { "dd bs=1 count=3", "dd count=3 bs=2", "bs", "1", "2", FACT_INPUT },
        { "a -I x -I y", "a -I y", "-I", "x", "(without)", FACT_INPUT },
        { "sort -n f", "sort f", "-n", "given", "(without)", FACT_INPUT },
        { "sort -n f", "sort -n -r f", "-r", "(without)", "given", FACT_INPUT },
        { "env OMP_NUM_THREADS=2 a", "env OMP_NUM_THREADS=1 a", "OMP_NUM_THREADS", "2", "1",
          FACT_THREADS },
        { "a", "env LD_LIBRARY_PATH=/new a", "LD_LIBRARY_PATH", NULL, "/new", FACT_LIBRARY },
        { "/usr/bin/env X=1 a", "a", "X", "1", NULL, FACT_OTHER },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *base = memory_string(rows[i].base), *head = memory_string(rows[i].head);
        struct string_list from = words_of(base), to = words_of(head);
        struct explain_case c;
        explain_case_init(&c, "k");
        evidence_add_words(&c, &from, &to);
        assert_int_equal(c.facts.nr, rows[i].name ? 1 : 0);
        if (rows[i].name) {
            const struct explain_fact *f = &c.facts.items[0];
            assert_string_equal(f->name, rows[i].name);
            assert_int_equal(f->kind, rows[i].kind);
            assert_string_equal(f->base ? f->base : "-", rows[i].from ? rows[i].from : "-");
            assert_string_equal(f->head ? f->head : "-", rows[i].to ? rows[i].to : "-");
        }
        explain_case_release(&c);
        string_list_release(&from);
        string_list_release(&to);
        free(base);
        free(head);
    }
}

RUN_TESTS(NULL, NULL)
