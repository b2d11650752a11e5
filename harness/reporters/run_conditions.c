/* SPDX-License-Identifier: MIT */
#include "reporters/run_conditions.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

/* Of whoever asked for a limit, or where that was met; launches of one benchmark may differ. */
static void conditions_add_warm_up(const struct records *records, int run, const cJSON *settings,
                                   struct strbuf *out)
{
    const cJSON *sampling = cJSON_GetObjectItemCaseSensitive(settings, "sampling");
    double longest = 0, unsettled = 0;
    size_t nr = 0, met = 0;

    for (size_t i = 0; i < records->nr; i++) {
        const struct measurement *m = &records->items[i].m;
        double seconds = measurement_telemetry(m, TELEMETRY_WARM_UP);
        bool settled = measurement_telemetry(m, TELEMETRY_SETTLED) > 0;
        if (records->items[i].run != run || isnan(seconds))
            continue;
        nr++;
        met += !settled;
        longest = settled ? fmax(longest, seconds) : longest;
        unsettled = settled ? unsettled : fmax(unsettled, seconds);
    }
    if (nr == 0 || !cJSON_HasObjectItem(sampling, "warmup_limit"))
        return;
    if (met < nr)
        strbuf_addf(out, "warm-up %.2g s at most, settled%s", longest, met ? ";" : "\n");
    if (met > 0)
        strbuf_addf(out, "%s%zu of %zu not settled after %.2g s (limit)\n",
                    met < nr ? " " : "warm-up: ", met, nr, unsettled);
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
