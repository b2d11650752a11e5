/* SPDX-License-Identifier: MIT */
/*
 * Settings of parameters that won a race (session/tune/tuning.h), as the history keeps them. A
 * setting holds for the benchmark that it was found for, on the same machine, with the same driver
 * and model of GPU, and for the same code: what was built again is another one, for which another
 * setting may be the best.
 */
#ifndef HARNESS_STORE_TUNED_H
#define HARNESS_STORE_TUNED_H

#include "base/digest.h"
#include "store/store.h"

enum { TUNED_DRIVER_SIZE = 100 };

struct store_tuned {
    int64_t id;
    char key[KEY_SIZE];             /* of the benchmark, its variant without a setting */
    char machine[17];               /* machine.id */
    char driver[TUNED_DRIVER_SIZE]; /* and model of a GPU; "" where the device has none */
    char code[96];                  /* whose variant it is: "k.so" ... */
    char digest[DIGEST_TEXT_SIZE];  /* ... and what it was made of */
    char *setting;                  /* "BM=64,stages=3"; owned */
    bool decided;                   /* else it was the best when time was up */
    int64_t tuned_ms;
    char run[37]; /* uuid of the run in which it was measured */
    char *result; /* JSON object, see docs/formats/commands.md; owned */
};

struct store_tuned_list {
    struct store_tuned *items;
    size_t nr, capacity;
};

/* Sets t->id. */
int store_tuned_add(struct store *s, struct store_tuned *t, struct error *err);
/* Appends what is kept for such a key and machine, the newest first, whatever the driver and the
 * code. */
int store_tuned_find(struct store *s, const char *key, const char *machine,
                     struct store_tuned_list *out, struct error *err);
/* Appends the newest of each key, driver and code of a machine, by key. */
int store_tuned_newest(struct store *s, const char *machine, struct store_tuned_list *out,
                       struct error *err);
void store_tuned_release(struct store_tuned_list *list);

#endif
