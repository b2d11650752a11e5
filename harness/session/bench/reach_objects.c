/* SPDX-License-Identifier: MIT */
#include "session/bench/reach_objects.h"

#include "base/file.h"
#include "base/memory.h"
#include "core/names.h"
#include "process/process.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REACH_DEPTH = 40 }; /* of folders */

static int reach_order(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

/* A build may know of millions. */
void reach_sort(struct string_list *list)
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

bool reach_has(const struct string_list *list, const char *text)
{
    return list->nr > 0 &&
           bsearch(&text, list->items, list->nr, sizeof(*list->items), reach_order) != NULL;
}

/* ---- paths ---- */

static const char *cut_reach_folder(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/* The file that a link of the build folder leads to, as those by which rooms see each other. */
static char *resolve_reach_link(const struct built *b, const char *inside)
{
    struct strbuf path;
    char real[PATH_MAX];

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", b->build, inside);
    const char *there = realpath(path.data, real) ? cut_reach_folder(real, b->source) : NULL;
    strbuf_release(&path);
    return there ? memory_string(there) : NULL;
}

/* make runs where its user runs it: a relative name may be meant from the top of the sources. */
static bool is_reach_source(const struct built *b, const char *path)
{
    struct strbuf full;

    strbuf_init(&full);
    strbuf_addf(&full, "%s/%s", b->source, path);
    bool there = file_exists(full.data);
    strbuf_release(&full);
    return there;
}

char *reach_in_source(const struct built *b, const char *path)
{
    const char *inside = cut_reach_folder(path, b->source);

    while (!inside && strncmp(path, "./", 2) == 0)
        path += 2;
    if (!inside && strncmp(path, "../src/", 7) == 0) /* the sources lie there, see builds.c */
        inside = path + 7;
    if (inside)
        return memory_string(inside);
    inside = *path == '/' ? cut_reach_folder(path, b->build) : path;
    if (!inside)
        return NULL;
    char *linked = resolve_reach_link(b, inside);
    if (!linked && *path != '/' && is_reach_source(b, path))
        linked = memory_string(path);
    return linked;
}

static void add_reach_file(const struct built *b, const char *path, struct string_list *files)
{
    char *file = reach_in_source(b, path);

    if (file)
        string_list_add(files, file);
    free(file);
}

/* ---- what ninja recorded ---- */

static bool run_reach_tool(const struct built *b, const char *const *argv, struct strbuf *out)
{
    struct process p = { .argv = argv, .folder = b->build };
    struct process_result result;
    struct strbuf errors;
    struct error ignored;

    strbuf_init(&errors);
    bool answered = process_run(&p, out, &errors, &result, &ignored) == 0 &&
                    result.end == PROCESS_EXITED && result.status == 0;
    strbuf_release(&errors);
    return answered;
}

bool reach_ninja_inputs(const struct built *built, const char *const *targets,
                        struct string_list *out)
{
    size_t nr = 0;
    struct strbuf said;

    while (targets[nr])
        nr++;
    const char **argv = memory_zeroed(nr + 5, sizeof(*argv));
    argv[0] = "ninja";
    argv[1] = "--quiet";
    argv[2] = "-t";
    argv[3] = "inputs";
    memcpy(argv + 4, targets, nr * sizeof(*argv));
    strbuf_init(&said);
    bool answered = nr > 0 && run_reach_tool(built, argv, &said);
    if (answered)
        string_list_add_split(out, said.data, '\n');
    reach_sort(out);
    strbuf_release(&said);
    free(argv);
    return answered;
}

static struct reach_object *add_reach_object(struct reach_objects *o, const char *name)
{
    struct reach_object *object = array_push(o);

    *object = (struct reach_object) { .name = memory_string(name) };
    return object;
}

/* "OBJECT: #deps 3, ..." and below it, indented, what it was made of. */
static void read_ninja_deps(struct reach_objects *o, char *text)
{
    struct reach_object *object = NULL;

    for (char *line; (line = strsep(&text, "\n"));) {
        char *mark = *line == ' ' ? NULL : strstr(line, ": #deps");
        if (mark) {
            *mark = '\0';
            object = add_reach_object(o, line);
        } else if (object && *line == ' ') {
            add_reach_file(o->built, line + strspn(line, " "), &object->files);
        }
    }
}

/* ---- what make's compilers left ---- */

/* "TARGET...: FILE FILE \" and so on: a blank or # of a name has a backslash before it, a dollar is
 * doubled. Further rules, empty ones of -MP, are none of the object's. */
static void read_make_rule(struct reach_objects *o, struct reach_object *object, const char *text)
{
    struct strbuf name;
    bool target = true;

    strbuf_init(&name);
    for (const char *c = text;; c++) {
        bool ends = *c == '\0' || *c == '\n';
        if (*c == '\\' && (c[1] == '\n' || strncmp(c + 1, "\r\n", 2) == 0)) {
            c += c[1] == '\r' ? 2 : 1;
        } else if (*c == '\\' && (c[1] == ' ' || c[1] == '#')) {
            strbuf_addc(&name, *++c);
            continue;
        } else if (*c == '$' && c[1] == '$') {
            strbuf_addc(&name, *++c);
            continue;
        } else if (!ends && *c != ' ' && *c != '\t' && *c != '\r') {
            strbuf_addc(&name, *c);
            continue;
        }
        if (name.length > 0 && !target)
            add_reach_file(o->built, name.data, &object->files);
        if (name.length > 0 && name.data[name.length - 1] == ':')
            target = false;
        strbuf_clear(&name);
        if (ends)
            break;
    }
    strbuf_release(&name);
}

/* "a.c.o.d" is beside a.c.o, "a.d" beside a.o; `file` is relative to the build folder. */
static void read_make_file(struct reach_objects *o, const char *file)
{
    struct strbuf path, name;
    struct error ignored;
    size_t length = strlen(file) - 2, size;

    strbuf_init(&path);
    strbuf_init(&name);
    strbuf_add(&name, file, length);
    if (length < 2 || strcmp(name.data + length - 2, ".o") != 0)
        strbuf_adds(&name, ".o");
    strbuf_addf(&path, "%s/%s", o->built->build, name.data);
    bool there = file_exists(path.data);
    strbuf_clear(&path);
    strbuf_addf(&path, "%s/%s", o->built->build, file);
    char *text = there ? file_read(path.data, FILE_SETTINGS_MOST, &size, &ignored) : NULL;
    if (text)
        read_make_rule(o, add_reach_object(o, name.data), text);
    free(text);
    strbuf_release(&path);
    strbuf_release(&name);
}

static void walk_make_files(struct reach_objects *o, const char *inside, int depth)
{
    struct strbuf path;
    struct stat info;

    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", o->built->build, inside);
    DIR *folder = depth < REACH_DEPTH ? opendir(path.data) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.' && (length == 1 || (length == 2 && entry->d_name[1] == '.')))
            continue;
        strbuf_clear(&path);
        strbuf_addf(&path, "%s/%s%s%s", o->built->build, inside, *inside ? "/" : "", entry->d_name);
        const char *name = path.data + strlen(o->built->build) + 1;
        if (lstat(path.data, &info))
            continue;
        if (S_ISDIR(info.st_mode))
            walk_make_files(o, name, depth + 1);
        else if (S_ISREG(info.st_mode) && name_has_ending(entry->d_name, ".d"))
            read_make_file(o, name);
    }
    if (folder)
        closedir(folder);
    strbuf_release(&path);
}

/* ---- both ---- */

static int reach_object_order(const void *x, const void *y)
{
    return strcmp(((const struct reach_object *)x)->name, ((const struct reach_object *)y)->name);
}

bool reach_objects_read(const struct built *built, struct reach_objects *o)
{
    static const char *const deps[] = { "ninja", "--quiet", "-t", "deps", NULL };
    struct strbuf said;

    *o = (struct reach_objects) { .built = built };
    strbuf_init(&said);
    if (run_reach_tool(built, deps, &said))
        read_ninja_deps(o, said.data);
    strbuf_release(&said);
    if (o->nr == 0)
        walk_make_files(o, "", 0);
    if (o->nr > 0)
        qsort(o->items, o->nr, sizeof(*o->items), reach_object_order);
    for (size_t i = 0; i < o->nr; i++)
        reach_sort(&o->items[i].files);
    return o->nr > 0;
}

void reach_objects_release(struct reach_objects *o)
{
    for (size_t i = 0; i < o->nr; i++) {
        free(o->items[i].name);
        string_list_release(&o->items[i].files);
        string_list_release(&o->items[i].needs);
    }
    for (size_t i = 0; i < o->defines.nr; i++)
        free(o->defines.items[i].name);
    array_release(o);
    array_release(&o->defines);
}

/* ---- which refer to which ---- */

static int reach_symbol_order(const void *x, const void *y)
{
    return strcmp(((const struct reach_symbol *)x)->name, ((const struct reach_symbol *)y)->name);
}

/* "OBJECT: SYMBOL TYPE VALUE SIZE", as nm -A -P has it; of an undefined one the type ends it. */
static bool read_nm_line(struct reach_objects *o, char *line)
{
    char *mark = strstr(line, ": "), *rest = mark ? mark + 2 : NULL;
    char *name = strsep(&rest, " "), *type = strsep(&rest, " ");
    struct reach_object key = { .name = line }, *object;

    if (!mark || !type || !*type)
        return false;
    *mark = '\0';
    object = bsearch(&key, o->items, o->nr, sizeof(*o->items), reach_object_order);
    if (!object || strcmp(name, "__gnu_lto_slim") == 0) /* it has no code yet */
        return false;
    if (strchr("Uwv", *type)) {
        string_list_add(&object->needs, name);
        return true;
    }
    struct reach_symbol *defined = array_push(&o->defines);
    *defined = (struct reach_symbol) { memory_string(name), (size_t)(object - o->items) };
    return true;
}

static bool read_nm(struct reach_objects *o, char *text)
{
    bool all = true;

    for (char *line; all && (line = strsep(&text, "\n"));)
        all = !*line || read_nm_line(o, line);
    return all;
}

bool reach_objects_link(struct reach_objects *o)
{
    enum { WORDS = 6 };
    const char **argv = memory_zeroed(o->nr + WORDS, sizeof(*argv));
    static const char *const nm[] = { "nm", "-A", "-P", "-g", "--" };
    struct strbuf said;

    memcpy(argv, nm, sizeof(nm));
    for (size_t i = 0; i < o->nr; i++)
        argv[WORDS - 1 + i] = o->items[i].name;
    strbuf_init(&said);
    bool linked = o->nr > 0 && run_reach_tool(o->built, argv, &said) && read_nm(o, said.data);
    strbuf_release(&said);
    free(argv);
    if (o->defines.nr > 0)
        qsort(o->defines.items, o->defines.nr, sizeof(*o->defines.items), reach_symbol_order);
    return linked;
}

/* The first of those of that name; the others stand behind it. */
static size_t find_reach_symbol(const struct reach_objects *o, const char *name)
{
    size_t low = 0, high = o->defines.nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(o->defines.items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_reach_symbol(const struct reach_objects *o, size_t i, const char *name)
{
    return i < o->defines.nr && strcmp(o->defines.items[i].name, name) == 0;
}

bool reach_objects_define(const struct reach_objects *o, const char *symbol, bool *mark)
{
    size_t first = find_reach_symbol(o, symbol);

    for (size_t i = first; is_reach_symbol(o, i, symbol); i++)
        mark[o->defines.items[i].object] = true;
    return is_reach_symbol(o, first, symbol);
}

/* Pushes those that define it and are new. */
static void enter_reach_symbol(const struct reach_objects *o, const char *symbol, const bool *stop,
                               bool *mark, size_t *stack, size_t *nr)
{
    for (size_t i = find_reach_symbol(o, symbol); is_reach_symbol(o, i, symbol); i++) {
        size_t object = o->defines.items[i].object;
        if (mark[object] || (stop && stop[object]))
            continue;
        mark[object] = true;
        stack[(*nr)++] = object;
    }
}

bool reach_objects_close(const struct reach_objects *o, const char *symbol, const bool *stop,
                         bool *mark)
{
    size_t *stack = memory_zeroed(o->nr + 1, sizeof(*stack)), nr = 0; /* each enters once */

    enter_reach_symbol(o, symbol, stop, mark, stack, &nr);
    while (nr > 0) {
        const struct string_list *needs = &o->items[stack[--nr]].needs;
        for (size_t i = 0; i < needs->nr; i++)
            enter_reach_symbol(o, needs->items[i], stop, mark, stack, &nr);
    }
    free(stack);
    return is_reach_symbol(o, find_reach_symbol(o, symbol), symbol);
}
