/* SPDX-License-Identifier: MIT */
/* What the tests of launches share: this program, started again, is the child. */
#ifndef HARNESS_TESTS_LAUNCH_TESTING_H
#define HARNESS_TESTS_LAUNCH_TESTING_H

#include "testing.h"

#include "core/registry.h"

#include <stdlib.h>
#include <sys/resource.h>

extern const struct kernel null_copy;
extern const struct variant null_fake[];

#define CHILD_VARIANT(name_, ...)                                                                  \
    {                                                                                              \
        .name = name_, .summary = name_, .kernel = &null_copy, .device = DEVICE_FAKE,              \
        .dtype = DTYPE_FP32, .math = MATH_FP32, __VA_ARGS__                                        \
    }

static inline void child_copy(const struct call *call)
{
    memcpy(call->tensor[1].data, call->tensor[0].data, (size_t)tensor_bytes(&call->tensor[0]));
}

static inline void assert_says(const char *message, const char *part)
{
    if (!message || !strstr(message, part))
        fail_msg("\"%s\" is not in: %s", part, message ? message : "(nothing)");
}

/* Crashes are on purpose here: no core files, and no sanitizer in between. Of the hundreds of
 * launches that follow none looks for leaks, which is half of their work; those of the commands'
 * tests do. */
static inline void allow_crashes(void)
{
    struct rlimit none = { 0, 0 };
    const char *given = getenv("ASAN_OPTIONS");
    char options[512];

    setrlimit(RLIMIT_CORE, &none);
    snprintf(options, sizeof(options), "%s%shandle_segv=0:handle_abort=0:detect_leaks=0",
             given ? given : "", given ? ":" : "");
    setenv("ASAN_OPTIONS", options, 1);
}

#endif
