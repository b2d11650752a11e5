/* SPDX-License-Identifier: MIT */
/*
 * All figures there are: those of the program, and of the user's files.
 *
 * A name means, in this order: the figure of that name; all figures of the file of that name that
 * is split ("latency": latency-kernels, latency-prefill, latency-decode); the figure that one of
 * that name became part of ("formerly").
 */
#ifndef HARNESS_CHART_PRESETS_H
#define HARNESS_CHART_PRESETS_H

#include "chart/preset.h"

struct presets {
    struct preset *items; /* sorted by file name */
    size_t nr, capacity;
};

/* Appends the presets inside the binary. */
int presets_load_embedded(struct presets *presets, struct error *err);
/* Appends those of one file. A name that is there already is replaced. */
int presets_load_file(struct presets *presets, const char *path, struct error *err);
/* The same from an object within a larger file; `from` is that file's name. */
int presets_add_json(struct presets *presets, const struct json_source *source, const cJSON *json,
                     const char *from, struct error *err);
void presets_release(struct presets *presets);

/* The first figure that a name means; NULL and an error that names the nearest. */
const struct preset *presets_find(const struct presets *presets, const char *name,
                                  struct error *err);
/* Does the name mean this figure, maybe among others? */
bool presets_mean(const struct presets *presets, const char *name, const struct preset *preset);
/* Is it the name of a figure that became part of another? */
bool presets_is_former(const struct presets *presets, const char *name);

#endif
