/* SPDX-License-Identifier: MIT */
/* What differs between two runs. Covers: S0-09. */
#include "testing.h"

#include "output_records.h"

#include "verdict/differences.h"

static const struct difference *find(const struct differences *d, const char *name)
{
    for (size_t i = 0; i < d->nr; i++)
        if (strcmp(d->items[i].name, name) == 0)
            return &d->items[i];
    return NULL;
}

static void two_runs(struct records *r)
{
    *r = (struct records) { 0 };
    made_run(r, 0, "feedbeef", "gcc 12.2.0");
    made_run(r, 1, "feedbeef", "gcc 12.2.0");
    for (int i = 0; i < 2; i++) {
        r->runs[i].environment = memory_string(
            "{\"governor\":\"performance\",\"smt\":true,\"load1\":0.25,\"libc\":\"2.36\"}");
        r->runs[i].settings = memory_string(
            "{\"launches\":5,\"sampling\":{\"max_time\":0.5,\"warmup\":0.1},\"device\":\"cpu\"}");
    }
}

static void settings_are(struct run *run, const char *text)
{
    free(run->settings);
    run->settings = memory_string(text);
}

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

/* Name, date, uuid and label of a run are no difference, nor is which files it was read from. */
RECORDS_TEST(test_equal_runs)
{
    struct differences d;

    two_runs(r);
    snprintf(r->runs[1].label, sizeof(r->runs[1].label), "again");
    for (int i = 0; i < 2; i++) {
        char text[120];
        snprintf(text, sizeof(text),
                 "{\"import\":{\"tool\":\"hyperfine\",\"files\":[{\"digest\":\"%d\"}]}}", i);
        settings_are(&r->runs[i], text);
    }
    differences_find(&r->runs[0], &r->runs[1], &d);
    assert_int_equal(d.nr, 0);
    differences_release(&d);
}

/* The halves of a session differ by their names alone; how many blocks it was given is a fact. */
RECORDS_TEST(test_halves_of_a_session)
{
    struct differences d;

    two_runs(r);
    settings_are(&r->runs[0],
                 "{\"ab\":{\"id\":\"x\",\"side\":\"base\",\"partner\":\"h\","
                 "\"blocks\":20}}");
    settings_are(&r->runs[1],
                 "{\"ab\":{\"id\":\"x\",\"side\":\"head\",\"partner\":\"b\","
                 "\"blocks\":20}}");
    differences_find(&r->runs[0], &r->runs[1], &d);
    assert_int_equal(d.nr, 0);
    differences_release(&d);
    settings_are(&r->runs[1], "{\"ab\":{\"id\":\"y\",\"side\":\"head\",\"blocks\":9}}");
    differences_find(&r->runs[0], &r->runs[1], &d);
    assert_int_equal(d.nr, 1);
    assert_string_equal(d.items[0].name, "ab.blocks");
    differences_release(&d);
}

RECORDS_TEST(test_each_kind)
{
    struct differences d;

    two_runs(r);
    snprintf(r->runs[1].build.compiler, sizeof(r->runs[1].build.compiler), "clang 16");
    r->runs[1].build.dirty = true;
    r->runs[1].machine.l2 = 2 << 20;
    free(r->runs[1].environment);
    free(r->runs[1].settings);
    r->runs[1].environment = memory_string(
        "{\"load1\":3,\"governor\":\"powersave\",\"smt\":false,\"gpu_driver\":\"570\"}");
    r->runs[1].settings = memory_string(
        "{\"launches\":5,\"sampling\":{\"max_time\":2},"
        "\"device\":\"cpu\"}");
    differences_find(&r->runs[0], &r->runs[1], &d);
    static const struct {
        const char *name, *base, *head;
    } rows[] = {
        { "L2 cache (bytes)", "1048576", "2097152" },
        { "uncommitted changes", "no", "yes" },
        { "compiler", "gcc 12.2.0", "clang 16" },
        { "governor", "performance", "powersave" },
        { "smt", "yes", "no" },
        { "libc", "2.36", NULL },
        { "gpu_driver", NULL, "570" },
        { "sampling.max_time", "0.5", "2" },
        { "sampling.warmup", "0.1", NULL },
        { "load1", "0.25", "3" },
    };
    assert_int_equal(d.nr, sizeof(rows) / sizeof(rows[0]));
    for (size_t i = 0; i < d.nr; i++) {
        const struct difference *found = find(&d, rows[i].name);
        if (!found)
            fail_msg("%s is not there", rows[i].name);
        assert_true(rows[i].base ? strcmp(rows[i].base, found->base) == 0 : !found->base);
        assert_true(rows[i].head ? strcmp(rows[i].head, found->head) == 0 : !found->head);
        assert_int_equal(found->weather, strcmp(rows[i].name, "load1") == 0);
    }
    assert_true(d.items[d.nr - 1].weather); /* last */
    differences_release(&d);
}

/* Histories of others may lack all of it. */
RECORDS_TEST(test_nothing_known)
{
    struct differences d;

    records_add_run(r);
    records_add_run(r)->environment = memory_string("not JSON at all");
    differences_find(&r->runs[0], &r->runs[1], &d);
    assert_int_equal(d.nr, 0);
    differences_release(&d);
}

RUN_TESTS(NULL, NULL)
