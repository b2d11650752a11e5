/* SPDX-License-Identifier: MIT */
#include "text/textwidth.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <string.h>

/* Advances of U+0020 to U+007E, in thousandths of the font size. */
static const short advances[] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838,
};

static const double bold_factor = 1.14;

/* Accented Latin and Greek are about as wide as letters; all else gets a full square, which is
 * right for CJK and on the safe side for symbols. */
static double text_advance(const char *at)
{
    unsigned char c = (unsigned char)*at;

    if (c >= 0x20 && c < 0x7f)
        return advances[c - 0x20] / 1000.0;
    if ((c & 0xc0) == 0x80 || c < 0x20)
        return 0; /* counted with the leading byte */
    return c < 0xe0 ? 0.65 : 1.0;
}

double text_width(const char *utf8, double size, bool bold)
{
    double sum = 0;

    for (; *utf8; utf8++)
        sum += text_advance(utf8);
    return sum * size * (bold ? bold_factor : 1);
}

static size_t text_next_char(const char *text, size_t at)
{
    do
        at++;
    while (((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

static size_t previous_char(const char *text, size_t at)
{
    do
        at--;
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

char *text_elide(const char *utf8, double size, double room)
{
    double width = text_width(utf8, size, false), budget = (room - size) / 2;

    if (width <= room)
        return memory_string(utf8);
    size_t head = 0, tail = strlen(utf8);
    for (double used = 0; utf8[head] && (used += text_advance(utf8 + head) * size) <= budget;)
        head = text_next_char(utf8, head);
    for (double used = 0; tail > head; tail = previous_char(utf8, tail)) {
        used += text_advance(utf8 + previous_char(utf8, tail)) * size;
        if (used > budget)
            break;
    }
    struct strbuf sb;
    strbuf_init(&sb);
    strbuf_add(&sb, utf8, head);
    strbuf_adds(&sb, "…");
    strbuf_adds(&sb, utf8 + tail);
    return strbuf_detach(&sb);
}

/* Where a word of a name ends: at a sign between words, or before a capital after a small letter.
 */
static bool ends_word(const char *utf8, size_t at)
{
    return (utf8[at] && strchr("_/. :<(-", utf8[at])) ||
           (islower((unsigned char)utf8[at - 1]) && isupper((unsigned char)utf8[at]));
}

char *text_cut(const char *utf8, double size, double room)
{
    double used = size; /* of the ellipsis */
    size_t at = 0, word = 0;
    struct strbuf sb;

    if (text_width(utf8, size, false) <= room)
        return memory_string(utf8);
    while (utf8[at] && (used += text_advance(utf8 + at) * size) <= room) {
        at = text_next_char(utf8, at);
        if (ends_word(utf8, at))
            word = at;
    }
    strbuf_init(&sb);
    strbuf_add(&sb, utf8, word * 2 >= at ? word : at);
    strbuf_adds(&sb, "…");
    return strbuf_detach(&sb);
}

size_t text_line(const char *utf8, double size, double room)
{
    size_t at = 0, space = 0;
    double used = 0;

    while (utf8[at]) {
        used += text_advance(utf8 + at) * size;
        if (used > room && at > 0)
            return space ? space : at;
        if (utf8[at] == ' ')
            space = at;
        at = text_next_char(utf8, at);
    }
    return at;
}
