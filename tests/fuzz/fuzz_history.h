/* SPDX-License-Identifier: MIT */
/* A small history that never changes, and damaged copies of it. */
#ifndef HARNESS_TESTS_FUZZ_HISTORY_H
#define HARNESS_TESTS_FUZZ_HISTORY_H

#include "store/store.h"

#include <stddef.h>
#include <stdint.h>

/* Its path; it is made with the first call. Runs of two branches, a baseline, a comparison. */
const char *small_history(void);
/* A handle that only reads it, kept for good. */
struct store *small_history_open(void);
/*
 * The path of a copy that is damaged as the bytes say, five for each piece of damage; the next call
 * replaces it. What it is: the first byte modulo 4.
 *
 *     0, 1  the byte at (second to fourth) becomes the fifth
 *     2     page (second, third) becomes zeros, from the (fifth)th 16th on
 *     3     page (second, third) becomes a copy of page (fourth, fifth); if both are one, the file
 *           ends before it
 *
 * Where the first byte of all is 128 or more, the pages get checksums of what they hold then.
 */
const char *small_history_damaged(const uint8_t *data, size_t size);

#endif
