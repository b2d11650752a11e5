/* SPDX-License-Identifier: MIT */
/* Folded stacks. Slices with the same names above them are one line: they meet in a tree of names.
 */
#include "profile/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A name below others; children and their siblings as lists. */
struct node {
    const char *name;
    int64_t self;
    int parent, child, sibling;
};

struct tree {
    struct node *nodes; /* the first is the root, without a name */
    size_t nr;
};

static int child_of(struct tree *tree, int parent, const char *name)
{
    int n = tree->nodes[parent].child;

    while (n && tree->nodes[n].name != name)
        n = tree->nodes[n].sibling;
    if (n)
        return n;
    n = (int)tree->nr++;
    tree->nodes[n] =
        (struct node) { .name = name, .parent = parent, .sibling = tree->nodes[parent].child };
    tree->nodes[parent].child = n;
    return n;
}

/* `node_of`: by slice. Parents come first. */
static void grow_tree(struct tree *tree, const struct prof_trace *trace, enum prof_side side,
                      const int64_t *self, int *node_of)
{
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        const struct prof_track *track = &trace->tracks[s->track];
        node_of[i] = 0;
        if ((track->kind == PROF_TRACK_STREAM) != (side == PROF_DEVICE) ||
            (s->flags & PROF_INSTANT_POINT))
            continue;
        int above = s->parent >= 0 ? node_of[s->parent] : child_of(tree, 0, track->name);
        node_of[i] = child_of(tree, above, s->name);
        tree->nodes[node_of[i]].self += self[i];
    }
}

static void write_frame(FILE *file, const char *name)
{
    for (; *name; name++)
        fputc(*name == ';' || (unsigned char)*name <= ' ' ? '_' : *name, file);
}

static void write_stack(FILE *file, const struct tree *tree, int n)
{
    if (tree->nodes[n].parent) {
        write_stack(file, tree, tree->nodes[n].parent);
        fputc(';', file);
    }
    write_frame(file, tree->nodes[n].name);
}

int prof_write_folded(FILE *file, const struct prof_trace *trace, enum prof_side side)
{
    size_t nr = trace->nr_slices;
    struct tree tree = { calloc(nr + trace->nr_tracks + 1, sizeof(struct node)), 1 };
    int64_t *self = malloc((nr + 1) * sizeof(*self));
    int *node_of = malloc((nr + 1) * sizeof(*node_of));
    int rc = -1;

    if (tree.nodes && self && node_of) {
        prof_trace_self(trace, self);
        grow_tree(&tree, trace, side, self, node_of);
        for (size_t n = 1; n < tree.nr; n++) {
            if (tree.nodes[n].self <= 0)
                continue;
            write_stack(file, &tree, (int)n);
            fprintf(file, " %" PRId64 "\n", tree.nodes[n].self);
        }
        rc = ferror(file) ? -1 : 0;
    }
    free(tree.nodes);
    free(self);
    free(node_of);
    return rc;
}
