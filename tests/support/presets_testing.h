/* SPDX-License-Identifier: MIT */
/* The presets inside the binary, for groups of tests that draw them. */
#ifndef HARNESS_TESTS_PRESETS_TESTING_H
#define HARNESS_TESTS_PRESETS_TESTING_H

#include "testing.h"

#include "chart/presets.h"

static struct presets presets;

static inline int presets_setup(void **state)
{
    struct error err;

    return presets_load_embedded(&presets, &err);
}

static inline int presets_teardown(void **state)
{
    presets_release(&presets);
    return 0;
}

#endif
