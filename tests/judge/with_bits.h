/* SPDX-License-Identifier: MIT */
#ifndef HARNESS_TESTS_JUDGE_WITH_BITS_H
#define HARNESS_TESTS_JUDGE_WITH_BITS_H

#include <stdint.h>
#include <string.h>

enum { FP32_BITS = 23, FP16_BITS = 10, BF16_BITS = 7 };

/* With so many bits of mantissa. */
static inline float with_bits(float value, int bits)
{
    uint32_t word;

    if (bits >= FP32_BITS)
        return value;
    memcpy(&word, &value, sizeof(word));
    word += 1U << (FP32_BITS - 1 - bits);
    word &= ~((1U << (FP32_BITS - bits)) - 1);
    memcpy(&value, &word, sizeof(value));
    return value;
}

#endif
