/* SPDX-License-Identifier: MIT */
/*
 * What every function of the API goes through: one lock, the faults that a test asked for, errors
 * that stay, and the last error of a thread.
 */
#ifndef CUDA_HOST_DRIVER_H
#define CUDA_HOST_DRIVER_H

#include "cuda_host_api.h"

#include <mutex>
#include <string>
#include <vector>

namespace cuda_host
{

struct fault {
    std::string call;
    long countdown; /* calls until it strikes */
    cudaError_t code;
};

/* What CUDA_HOST and cuda_host_inject() say. */
struct setup {
    int devices = 1, major = 9, minor = 0;
    int driver = CUDART_VERSION; /* 0: none is installed */
    size_t memory = size_t { 8 } << 30;
    uint64_t seed = 1;
    bool lag = false;
    std::vector<struct fault> faults;
};

/* State of the process. */
struct driver_state {
    std::recursive_mutex lock; /* of everything in the host layer, except running blocks */
    struct setup setup;
    cudaError_t sticky; /* the context is spoilt; every call says so */
    std::string report;
    uint64_t launches;
};

struct driver_state *driver(void);

/* inject.cc: what the environment says; adds a spec. 0, or -1 with a line on stderr. */
struct setup setup_from_environment(void);
int setup_add(struct setup *setup, const char *spec);

/* The fault that is due at this call of `call`, or cudaSuccess. */
cudaError_t driver_fault(const char *call);
/* Whether `code` spoils the context for good. */
bool error_is_sticky(cudaError_t code);
/* Keeps a sticky code with the words that explain it; others pass through. */
cudaError_t driver_stick(cudaError_t code, const std::string &report);
/* Why `call` cannot be served: no driver, no device, a spoilt context, a fault. */
cudaError_t driver_refusal(const char *call);
/* Makes `code` the thread's last error, unless it is none. */
cudaError_t driver_remember(cudaError_t code);

/* Serves the call `name` by `body`. */
template <class Body> cudaError_t driver_enter(const char *name, Body body)
{
    std::lock_guard<std::recursive_mutex> guard(driver()->lock);
    cudaError_t rc = driver_refusal(name);

    return driver_remember(rc == cudaSuccess ? body() : rc);
}

/* The same for what gives something back: done even where the context is spoilt, for the process
 * goes on and its memory is not the device's. */
template <class Body> cudaError_t driver_give_back(const char *name, Body body)
{
    std::lock_guard<std::recursive_mutex> guard(driver()->lock);
    cudaError_t refusal = driver_refusal(name), rc = body();

    return driver_remember(refusal == cudaSuccess ? rc : refusal);
}

} // namespace cuda_host

#endif
