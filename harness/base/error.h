/* SPDX-License-Identifier: MIT */
/*
 * Errors as values. A function that can fail returns 0 or -1 and takes a last argument
 * `struct error *`; on -1 the message is complete enough to be printed to a stranger.
 * Nothing below cli/ prints or exits. Texts that a message takes (%s) are cleaned, base/clean.h;
 * only their newlines stay, since it may quote what a program wrote.
 */
#ifndef HARNESS_BASE_ERROR_H
#define HARNESS_BASE_ERROR_H

struct error {
    char message[1024];
};

/* Sets the message; its value is -1, so that `return error_set(err, ...)` reads well. A macro, so
 * that compilers and analysers see the -1 and know that what follows success did succeed. */
#define error_set(err, ...)                                                                        \
    __extension__({                                                                                \
        error_record((err), __VA_ARGS__);                                                          \
        -1;                                                                                        \
    })

/* Puts "what: " in front of the message; its value is -1. */
#define error_prefix(err, ...)                                                                     \
    __extension__({                                                                                \
        error_record_prefix((err), __VA_ARGS__);                                                   \
        -1;                                                                                        \
    })

void error_record(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
void error_record_prefix(struct error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
