/* SPDX-License-Identifier: MIT */
/*
 * Inside the counters' two C++ files: calling CUPTI's profiler, whose host header is C++, and its
 * half that needs no GPU.
 */
#ifndef HARNESS_ACTIVITY_COUNTERS_PARTS_H
#define HARNESS_ACTIVITY_COUNTERS_PARTS_H

extern "C" {
#include "activity/counters.h"
#include "activity/cupti_library.h"
}

#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>
#include <vector>

/* Calls a function of CUPTI by its name; its type comes from NVIDIA's header. */
template <class PARAMS>
inline int call(const cupti_library &library, const char *name, CUptiResult(CUPTIAPI *)(PARAMS *),
                PARAMS *params, struct error *err)
{
    using function = CUptiResult (*)(PARAMS *);
    auto f = reinterpret_cast<function>(cupti_library_symbol(&library, name));

    if (f == nullptr)
        return error_set(err, "counters: this CUPTI has no %s: 12.6 or newer is needed", name);
    CUptiResult code = f(params);
    return code == CUPTI_SUCCESS ? 0 : cupti_library_failed(&library, name, code, err);
}

/* The type comes from the declaration; nothing is linked. */
#define CALL(name, params) call(library, #name, static_cast<decltype(&name)>(nullptr), params, err)

template <class PARAMS> PARAMS sized(size_t size)
{
    PARAMS params = {};

    params.structSize = size;
    return params;
}

#define PARAMS(type) sized<type>(type##_STRUCT_SIZE)

/* The half without a GPU: which metrics, in how many passes. */
struct host {
    const cupti_library &library;
    CUpti_Profiler_Host_Object *object = nullptr;
    std::vector<uint8_t> config;

    explicit host(const cupti_library &l) : library(l)
    {
    }
    host(const host &) = delete;
    host &operator=(const host &) = delete;

    ~host()
    {
        struct error ignored, *err = &ignored;
        auto p = PARAMS(CUpti_Profiler_Host_Deinitialize_Params);

        p.pHostObject = object;
        if (object != nullptr)
            CALL(cuptiProfilerHostDeinitialize, &p);
    }

    /* `availability` is empty without a GPU. */
    int open(const char *chip, const std::vector<uint8_t> &availability, struct error *err)
    {
        auto p = PARAMS(CUpti_Profiler_Host_Initialize_Params);

        p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        p.pChipName = chip;
        p.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
        if (CALL(cuptiProfilerHostInitialize, &p))
            return error_prefix(err, "counters of chip %s", chip);
        object = p.pHostObject;
        return 0;
    }

    /* In one call: one by one, each would get passes of its own. */
    int add(std::vector<const char *> &metrics, struct error *err)
    {
        auto p = PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
        std::string ignored;

        p.pHostObject = object;
        p.ppMetricNames = metrics.data();
        p.numMetrics = metrics.size();
        if (CALL(cuptiProfilerHostConfigAddMetrics, &p) == 0)
            return image(err);
        /* It does not say which of them is wrong. */
        for (const char *metric : metrics)
            if (describe(metric, &ignored, err))
                return -1;
        return -1;
    }

    int image(struct error *err)
    {
        auto size = PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);

        size.pHostObject = object;
        if (CALL(cuptiProfilerHostGetConfigImageSize, &size))
            return -1;
        config.resize(size.configImageSize);
        auto p = PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
        p.pHostObject = object;
        p.configImageSize = config.size();
        p.pConfigImage = config.data();
        return CALL(cuptiProfilerHostGetConfigImage, &p);
    }

    int passes(size_t *nr, struct error *err)
    {
        auto p = PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);

        p.configImageSize = config.size();
        p.pConfigImage = config.data();
        if (CALL(cuptiProfilerHostGetNumOfPasses, &p))
            return -1;
        *nr = p.numOfPasses;
        return 0;
    }

    int describe(const char *metric, std::string *text, struct error *err)
    {
        auto p = PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);

        p.pHostObject = object;
        p.pMetricName = metric;
        if (CALL(cuptiProfilerHostGetMetricProperties, &p))
            return error_prefix(err, "counters: metric %s", metric);
        *text = p.pDescription == nullptr ? "" : p.pDescription;
        return 0;
    }
};

struct opened {
    cupti_library library = {};

    opened() = default;
    opened(const opened &) = delete;
    opened &operator=(const opened &) = delete;
    ~opened()
    {
        cupti_library_close(&library);
    }
    int open(struct error *err)
    {
        return cupti_library_open(&library, err);
    }
};

#endif
