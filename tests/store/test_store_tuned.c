/* SPDX-License-Identifier: MIT */
/* Tuned settings: kept, found by what they hold for, and absent in histories of before schema 7. */
#include "history/merge.h"
#include "store/tuned.h"
#include "store_histories.h"
#include "testing.h"

#include <stdio.h>

#define KEY_A "mine/a/tile/fp32/n=8/cpu-2t/warm"
#define KEY_B "mine/a/tile/fp32/n=16/cpu-2t/warm"

static void add_with(const char *path, const char *driver, const char *key, const char *digest,
                     const char *setting, int64_t when)
{
    struct store_tuned t = { .machine = "0123456789abcdef",
                             .code = "k.so",
                             .setting = (char *)setting,
                             .decided = true,
                             .tuned_ms = when,
                             .run = "aaaaaaaa-0000-4000-8000-000000000001",
                             .result = "{}" };
    struct store *s = open_store(path, STORE_WRITE);
    struct error err;

    snprintf(t.key, sizeof(t.key), "%s", key);
    snprintf(t.driver, sizeof(t.driver), "%s", driver);
    snprintf(t.digest, sizeof(t.digest), "%s", digest);
    assert_ok(store_tuned_add(s, &t, &err), &err);
    assert_true(t.id > 0);
    store_close(s);
}

static void add(const char *path, const char *key, const char *digest, const char *setting,
                int64_t when)
{
    add_with(path, "", key, digest, setting, when);
}

/* The settings, newest first, with commas. */
static void assert_found(const char *path, const char *key, const char *machine,
                         const char *expected)
{
    struct store_tuned_list list = { 0 };
    struct store *s = open_store(path, STORE_READ);
    struct strbuf text;
    struct error err;

    strbuf_init(&text);
    assert_ok(key ? store_tuned_find(s, key, machine, &list, &err)
                  : store_tuned_newest(s, machine, &list, &err),
              &err);
    for (size_t i = 0; i < list.nr; i++) {
        assert_true(list.items[i].decided);
        assert_string_equal(list.items[i].code, "k.so");
        strbuf_addf(&text, "%s%s", i ? "," : "", list.items[i].setting);
    }
    assert_string_equal(text.data ? text.data : "", expected);
    strbuf_release(&text);
    store_tuned_release(&list);
    store_close(s);
}

SCRATCH_TEST(test_the_newest_counts)
{
    char path[160];

    path_in(*state, "a.db", path);
    add(path, KEY_A, "one", "BM=1", 10);
    add(path, KEY_A, "one", "BM=3", 30);
    add(path, KEY_A, "one", "BM=2", 20);
    add(path, KEY_A, "two", "BM=4", 5);
    add(path, KEY_B, "one", "BM=5", 5);
    assert_found(path, KEY_A, "0123456789abcdef", "BM=3,BM=2,BM=1,BM=4");
    assert_found(path, KEY_A, "another machine", "");
    assert_found(path, "mine/b", "0123456789abcdef", "");
    assert_found(path, NULL, "0123456789abcdef", "BM=5,BM=4,BM=3");
    add_with(path, "580.95.05, NVIDIA H200", KEY_B, "one", "BM=6", 6);
    add_with(path, "590.10, NVIDIA H200", KEY_B, "one", "BM=7", 7);
    add_with(path, "590.10, NVIDIA H200", KEY_B, "one", "BM=8", 8);
    assert_found(path, KEY_B, "0123456789abcdef", "BM=8,BM=7,BM=6,BM=5");
    assert_found(path, NULL, "0123456789abcdef", "BM=5,BM=6,BM=8,BM=4,BM=3"); /* of each driver */
    assert_sound(path);
}

/* Older files have none, until something is written to them; the merge brings them once. */
SCRATCH_TEST(test_older_versions)
{
    static const int versions[] = { 1, SCHEMA_NUMBERS };
    char old[160], to[160];

    path_in(*state, "to.db", to);
    add(to, KEY_B, "one", "BM=5", 5);
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        const int version = versions[i];
        struct store_merged merged = { 0 };
        struct error err;
        path_in(*state, "old.db", old);
        remove(old);
        make_version(old, version);
        assert_found(old, KEY_A, "0123456789abcdef", "");
        assert_found(old, NULL, "0123456789abcdef", "");
        assert_int_equal(count_in(old, "PRAGMA user_version"), version);
        struct store *s = open_store(to, STORE_WRITE);
        assert_ok(store_merge(s, old, &merged, &err), &err);
        assert_int_equal(merged.tuned, 0);
        store_merged_release(&merged);
        store_close(s);
        add(old, KEY_A, "one", "BM=1", version);
        assert_int_equal(count_in(old, "PRAGMA user_version"), SCHEMA_NOW);
        assert_found(old, KEY_A, "0123456789abcdef", "BM=1");
        assert_sound(old);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(test_the_newest_counts),
        scratch_test(test_older_versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
