/* SPDX-License-Identifier: MIT */

/* Advances of U+0020 to U+007E in DejaVu Sans, in thousandths of the size (harness/text/textwidth.c). */
const ADVANCES = [
  318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636,
  636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775,
  752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390,
  337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
  635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/** Pixels that a text takes on the program's sheet. */
export function textWidth(text, size) {
  let sum = 0;
  for (const character of text) {
    const code = character.codePointAt(0);
    sum += code >= 0x20 && code < 0x7f ? ADVANCES[code - 0x20] / 1000
      : code < 0x20 ? 0 : code < 0x800 ? 0.65 : 1;
  }
  return sum * size;
}
