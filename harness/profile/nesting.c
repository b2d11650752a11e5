/* SPDX-License-Identifier: MIT */
#include "profile/nesting.h"

#include <stdlib.h>

/* Children of each as lists; child[nr] is the first of the outermost. */
static void list_children(const int *parent, size_t nr, int *child, int *sibling)
{
    for (size_t k = 0; k <= nr; k++)
        child[k] = -1;
    for (size_t k = nr; k-- > 0;) {
        int *first = &child[parent[k] >= 0 ? (size_t)parent[k] : nr];
        sibling[k] = *first;
        *first = (int)k;
    }
}

/* Down and up again; `open` are those of each group on the way from the outermost to `i`. */
static void walk_down(const int *parent, const int *group, size_t nr, const int *child,
                      const int *sibling, unsigned *open, unsigned char *alike)
{
    for (int i = child[nr]; i >= 0;) {
        alike[i] = group[i] >= 0 && open[group[i]] > 0;
        if (group[i] >= 0)
            open[group[i]]++;
        if (child[i] >= 0) {
            i = child[i];
            continue;
        }
        for (;; i = parent[i]) {
            if (group[i] >= 0)
                open[group[i]]--;
            if (sibling[i] >= 0 || parent[i] < 0)
                break;
        }
        i = sibling[i];
    }
}

int prof_nested_alike(const int *parent, const int *group, size_t nr, unsigned char *alike)
{
    int *child = malloc((nr + 1) * sizeof(*child)), *sibling = malloc((nr + 1) * sizeof(*sibling));
    unsigned *open = calloc(nr + 1, sizeof(*open));
    int rc = child && sibling && open ? 0 : -1;

    if (rc == 0) {
        list_children(parent, nr, child, sibling);
        walk_down(parent, group, nr, child, sibling, open, alike);
    }
    free(child);
    free(sibling);
    free(open);
    return rc;
}

int prof_stacks_depth(const struct prof_stack *stacks, size_t nr, size_t bytes, int least)
{
    size_t *length = calloc(nr + 1, sizeof(*length)); /* of the line */
    size_t *at_depth = calloc(nr + 1, sizeof(*at_depth)), sum = 0;
    int depth = -1;

    for (size_t i = 0; length && at_depth && i < nr; i++) {
        const struct prof_stack *s = &stacks[i];
        length[i] = (s->parent >= 0 ? length[s->parent] : 0) + s->length + 1;
        at_depth[s->depth] += length[i];
    }
    for (depth = length && at_depth ? 0 : -1; depth >= 0 && (size_t)depth < nr; depth++) {
        sum += at_depth[depth];
        if (sum > bytes && depth > least)
            break;
    }
    free(length);
    free(at_depth);
    return depth;
}
