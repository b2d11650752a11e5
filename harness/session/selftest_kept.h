/* SPDX-License-Identifier: MIT */
/*
 * What the self-tests that the history keeps say of a machine: the gate it can carry, the smallest
 * change that comparisons with a baseline can see, and what placement alone moves.
 */
#ifndef HARNESS_SESSION_SELFTEST_KEPT_H
#define HARNESS_SESSION_SELFTEST_KEPT_H

#include "base/array.h"
#include "base/options.h"
#include "store/store.h"
#include "verdict/compare.h"
#include "verdict/placement_noise.h"
#include "verdict/selftest.h"

/* True with a text where the newest self-test of this machine class, device and rule, by planted
 * changes or else (where there is none, or it cannot tell) by the same against itself, shows that a
 * gate of `delta` cannot be carried.
 * False where it can, where there was no such test, and where the history cannot be read. */
bool gate_warning(struct store *store, const char *machine, const char *device, bool interleaved,
                  double delta, char text[SELFTEST_TEXT_SIZE]);

struct detectable_change {
    char machine[96], device[64]; /* class name; label */
    int64_t tested_ms;            /* 0: there was no self-test by the present rule */
    /* 0.042: 4.2 %; INFINITY: none of the sizes planted, or none that is worth a number; NaN:
     * unknown */
    double smallest;
    bool planted; /* counted; else what comparisons of the same expect to see */
    int launches; /* a side, with which it holds */
};

struct detectable_changes {
    struct detectable_change *items;
    size_t nr, capacity;
};

/* Appends. */
int detectable_changes(struct store *store, const struct store_baseline *baseline,
                       struct detectable_changes *out, struct error *err);

/* What the last tests of placement showed (verdict/placement_noise.h), for the settings of a
 * comparison, which borrow it. */
struct placements {
    struct compare_placement *items; /* they own key and machine */
    size_t nr, capacity;
    struct string_list asked; /* machines with their devices */
};

/* Adds those of this machine and device, once. To be asked before anything is decided with these
 * settings: blocks that are measured in turn end by them, too. */
void placements_heed(struct placements *p, struct store *store, const char *machine,
                     const char *device, struct compare_settings *settings);
void placements_release(struct placements *p);

#endif
