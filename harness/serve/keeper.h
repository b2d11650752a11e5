/* SPDX-License-Identifier: MIT */
/*
 * Looks after a history in a thread of its own: sees once a second whether others have written to
 * it or put another file in its place, and makes the pasts (serve/past.h) that were asked for.
 * Until the new ones are made, the old ones stand; so does the old file while there is no other
 * that can be read.
 */
#ifndef HARNESS_SERVE_KEEPER_H
#define HARNESS_SERVE_KEEPER_H

#include "serve/past.h"

#include <stdint.h>

enum {
    KEEPER_LOOK_MS = 1000,
    KEEPER_START_MS = 3000,   /* that keeper_open() waits for the first past, at most */
    KEEPER_PATIENCE_MS = 100, /* that a request waits for a past, at most */
    KEEPER_CLASSES_MAX = 8,   /* machine classes whose pasts are kept: those asked for last */
};

struct keeper_options {
    const char *path; /* of the history */
    bool public_only; /* see struct serve_options */
    size_t window;    /* see past_maker_create() */
    /* Called with what there is at the beginning, and from the keeper's thread when finished runs
     * have come or gone; may be NULL. */
    void (*tell)(void *context, int64_t newest);
    /* Called from that thread when another file stands at the path; may be NULL. */
    void (*renew)(void *context);
    /* Called from that thread after each look; may be NULL. */
    void (*tidy)(void *context);
    /* Called from it when other content was copied into the file: closes all handles of it. */
    void (*empty)(void *context);
    void *context;
};

struct keeper;

/* With the past of the newest run, unless that takes long. */
int keeper_open(const struct keeper_options *options, struct keeper **keeper, struct error *err);
void keeper_close(struct keeper *k); /* NULL is fine */

/* Grows with everything that can change an answer. */
uint64_t keeper_version(struct keeper *k);
/* Bytes of the pasts that are kept, and of what the next ones are made from. */
size_t keeper_size(struct keeper *k);
/* When it grew last, in ms since the epoch. */
int64_t keeper_changed_ms(struct keeper *k);
/* The past of a machine class; drop it. NULL where it is not made yet, after KEEPER_PATIENCE_MS at
 * most, or, as *failed says, cannot be made. */
struct past *keeper_past(struct keeper *k, const char *machine_class, bool *failed);

#endif
