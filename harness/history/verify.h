/* SPDX-License-Identifier: MIT */
/* Is a history whole? */
#ifndef HARNESS_HISTORY_VERIFY_H
#define HARNESS_HISTORY_VERIFY_H

#include "store/store.h"

struct store_health {
    int64_t runs, launches, measurements, samples; /* looked at */
    int64_t problems;
    bool watched; /* its pages have checksums; without, bits that changed may go unseen */
};

/* The checksums of all pages, SQLite's integrity and foreign-key checks, every row read and
 * decoded. -1 if anything is wrong; the message has the first few problems, with the rows that lie
 * on damaged pages. */
int store_verify(struct store *s, struct store_health *health, struct error *err);

#endif
