/* SPDX-License-Identifier: MIT */
/* Errors, strings, arrays, embedded files. Features: U-09 (the layers everything stands on). */
#include "testing.h"

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/monotonic.h"
#include "base/resource.h"
#include "base/strbuf.h"

TEST(errors_carry_their_message)
{
    struct error err;

    assert_int_equal(error_set(&err, "%s: %d", "tile", 7), -1);
    assert_string_equal(err.message, "tile: 7");
    assert_int_equal(error_prefix(&err, "suite %s", "quick"), -1);
    assert_string_equal(err.message, "suite quick: tile: 7");
}

/* Too long is cut, at the same place by both, and stays a string. */
TEST(errors_are_cut_not_overrun)
{
    struct {
        struct error err;
        char after[16];
    } guarded;
    char text[3000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memset(guarded.after, 'g', sizeof(guarded.after));
    error_set(&guarded.err, "%s", text);
    assert_int_equal(strlen(guarded.err.message), sizeof(guarded.err.message) - 1);
    error_prefix(&guarded.err, "%s", "in");
    assert_int_equal(strlen(guarded.err.message), sizeof(guarded.err.message) - 1);
    assert_memory_equal(guarded.err.message, "in: xxx", 7);
    error_prefix(&guarded.err, "%s", text);
    assert_int_equal(strlen(guarded.err.message), sizeof(guarded.err.message) - 1);
    for (size_t i = 0; i < sizeof(guarded.after); i++)
        assert_int_equal(guarded.after[i], 'g');
}

TEST(strings_grow_and_stay_terminated)
{
    struct strbuf sb;

    strbuf_init(&sb);
    assert_string_equal(sb.data, "");
    for (int i = 0; i < 1000; i++)
        strbuf_addf(&sb, "%d,", i % 10);
    assert_int_equal(sb.length, 2000);
    assert_int_equal(strlen(sb.data), 2000);
    for (size_t i = 0; i < 2000; i += 2)
        assert_int_equal(sb.data[i], '0' + (int)(i / 2 % 10));
    strbuf_clear(&sb);
    assert_string_equal(sb.data, "");
    strbuf_add(&sb, "a\0b", 3);
    assert_int_equal(sb.length, 3);
    assert_memory_equal(sb.data, "a\0b", 4);
    strbuf_release(&sb);
}

TEST(strings_lose_the_blanks_at_their_end)
{
    static const struct {
        const char *bytes;
        size_t nr;
        const char *left;
    } cases[] = {
        { "a b", 3, "a b" }, { " a\tb \r\n\t", 8, " a\tb" },
        { "a\n\0", 3, "a" }, { "\n \n", 3, "" },
        { "", 0, "" },       { "a\n.", 3, "a\n." },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf sb;
        strbuf_init(&sb);
        strbuf_add(&sb, cases[i].bytes, cases[i].nr);
        strbuf_trim_end(&sb);
        assert_string_equal(sb.data, cases[i].left);
        assert_int_equal(sb.length, strlen(cases[i].left));
        strbuf_release(&sb);
    }
}

TEST(strings_pad_to_a_width)
{
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb, "ab");
    strbuf_pad(&sb, 5, '.');
    assert_string_equal(sb.data, "ab...");
    strbuf_pad(&sb, 3, '.'); /* wide enough */
    assert_string_equal(sb.data, "ab...");
    strbuf_addc(&sb, '!');
    char *text = strbuf_detach(&sb);
    assert_string_equal(text, "ab...!");
    assert_null(sb.data);
    free(text);
}

struct pair {
    int64_t a, b;
};

TEST(arrays_hand_out_zeroed_elements)
{
    ARRAY(struct pair) list = ARRAY_EMPTY;

    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(list.nr, i);
        assert_int_equal(array_push(&list)->b, 0);
        list.items[i].a = i;
        list.items[i].b = -i;
    }
    for (int64_t i = 0; i < 1000; i++)
        assert_true(list.items[i].a == i && list.items[i].b == -i);
    array_release(&list);
    assert_null(list.items);
    assert_int_equal(list.nr + list.capacity, 0);
}

TEST(strings_of_nothing_are_nothing)
{
    char *copy = memory_string("batch");

    assert_null(memory_string(NULL));
    assert_string_equal(copy, "batch");
    free(copy);
}

/* The embedded bytes are those of the source files, and the table is in order. */
TEST(resources_hold_the_files)
{
    struct error err;
    char path[512];
    int suites = 0;

    for (const struct resource *r = resource_all(); r->name; r++) {
        assert_int_equal(r->data[r->length], '\0');
        assert_ptr_equal(resource_find(r->name), r);
        if (r[1].name && strcmp(r->name, r[1].name) >= 0)
            fail_msg("%s comes before %s", r->name, r[1].name);
        if (strncmp(r->name, "suites/", 7) != 0)
            continue;
        size_t length;
        snprintf(path, sizeof(path), "%s/harness/launch/%s", HARNESS_SOURCE_DIR, r->name);
        char *text = file_read(path, FILE_RECORDS_MOST, &length, &err);
        assert_non_null(text);
        assert_int_equal(length, r->length);
        assert_memory_equal(text, r->data, length);
        free(text);
        suites++;
    }
    assert_true(suites >= 3);
    assert_null(resource_find("suites/quick"));
    assert_null(resource_find(""));
}

static uint64_t ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000U + (uint64_t)t->tv_nsec;
}

TEST(what_is_waited_for_is_so_far_away)
{
    static const int ms[] = { 0, 1, 999, 1000, 1500, 3600000 };

    for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
        uint64_t before = monotonic_ns(), length = (uint64_t)ms[i] * 1000000U;
        struct timespec t = monotonic_until(ms[i]);
        assert_true(t.tv_nsec >= 0 && t.tv_nsec < 1000000000);
        assert_true(ns_of(&t) >= before + length && ns_of(&t) <= monotonic_ns() + length);
    }
}

/* By the wall clock the moment would be long past. */
TEST(a_condition_waits_by_that_clock)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;

    monotonic_condition_init(&condition);
    struct timespec until = monotonic_until(2);
    pthread_mutex_lock(&lock);
    while (pthread_cond_timedwait(&condition, &lock, &until) == 0) /* it may wake for nothing */
        ;
    pthread_mutex_unlock(&lock);
    assert_true(monotonic_ns() >= ns_of(&until));
    pthread_cond_destroy(&condition);
}

RUN_TESTS(NULL, NULL)
