/* SPDX-License-Identifier: MIT */
#include "launch/disturbed.h"

#include "stats/stats.h"

#include <math.h>

static const char *const part_names[DISTURBED_PARTS] = {
    [DISTURBED_MACHINE] = "repeats_machine",
    [DISTURBED_WAITED] = "repeats_waited",
    [DISTURBED_STOLEN] = "repeats_stolen",
};

static double probe_of(const struct measurement *m)
{
    return m->outcome == OUTCOME_OK ? measurement_telemetry(m, TELEMETRY_MACHINE) : (double)NAN;
}

bool disturbed_can_tell(const struct measurement *m)
{
    return probe_of(m) > 0;
}

/* A number that was told, or else 0. */
static double told(const struct measurement *m, const char *name)
{
    double value = measurement_telemetry(m, name);

    return value > 0 ? value : 0;
}

/* A scripted clock waits for nobody. */
static bool is_scripted(const struct measurement *m)
{
    return strcmp(m->clock, "scripted") == 0;
}

/* The share of the span, if the samples felt it. */
static double waited(const struct measurement *m)
{
    double seconds = told(m, "sampled_seconds");

    if (is_scripted(m) || told(m, "involuntary_switches") * DISTURBED_HITS < (double)m->nr_samples)
        return 0;
    if (!isnan(measurement_telemetry(m, "waited_percent")))
        return told(m, "waited_percent") / 100;
    return seconds > 0 ? told(m, "involuntary_switches") * DISTURBED_SLICE / seconds : 0;
}

void disturbed_watch_note(struct disturbed_watch *w, const struct measurement *m)
{
    double probe = probe_of(m);

    if (!disturbed_can_tell(m))
        return;
    array_push(&w->probes);
    size_t at = w->probes.nr - 1;
    for (; at > 0 && w->probes.items[at - 1] > probe; at--)
        w->probes.items[at] = w->probes.items[at - 1];
    w->probes.items[at] = probe;
}

bool disturbed_watch_ready(const struct disturbed_watch *w)
{
    return w->probes.nr >= DISTURBED_PROBES_MIN;
}

void disturbed_watch_release(struct disturbed_watch *w)
{
    array_release(&w->probes);
}

double disturbed_degree(const struct disturbed_watch *w, const struct measurement *m,
                        enum disturbed_part *largest)
{
    double usual = stats_quantile(w->probes.items, w->probes.nr, 0.2), probe = probe_of(m);
    const double parts[DISTURBED_PARTS] = {
        [DISTURBED_MACHINE] = fmax(0, probe / usual - 1),
        [DISTURBED_WAITED] = waited(m),
        [DISTURBED_STOLEN] = is_scripted(m) ? 0 : told(m, "steal_percent") / 100,
    };
    enum disturbed_part most = DISTURBED_MACHINE;
    double degree = 0;

    if (!(probe > 0 && usual > 0))
        return 0;
    for (int i = 0; i < DISTURBED_PARTS; i++) {
        degree += parts[i];
        most = parts[i] > parts[most] ? (enum disturbed_part)i : most;
    }
    if (largest)
        *largest = most;
    return degree;
}

bool disturbed_is(const struct disturbed_watch *w, const struct measurement *m)
{
    return disturbed_degree(w, m, NULL) > DISTURBED_LIMIT;
}

/* For whoever wants to know whether the rule is as blind to the time as it says. */
static double median_ns(const struct measurement *m)
{
    double *x = memory_zeroed(m->nr_samples + 1, sizeof(*x));

    for (size_t i = 0; i < m->nr_samples; i++)
        x[i] = (double)m->samples[i];
    double median = stats_median(x, m->nr_samples) / (m->batch ? m->batch : 1);
    free(x);
    return median;
}

static void set_aside(struct disturbed_case *c, const struct disturbed_watch *w,
                      const struct measurement *m)
{
    enum disturbed_part part = DISTURBED_MACHINE;

    disturbed_degree(w, m, &part);
    c->parts[part]++;
    if (!(c->set_aside > 0))
        c->set_aside = median_ns(m);
}

void disturbed_case_take(struct disturbed_case *c, const struct disturbed_watch *w,
                         struct measurement *m)
{
    if (!c->held) {
        c->best = *m;
        c->held = true;
    } else {
        bool better = m->outcome != OUTCOME_OK ||
                      disturbed_degree(w, m, NULL) < disturbed_degree(w, &c->best, NULL);
        struct measurement worse = better ? c->best : *m;
        c->best = better ? *m : c->best;
        c->tries++;
        set_aside(c, w, &worse);
        measurement_release(&worse);
    }
    *m = (struct measurement) { .outcome = OUTCOME_FAILED }; /* what it owned is ours */
}

struct measurement disturbed_case_end(struct disturbed_case *c, const struct disturbed_watch *w)
{
    struct measurement m = c->best;
    double degree = disturbed_degree(w, &m, NULL);

    if (c->tries > 0)
        measurement_add_telemetry(&m, "repeats", c->tries);
    for (int i = 0; i < DISTURBED_PARTS; i++)
        if (c->parts[i] > 0)
            measurement_add_telemetry(&m, part_names[i], c->parts[i]);
    if (c->set_aside > 0)
        measurement_add_telemetry(&m, "set_aside_ns", c->set_aside);
    if (degree > DISTURBED_LIMIT && disturbed_watch_ready(w))
        measurement_add_telemetry(&m, "disturbed_percent", 100 * degree);
    *c = (struct disturbed_case) { .held = false };
    return m;
}

void disturbed_case_release(struct disturbed_case *c)
{
    if (c->held)
        measurement_release(&c->best);
    *c = (struct disturbed_case) { .held = false };
}
