/* SPDX-License-Identifier: MIT */
/*
 * The memory that the judge and a cell (judge/cell.h) share: a board for what is to be done next,
 * and slots. A slot has all tensors of one call, each on pages of its own, with a margin behind it
 * that nobody may write to. With a device, the slots are a block of its memory that is the judge's
 * and borrowed by the cell; the judge works on a copy of it in its own memory, which it sends and
 * fetches while the cell stands still. Nothing in here is believed: inputs are compared with the
 * judge's own copies, outputs with its oracle, and the words on the board are only ever why there
 * is no result.
 */
#ifndef HARNESS_JUDGE_ARENA_H
#define HARNESS_JUDGE_ARENA_H

#include "core/kernel.h"
#include "device/devices.h"

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
    struct board *board;
    size_t shared;         /* bytes that are mapped with it */
    unsigned char *base;   /* as if the board and the slots behind it began there */
    struct device *device; /* NULL: its memory is the host's, and shared */
    unsigned char *there;  /* the device's block, of which `base` is the judge's copy */
    unsigned char *margin; /* what margins hold; the judge's alone, owned */
};

/* The same on both sides: where what lies. */
void arena_plan(struct arena *a, const struct kernel *k, const struct shape *s, enum dtype dtype,
                int slots);
/* Of one slot; for choosing how many there are. */
size_t arena_slot_bytes(const struct kernel *k, const struct shape *s, enum dtype dtype);

/* The judge's side: memory with margins, zeroed; `device` is a started one that lends its memory,
 * or NULL. arena_close() whatever the result. */
int arena_make(struct arena *a, struct device *device, struct error *err);
/* What the cell needs to know of the device's memory. */
int arena_lend(const struct arena *a, struct device_handle *handle, struct error *err);
/* The cell's: maps what it was given, and with a device borrows its memory. */
int arena_map(struct arena *a, int fd, bool on_device, struct error *err);
int arena_borrow(struct arena *a, struct device *device, const struct device_handle *handle,
                 struct error *err);
void arena_close(struct arena *a);

/* The judge's side, with a device: a slot as it is here to there, and back. Without one all is one.
 */
int arena_send(const struct arena *a, int slot, struct error *err);
int arena_fetch(const struct arena *a, int slot, struct error *err);

struct board *arena_board(const struct arena *a);
/* Where a tensor of a slot begins in this memory. */
size_t arena_offset(const struct arena *a, int slot, int tensor);
/* The tensors of a slot, with their data. */
void arena_tensors(const struct arena *a, int slot, struct tensor *t);

/* What is put: inputs from the judge's copies alone, with poison (tensor_poison()) into outputs as
 * for a launch, or with weights, too: once for a cell, before it prepares. */
enum put { PUT_INPUTS, PUT_LAUNCH, PUT_ALL };
void arena_put(const struct arena *a, int slot, const struct tensor *host, enum put what);
/* The name of an input that differs from the judge's copy, or NULL. */
const char *arena_changed_input(const struct arena *a, int slot, const struct tensor *host);
/* The name of a tensor of which the memory behind was written to, or NULL. */
const char *arena_broken_margin(const struct arena *a, int slot);

#endif
