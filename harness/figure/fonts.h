/* SPDX-License-Identifier: MIT */
/*
 * Characters that no font of this machine has. gnuplot's PNG and PDF (by cairo and pango) draw a
 * frame for each, which may be thousands of pixels high and lies over everything else.
 */
#ifndef HARNESS_FIGURE_FONTS_H
#define HARNESS_FIGURE_FONTS_H

#include "base/strbuf.h"

/* Is in the fonts that are recommended, DejaVu: U+25A1. */
#define FONTS_BOX "□"

/* Appends the characters of a UTF-8 text that no scalable font has, each once. fontconfig's fc-list
 * is asked, where there are any that DejaVu may lack. Without it wide characters, and those beyond
 * U+FFFF, count as lacking. */
void fonts_lack(const char *text, struct strbuf *lacking);

/* Appends a text with a box in the place of each character that `lacking` has. */
void fonts_box(const char *text, const char *lacking, struct strbuf *out);

#endif
