/* SPDX-License-Identifier: MIT */
/* Why something got slower, told of one machine class at a time. */
#include "testing.h"

#include "output_records.h"

#include "verdict/compare.h"
#include "view/causes.h"

#include <math.h>

enum { LAUNCHES = 5, MOST = 20 };

static const char key[] = "gemm/nn/simd/fp32/batch=1,seq=8,n=8,k=8/cpu-4t/warm";

/* A later run than those before, on a class of its own. */
static void causes_add_run(struct records *r, const char *machine, double ns)
{
    int run = made_run(r, (int)r->nr_runs, "feedbeef", "gcc");
    struct machine *on = &r->runs[run].machine;

    snprintf(on->class_name, sizeof(on->class_name), "%s", machine);
    snprintf(on->cpu, sizeof(on->cpu), "CPU of %s", machine);
    for (int launch = 0; launch < LAUNCHES; launch++)
        made_measurement(r, run, launch, key, ns, 0.002, 9, made_seed(run, launch, (int)ns));
}

/* The newest run of the base is on one class, that of the head on the other. */
static void causes_of_two_classes(double epyc, struct comparison *c, struct explanations *out)
{
    struct records base = { 0 }, head = { 0 };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct error err;

    causes_add_run(&base, "xeon", 1e6);
    causes_add_run(&base, "epyc", 3e6);
    causes_add_run(&head, "epyc", 3e6 * epyc);
    causes_add_run(&head, "xeon", 1.5e6);
    assert_ok(compare_run(&base, &head, &settings, c, &err), &err);
    causes_find(NULL, c, (const struct records *const[]) { &base, &head }, MOST, out);
    comparison_release(c);
    records_release(&base);
    records_release(&head);
}

static void check_explained(const struct explanation *e, const char *machine, double times)
{
    assert_string_equal(e->key, key);
    assert_string_equal(e->machine, machine);
    assert_close(exp(e->change.mid), times, 0.05);
    for (size_t i = 0; i < e->causes.nr; i++)
        assert_true(e->causes.items[i].kind != CAUSE_MACHINE);
}

TEST(what_got_slower_on_one_class)
{
    struct explanations found = { .left_out = 0 };
    struct comparison c;

    causes_of_two_classes(1, &c, &found);
    assert_int_equal(found.items.nr, 1);
    check_explained(&found.items.items[0], "xeon", 1.5);
    explanations_release(&found);
}

TEST(what_got_slower_on_both)
{
    struct explanations found = { .left_out = 0 };
    struct comparison c;

    causes_of_two_classes(2, &c, &found);
    assert_int_equal(found.items.nr, 2);
    check_explained(&found.items.items[0], "epyc", 2);
    check_explained(&found.items.items[1], "xeon", 1.5);
    explanations_release(&found);
}

TEST(one_class_needs_no_name)
{
    struct records base = { 0 }, head = { 0 };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct explanations found = { .left_out = 0 };
    struct comparison c;
    struct error err;

    causes_add_run(&base, "xeon", 1e6);
    causes_add_run(&head, "xeon", 1.5e6);
    assert_ok(compare_run(&base, &head, &settings, &c, &err), &err);
    causes_find(NULL, &c, (const struct records *const[]) { &base, &head }, MOST, &found);
    assert_int_equal(found.items.nr, 1);
    assert_null(found.items.items[0].machine);
    explanations_release(&found);
    comparison_release(&c);
    records_release(&base);
    records_release(&head);
}

RUN_TESTS(NULL, NULL)
