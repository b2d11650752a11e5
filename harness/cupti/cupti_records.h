/* SPDX-License-Identifier: MIT */
/*
 * Inside cupti/: CUPTI's activity records, up to the last field that is read here, and the few
 * constants of its API, so that no header of CUDA is needed to build. NVIDIA's CUPTI reference,
 * "Activity record types"; cupti/cupti_layout.c lets the compiler compare them with its headers.
 */
#ifndef HARNESS_CUPTI_CUPTI_RECORDS_H
#define HARNESS_CUPTI_CUPTI_RECORDS_H

#include <stdint.h>

enum cupti_kind {
    CUPTI_MEMCPY = 1,
    CUPTI_MEMSET = 2,
    CUPTI_KERNEL_SERIAL = 3, /* would make kernels wait for each other: never asked for */
    CUPTI_DRIVER = 4,
    CUPTI_RUNTIME = 5,
    CUPTI_KERNEL = 10, /* CONCURRENT_KERNEL */
    CUPTI_MEMCPY_PEER = 22,
    CUPTI_SYNC = 38,
    CUPTI_GRAPH = 51,
};

enum cupti_result {
    CUPTI_OK = 0,
    CUPTI_NO_MORE_RECORDS = 12,
    CUPTI_BAD_RECORD = 21,
    CUPTI_NO_PRIVILEGES = 35,
    CUPTI_MULTIPLE_SUBSCRIBERS = 39,
    CUPTI_NO_PRIVILEGES_VIRTUAL = 40,
};

enum { CUPTI_THREADS_OF_SYSTEM = 1 }; /* else threads are pthread_self(), cut to 32 bits */
enum { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RUNTIME = 2, CUPTI_FLUSH_FORCED = 1 };

struct cupti_kernel {
    uint32_t kind;
    uint8_t cache, shared_config;
    uint16_t registers;
    uint32_t cache_requested, cache_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total;
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t shared_limit;
    uint32_t graph;
};

struct cupti_memcpy {
    uint32_t kind;
    uint8_t copy, source, destination, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation, padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
};

struct cupti_memcpy_peer {
    uint32_t kind;
    uint8_t copy, source, destination, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t source_device, source_context, destination_device, destination_context;
    uint32_t correlation;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
};

struct cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory;
    uint32_t padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
};

struct cupti_call {
    uint32_t kind, number;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};

struct cupti_sync {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
};

struct cupti_graph {
    uint32_t kind, correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
};

#endif
