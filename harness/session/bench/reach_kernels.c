/* SPDX-License-Identifier: MIT */
#include "session/bench/reach_kernels.h"

#include "base/array.h"
#include "base/memory.h"
#include "core/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reach_variants_of {
    ARRAY(struct reach_thing) things; /* in the order of the registry; the names are owned */
};

static void reach_variants_init(struct reach_variants_of *v)
{
    const struct registry *r = registry_builtin();
    const struct variant *each;

    *v = (struct reach_variants_of) { ARRAY_EMPTY };
    for (size_t i = 0; (each = registry_variant_at(r, i)); i++) {
        struct strbuf name;
        strbuf_init(&name);
        strbuf_addf(&name, "%s/%s", each->kernel->name, each->name);
        struct reach_thing *thing = array_push(&v->things);
        *thing = (struct reach_thing) { .name = strbuf_detach(&name),
                                        .symbol = registry_variant_symbol(r, each) };
    }
}

static void reach_variants_release(struct reach_variants_of *v)
{
    for (size_t i = 0; i < v->things.nr; i++)
        free((char *)v->things.items[i].name);
    array_release(&v->things);
}

int reach_kernels_check(const char *map, struct error *err)
{
    struct reach_variants_of variants;

    if (!map)
        return 0;
    reach_variants_init(&variants);
    const struct reach_request request = { .things = variants.things.items,
                                           .nr = variants.things.nr,
                                           .map = map };
    int rc = reach_check(&request, err);
    reach_variants_release(&variants);
    return rc;
}

void reach_note_unknown(const struct reach *reach, const struct session_sink *sink)
{
    if (reach->unknown)
        sink_note(sink, "nobody knows what %s may reach: everything is measured\n", reach->unknown);
}

/* The place of a variant in the registry, or of one that is not in it, past all others. */
static size_t find_reach_variant(const struct variant *v)
{
    const struct registry *r = registry_builtin();
    const struct variant *each;
    size_t i = 0;

    while ((each = registry_variant_at(r, i)) && each != v)
        i++;
    return i;
}

static size_t reach_operation_length(const struct benchmark *b)
{
    return strcspn(b->variant->kernel->name, "/");
}

static bool same_reach_operation(const struct benchmark *x, const struct benchmark *y)
{
    size_t length = reach_operation_length(x);

    return length == reach_operation_length(y) &&
           strncmp(x->variant->kernel->name, y->variant->kernel->name, length) == 0;
}

/* Of the benchmarks from the `i`th on, the first of which is left out: those of one operation, if
 * all of it is, else those of one variant. Counts and names them. */
static void name_reach_group(const struct benchmark_list *list, const bool *out, bool *told,
                             size_t i, struct strbuf *text)
{
    const struct benchmark *first = &list->items[i];
    bool whole = true;
    size_t nr = 0;

    for (size_t k = 0; k < list->nr; k++)
        whole &= out[k] || !same_reach_operation(first, &list->items[k]);
    for (size_t k = i; k < list->nr; k++)
        if (out[k] && (whole ? same_reach_operation(first, &list->items[k])
                             : list->items[k].variant == first->variant)) {
            told[k] = true;
            nr++;
        }
    strbuf_adds(text, text->length ? ", " : REACH_LEFT_OUT);
    if (whole)
        strbuf_addf(text, "all of %.*s", (int)reach_operation_length(first),
                    first->variant->kernel->name);
    else
        strbuf_addf(text, "%s/%s", first->variant->kernel->name, first->variant->name);
    strbuf_addf(text, " (%zu benchmark%s)", nr, nr == 1 ? "" : "s");
}

static void name_reach_left_out(const struct benchmark_list *list, const bool *out,
                                struct strbuf *text)
{
    bool *told = memory_zeroed(list->nr + 1, sizeof(*told));

    for (size_t i = 0; i < list->nr; i++)
        if (out[i] && !told[i])
            name_reach_group(list, out, told, i, text);
    free(told);
}

static void take_out_benchmarks(struct benchmark_list *list, const bool *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->nr; i++)
        if (!out[i])
            list->items[kept++] = list->items[i];
    list->nr = kept;
}

int reach_kernels_leave_out(struct workload *w, const struct built *side[AB_SIDES], const char *map,
                            const struct session_sink *sink, struct strbuf *left_out,
                            struct error *err)
{
    struct reach_variants_of variants;
    struct reach reach;

    reach_variants_init(&variants);
    const struct reach_request request = {
        .things = variants.things.items,
        .nr = variants.things.nr,
        .side = { side[AB_BASE], side[AB_HEAD] },
        .map = map,
    };
    int rc = reach_find(&request, &reach, err);
    bool *out = memory_zeroed(w->list.nr + 1, sizeof(*out));
    for (size_t i = 0; rc == 0 && i < w->list.nr; i++) {
        size_t variant = find_reach_variant(w->list.items[i].variant);
        out[i] = variant < request.nr && reach.left_out[variant];
    }
    if (rc == 0) {
        name_reach_left_out(&w->list, out, left_out);
        take_out_benchmarks(&w->list, out);
        reach_note_unknown(&reach, sink);
        if (left_out->length)
            sink_note(sink, "%s\n", left_out->data);
    }
    free(out);
    reach_release(&reach);
    reach_variants_release(&variants);
    return rc;
}
