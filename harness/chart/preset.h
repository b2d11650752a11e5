/* SPDX-License-Identifier: MIT */
/*
 * A preset is one figure as a JSON file (plots/presets/<name>.json, or the user's own):
 *
 *     { "name": "latency-models",            file name of the picture: letters, digits, - and _
 *       "title": "...", "description": "...", the second is the line in summary.txt
 *       "type": "bars",                      see plot_type_find()
 *       "mode": "single",                    or a list: "single", "multi", "compare",
 *                                            "trend", "profile"
 *       "section": "speed",                  where the report shows it, see preset_sections
 *       "chapter": "kernels",                the part of the report that it is in, and the folder
 *                                            of its pictures, see chapter_of() for the default
 *       "order": 10,                         its place there, 0 to 99, small first (default 50)
 *       "x": "batch", "y": "p50",            a metric, a dim or an expression, as the type wants
 *       "panels": ["intensity", "gflops"],   the same, one panel each, where the type has panels
 *       "size": "width", "colour": "tokens", the same, for points
 *       "group": "kernel",                   what tells marks apart: kernel, variant, math, device,
 *                                            model, run, or a dim
 *       "x_label": "...", "y_label": "...",  instead of the metric's own
 *       "x_scale": "auto", "y_scale": "auto",  or "linear", "log"
 *       "where": "prefill",                  a part that has a name, see chart/places.h; "filter"
 *                                            goes on
 *       "filter": ["gemm", "!gemm/fused"],   globs over benchmark keys; "!" leaves out
 *       "limit": 24,                         most rows, panels, lines or points
 *       "rolling_window": 5,                 points under the moving median; 0 for none
 *       "how": "...",                        how to read it, beside the type's own words
 *       "highlight_pareto": true,            scatter: mark what nothing beats in both metrics
 *       "formerly": ["runs-pareto"],         names it had: they still mean it
 *       "answers": true,                     drawn when none is named; other figures on --all
 *       "show_legend": true }
 *
 * One file can be several figures: each part of its "split" is a figure, with keys that go over
 * those of the file. A part without a name is called after the file and its "where":
 * latency-decode.
 * "{where}" in title and description becomes "the models' decode".
 *
 *     { "name": "latency", "title": "Latency of {where}", "type": "bars", "y": "p50",
 *       "split": [{ "where": "kernels" }, { "where": "decode", "section": "models" }] }
 *
 * Only name, title and type must be there. Keys that begin with "_" are comments; any other unknown
 * key is an error that names it, its line and the nearest known one.
 */
#ifndef HARNESS_CHART_PRESET_H
#define HARNESS_CHART_PRESET_H

#include "base/error.h"
#include "base/json_source.h"
#include "chart/base/chart_base.h"

#include <stddef.h>

const char *plot_mode_name(enum plot_mode mode); /* "single" */

/* Where the report shows a figure, in its order: "verdict", "trend", "speed", "distribution",
 * "roofline", "sizes", "models", "profile", "run". */
extern const char *const preset_sections[]; /* NULL-ended */

/* One preset from a text; `what` stands in messages. Release after success only. */
int preset_parse(struct preset *preset, const char *text, size_t length, const char *what,
                 struct error *err);
/* The same from an object within a larger file. `part`, of its "split", goes over its keys; NULL:
 * it is not split. */
int preset_from_json(struct preset *preset, const struct json_source *source, const cJSON *json,
                     const cJSON *part, struct error *err);
/* The preset as an object that reads back as the same. */
cJSON *preset_to_json(const struct preset *preset);
void preset_release(struct preset *preset);

#endif
