/* SPDX-License-Identifier: MIT */
/* A slow-down to plant: EXAMPLE_WORK=4 in the environment does everything four times. */
#ifndef EXAMPLE_WORK_H
#define EXAMPLE_WORK_H

#include <cstdlib>

static inline int example_work()
{
    const char *text = std::getenv("EXAMPLE_WORK");
    return text ? std::atoi(text) : 1;
}

#endif
