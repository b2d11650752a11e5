/* SPDX-License-Identifier: MIT */
/* The page that opens a folder of figures: harness/chart/plots.c writes the folder. */
#ifndef HARNESS_CHART_PLOTS_INDEX_H
#define HARNESS_CHART_PLOTS_INDEX_H

#include "chart/plots.h"

/* <folder>/index.html, which shows the pictures in their folders. */
int plots_write_index(const struct plots_summary *summary, const char *folder, unsigned formats,
                      struct error *err);

#endif
