/* SPDX-License-Identifier: MIT */
#include "device/memory_placement.h"

#include "stats/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>

void placement_draw(char text[PLACEMENT_SIZE])
{
    struct random r;

    random_seed(&r, random_fresh_seed());
    size_t heap = PLACEMENT_STEP * (1 + (size_t)random_below(&r, PLACEMENT_PAGE / PLACEMENT_STEP));
    size_t stack = PLACEMENT_STEP * (size_t)random_below(&r, PLACEMENT_PAGE / PLACEMENT_STEP);
    int length = snprintf(text, PLACEMENT_SIZE, "%s=%04zu.", PLACEMENT_VARIABLE, heap);

    memset(text + length, 'x', stack);
    text[(size_t)length + stack] = '\0';
}

bool placement_is_fresh(void)
{
    return getenv(PLACEMENT_VARIABLE) != NULL;
}

void *placement_take(void)
{
    const char *text = getenv(PLACEMENT_VARIABLE);
    long bytes = text ? strtol(text, NULL, 10) : 0;

    return bytes > 0 && bytes <= PLACEMENT_PAGE ? malloc((size_t)bytes) : NULL;
}

void placement_fix(void)
{
    int now = personality(0xffffffff);

    if (now >= 0)
        personality((unsigned long)now | ADDR_NO_RANDOMIZE);
}
