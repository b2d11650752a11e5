/* SPDX-License-Identifier: MIT */
/* A number for each pair of numbers, or of a name and a number, in constant time however many there
 * are. Names are compared as pointers, as those of a trace are kept once. Not installed. */
#ifndef HARNESS_PROFILE_NAME_MAP_H
#define HARNESS_PROFILE_NAME_MAP_H

#include <stddef.h>
#include <stdint.h>

struct prof_map_slot {
    uint64_t a, b;
    int value;
    int is_used;
};

/* All 0 is an empty one. */
struct prof_map {
    struct prof_map_slot *slots;
    size_t nr, size;
};

/* The number of the pair, to be read or set until the next call: `fresh` where the pair is new.
 * NULL: no memory. */
int *prof_map_at(struct prof_map *map, uint64_t a, uint64_t b, int fresh);
/* NULL: the pair is not there. */
const int *prof_map_find(const struct prof_map *map, uint64_t a, uint64_t b);
void prof_map_release(struct prof_map *map);
static inline int *prof_map_name(struct prof_map *map, const char *name, uint64_t b, int fresh)
{
    return prof_map_at(map, (uint64_t)(uintptr_t)name, b, fresh);
}

/* Of a text, for the tables that keep one of each: Fowler, Noll and Vo's hash, 1a. */
static inline size_t prof_text_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return (size_t)hash;
}

/* Spreads a number over 64 bits. */
static inline uint64_t prof_map_mixed(uint64_t x)
{
    x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15U;
    return x ^ (x >> 29);
}

#endif
