/* SPDX-License-Identifier: MIT */
#include "session/bench/reach_build.h"

#include "base/memory.h"
#include "session/bench/reach_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REACH_PATH = 1024 };

/* What a launch begins with, in harness; what it refers to may run in the process that is measured.
 * The registry refers to every variant, to find one by its name: it leads nowhere. */
static const char launch_symbol[] = "cmd_internal_launch", registry_symbol[] = "registry_builtin";

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

static void add_reach_files(const struct string_list *files, struct string_list *to)
{
    for (size_t i = 0; i < files->nr; i++)
        string_list_add(to, files->items[i]);
}

/* ---- a command ---- */

static void read_reach_bench(const struct reach_objects *objects, const struct reach_thing *thing,
                             size_t i, struct reach_build *out)
{
    char program[REACH_PATH];
    const char *targets[] = { program, NULL };
    struct string_list inputs = { 0 };

    if (!reach_program(thing->command, program, sizeof(program)) ||
        !reach_ninja_inputs(out->built, targets, &inputs))
        return;
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
    out->known[i] = true;
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
