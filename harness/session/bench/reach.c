/* SPDX-License-Identifier: MIT */
#include "session/bench/reach.h"

#include "base/file.h"
#include "base/memory.h"
#include "process/process.h"
#include "session/builds/git.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REACH_PATH = 1024 };

/* What one side's ninja knows, as paths from the top of the sources. */
struct reach_build {
    const struct built *built;
    struct string_list files;   /* that an object was made of */
    struct string_list *inputs; /* of each bench's program; NULL: ninja does not know it */
    bool *known;                /* of each bench */
};

struct reach_line {
    char *pattern; /* owned */
    struct string_list names;
};

struct reach_map {
    ARRAY(struct reach_line) lines;
};

bool reach_program(const char *command, char *program, size_t size)
{
    static const char *const starts[] = { "$BUILD/", "${BUILD}/", "$BUILD\"/", "${BUILD}\"/" };
    const char *from = NULL;

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        const char *there = strstr(command, starts[i]);
        if (there && (!from || there + strlen(starts[i]) < from))
            from = there + strlen(starts[i]);
    }
    if (!from)
        return false;
    size_t length = strcspn(from, " \t\n\"';|&<>()$`");
    snprintf(program, size, "%.*s", (int)length, from);
    return length > 0 && length < size;
}

static int reach_order(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

/* Each once, in order: a build may know of millions. */
static void reach_sort(struct string_list *list)
{
    size_t kept = 0;

    if (list->nr > 0)
        qsort(list->items, list->nr, sizeof(*list->items), reach_order);
    for (size_t i = 0; i < list->nr; i++) {
        if (kept > 0 && strcmp(list->items[kept - 1], list->items[i]) == 0)
            free(list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->nr = kept;
}

/* In a sorted list. */
static bool reach_has(const struct string_list *list, const char *text)
{
    return list->nr > 0 &&
           bsearch(&text, list->items, list->nr, sizeof(*list->items), reach_order) != NULL;
}

/* ---- the map ---- */

static size_t find_reach_bench(const struct bench_list *benches, const char *name)
{
    size_t i = 0;

    while (i < benches->nr && strcmp(benches->items[i].name, name) != 0)
        i++;
    return i;
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
        if (find_reach_bench(r->benches, name) == r->benches->nr)
            return error_set(err, "%s:%zu: no --bench is called \"%s\"", r->map, number, name);
        string_list_add(&line->names, name);
    }
    reach_sort(&line->names);
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

/* ---- what ninja knows ---- */

/* Ninja names files as its rules do: absolute, or relative to the build folder. */
static const char *reach_in_source(const struct built *b, const char *path)
{
    size_t length = strlen(b->source);

    if (strncmp(path, b->source, length) == 0 && path[length] == '/')
        return path + length + 1;
    return strncmp(path, "../src/", 7) == 0 ? path + 7 : NULL; /* beside it, see builds.c */
}

static bool ask_ninja(const struct built *b, const char *tool, const char *target,
                      struct strbuf *out)
{
    const char *argv[] = { "ninja", "-C", b->build, "--quiet", "-t", tool, target, NULL };
    struct process p = { .argv = argv };
    struct process_result result;
    struct strbuf errors;
    struct error ignored;

    strbuf_clear(out);
    strbuf_init(&errors);
    bool answered = process_run(&p, out, &errors, &result, &ignored) == 0 &&
                    result.end == PROCESS_EXITED && result.status == 0;
    strbuf_release(&errors);
    return answered;
}

/* "OBJECT: #deps 3, ..." and below it, indented, what it was made of. Where `of` is given, only the
 * objects among these. */
static void add_reach_deps(const struct built *b, const char *text, const struct string_list *of,
                           struct string_list *files)
{
    bool takes = !of;
    struct strbuf line;

    strbuf_init(&line);
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        strbuf_clear(&line);
        strbuf_add(&line, text, (size_t)(end - text));
        const char *colon = strstr(line.data, ": #deps");
        if (colon && of) {
            line.data[colon - line.data] = '\0';
            takes = reach_has(of, line.data);
        } else if (!colon && takes) {
            const char *file = reach_in_source(b, line.data + strspn(line.data, " "));
            if (file)
                string_list_add(files, file);
        }
    }
    strbuf_release(&line);
}

/* Sources that are compiled, and whatever else the program is made of. */
static void add_reach_inputs(const struct built *b, const struct string_list *inputs,
                             struct string_list *files)
{
    for (size_t i = 0; i < inputs->nr; i++) {
        const char *file = reach_in_source(b, inputs->items[i]);
        if (file)
            string_list_add(files, file);
    }
}

static void ask_reach_bench(struct reach_build *side, const struct bench *bench, size_t i,
                            const char *deps)
{
    char program[REACH_PATH];
    struct string_list inputs = { 0 };
    struct strbuf said;

    strbuf_init(&said);
    if (reach_program(bench->command, program, sizeof(program)) &&
        ask_ninja(side->built, "inputs", program, &said)) {
        side->known[i] = true;
        string_list_add_split(&inputs, said.data, '\n');
        reach_sort(&inputs);
        add_reach_deps(side->built, deps, &inputs, &side->inputs[i]);
        add_reach_inputs(side->built, &inputs, &side->inputs[i]);
        add_reach_inputs(side->built, &inputs, &side->files);
        reach_sort(&side->inputs[i]);
    }
    string_list_release(&inputs);
    strbuf_release(&said);
}

static void ask_reach_build(const struct reach_request *r, const struct built *built,
                            struct reach_build *side)
{
    struct strbuf deps;

    *side = (struct reach_build) { .built = built };
    side->inputs = memory_zeroed(r->benches->nr + 1, sizeof(*side->inputs));
    side->known = memory_zeroed(r->benches->nr + 1, sizeof(*side->known));
    strbuf_init(&deps);
    if (ask_ninja(built, "deps", NULL, &deps)) {
        add_reach_deps(built, deps.data, NULL, &side->files);
        for (size_t i = 0; i < r->benches->nr; i++)
            ask_reach_bench(side, &r->benches->items[i], i, deps.data);
    }
    reach_sort(&side->files);
    strbuf_release(&deps);
}

static void reach_build_release(const struct reach_request *r, struct reach_build *side)
{
    for (size_t i = 0; side->inputs && i < r->benches->nr; i++)
        string_list_release(&side->inputs[i]);
    string_list_release(&side->files);
    free(side->inputs);
    free(side->known);
}

/* ---- the answer ---- */

static int list_changed_files(const struct reach_request *r, struct string_list *out,
                              struct error *err)
{
    const char *diff[] = { "diff",
                           "--name-only",
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

static bool reaches_bench(const struct reach_build sides[AB_SIDES], const char *file, size_t i)
{
    for (int s = 0; s < AB_SIDES; s++)
        if (!sides[s].known[i] || reach_has(&sides[s].inputs[i], file))
            return true;
    return false;
}

/* Marks what one file reaches. */
static void spread_reach(const struct reach_request *r, const struct reach_map *map,
                         const struct reach_build sides[AB_SIDES], const char *file,
                         struct reach *out)
{
    const struct reach_line *line = find_reach_line(map, file);
    bool known = reach_has(&sides[AB_BASE].files, file) || reach_has(&sides[AB_HEAD].files, file);

    if (!line && !known && !out->unknown)
        out->unknown = memory_string(file);
    for (size_t i = 0; i < r->benches->nr; i++)
        if (line ? reach_has(&line->names, r->benches->items[i].name)
                 : !known || reaches_bench(sides, file, i))
            out->left_out[i] = false;
}

int reach_find(const struct reach_request *r, struct reach *out, struct error *err)
{
    struct reach_build sides[AB_SIDES] = { { .built = NULL } };
    struct reach_map map = { ARRAY_EMPTY };

    *out = (struct reach) { .left_out = memory_zeroed(r->benches->nr + 1, sizeof(bool)) };
    int rc = read_reach_map(r, &map, err);
    if (rc == 0)
        rc = list_changed_files(r, &out->changed, err);
    for (int s = 0; rc == 0 && s < AB_SIDES; s++)
        ask_reach_build(r, r->side[s], &sides[s]);
    for (size_t i = 0; rc == 0 && i < r->benches->nr; i++)
        out->left_out[i] = true;
    for (size_t i = 0; rc == 0 && i < out->changed.nr; i++)
        spread_reach(r, &map, sides, out->changed.items[i], out);
    for (size_t i = 0; i < r->benches->nr; i++)
        out->nr_left_out += out->left_out[i];
    for (int s = 0; s < AB_SIDES; s++)
        reach_build_release(r, &sides[s]);
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
