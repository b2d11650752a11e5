/* SPDX-License-Identifier: MIT */
#include "gputrace/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    char letter;
    double factor;
} prefixes[] = {
    { 'n', 1e-9 }, { 'u', 1e-6 }, { 'm', 1e-3 }, { 'K', 1e3 },  { 'k', 1e3 },
    { 'M', 1e6 },  { 'G', 1e9 },  { 'T', 1e12 }, { 'P', 1e15 },
};

/* The units that take prefixes, and how they are written here. */
static const struct {
    const char *name, *plain;
} bases[] = {
    { "second", "s" },      { "sec", "s" },           { "s", "s" },
    { "byte", "byte" },     { "hz", "Hz" },           { "Hz", "Hz" },
    { "inst", "inst" },     { "cycle", "cycle" },     { "flop", "flop" },
    { "sector", "sector" }, { "request", "request" }, { "warp", "warp" },
};

static const char *base_of(const char *name)
{
    for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++)
        if (strcmp(bases[i].name, name) == 0)
            return bases[i].plain;
    return NULL;
}

/* One side of the slash. */
static double unit_part(const char *name, const char **plain)
{
    *plain = base_of(name);
    if (*plain)
        return 1;
    for (size_t i = 0; *name && i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        *plain = name[0] == prefixes[i].letter ? base_of(name + 1) : NULL;
        if (*plain)
            return prefixes[i].factor;
    }
    *plain = name;
    return 1;
}

/* Powers of ten from 1 on are whole numbers; those below are not exact, nor are quotients by them.
 */
static double whole_unit(double factor)
{
    return factor > 1 ? rint(factor) : factor;
}

double counter_unit(const char *unit, char plain[COUNTER_UNIT_SIZE])
{
    char above[COUNTER_UNIT_SIZE];
    const char *slash = strchr(unit, '/'), *first, *second;

    snprintf(above, sizeof(above), "%s", unit);
    above[strcspn(above, "/")] = '\0';
    double factor = unit_part(above, &first);
    if (!slash) {
        bool time = strcmp(first, "s") == 0;
        snprintf(plain, COUNTER_UNIT_SIZE, "%s", time ? "ns" : first);
        return time ? whole_unit(factor * 1e9) : factor;
    }
    factor /= unit_part(slash + 1, &second);
    snprintf(plain, COUNTER_UNIT_SIZE, "%.20s/%.20s", first, second);
    return whole_unit(factor);
}
