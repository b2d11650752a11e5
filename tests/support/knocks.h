/* SPDX-License-Identifier: MIT */
/*
 * Hard knocks: a test that does something bad to the harness says how often it did and how often
 * the harness held. `ctest -L reliability` prints all of them as a table, tests/reliability.
 */
#ifndef HARNESS_TESTS_KNOCKS_H
#define HARNESS_TESTS_KNOCKS_H

#include "stats/random.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char knocks_path[1024];

/* Forgets what an earlier test said; processes that this one starts do not. */
__attribute__((constructor)) static void knocks_begin(void)
{
    const char *path = getenv("HARNESS_KNOCKS");

    if (!path)
        return;
    snprintf(knocks_path, sizeof(knocks_path), "%s", path);
    unsetenv("HARNESS_KNOCKS");
    FILE *file = fopen(knocks_path, "w");
    if (file)
        fclose(file);
}

/* What was done, how often it held, how often it was done, and what holding means. Behind the
 * assertions that found it so. */
__attribute__((format(printf, 4, 5))) static inline void knock(const char *what, long held,
                                                               long times, const char *format, ...)
{
    char meaning[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(meaning, sizeof(meaning), format, arguments);
    va_end(arguments);
    printf("knock: %s: %ld of %ld: %s\n", what, held, times, meaning);
    FILE *file = knocks_path[0] ? fopen(knocks_path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s\t%ld\t%ld\t%s\n", what, held, times, meaning);
    fclose(file);
}

/* `times` times what $HARNESS_TRIALS says (default 1; 0.3 for a quick look), at least one. */
static inline long knock_times(long times)
{
    const char *text = getenv("HARNESS_TRIALS");
    double factor = text ? strtod(text, NULL) : 1;
    long scaled = (long)((double)times * factor + 0.5);

    return factor > 0 ? (scaled > 0 ? scaled : 1) : times;
}

/* Of random cases and moments: HARNESS_SEED, or the day's (UTC), so that who changes something
 * draws what CI draws, and tomorrow everybody draws anew; cases count on from it. It is told beside
 * the result. */
static inline uint64_t knock_seed(void)
{
    const char *given = getenv("HARNESS_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) / 86400 * 1000;

    printf("seed: HARNESS_SEED=%" PRIu64 "\n", seed);
    return seed;
}

#endif
