/* SPDX-License-Identifier: MIT */
/*
 * libcuda.so.1 of a process that opens memory of the host layer's and is not of it: an interpreter
 * of Python (harness/plugin/cuda_tensors.py). The calls that are made there, with the driver's
 * meanings, as far as they have one where a device's memory is the host's.
 *
 * Work is what a test has done later (cuda_stand_in_later): when its context is synchronised and
 * not before, as on a device that is busy. Who takes the results or the time before that has
 * neither.
 *
 * LIBCUDA_FAIL=CALL:N:CODE in the environment: the Nth call of CALL (first is 1) returns CODE.
 */
#include "ipc.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace cuda_host;

enum result {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    ILLEGAL_ADDRESS = 700,
};

struct context {
    std::vector<void (*)(void)> later;
};
struct handle {
    char bytes[64];
};
struct opened {
    uint64_t begin, end;
};

enum { DEVICES = 8, LAZY_PEER = 1 };

static bool initialized;
static struct context primary[DEVICES];
static thread_local struct context *current;
static std::vector<struct opened> all_opened;

/* ---- what goes wrong ---- */

struct planted {
    std::string call;
    long countdown;
    int code;
};

static struct planted planted_by_environment(void)
{
    const char *text = getenv("LIBCUDA_FAIL");
    char call[64] = "";
    struct planted p = { "", 0, SUCCESS };

    if (text && sscanf(text, "%63[^:]:%ld:%d", call, &p.countdown, &p.code) != 3) {
        fprintf(stderr, "LIBCUDA_FAIL=%s is not CALL:N:CODE\n", text);
        exit(2); /* a test that misspells it must not pass for want of it */
    }
    p.call = call;
    return p;
}

/* Why a call is not served: it is to fail, or asks too early. */
static int refusal(const char *call, bool needs_context)
{
    static struct planted p = planted_by_environment();

    if (p.call == call && --p.countdown == 0)
        return p.code;
    if (!initialized)
        return NOT_INITIALIZED;
    return needs_context && !current ? INVALID_CONTEXT : SUCCESS;
}

extern "C" {

int cuGetErrorString(int code, const char **text)
{
    static const struct {
        int code;
        const char *text;
    } words[] = {
        { INVALID_VALUE, "invalid argument" },
        { NOT_INITIALIZED, "initialization error" },
        { NO_DEVICE, "no CUDA-capable device is detected" },
        { INVALID_DEVICE, "invalid device ordinal" },
        { INVALID_CONTEXT, "invalid device context" },
        { ILLEGAL_ADDRESS, "an illegal memory access was encountered" },
    };

    *text = nullptr;
    for (const auto &row : words)
        if (row.code == code)
            *text = row.text;
    return *text ? SUCCESS : INVALID_VALUE;
}

/* ---- devices and contexts ---- */

int cuInit(unsigned flags)
{
    initialized = flags == 0;
    return initialized ? refusal("cuInit", false) : INVALID_VALUE;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    if (ordinal < 0 || ordinal >= DEVICES)
        return INVALID_DEVICE;
    return refusal("cuDeviceGet", false);
}

int cuDevicePrimaryCtxRetain(struct context **made, int device)
{
    *made = &primary[device];
    return refusal("cuDevicePrimaryCtxRetain", false);
}

int cuCtxSetCurrent(struct context *one)
{
    current = one;
    return refusal("cuCtxSetCurrent", false);
}

int cuCtxSynchronize(void)
{
    int rc = refusal("cuCtxSynchronize", true);
    std::vector<void (*)(void)> work;

    if (rc == SUCCESS)
        work.swap(current->later);
    for (void (*one)(void) : work)
        one();
    return rc;
}

/* ---- memory ---- */

int cuIpcOpenMemHandle_v2(uint64_t *memory, struct handle given, unsigned flags)
{
    int rc = refusal("cuIpcOpenMemHandle_v2", true);
    struct ipc_content content;

    memcpy(&content, &given, sizeof(content));
    void *at = rc == SUCCESS && flags == LAZY_PEER ? ipc_open_content(&content) : nullptr;
    *memory = reinterpret_cast<uint64_t>(at);
    if (at)
        all_opened.push_back({ *memory, *memory + content.bytes });
    return rc != SUCCESS ? rc : at ? SUCCESS : INVALID_VALUE;
}

/* To what harness has lent alone; from wherever a test has its results. */
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes)
{
    int rc = refusal("cuMemcpyDtoD_v2", true);
    bool inside = false;

    for (const struct opened &one : all_opened)
        inside |= to >= one.begin && to < one.end && bytes <= one.end - to;
    if (rc == SUCCESS && (!inside || !from))
        return INVALID_VALUE;
    if (rc == SUCCESS)
        memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    return rc;
}

/* ---- for tests ---- */

void cuda_stand_in_later(void (*work)(void))
{
    primary[0].later.push_back(work);
}
}
