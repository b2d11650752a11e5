/* SPDX-License-Identifier: MIT */
#include "measure/steady.h"

#include <math.h>

static const double band = 0.01;      /* of the clock, to either side */
static const double window_ns = 10e6; /* of measured time */

int steady_begin(struct steady *s, const struct clock_eye *eye, double mhz, double lost,
                 struct error *err)
{
    if (eye && isnan(mhz))
        mhz = clock_look(eye).mhz;
    if (!eye || isnan(mhz))
        return error_set(err, "--clock steady: the clock of this device cannot be seen");
    *s = (struct steady) { .on = true, .eye = *eye, .most_lost_ns = lost * 1e9, .wanted = mhz };
    s->low = s->high = mhz;
    return 0;
}

static void keep_window(struct steady *s, double mhz)
{
    s->low = fmin(s->low, mhz);
    s->high = fmax(s->high, mhz);
    s->sum += mhz;
    s->kept++;
}

void steady_look(struct steady *s, bool now, size_t *nr, double *elapsed_ns)
{
    double spent = *elapsed_ns - s->from_ns;

    if (!s->on || *nr == s->from || (!now && spent < window_ns))
        return;
    s->last = clock_look(&s->eye).mhz;
    if (fabs(s->last - s->wanted) <= band * s->wanted) {
        keep_window(s, s->last);
        s->from = *nr;
        s->from_ns = *elapsed_ns;
        return;
    }
    s->again++;
    s->lost_ns += spent;
    *nr = s->from;
    *elapsed_ns = s->from_ns;
}

bool steady_is_lost(const struct steady *s)
{
    return s->on && s->lost_ns > s->most_lost_ns;
}

static void steady_tell(const struct steady *s, struct measurement *m)
{
    double mean = s->sum / s->kept;

    measurement_add_telemetry(m, TELEMETRY_CLOCK, mean);
    measurement_add_telemetry(m, TELEMETRY_CLOCK_STRAYED,
                              100 * fmax(s->high - mean, mean - s->low) / mean);
    measurement_add_telemetry(m, TELEMETRY_CLOCK_WINDOWS, s->kept + s->again);
    measurement_add_telemetry(m, TELEMETRY_CLOCK_AGAIN, s->again);
}

int steady_end(const struct steady *s, struct measurement *m, struct error *err)
{
    if (s->on && s->kept > 0)
        steady_tell(s, m);
    if (!steady_is_lost(s))
        return 0;
    return error_set(
        err,
        "--clock steady: the clock was beyond %.0f %% of %.0f MHz in %u of %u windows, "
        "last %.0f MHz; hold it (`harness doctor`), or measure with --clock free",
        100 * band, s->wanted, s->again, s->again + s->kept, s->last);
}
