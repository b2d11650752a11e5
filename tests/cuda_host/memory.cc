/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include "capture.h"
#include "cuda_host.h"
#include "driver.h"
#include "ipc.h"
#include "lag.h"
#include "sanitizer.h"

#include <cstdlib>
#include <cstring>
#include <map>

#if CUDA_HOST_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_host
{

enum : size_t { GUARD_BYTES = 256 };
enum : unsigned char { GUARD = 0xa5, FRESH = 0xff };
enum : size_t { ALIGNMENT = 256 }; /* what cudaMalloc promises */

/* `bytes` at the start of `room`; what is behind them is a guard. Code that AddressSanitizer is in
 * ends there at once. */
static void *allocate_guarded(size_t alignment, size_t bytes, size_t room)
{
    void *memory = nullptr;

    if (posix_memalign(&memory, alignment, room))
        return nullptr;
    memset(memory, FRESH, bytes);
    memset(static_cast<char *>(memory) + bytes, GUARD, room - bytes);
#if CUDA_HOST_ASAN
    __asan_poison_memory_region(static_cast<char *>(memory) + bytes, room - bytes);
#endif
    return memory;
}

void *guarded_allocate(size_t alignment, size_t bytes)
{
    return allocate_guarded(alignment, bytes, bytes + GUARD_BYTES);
}

__attribute__((no_sanitize_address)) bool guarded_intact(const void *memory, size_t bytes)
{
    const unsigned char *guard = static_cast<const unsigned char *>(memory) + bytes;

    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (guard[i] != GUARD)
            return false;
    return true;
}

void guarded_copy(void *to, const void *memory, size_t bytes, size_t room)
{
    memcpy(to, memory, bytes);
    memset(static_cast<char *>(to) + bytes, GUARD, room - bytes);
}

void guarded_free(void *memory)
{
    free(memory);
}

/* Where allocations start, and their bytes: the device's, and page-locked ones of the host. */
struct allocations {
    std::map<uintptr_t, size_t> device, host;
    size_t used;
    int accesses; /* that live */
};

static struct allocations *heap(void)
{
    static struct allocations all;

    return &all;
}

enum : size_t { PAGE = 4096, LARGE = 4 * PAGE };

static size_t memory_round(size_t bytes)
{
    return (bytes + GUARD_BYTES + PAGE - 1) / PAGE * PAGE;
}

/* Bytes that an allocation of so many has for itself. */
static size_t memory_whole(size_t bytes)
{
    return bytes < LARGE ? bytes : memory_round(bytes) - GUARD_BYTES;
}

/* In or out of reach of everyone. */
static void reach(const void *memory, size_t bytes, bool in)
{
#if CUDA_HOST_ASAN
    if (in)
        __asan_unpoison_memory_region(memory, bytes);
    else
        __asan_poison_memory_region(memory, bytes);
#else
    (void)memory, (void)bytes, (void)in;
#endif
}

static void reach_all(bool in)
{
    for (const auto &[start, bytes] : heap()->device)
        reach(reinterpret_cast<void *>(start), bytes, in);
}

static uintptr_t number(const void *memory)
{
    return reinterpret_cast<uintptr_t>(memory);
}

/* The bytes from `memory` to the end of the device allocation that it lies in; 0: in none. */
static size_t bytes_behind(const void *memory)
{
    auto next = heap()->device.upper_bound(number(memory));

    if (next == heap()->device.begin())
        return 0;
    auto at = std::prev(next);
    uintptr_t end = at->first + at->second;
    return number(memory) < end ? end - number(memory) : 0;
}

cudaError_t memory_check(void)
{
    for (const auto &[start, bytes] : heap()->device)
        if (!guarded_intact(reinterpret_cast<void *>(start), bytes))
            return driver_stick(cudaErrorIllegalAddress,
                                "something wrote behind the end of a device allocation of " +
                                    std::to_string(bytes) + " bytes");
    return cudaSuccess;
}

void memory_free_all(void)
{
    reach_all(true);
    for (auto *map : { &heap()->device, &heap()->host }) {
        for (const auto &[start, bytes] : *map)
            guarded_free(reinterpret_cast<void *>(start));
        map->clear();
    }
    heap()->used = 0;
}

/* ---- for other processes ---- */

size_t memory_bytes(const void *memory)
{
    auto found = heap()->device.find(number(memory));

    return found == heap()->device.end() ? 0 : found->second;
}

size_t memory_pages(const void *memory)
{
    size_t bytes = memory_bytes(memory);

    return bytes < LARGE ? 0 : memory_round(bytes);
}

bool memory_is_device(const void *memory)
{
    return bytes_behind(memory) > 0;
}

void memory_adopt(void *memory, size_t bytes)
{
    heap()->device[number(memory)] = bytes;
    reach(memory, bytes, heap()->accesses > 0);
}

/* A large one has its pages for itself; what is behind its end is out of reach all the same. */
static void *allocate_whole(size_t bytes)
{
    return bytes < LARGE ? guarded_allocate(ALIGNMENT, bytes)
                         : allocate_guarded(PAGE, bytes, memory_round(bytes));
}

static cudaError_t allocate(void **memory, size_t bytes)
{
    *memory = nullptr;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > driver()->setup.memory - heap()->used)
        return cudaErrorMemoryAllocation;
    void *fresh = allocate_whole(bytes);
    if (!fresh)
        return cudaErrorMemoryAllocation;
    heap()->device[number(fresh)] = bytes;
    heap()->used += bytes;
    reach(fresh, bytes, heap()->accesses > 0);
    *memory = fresh;
    return cudaSuccess;
}

struct memory_image memory_look(void)
{
    struct memory_image image;

    for (const auto &[start, bytes] : heap()->device) {
        auto *at = reinterpret_cast<unsigned char *>(start);
        image.parts.emplace_back(at, std::vector<unsigned char>(at, at + bytes));
    }
    return image;
}

static bool still_there(const unsigned char *at, size_t bytes)
{
    auto found = heap()->device.find(reinterpret_cast<uintptr_t>(at));

    return found != heap()->device.end() && found->second == bytes;
}

void memory_restore(const struct memory_image &image)
{
    for (const auto &[at, bytes] : image.parts)
        if (still_there(at, bytes.size()))
            memcpy(at, bytes.data(), bytes.size());
}

void memory_apply(const struct memory_image &before, const struct memory_image &after)
{
    for (const auto &[at, then] : before.parts)
        for (const auto &[place, now] : after.parts)
            for (size_t i = 0; place == at && now.size() == then.size() && i < now.size(); i++)
                if (now[i] != then[i])
                    at[i] = now[i];
}

static cudaError_t give_back(std::map<uintptr_t, size_t> *map, void *memory)
{
    auto found = map->find(number(memory));

    if (!memory)
        return cudaSuccess;
    if (found == map->end())
        return cudaErrorInvalidValue;
    cudaError_t rc = memory_check();
    reach(memory, map == &heap()->device ? memory_whole(found->second) : found->second, true);
    if (map == &heap()->device) {
        heap()->used -= found->second;
        ipc_forget(memory);
    }
    map->erase(found);
    guarded_free(memory);
    return rc;
}

/* What a direction asks of a pointer: all of it on the device, or none. */
static bool on_side(const void *memory, size_t bytes, bool device)
{
    return device ? bytes_behind(memory) >= bytes : bytes_behind(memory) == 0;
}

static cudaError_t copy_check(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    static const struct {
        bool to_device, from_device;
    } sides[] = { { false, false }, { true, false }, { false, true }, { true, true } };

    if (static_cast<unsigned>(kind) > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (bytes == 0)
        return cudaSuccess;
    if (!to || !from)
        return cudaErrorInvalidValue;
    bool to_device = kind == cudaMemcpyDefault ? bytes_behind(to) > 0 : sides[kind].to_device;
    bool from_device = kind == cudaMemcpyDefault ? bytes_behind(from) > 0 : sides[kind].from_device;
    return on_side(to, bytes, to_device) && on_side(from, bytes, from_device)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                        cudaStream_t stream)
{
    cudaError_t rc = copy_check(to, from, bytes, kind);

    if (rc != cudaSuccess || bytes == 0)
        return rc;
    return stream_enqueue(stream, { cudaGraphNodeTypeMemcpy, [=] {
                                       memmove(to, from, bytes);
                                       return cudaSuccess;
                                   } });
}

static cudaError_t fill(void *to, int value, size_t bytes, cudaStream_t stream)
{
    if (bytes == 0)
        return cudaSuccess;
    if (!on_side(to, bytes, true))
        return cudaErrorInvalidValue;
    return stream_enqueue(stream, { cudaGraphNodeTypeMemset, [=] {
                                       memset(to, value, bytes);
                                       return cudaSuccess;
                                   } });
}

} // namespace cuda_host

using namespace cuda_host;

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    return driver_enter("cudaMalloc", [=] {
        cudaError_t rc = memory ? capture_forbids() : cudaErrorInvalidValue;
        return rc == cudaSuccess ? allocate(memory, bytes) : rc;
    });
}

cudaError_t cudaFree(void *memory)
{
    return driver_give_back("cudaFree", [=] {
        cudaError_t rc = capture_forbids();
        if (rc == cudaSuccess)
            lag_run_all(); /* it waits for the device */
        return rc == cudaSuccess ? give_back(&heap()->device, memory) : rc;
    });
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    return driver_enter("cudaMallocHost", [=] {
        if (!memory)
            return cudaErrorInvalidValue;
        *memory = guarded_allocate(ALIGNMENT, bytes);
        if (!*memory)
            return cudaErrorMemoryAllocation;
        heap()->host[number(*memory)] = bytes;
        return cudaSuccess;
    });
}

cudaError_t cudaFreeHost(void *memory)
{
    return driver_give_back("cudaFreeHost", [=] { return give_back(&heap()->host, memory); });
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    return driver_enter("cudaMemGetInfo", [=] {
        *total = driver()->setup.memory;
        *available = *total - heap()->used;
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    return driver_enter("cudaMemcpy", [=] {
        cudaError_t rc = copy(to, from, bytes, kind, nullptr);
        lag_run(nullptr); /* the host waits */
        return rc;
    });
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return driver_enter("cudaMemcpyAsync", [=] { return copy(to, from, bytes, kind, stream); });
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return driver_enter("cudaMemset", [=] { return fill(to, value, bytes, nullptr); });
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return driver_enter("cudaMemsetAsync", [=] { return fill(to, value, bytes, stream); });
}

size_t cuda_host_allocated(void)
{
    std::lock_guard<std::recursive_mutex> guard(driver()->lock);

    return heap()->used;
}

cuda_host_access::cuda_host_access(void)
{
    std::lock_guard<std::recursive_mutex> guard(driver()->lock);

    if (heap()->accesses++ == 0)
        reach_all(true);
}

cuda_host_access::~cuda_host_access()
{
    std::lock_guard<std::recursive_mutex> guard(driver()->lock);

    if (--heap()->accesses == 0)
        reach_all(false);
}
