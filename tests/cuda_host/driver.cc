/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include "cuda_host.h"
#include "memory.h"
#include "stream.h"

#include <cstdio>
#include <iterator>

namespace cuda_host
{

struct error_row {
    cudaError_t code;
    bool sticky;
    const char *name, *text;
};

#define ROW(code, sticky, text)                                                                    \
    {                                                                                              \
        code, sticky, #code, text                                                                  \
    }
static const struct error_row errors[] = {
    ROW(cudaSuccess, false, "no error"),
    ROW(cudaErrorInvalidValue, false, "invalid argument"),
    ROW(cudaErrorMemoryAllocation, false, "out of memory"),
    ROW(cudaErrorInitializationError, false, "initialization error"),
    ROW(cudaErrorInvalidConfiguration, false, "invalid configuration argument"),
    ROW(cudaErrorInvalidDevicePointer, false, "invalid device pointer"),
    ROW(cudaErrorInvalidMemcpyDirection, false, "invalid copy direction for memcpy"),
    ROW(cudaErrorInsufficientDriver, false,
        "CUDA driver version is insufficient for CUDA runtime version"),
    ROW(cudaErrorDevicesUnavailable, false, "CUDA-capable device(s) is/are busy or unavailable"),
    ROW(cudaErrorInvalidDeviceFunction, false, "invalid device function"),
    ROW(cudaErrorNoDevice, false, "no CUDA-capable device is detected"),
    ROW(cudaErrorInvalidDevice, false, "invalid device ordinal"),
    ROW(cudaErrorNoKernelImageForDevice, false,
        "no kernel image is available for execution on the device"),
    ROW(cudaErrorECCUncorrectable, true, "uncorrectable ECC error encountered"),
    ROW(cudaErrorInvalidResourceHandle, false, "invalid resource handle"),
    ROW(cudaErrorIllegalState, false, "the operation cannot be performed in the present state"),
    ROW(cudaErrorNotReady, false, "device not ready"),
    ROW(cudaErrorIllegalAddress, true, "an illegal memory access was encountered"),
    ROW(cudaErrorLaunchOutOfResources, false, "too many resources requested for launch"),
    ROW(cudaErrorLaunchTimeout, true, "the launch timed out and was terminated"),
    ROW(cudaErrorAssert, true, "device-side assert triggered"),
    ROW(cudaErrorHardwareStackError, true, "hardware stack error"),
    ROW(cudaErrorIllegalInstruction, true, "an illegal instruction was encountered"),
    ROW(cudaErrorMisalignedAddress, true, "misaligned address"),
    ROW(cudaErrorInvalidAddressSpace, true,
        "operation not supported on global/shared address space"),
    ROW(cudaErrorInvalidPc, true, "invalid program counter"),
    ROW(cudaErrorLaunchFailure, true, "unspecified launch failure"),
    ROW(cudaErrorNotPermitted, false, "operation not permitted"),
    ROW(cudaErrorNotSupported, false, "operation not supported"),
    ROW(cudaErrorSystemNotReady, false, "system not yet initialized"),
    ROW(cudaErrorSystemDriverMismatch, false,
        "system has unsupported display driver / cuda driver combination"),
    ROW(cudaErrorStreamCaptureUnsupported, false,
        "operation not permitted when stream is capturing"),
    ROW(cudaErrorStreamCaptureInvalidated, false,
        "operation failed due to a previous error during capture"),
    ROW(cudaErrorStreamCaptureMerge, false,
        "operation would result in a merge of separate capture sequences"),
    ROW(cudaErrorStreamCaptureUnmatched, false,
        "capture was not ended in the same stream as it began"),
    ROW(cudaErrorStreamCaptureUnjoined, false, "capturing stream has unjoined work"),
    ROW(cudaErrorStreamCaptureIsolation, false,
        "dependency created on uncaptured work in another stream"),
    ROW(cudaErrorStreamCaptureImplicit, false,
        "operation would make the legacy stream depend on a capturing blocking stream"),
    ROW(cudaErrorCapturedEvent, false,
        "operation not permitted on an event last recorded in a capturing stream"),
    ROW(cudaErrorStreamCaptureWrongThread, false,
        "attempt to terminate a thread-local capture sequence from another thread"),
    ROW(cudaErrorUnknown, false, "unknown error"),
};
#undef ROW

static const struct error_row *error_find(cudaError_t code)
{
    for (const struct error_row &row : errors)
        if (row.code == code)
            return &row;
    return nullptr;
}

bool error_is_sticky(cudaError_t code)
{
    const struct error_row *row = error_find(code);

    return row && row->sticky;
}

struct driver_state *driver(void)
{
    static struct driver_state state = { .lock = {},
                                         .setup = setup_from_environment(),
                                         .sticky = cudaSuccess,
                                         .report = "",
                                         .launches = 0 };

    return &state;
}

static cudaError_t *last_error(void)
{
    static thread_local cudaError_t last = cudaSuccess;

    return &last;
}

/* "Not ready" too: whether a query leaves it behind is not documented, and drivers have done it. */
cudaError_t driver_remember(cudaError_t code)
{
    if (code != cudaSuccess)
        *last_error() = code;
    return code;
}

cudaError_t driver_stick(cudaError_t code, const std::string &report)
{
    if (!error_is_sticky(code) || driver()->sticky != cudaSuccess)
        return code;
    driver()->sticky = code;
    driver()->report = report;
    if (!report.empty())
        fprintf(stderr, "CUDA host layer: %s\n", report.c_str());
    return code;
}

cudaError_t driver_fault(const char *call)
{
    cudaError_t due = cudaSuccess;

    for (struct fault &f : driver()->setup.faults) /* each counts for itself */
        if (f.call == call && --f.countdown == 0)
            due = f.code;
    return due;
}

cudaError_t driver_refusal(const char *call)
{
    const struct setup *setup = &driver()->setup;

    if (setup->driver < CUDART_VERSION)
        return cudaErrorInsufficientDriver;
    if (setup->devices == 0)
        return cudaErrorNoDevice;
    if (driver()->sticky != cudaSuccess)
        return driver()->sticky;
    return driver_stick(driver_fault(call), "");
}

} // namespace cuda_host

using namespace cuda_host;

const char *cudaGetErrorName(cudaError_t error)
{
    const struct error_row *row = error_find(error);

    return row ? row->name : "unrecognized error code";
}

/* A launch that the host layer failed is explained where a device only says "unspecified". */
const char *cudaGetErrorString(cudaError_t error)
{
    const struct error_row *row = error_find(error);

    if (error != cudaSuccess && error == driver()->sticky && !driver()->report.empty())
        return driver()->report.c_str();
    return row ? row->text : "unrecognized error code";
}

cudaError_t cudaPeekAtLastError(void)
{
    return driver()->sticky != cudaSuccess ? driver()->sticky : *last_error();
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t last = cudaPeekAtLastError();

    *last_error() = cudaSuccess;
    return last;
}

int cuda_host_inject(const char *spec)
{
    std::lock_guard<std::recursive_mutex> guard(driver()->lock);

    return setup_add(&driver()->setup, spec);
}

void cuda_host_reset(void)
{
    std::lock_guard<std::recursive_mutex> guard(driver()->lock);

    streams_free_all();
    memory_free_all();
    driver()->sticky = *last_error() = cudaSuccess;
    driver()->report.clear();
    driver()->setup = setup_from_environment();
}

uint64_t cuda_host_launches(void)
{
    std::lock_guard<std::recursive_mutex> guard(driver()->lock);

    return driver()->launches;
}

const char *cuda_host_report(void)
{
    return driver()->report.c_str();
}
