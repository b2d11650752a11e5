/* SPDX-License-Identifier: MIT */
/*
 * Texts against files under tests/fixtures. After an intended change run the test once with
 * HARNESS_UPDATE_GOLDEN=1 in its environment, which writes the files anew, and look at the diff.
 */
#ifndef HARNESS_TESTS_GOLDEN_H
#define HARNESS_TESTS_GOLDEN_H

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

static inline void assert_golden(const char *text, const char *folder, const char *name)
{
    char path[512];
    struct error err;

    snprintf(path, sizeof(path), "%s/tests/fixtures/%s/%s", HARNESS_SOURCE_DIR, folder, name);
    if (getenv("HARNESS_UPDATE_GOLDEN")) {
        assert_ok(file_make_parent(path, &err), &err);
        assert_ok(file_write(path, text, strlen(text), &err), &err);
        return;
    }
    char *expected = file_read(path, FILE_RECORDS_MOST, NULL, &err);
    if (!expected)
        fail_msg("%s (HARNESS_UPDATE_GOLDEN=1 writes it)", err.message);
    size_t at = 0;
    while (text[at] && text[at] == expected[at])
        at++;
    size_t from = at > 60 ? at - 60 : 0;
    if (strcmp(text, expected) != 0)
        fail_msg(
            "%s differs at byte %zu:\n  expected ...%.160s\n  got      ...%.160s\n"
            "If that is intended: HARNESS_UPDATE_GOLDEN=1",
            path, at, expected + (from < strlen(expected) ? from : strlen(expected)), text + from);
    free(expected);
}

#endif
