/* SPDX-License-Identifier: MIT */
/*
 * Variants of null/copy for the fake device: one that is right, and one for each way of being
 * wrong that a check must catch. They show only when the fake device is asked for.
 */
#include "core/kernel.h"

#include <string.h>

static size_t bytes(const struct call *call)
{
    return (size_t)tensor_bytes(&call->tensor[0]);
}

static void copy(const struct call *call)
{
    memcpy(call->tensor[1].data, call->tensor[0].data, bytes(call));
}

/* One element off by 1e-3. */
static void inexact(const struct call *call)
{
    copy(call);
    *(float *)call->tensor[1].data += 1e-3F;
}

/* Leaves the last element as it found it: the poison must show. */
static void incomplete(const struct call *call)
{
    memcpy(call->tensor[1].data, call->tensor[0].data, bytes(call) - sizeof(float));
}

/* Right, but spoils its input. */
static void spoils_input(const struct call *call)
{
    copy(call);
    memset(call->tensor[0].data, 0, sizeof(float));
}

static bool supports_nothing(const struct kernel *k, const struct shape *s, const struct device *d,
                             struct error *why)
{
    (void)k;
    (void)s;
    (void)d;
    error_set(why, "made to be unsupported");
    return false;
}

static int prepare_fails(struct call *call, struct error *err)
{
    (void)call;
    return error_set(err, "made to fail in prepare");
}

#define FAKE(name_, summary_, ...)                                                                 \
    {                                                                                              \
        .name = name_, .summary = summary_, .device = DEVICE_FAKE, .dtype = DTYPE_FP32,            \
        .math = MATH_FP32, .flags = VARIANT_HIDDEN, __VA_ARGS__                                    \
    }

extern const struct kernel null_copy;
extern const struct variant null_fake[];
const struct variant null_fake[] = {
    FAKE("right", "copies", .kernel = &null_copy, .launch = copy),
    FAKE("inexact", "one element off", .kernel = &null_copy, .launch = inexact),
    FAKE("incomplete", "one element not written", .kernel = &null_copy, .launch = incomplete),
    FAKE("spoils", "writes to its input", .kernel = &null_copy, .launch = spoils_input),
    FAKE("unsupported", "supports nothing", .kernel = &null_copy, .supports = supports_nothing,
         .launch = copy),
    FAKE("unprepared", "fails in prepare", .kernel = &null_copy, .prepare = prepare_fails,
         .launch = copy),
    { .name = NULL },
};
