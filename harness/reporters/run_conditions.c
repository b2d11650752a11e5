/* SPDX-License-Identifier: MIT */
#include "reporters/run_table.h"

#include "base/json.h"
#include "core/device_label.h"

#include <math.h>
#include <string.h>

/* How warm-up ended, in measurements; launches of one benchmark may differ. */
struct warm_ups {
    size_t settled, unsettled, unknown;
    double longest, limit; /* s: of those that settled, and of the others */
};

/* A program's caches are the system's: its warm-up has no option, and is left out. */
static void count_warm_ups(const struct records *records, int run, struct warm_ups *w)
{
    *w = (struct warm_ups) { 0 };
    for (size_t i = 0; i < records->nr; i++) {
        const struct measurement *m = &records->items[i].m;
        double seconds = measurement_telemetry(m, TELEMETRY_WARM_UP);
        double settled = measurement_telemetry(m, TELEMETRY_SETTLED);
        if (records->items[i].run != run || isnan(seconds) ||
            device_label_of(m->bench.device).kind == DEVICE_PROCESS)
            continue;
        w->settled += settled > 0;
        w->unsettled += settled <= 0;
        w->unknown += isnan(settled) != 0;
        if (settled > 0)
            w->longest = fmax(w->longest, seconds);
        else
            w->limit = fmax(w->limit, seconds);
    }
}

/* That it did not settle is told to all, the rest to whoever asked for a limit. */
static void conditions_add_warm_up(const struct records *records, int run, const cJSON *settings,
                                   struct strbuf *out)
{
    const cJSON *sampling = cJSON_GetObjectItemCaseSensitive(settings, "sampling");
    bool asked = cJSON_HasObjectItem(sampling, "warmup_limit");
    struct warm_ups w;

    count_warm_ups(records, run, &w);
    size_t nr = w.settled + w.unsettled + w.unknown, start = out->length;
    if (asked && w.settled > 0)
        strbuf_addf(out, "warm-up %.2g s at most, settled", w.longest);
    if (w.unsettled > 0)
        strbuf_addf(out, "%s%zu of %zu not settled after %.2g s (limit)",
                    out->length > start ? "; " : "warm-up: ", w.unsettled, nr, w.limit);
    if (asked && w.unknown > 0)
        strbuf_addf(out, "%s%zu of %zu too long to be told within %.2g s (limit)",
                    out->length > start ? "; " : "warm-up: ", w.unknown, nr, w.limit);
    if (!asked && w.unsettled > 0)
        strbuf_adds(out, ": --warm-up 1s gives it longer");
    if (out->length > start)
        strbuf_addc(out, '\n');
}

/* What held the clock and what was only recorded, of whoever asked. */
static void conditions_add_clock(const struct records *records, int run, const cJSON *settings,
                                 struct strbuf *out)
{
    const cJSON *clock = cJSON_GetObjectItemCaseSensitive(settings, "clock");
    double low = INFINITY, high = 0, strayed = 0, windows = 0, again = 0;

    for (size_t i = 0; i < records->nr; i++) {
        const struct measurement *m = &records->items[i].m;
        double mhz = measurement_telemetry(m, TELEMETRY_CLOCK);
        if (records->items[i].run != run || isnan(mhz))
            continue;
        low = fmin(low, mhz);
        high = fmax(high, mhz);
        strayed = fmax(strayed, measurement_telemetry(m, TELEMETRY_CLOCK_STRAYED));
        windows += measurement_telemetry(m, TELEMETRY_CLOCK_WINDOWS);
        again += measurement_telemetry(m, TELEMETRY_CLOCK_AGAIN);
    }
    if (!clock)
        return;
    strbuf_addf(out, "clock: %s", json_string(clock, "mode", ""));
    if (high > 0 && high - low <= 0.01 * low)
        strbuf_addf(out, ", %.2f GHz ±%.1f %%", high * 1e-3, strayed);
    else if (high > 0)
        strbuf_addf(out, ", each benchmark ±%.1f %% of one from %.2f to %.2f GHz", strayed,
                    low * 1e-3, high * 1e-3);
    strbuf_addf(out, ", %s (%s)",
                json_bool(clock, "held", false)  ? "held"
                : json_bool(clock, "seen", true) ? "recorded, not held"
                                                 : "neither held nor seen",
                json_string(clock, "how", ""));
    if (windows > 0)
        strbuf_addf(out, "; %.0f of %.0f windows measured again", again, windows);
    strbuf_addc(out, '\n');
}

void run_conditions(const struct records *records, int run, struct strbuf *out)
{
    const char *text = records->runs[run].settings;
    struct error ignored; /* settings that are none say nothing */
    cJSON *settings = text ? json_parse(text, strlen(text), "settings", &ignored) : NULL;

    conditions_add_warm_up(records, run, settings, out);
    conditions_add_clock(records, run, settings, out);
    cJSON_Delete(settings);
}
