/* SPDX-License-Identifier: MIT */
/* CUPTI's profiler: its host half, whose header is C++ and which needs no GPU, and sessions. */
extern "C" {
#include "cupti/counters.h"
}

#ifndef HARNESS_HAVE_CUPTI

static int built_without_cupti(struct error *err)
{
    return error_set(err, "counters: CUDA's headers (CUPTI) were not found when this was built");
}

int counters_passes(const char *, const char *const *, size_t, size_t *, struct error *err)
{
    return built_without_cupti(err);
}

int counters_describe(const char *, const char *, char *, size_t, struct error *err)
{
    return built_without_cupti(err);
}

int counters_start(struct counters_session **, int, const char *const *, size_t, size_t,
                   struct error *err)
{
    return built_without_cupti(err);
}

int counters_stop(struct counters_session *, struct counter_list *, struct error *err)
{
    return built_without_cupti(err);
}

#else

extern "C" {
#include "cupti/cupti_library.h"
}

#include <cstdio>
#include <string>
#include <vector>

#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>

/* Calls a function of CUPTI by its name; its type comes from NVIDIA's header. */
template <class PARAMS>
inline int call_cupti(const cupti_library &library, const char *name,
                      CUptiResult(CUPTIAPI *)(PARAMS *), PARAMS *params, struct error *err)
{
    using function = CUptiResult (*)(PARAMS *);
    auto f = reinterpret_cast<function>(cupti_library_symbol(&library, name));

    if (f == nullptr)
        return error_set(err, "counters: this CUPTI has no %s: 12.6 or newer is needed", name);
    CUptiResult code = f(params);
    return code == CUPTI_SUCCESS ? 0 : cupti_library_failed(&library, name, code, err);
}

/* The type comes from the declaration; nothing is linked. */
#define CALL(name, params)                                                                         \
    call_cupti(library, #name, static_cast<decltype(&name)>(nullptr), params, err)

template <class PARAMS> PARAMS params_of_size(size_t size)
{
    PARAMS params = {};

    params.structSize = size;
    return params;
}

#define PARAMS(type) params_of_size<type>(type##_STRUCT_SIZE)

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
    int add_counted_metrics(std::vector<const char *> &metrics, struct error *err)
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
            if (describe_metric(metric, &ignored, err))
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

    int describe_metric(const char *metric, std::string *text, struct error *err)
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

int counters_passes(const char *chip, const char *const *metrics, size_t nr, size_t *passes,
                    struct error *err)
{
    opened cupti;
    host half(cupti.library);
    std::vector<const char *> names(metrics, metrics + nr);

    if (cupti.open(err) || half.open(chip, {}, err) || half.add_counted_metrics(names, err))
        return -1;
    return half.passes(passes, err);
}

int counters_describe(const char *chip, const char *metric, char *text, size_t size,
                      struct error *err)
{
    opened cupti;
    host half(cupti.library);
    std::string words;

    if (cupti.open(err) || half.open(chip, {}, err) || half.describe_metric(metric, &words, err))
        return -1;
    std::snprintf(text, size, "%s", words.c_str());
    return 0;
}

/* ---- sessions: kernels of this process ---- */

namespace
{

/* The driver is never linked: where there is a context, it has been opened. */
int current_context(CUcontext *context, struct error *err)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (driver == nullptr)
        return error_set(err, "counters: no NVIDIA driver: %s", dlerror());
    auto get = reinterpret_cast<CUresult (*)(CUcontext *)>(dlsym(driver, "cuCtxGetCurrent"));
    CUresult code = get == nullptr ? CUDA_ERROR_NOT_FOUND : get(context);
    dlclose(driver);
    if (code != CUDA_SUCCESS || *context == nullptr)
        return error_set(err, "counters: this thread has no CUDA context (error %d)",
                         static_cast<int>(code));
    return 0;
}

} // namespace

struct counters_session {
    opened cupti;
    const cupti_library &library;
    host half;
    std::vector<std::string> names;
    std::vector<const char *> metrics; /* into names */
    std::vector<uint8_t> data;
    CUcontext context = nullptr;
    CUpti_RangeProfiler_Object *profiler = nullptr;
    bool initialised = false;

    counters_session(const char *const *wanted, size_t nr)
        : library(cupti.library), half(cupti.library), names(wanted, wanted + nr)
    {
        for (const std::string &name : names)
            metrics.push_back(name.c_str());
    }
    counters_session(const counters_session &) = delete;
    counters_session &operator=(const counters_session &) = delete;

    ~counters_session()
    {
        struct error ignored, *err = &ignored;
        auto disable = PARAMS(CUpti_RangeProfiler_Disable_Params);
        auto end = PARAMS(CUpti_Profiler_DeInitialize_Params);

        disable.pRangeProfilerObject = profiler;
        if (profiler != nullptr)
            CALL(cuptiRangeProfilerDisable, &disable);
        if (initialised)
            CALL(cuptiProfilerDeInitialize, &end);
    }

    int availability(std::vector<uint8_t> *image, struct error *err)
    {
        auto p = PARAMS(CUpti_Profiler_GetCounterAvailability_Params);

        p.ctx = context;
        if (CALL(cuptiProfilerGetCounterAvailability, &p))
            return -1;
        image->resize(p.counterAvailabilityImageSize);
        p.pCounterAvailabilityImage = image->data();
        return CALL(cuptiProfilerGetCounterAvailability, &p);
    }

    int prepare_profiling(int device, struct error *err)
    {
        auto start = PARAMS(CUpti_Profiler_Initialize_Params);
        auto chip = PARAMS(CUpti_Device_GetChipName_Params);
        std::vector<uint8_t> image;

        if (CALL(cuptiProfilerInitialize, &start))
            return -1;
        initialised = true;
        chip.deviceIndex = static_cast<size_t>(device);
        if (CALL(cuptiDeviceGetChipName, &chip) || availability(&image, err))
            return -1;
        return half.open(chip.pChipName, image, err) || half.add_counted_metrics(metrics, err) ? -1
                                                                                               : 0;
    }

    int enable(struct error *err)
    {
        auto p = PARAMS(CUpti_RangeProfiler_Enable_Params);

        p.ctx = context;
        if (CALL(cuptiRangeProfilerEnable, &p))
            return -1;
        profiler = p.pRangeProfilerObject;
        return 0;
    }

    /* Room for the counters of `most` kernels. */
    int make_room(size_t most, struct error *err)
    {
        auto size = PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);

        size.pRangeProfilerObject = profiler;
        size.pMetricNames = metrics.data();
        size.numMetrics = metrics.size();
        size.maxNumOfRanges = most;
        size.maxNumRangeTreeNodes = static_cast<uint32_t>(most);
        if (CALL(cuptiRangeProfilerGetCounterDataSize, &size))
            return -1;
        data.resize(size.counterDataSize);
        auto p = PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
        p.pRangeProfilerObject = profiler;
        p.counterDataSize = data.size();
        p.pCounterData = data.data();
        return CALL(cuptiRangeProfilerCounterDataImageInitialize, &p);
    }

    int configure(size_t most, struct error *err)
    {
        auto p = PARAMS(CUpti_RangeProfiler_SetConfig_Params);

        p.pRangeProfilerObject = profiler;
        p.configSize = half.config.size();
        p.pConfig = half.config.data();
        p.counterDataImageSize = data.size();
        p.pCounterDataImage = data.data();
        p.range = CUPTI_AutoRange;
        p.replayMode = CUPTI_KernelReplay;
        p.maxRangesPerPass = most;
        p.numNestingLevels = 1;
        p.minNestingLevel = 1;
        p.targetNestingLevel = 1;
        return CALL(cuptiRangeProfilerSetConfig, &p);
    }

    int start(int device, size_t most, struct error *err)
    {
        if (cupti.open(err) || current_context(&context, err) || prepare_profiling(device, err) ||
            enable(err) || make_room(most, err) || configure(most, err))
            return -1;
        auto p = PARAMS(CUpti_RangeProfiler_Start_Params);
        p.pRangeProfilerObject = profiler;
        return CALL(cuptiRangeProfilerStart, &p);
    }

    int stop(uint64_t *dropped, struct error *err)
    {
        auto p = PARAMS(CUpti_RangeProfiler_Stop_Params);
        auto decode = PARAMS(CUpti_RangeProfiler_DecodeData_Params);

        p.pRangeProfilerObject = profiler;
        decode.pRangeProfilerObject = profiler;
        if (CALL(cuptiRangeProfilerStop, &p) || CALL(cuptiRangeProfilerDecodeData, &decode))
            return -1;
        *dropped += decode.numOfRangeDropped;
        return 0;
    }

    int evaluate(size_t range, struct counter_list *list, struct error *err)
    {
        auto p = PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
        std::vector<double> values(metrics.size());

        p.pHostObject = half.object;
        p.pCounterDataImage = data.data();
        p.counterDataImageSize = data.size();
        p.rangeIndex = range;
        p.ppMetricNames = metrics.data();
        p.numMetrics = metrics.size();
        p.pMetricValues = values.data();
        if (CALL(cuptiProfilerHostEvaluateToGpuValues, &p))
            return -1;
        struct kernel_counters *k = counter_list_add(list, "", static_cast<int64_t>(range));
        for (size_t i = 0; i < metrics.size(); i++)
            kernel_counters_add(list, k, metrics[i], "", values[i]);
        return 0;
    }

    int read(struct counter_list *list, struct error *err)
    {
        auto info = PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);

        info.pCounterDataImage = data.data();
        info.counterDataImageSize = data.size();
        if (CALL(cuptiRangeProfilerGetCounterDataInfo, &info))
            return -1;
        for (size_t i = 0; i < info.numTotalRanges; i++)
            if (evaluate(i, list, err))
                return -1;
        return 0;
    }
};

int counters_start(struct counters_session **session, int device, const char *const *metrics,
                   size_t nr, size_t most_kernels, struct error *err)
{
    auto *s = new counters_session(metrics, nr);

    if (s->start(device, most_kernels, err)) {
        delete s;
        return -1;
    }
    *session = s;
    return 0;
}

int counters_stop(struct counters_session *session, struct counter_list *list, struct error *err)
{
    int rc = session->stop(&list->dropped, err) || session->read(list, err) ? -1 : 0;

    delete session;
    return rc;
}

#endif
