/* SPDX-License-Identifier: MIT */
/* The form in which raw samples are kept. Features: U-05, S0-03. */
#include "testing.h"

#include "base/memory.h"
#include "stats/random.h"
#include "store/samples.h"

#include <stdlib.h>

static void assert_round_trip(const uint64_t *samples, size_t nr)
{
    struct error err;
    uint64_t *back;
    size_t length, nr_back;
    unsigned char *blob = samples_encode(samples, nr, &length);

    assert_ok(samples_decode(blob, length, &back, &nr_back, &err), &err);
    assert_int_equal(nr_back, nr);
    if (nr > 0)
        assert_memory_equal(back, samples, nr * sizeof(*samples));
    else
        assert_null(back);
    free(back);
    free(blob);
}

TEST(test_edges)
{
    static const uint64_t edges[] = { 0,          UINT64_MAX,     0,
                                      1,          INT64_MAX,      (uint64_t)INT64_MAX + 1,
                                      UINT64_MAX, UINT64_MAX - 1, 0x7f,
                                      0x80,       0x3fff,         0x4000 };

    assert_round_trip(NULL, 0);
    for (size_t nr = 1; nr <= sizeof(edges) / sizeof(edges[0]); nr++)
        assert_round_trip(edges, nr);
}

TEST(test_random_series)
{
    struct random r;
    uint64_t samples[300];

    random_seed(&r, 11);
    for (int trial = 0; trial < 500; trial++) {
        size_t nr = (size_t)random_below(&r, 301);
        unsigned bits = (unsigned)random_below(&r, 64);
        for (size_t i = 0; i < nr; i++)
            samples[i] = random_u64(&r) >> bits;
        assert_round_trip(samples, nr);
    }
}

/* Documented bytes, so that other programs can read them: 1, n, zigzag deltas. */
TEST(test_documented_form)
{
    static const uint64_t samples[] = { 300, 299, 301 };
    static const unsigned char expected[] = { 1, 3, 0xd8, 0x04, 0x01, 0x04 };
    size_t length;

    unsigned char *blob = samples_encode(samples, 3, &length);
    assert_int_equal(length, sizeof(expected));
    assert_memory_equal(blob, expected, sizeof(expected));
    free(blob);
}

TEST(test_is_compact)
{
    struct random r;
    uint64_t samples[1000];
    size_t length;

    random_seed(&r, 3);
    for (size_t i = 0; i < 1000; i++)
        samples[i] = (uint64_t)(50000.0 + 500.0 * random_normal(&r)); /* 1 % noise on 50 us */
    free(samples_encode(samples, 1000, &length));
    assert_in_range(length, 1000, 2100); /* 8000 bytes as plain integers */
}

static void assert_refused(const unsigned char *blob, size_t length)
{
    struct error err = { "" };
    uint64_t *samples = (uint64_t *)&err;
    size_t nr = 7;

    /* An exact copy on the heap lets the sanitizer see a read past the end. */
    unsigned char *copy = memory_zeroed(length + (length == 0), 1);
    memcpy(copy, blob, length);
    assert_int_equal(samples_decode(copy, length, &samples, &nr, &err), -1);
    assert_null(samples);
    assert_int_equal(nr, 0);
    assert_string_not_equal(err.message, "");
    free(copy);
}

TEST(test_malformed)
{
    static const struct {
        unsigned char bytes[16];
        size_t length;
    } blobs[] = {
        { { 0 }, 0 },                         /* empty */
        { { 1 }, 1 },                         /* no count */
        { { 2, 0 }, 2 },                      /* another version */
        { { 1, 1 }, 2 },                      /* count without a sample */
        { { 1, 0, 0 }, 3 },                   /* bytes after the end */
        { { 1, 1, 0x80 }, 3 },                /* varint that ends early */
        { { 1, 1, 0x80, 0x00 }, 4 },          /* longer than needed */
        { { 1, 0x80, 0x00 }, 3 },             /* the count longer than needed */
        { { 1, 0xff, 0xff, 0xff, 0x0f }, 5 }, /* a count that lies */
        { { 1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0x02 }, 12 }, /* 65 bits */
        { { 1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0x81, 0 }, 13 },
        { { 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0x01 }, 11 }, /* 2^64 - 1 samples */
    };

    for (size_t i = 0; i < sizeof(blobs) / sizeof(blobs[0]); i++)
        assert_refused(blobs[i].bytes, blobs[i].length);
}

/* Every cut is refused; a changed byte is refused or means another series, whose encoding is
 * that blob: so nothing is read that was not written. */
TEST(test_damage)
{
    struct random r;
    uint64_t series[40];
    size_t length;

    random_seed(&r, 5);
    for (size_t i = 0; i < 40; i++)
        series[i] = random_u64(&r) >> random_below(&r, 64);
    unsigned char *blob = samples_encode(series, 40, &length);
    for (size_t cut = 0; cut < length; cut++)
        assert_refused(blob, cut);
    for (int trial = 0; trial < 4000; trial++) {
        struct error err;
        uint64_t *samples;
        size_t nr, again_length, at = (size_t)random_below(&r, length);
        unsigned char old = blob[at];
        blob[at] ^= (unsigned char)(1 + random_below(&r, 255));
        if (samples_decode(blob, length, &samples, &nr, &err) == 0) {
            unsigned char *again = samples_encode(samples, nr, &again_length);
            assert_int_equal(again_length, length);
            assert_memory_equal(again, blob, length);
            free(again);
        }
        free(samples);
        blob[at] = old;
    }
    free(blob);
}

RUN_TESTS(NULL, NULL)
