/* SPDX-License-Identifier: MIT */
/* What the tests of the host layer share. */
#ifndef HARNESS_TESTS_TEST_CUDA_HOST_H
#define HARNESS_TESTS_TEST_CUDA_HOST_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

/* cmocka declares not all of its functions for C++. */
extern "C" {
#include "testing.h"
}

/* Number of device memory that is freed with the object. */
template <class T> struct buffer {
    T *at = nullptr;
    size_t count;

    explicit buffer(size_t count_) : count(count_)
    {
        assert_int_equal(cudaMalloc(&at, count * sizeof(T)), cudaSuccess);
    }
    explicit buffer(const std::vector<T> &values) : buffer(values.size())
    {
        assert_int_equal(cudaMemcpy(at, values.data(), count * sizeof(T), cudaMemcpyHostToDevice),
                         cudaSuccess);
    }
    buffer(const buffer &) = delete;
    ~buffer()
    {
        cudaFree(at);
    }
    std::vector<T> read(void) const
    {
        std::vector<T> values(count);

        assert_int_equal(cudaMemcpy(values.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost),
                         cudaSuccess);
        return values;
    }
};

/* Launches on a stream, as kernels/cuda/launch.h does. */
template <auto KERNEL, class... Arguments>
inline cudaError_t launch_on(cudaStream_t stream, dim3 grid, dim3 block, size_t shared,
                             Arguments... arguments)
{
    cudaLaunchConfig_t config = {};

    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    cuda_host_name_kernel(reinterpret_cast<const void *>(KERNEL), __PRETTY_FUNCTION__);
    return cudaLaunchKernelEx(&config, KERNEL, arguments...);
}

template <auto KERNEL, class... Arguments>
inline cudaError_t launch(dim3 grid, dim3 block, size_t shared, Arguments... arguments)
{
    return launch_on<KERNEL>(nullptr, grid, block, shared, arguments...);
}

template <class T> inline T *shared_as(void)
{
    return static_cast<T *>(cuda_host_shared());
}

/* The launch was enqueued, and failed with a message that says each of the parts. */
inline void assert_launch_failed(cudaError_t enqueued, std::initializer_list<const char *> parts)
{
    assert_int_equal(enqueued, cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    for (const char *part : parts)
        if (!strstr(cuda_host_report(), part))
            fail_msg("\"%s\" is not in: %s", part, cuda_host_report());
    assert_string_equal(cudaGetErrorString(cudaErrorLaunchFailure), cuda_host_report());
}

/* A fresh driver whose pseudo-random orders are those of `seed`. */
inline void reset_with_seed(int seed)
{
    setenv("CUDA_HOST_SEED", std::to_string(seed).c_str(), 1);
    cuda_host_reset();
}

inline void inject(const char *spec)
{
    assert_int_equal(cuda_host_inject(spec), 0);
}

/* Before and after each test. */
inline int fresh_driver(void **)
{
    unsetenv("CUDA_HOST");
    reset_with_seed(1);
    return 0;
}

inline int nothing_left(void **state)
{
    size_t left = cuda_host_allocated();

    fresh_driver(state);
    return left == 0 ? 0 : -1;
}

/* Whether a child process that does this ends well; a sanitizer ends it otherwise. */
inline bool child_ends_well(const std::function<bool()> &work)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(work() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#define CUDA_HOST_TEST(name) TEST_WITH(name, fresh_driver, nothing_left)

#endif
