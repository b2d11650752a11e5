/* SPDX-License-Identifier: MIT */
/*
 * Raw samples as a short blob. Neighbouring samples are alike, so their differences are small:
 *
 *     byte 0    1, the version of this format
 *     varint    number of samples n
 *     n varints zigzag(sample[i] - sample[i-1]), with sample[-1] = 0, modulo 2^64
 *
 * A varint holds 7 bits a byte, lowest first, bit 7 set on all but the last byte (LEB128); zigzag
 * maps 0, -1, 1, -2 to 0, 1, 2, 3. There is one encoding for each series: longer spellings of a
 * varint are refused. Version 2 is a summary, see below.
 */
#ifndef HARNESS_STORE_SAMPLES_H
#define HARNESS_STORE_SAMPLES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The blob, to be freed; *length gets its size. Any values are fine, nr may be 0. */
unsigned char *samples_encode(const uint64_t *samples, size_t nr, size_t *length);
/* *samples gets a heap array (NULL if there are none). -1 on a malformed blob, with *samples NULL
 * and *nr 0; the memory used is bounded by the blob's length, or by SAMPLES_THIN_MAX. Takes both
 * versions. */
int samples_decode(const unsigned char *blob, size_t length, uint64_t **samples, size_t *nr,
                   struct error *err);

/*
 * A summary of a long series of samples: those that stats/thin_samples.h keeps, and how many there
 * were. The order in which they were measured is gone. Any other sample is put on the straight line
 * between its kept neighbours.
 *
 *     byte 0    2, the version of this form
 *     varint    number of samples n, at most SAMPLES_THIN_MAX
 *     varints   the kept samples in ascending order, each as its distance from the one before,
 *               the first from 0
 *
 * Which ranks are kept follows from n, so they are not written down.
 */
enum { SAMPLES_THIN_MAX = 1 << 20 };

bool samples_are_thin(const unsigned char *blob, size_t length);
/* The blob, to be freed; *length gets its size. Sorts `samples`. NULL for more than
 * SAMPLES_THIN_MAX samples, or none. */
unsigned char *samples_thin(uint64_t *samples, size_t nr, size_t *length);

#endif
