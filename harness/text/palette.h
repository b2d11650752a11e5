/* SPDX-License-Identifier: MIT */
/*
 * Colours of all figures. Data are told apart by colour AND shape AND dash, never by colour
 * alone. The four hues are those of Okabe and Ito (Color Universal Design, 2008) that keep a
 * contrast of 3:1 against white (WCAG 2.1, 1.4.11). Values on a scale use viridis (van der Walt
 * and Smith, 2015).
 */
#ifndef HARNESS_TEXT_PALETTE_H
#define HARNESS_TEXT_PALETTE_H

#include <stddef.h>

enum ink {
    INK_BLUE,
    INK_VERMILLION,
    INK_GREEN,
    INK_PURPLE,
    INK_DARK,  /* text, whiskers */
    INK_GREY,  /* captions, what is not significant */
    INK_LIGHT, /* cells without a value, separators */
    INK_NR,
};

enum { PALETTE_HUES = 4, COLOUR_SIZE = 8 };

enum shape_kind {
    SHAPE_CIRCLE,
    SHAPE_SQUARE,
    SHAPE_TRIANGLE_UP,
    SHAPE_DIAMOND,
    SHAPE_TRIANGLE_DOWN,
    SHAPE_CROSS,
    SHAPE_NR,
};

enum dash { DASH_SOLID, DASH_LONG, DASH_SHORT, DASH_DOT, DASH_NR };

const char *palette_ink(enum ink ink);           /* "#0072b2" */
const char *palette_shape_name(enum shape_kind); /* "circle", for the JSON form */
const char *palette_dash_name(enum dash dash);   /* "solid" */
/* Colour at `share` in [0, 1] of the sequential scale; the light grey of "no value" for NaN. */
char *palette_scale(double share, char colour[COLOUR_SIZE]);
/* "#000000" or "#ffffff": whichever has more contrast on `colour` (WCAG relative luminance). */
const char *palette_text_on(const char *colour);
/* WCAG contrast ratio of two colours, 1 to 21. */
double palette_contrast(const char *a, const char *b);

#endif
