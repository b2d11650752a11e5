/* SPDX-License-Identifier: MIT */
/*
 * The CUDA device from the inside, shared by its files and by nobody else:
 *
 *   device_cuda.cu        memory, copies, the table of operations; calls the others
 *   device_cuda_base.cu   errors: all of them call it
 *   device_cuda_find.cu   drivers, devices, descriptions: nothing here occupies the GPU
 *   device_cuda_time.cu   running and timing on the stream, flushing the L2
 *   device_cuda_graph.cu  launches captured in a CUDA graph
 *   device_cuda_lend.cu   memory that a second process works on
 */
#ifndef HARNESS_DEVICE_DEVICE_CUDA_BASE_H
#define HARNESS_DEVICE_DEVICE_CUDA_BASE_H

#include "device/device_cuda.h"
#include "device/devices.h"

#include <stdint.h>

/* Launches of one call as a graph, ready to be replayed. */
struct cuda_graph {
    cudaGraphExec_t exec; /* null: there is none */
    unsigned launches;
};

struct cuda {
    int index;
    bool graph_mode;
    cudaDeviceProp properties;
    double ghz; /* of the multiprocessors, as the driver tells */
    cudaStream_t stream;
    cudaEvent_t start, stop;
    void *evict; /* twice the L2, overwritten and read to empty it */
    struct cuda_graph graph;
    double enqueue_ns; /* what a launch or replay of the call in hand costs the host; 0: unknown */
    unsigned late;     /* how often in a row work went on after its last event */
};

inline struct cuda *cuda_of(const struct device *d)
{
    return static_cast<struct cuda *>(d->state);
}

/* Like device_cuda_failed(), and sets d->broken if the error is one that stays. */
int cuda_failed(struct device *d, cudaError_t rc, const char *call, const char *file, int line,
                struct error *err);
#define CUDA_DO(d, call, err)                                                                      \
    do {                                                                                           \
        if (cuda_failed((d), (call), #call, __FILE__, __LINE__, (err)))                            \
            return -1;                                                                             \
    } while (0)

/* Fills index, mode, properties and all that is told of the device; DEVICE_UNAVAILABLE as in
 * device_open(). */
int cuda_find(struct device *d, struct cuda *cuda, const char *argument, struct error *err);
/* Why the context could not be made, added to the error. */
int cuda_explain_start(cudaError_t rc, struct error *err);

int cuda_begin(struct device *d, const struct call *call, struct error *err);
void cuda_end(struct device *d, const struct call *call);
int cuda_flush(struct device *d, struct error *err);
int cuda_time(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
              struct error *err);
int cuda_run(struct device *d, const struct call *call, struct error *err);

/* Launches in the graph of a sample of `batch`: a VARIANT_WHOLE has one, others all of them, up to
 * a limit. It divides `batch`. */
unsigned cuda_graph_launches(const struct call *call, unsigned batch);
/* Makes the graph of `launches` launches of the call, unless it is there. */
int cuda_graph_make(struct device *d, const struct call *call, unsigned launches,
                    struct error *err);
void cuda_graph_drop(struct cuda *cuda);

extern const struct device_lending cuda_lending;

#endif
