/* SPDX-License-Identifier: MIT */
/*
 * What the fuzz targets share. A target takes any bytes, as libFuzzer or fuzz_replay.c hands them
 * over; it must not crash, hang or leak, and what it calls must keep its word:
 *
 *     FUZZ_TARGET(date)
 *     {
 *         char *text = fuzz_text(data, size);
 *         if (text_parse_date(text, "text", &ms, &err) == 0)
 *             FUZZ_CHECK(ms > -YEARS && ms < YEARS);
 *         free(text);
 *     }
 *
 * CMake finds the targets by these lines. What one keeps between inputs must not change what the
 * next input does.
 */
#ifndef HARNESS_TESTS_FUZZ_H
#define HARNESS_TESTS_FUZZ_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define FUZZ_TARGET(name)                                                                          \
    void fuzz_##name(const uint8_t *data, size_t size);                                            \
    void fuzz_##name(const uint8_t *data, size_t size)

/* Ends the process with the place where a word was not kept: a finding, as a crash is one. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fuzz_broken(#condition, __FILE__, __LINE__);                                           \
    } while (0)
/* The same with the message of what should have succeeded. */
#define FUZZ_OK(rc, err)                                                                           \
    do {                                                                                           \
        if ((rc) != 0)                                                                             \
            fuzz_broken((err)->message, __FILE__, __LINE__);                                       \
    } while (0)
void fuzz_broken(const char *what, const char *file, int line) __attribute__((noreturn));

/* The bytes up to the first NUL as a string on the heap, no byte longer than it must be. */
char *fuzz_text(const uint8_t *data, size_t size);
/* A folder for this process alone, which goes with it. It may be made in memory: $TMPDIR. */
const char *fuzz_folder(void);
/* The path of a file with these bytes; the next call replaces it. */
const char *fuzz_file(const void *bytes, size_t size);
/* Removes a folder with all that is in it. */
void fuzz_remove(const char *folder);

#endif
