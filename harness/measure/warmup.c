/* SPDX-License-Identifier: MIT */
#include "measure/warmup.h"

#include "base/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* Enough for any kernel: those that are over in no time are warm by then. */
enum { WARMUPS_MAX = 100000, WINDOW_MAX = WARMUPS_MAX / 8 };

/* By how much windows may differ. A driver's mean of power lags behind and never quite stands. */
static const double time_differs = 0.02, clock_differs = 0.02, power_differs = 0.05;

/* s: shorter, the driver would tell the same number twice; and how long a GPU may need. */
static const double gpu_window = 0.025, gpu_most = 1;

struct warmup_rule warmup_rule(double least, double most, const struct clock_eye *eye)
{
    bool gpu = eye && eye->gpu;
    double usual = gpu ? fmax(gpu_most, 4 * least) : 4 * least;
    struct warmup_rule rule = { .least = least, .most = most > 0 ? most : usual, .eye = eye };

    rule.least = fmin(rule.least, rule.most);
    rule.window = gpu ? fmax(gpu_window, rule.least / 4) : rule.least / 4;
    return rule;
}

void warmup_begin(struct warmup *w, const struct warmup_rule *rule)
{
    *w = (struct warmup) { .rule = *rule };
}

static double median_of(const uint64_t *samples, size_t nr)
{
    double *x = memory_resize(NULL, nr, sizeof(*x));

    for (size_t i = 0; i < nr; i++)
        x[i] = (double)samples[i];
    double median = stats_median(x, nr);
    free(x);
    return median;
}

static void end_window(struct warmup *w, const uint64_t *samples, size_t nr)
{
    static const struct clock_seen nothing = { NAN, NAN };
    int at = w->nr++ % WARMUP_WINDOWS;

    w->median[at] = median_of(samples + w->from, nr - w->from);
    w->seen[at] = w->rule.eye ? clock_look(w->rule.eye) : nothing;
    w->from = nr;
    w->from_ns = w->elapsed_ns;
}

/* What cannot be seen, at any of the times, does not tell. */
static bool is_steady(const double *x, double differ)
{
    double low = x[0], high = x[0];

    for (int i = 0; i < WARMUP_WINDOWS; i++) {
        if (isnan(x[i]))
            return true;
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    return high - low <= differ * low;
}

bool warmup_settled(const struct warmup *w)
{
    double mhz[WARMUP_WINDOWS], watts[WARMUP_WINDOWS];

    for (int i = 0; i < WARMUP_WINDOWS; i++) {
        mhz[i] = w->seen[i].mhz;
        watts[i] = w->seen[i].watts;
    }
    return w->nr >= WARMUP_WINDOWS && is_steady(w->median, time_differs) &&
           is_steady(mhz, clock_differs) && is_steady(watts, power_differs);
}

bool warmup_over(struct warmup *w, const uint64_t *samples, size_t nr, double elapsed_ns)
{
    bool enough = elapsed_ns >= w->rule.least * 1e9 || nr >= WARMUPS_MAX;

    /* The longer it takes, the longer the windows: what moves slowly seems to stand in short ones.
     */
    double window_ns = fmax(w->rule.window * 1e9, w->from_ns / 3);

    w->elapsed_ns = elapsed_ns;
    if (elapsed_ns - w->from_ns >= window_ns || nr - w->from >= WINDOW_MAX) {
        end_window(w, samples, nr);
        if (enough && warmup_settled(w))
            return true;
    }
    return elapsed_ns >= w->rule.most * 1e9 || nr >= WARMUPS_MAX;
}

double warmup_mhz(const struct warmup *w)
{
    return w->nr > 0 ? w->seen[(w->nr - 1) % WARMUP_WINDOWS].mhz : (double)NAN;
}

void warmup_tell(const struct warmup *w, struct measurement *m)
{
    if (w->rule.most <= 0)
        return; /* none was wanted */
    measurement_add_telemetry(m, TELEMETRY_WARM_UP, w->elapsed_ns * 1e-9);
    if (w->nr >= WARMUP_WINDOWS)
        measurement_add_telemetry(m, TELEMETRY_SETTLED, warmup_settled(w));
}

double warmup_median(const uint64_t *samples, size_t nr)
{
    size_t newer = (nr + 1) / 2;

    return median_of(samples + nr - newer, newer);
}
