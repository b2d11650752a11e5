/* SPDX-License-Identifier: MIT */
/* What a handle of the host layer's memory says. For the layer itself (ipc.cc), and for the
 * driver's stand-in in a process without it (libcuda.cc). */
#ifndef CUDA_HOST_IPC_CONTENT_H
#define CUDA_HOST_IPC_CONTENT_H

#include <cstddef>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cuda_host
{

/* Shared memory of this name has the pages in which the bytes of an allocation are. */
struct ipc_content {
    char name[40];
    size_t bytes, pages;
};

inline void *ipc_map(int fd, void *where, size_t pages)
{
    void *at =
        mmap(where, pages, PROT_READ | PROT_WRITE, MAP_SHARED | (where ? MAP_FIXED : 0), fd, 0);

    return at == MAP_FAILED ? nullptr : at;
}

/* The memory here; null: there is none of that name. The name is gone then. */
inline void *ipc_open_content(const struct ipc_content *content)
{
    int fd = shm_open(content->name, O_RDWR | O_CLOEXEC, 0);
    void *memory = fd >= 0 ? ipc_map(fd, nullptr, content->pages) : nullptr;

    shm_unlink(content->name);
    if (fd >= 0)
        close(fd);
    return memory;
}

/* Nobody can open it any more: it is given back. */
void ipc_forget(const void *memory);

} // namespace cuda_host

#endif
