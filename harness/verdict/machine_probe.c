/* SPDX-License-Identifier: MIT */
#include "verdict/machine_probe.h"

#include "base/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* Of a run by itself, whichever probe it had. */
static double probe_of(const struct measurement *m)
{
    double probe = measurement_telemetry(m, TELEMETRY_MACHINE);

    return isnan(probe) ? measurement_telemetry(m, TELEMETRY_MACHINE_OLD) : probe;
}

static bool has_telemetry(const struct records *records, const char *name)
{
    for (size_t i = 0; i < records->nr; i++)
        if (!isnan(measurement_telemetry(&records->items[i].m, name)))
            return true;
    return false;
}

void machine_probe_find_slow(const struct records *records, int run, struct slow_machine *d)
{
    double *probes = memory_zeroed(records->nr + 1, sizeof(*probes));

    *d = (struct slow_machine) { .worst = NAN };
    for (size_t i = 0; i < records->nr; i++) {
        const struct record *r = &records->items[i];
        double probe = r->run == run ? probe_of(&r->m) : NAN;
        if (probe > 0)
            probes[d->probed++] = probe;
    }
    stats_sort(probes, d->probed);
    double quiet = probes[d->probed / 10];
    for (size_t i = 0; i < d->probed; i++)
        d->disturbed += probes[i] > MACHINE_PROBE_LIMIT * quiet;
    if (d->probed > 0)
        d->worst = probes[d->probed - 1] / quiet;
    free(probes);
}

const char *machine_probe_name(const struct records *base, const struct records *head)
{
    return has_telemetry(base, TELEMETRY_MACHINE) && has_telemetry(head, TELEMETRY_MACHINE)
               ? TELEMETRY_MACHINE
               : TELEMETRY_MACHINE_OLD;
}

double machine_probe_time(const struct measurement *m, const char *probe_name)
{
    double probe = measurement_telemetry(m, probe_name);
    double waited = measurement_telemetry(m, "waited_percent") / 100;
    double switches = measurement_telemetry(m, "involuntary_switches");
    bool hit = switches * MACHINE_PROBE_HITS >= (double)m->nr_samples;

    return waited > 0 && hit ? probe * (1 + waited) : probe;
}

static size_t telemetry_count(const struct measurement *m, const char *name)
{
    double value = measurement_telemetry(m, name);

    return value > 0 && value < 1e9 ? (size_t)value : 0;
}

void machine_probe_repeats_count(const struct records *records, int run,
                                 struct machine_probe_repeats *r)
{
    *r = (struct machine_probe_repeats) { .measured = 0 };
    for (size_t i = 0; i < records->nr; i++) {
        const struct measurement *m = &records->items[i].m;
        if (run >= 0 && records->items[i].run != run)
            continue;
        r->measured += probe_of(m) > 0;
        r->repeated += telemetry_count(m, "repeats") > 0;
        r->tries += telemetry_count(m, "repeats");
        r->machine += telemetry_count(m, "repeats_machine");
        r->waited += telemetry_count(m, "repeats_waited");
        r->stolen += telemetry_count(m, "repeats_stolen");
        r->left += measurement_telemetry(m, "disturbed_percent") > 0;
    }
}

void machine_probe_repeats_words(const struct machine_probe_repeats *r, struct strbuf *out)
{
    const struct {
        size_t nr;
        const char *what;
    } parts[] = {
        { r->machine, "machine slower" },
        { r->waited, "waiting for a processor" },
        { r->stolen, "time stolen by the host" },
    };
    const char *before = " (";

    if (r->repeated > 0) {
        strbuf_addf(out, "%zu of %zu measurements were made again, %zu tr%s", r->repeated,
                    r->measured, r->tries, r->tries == 1 ? "y" : "ies");
        for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
            if (parts[i].nr == 0)
                continue;
            strbuf_addf(out, "%s%s %zu", before, parts[i].what, parts[i].nr);
            before = ", ";
        }
        strbuf_adds(out, *before == ',' ? ")" : "");
    }
    if (r->left > 0)
        strbuf_addf(out, "%s%zu%s stayed disturbed", r->repeated > 0 ? "; " : "", r->left,
                    r->repeated > 0 ? ""
                    : r->left == 1  ? " measurement"
                                    : " measurements");
}
