/* SPDX-License-Identifier: MIT */
/*
 * The memory that the judge and a cell (judge/cell.h) share: a board for what is to be done next,
 * and slots. A slot has all tensors of one call, each on pages of its own, with a margin behind it
 * that nobody may write to. Nothing in here is believed: inputs are compared with the judge's own
 * copies, outputs with its oracle, and the words on the board are only ever why there is no result.
 */
#ifndef HARNESS_JUDGE_ARENA_H
#define HARNESS_JUDGE_ARENA_H

#include "core/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLOTS_MAX = 64, ARENA_PAGE = 4096 };

enum order {
    ORDER_NOTHING, /* stop again: what the clock itself takes */
    ORDER_LOAD,    /* load the guest and prepare all slots */
    ORDER_LAUNCH,  /* each of the slots that are listed, once */
    ORDER_WAIT,    /* sleep a little: what else runs can run */
};

enum board_state { BOARD_NEW, BOARD_READY, BOARD_UNSUPPORTED, BOARD_FAILED };

struct board {
    uint32_t order, nr;
    uint32_t slot[SLOTS_MAX]; /* in the order of the launches */
    uint32_t done;            /* of the launches: how many have returned */
    uint32_t state;           /* enum board_state, said by the cell */
    char words[512];          /* and why */
};

struct arena {
    struct tensor layout[TENSOR_MAX]; /* without data */
    size_t offset[TENSOR_MAX];        /* in a slot */
    int nr_tensors, slots;
    size_t slot_bytes, bytes;
    int fd; /* -1: none */
    unsigned char *base;
    unsigned char *margin; /* what margins hold; the judge's alone, owned */
};

/* The same on both sides: where what lies. */
void arena_plan(struct arena *a, const struct kernel *k, const struct shape *s, enum dtype dtype,
                int slots);
/* Of one slot; for choosing how many there are. */
size_t arena_slot_bytes(const struct kernel *k, const struct shape *s, enum dtype dtype);

/* The judge's side: memory with margins, zeroed. arena_close() whatever the result. */
int arena_make(struct arena *a, struct error *err);
/* The cell's: maps what it was given. */
int arena_map(struct arena *a, int fd, struct error *err);
void arena_close(struct arena *a);

struct board *arena_board(const struct arena *a);
/* Where a tensor of a slot begins in this memory. */
size_t arena_offset(const struct arena *a, int slot, int tensor);
/* The tensors of a slot, with their data. */
void arena_tensors(const struct arena *a, int slot, struct tensor *t);

/* Inputs from the judge's copies, and poison (NaN, all bits set) into outputs. With `weights`
 * those, too: once for a cell, before it prepares. */
void arena_put(const struct arena *a, int slot, const struct tensor *host, bool weights);
/* The name of an input that differs from the judge's copy, or NULL. */
const char *arena_changed_input(const struct arena *a, int slot, const struct tensor *host);
/* The name of a tensor of which the memory behind was written to, or NULL. */
const char *arena_broken_margin(const struct arena *a, int slot);

#endif
