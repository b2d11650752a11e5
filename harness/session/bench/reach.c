/* SPDX-License-Identifier: MIT */
#include "session/bench/reach.h"

#include "base/file.h"
#include "base/memory.h"
#include "session/builds/git.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reach_line {
    char *pattern; /* owned */
    struct string_list names;
};

struct reach_map {
    ARRAY(struct reach_line) lines;
};

/* ---- the map ---- */

static bool fits_reach_name(const char *name, const char *pattern)
{
    return strcmp(name, pattern) == 0 || fnmatch(pattern, name, 0) == 0;
}

static bool names_reach_thing(const struct reach_request *r, const char *pattern)
{
    for (size_t i = 0; i < r->nr; i++)
        if (fits_reach_name(r->things[i].name, pattern))
            return true;
    return false;
}

static int read_reach_line(const struct reach_request *r, char *text, size_t number,
                           struct reach_map *map, struct error *err)
{
    char *colon = strrchr(text, ':'), *rest;

    if (!colon || colon == text)
        return error_set(err, "%s:%zu: not \"PATTERN: NAME...\"", r->map, number);
    *colon = '\0';
    struct reach_line *line = array_push(&map->lines);
    line->pattern = memory_string(text);
    rest = colon + 1;
    for (char *name; (name = strsep(&rest, " \t\r"));) {
        if (!*name)
            continue;
        if (!names_reach_thing(r, name))
            return error_set(err, "%s:%zu: no %s is called \"%s\"", r->map, number,
                             r->nr > 0 && r->things[0].command ? "--bench" : "kernel's variant",
                             name);
        string_list_add(&line->names, name);
    }
    return 0;
}

static int read_reach_map(const struct reach_request *r, struct reach_map *map, struct error *err)
{
    size_t length, number = 0;
    char *text = r->map ? file_read(r->map, FILE_SETTINGS_MOST, &length, err) : NULL;
    char *rest = text;
    int rc = r->map && !text ? -1 : 0;

    for (char *line; rc == 0 && rest && (line = strsep(&rest, "\n"));) {
        number++;
        line += strspn(line, " \t\r");
        if (*line && *line != '#')
            rc = read_reach_line(r, line, number, map, err);
    }
    free(text);
    return rc;
}

static void reach_map_release(struct reach_map *map)
{
    for (size_t i = 0; i < map->lines.nr; i++) {
        free(map->lines.items[i].pattern);
        string_list_release(&map->lines.items[i].names);
    }
    array_release(&map->lines);
}

int reach_check(const struct reach_request *r, struct error *err)
{
    struct reach_map map = { ARRAY_EMPTY };
    int rc = read_reach_map(r, &map, err);

    reach_map_release(&map);
    return rc;
}

static const struct reach_line *find_reach_line(const struct reach_map *map, const char *file)
{
    for (size_t i = 0; i < map->lines.nr; i++)
        if (fnmatch(map->lines.items[i].pattern, file, 0) == 0)
            return &map->lines.items[i];
    return NULL;
}

/* ---- the answer ---- */

/* A submodule may ask git to keep silent of its commits, and so may the user's configuration. */
static int list_changed_files(const struct reach_request *r, struct string_list *out,
                              struct error *err)
{
    const char *diff[] = { "diff",
                           "--name-only",
                           "--ignore-submodules=none",
                           "--no-renames",
                           "--no-relative",
                           "-z",
                           r->side[AB_BASE]->commit,
                           r->side[AB_HEAD]->commit,
                           "--",
                           NULL };
    struct strbuf text;

    strbuf_init(&text);
    int rc = git_run(diff, &text, err);
    for (size_t at = 0; rc == 0 && at < text.length; at += strlen(text.data + at) + 1)
        string_list_add(out, text.data + at);
    strbuf_release(&text);
    return rc;
}

static bool reaches_thing(const struct reach_build sides[AB_SIDES], const char *file, size_t i)
{
    return reach_build_may(&sides[AB_BASE], i, file) || reach_build_may(&sides[AB_HEAD], i, file);
}

static bool line_names_thing(const struct reach_line *line, const char *name)
{
    for (size_t i = 0; i < line->names.nr; i++)
        if (fits_reach_name(name, line->names.items[i]))
            return true;
    return false;
}

/* Marks what one file reaches. */
static void spread_reach(const struct reach_request *r, const struct reach_map *map,
                         const struct reach_build sides[AB_SIDES], const char *file,
                         struct reach *out)
{
    const struct reach_line *line = find_reach_line(map, file);
    bool known = reach_build_has(&sides[AB_BASE], file) || reach_build_has(&sides[AB_HEAD], file);

    if (!line && !known && !out->unknown)
        out->unknown = memory_string(file);
    for (size_t i = 0; i < r->nr; i++)
        if (line ? line_names_thing(line, r->things[i].name)
                 : !known || reaches_thing(sides, file, i))
            out->left_out[i] = false;
}

int reach_find(const struct reach_request *r, struct reach *out, struct error *err)
{
    struct reach_build sides[AB_SIDES] = { { .built = NULL } };
    struct reach_map map = { ARRAY_EMPTY };

    *out = (struct reach) { .left_out = memory_zeroed(r->nr + 1, sizeof(bool)) };
    int rc = read_reach_map(r, &map, err);
    if (rc == 0)
        rc = list_changed_files(r, &out->changed, err);
    for (int s = 0; rc == 0 && s < AB_SIDES; s++)
        reach_build_read(r->side[s], r->things, r->nr, &sides[s]);
    for (size_t i = 0; rc == 0 && i < r->nr; i++)
        out->left_out[i] = true;
    for (size_t i = 0; rc == 0 && i < out->changed.nr; i++)
        spread_reach(r, &map, sides, out->changed.items[i], out);
    for (size_t i = 0; i < r->nr; i++)
        out->nr_left_out += out->left_out[i];
    for (int s = 0; s < AB_SIDES; s++)
        reach_build_release(&sides[s]);
    reach_map_release(&map);
    return rc;
}

void reach_release(struct reach *r)
{
    string_list_release(&r->changed);
    free(r->left_out);
    free(r->unknown);
    *r = (struct reach) { 0 };
}
