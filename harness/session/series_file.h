/* SPDX-License-Identifier: MIT */
/*
 * A series of numbers from a file: a JSON array, {"values": [...]}, or lines of text whose last
 * column counts (commas, semicolons, tabs or blanks between columns). One header line, empty lines
 * and lines that start with # are passed over.
 */
#ifndef HARNESS_SESSION_SERIES_FILE_H
#define HARNESS_SESSION_SERIES_FILE_H

#include "base/error.h"

#include <stddef.h>

struct series_values {
    double *items; /* owned */
    size_t nr, capacity;
};

/* "-" reads standard input. What is not a finite number is refused with its line or place. Release
 * `out` with array_release(), after an error too. */
int series_read(const char *path, struct series_values *out, struct error *err);
/* The same from memory; `what` stands in messages. */
int series_parse(const char *text, size_t length, const char *what, struct series_values *out,
                 struct error *err);

#endif
