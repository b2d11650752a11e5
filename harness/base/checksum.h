/* SPDX-License-Identifier: MIT */
/*
 * A checksum against accidents: XXH64 (Yann Collet, "xxHash fast digest algorithm", the
 * specification in doc/xxhash_spec.md of github.com/Cyan4973/xxHash). Four lanes of 64-bit
 * products, several GB/s on any machine without special instructions. Not against people: who
 * wants two contents of one sum can make them.
 */
#ifndef HARNESS_BASE_CHECKSUM_H
#define HARNESS_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Equal bytes with another seed have another sum. The same on machines of either byte order. */
uint64_t checksum_xxh64(const void *bytes, size_t length, uint64_t seed);

#endif
