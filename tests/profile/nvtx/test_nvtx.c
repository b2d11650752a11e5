/* SPDX-License-Identifier: MIT */
/* Covers S0-25, S3-09: scopes are NVTX ranges, through NVTX's own header and the way by which tools
 * such as nsys listen. */
#include "profile/profile.h"
#include "testing.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

static void push(void *context, const char *name)
{
    (void)context;
    nvtxRangePushA(name);
}

static void pop(void *context)
{
    (void)context;
    nvtxRangePop();
}

static const struct prof_hooks hooks = { .push = push, .pop = pop };

static void layer(void)
{
    PROF_SCOPE("layer");
    {
        PROF_SCOPE("qkv");
    }
    PROF_SCOPE("attention");
}

TEST(scopes_are_ranges)
{
    assert_int_equal(setenv("NVTX_INJECTION64_PATH", NVTX_INJECT, 1), 0);
    assert_int_equal(prof_set_hooks(prof_global(), &hooks), 0);
    layer(); /* off: none */
    assert_int_equal(prof_set_on(prof_global(), 1), 0);
    layer();
    prof_set_on(prof_global(), 0);
    layer();
    void *tool = dlopen(NVTX_INJECT, RTLD_NOW);
    assert_non_null(tool);
    const char *(*seen)(void);
    *(void **)&seen = dlsym(tool, "nvtx_inject_seen");
    assert_non_null(seen);
    assert_string_equal(seen(), "layer(qkv()attention())");
    dlclose(tool);
    prof_set_hooks(prof_global(), NULL);
}

RUN_TESTS(NULL, NULL)
