/* SPDX-License-Identifier: MIT */
/* Fewer points than were measured, where more could not be told apart. */
#ifndef HARNESS_PAGE_FIGURE_THIN_H
#define HARNESS_PAGE_FIGURE_THIN_H

#include "figure/figure.h"

#include <stddef.h>

/*
 * Cuts each layer of lines, steps, points or bands that has more than `most` data down to at most
 * that: neighbours are put together, and of each such part the lowest and highest stay (of a band
 * its outline), so that no outlier is lost; breaks in a line stay. Points that carry a text, size
 * or colour of their own are left as they are. Returns the data left out, which the caption tells.
 * `most` is 16 or more. Call after figure_finish().
 */
size_t figure_thin(struct figure *f, size_t most);
/* The same, and the caption tells. */
void figure_thin_and_tell(struct figure *f, size_t most);

/* Which of `of` things in a row stay when there is room for `most`: the i-th is at this index. */
size_t thin_index(size_t i, size_t of, size_t most);

#endif
