/* SPDX-License-Identifier: MIT */
/*
 * The counters of the stand-in for CUPTI: every launch reads 3000 and writes 1000 bytes of DRAM and
 * makes 100 multiply-adds, 20 additions and 30 multiplications. Launches between start and stop are
 * those of the CUDA host layer (tests/cuda_host) where it is in the program, else as many as
 * CUPTI_STUB says ("ranges=N"); "counters=N" is the error of cuptiRangeProfilerEnable.
 */
extern "C" {
#include "cupti_stub.h"
}

#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

namespace
{

/* The image of the counters, as far as it has to be one: how many ranges are in it. */
struct image {
    size_t ranges;
};

/* Handles that are only handed around. */
char profiler, object;

size_t most, before, seen;
struct image *data;

size_t launches()
{
    using count = uint64_t();
    auto *of_host_layer = reinterpret_cast<count *>(dlsym(RTLD_DEFAULT, "_Z18cuda_host_launchesv"));

    return of_host_layer == nullptr ? 0 : static_cast<size_t>(of_host_layer());
}

double value_of(const char *metric)
{
    static const struct {
        const char *part;
        double value;
    } values[] = { { "bytes_read", 3000 },
                   { "bytes_write", 1000 },
                   { "op_ffma", 100 },
                   { "op_fadd", 20 },
                   { "op_fmul", 30 } };

    for (const auto &row : values)
        if (std::strstr(metric, row.part))
            return row.value;
    return 0;
}

} // namespace

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params *)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *p)
{
    p->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *p)
{
    p->counterAvailabilityImageSize = 8;
    return CUPTI_SUCCESS;
}

/* ---- the half without a GPU ---- */

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *p)
{
    p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object *>(&object);
    return std::strcmp(p->pChipName, "GH100") == 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *p)
{
    p->configImageSize = 16;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *p)
{
    std::memset(p->pConfigImage, 0, p->configImageSize);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *p)
{
    if (p->rangeIndex >= reinterpret_cast<const image *>(p->pCounterDataImage)->ranges)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < p->numMetrics; i++)
        p->pMetricValues[i] = value_of(p->ppMetricNames[i]);
    return CUPTI_SUCCESS;
}

/* ---- the half with one ---- */

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p)
{
    auto code = static_cast<CUptiResult>(cupti_stub_told("counters=", CUPTI_SUCCESS));

    if (code == CUPTI_SUCCESS)
        p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object *>(&profiler);
    return code;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
    p->counterDataSize = sizeof(image);
    return p->maxNumRangeTreeNodes >= p->maxNumOfRanges ? CUPTI_SUCCESS
                                                        : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p)
{
    std::memset(p->pCounterData, 0, p->counterDataSize);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *p)
{
    data = reinterpret_cast<image *>(p->pCounterDataImage);
    most = p->maxRangesPerPass;
    return p->range == CUPTI_AutoRange && p->replayMode == CUPTI_KernelReplay
               ? CUPTI_SUCCESS
               : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *)
{
    before = launches();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *p)
{
    seen = launches() - before;
    seen = static_cast<size_t>(cupti_stub_told("ranges=", static_cast<long>(seen)));
    p->isAllPassSubmitted = 1;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *p)
{
    data->ranges = std::min(seen, most);
    p->numOfRangeDropped = seen - data->ranges;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *p)
{
    p->numTotalRanges = reinterpret_cast<const image *>(p->pCounterDataImage)->ranges;
    return CUPTI_SUCCESS;
}
