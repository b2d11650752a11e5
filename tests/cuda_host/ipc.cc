/* SPDX-License-Identifier: MIT */
/*
 * Memory of one process that another one works on. The pages of an allocation become those of a
 * shared file, where they are; a handle has its name. Whoever opens it takes the name away, so one
 * process can, which is what a judge needs, and nothing is left behind; nor is it where nobody did.
 */
#include "ipc.h"
#include "cuda_host.h"
#include "cuda_host_ipc.h"
#include "driver.h"
#include "memory.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

using namespace cuda_host;

static_assert(sizeof(struct ipc_content) <= sizeof(cudaIpcMemHandle_t), "it must fit");

/* The names of what was given and is not back. */
static std::map<const void *, std::string> *ipc_names(void)
{
    static std::map<const void *, std::string> names;

    return &names;
}

void cuda_host::ipc_forget(const void *memory)
{
    auto found = ipc_names()->find(memory);

    if (found == ipc_names()->end())
        return;
    shm_unlink(found->second.c_str());
    ipc_names()->erase(found);
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
    ipc_forget(memory); /* another handle of it holds from now on */
    content.bytes = memory_bytes(memory);
    content.pages = pages;
    snprintf(content.name, sizeof(content.name), "/cuda-host-%d-%u", (int)getpid(), number++);
    if (!ipc_move(content.name, memory, pages))
        return cudaErrorNotSupported;
    (*ipc_names())[memory] = content.name;
    memcpy(handle, &content, sizeof(content));
    return cudaSuccess;
}

static cudaError_t ipc_open(void **memory, const cudaIpcMemHandle_t *handle)
{
    struct ipc_content content;

    memcpy(&content, handle, sizeof(content));
    *memory = ipc_open_content(&content);
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
