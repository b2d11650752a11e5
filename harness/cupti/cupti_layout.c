/* SPDX-License-Identifier: MIT */
/* Nothing runs here: where CUDA's headers are, the compiler compares cupti/cupti_records.h with
 * them, field by field. */
#include "cupti/cupti_records.h"

#ifdef HARNESS_HAVE_CUPTI

#include <cupti.h>
#include <stddef.h>

#define SAME(ours, field, theirs, their_field)                                                     \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) &&                \
                       sizeof(struct ours) <= sizeof(theirs),                                      \
                   #ours "." #field)

#define SAME_KERNEL(theirs)                                                                        \
    SAME(cupti_kernel, registers, theirs, registersPerThread);                                     \
    SAME(cupti_kernel, start, theirs, start);                                                      \
    SAME(cupti_kernel, end, theirs, end);                                                          \
    SAME(cupti_kernel, device, theirs, deviceId);                                                  \
    SAME(cupti_kernel, context, theirs, contextId);                                                \
    SAME(cupti_kernel, stream, theirs, streamId);                                                  \
    SAME(cupti_kernel, grid, theirs, gridX);                                                       \
    SAME(cupti_kernel, block, theirs, blockX);                                                     \
    SAME(cupti_kernel, static_shared, theirs, staticSharedMemory);                                 \
    SAME(cupti_kernel, dynamic_shared, theirs, dynamicSharedMemory);                               \
    SAME(cupti_kernel, correlation, theirs, correlationId);                                        \
    SAME(cupti_kernel, name, theirs, name);                                                        \
    SAME(cupti_kernel, graph_node, theirs, graphNodeId);                                           \
    SAME(cupti_kernel, graph, theirs, graphId)

#define SAME_COPY(ours, theirs)                                                                    \
    SAME(ours, bytes, theirs, bytes);                                                              \
    SAME(ours, start, theirs, start);                                                              \
    SAME(ours, end, theirs, end);                                                                  \
    SAME(ours, device, theirs, deviceId);                                                          \
    SAME(ours, context, theirs, contextId);                                                        \
    SAME(ours, stream, theirs, streamId);                                                          \
    SAME(ours, correlation, theirs, correlationId);                                                \
    SAME(ours, graph_node, theirs, graphNodeId);                                                   \
    SAME(ours, graph, theirs, graphId)

SAME_KERNEL(CUpti_ActivityKernel8);
SAME_KERNEL(CUpti_ActivityKernel9);
SAME_KERNEL(CUpti_ActivityKernel10);
SAME_COPY(cupti_memcpy, CUpti_ActivityMemcpy5);
SAME_COPY(cupti_memcpy, CUpti_ActivityMemcpy6);
SAME_COPY(cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);
SAME_COPY(cupti_memset, CUpti_ActivityMemset4);
SAME(cupti_memcpy, copy, CUpti_ActivityMemcpy6, copyKind);
SAME(cupti_memcpy_peer, copy, CUpti_ActivityMemcpyPtoP4, copyKind);
SAME(cupti_call, number, CUpti_ActivityAPI, cbid);
SAME(cupti_call, start, CUpti_ActivityAPI, start);
SAME(cupti_call, end, CUpti_ActivityAPI, end);
SAME(cupti_call, process, CUpti_ActivityAPI, processId);
SAME(cupti_call, thread, CUpti_ActivityAPI, threadId);
SAME(cupti_call, correlation, CUpti_ActivityAPI, correlationId);
SAME(cupti_call, result, CUpti_ActivityAPI, returnValue);
SAME(cupti_sync, type, CUpti_ActivitySynchronization2, type);
SAME(cupti_sync, start, CUpti_ActivitySynchronization2, start);
SAME(cupti_sync, end, CUpti_ActivitySynchronization2, end);
SAME(cupti_sync, correlation, CUpti_ActivitySynchronization2, correlationId);
SAME(cupti_sync, context, CUpti_ActivitySynchronization2, contextId);
SAME(cupti_sync, stream, CUpti_ActivitySynchronization2, streamId);
SAME(cupti_graph, correlation, CUpti_ActivityGraphTrace2, correlationId);
SAME(cupti_graph, start, CUpti_ActivityGraphTrace2, start);
SAME(cupti_graph, end, CUpti_ActivityGraphTrace2, end);
SAME(cupti_graph, device, CUpti_ActivityGraphTrace2, deviceId);
SAME(cupti_graph, graph, CUpti_ActivityGraphTrace2, graphId);
SAME(cupti_graph, context, CUpti_ActivityGraphTrace2, contextId);
SAME(cupti_graph, stream, CUpti_ActivityGraphTrace2, streamId);

_Static_assert((int)CUPTI_KERNEL == (int)CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
                   (int)CUPTI_MEMCPY == (int)CUPTI_ACTIVITY_KIND_MEMCPY &&
                   (int)CUPTI_MEMSET == (int)CUPTI_ACTIVITY_KIND_MEMSET &&
                   (int)CUPTI_DRIVER == (int)CUPTI_ACTIVITY_KIND_DRIVER &&
                   (int)CUPTI_RUNTIME == (int)CUPTI_ACTIVITY_KIND_RUNTIME &&
                   (int)CUPTI_MEMCPY_PEER == (int)CUPTI_ACTIVITY_KIND_MEMCPY2 &&
                   (int)CUPTI_SYNC == (int)CUPTI_ACTIVITY_KIND_SYNCHRONIZATION &&
                   (int)CUPTI_GRAPH == (int)CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
               "kinds of records");
_Static_assert((int)CUPTI_OK == (int)CUPTI_SUCCESS &&
                   (int)CUPTI_NO_MORE_RECORDS == (int)CUPTI_ERROR_MAX_LIMIT_REACHED &&
                   (int)CUPTI_BAD_RECORD == (int)CUPTI_ERROR_INVALID_KIND &&
                   (int)CUPTI_NO_PRIVILEGES == (int)CUPTI_ERROR_INSUFFICIENT_PRIVILEGES &&
                   (int)CUPTI_NO_PRIVILEGES_VIRTUAL ==
                       (int)CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
               "results");
_Static_assert((int)CUPTI_DOMAIN_DRIVER == (int)CUPTI_CB_DOMAIN_DRIVER_API &&
                   (int)CUPTI_DOMAIN_RUNTIME == (int)CUPTI_CB_DOMAIN_RUNTIME_API &&
                   (int)CUPTI_FLUSH_FORCED == (int)CUPTI_ACTIVITY_FLAG_FLUSH_FORCED,
               "domains and flags");

#endif
