/* SPDX-License-Identifier: MIT */
/* Is a history whole? */
#ifndef HARNESS_HISTORY_VERIFY_H
#define HARNESS_HISTORY_VERIFY_H

#include "store/store.h"

struct store_health {
    int64_t runs, launches, measurements, samples; /* looked at */
    int64_t problems;
    int64_t odd;  /* of them: values that are read as not known, or with '?' in them */
    bool watched; /* its pages have checksums; without, bits that changed may go unseen */
};

/* The checksums of all pages, SQLite's integrity and foreign-key checks, every row read and
 * decoded. -1 if anything is wrong; the message has the first few problems, with the rows that lie
 * on damaged pages. */
int store_verify(struct store *s, struct store_health *health, struct error *err);
/* The same, and odd values are nothing wrong: they keep nobody from reading the rest. */
int store_verify_readable(struct store *s, struct store_health *health, struct error *err);

#endif
