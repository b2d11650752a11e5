/* SPDX-License-Identifier: MIT */
/* A second of watching: asleep for one half, at work on one processor for the other. */
#include "core/clock.h"
#include "doctor/doctor_base.h"
#include "measure/plant.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { HALF_MS = 500, SPIN_NS = 1000000, SPINS_MAX = 600 };

#define SLOW_SPIN 1.05

static const struct doctor_input here = { .root = "" };

/* Ticks of all processors since the start: user nice system idle iowait irq softirq steal. */
struct ticks {
    double busy, steal, all; /* NaN: not told */
};

static struct ticks watch_ticks(void)
{
    struct ticks t = { 0, 0, 0 };
    char line[256], *rest = line;

    if (!doctor_text(&here, "/proc/stat", "cpu ", line, sizeof(line)))
        return (struct ticks) { NAN, NAN, NAN };
    for (int i = 0; i < 8; i++) {
        double value = strtod(rest, &rest);
        t.all += value;
        t.steal += i == 7 ? value : 0;
        t.busy += i == 3 || i == 4 || i == 7 ? 0 : value;
    }
    return t;
}

/* Pieces of arithmetic of about a millisecond each: most last equally long, and those that do not
 * were disturbed. */
static double watch_spins(void)
{
    static const uint64_t whole = (uint64_t)HALF_MS * 1000000;
    uint64_t steps = (uint64_t)(SPIN_NS / plant_calibrate().step) + 1, start = clock_ns();
    double times[SPINS_MAX], sorted[SPINS_MAX];
    size_t nr = 0, slow = 0;

    while (nr < SPINS_MAX && clock_ns() - start < whole) {
        uint64_t before = clock_ns();
        plant_work(steps);
        times[nr] = sorted[nr] = (double)(clock_ns() - before);
        nr++;
    }
    double median = stats_median(sorted, nr);
    for (size_t i = 0; i < nr; i++)
        slow += times[i] > SLOW_SPIN * median;
    return (double)slow / (double)nr;
}

void doctor_watch(struct doctor_watch *w)
{
    const struct timespec half = { .tv_nsec = HALF_MS * 1000000L };
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    double throttles = doctor_throttles(&here);
    struct ticks first = watch_ticks();

    nanosleep(&half, NULL);
    struct ticks asleep = watch_ticks();
    double slow = watch_spins();
    struct ticks last = watch_ticks();
    *w = (struct doctor_watch) {
        .steal = (last.steal - first.steal) / (last.all - first.all),
        .busy = (double)cpus * (asleep.busy - first.busy) / (asleep.all - first.all),
        .throttles = doctor_throttles(&here) - throttles,
        .slow_spins = slow,
        .clock_step = clock_step_ns(),
    };
}

/* Fine up to the limit; beyond it what was found is to be mended. */
static void watch_judge(struct doctor_finding *f, double value, double limit, const char *found,
                        const char *mend)
{
    if (isnan(value)) {
        doctor_say(f, DOCTOR_UNKNOWN, "not watched");
        return;
    }
    doctor_say(f, value <= limit ? DOCTOR_FINE : DOCTOR_WARN, "%s", found);
    if (value > limit)
        doctor_mend(f, "%s", mend);
}

static void check_steal(const struct doctor_input *in, struct doctor_finding *f)
{
    double share = in->watch.steal;
    char found[96];

    snprintf(found, sizeof(found), "%.1f %% of a second went to other machines of the host",
             100 * share);
    watch_judge(f, share, 0.005, found,
                "a machine of one's own, or a quieter hour; see steal_percent");
}

static void check_others(const struct doctor_input *in, struct doctor_finding *f)
{
    char found[96];

    snprintf(found, sizeof(found), "%.2f processors were busy while this program slept",
             in->watch.busy);
    watch_judge(f, in->watch.busy, 0.1, found, "stop what runs; `top` shows what it is");
}

static void check_timer(const struct doctor_input *in, struct doctor_finding *f)
{
    char found[96];

    snprintf(found, sizeof(found), "steps of %.0f ns", in->watch.clock_step);
    watch_judge(f, in->watch.clock_step, 200, found,
                "see the clock source; until then short kernels are timed in large batches");
}

static void check_spins(const struct doctor_input *in, struct doctor_finding *f)
{
    double share = in->watch.slow_spins;
    char found[96];

    snprintf(found, sizeof(found), "%.1f %% of 1 ms pieces of work took over 5 %% more than most",
             100 * share);
    watch_judge(f, share, 0.05, found,
                "other work, an unsteady clock or a host that steals: see the rows above");
}

const struct doctor_check doctor_watch_checks[] = {
    { "steal", check_steal }, { "other programs", check_others },
    { "timer", check_timer }, { "steadiness", check_spins },
    { NULL, NULL },
};
