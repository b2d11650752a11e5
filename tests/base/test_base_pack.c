/* SPDX-License-Identifier: MIT */
/* gzip and base64: what they write can be read, and nothing else is taken. Covers: S1-16, S1-18. */
#include "testing.h"

#include "base/pack.h"
#include "stats/random.h"

#include <stdlib.h>
#include <string.h>

/* The test vectors of RFC 4648, section 10. */
TEST(test_base64_vectors)
{
    static const char *const rows[][2] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf text, back;
        struct error err;
        strbuf_init(&text);
        strbuf_init(&back);
        base64_add(&text, rows[i][0], strlen(rows[i][0]));
        assert_string_equal(text.data, rows[i][1]);
        assert_ok(base64_undo(&back, text.data, text.length, &err), &err);
        assert_string_equal(back.data, rows[i][0]);
        strbuf_release(&text);
        strbuf_release(&back);
    }
}

TEST(test_base64_refuses)
{
    static const char *const bad[] = {
        "Zg",                                    /* padding is missing */
        "Zg=",                                   /* half of it */
        "Zh==",                                  /* bits that no byte has */
        "Zm9=",                                  /* the same */
        "=m9v",      "Z=9v", "Zm=v", "Zg==Zg==", /* padding elsewhere */
        "Zm9v\n123", "Zm9-", "Zm9_", "Zm 9",     /* other letters */
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct strbuf back;
        struct error err = { "" };
        strbuf_init(&back);
        if (base64_undo(&back, bad[i], strlen(bad[i]), &err) == 0)
            fail_msg("\"%s\" was taken", bad[i]);
        assert_non_null(strstr(err.message, "base64"));
        strbuf_release(&back);
    }
}

/* Every length around a block's border, of bytes of all kinds. */
TEST(test_round_trips)
{
    static const size_t lengths[] = { 0, 1, 2, 3, 255, 65535, 65536, 65537, 300001 };
    struct random random;

    random_seed(&random, 7);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t n = lengths[i];
        unsigned char *bytes = malloc(n + 1);
        for (size_t k = 0; k < n; k++)
            bytes[k] = (unsigned char)(random_uniform(&random) * 256);
        struct strbuf packed, text, unpacked, back;
        struct error err;
        strbuf_init(&packed);
        strbuf_init(&text);
        strbuf_init(&unpacked);
        strbuf_init(&back);
        gzip_add(&packed, bytes, n, GZIP_USUAL);
        base64_add(&text, packed.data, packed.length);
        assert_ok(base64_undo(&unpacked, text.data, text.length, &err), &err);
        assert_int_equal(unpacked.length, packed.length);
        assert_ok(gzip_undo(&back, unpacked.data, unpacked.length, n, &err), &err);
        assert_int_equal(back.length, n);
        assert_memory_equal(back.data, bytes, n);
        strbuf_release(&packed);
        strbuf_release(&text);
        strbuf_release(&unpacked);
        strbuf_release(&back);
        free(bytes);
    }
}

TEST(test_gzip_is_the_same_each_time)
{
    static const char text[] = "[1,2,3,1,2,3,1,2,3,1,2,3,1,2,3,1,2,3]";
    struct strbuf one, two;

    strbuf_init(&one);
    strbuf_init(&two);
    gzip_add(&one, text, strlen(text), GZIP_USUAL);
    gzip_add(&two, text, strlen(text), GZIP_USUAL);
    assert_int_equal(one.length, two.length);
    assert_memory_equal(one.data, two.data, one.length);
    assert_memory_equal(one.data, "\x1f\x8b\x08\x00\x00\x00\x00\x00", 8); /* no name, no time */
    assert_true(one.length < strlen(text));
    strbuf_release(&one);
    strbuf_release(&two);
}

static void refuses(const struct strbuf *packed, size_t length, size_t most, const char *why)
{
    struct strbuf back;
    struct error err = { "" };

    strbuf_init(&back);
    assert_int_equal(gzip_undo(&back, packed->data, length, most, &err), -1);
    if (!strstr(err.message, why))
        fail_msg("\"%s\" does not say \"%s\"", err.message, why);
    strbuf_release(&back);
}

TEST(test_gzip_refuses)
{
    struct strbuf packed, zeros;

    strbuf_init(&packed);
    strbuf_init(&zeros);
    strbuf_pad(&zeros, 1 << 17, '0');
    gzip_add(&packed, zeros.data, zeros.length, GZIP_USUAL);
    refuses(&packed, packed.length, (1 << 17) - 1, "more than");
    for (size_t length = 0; length < packed.length; length++)
        refuses(&packed, length, 1 << 17, "not whole");
    packed.data[packed.length - 6] ^= 1; /* the checksum */
    refuses(&packed, packed.length, 1 << 17, "damaged");
    packed.data[packed.length - 6] ^= 1;
    strbuf_addc(&packed, 'x');
    refuses(&packed, packed.length, 1 << 17, "after its end");
    strbuf_clear(&packed);
    strbuf_adds(&packed, "this is no gzip at all");
    refuses(&packed, packed.length, 1 << 17, "not gzip");
    strbuf_release(&packed);
    strbuf_release(&zeros);
}

RUN_TESTS(NULL, NULL)
