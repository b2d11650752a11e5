/* SPDX-License-Identifier: MIT */
/*
 * A preset is one figure as a JSON file (plots/presets/<name>.json, or the user's own):
 *
 *     { "name": "latency-models",            file name of the picture: letters, digits, - and _
 *       "title": "...", "description": "...", the second is the line in summary.txt
 *       "type": "bars",                      see plot_type_find()
 *       "mode": "single",                    or a list: "single", "compare", "trend"
 *       "x": "batch", "y": "p50",            a metric's id or a dim, as the type wants
 *       "x_label": "...", "y_label": "...",  instead of the metric's own
 *       "y_scale": "auto",                   or "linear", "log"
 *       "filter": ["gpt/?*", "!gpt/gpt2"],   globs over benchmark keys; "!" leaves out
 *       "limit": 24,                         most rows, panels or lines
 *       "rolling_window": 5,                 trend: points under the moving median; 0 for none
 *       "highlight_pareto": true,            scatter: mark what nothing beats in both metrics
 *       "show_legend": true }
 *
 * Only name, title and type must be there. An unknown key is an error that names it.
 */
#ifndef HARNESS_OUTPUT_PRESET_H
#define HARNESS_OUTPUT_PRESET_H

#include "base/error.h"
#include "base/options.h"

#include <stdbool.h>
#include <stddef.h>

enum plot_mode { PLOT_SINGLE = 1 << 0, PLOT_COMPARE = 1 << 1, PLOT_TREND = 1 << 2 };
enum scale_choice { SCALE_AUTO, SCALE_LINEAR, SCALE_LOG };

struct plot_type;

struct preset {
    char *name, *title, *description;
    const struct plot_type *type;
    unsigned modes;                  /* bits of enum plot_mode */
    char *x, *y, *x_label, *y_label; /* NULL where not given */
    enum scale_choice y_scale;
    struct string_list filter;
    int limit; /* 0: the type's own */
    int rolling_window;
    bool highlight_pareto, show_legend;
};

struct presets {
    struct preset *items; /* sorted by file name */
    size_t nr, capacity;
};

/* Appends the presets inside the binary. */
int presets_load_embedded(struct presets *presets, struct error *err);
/* Appends one file. A name that is there already is replaced. */
int presets_load_file(struct presets *presets, const char *path, struct error *err);
/* One preset from a text; `what` stands in messages. */
int preset_parse(struct preset *preset, const char *text, size_t length, const char *what,
                 struct error *err);
void preset_release(struct preset *preset);
void presets_release(struct presets *presets);
/* By name; NULL and an error that names the nearest. */
const struct preset *presets_find(const struct presets *presets, const char *name,
                                  struct error *err);

/* Does the preset's filter take this key? The last glob that matches decides; without a positive
 * glob everything is in. */
bool preset_takes(const struct preset *preset, const char *key);

#endif
