/* SPDX-License-Identifier: MIT */
#include "plugin/registry_join.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const struct kernel *const no_kernels[] = { NULL };

static size_t count_operations(const struct registry *r)
{
    size_t nr = 0;

    while (r->operations[nr])
        nr++;
    return nr;
}

static size_t count_files(const struct registry *r)
{
    size_t nr = 0;

    while (r->variant_files[nr])
        nr++;
    return nr;
}

static size_t count_variants(const struct registry_guest *guests, size_t nr)
{
    size_t variants = 0;

    for (size_t i = 0; i < nr; i++)
        for (const struct variant *v = guests[i].variants; v->name; v++)
            variants++;
    return variants;
}

/* ---- names ---- */

static const struct kernel *const *kernels_of(const struct registry_guest *guest)
{
    return guest->kernels ? guest->kernels : no_kernels;
}

/* Who has a kernel of that name: the base, or a guest before `which`; NULL: nobody. */
static const char *kernel_owner(const struct registry *base, const struct registry_guest *guests,
                                size_t which, const char *name)
{
    if (registry_kernel(base, name))
        return "this harness";
    for (size_t i = 0; i < which; i++)
        for (const struct kernel *const *k = kernels_of(&guests[i]); *k; k++)
            if (strcmp((*k)->name, name) == 0)
                return guests[i].name;
    return NULL;
}

/* A build that has it writes keys of that name. */
static bool is_missing_variant(const struct registry *r, const struct variant *v)
{
    for (const struct missing_variant *m = r->missing; m && m->name; m++) {
        size_t length = strlen(m->operation);
        if (strcmp(m->name, v->name) == 0 && strncmp(m->operation, v->kernel->name, length) == 0 &&
            (v->kernel->name[length] == '/' || v->kernel->name[length] == '\0'))
            return true;
    }
    return false;
}

static bool same_key(const struct variant *a, const struct variant *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->kernel->name, b->kernel->name) == 0;
}

/* Up to `v` of the guest `which`. */
static const char *variant_owner(const struct registry *base, const struct registry_guest *guests,
                                 size_t which, const struct variant *v)
{
    if (registry_variant(base, v->kernel->name, v->name) || is_missing_variant(base, v))
        return "this harness";
    for (size_t i = 0; i <= which; i++)
        for (const struct variant *o = guests[i].variants; o->name && o != v; o++)
            if (same_key(o, v))
                return guests[i].name;
    return NULL;
}

static int check_names(const struct registry *base, const struct registry_guest *guests,
                       size_t which, struct error *err)
{
    const struct registry_guest *guest = &guests[which];
    const char *owner;

    for (const struct kernel *const *k = kernels_of(guest); *k; k++)
        if ((owner = kernel_owner(base, guests, which, (*k)->name)))
            return error_set(err,
                             "%s: the kernel name \"%s\" belongs to %s: give yours another, such "
                             "as mine/%s",
                             guest->name, (*k)->name, owner, (*k)->name);
    for (const struct variant *v = guest->variants; v->name; v++)
        if ((owner = variant_owner(base, guests, which, v)))
            return error_set(err,
                             "%s: the variant name \"%s\" of kernel %s belongs to %s: give yours "
                             "another, such as my_%s",
                             guest->name, v->name, v->kernel->name, owner, v->name);
    return 0;
}

const struct kernel *registry_like(const struct registry *r, const char *name, struct error *err)
{
    const struct kernel *k = registry_kernel(r, name);
    size_t nr = 0;

    if (k)
        return k;
    while (registry_kernel_at(r, nr))
        nr++;
    const char **names = memory_zeroed(nr + 1, sizeof(*names));
    for (size_t i = 0; i < nr; i++)
        names[i] = registry_kernel_at(r, i)->name;
    const char *nearest = text_nearest(name, names);
    error_set(err, "there is no kernel \"%s\"%s%s%s; harness list kernels shows all", name,
              nearest ? ": did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    free(names);
    return NULL;
}

/* ---- lists ---- */

static bool is_listed(const struct kernel *const *list, const struct kernel *k)
{
    while (*list && *list != k)
        list++;
    return *list != NULL;
}

/* Kernels of others that guests have variants of, each once. */
static void list_shared(struct registry_joined *j, const struct registry_guest *guests, size_t nr)
{
    size_t shared = 0;

    j->shared = memory_zeroed(count_variants(guests, nr) + 1, sizeof(*j->shared));
    for (size_t i = 0; i < nr; i++)
        for (const struct variant *v = guests[i].variants; v->name; v++)
            if (!is_listed(kernels_of(&guests[i]), v->kernel) && !is_listed(j->shared, v->kernel))
                j->shared[shared++] = v->kernel;
}

/* Has a guest a variant that may be compared with this one? */
static bool is_beside(const struct registry_guest *guests, size_t nr, const struct variant *vendor)
{
    for (size_t i = 0; i < nr; i++)
        for (const struct variant *v = guests[i].variants; v->name; v++)
            if (v->kernel == vendor->kernel && v->device == vendor->device &&
                v->math == vendor->math)
                return true;
    return false;
}

static void list_vendors(struct registry_joined *j, const struct registry *base,
                         const struct registry_guest *guests, size_t nr)
{
    const struct variant *v;
    size_t all = 0, vendors = 0;

    while (registry_variant_at(base, all))
        all++;
    j->vendors = memory_zeroed(all + 1, sizeof(*j->vendors));
    for (size_t i = 0; (v = registry_variant_at(base, i)); i++)
        if ((v->flags & (VARIANT_VENDOR | VARIANT_PEER | VARIANT_HIDDEN)) == VARIANT_VENDOR &&
            is_beside(guests, nr, v))
            j->vendors[vendors++] = *v;
}

/* Those of the base, then one list a guest; of the guests alone, from the first of these on. */
static void join_lists(struct registry_joined *j, const struct registry *base,
                       const struct registry_guest *guests, size_t nr)
{
    size_t operations = count_operations(base), files = count_files(base);

    j->lists[0] = memory_zeroed(operations + nr + 1, sizeof(*j->lists[0]));
    j->lists[1] = memory_zeroed(nr + 2, sizeof(*j->lists[1]));
    j->files[0] = memory_zeroed(files + nr + 1, sizeof(*j->files[0]));
    j->files[1] = memory_zeroed(nr + 2, sizeof(*j->files[1]));
    j->sources = memory_zeroed(files + nr + 2, sizeof(*j->sources));
    memcpy(j->lists[0], base->operations, operations * sizeof(*j->lists[0]));
    memcpy(j->files[0], base->variant_files, files * sizeof(*j->files[0]));
    for (size_t i = 0; i < nr; i++) {
        j->lists[0][operations + i] = j->lists[1][i + 1] = kernels_of(&guests[i]);
        j->files[0][files + i] = j->files[1][i] = guests[i].variants;
    }
    j->lists[1][0] = j->shared;
    j->files[1][nr] = j->vendors;
    for (size_t i = 0; i < files + nr + 1; i++)
        j->sources[i] = base->sources && i < files ? base->sources[i] : "";
    j->all = (struct registry) { j->lists[0], j->files[0], base->missing,
                                 j->sources,  NULL,        base->forced };
    j->own =
        (struct registry) { j->lists[1], j->files[0] + files, &j->none, j->sources + files, NULL,
                            NULL };
    j->beside =
        (struct registry) { j->lists[1], j->files[1], &j->none, j->sources + files, NULL, NULL };
}

int registry_join(struct registry_joined *j, const struct registry *base,
                  const struct registry_guest *guests, size_t nr, struct error *err)
{
    *j = (struct registry_joined) { .shared = NULL };
    for (size_t i = 0; i < nr; i++)
        if (check_names(base, guests, i, err))
            return -1;
    list_shared(j, guests, nr);
    list_vendors(j, base, guests, nr);
    join_lists(j, base, guests, nr);
    return 0;
}

void registry_joined_release(struct registry_joined *j)
{
    for (int i = 0; i < 2; i++) {
        free(j->lists[i]);
        free(j->files[i]);
    }
    free(j->shared);
    free(j->sources);
    free(j->vendors);
    *j = (struct registry_joined) { .shared = NULL };
}
