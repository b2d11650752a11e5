/* SPDX-License-Identifier: MIT */
/* A table as text: which columns there is room for, how wide they are, and their lines. */
#include "base/clean.h"
#include "base/memory.h"
#include "text/shorten.h"
#include "text/table.h"
#include "text/wrap.h"

#include <stdlib.h>

enum {
    GAP = 2,
    NAME_LEAST = 24, /* below that a name says little */
    NAME_TIGHT = 16,
    PROSE_LEAST = 12,        /* of a column that is to stay */
    PROSE_RANKED_LEAST = 28, /* of one that may go: narrower, it makes the table long */
};

static const char *const tones[] = {
    [TABLE_PLAIN] = "",
    [TABLE_GOOD] = "\033[32m",
    [TABLE_BAD] = "\033[31m",
    [TABLE_DIM] = "\033[2m",
};

struct layout {
    const struct table *table;
    size_t width;                          /* there is for columns; 0: any */
    size_t natural[TABLE_COLUMNS_MAX];     /* what a column needs; 0: it is empty */
    size_t widths[TABLE_COLUMNS_MAX];      /* what it gets; 0: it is not shown */
    char **short_names[TABLE_COLUMNS_MAX]; /* one a row; NULL: the cells are shown as they are */
};

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- which columns, how wide ---- */

/* Borrowed texts in an array for free(). */
static const char **column_texts(const struct table *t, size_t column)
{
    const char **texts = memory_zeroed(table_rows(t) + 1, sizeof(*texts));

    for (size_t row = 0; row < table_rows(t); row++)
        texts[row] = table_at(t, row, column)->text;
    return texts;
}

/* What is left for a column of names beside those that are to stay. */
static size_t most_name_width(const struct layout *l, size_t column)
{
    size_t others = 0;

    for (size_t i = 0; i < l->table->nr_columns; i++)
        if (i != column && l->natural[i] && l->table->columns[i].rank == 0)
            others += GAP + (l->table->columns[i].fit == TABLE_PROSE ? PROSE_LEAST : l->natural[i]);
    return least_of(l->width > others ? l->width - others : 0, l->natural[column]);
}

/* Room in which names are read with ease and, if there is as much, can be told apart. */
static size_t least_name_width(const struct layout *l, size_t column)
{
    size_t low = most_of(NAME_LEAST, l->width * 3 / 10), high = most_name_width(l, column);

    if (l->natural[column] <= low || high <= low)
        return least_of(low, l->natural[column]);
    const char **names = column_texts(l->table, column);
    size_t width = shorten_least(names, table_rows(l->table), low, high);
    free(names);
    if (width < high || high == l->natural[column])
        return width;
    return most_of(low, least_of(high, l->width / 2));
}

static size_t least_width(const struct layout *l, size_t column)
{
    const struct table_column *c = &l->table->columns[column];

    if (c->fit == TABLE_FIRM || !l->natural[column])
        return l->natural[column];
    if (c->fit == TABLE_NAME)
        return least_name_width(l, column);
    size_t least = c->rank > 0 ? PROSE_RANKED_LEAST : PROSE_LEAST;
    return least_of(most_of(least, clean_columns(c->title)), l->natural[column]);
}

static size_t total_width(const struct layout *l)
{
    size_t total = 0;

    for (size_t i = 0; i < l->table->nr_columns; i++)
        total += l->widths[i] ? l->widths[i] + GAP : 0;
    return total > GAP ? total - GAP : 0;
}

/* The column that a table is about: the first of names, or the first at all. */
static size_t column_to_keep(const struct layout *l)
{
    size_t first = 0;

    for (size_t i = l->table->nr_columns; i-- > 0;)
        if (l->natural[i])
            first = i;
    for (size_t i = 0; i < l->table->nr_columns; i++)
        if (l->natural[i] && l->table->columns[i].fit == TABLE_NAME)
            return i;
    return first;
}

/* The one to be left out next; nr_columns if there is none. */
static size_t column_to_drop(const struct layout *l, size_t kept)
{
    const struct table_column *columns = l->table->columns;
    size_t next = l->table->nr_columns;

    for (size_t i = l->table->nr_columns; i-- > 0;)
        if (l->widths[i] && i != kept &&
            (next == l->table->nr_columns || columns[i].rank > columns[next].rank))
            next = i;
    return next;
}

static bool wants_room(const struct layout *l, size_t column, enum table_fit fit)
{
    return l->widths[column] && l->table->columns[column].fit == fit &&
           l->widths[column] < l->natural[column];
}

/* What is left goes to the names, then to sentences: the narrowest first. */
static void spread_room(struct layout *l, size_t room, enum table_fit fit)
{
    for (; room > 0; room--) {
        size_t narrowest = l->table->nr_columns;
        for (size_t i = 0; i < l->table->nr_columns; i++)
            if (wants_room(l, i, fit) &&
                (narrowest == l->table->nr_columns || l->widths[i] < l->widths[narrowest]))
                narrowest = i;
        if (narrowest == l->table->nr_columns)
            return;
        l->widths[narrowest]++;
    }
}

/* Before a column goes that is to stay, the names get by with less. */
static bool squeeze_name(struct layout *l, size_t kept)
{
    size_t others = total_width(l) - l->widths[kept];
    bool enough = l->table->columns[kept].fit == TABLE_NAME && others + NAME_TIGHT <= l->width;

    if (enough)
        l->widths[kept] = l->width - others;
    return enough;
}

static void fit_columns(struct layout *l)
{
    size_t kept = column_to_keep(l), next;

    for (size_t i = 0; i < l->table->nr_columns; i++)
        l->widths[i] = least_width(l, i);
    while (total_width(l) > l->width && (next = column_to_drop(l, kept)) < l->table->nr_columns) {
        if (l->table->columns[next].rank == 0 && squeeze_name(l, kept))
            break;
        l->widths[next] = 0;
    }
    if (total_width(l) > l->width)
        l->widths[kept] = l->width;
    spread_room(l, l->width - total_width(l), TABLE_NAME);
    spread_room(l, l->width - total_width(l), TABLE_PROSE);
}

static void shorten_column(struct layout *l, size_t column)
{
    if (!wants_room(l, column, TABLE_NAME))
        return;
    const char **names = column_texts(l->table, column);
    l->short_names[column] = shorten_names(names, table_rows(l->table), l->widths[column]);
    free(names);
}

static void layout_init(struct layout *l, const struct table *t, size_t width)
{
    width = width > t->indent ? width - t->indent : width;
    *l = (struct layout) { .table = t, .width = width };
    table_widths(t, l->natural);
    for (size_t i = 0; i < t->nr_columns; i++)
        l->widths[i] = l->natural[i];
    if (width && total_width(l) > width)
        fit_columns(l);
    for (size_t i = 0; i < t->nr_columns; i++)
        shorten_column(l, i);
}

static void layout_release(struct layout *l)
{
    for (size_t i = 0; i < l->table->nr_columns; i++)
        shorten_free(l->short_names[i], table_rows(l->table));
}

/* ---- lines ---- */

/* A row on its way out: what is left of each cell. */
struct row_rest {
    size_t indent; /* of the line; what the table has more than that follows the first column */
    const char *text[TABLE_COLUMNS_MAX];
    enum table_tone tone[TABLE_COLUMNS_MAX];
};

static void add_piece(const struct layout *l, size_t column, const char *text, size_t length,
                      const char *colour, struct strbuf *out)
{
    struct strbuf piece;

    strbuf_init(&piece);
    strbuf_add(&piece, text, length);
    size_t used = clean_columns(piece.data),
           pad = l->widths[column] - least_of(used, l->widths[column]);
    bool right = l->table->columns[column].align == TABLE_RIGHT;
    strbuf_pad(out, out->length + (right ? pad : 0), ' ');
    strbuf_addf(out, "%s%s%s", colour, piece.data, *colour ? "\033[0m" : "");
    strbuf_pad(out, out->length + (right ? 0 : pad) + GAP, ' ');
    strbuf_release(&piece);
}

/* One line of the row; is there more of it? */
static bool add_line(const struct layout *l, struct row_rest *rest, bool colour, struct strbuf *out)
{
    size_t start = out->length, hanging = l->table->indent - rest->indent;
    bool more = false;

    strbuf_pad(out, start + rest->indent, ' ');
    for (size_t i = 0; i < l->table->nr_columns; i++) {
        if (!l->widths[i])
            continue;
        const char *text = rest->text[i];
        size_t length = wrap_line(text, l->widths[i], false);
        add_piece(l, i, text, length, colour && length ? tones[rest->tone[i]] : "", out);
        strbuf_pad(out, out->length + hanging, ' ');
        hanging = 0;
        text += length;
        while (length && *text == ' ')
            text++;
        rest->text[i] = text;
        more |= *text != '\0';
    }
    while (out->length > start && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    strbuf_addc(out, '\n');
    return more;
}

static void take_row(const struct layout *l, size_t row, struct row_rest *rest)
{
    rest->indent = l->table->indent;
    for (size_t i = 0; i < l->table->nr_columns; i++) {
        const struct table_cell *cell = table_at(l->table, row, i);
        rest->text[i] = l->short_names[i] ? l->short_names[i][row] : cell->text;
        rest->tone[i] = cell->tone;
    }
}

static void take_titles(const struct layout *l, struct row_rest *rest)
{
    rest->indent = 0;
    for (size_t i = 0; i < l->table->nr_columns; i++) {
        rest->text[i] = l->table->columns[i].title;
        rest->tone[i] = TABLE_DIM;
    }
}

/* What there was no room for, so that nobody looks for it in vain. */
static void add_left_out(const struct layout *l, struct strbuf *out)
{
    struct strbuf line;
    size_t nr = 0;

    strbuf_init(&line);
    for (size_t i = 0; i < l->table->nr_columns; i++)
        if (l->natural[i] && !l->widths[i] && *l->table->columns[i].title)
            strbuf_addf(&line, "%s%s",
                        nr++ ? ", " : "(no room here for: ", l->table->columns[i].title);
    if (nr) {
        strbuf_adds(&line, ")\n");
        wrap_text(line.data, l->width, out);
    }
    strbuf_release(&line);
}

void table_text(const struct table *t, size_t width, bool colour, struct strbuf *out)
{
    struct row_rest rest;
    struct layout l;

    layout_init(&l, t, width);
    for (size_t row = 0; total_width(&l) && row <= table_rows(t); row++) {
        if (row)
            take_row(&l, row - 1, &rest);
        else
            take_titles(&l, &rest);
        while (add_line(&l, &rest, colour, out))
            ;
    }
    add_left_out(&l, out);
    layout_release(&l);
}
