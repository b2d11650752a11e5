/* SPDX-License-Identifier: MIT */
extern "C" {
#include "activity/counters.h"
}

#ifndef HARNESS_HAVE_CUPTI

static int absent(struct error *err)
{
    return error_set(err, "counters: CUDA's headers (CUPTI) were not found when this was built");
}

int counters_passes(const char *, const char *const *, size_t, size_t *, struct error *err)
{
    return absent(err);
}

int counters_describe(const char *, const char *, char *, size_t, struct error *err)
{
    return absent(err);
}

int counters_start(struct counters_session **, int, const char *const *, size_t, size_t,
                   struct error *err)
{
    return absent(err);
}

int counters_stop(struct counters_session *, struct counter_list *, struct error *err)
{
    return absent(err);
}

#else

#include "activity/counters_parts.h"

#include <cstdio>

int counters_passes(const char *chip, const char *const *metrics, size_t nr, size_t *passes,
                    struct error *err)
{
    opened cupti;
    host half(cupti.library);
    std::vector<const char *> names(metrics, metrics + nr);

    if (cupti.open(err) || half.open(chip, {}, err) || half.add(names, err))
        return -1;
    return half.passes(passes, err);
}

int counters_describe(const char *chip, const char *metric, char *text, size_t size,
                      struct error *err)
{
    opened cupti;
    host half(cupti.library);
    std::string words;

    if (cupti.open(err) || half.open(chip, {}, err) || half.describe(metric, &words, err))
        return -1;
    std::snprintf(text, size, "%s", words.c_str());
    return 0;
}

#endif
