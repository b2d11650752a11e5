/* SPDX-License-Identifier: MIT */
/* What explains a piece without a step: curves and gradual changes. */
#include "trend/changepoint_parts.h"

#include <math.h>

/* Legendre polynomials of degrees 0 to `terms`, a column each: nearly orthogonal, so that no digits
 * get lost. */
static void fill_legendre(double *columns, size_t terms, size_t m)
{
    for (size_t t = 0; t < m; t++) {
        double u = (2 * (double)t + 1) / (double)m - 1, before = 0, value = 1;
        for (size_t k = 0; k <= terms; k++) {
            double d = (double)k, next = ((2 * d + 1) * u * value - d * before) / (d + 1);
            columns[k * m + t] = value;
            before = value;
            value = next;
        }
    }
}

static size_t curve_terms(size_t m)
{
    double terms = 1.6 * log2((double)m / 25);

    return terms < 2 ? 1 : terms > FIT_TERMS ? FIT_TERMS : (size_t)terms;
}

/* A step has a position besides its size, so that curves get a handicap, the larger the less a
 * piece can say; less where the split is in the middle, as those of ramps are. Chosen, not
 * calibrated: the smallest with which a step of three sigma 8 points before the end is found. */
static double curve_handicap(size_t m, size_t split)
{
    double n = (double)m, share = fmin((double)split, n - (double)split) / n;
    double middle = fmax(0, fmin(1, (share - 0.3) / 0.1)), short_piece = fmin(1, 28 / n);

    return short_piece * (7.5 - 2 * short_piece * middle);
}

/* The same of gradual changes: two numbers more than a step has, or none in a short piece. */
static double gradual_handicap(size_t m)
{
    double n = (double)m;

    return m < GRADUAL_LEAST ? 10 + 196 / n : fmax(13.5, 2 * log(n) + 2);
}

double curve_cost(const struct fit_grid *grid, const double *y, size_t split, double *room)
{
    size_t m = grid->points, terms = curve_terms(m);
    struct fit fits[FIT_COLUMNS];
    const double *model[FIT_COLUMNS];

    for (size_t k = 0; k <= terms; k++)
        model[k] = room + k * m;
    model[terms + 1] = y;
    fill_legendre(room, terms, m);
    fit_models(grid, model, terms + 2, 1, fits);
    double best = fits[1].cost;
    for (size_t q = 1; q <= terms; q++)
        best = fmin(best,
                    fits[q + 1].cost + (double)(q - 1) * log((double)m) + curve_handicap(m, split));
    return best;
}

/* Cost of the data on a constant and the first nr - 1 shapes, which lie in room from the second
 * column on. */
static double shape_cost(const struct fit_grid *grid, const double *y, size_t nr, double *room)
{
    size_t m = grid->points;
    const double *model[] = { room, room + m, nr > 2 ? room + 2 * m : y, y };
    struct fit fits[4];

    for (size_t t = 0; t < m; t++)
        room[t] = 1;
    fit_models(grid, model, nr + 1, nr, fits);
    return fits[nr].cost;
}

/* Two levels with a straight line of `width` points between them, about `centre`. */
static double ramp_cost(const struct fit_grid *grid, const double *y, double centre, double width,
                        double *room)
{
    size_t m = grid->points;

    for (size_t t = 0; t < m; t++) {
        double from_centre = (double)t + 0.5 - centre;
        room[m + t] = fmax(0, fmin(1, from_centre / width + 0.5));
    }
    return shape_cost(grid, y, 2, room);
}

/* Two straight lines that meet at `knot`. */
static double bend_cost(const struct fit_grid *grid, const double *y, double knot, double *room)
{
    size_t m = grid->points;

    for (size_t t = 0; t < m; t++) {
        double place = ((double)t + 0.5) / (double)m;
        room[m + t] = 2 * place - 1;
        room[2 * m + t] = fmax(0, place - knot / (double)m);
    }
    return shape_cost(grid, y, 3, room);
}

/* A level up to `knot` and a straight line from there on; or, `towards`, the other way round. */
static double hinge_cost(const struct fit_grid *grid, const double *y, double knot, bool towards,
                         double *room)
{
    size_t m = grid->points;

    for (size_t t = 0; t < m; t++) {
        double place = ((double)t + 0.5 - knot) / (double)m;
        room[m + t] = towards ? fmin(0, place) : fmax(0, place);
    }
    return shape_cost(grid, y, 2, room);
}

/* A short piece: a level and a slope that meet near the split, or a ramp half as long as the piece.
 * None has more numbers than a step. */
static double short_cost(const struct fit_grid *grid, const double *y, size_t split, double enough,
                         double *room)
{
    size_t m = grid->points;
    double best = INFINITY, n = (double)m, pays = gradual_handicap(m);

    for (int place = -8; place <= 8 && best >= enough; place++) {
        double knot = (double)split + place * n / 16;
        if (knot < 0.15 * n || knot > 0.85 * n)
            continue;
        best = fmin(best, hinge_cost(grid, y, knot, false, room) + pays);
        best = fmin(best, hinge_cost(grid, y, knot, true, room) + pays);
    }
    for (int place = -2; place <= 2 && best >= enough; place++) {
        double centre = (double)split + place * n / 8;
        if (centre >= 0.25 * n && centre <= 0.75 * n)
            best = fmin(best, ramp_cost(grid, y, centre, 0.5 * n, room) + pays);
    }
    return best;
}

/* Two lines that meet near the split, or two levels with a ramp between them that is a quarter or
 * half as long as the piece (an eighth too where it is long). Both pay for two numbers more than a
 * step has. */
static double long_cost(const struct fit_grid *grid, const double *y, size_t split, double enough,
                        double *room)
{
    size_t m = grid->points;
    double best = INFINITY, n = (double)m, pays = gradual_handicap(m);

    for (int place = -4; place <= 4 && best >= enough; place++) {
        double knot = (double)split + place * n / 16;
        if (knot >= 0.2 * n && knot <= 0.8 * n)
            best = fmin(best, bend_cost(grid, y, knot, room) + pays);
    }
    for (size_t part = 2; part <= (m < 160 ? 4 : 8); part *= 2) {
        double width = n / (double)part;
        for (int place = -2; place <= 2 && best >= enough; place++) {
            double centre = (double)split + 0.25 * place * width;
            if (centre >= 0.5 * width && centre + 0.5 * width <= n)
                best = fmin(best, ramp_cost(grid, y, centre, width, room) + pays);
        }
    }
    return best;
}

double gradual_cost(const struct fit_grid *grid, const double *y, size_t split, double enough,
                    double *room)
{
    return grid->points < GRADUAL_LEAST ? short_cost(grid, y, split, enough, room)
                                        : long_cost(grid, y, split, enough, room);
}
