/* SPDX-License-Identifier: MIT */
/* Folded stacks. Slices with the same names above them are one line: they meet in a tree of names.
 */
#include "profile/export.h"
#include "profile/json_text.h"
#include "profile/name_map.h"
#include "profile/nesting.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char deeper_name[] = "[deeper]"; /* by its address no name of the trace */

/* A name below others. */
struct node {
    const char *name;
    int64_t self;
    int parent, depth;
};

struct tree {
    struct node *nodes; /* the first is the root, without a name */
    size_t nr;
    struct prof_map children; /* by parent and name */
};

/* -1: no memory. */
static int child_of(struct tree *tree, int parent, const char *name)
{
    int *n = prof_map_name(&tree->children, name, (uint64_t)parent, 0);

    if (!n || *n)
        return n ? *n : -1;
    *n = (int)tree->nr++;
    tree->nodes[*n] = (struct node) { name, 0, parent, tree->nodes[parent].depth + 1 };
    return *n;
}

/* `node_of`: by slice. Parents come first. */
static int grow_tree(struct tree *tree, const struct prof_trace *trace, enum prof_side side,
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
        node_of[i] = above < 0 ? -1 : child_of(tree, above, s->name);
        if (node_of[i] < 0)
            return -1;
        tree->nodes[node_of[i]].self += self[i];
    }
    return 0;
}

/* ---- a line is as long as its stack is deep ---- */

/* Depth of the deepest stacks that are written. A track and its scopes are in any case. -1: no
 * memory. */
static int depth_of_stacks(const struct tree *tree)
{
    struct prof_stack *stacks = calloc(tree->nr, sizeof(*stacks));
    int from = -1;

    for (size_t n = 0; stacks && n < tree->nr; n++) {
        const struct node *node = &tree->nodes[n];
        stacks[n] = (struct prof_stack) { node->parent, node->depth, strlen(node->name) };
    }
    if (stacks)
        from = prof_stacks_depth(stacks, tree->nr, PROF_FOLDED_BYTES, 2);
    free(stacks);
    return from < 0 ? -1 : from - 1;
}

/* Gives the time of deeper nodes to what is around them at that depth, as one that is called
 * "[deeper]". -1: no memory. */
static int cut_tree(struct tree *tree, int depth)
{
    size_t nr = tree->nr;
    int *around = malloc(nr * sizeof(*around)); /* by deeper node: its ancestor at the depth */
    int rc = around ? 0 : -1;

    for (size_t n = 1; rc == 0 && n < nr; n++) {
        struct node *node = &tree->nodes[n];
        around[n] = node->depth > depth ? around[node->parent] : (int)n;
        if (node->depth <= depth || node->self <= 0)
            continue;
        int deeper = child_of(tree, around[n], deeper_name);
        if (deeper < 0)
            rc = -1;
        else
            tree->nodes[deeper].self += node->self;
        node->self = 0;
    }
    free(around);
    return rc;
}

static void write_frame(FILE *file, const char *name)
{
    while (*name) {
        size_t nr;
        const char *character = prof_folded_character(&name, &nr);
        fwrite(character, 1, nr, file);
    }
}

/* `path` has room for the deepest stack that is written. */
static void write_stack(FILE *file, const struct tree *tree, int n, int *path)
{
    int nr = 0;

    for (int i = n; i > 0; i = tree->nodes[i].parent)
        path[nr++] = i;
    while (nr-- > 0) {
        write_frame(file, tree->nodes[path[nr]].name);
        if (nr)
            fputc(';', file);
    }
    fprintf(file, " %" PRId64 "\n", tree->nodes[n].self);
}

static int write_tree(FILE *file, struct tree *tree)
{
    int depth = depth_of_stacks(tree), *path = malloc((tree->nr + 1) * sizeof(*path));
    int rc = depth >= 0 && path && cut_tree(tree, depth) == 0 ? 0 : -1;

    for (size_t n = 1; rc == 0 && n < tree->nr; n++) {
        if (tree->nodes[n].self > 0)
            write_stack(file, tree, (int)n, path);
    }
    free(path);
    return rc == 0 && !ferror(file) ? 0 : -1;
}

int prof_write_folded(FILE *file, const struct prof_trace *trace, enum prof_side side)
{
    /* A node a slice and track, and one below each for what is deeper. */
    size_t nr = trace->nr_slices, most = 2 * (nr + trace->nr_tracks) + 1;
    struct tree tree = { calloc(most, sizeof(struct node)), 1, { NULL, 0, 0 } };
    int64_t *self = malloc((nr + 1) * sizeof(*self));
    int *node_of = malloc((nr + 1) * sizeof(*node_of));
    int rc = -1;

    if (tree.nodes && self && node_of && prof_trace_self(trace, self) == 0) {
        tree.nodes[0] = (struct node) { "", 0, -1, 0 };
        rc = grow_tree(&tree, trace, side, self, node_of);
        if (rc == 0)
            rc = write_tree(file, &tree);
    }
    free(tree.nodes);
    prof_map_release(&tree.children);
    free(self);
    free(node_of);
    return rc;
}
