/* SPDX-License-Identifier: MIT */
/*
 * Prints the constants of the search for change points that come from simulation: the table of
 * changepoint_likelihood.c and the limit of changepoint_drift.c. Not a test: run it after a change
 * of the rule, by hand, and copy what it prints.
 *
 *     calibrate_changes [SERIES]      series a length and correlation (20,000 up to 100 points,
 *                                     fewer where they are longer)
 *
 * Null series are AR(1) with correlations of 0 to 0.55, drawn from seeds that no test uses. For a
 * level a (5 % and 0.1 %) and each correlation it takes the (1 - a) quantile of the advantage of a
 * step over whole series, where the test by ranks agrees at the same level: p is about both tests
 * together. The largest quantile counts. Correlations of 0.7 and 0.9 are shown beside them. -inf:
 * so few points never say so much.
 */
#include "base/memory.h"
#include "stats/random.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 400, USUAL_SEED = 0x5ca1ab1e };

static const double correlations[] = { 0, 0.3, 0.5, 0.55, 0.7, 0.9 };
enum { CORRELATIONS = sizeof(correlations) / sizeof(correlations[0]), COUNTED = 4 };

static const double levels[] = { 0.05, 0.001 };

static void draw(struct random *r, double *x, size_t n, double serial)
{
    double value = random_normal(r), fresh = sqrt(1 - serial * serial);

    for (size_t i = 0; i < n; i++) {
        x[i] = value;
        value = serial * value + fresh * random_normal(r);
    }
}

/* What both tests say of a whole series of n points. */
static void judge(const double *x, size_t n, double *ranks_p, double *advantage)
{
    static const struct changepoint_settings settings = CHANGEPOINT_DEFAULTS;
    double ranks[MOST];
    size_t *order = scan_order(x, n);
    struct scan scan = scan_ranks(x, order, n, settings.min_segment, ranks);

    free(order);
    *ranks_p = scan.p / search_whole_share(n, &settings);
    *advantage = -INFINITY;
    if (*ranks_p <= levels[0])
        *advantage = step_judge(x, n, scan.index, settings.min_segment, 0.9).advantage;
}

static double drift_gain_of(const double *x, size_t n)
{
    struct cut_list none = { 0 };

    return drift_gain(drift_find(x, n, &none, 0.05).p, n);
}

static double upper_quantile(double *x, size_t nr, double level)
{
    stats_sort(x, nr);
    return x[nr - 1 - (size_t)(level * (double)nr)];
}

struct quantiles {
    double step[2], drift[2]; /* one a level */
};

static struct quantiles measure(size_t n, double serial, size_t series)
{
    double *room = memory_zeroed(4 * series, sizeof(*room)), x[MOST];
    double *p = room, *gain = room + series, *joint = room + 2 * series, *drift = room + 3 * series;
    struct quantiles q;
    struct random r;

    random_seed(&r, USUAL_SEED + 1000 * n + (size_t)(100 * serial));
    for (size_t i = 0; i < series; i++) {
        draw(&r, x, n, serial);
        judge(x, n, &p[i], &gain[i]);
        drift[i] = drift_gain_of(x, n);
    }
    for (int level = 0; level < 2; level++) {
        for (size_t i = 0; i < series; i++)
            joint[i] = p[i] <= levels[level] ? gain[i] : -INFINITY;
        q.step[level] = upper_quantile(joint, series, levels[level]);
        q.drift[level] = upper_quantile(drift, series, levels[level]);
    }
    free(room);
    return q;
}

static void print_length(size_t n, size_t series)
{
    double most[2] = { -INFINITY, -INFINITY }, drift[2] = { -INFINITY, -INFINITY };
    char rest[256];
    int used = 0;

    for (int i = 0; i < CORRELATIONS; i++) {
        struct quantiles q = measure(n, correlations[i], series);
        for (int level = 0; level < 2 && i < COUNTED; level++) {
            most[level] = fmax(most[level], q.step[level]);
            drift[level] = fmax(drift[level], q.drift[level]);
        }
        used += snprintf(rest + used, sizeof(rest) - (size_t)used, " %g: %.1f %.1f;",
                         correlations[i], q.step[0], q.step[1]);
    }
    double rate = isfinite(most[1]) ? log(levels[0] / levels[1]) / (most[1] - most[0]) : NAN;
    printf("    { %zu, %.1f, %.2f }, /* %.1f at 0.1 %%; drift %.1f %.1f */\n", n, most[0], rate,
           most[1], drift[0], drift[1]);
    printf("    /* %zu series each;%s */\n", series, rest);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = { 12, 16, 20, 24, 28, 34, 40, 50, 62, 70, 100, 200, 400 };
    size_t series = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        print_length(lengths[i], lengths[i] > 100 ? series * 100 / lengths[i] : series);
    return 0;
}
