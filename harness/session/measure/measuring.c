/* SPDX-License-Identifier: MIT */
#include "session/measure/measuring.h"

#include "base/clean.h"
#include "base/memory.h"
#include "process/counters.h"
#include "session/measure/workload.h"
#include "verdict/compare.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *clean_note(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

static char *clean_note(const char *format, va_list args)
{
    size_t size = clean_print(NULL, 0, format, args) + 1;
    char *text = memory_zeroed(size, 1);

    clean_print(text, size, format, args);
    return text;
}

void sink_note(const struct session_sink *sink, const char *format, ...)
{
    va_list args;

    if (!sink || !sink->note)
        return;
    va_start(args, format);
    char *text = clean_note(format, args);
    va_end(args);
    sink->note(sink->context, text);
    free(text);
}

void sink_progressed(const struct session_sink *sink)
{
    if (sink && sink->progressed)
        sink->progressed(sink->context);
}

static bool is_counted(const char *metric)
{
    for (int i = 0; i < COUNTER_NR; i++)
        if (strcmp(metric, counter_name((enum counter)i)) == 0)
            return true;
    return false;
}

int measuring_check_counted(const char *const *metrics, struct error *err)
{
    struct error why;

    for (const char *const *id = metrics; id && *id; id++)
        if (!is_counted(compare_asked_id(*id)))
            return 0;
    if (!metrics || !*metrics)
        return 0;
    struct counters *c = counters_open(COUNT_PROGRAMS, NULL, &why);
    if (!c)
        return error_set(err, "--metric %s cannot be measured here: %s", *metrics, why.message);
    counters_close(c);
    return 0;
}

struct launch_limits measuring_limits(const struct measuring *m)
{
    return (struct launch_limits) { .case_timeout = m->timeout > 0 ? m->timeout : MEASURING_TIMEOUT,
                                    .interrupted = m->interrupted };
}

struct measured_set measuring_set(const struct measuring *m, const struct workload *w,
                                  const char *device_spec)
{
    return (struct measured_set) {
        .device_spec = device_spec,
        .benchmarks = w->list.items,
        .nr = w->list.nr,
        .settings = { .sampling = w->suite.sampling,
                      .seed = (uint64_t)m->seed,
                      .memory_limit = m->memory_limit,
                      .guests = &w->guests },
        .limits = measuring_limits(m),
        .budget = m->budget,
        .once = m->no_repeat,
    };
}

bool measuring_interrupted(const struct measuring *m)
{
    return m->interrupted && *m->interrupted;
}

void measuring_build_begins(const void *measuring, const char *commit, const char *title)
{
    const struct measuring *m = measuring;

    sink_note(m->sink, "building %.7s %s\n", commit, title);
}
