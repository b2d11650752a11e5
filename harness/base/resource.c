/* SPDX-License-Identifier: MIT */
#include "base/resource.h"

#include <string.h>

extern const struct resource resource_table[]; /* generated */

const struct resource *resource_all(void)
{
    return resource_table;
}

const struct resource *resource_find(const char *name)
{
    for (const struct resource *r = resource_table; r->name; r++)
        if (strcmp(r->name, name) == 0)
            return r;
    return NULL;
}
