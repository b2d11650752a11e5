/* SPDX-License-Identifier: MIT */
/* The cp.async copies of one CUDA thread. */
#ifndef CUDA_HOST_ASYNC_H
#define CUDA_HOST_ASYNC_H

#include "cuda_host.h"

#include <vector>

namespace cuda_host
{

struct copy {
    void *to;
    const void *from;
    unsigned bytes, from_global;
    struct cuda_host_site site;
};

/* Groups end where `ends` says; the last, open one at the end of `copies`. */
struct async {
    std::vector<struct copy> copies;
    std::vector<size_t> ends;
    size_t waited; /* groups that have arrived */
};

} // namespace cuda_host

#endif
