/* SPDX-License-Identifier: MIT */
/* Parts of the benchmarks that have a name, "models": which they are, what a title calls them, and
 * where a figure of them stands. They are data, plots/places.json: no figure knows what a benchmark
 * is called. */
#ifndef HARNESS_CHART_PLACES_H
#define HARNESS_CHART_PLACES_H

#include <stddef.h>

struct place {
    const char *name, *filter, *words, *chapter; /* the words are of a title: "the models" */
};

enum { PLACES_MAX = 16 };

/* The i-th of the file; NULL past the end. All live as long as the process. */
const struct place *place_at(size_t i);
/* NULL where there is none. */
const struct place *place_named(const char *name);
/* The first whose filter begins with the same part as `glob`: "gemm" for "gemm/linear/?*". */
const struct place *place_of_glob(const char *glob);

#endif
