/* SPDX-License-Identifier: MIT */
/*
 * What people set once: harness.json in the project, or for all their projects.
 *
 *     { "defaults": { "single": ["latency-kernels", "roofline"], "multi": [...], "compare": [...],
 *                     "trend": [...] },     figures drawn when none is named; absent: those that
 * answer "presets": [ {...}, "plots/mine.json" ],   figures of your own (chart/preset.h), or files
 *                                                  with one, relative to this one
 *       "formats": ["png"],                        of pictures
 *       "peaks": { "cpu-2t": { "flops.fp32": 1.5e11, "bandwidth.dram": 2e10 } },
 *                                                  FLOP/s and B/s: drawn beside measured roofs
 *       "delta": "3%" }                            changes within it do not matter
 *
 * Each file loaded goes over those before it, value by value; presets go by name. A file with a
 * "type" is one preset (what the page's "save configuration" writes): then it alone is drawn.
 * Keys that begin with "_" are comments; any other unknown key is an error with its line.
 */
#ifndef HARNESS_CHART_CONFIG_H
#define HARNESS_CHART_CONFIG_H

#include "base/error.h"
#include "chart/presets.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>

/* A list, and the file it is from; `from` NULL: nobody set it. Both owned. */
struct config_names {
    struct string_list names;
    char *from;
};

struct config_peak {
    char device[NAME_SIZE], name[48]; /* "cpu-2t", "flops.fp32" */
    double value;                     /* FLOP/s, B/s */
    char *from;                       /* owned */
};

struct config {
    struct presets presets; /* built in, with those of the files in their places */
    struct config_names defaults[PLOT_MODE_NR]; /* by bit of enum plot_mode */
    struct config_names formats;
    struct config_peak *peaks; /* nr_peaks of them; owned */
    size_t nr_peaks, peaks_capacity;
    double delta; /* 0: nobody set it */
    char *delta_from;
    bool all;    /* all figures of a mode that no list is set for, not those that answer */
    char *alone; /* name of the one preset to draw; NULL: by `defaults`. Owned */
};

/* With the presets inside the binary. */
int config_init(struct config *c, struct error *err);
void config_release(struct config *c);
int config_load(struct config *c, const char *path, struct error *err);
/* The same from a text; `what` stands for the path, files named in it are relative to its folder.
 */
int config_parse(struct config *c, const char *text, size_t length, const char *what,
                 struct error *err);
/* A list that an option gave goes over all; `from` is the option. */
void config_set(struct config_names *to, const struct string_list *names, const char *from);

/* Puts the peaks into the roofs' `spec`: of a measured roof of that device and name, or as one
 * that was not measured (value 0). Those of devices on which none of the records was measured are
 * left out. Returns the file they are from, or NULL without any. */
const char *config_apply_peaks(const struct config *c, struct records *records);

/* All of it, merged, as a valid harness.json; "_from" says where each value is from. */
cJSON *config_to_json(const struct config *c);

#endif
