/* SPDX-License-Identifier: MIT */
/*
 * Which figures are drawn when none is named. Of a mode (one run, several, a comparison, a history,
 * a profile) those that harness.json lists; where it has no list, those of the built-in presets
 * that "answer" a usual question, with --all every one, and all of the user's own.
 */
#ifndef HARNESS_CHART_DEFAULT_FIGURES_H
#define HARNESS_CHART_DEFAULT_FIGURES_H

#include "chart/config.h"

bool default_figure_in(const struct config *c, const struct preset *preset, enum plot_mode mode);

enum default_figure {
    FIGURE_NOT_DRAWN,
    FIGURE_DRAWN,
    FIGURE_ELSEWHERE, /* in modes alone that there is nothing for */
};

/* `there`: the modes that there is something for. */
enum default_figure default_figure_of(const struct config *c, const struct preset *preset,
                                      unsigned there);

#endif
