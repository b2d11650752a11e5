/* SPDX-License-Identifier: MIT */
#include "text/palette.h"

#include <math.h>
#include <stdio.h>

static const char *const inks[INK_NR] = {
    [INK_BLUE] = "#0072b2",   [INK_VERMILLION] = "#d55e00", [INK_GREEN] = "#009e73",
    [INK_PURPLE] = "#cc79a7", [INK_DARK] = "#222222",       [INK_GREY] = "#6b6b6b",
    [INK_LIGHT] = "#d9d9d9",
};

static const char *const shapes[SHAPE_NR] = {
    [SHAPE_CIRCLE] = "circle",   [SHAPE_SQUARE] = "square",
    [SHAPE_DIAMOND] = "diamond", [SHAPE_TRIANGLE_UP] = "triangle-up",
    [SHAPE_CROSS] = "cross",     [SHAPE_TRIANGLE_DOWN] = "triangle-down",
};

static const char *const dashes[DASH_NR] = {
    [DASH_SOLID] = "solid",
    [DASH_LONG] = "long",
    [DASH_SHORT] = "short",
    [DASH_DOT] = "dot",
};

/* Eleven even steps of viridis; between them colours are mixed linearly. */
static const unsigned char viridis[][3] = {
    { 0x44, 0x01, 0x54 }, { 0x48, 0x24, 0x75 }, { 0x41, 0x44, 0x87 }, { 0x35, 0x5f, 0x8d },
    { 0x2a, 0x78, 0x8e }, { 0x21, 0x91, 0x8c }, { 0x22, 0xa8, 0x84 }, { 0x44, 0xbf, 0x70 },
    { 0x7a, 0xd1, 0x51 }, { 0xbd, 0xdf, 0x26 }, { 0xfd, 0xe7, 0x25 },
};

enum { VIRIDIS_LAST = sizeof(viridis) / sizeof(viridis[0]) - 1 };

const char *palette_ink(enum ink ink)
{
    return inks[ink];
}

const char *palette_shape_name(enum shape_kind shape)
{
    return shapes[shape];
}

const char *palette_dash_name(enum dash dash)
{
    return dashes[dash];
}

char *palette_scale(double share, char colour[COLOUR_SIZE])
{
    unsigned mixed[3];

    if (!isfinite(share)) {
        snprintf(colour, COLOUR_SIZE, "%s", inks[INK_LIGHT]);
        return colour;
    }
    double at = fmin(fmax(share, 0), 1) * VIRIDIS_LAST;
    int below = (int)fmin(floor(at), VIRIDIS_LAST - 1);
    for (int i = 0; i < 3; i++) {
        double low = viridis[below][i], high = viridis[below + 1][i];
        mixed[i] = (unsigned)lround(low + (high - low) * (at - below)) & 0xff;
    }
    snprintf(colour, COLOUR_SIZE, "#%02x%02x%02x", mixed[0], mixed[1], mixed[2]);
    return colour;
}

static double colour_luminance(const char *colour)
{
    static const double weight[3] = { 0.2126, 0.7152, 0.0722 };
    unsigned channel[3] = { 0, 0, 0 };
    double sum = 0;

    sscanf(colour, "#%2x%2x%2x", &channel[0], &channel[1], &channel[2]);
    for (int i = 0; i < 3; i++) {
        double c = channel[i] / 255.0;
        sum += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double palette_contrast(const char *a, const char *b)
{
    double x = colour_luminance(a), y = colour_luminance(b);

    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

const char *palette_text_on(const char *colour)
{
    return palette_contrast(colour, "#000000") >= palette_contrast(colour, "#ffffff") ? "#000000"
                                                                                      : "#ffffff";
}
