/* SPDX-License-Identifier: MIT */
#include "chart/default_figures.h"

static int bit_of_mode(enum plot_mode mode)
{
    int bit = 0;

    while (bit < PLOT_MODE_NR - 1 && !(mode & 1u << bit))
        bit++;
    return bit;
}

bool default_figure_in(const struct config *c, const struct preset *preset, enum plot_mode mode)
{
    const struct config_names *names = &c->defaults[bit_of_mode(mode)];

    if (c->alone)
        return presets_mean(&c->presets, c->alone, preset);
    for (size_t i = 0; i < names->names.nr; i++)
        if (presets_mean(&c->presets, names->names.items[i], preset))
            return true;
    return !names->from && preset->modes & mode && (c->all || preset->answers || preset->from);
}

enum default_figure default_figure_of(const struct config *c, const struct preset *preset,
                                      unsigned there)
{
    bool elsewhere = false;

    for (int bit = 0; bit < PLOT_MODE_NR; bit++) {
        if (!default_figure_in(c, preset, (enum plot_mode)(1u << bit)))
            continue;
        if (there & 1u << bit)
            return FIGURE_DRAWN;
        elsewhere = true;
    }
    return elsewhere && !(preset->modes & there) ? FIGURE_ELSEWHERE : FIGURE_NOT_DRAWN;
}
