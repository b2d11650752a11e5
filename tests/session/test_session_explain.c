/* SPDX-License-Identifier: MIT */
/* Both sides measured again with scopes on, an operation of one being slower for sure: the real
 * launches, traces and ranking of `compare --explain`. Fresh processes are this program. */
#include "testing.h"

#include "core/registry.h"
#include "launch/launch.h"
#include "session/explain/explain_comparison.h"

/* A small forward pass on that device. */
static void make_workload(struct workload *w, const char *device)
{
    char filter[] = "gpt/nano/decode";
    char *filters[] = { filter };
    struct workload_options o = { .device = device };
    struct error err;

    string_list_add(&o.variants, "simd");
    o.batch.items = (int64_t[]) { 1 };
    o.seq.items = (int64_t[]) { 16 };
    o.batch.nr = o.seq.nr = 1;
    if (workload_make(w, &o, filters, 1, "ci", &err))
        fail_msg("%s", err.message);
    string_list_release(&o.variants);
}

/* Everything but the time without scopes, which is taken to be that with them. */
static void explain_planted(struct scoped_launches *s, struct explanation *e, size_t *pairs,
                            struct error *why)
{
    struct explain_case c;
    struct error err;

    explain_case_init(&c, "gpt");
    if (scoped_launches_run(s, &c, pairs, why, &err))
        fail_msg("%s", err.message);
    for (int side = 0; side < EXPLAIN_SIDES; side++)
        for (size_t i = 0; i < c.of[EXPLAIN_SCOPED].of[side].nr; i++)
            explain_add(&c, EXPLAIN_TIME, (enum explain_side)side,
                        c.of[EXPLAIN_SCOPED].of[side].items[i]);
    explain_causes(&c, e);
    explain_case_release(&c);
}

TEST(an_operation_that_was_made_slower)
{
    struct measuring measuring = { .timeout = 60 };
    struct workload w;
    struct explanation e;
    struct error why;
    size_t pairs;

    make_workload(&w, "cpu:1");
    struct scoped_launches s = {
        .workload = &w,
        .bench = &w.list.items[0],
        .side = { [EXPLAIN_HEAD] = { .plant = "head", .plant_share = 2 } },
        .measuring = &measuring,
        .iteration_ns = 1e6,
        .budget = 150,
    };
    explain_planted(&s, &e, &pairs, &why);
    for (int again = 0; again < 4 && !(e.change.low > 0); again++) { /* nothing to explain yet */
        explanation_release(&e);
        explain_planted(&s, &e, &pairs, &why);
    }
    assert_string_equal(why.message, "");
    assert_true(pairs >= 1);
    if (!(e.change.low > 0))
        fail_msg("the slow-down itself was not told in five tries");
    const struct cause *first = &e.causes.items[0];
    if (first->kind != CAUSE_OPERATION || strcmp(first->name, "head") != 0)
        fail_msg("%zu pairs; the first cause is %s (%s), %.0f %%: %s", pairs, first->name,
                 cause_kind_name(first->kind), 100 * first->share, first->evidence);
    explanation_release(&e);
    workload_release(&w);
}

TEST(no_more_time_than_there_is)
{
    struct measuring measuring = { .timeout = 60 };
    struct workload w;
    struct explanation e;
    struct error why;
    size_t pairs;

    make_workload(&w, "cpu:1");
    struct scoped_launches s = {
        .workload = &w, .bench = &w.list.items[0], .measuring = &measuring, .budget = 0.001
    };
    explain_planted(&s, &e, &pairs, &why);
    assert_true(pairs <= 1);
    explanation_release(&e);
    workload_release(&w);
}

TEST(what_has_no_scopes_is_said)
{
    struct measuring measuring = { .timeout = 60 };
    struct workload w;
    struct explanation e;
    struct error why;
    size_t pairs;

    make_workload(&w, "cpu:1");
    struct scoped_launches s = {
        .workload = &w,
        .bench = &w.list.items[0],
        .side = { [EXPLAIN_HEAD] = { .plant = "no such operation", .plant_share = 1 } },
        .measuring = &measuring,
        .budget = 60,
    };
    explain_planted(&s, &e, &pairs, &why);
    assert_has(why.message, "head is FAILED with scopes on");
    assert_has(why.message, "no such operation");
    assert_int_equal(pairs, 0);
    assert_int_equal(e.causes.items[0].kind, CAUSE_UNKNOWN);
    explanation_release(&e);
    workload_release(&w);
}

TEST(an_interrupt_ends_it)
{
    volatile sig_atomic_t interrupted = SIGINT;
    struct measuring measuring = { .timeout = 60, .interrupted = &interrupted };
    struct explain_case c;
    struct workload w;
    struct error why, err;
    size_t pairs;

    make_workload(&w, "cpu:1");
    struct scoped_launches s = {
        .workload = &w, .bench = &w.list.items[0], .measuring = &measuring, .budget = 60
    };
    explain_case_init(&c, "gpt");
    assert_int_equal(scoped_launches_run(&s, &c, &pairs, &why, &err), -1);
    assert_has(err.message, "interrupted");
    explain_case_release(&c);
    workload_release(&w);
}

int main(int argc, char **argv)
{
    struct error err;

    if (argc > 1 && strcmp(argv[1], "internal-launch") == 0)
        return launch_serve(registry_builtin(), &err) ? 2 : 0;
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
