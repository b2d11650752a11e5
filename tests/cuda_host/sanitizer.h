/* SPDX-License-Identifier: MIT */
/* CUDA_HOST_ASAN and CUDA_HOST_TSAN: 1 where the compiler puts that sanitizer in, else 0. */
#ifndef CUDA_HOST_SANITIZER_H
#define CUDA_HOST_SANITIZER_H

#ifdef __has_feature
#define CUDA_HOST_FEATURE(name) __has_feature(name)
#else
#define CUDA_HOST_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || CUDA_HOST_FEATURE(address_sanitizer)
#define CUDA_HOST_ASAN 1
#else
#define CUDA_HOST_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || CUDA_HOST_FEATURE(thread_sanitizer)
#define CUDA_HOST_TSAN 1
#else
#define CUDA_HOST_TSAN 0
#endif

#endif
