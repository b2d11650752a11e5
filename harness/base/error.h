/* SPDX-License-Identifier: MIT */
/*
 * Errors as values. A function that can fail returns 0 or -1 and takes a last argument
 * `struct error *`; on -1 the message is complete enough to be printed to a stranger.
 * Nothing below cli/ prints or exits.
 */
#ifndef HARNESS_BASE_ERROR_H
#define HARNESS_BASE_ERROR_H

struct error {
    char message[1024];
};

/* Sets the message and returns -1, so that `return error_set(err, ...)` reads well. */
int error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "what: " in front of the message and returns -1. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
