/* SPDX-License-Identifier: MIT */
/*
 * $OUT of one call of a benchmark command: a path in a folder that nobody else has, beside what was
 * built, so that several gates may measure one build at a time.
 *
 *     struct bench_out out;
 *     if (bench_out_begin(&out, folder, "sort", err) == 0)
 *         ... out.path: FOLDER/out-XXXXXX/sort.result ...
 *     bench_out_end(&out, false);
 *
 * Such a folder is locked while its call lasts. What a killed process left, or a call whose result
 * could not be read, is removed before the next call there.
 */
#ifndef HARNESS_SESSION_BENCH_BENCH_OUT_H
#define HARNESS_SESSION_BENCH_BENCH_OUT_H

#include "base/error.h"

#include <stdbool.h>

struct bench_out {
    char *folder, *path; /* owned; NULL: there is none */
    int lock;
};

/* -1: no folder can be made. End it whatever the result. */
int bench_out_begin(struct bench_out *o, const char *folder, const char *name, struct error *err);
/* Removes all of it; `keep`: a message names it, so it is left until the next call. */
void bench_out_end(struct bench_out *o, bool keep);

#endif
