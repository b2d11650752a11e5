/* SPDX-License-Identifier: MIT */
/*
 * What a roof is, by its name: the name is its key, "bandwidth.L2", and says of which family it is.
 * machine/measured_roofs.h and measured_roofs_cuda.h tell how each is measured.
 */
#ifndef HARNESS_CORE_ROOF_NAME_H
#define HARNESS_CORE_ROOF_NAME_H

#include "core/number.h"
#include "core/record.h"

enum roof_quantity {
    ROOF_OTHER, /* of no family, and in a unit that none has */
    ROOF_RATE,  /* a second */
    ROOF_TIME,  /* ns */
    ROOF_SIZE,  /* bytes */
    ROOF_RATIO,
};

enum { ROOF_MEMBERS = 6 };

struct roof_family {
    const char *prefix;                /* "bandwidth." */
    const char *members[ROOF_MEMBERS]; /* "L1", ...: what devices have. NULL behind the last */
    const char *unit;                  /* "B/s" */
    enum roof_quantity quantity;
    enum better better; /* of two that were measured; BETTER_NONE: it is as it is */
};

/* May a device have a roof of this name? */
bool roof_is_name(const char *name);
/* The unit of its family; "": it is of none. */
const char *roof_unit(const char *name);
/* Never NULL. */
const struct roof_family *roof_family_of(const struct roof *c);

#endif
