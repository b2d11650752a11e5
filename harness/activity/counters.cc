/* SPDX-License-Identifier: MIT */
#ifdef HARNESS_HAVE_CUPTI /* else activity/counters_host.cc says so */

#include "activity/counters_parts.h"

#include <dlfcn.h>

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

    int prepare(int device, struct error *err)
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
        return half.open(chip.pChipName, image, err) || half.add(metrics, err) ? -1 : 0;
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
        if (cupti.open(err) || current_context(&context, err) || prepare(device, err) ||
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
