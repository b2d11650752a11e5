/* SPDX-License-Identifier: MIT */
/* What the run knows of the machine that it was measured on: noise, neighbours, load, clocks. */
#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "metrics/epoch.h"
#include "overview/overview_parts.h"
#include "verdict/machine_probe.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Limits of what is good, and of what is bad. */
#define HEALTH_NOISE_GOOD   0.02
#define HEALTH_NOISE_BAD    0.05
#define HEALTH_SLOW_BAD     0.1 /* of the measurements */
#define HEALTH_STEAL_GOOD   0.5 /* percent of the time */
#define HEALTH_STEAL_BAD    5.0
#define HEALTH_THROTTLE_BAD 0.1 /* of the looks at a GPU */

static void health_add(struct overview_making *m, enum overview_tone tone, const char *name,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

static void health_add(struct overview_making *m, enum overview_tone tone, const char *name,
                       const char *format, ...)
{
    struct overview *out = m->out;
    struct strbuf text;
    va_list arguments;
    char line[300];

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    strbuf_init(&text);
    strbuf_adds(&text, line);
    out->facts = array_grow(out->facts, out->nr_facts, &out->facts_capacity, sizeof(*out->facts));
    out->facts[out->nr_facts++] =
        (struct overview_fact) { .name = name, .text = strbuf_detach(&text), .tone = tone };
    if (tone > out->health)
        out->health = tone;
}

static enum overview_tone health_tone(double value, double good, double bad)
{
    return value <= good ? OVERVIEW_GOOD : value <= bad ? OVERVIEW_OPEN : OVERVIEW_BAD;
}

/* Standard deviation of the logs of the launches' medians; NaN where they are few. */
static double health_spread(const struct run_row *row)
{
    const struct summary *s = &row->summary;
    double sum = 0, squares = 0, nr = (double)s->nr_launches;

    if (s->nr_launches < SUMMARY_LAUNCHES_MIN)
        return NAN;
    for (size_t i = 0; i < s->nr_launches; i++) {
        sum += log(s->medians[i]);
        squares += log(s->medians[i]) * log(s->medians[i]);
    }
    return sqrt(fmax(0, (squares - sum * sum / nr) / (nr - 1)));
}

static void health_add_noise(struct overview_making *m)
{
    double *spreads = memory_zeroed(m->rows.nr + 1, sizeof(*spreads));
    char share[TEXT_UNIT_SIZE];
    size_t nr = 0;

    for (size_t i = 0; i < m->rows.nr; i++) {
        double spread = health_spread(&m->rows.items[i]);
        if (isfinite(spread))
            spreads[nr++] = spread;
    }
    double usual = stats_median(spreads, nr);
    free(spreads);
    if (nr)
        health_add(m, health_tone(usual, HEALTH_NOISE_GOOD, HEALTH_NOISE_BAD), "noise",
                   "%s from launch to launch", text_share(usual, share));
    else if (m->rows.nr)
        health_add(m, OVERVIEW_OPEN, "noise", "not known: fewer than %d launches",
                   SUMMARY_LAUNCHES_MIN);
}

static void health_add_machine(struct overview_making *m)
{
    struct slow_machine slow;

    machine_probe_find_slow(m->input->records, m->input->run, &slow);
    if (slow.probed == 0)
        return;
    if (slow.disturbed == 0)
        health_add(m, OVERVIEW_GOOD, "machine", "steady beside all %zu measurements", slow.probed);
    else
        health_add(m,
                   (double)slow.disturbed > HEALTH_SLOW_BAD * (double)slow.probed ? OVERVIEW_BAD
                                                                                  : OVERVIEW_OPEN,
                   "machine", "slower beside %zu of %zu measurements, up to %.1f times",
                   slow.disturbed, slow.probed, slow.worst);
}

static void health_add_repeats(struct overview_making *m)
{
    struct machine_probe_repeats repeats;

    machine_probe_repeats_count(m->input->records, m->input->run, &repeats);
    if (repeats.left)
        health_add(m, OVERVIEW_OPEN, "neighbours", "%zu of %zu measurements stayed disturbed",
                   repeats.left, repeats.measured);
    else if (repeats.repeated)
        health_add(m, OVERVIEW_GOOD, "neighbours", "%zu of %zu measurements made again, all quiet",
                   repeats.repeated, repeats.measured);
}

/* Mean over the run's measurements of what was read beside them; NaN where nothing was. */
static double health_mean(const struct overview_making *m, const char *name)
{
    const struct records *r = m->input->records;
    double sum = 0, nr = 0;

    for (size_t i = 0; i < r->nr; i++) {
        double value =
            r->items[i].run == m->input->run ? measurement_telemetry(&r->items[i].m, name) : NAN;
        if (isnan(value))
            continue;
        sum += value;
        nr++;
    }
    return nr > 0 ? sum / nr : NAN;
}

static void health_add_load(struct overview_making *m)
{
    double load = health_mean(m, "load1"), steal = health_mean(m, "steal_percent");
    int threads = m->head->machine.threads;
    /* The benchmarks are a part of the load: as many threads as there are are no neighbours. */
    enum overview_tone tone =
        threads > 0 && load > 1.5 * threads + 0.5 ? OVERVIEW_OPEN : OVERVIEW_GOOD;

    if (!isnan(load))
        health_add(m, tone, "load", "%.1f on %d processor%s", load, threads,
                   threads == 1 ? "" : "s");
    if (steal > HEALTH_STEAL_GOOD)
        health_add(m, health_tone(steal, HEALTH_STEAL_GOOD, HEALTH_STEAL_BAD), "host",
                   "took %.1f %% of the time away", steal);
}

static void health_add_throttling(struct overview_making *m)
{
    static const struct {
        const char *name, *words;
    } reasons[] = {
        { "gpu_throttle_thermal", "heat" },
        { "gpu_throttle_power", "its power limit" },
        { "gpu_throttle_hw", "its hardware" },
    };
    bool looked = false, held = false;

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        double share = health_mean(m, reasons[i].name);
        looked |= !isnan(share);
        if (!(share > 0))
            continue;
        held = true;
        health_add(m, share > HEALTH_THROTTLE_BAD ? OVERVIEW_BAD : OVERVIEW_OPEN, "clocks",
                   "held back by %s in %.0f %% of the looks", reasons[i].words, 100 * share);
    }
    if (looked && !held)
        health_add(m, OVERVIEW_GOOD, "clocks", "the GPU was never held back");
}

static void health_add_governor(struct overview_making *m)
{
    struct cJSON *environment = cJSON_Parse(m->head->environment ? m->head->environment : "{}");
    const char *governor = json_string(environment, "governor", "");

    if (*governor)
        health_add(m, strcmp(governor, "performance") == 0 ? OVERVIEW_GOOD : OVERVIEW_OPEN,
                   "governor", "%.40s", governor);
    cJSON_Delete(environment);
}

static void health_add_environment(struct overview_making *m)
{
    const struct run *base = m->input->base;
    struct strbuf what;

    if (!m->input->comparison || !base)
        return;
    strbuf_init(&what);
    int nr = epoch_difference(base, m->head, &what);
    if (nr)
        health_add(m, OVERVIEW_OPEN, "environment", "differ from the base's: %.200s", what.data);
    strbuf_release(&what);
}

static void health_add_failures(struct overview_making *m)
{
    size_t outcomes[OUTCOME_NR] = { 0 };

    for (size_t i = 0; i < m->rows.nr; i++)
        outcomes[m->rows.items[i].outcome]++;
    if (outcomes[OUTCOME_WRONG] + outcomes[OUTCOME_FAILED])
        health_add(m, OVERVIEW_BAD, "results", "%zu wrong and %zu failed of %zu benchmarks",
                   outcomes[OUTCOME_WRONG], outcomes[OUTCOME_FAILED], m->rows.nr);
}

void overview_add_health(struct overview_making *m)
{
    health_add_noise(m);
    health_add_machine(m);
    health_add_repeats(m);
    health_add_load(m);
    health_add_throttling(m);
    health_add_governor(m);
    health_add_environment(m);
    health_add_failures(m);
}
