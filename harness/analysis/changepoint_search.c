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
    double *ranks; /* scratch */
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

/* A stretch of the series that is searched: the positions of its points, from its start, by
 * ascending value, and the share of the level that it may spend. */
struct stretch {
    size_t from, length, *order;
    double share;
};

/* Keeps the order of the series. Free the order. */
static struct stretch stretch_of(const struct search *s, size_t from, size_t length, double share)
{
    struct stretch stretch = { from, length, memory_zeroed(length + 1, sizeof(*stretch.order)),
                               share };
    size_t nr = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->order[i] - from < length)
            stretch.order[nr++] = s->order[i] - from;
    return stretch;
}

/* Pieces of one length, each starting half a length after the one before; the last ends with the
 * stretch. */
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

/* One walk along the sorted stretch deals its points out to all pieces of a layer. */
static void scan_layer(struct search *s, const struct stretch *whole, const struct layer *l,
                       double share)
{
    size_t *order = memory_zeroed(l->nr * l->length, sizeof(*order));
    size_t *filled = memory_zeroed(l->nr, sizeof(*filled)), stride = l->length / 2;

    for (size_t i = 0; i < whole->length; i++) {
        size_t t = whole->order[i];
        size_t first = t < l->length ? 0 : (t - l->length) / stride;
        for (size_t j = first; j < l->nr; j++) {
            size_t start = layer_start(l, whole->length, j);
            if (start > t)
                break;
            if (t - start < l->length)
                order[j * l->length + filled[j]++] = t - start;
        }
    }
    for (size_t j = 0; j < l->nr; j++) {
        struct piece piece = {
            .from = whole->from + layer_start(l, whole->length, j),
            .length = l->length,
            .ranks_share = share * pieces_ranks / (double)l->nr,
            .model_share = share * pieces_model(whole->length) / (double)l->nr,
        };
        scan_piece(s, order + j * l->length, &piece);
    }
    free(filled);
    free(order);
}

/* Layers of pieces that are shorter than the stretch. */
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

/* The stretch as a whole and seeded intervals in it (Kovacs et al.): each layer is shorter by the
 * square root of two. */
static void scan_stretch(struct search *s, size_t from, size_t length, double share)
{
    size_t nr = count_layers(length, s->settings);
    double size = (double)length / sqrt(2);
    struct stretch stretch = stretch_of(s, from, length, share);
    struct piece whole = {
        .from = from,
        .length = length,
        .ranks_share = share * search_whole_share(length, s->settings),
        .model_share = share * (nr ? 1 - pieces_model(length) : 1),
    };

    scan_piece(s, stretch.order, &whole);
    for (size_t i = 0; i < nr; i++, size /= sqrt(2)) {
        struct layer l = layer_of(length, (size_t)size);
        scan_layer(s, &stretch, &l, share / (double)nr);
    }
    free(stretch.order);
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
            *(struct cut *)array_push(s->cuts) =
                (struct cut) { piece->from + step.index, p, piece->from,
                               piece->from + piece->length };
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

/* What lies between accepted steps is searched as the series was, until nothing more is found. */
static void search_between(struct search *s)
{
    do {
        sort_cuts(s->cuts);
        for (size_t i = 0; i <= s->cuts->nr; i++) {
            size_t from = segment_start(s->cuts, i);
            size_t length = segment_end(s->cuts, i, s->n) - from;
            if (length >= 2 * s->settings->min_segment)
                scan_stretch(s, from, length, (double)length / (double)s->n);
        }
    } while (accept_pieces(s));
}

static void remove_cut(struct cut_list *cuts, size_t i)
{
    memmove(cuts->items + i, cuts->items + i + 1, (cuts->nr - i - 1) * sizeof(*cuts->items));
    cuts->nr--;
}

/* How a step stands between its neighbours. Where it does not and the series is `crowded` with
 * steps, one that was missed may lie beside it: what counts then is the piece in which it was
 * found, as far as the neighbours leave it. */
static struct step judge_cut(const struct search *s, size_t i, bool crowded, size_t *from)
{
    const struct cut *cut = &s->cuts->items[i];
    size_t to = segment_end(s->cuts, i + 1, s->n), least = s->settings->min_segment;
    double level = s->settings->level;

    *from = segment_start(s->cuts, i);
    struct step step = step_judge(s->x + *from, to - *from, cut->index - *from, least, level);
    if (step.p <= level || !crowded || (cut->from <= *from && to <= cut->to))
        return step;
    size_t near = cut->from > *from ? cut->from : *from, far = cut->to < to ? cut->to : to;
    if (cut->index <= near || far <= cut->index)
        return step;
    struct step own = step_judge(s->x + near, far - near, cut->index - near, least, level);
    if (own.p > level)
        return step;
    *from = near;
    return own;
}

/* Puts each step where it fits best between its neighbours and drops the one that stands least,
 * until all of them stand. */
static void settle(struct search *s)
{
    enum { CROWD = 4 };
    bool crowded = s->cuts->nr >= CROWD;

    for (bool again = true; again;) {
        size_t worst = 0, from;
        double most = s->settings->level;
        again = false;
        for (size_t i = 0; i < s->cuts->nr; i++) {
            struct step step = judge_cut(s, i, crowded, &from);
            if (step.index)
                s->cuts->items[i].index = from + step.index;
            if (step.p > most) {
                most = step.p;
                worst = i;
                again = true;
            }
        }
        if (again)
            remove_cut(s->cuts, worst);
    }
}

/* The search proper, in x as it is. */
static void search_steps(struct search *s)
{
    s->order = scan_order(s->x, s->n);
    scan_stretch(s, 0, s->n, 1);
    if (accept_pieces(s)) {
        search_between(s);
        settle(s);
    }
    free(s->order);
}

/* The modes of the widest switch among the steps. Steps that are longer visits than chance makes go
 * to `kept`. */
static struct modes find_modes(const struct search *s, struct cut_list *kept)
{
    struct modes widest = { 0 };

    for (size_t i = 0; i < s->cuts->nr; i++) {
        bool longer;
        struct modes m = modes_at(s->x, s->n, s->cuts, i, s->settings->level, &longer);
        if (m.high > m.low && longer)
            *(struct cut *)array_push(kept) = s->cuts->items[i];
        else if (m.high - m.low > widest.high - widest.low)
            widest = m;
    }
    return widest;
}

static bool has_near(const struct cut_list *cuts, size_t index, size_t least)
{
    for (size_t i = 0; i < cuts->nr; i++)
        if (cuts->items[i].index < index + least && index < cuts->items[i].index + least)
            return true;
    return false;
}

/* Modes are joined to one level, and the steps sought anew in what remains. */
static struct modes search_all(struct search *s)
{
    struct modes widest = modes_of(s->x, s->n);
    double *joined = memory_zeroed(s->n + 1, sizeof(*joined));
    struct cut_list kept = { 0 };

    memcpy(joined, s->x, s->n * sizeof(*joined));
    search_steps(s);
    for (int i = 0; i < 3; i++) {
        struct modes m = find_modes(s, &kept);
        if (!(m.high > m.low))
            break;
        if (m.high - m.low > widest.high - widest.low)
            widest = m;
        modes_join(joined, s->n, &m, joined);
        s->x = joined;
        s->cuts->nr = 0;
        search_steps(s);
    }
    for (size_t i = 0; i < kept.nr; i++)
        if (!has_near(s->cuts, kept.items[i].index, s->settings->min_segment))
            *(struct cut *)array_push(s->cuts) = kept.items[i];
    sort_cuts(s->cuts);
    array_release(&kept);
    free(joined);
    return widest;
}

void cuts_find(const double *x, size_t n, const struct changepoint_settings *settings,
               struct cut_list *out, double *clearest, struct modes *modes)
{
    struct search s = { .x = x, .n = n, .settings = settings, .cuts = out, .clearest = 1 };

    *modes = (struct modes) { 0 };
    if (n >= 2 * settings->min_segment) {
        s.ranks = memory_zeroed(n + 1, sizeof(*s.ranks));
        *modes = search_all(&s);
    }
    *clearest = s.clearest;
    for (size_t i = 0; i < out->nr; i++)
        *clearest = fmin(*clearest, out->items[i].p);
    array_release(&s.pieces);
    free(s.ranks);
}
