/* SPDX-License-Identifier: MIT */
/*
 * A name for content: 128 bits by FNV-1a (Fowler, Noll and Vo, "The FNV Non-Cryptographic Hash
 * Algorithm"), equal on every machine. And a checksum against accidents: XXH64 (Yann Collet,
 * "xxHash fast digest algorithm", doc/xxhash_spec.md of github.com/Cyan4973/xxHash), several GB/s
 * on any machine without special instructions. Not against people: who wants two contents of one
 * name or sum can make them.
 */
#ifndef HARNESS_BASE_DIGEST_H
#define HARNESS_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct digest {
    uint64_t high, low;
};

void digest_init(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t length);
/* A text and its end, so that "ab", "c" and "a", "bc" differ; NULL counts as "". */
void digest_add_text(struct digest *d, const char *text);

enum { DIGEST_TEXT_SIZE = 33 };
void digest_text(const struct digest *d, char text[DIGEST_TEXT_SIZE]); /* 32 hex digits */
/* As a UUID (version 8, RFC 9562), 36 characters and NUL. */
void digest_uuid(const struct digest *d, char text[37]);

/* XXH64. Equal bytes with another seed have another sum. The same on machines of either byte order.
 */
uint64_t checksum_xxh64(const void *bytes, size_t length, uint64_t seed);

#endif
