/* SPDX-License-Identifier: MIT */
/*
 * libmicrohttpd, opened when a server starts: it brings ten libraries along, and every launch of a
 * benchmark is a fresh process that would load them all for nothing.
 */
#ifndef HARNESS_SERVE_LIBRARY_H
#define HARNESS_SERVE_LIBRARY_H

#include "base/error.h"

#include <microhttpd.h>

/* Its functions that are used here; their types are those of its own header. */
#define LIBRARY_FUNCTIONS(X)                                                                       \
    X(start_daemon)                                                                                \
    X(quiesce_daemon)                                                                              \
    X(stop_daemon)                                                                                 \
    X(get_connection_info)                                                                         \
    X(get_connection_values)                                                                       \
    X(lookup_connection_value)                                                                     \
    X(lookup_connection_value_n)                                                                   \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_buffer_with_free_callback_cls)                                          \
    X(create_response_from_callback)                                                               \
    X(add_response_header)                                                                         \
    X(queue_response)                                                                              \
    X(destroy_response)

#define LIBRARY_MEMBER(name) __typeof__(MHD_##name) *name;

struct library {
    void *handle;
    LIBRARY_FUNCTIONS(LIBRARY_MEMBER)
};

int library_open(struct library *library, struct error *err);
void library_close(struct library *library); /* one that is not open is fine */

#endif
