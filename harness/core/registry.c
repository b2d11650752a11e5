/* SPDX-License-Identifier: MIT */
#include "core/registry.h"

#include <string.h>

const struct kernel *registry_kernel_at(const struct registry *r, size_t i)
{
    for (const struct kernel *const *const *list = r->operations; *list; list++)
        for (const struct kernel *const *k = *list; *k; k++)
            if (i-- == 0)
                return *k;
    return NULL;
}

const struct variant *registry_variant_at(const struct registry *r, size_t i)
{
    for (const struct variant *const *file = r->variant_files; *file; file++)
        for (const struct variant *v = *file; v->name; v++)
            if (i-- == 0)
                return v;
    return NULL;
}

const struct kernel *registry_kernel(const struct registry *r, const char *name)
{
    for (const struct kernel *const *const *list = r->operations; *list; list++)
        for (const struct kernel *const *k = *list; *k; k++)
            if (strcmp((*k)->name, name) == 0)
                return *k;
    return NULL;
}

const struct variant *registry_variant(const struct registry *r, const char *kernel,
                                       const char *variant)
{
    for (const struct variant *const *file = r->variant_files; *file; file++)
        for (const struct variant *v = *file; v->name; v++)
            if (strcmp(v->name, variant) == 0 && strcmp(v->kernel->name, kernel) == 0)
                return v;
    return NULL;
}

static bool file_holds_variant(const struct variant *file, const struct variant *v)
{
    for (const struct variant *each = file; each->name; each++)
        if (each == v)
            return true;
    return false;
}

/* What is said of each list in variant_files, of the one that the variant stands in. */
static const char *said_of_variant(const struct registry *r, const struct variant *v,
                                   const char *const *said)
{
    for (size_t i = 0; said && r->variant_files[i]; i++)
        if (file_holds_variant(r->variant_files[i], v))
            return said[i];
    return NULL;
}

const char *registry_variant_source(const struct registry *r, const struct variant *v)
{
    const char *source = said_of_variant(r, v, r->sources);

    return source ? source : "";
}

const char *registry_variant_symbol(const struct registry *r, const struct variant *v)
{
    return said_of_variant(r, v, r->symbols);
}

const struct variant *registry_forced(const struct registry *r, const struct variant *v)
{
    for (const struct variant *const *file = r->forced; file && *file; file++)
        for (const struct variant *each = *file; each->name; each++)
            if (each->kernel == v->kernel && strcmp(each->name, v->name) == 0)
                return each;
    return v;
}
