/* SPDX-License-Identifier: MIT */
/* What every cmocka test needs, in the order that cmocka wants it. */
#ifndef HARNESS_TESTS_TESTING_H
#define HARNESS_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* |a - b| <= tolerance, with both values in the message. */
#define assert_close(a, b, tolerance)                                                              \
    do {                                                                                           \
        double a_ = (a), b_ = (b);                                                                 \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                       \
            fail_msg("%s = %.17g, expected %.17g", #a, a_, b_);                                    \
    } while (0)

/* A part that a text has, or has not; both in the message. */
#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        const char *text_ = (text), *part_ = (part);                                               \
        if (!strstr(text_, part_))                                                                 \
            fail_msg("\"%s\" is not in %s: %s", part_, #text, text_);                              \
    } while (0)
#define assert_lacks(text, part)                                                                   \
    do {                                                                                           \
        const char *text_ = (text), *part_ = (part);                                               \
        if (strstr(text_, part_))                                                                  \
            fail_msg("\"%s\" is in %s: %s", part_, #text, text_);                                  \
    } while (0)

/* rc == 0, else the error's message. */
#define assert_ok(rc, err)                                                                         \
    do {                                                                                           \
        if ((rc) != 0)                                                                             \
            fail_msg("%s: %s", #rc, (err)->message);                                               \
    } while (0)

#endif
