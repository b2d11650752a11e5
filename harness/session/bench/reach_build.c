/* SPDX-License-Identifier: MIT */
#include "session/bench/reach_build.h"

#include "base/memory.h"
#include "session/bench/reach_objects.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a launch begins with, in harness; what it refers to may run in the process that is measured.
 * The registry refers to every variant, to find one by its name: it leads nowhere. */
static const char launch_symbol[] = "cmd_internal_launch", registry_symbol[] = "registry_builtin";

/* What stands behind the next $BUILD or ${BUILD}, which is no part of a longer name; NULL: there is
 * none. */
static const char *find_reach_build(const char *text)
{
    static const char name[] = "BUILD";

    while ((text = strchr(text, '$'))) {
        text++;
        bool braced = *text == '{';
        if (strncmp(text + braced, name, sizeof(name) - 1) != 0)
            continue;
        const char *behind = text + braced + sizeof(name) - 1;
        if (isalnum((unsigned char)*behind) || *behind == '_')
            continue;
        return braced && *behind == '}' ? behind + 1 : behind;
    }
    return NULL;
}

/* Is a name told in full there? */
static bool is_reach_end(const char *text)
{
    text += strspn(text, "\"'");
    return strchr(" \t\n;|&<>():", *text) != NULL;
}

bool reach_programs(const char *command, struct string_list *programs)
{
    const char *rest = command;

    while ((rest = find_reach_build(rest))) {
        rest += *rest == '"';
        size_t length = *rest == '/' ? strcspn(rest + 1, " \t\n\"';|&<>()$`\\:") : 0;
        if (length == 0 || !is_reach_end(rest + 1 + length))
            return false;
        char *name = memory_zeroed(length + 1, 1);
        memcpy(name, rest + 1, length);
        string_list_add(programs, name);
        free(name);
        rest += 1 + length;
    }
    return programs->nr > 0;
}

static void add_reach_files(const struct string_list *files, struct string_list *to)
{
    for (size_t i = 0; i < files->nr; i++)
        string_list_add(to, files->items[i]);
}

/* ---- a command ---- */

/* All that the command names, and the inputs of that. False: some of it is nothing that ninja
 * makes. */
static bool list_reach_inputs(const struct built *built, const char *command,
                              struct string_list *inputs)
{
    struct string_list programs = { 0 };
    bool known = reach_programs(command, &programs);

    for (size_t i = 0; known && i < programs.nr; i++) {
        const char *targets[] = { programs.items[i], NULL };
        struct string_list own = { 0 };
        known = reach_ninja_inputs(built, targets, &own) && own.nr > 0;
        add_reach_files(&own, inputs);
        string_list_release(&own);
    }
    add_reach_files(&programs, inputs); /* one may be an object, or compiled and linked in one */
    reach_sort(inputs);
    string_list_release(&programs);
    return known;
}

static void read_reach_bench(const struct reach_objects *objects, const struct reach_thing *thing,
                             size_t i, struct reach_build *out)
{
    struct string_list inputs = { 0 };

    out->known[i] = list_reach_inputs(out->built, thing->command, &inputs);
    for (size_t k = 0; k < objects->nr; k++)
        if (reach_has(&inputs, objects->items[k].name))
            add_reach_files(&objects->items[k].files, &out->made[i]);
    /* Sources that are compiled, and whatever else the program is made of. */
    for (size_t k = 0; k < inputs.nr; k++) {
        char *file = reach_in_source(out->built, inputs.items[k]);
        if (file)
            string_list_add(&out->made[i], file);
        free(file);
    }
    add_reach_files(&out->made[i], &out->files);
    string_list_release(&inputs);
}

/* ---- variants ---- */

struct reach_variants {
    struct reach_objects *objects;
    bool *stop;   /* the registry */
    bool *common; /* what every launch may run */
    bool *any;    /* that, and what any of the variants may run */
};

/* The inputs of those that are marked, or of the others, from the top of the sources. */
static bool ask_reach_inputs(const struct reach_objects *o, const bool *mark, bool marked,
                             struct string_list *out)
{
    const char **targets = memory_zeroed(o->nr + 1, sizeof(*targets));
    struct string_list inputs = { 0 };
    size_t nr = 0;

    for (size_t i = 0; i < o->nr; i++)
        if (mark[i] == marked)
            targets[nr++] = o->items[i].name;
    bool answered = nr == 0 || reach_ninja_inputs(o->built, targets, &inputs);
    for (size_t i = 0; i < inputs.nr; i++) {
        char *file = reach_in_source(o->built, inputs.items[i]);
        if (file)
            string_list_add(out, file);
        free(file);
    }
    reach_sort(out);
    string_list_release(&inputs);
    free(targets);
    return answered;
}

/* Files that a step of the build made code of, which no compiler saw: where that code may run, they
 * are part of everything that is measured; else they are known to be part of nothing. */
static void spread_reach_inputs(const struct reach_variants *v, struct reach_build *out)
{
    struct string_list compiled = { 0 }, may = { 0 }, never = { 0 };

    for (size_t i = 0; i < v->objects->nr; i++)
        if (v->any[i])
            add_reach_files(&v->objects->items[i].files, &compiled);
    reach_sort(&compiled);
    if (ask_reach_inputs(v->objects, v->any, true, &may) &&
        ask_reach_inputs(v->objects, v->any, false, &never)) {
        for (size_t i = 0; i < may.nr; i++)
            for (size_t k = 0; k < out->nr && !reach_has(&compiled, may.items[i]); k++)
                string_list_add(&out->made[k], may.items[i]);
        add_reach_files(&may, &out->files);
        add_reach_files(&never, &out->files);
    }
    string_list_release(&compiled);
    string_list_release(&may);
    string_list_release(&never);
}

static void read_reach_variant(const struct reach_variants *v, const struct reach_thing *thing,
                               size_t i, struct reach_build *out)
{
    size_t nr = v->objects->nr;
    bool *mark = memory_zeroed(nr + 1, sizeof(*mark));

    memcpy(mark, v->common, nr * sizeof(*mark));
    out->known[i] = thing->symbol && reach_objects_close(v->objects, thing->symbol, v->stop, mark);
    for (size_t k = 0; k < nr && out->known[i]; k++)
        if (mark[k]) {
            v->any[k] = true;
            add_reach_files(&v->objects->items[k].files, &out->made[i]);
        }
    free(mark);
}

static void read_reach_variants(struct reach_objects *objects, const struct reach_thing *things,
                                struct reach_build *out)
{
    struct reach_variants v = {
        .objects = objects,
        .stop = memory_zeroed(objects->nr + 1, sizeof(bool)),
        .common = memory_zeroed(objects->nr + 1, sizeof(bool)),
        .any = memory_zeroed(objects->nr + 1, sizeof(bool)),
    };

    if (reach_objects_link(objects) && reach_objects_define(objects, registry_symbol, v.stop) &&
        reach_objects_define(objects, "main", v.common) &&
        reach_objects_close(objects, launch_symbol, v.stop, v.common)) {
        for (size_t i = 0; i < out->nr; i++)
            read_reach_variant(&v, &things[i], i, out);
        spread_reach_inputs(&v, out);
    }
    free(v.stop);
    free(v.common);
    free(v.any);
}

/* ---- both ---- */

void reach_build_read(const struct built *built, const struct reach_thing *things, size_t nr,
                      struct reach_build *out)
{
    struct reach_objects objects;

    *out = (struct reach_build) { .built = built, .nr = nr };
    out->made = memory_zeroed(nr + 1, sizeof(*out->made));
    out->known = memory_zeroed(nr + 1, sizeof(*out->known));
    if (reach_objects_read(built, &objects)) {
        for (size_t i = 0; i < objects.nr; i++)
            add_reach_files(&objects.items[i].files, &out->files);
        for (size_t i = 0; i < nr && things[i].command; i++)
            read_reach_bench(&objects, &things[i], i, out);
        if (nr > 0 && !things[0].command)
            read_reach_variants(&objects, things, out);
    }
    reach_sort(&out->files);
    for (size_t i = 0; i < nr; i++)
        reach_sort(&out->made[i]);
    reach_objects_release(&objects);
}

bool reach_build_has(const struct reach_build *b, const char *file)
{
    return reach_has(&b->files, file);
}

bool reach_build_may(const struct reach_build *b, size_t thing, const char *file)
{
    return !b->known[thing] || reach_has(&b->made[thing], file);
}

void reach_build_release(struct reach_build *b)
{
    for (size_t i = 0; i < b->nr; i++)
        string_list_release(&b->made[i]);
    string_list_release(&b->files);
    free(b->made);
    free(b->known);
    *b = (struct reach_build) { 0 };
}
