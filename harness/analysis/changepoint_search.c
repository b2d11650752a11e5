/* SPDX-License-Identifier: MIT */
/* The search: pieces of many lengths, the clearest first, then what lies between accepted steps. */
#include "analysis/changepoint_parts.h"
#include "base/array.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A piece [from, from + length) with its clearest split, and what it may spend: its shares of the
 * level, for the test by ranks and for that by likelihood. */
struct piece {
    size_t from, length;
    double ranks_share, model_share;
    struct scan scan;
};

struct search {
    const double *x;
    size_t n, *order;
    const struct changepoint_settings *settings;
    double *ranks;     /* scratch */
    size_t *positions; /* scratch */
    ARRAY(struct piece) pieces;
    struct cut_list *cuts;
    double clearest;
};

/* The whole series may spend most; it is where a lone step shows best. The pieces of a short series
 * have little to say. */
static const double pieces_ranks = 0.5;

static double pieces_model(size_t n)
{
    return 0.15 * fmin(1, (double)n / 100);
}

static void scan_piece(struct search *s, const size_t *order, struct piece *piece)
{
    piece->scan =
        scan_ranks(s->x + piece->from, order, piece->length, s->settings->min_segment, s->ranks);
    piece->scan.p = fmin(1, piece->scan.p / piece->ranks_share);
    if (piece->scan.p <= s->settings->level)
        *(struct piece *)array_push(&s->pieces) = *piece;
    else
        s->clearest = fmin(s->clearest, piece->scan.p);
}

/* Keeps the order within a piece of the order within the series. */
static void scan_alone(struct search *s, struct piece *piece)
{
    size_t nr = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->order[i] - piece->from < piece->length)
            s->positions[nr++] = s->order[i] - piece->from;
    scan_piece(s, s->positions, piece);
}

/* Pieces of one length, each starting half a length after the one before; the last ends with the
 * series. */
struct layer {
    size_t length, nr;
};

static struct layer layer_of(size_t n, size_t length)
{
    size_t stride = length / 2;

    return (struct layer) { length, 1 + (n - length + stride - 1) / stride };
}

static size_t layer_start(const struct layer *l, size_t n, size_t i)
{
    size_t start = i * (l->length / 2);

    return start + l->length > n ? n - l->length : start;
}

/* One walk along the sorted series deals its points out to all pieces of a layer. */
static void scan_layer(struct search *s, const struct layer *l, double share)
{
    size_t *order = memory_zeroed(l->nr * l->length, sizeof(*order));
    size_t *filled = memory_zeroed(l->nr, sizeof(*filled)), stride = l->length / 2;

    for (size_t i = 0; i < s->n; i++) {
        size_t t = s->order[i];
        size_t first = t < l->length ? 0 : (t - l->length) / stride;
        for (size_t j = first; j < l->nr; j++) {
            size_t start = layer_start(l, s->n, j);
            if (start > t)
                break;
            if (t - start < l->length)
                order[j * l->length + filled[j]++] = t - start;
        }
    }
    for (size_t j = 0; j < l->nr; j++) {
        struct piece piece = {
            .from = layer_start(l, s->n, j),
            .length = l->length,
            .ranks_share = share * pieces_ranks / (double)l->nr,
            .model_share = share * pieces_model(s->n) / (double)l->nr,
        };
        scan_piece(s, order + j * l->length, &piece);
    }
    free(filled);
    free(order);
}

/* Layers of pieces that are shorter than the series. */
static size_t count_layers(size_t n, const struct changepoint_settings *settings)
{
    size_t shortest = settings->min_segment * 2 > 10 ? settings->min_segment * 2 : 10;

    if (n <= shortest)
        return 0;
    return (size_t)fmax(0, floor(2 * log2((double)n / sqrt(2) / (double)shortest)) + 1);
}

double search_whole_share(size_t n, const struct changepoint_settings *settings)
{
    return count_layers(n, settings) ? 1 - pieces_ranks : 1;
}

/* Seeded intervals (Kovacs et al.): each layer is shorter by the square root of two. */
static void scan_seeded(struct search *s)
{
    size_t nr = count_layers(s->n, s->settings);
    double length = (double)s->n / sqrt(2);
    struct piece whole = { .length = s->n,
                           .ranks_share = search_whole_share(s->n, s->settings),
                           .model_share = nr ? 1 - pieces_model(s->n) : 1 };

    scan_alone(s, &whole);
    for (size_t i = 0; i < nr; i++, length /= sqrt(2)) {
        struct layer l = layer_of(s->n, (size_t)length);
        scan_layer(s, &l, 1 / (double)nr);
    }
}

static int by_clarity(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    if (a->scan.z != b->scan.z)
        return a->scan.z > b->scan.z ? -1 : 1;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return a->from < b->from ? -1 : 1;
}

/* A piece that spans an accepted step says nothing new. */
static bool spans_cut(const struct search *s, const struct piece *piece)
{
    for (size_t i = 0; i < s->cuts->nr; i++)
        if (s->cuts->items[i].index > piece->from &&
            s->cuts->items[i].index < piece->from + piece->length)
            return true;
    return false;
}

/* Accepts the steps of the pieces at hand, the clearest first; true if there was one. */
static bool accept_pieces(struct search *s)
{
    size_t before = s->cuts->nr;

    if (s->pieces.nr > 1)
        qsort(s->pieces.items, s->pieces.nr, sizeof(*s->pieces.items), by_clarity);
    for (size_t i = 0; i < s->pieces.nr; i++) {
        const struct piece *piece = &s->pieces.items[i];
        if (spans_cut(s, piece))
            continue;
        struct step step =
            step_judge(s->x + piece->from, piece->length, piece->scan.index,
                       s->settings->min_segment, s->settings->level * piece->model_share);
        double p = fmin(1, fmax(piece->scan.p, step.p / piece->model_share));
        if (p <= s->settings->level)
            *(struct cut *)array_push(s->cuts) = (struct cut) { piece->from + step.index, p };
        else
            s->clearest = fmin(s->clearest, p);
    }
    s->pieces.nr = 0;
    return s->cuts->nr > before;
}

static int by_index(const void *left, const void *right)
{
    const struct cut *a = left, *b = right;

    return a->index < b->index ? -1 : a->index > b->index;
}

static void sort_cuts(struct cut_list *cuts)
{
    if (cuts->nr > 1)
        qsort(cuts->items, cuts->nr, sizeof(*cuts->items), by_index);
}

/* What lies between accepted steps is a piece of its own, until nothing more is found there. */
static void search_between(struct search *s)
{
    do {
        sort_cuts(s->cuts);
        for (size_t i = 0; i <= s->cuts->nr; i++) {
            size_t from = segment_start(s->cuts, i);
            size_t length = segment_end(s->cuts, i, s->n) - from;
            double share = 0.5 * (double)length / (double)s->n;
            struct piece piece = {
                .from = from, .length = length, .ranks_share = share, .model_share = share
            };
            if (length >= 2 * s->settings->min_segment)
                scan_alone(s, &piece);
        }
    } while (accept_pieces(s));
}

static void remove_cut(struct cut_list *cuts, size_t i)
{
    memmove(cuts->items + i, cuts->items + i + 1, (cuts->nr - i - 1) * sizeof(*cuts->items));
    cuts->nr--;
}

/* Puts each step where it fits best between its neighbours and drops the one that stands least,
 * until all of them stand. */
static void settle(struct search *s)
{
    for (bool again = true; again;) {
        size_t worst = 0;
        double most = s->settings->level;
        again = false;
        for (size_t i = 0; i < s->cuts->nr; i++) {
            struct cut *cut = &s->cuts->items[i];
            size_t from = segment_start(s->cuts, i), to = segment_end(s->cuts, i + 1, s->n);
            struct step step = step_judge(s->x + from, to - from, cut->index - from,
                                          s->settings->min_segment, s->settings->level);
            if (step.index)
                cut->index = from + step.index;
            if (step.p > most) {
                most = step.p;
                worst = i;
                again = true;
            }
        }
        if (again) {
            remove_cut(s->cuts, worst);
        }
    }
}

static bool drop_recurring(struct search *s)
{
    bool *drop = memory_zeroed(s->cuts->nr + 1, sizeof(*drop)), dropped = false;

    for (size_t i = 0; i < s->cuts->nr; i++)
        drop[i] = step_recurs(s->x, s->n, s->cuts, i, s->settings->level);
    for (size_t i = s->cuts->nr; i-- > 0;)
        if (drop[i]) {
            remove_cut(s->cuts, i);
            dropped = true;
        }
    free(drop);
    return dropped;
}

void cuts_find(const double *x, size_t n, const struct changepoint_settings *settings,
               struct cut_list *out, double *clearest)
{
    struct search s = { .x = x, .n = n, .settings = settings, .cuts = out, .clearest = 1 };

    if (n >= 2 * settings->min_segment) {
        s.order = scan_order(x, n);
        s.ranks = memory_zeroed(n + 1, sizeof(*s.ranks));
        s.positions = memory_zeroed(n + 1, sizeof(*s.positions));
        scan_seeded(&s);
        if (accept_pieces(&s)) {
            search_between(&s);
            settle(&s);
            if (drop_recurring(&s))
                settle(&s);
        }
    }
    *clearest = s.clearest;
    for (size_t i = 0; i < out->nr; i++)
        *clearest = fmin(*clearest, out->items[i].p);
    array_release(&s.pieces);
    free(s.positions);
    free(s.ranks);
    free(s.order);
}
