/* SPDX-License-Identifier: MIT */
#include "metrics/metric.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "metrics/metric_limit.h"
#include "metrics/metric_own.h"
#include "metrics/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct interval no_interval = { NAN, NAN };

static void derive_sd(const struct metric_input *in, struct metric_value *value);

/* What the program that measured said of samples that it did not hand over: "summary_p95_ns". */
static double metric_stated(const struct measurement *m, const char *what)
{
    char name[64];

    snprintf(name, sizeof(name), "summary_%s", what);
    return measurement_telemetry(m, name);
}

/* Only its median, or mean, is known, and stands as one sample. True: this statistic is what was
 * said of it, or not known; the one sample says nothing of it. */
static bool derive_stated(const struct metric_input *in, struct metric_value *value)
{
    static const char *const marks[] = { "mean_ns", "std_ns", "min_ns", "max_ns", "p95_ns" };
    const struct summary *s = in->s;
    char what[32];
    bool stated = false;

    if (in->metric->kind != METRIC_LATENCY || s->n != 1 || s->nr_of != 1)
        return false;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        stated |= !isnan(metric_stated(s->m, marks[i]));
    if (!stated || strcmp(in->metric->id, "p50") == 0)
        return false;
    snprintf(what, sizeof(what), "%s_ns", in->metric->derive == derive_sd ? "std" : in->metric->id);
    value->value = metric_stated(s->m, what);
    return true;
}

static void derive_extreme(const struct metric_input *in, struct metric_value *value)
{
    if (in->s->n > 0)
        value->value = in->s->sorted[in->metric->p > 0 ? in->s->n - 1 : 0];
}

/* The launch-level interval is for the geometric mean of the launches; it is widened to hold the
 * pooled value that is displayed beside it. */
static struct interval metric_launch_interval(const double *launch_values, size_t nr, double value)
{
    struct interval i = summary_launch_interval(launch_values, nr, 0.95);

    return isnan(i.low) ? i : (struct interval) { fmin(i.low, value), fmax(i.high, value) };
}

static void derive_percentile(const struct metric_input *in, struct metric_value *value)
{
    value->value = stats_quantile(in->s->sorted, in->s->n, in->metric->p);
    value->few = in->s->n > 0 && in->s->n < stats_quantile_needs(in->metric->p, 0.95);
    if (in->metric->p == 0.5 && in->s->nr_launches >= SUMMARY_LAUNCHES_MIN)
        value->interval = metric_launch_interval(in->s->medians, in->s->nr_launches, value->value);
    else
        value->interval = stats_quantile_interval(in->s->sorted, in->s->n, in->metric->p, 0.95);
}

static void derive_mean(const struct metric_input *in, struct metric_value *value)
{
    value->value = in->s->mean;
    if (in->s->nr_launches >= SUMMARY_LAUNCHES_MIN)
        value->interval = metric_launch_interval(in->s->means, in->s->nr_launches, in->s->mean);
    else
        value->interval = stats_mean_interval(in->s->sorted, in->s->n, 0.95);
}

static void derive_sd(const struct metric_input *in, struct metric_value *value)
{
    value->value = in->s->sd;
}

static void derive_count(const struct metric_input *in, struct metric_value *value)
{
    double stated = in->s->n == 1 ? metric_stated(in->s->m, "samples") : NAN;

    value->value = isnan(stated) ? (double)in->s->n : stated;
}

static double metric_flops(const struct measurement *m)
{
    return m->flops;
}

static double metric_bytes(const struct measurement *m)
{
    return m->bytes;
}

/* Times 1e9: over ns that is tokens per second. */
static double metric_tokens(const struct measurement *m)
{
    return 1e9 * m->tokens;
}

/* Work over median latency. Work per ns is giga-work per second. */
static void metric_rate(const struct summary *s, double work, struct metric_value *value)
{
    struct metric_value time = metric_get("p50", s, NULL);

    if (!(work > 0 && time.value > 0))
        return;
    value->value = work / time.value;
    value->interval = (struct interval) { work / time.interval.high, work / time.interval.low };
    value->few = time.few;
}

/* Tokens that nobody counted, and a rate that the program which measured said, stand as it said. */
static void derive_rate(const struct metric_input *in, struct metric_value *value)
{
    double stated = measurement_telemetry(in->s->m, "tokens_per_second");
    double work = in->metric->work(in->s->m);

    metric_rate(in->s, work, value);
    if (!(work > 0) && in->metric->work == metric_tokens && stated > 0)
        value->value = stated;
}

static void derive_intensity(const struct metric_input *in, struct metric_value *value)
{
    if (in->s->m->flops > 0 && in->s->m->bytes > 0)
        value->value = in->s->m->flops / in->s->m->bytes;
}

static void derive_roof(const struct metric_input *in, struct metric_value *value)
{
    struct binding_roof roof;

    binding_roof_of(in->s->m, stats_quantile(in->s->sorted, in->s->n, 0.5), in->context, &roof);
    value->above_roof = roof.above_roof;
    metric_rate(in->s, roof.roof_ns, value);
}

static void derive_error(const struct metric_input *in, struct metric_value *value)
{
    value->value = in->s->m->max_error;
}

static void derive_telemetry(const struct metric_input *in, struct metric_value *value)
{
    value->value = measurement_telemetry(in->s->m, in->metric->id);
}

/* Mean power of the GPU while it was sampled, by its energy counter if that moved. */
static double metric_gpu_watts(const struct measurement *m)
{
    double joules = measurement_telemetry(m, "gpu_energy_joules");
    double seconds = measurement_telemetry(m, "sampled_seconds");

    return joules > 0 && seconds > 0 ? joules / seconds
                                     : measurement_telemetry(m, "gpu_power_watts");
}

/* Of the processor where no GPU took part: all of its package, idle cores too. */
static void derive_joules(const struct metric_input *in, struct metric_value *value)
{
    double gpu = metric_gpu_watts(in->s->m);
    double watts = isnan(gpu) ? measurement_telemetry(in->s->m, "package_watts") : gpu;

    value->value = watts * stats_quantile(in->s->sorted, in->s->n, 0.5) * 1e-9;
}

/* ---- what is counted ---- */

static double metric_memory(const struct measurement *m)
{
    static const char *const names[] = { "device_memory_peak_bytes", "command_max_rss_bytes",
                                         "peak_rss_bytes" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        double bytes = measurement_telemetry(m, names[i]);
        if (bytes > 0)
            return bytes;
    }
    return NAN;
}

static double metric_instructions(const struct measurement *m)
{
    return measurement_telemetry(m, "instructions");
}

static double metric_cycles(const struct measurement *m)
{
    return measurement_telemetry(m, "cycles");
}

static double metric_cache_misses(const struct measurement *m)
{
    return measurement_telemetry(m, "cache_misses");
}

static double metric_first_token(const struct measurement *m)
{
    return measurement_telemetry(m, "first_token_ns");
}

static double metric_second_token(const struct measurement *m)
{
    return measurement_telemetry(m, "second_token_ns");
}

static double metric_further_token(const struct measurement *m)
{
    return measurement_telemetry(m, "further_token_ns");
}

static double metric_branch_misses(const struct measurement *m)
{
    return measurement_telemetry(m, "branch_misses");
}

/* The median of the launches that have it. */
static void derive_counted(const struct metric_input *in, struct metric_value *value)
{
    const struct summary *s = in->s;
    double *counts = memory_zeroed(s->nr_of + 1, sizeof(*counts));
    size_t nr = 0, last = SIZE_MAX;

    for (size_t i = 0; i < s->nr_of; i++) {
        double count = in->metric->read(s->of[i].m);
        if (s->of[i].launch != last && !isnan(count)) {
            counts[nr++] = count;
            last = s->of[i].launch;
        }
    }
    if (nr > 0)
        value->value = stats_median(counts, nr);
    value->interval = metric_launch_interval(counts, nr, value->value);
    free(counts);
}

/* clang-format off */
#define LATENCY(id_, label_, derive_, p_)                                                          \
    { .id = (id_), .label = (label_), .unit = "ns", .direction = LOWER_IS_BETTER,                  \
      .kind = METRIC_LATENCY, .quantity = QUANTITY_TIME, .base = "", .factor = 1, .p = (p_),       \
      .derive = (derive_) }
#define RATE(id_, label_, unit_, base_, factor_, work_)                                            \
    { .id = (id_), .label = (label_), .unit = (unit_), .direction = HIGHER_IS_BETTER,              \
      .kind = METRIC_RATE, .quantity = QUANTITY_RATE, .base = (base_), .factor = (factor_),        \
      .work = (work_), .derive = derive_rate }
#define FACT(id_, label_, unit_, derive_)                                                          \
    { .id = (id_), .label = (label_), .unit = (unit_), .direction = NO_DIRECTION,                  \
      .kind = METRIC_FACT, .base = (unit_), .factor = 1, .derive = (derive_) }
#define COUNTED(id_, label_, unit_, quantity_, floor_, of_code_, read_)                            \
    { .id = (id_), .label = (label_), .unit = (unit_), .direction = LOWER_IS_BETTER,               \
      .kind = METRIC_FACT, .quantity = (quantity_), .base = (quantity_) ? "" : (unit_),            \
      .factor = 1, .floor = (floor_), .of_code = (of_code_), .read = (read_),                      \
      .derive = derive_counted }
#define BYTES(id_, label_)                                                                         \
    { .id = (id_), .label = (label_), .unit = "B", .direction = NO_DIRECTION,                      \
      .kind = METRIC_FACT, .quantity = QUANTITY_BYTES, .base = "", .factor = 1,                    \
      .derive = derive_telemetry }

static const struct metric metrics[] = {
    LATENCY("min", "fastest sample", derive_extreme, 0),
    LATENCY("p5", "5th percentile", derive_percentile, 0.05),
    LATENCY("p25", "lower quartile", derive_percentile, 0.25),
    LATENCY("p50", "median latency", derive_percentile, 0.5),
    LATENCY("p75", "upper quartile", derive_percentile, 0.75),
    LATENCY("p90", "90th percentile", derive_percentile, 0.9),
    LATENCY("p95", "95th percentile", derive_percentile, 0.95),
    LATENCY("p99", "99th percentile", derive_percentile, 0.99),
    LATENCY("max", "slowest sample", derive_extreme, 1),
    LATENCY("mean", "mean latency", derive_mean, 0),
    LATENCY("sd", "standard deviation", derive_sd, 0),
    FACT("n", "samples", "samples", derive_count),
    RATE("gflops", "compute rate", "GFLOP/s", "FLOP/s", 1e9, metric_flops),
    RATE("gbs", "memory rate", "GB/s", "B/s", 1e9, metric_bytes),
    RATE("tokens", "token rate", "tokens/s", " tokens/s", 1, metric_tokens),
    { .id = "roof", .label = "share of roof", .unit = "fraction", .direction = HIGHER_IS_BETTER,
      .kind = METRIC_RATE, .quantity = QUANTITY_SHARE, .base = "", .factor = 1,
      .derive = derive_roof },
    FACT("intensity", "arithmetic intensity", "FLOP/byte", derive_intensity),
    FACT("error", "largest error", "rms", derive_error),
    FACT("weights_error", "largest error with that of rounded weights", "rms", derive_telemetry),
    FACT("cpu_mhz", "processor clock", "MHz", derive_telemetry),
    FACT("steal_percent", "time stolen by the host", "%", derive_telemetry),
    FACT("load1", "load average", "processes", derive_telemetry),
    FACT("major_faults", "page faults with I/O", "faults", derive_telemetry),
    FACT("minor_faults", "page faults", "faults", derive_telemetry),
    FACT("involuntary_switches", "preemptions", "switches", derive_telemetry),
    FACT("temperature_celsius", "temperature", "°C", derive_telemetry),
    FACT("package_watts", "processor power", "W", derive_telemetry),
    { .id = "joules", .label = "energy of a launch", .unit = "J", .direction = LOWER_IS_BETTER,
      .kind = METRIC_FACT, .base = "J", .factor = 1, .floor = 0.05, .derive = derive_joules },
    COUNTED("memory", "peak memory", "B", QUANTITY_BYTES, 0.02, true, metric_memory),
    COUNTED("instructions", "instructions", "", QUANTITY_PLAIN, 0.005, true, metric_instructions),
    COUNTED("cycles", "processor cycles", "", QUANTITY_PLAIN, 0.02, false, metric_cycles),
    COUNTED("cache_misses", "cache misses", "", QUANTITY_PLAIN, 0.1, false, metric_cache_misses),
    COUNTED("branch_misses", "mispredicted branches", "", QUANTITY_PLAIN, 0.1, false,
            metric_branch_misses),
    FACT("gpu_power_watts", "GPU power", "W", derive_telemetry),
    FACT("gpu_sm_mhz", "GPU clock", "MHz", derive_telemetry),
    FACT("gpu_memory_mhz", "GPU memory clock", "MHz", derive_telemetry),
    FACT("gpu_temperature_celsius", "GPU temperature", "°C", derive_telemetry),
    FACT("gpu_throttle_power", "clocks held by power", "share", derive_telemetry),
    FACT("gpu_throttle_thermal", "clocks held by heat", "share", derive_telemetry),
    BYTES("device_memory_peak_bytes", "device memory"),
    COUNTED("first_token", "time to the first token", "ns", QUANTITY_TIME, 0.02, false,
            metric_first_token),
    COUNTED("second_token", "second token behind the first", "ns", QUANTITY_TIME, 0.02, false,
            metric_second_token),
    COUNTED("further_token", "each further token", "ns", QUANTITY_TIME, 0.02, false,
            metric_further_token),
    FACT("command_user_ms", "processor time of a program", "ms", derive_telemetry),
    FACT("command_system_ms", "system time of a program", "ms", derive_telemetry),
    BYTES("command_max_rss_bytes", "memory of a program"),
    FACT("empty_call_ns", "call of an empty Python function", "ns", derive_telemetry),
};
/* clang-format on */

enum { NR_METRICS = sizeof(metrics) / sizeof(*metrics) };

static const struct {
    const char *alias, *id;
} aliases[] = {
    { "median", "p50" },
    { "stddev", "sd" },
};

const struct metric *metric_at(size_t i)
{
    return i < NR_METRICS ? &metrics[i] : metric_own_at(i - NR_METRICS);
}

/* All ids, NULL-ended; free() it. */
static const char **metric_ids(void)
{
    const struct metric *m;
    size_t nr = 0;

    while (metric_at(nr))
        nr++;
    const char **ids = memory_zeroed(nr + 1, sizeof(*ids));
    for (size_t i = 0; i < nr && (m = metric_at(i)); i++)
        ids[i] = m->id;
    return ids;
}

static int metric_unknown(const char *id, struct error *err)
{
    if (metric_limit_lacks(id))
        return error_set(err,
                         "metric '%s' needs a limit, a whole number of ns, us, ms or s: "
                         "goodput_5ms, within_250us, good_2s",
                         id);
    const char **ids = metric_ids();
    const char *nearest = text_nearest(id, ids);
    struct strbuf list;

    strbuf_init(&list);
    for (size_t i = 0; ids[i]; i++)
        strbuf_addf(&list, "%s%s", i ? ", " : "", ids[i]);
    if (nearest)
        error_set(err, "unknown metric '%s'; did you mean '%s'?", id, nearest);
    else
        error_set(err, "unknown metric '%s'; there are %s", id, list.data);
    strbuf_release(&list);
    free(ids);
    return -1;
}

const struct metric *metric_find(const char *id, struct error *err)
{
    const struct metric *m;

    for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
        if (strcmp(id, aliases[i].alias) == 0)
            id = aliases[i].id;
    for (size_t i = 0; (m = metric_at(i)); i++)
        if (strcmp(id, m->id) == 0)
            return m;
    m = metric_limit_find(id);
    if (!m && err)
        metric_unknown(id, err);
    return m;
}

bool metric_needs_telemetry(const struct metric *metric)
{
    bool stated = metric->kind == METRIC_LATENCY && strcmp(metric->id, "p50") != 0;

    stated |= metric->work == metric_tokens; /* see derive_rate() */
    return stated || (metric->kind == METRIC_FACT && !metric->number);
}

struct metric_value metric_value(const struct metric *metric, const struct summary *s,
                                 const struct metric_context *context)
{
    static const struct metric_context nothing = { 0 };
    struct metric_value value = { .value = NAN, .interval = no_interval };

    struct metric_input in = { metric, s, context ? context : &nothing };
    if (!derive_stated(&in, &value))
        metric->derive(&in, &value);
    return value;
}

struct metric_value metric_get(const char *id, const struct summary *s,
                               const struct metric_context *context)
{
    const struct metric *metric = metric_find(id, NULL);
    struct metric_value nothing = { .value = NAN, .interval = no_interval };

    return metric ? metric_value(metric, s, context) : nothing;
}

/* The machine that the roofs are of. */
static const char *metric_roofs_machine(const struct records *records)
{
    const struct run *newest = &records->runs[0];

    if (records->roofs_of[0])
        return records->roofs_of;
    for (size_t i = 1; i < records->nr_runs; i++)
        if (records->runs[i].started_ms > newest->started_ms)
            newest = &records->runs[i];
    return newest->machine.id;
}

struct metric_context metric_context_of(const struct records *records, int run)
{
    const struct run *own = &records->runs[run];
    struct metric_context context = { .machine = &own->machine };

    if (records->nr_roofs && strcmp(own->machine.id, metric_roofs_machine(records)) == 0) {
        context.roofs = records->roofs;
        context.nr_roofs = records->nr_roofs;
    }
    return context;
}
