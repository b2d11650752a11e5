/* SPDX-License-Identifier: MIT */
/* base/digest.h against known sums, and any one bit changes it. Features: U-05. */
#include "testing.h"

#include "base/digest.h"

#include <string.h>

TEST(test_known_sums)
{
    static const struct {
        const char *text;
        uint64_t seed, sum;
    } known[] = {
        { "", 0, 0xef46db3751d8e999U },
        { "abc", 0, 0x44bc2cf5ad770999U },
        { "xxhash", 20141025, 0xb559b98d844e0635U },
        { "Nobody inspects the spammish repetition", 0, 0xfbcea83c8a378bf1U },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        assert_true(checksum_xxh64(known[i].text, strlen(known[i].text), known[i].seed) ==
                    known[i].sum);
}

TEST(test_any_bit)
{
    unsigned char page[509] = { 0 };
    uint64_t sum = checksum_xxh64(page, sizeof(page), 7);

    assert_true(sum != checksum_xxh64(page, sizeof(page), 8));
    assert_true(sum != checksum_xxh64(page, sizeof(page) - 1, 7));
    for (size_t bit = 0; bit < 8 * sizeof(page); bit++) {
        page[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(sum != checksum_xxh64(page, sizeof(page), 7));
        page[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

RUN_TESTS(NULL, NULL)
