/* SPDX-License-Identifier: MIT */
#include "machine/roof_fill.h"

#include "core/clock.h"
#include "core/device_label.h"
#include "core/roof_name.h"
#include "stats/stats.h"

#include <stdio.h>

struct roof_times roof_times_of(double *times, size_t nr)
{
    stats_sort(times, nr);
    return (struct roof_times) { .least = times[0],
                                 .quarter = stats_quantile(times, nr, 0.25),
                                 .most = times[nr - 1] };
}

void roof_begin(struct roof *c, const struct device *d, const char *name)
{
    *c = (struct roof) { .measured_ms = clock_epoch_ms() };
    snprintf(c->name, sizeof(c->name), "%s", name);
    device_label_hardware(d->label, c->device, sizeof(c->device));
    snprintf(c->unit, sizeof(c->unit), "%s", roof_unit(name));
}

void roof_init(struct roof *c, const struct device *d, const char *name, const char *unit)
{
    (void)unit;
    roof_begin(c, d, name);
}

void roof_set_rate(struct roof *c, double work, const struct roof_times *ns)
{
    c->value = work / ns->quarter * 1e9;
    c->low = work / ns->most * 1e9;
    c->high = work / ns->least * 1e9;
}

void roof_set_time(struct roof *c, const struct roof_times *ns)
{
    c->value = ns->quarter;
    c->low = ns->least;
    c->high = ns->most;
}

void roof_set_value(struct roof *c, double value)
{
    c->value = c->low = c->high = value;
}

void roof_raise(struct roof *c, const struct roof *other)
{
    if (other->value <= c->value)
        return;
    c->value = other->value;
    c->low = other->low;
    c->high = other->high;
}
