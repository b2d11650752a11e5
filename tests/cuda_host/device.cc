/* SPDX-License-Identifier: MIT */
#include "device.h"

#include "driver.h"
#include "memory.h"
#include "stream.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace cuda_host
{

enum : size_t { KIB = 1024, SHARED_PLAIN = 48 * KIB, SHARED_RESERVED = KIB };

/* Shared memory of an SM in KiB by compute capability, from the table "Technical Specifications per
 * Compute Capability" of the CUDA C++ programming guide. A block may have all but 1 KiB of it; on
 * 7.5 all. */
static const struct {
    int major, minor;
    size_t kib;
} shared_memory[] = {
    { 7, 5, 64 },  { 8, 0, 164 }, { 8, 6, 100 },  { 8, 7, 164 },
    { 8, 9, 100 }, { 9, 0, 228 }, { 10, 0, 228 }, { 12, 0, 100 },
};

static size_t shared_of_sm(int major, int minor)
{
    for (const auto &row : shared_memory)
        if (row.major == major && row.minor == minor)
            return row.kib * KIB;
    return 64 * KIB;
}

static void describe_limits(cudaDeviceProp *p)
{
    p->warpSize = 32;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsPerMultiProcessor = p->major == 8 && p->minor > 0 ? 1536 : 2048;
    p->maxBlocksPerMultiProcessor = 32;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->sharedMemPerBlock = SHARED_PLAIN;
    p->sharedMemPerMultiprocessor = shared_of_sm(p->major, p->minor);
    p->sharedMemPerBlockOptin = p->sharedMemPerMultiprocessor;
    if (p->major >= 8)
        p->sharedMemPerBlockOptin -= SHARED_RESERVED;
}

/* A small device: little to flush, few SMs to fill, so that tests reach every path soon. */
void device_describe(cudaDeviceProp *p, int device)
{
    const struct setup *setup = &driver()->setup;

    *p = {};
    snprintf(p->name, sizeof(p->name), "CUDA host layer (CPU)");
    snprintf(p->uuid.bytes, sizeof(p->uuid.bytes), "cuda_host_%d", device);
    p->major = setup->major;
    p->minor = setup->minor;
    p->totalGlobalMem = setup->memory;
    p->multiProcessorCount = 4;
    p->l2CacheSize = 1 << 20;
    p->memoryBusWidth = 64;
    p->pciBusID = device + 1;
    describe_limits(p);
}

/* Dynamic shared memory by kernel, where cudaFuncSetAttribute() allowed more than the plain. */
static std::map<const void *, size_t> *allowed(void)
{
    static std::map<const void *, size_t> bytes;

    return &bytes;
}

size_t device_shared_allowed(const void *kernel)
{
    auto found = allowed()->find(kernel);

    return found == allowed()->end() ? SHARED_PLAIN : found->second;
}

namespace
{
struct amount {
    size_t first;
    bool varies;
};
} // namespace

static std::map<const void *, struct amount> *amounts(void)
{
    static std::map<const void *, struct amount> of;

    return &of;
}

bool device_shared_varies(const void *kernel, size_t bytes)
{
    struct amount *a = &amounts()->try_emplace(kernel, bytes, false).first->second;

    a->varies = a->varies || a->first != bytes;
    return a->varies;
}

void device_forget_kernels(void)
{
    allowed()->clear();
    amounts()->clear();
}

static int *current_device(void)
{
    static thread_local int device = 0;

    return &device;
}

static bool device_known(int device)
{
    return device >= 0 && device < driver()->setup.devices;
}

static cudaError_t attribute_of(const cudaDeviceProp *p, cudaDeviceAttr attribute, int *value)
{
    const struct {
        cudaDeviceAttr attribute;
        size_t value;
    } rows[] = {
        { cudaDevAttrMaxThreadsPerBlock, static_cast<size_t>(p->maxThreadsPerBlock) },
        { cudaDevAttrMaxSharedMemoryPerBlock, p->sharedMemPerBlock },
        { cudaDevAttrWarpSize, static_cast<size_t>(p->warpSize) },
        { cudaDevAttrMaxRegistersPerBlock, static_cast<size_t>(p->regsPerBlock) },
        { cudaDevAttrClockRate, 1000000 },
        { cudaDevAttrMultiProcessorCount, static_cast<size_t>(p->multiProcessorCount) },
        { cudaDevAttrEccEnabled, static_cast<size_t>(p->ECCEnabled) },
        { cudaDevAttrPciBusId, static_cast<size_t>(p->pciBusID) },
        { cudaDevAttrPciDeviceId, static_cast<size_t>(p->pciDeviceID) },
        { cudaDevAttrMemoryClockRate, 1000000 },
        { cudaDevAttrGlobalMemoryBusWidth, static_cast<size_t>(p->memoryBusWidth) },
        { cudaDevAttrL2CacheSize, static_cast<size_t>(p->l2CacheSize) },
        { cudaDevAttrMaxThreadsPerMultiProcessor,
          static_cast<size_t>(p->maxThreadsPerMultiProcessor) },
        { cudaDevAttrPciDomainId, static_cast<size_t>(p->pciDomainID) },
        { cudaDevAttrComputeCapabilityMajor, static_cast<size_t>(p->major) },
        { cudaDevAttrComputeCapabilityMinor, static_cast<size_t>(p->minor) },
        { cudaDevAttrMaxSharedMemoryPerMultiprocessor, p->sharedMemPerMultiprocessor },
        { cudaDevAttrMaxRegistersPerMultiprocessor, static_cast<size_t>(p->regsPerMultiprocessor) },
        { cudaDevAttrMaxSharedMemoryPerBlockOptin, p->sharedMemPerBlockOptin },
        { cudaDevAttrMaxBlocksPerMultiprocessor,
          static_cast<size_t>(p->maxBlocksPerMultiProcessor) },
    };

    for (const auto &row : rows) {
        if (row.attribute != attribute)
            continue;
        *value = static_cast<int>(row.value);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

static cudaError_t allow_shared(const void *kernel, int bytes)
{
    cudaDeviceProp p;

    device_describe(&p, *current_device());
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    if (bytes < 0 || static_cast<size_t>(bytes) > p.sharedMemPerBlockOptin)
        return cudaErrorInvalidValue;
    (*allowed())[kernel] = static_cast<size_t>(bytes);
    return cudaSuccess;
}

static cudaError_t occupancy(int *blocks, int threads, size_t shared)
{
    cudaDeviceProp p;

    device_describe(&p, *current_device());
    if (!blocks || threads <= 0)
        return cudaErrorInvalidValue;
    size_t by_shared = p.sharedMemPerMultiprocessor / (shared + SHARED_RESERVED);
    int by_threads = p.maxThreadsPerMultiProcessor / ((threads + 31) / 32 * 32);
    *blocks = std::min({ by_threads, p.maxBlocksPerMultiProcessor, static_cast<int>(by_shared) });
    if (threads > p.maxThreadsPerBlock || shared > p.sharedMemPerBlockOptin)
        *blocks = 0;
    return cudaSuccess;
}

/* What a kernel takes is the compiler's knowledge, which this one does not tell: 32 registers. */
static void kernel_attributes(cudaFuncAttributes *attributes, const void *kernel)
{
    const struct setup *setup = &driver()->setup;

    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 10 * setup->major + setup->minor;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(device_shared_allowed(kernel));
}

} // namespace cuda_host

using namespace cuda_host;

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = driver()->setup.driver;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 0;
    return driver_enter("cudaGetDeviceCount", [=] {
        *count = driver()->setup.devices;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device)
{
    return driver_enter("cudaSetDevice", [=] {
        if (!device_known(device))
            return cudaErrorInvalidDevice;
        *current_device() = device;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDevice(int *device)
{
    return driver_enter("cudaGetDevice", [=] {
        *device = *current_device();
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    return driver_enter("cudaGetDeviceProperties", [=] {
        if (!device_known(device))
            return cudaErrorInvalidDevice;
        device_describe(properties, device);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    return driver_enter("cudaDeviceGetAttribute", [=] {
        if (!device_known(device))
            return cudaErrorInvalidDevice;
        cudaDeviceProp p;
        device_describe(&p, device);
        return attribute_of(&p, attribute, value);
    });
}

/* A new context: no error of the old one, none of its memory, no permission of its kernels. */
cudaError_t cudaDeviceReset(void)
{
    return driver_give_back("cudaDeviceReset", [] {
        streams_free_all();
        memory_free_all();
        device_forget_kernels();
        driver()->sticky = cudaSuccess;
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    return driver_enter("cudaFuncSetAttribute", [=] {
        if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
            return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
        if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
            return cudaErrorInvalidValue;
        return allow_shared(kernel, value);
    });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
    return driver_enter("cudaFuncGetAttributes", [=] {
        if (!attributes || !kernel)
            return cudaErrorInvalidValue;
        kernel_attributes(attributes, kernel);
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int threads, size_t shared)
{
    return driver_enter("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [=] {
        if (!kernel)
            return cudaErrorInvalidDeviceFunction;
        return occupancy(blocks, threads, shared);
    });
}
