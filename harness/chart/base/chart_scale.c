/* SPDX-License-Identifier: MIT */
#include "chart/base/chart_scale.h"

/* A log axis cannot hold what is not positive, whatever the preset says. */
enum axis_scale chart_scale_beyond(enum scale_choice choice, double wide, double low, double high)
{
    if (choice == SCALE_LINEAR || !(low > 0))
        return AXIS_LINEAR;
    return choice == SCALE_LOG || high > wide * low ? AXIS_LOG : AXIS_LINEAR;
}

enum axis_scale chart_scale_of(enum scale_choice choice, double low, double high)
{
    return chart_scale_beyond(choice, SCALE_WIDE, low, high);
}

enum axis_scale chart_scale(const struct preset *preset, double low, double high)
{
    return chart_scale_of(preset->y_scale, low, high);
}
