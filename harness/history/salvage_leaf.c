/* SPDX-License-Identifier: MIT */
#include "history/salvage_leaf.h"

#include <stdio.h>

/* SQLite's own: 7 bits a byte, highest first; the ninth has 8. False beyond `end`. */
static bool get_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < 9 && *p < end; i++) {
        unsigned char byte = *(*p)++;
        if (i == 8) {
            *value = *value << 8 | byte;
            return true;
        }
        *value = *value << 7 | (byte & 0x7f);
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool type_fits(const struct tree_column *c, uint64_t type)
{
    bool whole = (type >= 1 && type <= 6) || type == 8 || type == 9;

    if (c->is_id)
        return type == 0; /* it is the row's number */
    if (type == 0)
        return !c->not_null;
    switch (c->affinity) {
    case 'I':
        return whole;
    case 'R':
        return whole || type == 7;
    case 'T':
        return type >= 13 && type % 2 == 1;
    default:
        return type >= 12 && type % 2 == 0;
    }
}

/* A row: length, number, then a header with the types of its columns. */
static bool is_row_of(const struct tree *tree, const unsigned char *row, const unsigned char *end,
                      int64_t *number)
{
    uint64_t length, id, header, type;
    size_t nr = 0;

    if (!get_varint(&row, end, &length) || !get_varint(&row, end, &id))
        return false;
    const unsigned char *begin = row;
    if (!get_varint(&row, end, &header) || header > (uint64_t)(end - begin) || header > length)
        return false;
    for (end = begin + header; row < end; nr++)
        if (nr == tree->nr || !get_varint(&row, end, &type) || !type_fits(&tree->columns[nr], type))
            return false;
    *number = (int64_t)id;
    return nr >= tree->fewest && *number > 0;
}

bool leaf_is_of(const struct tree *tree, const unsigned char *page, struct node *node)
{
    uint32_t cells = page_get(page + PAGE_CELLS, 2);

    if (page[0] != PAGE_LEAF || cells == 0 || LEAF_CELLS + 2 * cells > PAGE_USUAL)
        return false;
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t at = page_get(page + LEAF_CELLS + (size_t)2 * i, 2);
        int64_t number;
        if (at >= PAGE_USUAL || !is_row_of(tree, page + at, page + PAGE_USUAL, &number))
            return false;
        if (i > 0 && number <= node->last)
            return false;
        if (i == 0)
            node->first = number;
        node->last = number;
    }
    return true;
}

/* A column that was added later has a default, and is missing in older rows. */
static void read_columns(sqlite3 *db, struct tree *tree)
{
    static const char text[] =
        "SELECT type, \"notnull\", pk, dflt_value FROM pragma_table_info(?1)";
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, text, -1, &stmt, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_text(stmt, 1, tree->name, -1, SQLITE_STATIC);
    while (tree->nr < COLUMNS_MAX && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(stmt, 0);
        tree->columns[tree->nr++] = (struct tree_column) {
            .affinity = type && *type ? *type : 'B',
            .not_null = sqlite3_column_int(stmt, 1) != 0,
            .is_id = sqlite3_column_int(stmt, 2) != 0,
        };
        if (sqlite3_column_type(stmt, 3) == SQLITE_NULL)
            tree->fewest = tree->nr;
    }
    sqlite3_finalize(stmt);
}

void tree_list_read(sqlite3 *db, struct tree_list *list)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db,
                           "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table' AND "
                           "name NOT LIKE 'sqlite_%' AND sql NOT LIKE '%WITHOUT ROWID%'",
                           -1, &stmt, NULL) != SQLITE_OK)
        return;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        struct tree *tree = array_push(list);
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        snprintf(tree->name, sizeof(tree->name), "%s", name ? name : "");
        tree->root = (uint32_t)sqlite3_column_int64(stmt, 1);
        read_columns(db, tree);
    }
    sqlite3_finalize(stmt);
}
