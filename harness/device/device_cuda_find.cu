/* SPDX-License-Identifier: MIT */
/*
 * Which CUDA device is meant, what it is, and in words what is wrong where there is none. Reads
 * properties only: no context is made, so a GPU in exclusive mode stays free.
 */
#include "device/device_cuda_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "base/text.h"
#include "device/devices.h"
}

enum { OLDEST_MAJOR = 8 };            /* of compute capabilities that the kernels are written for */
static const double event_step = 500; /* ns: documented resolution of events */

/* CUDA counts 13.0 as 13000. */
struct version {
    int major, minor;
};

static struct version version_of(int number)
{
    return { number / 1000, number % 1000 / 10 };
}

/* Driver branches that a toolkit's major version asks for at least (CUDA release notes, "CUDA
 * Driver"); 0: not known. */
static int driver_branch(int major)
{
    return major == 13 ? 580 : major == 12 ? 525 : 0;
}

static int explain_driver(struct error *err)
{
    int driver_number = 0, runtime_number = 0;
    char branch[48] = "";

    cudaDriverGetVersion(&driver_number);
    cudaRuntimeGetVersion(&runtime_number);
    struct version driver = version_of(driver_number), runtime = version_of(runtime_number);
    if (driver_branch(runtime.major))
        snprintf(branch, sizeof(branch), " (version %d or newer)", driver_branch(runtime.major));
    if (driver_number == 0)
        error_set(err, "there is no NVIDIA driver here; CUDA %d.%d needs one%s", runtime.major,
                  runtime.minor, branch);
    else
        error_set(err,
                  "the NVIDIA driver is too old: it can do CUDA %d.%d, this build needs %d.%d; "
                  "update the driver%s or build with an older toolkit",
                  driver.major, driver.minor, runtime.major, runtime.minor, branch);
    return DEVICE_UNAVAILABLE;
}

static int explain_none(struct error *err)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");

    if (visible)
        error_set(err, "the driver shows no GPU; CUDA_VISIBLE_DEVICES is \"%s\"", visible);
    else
        error_set(err, "there is a driver, but no GPU");
    return DEVICE_UNAVAILABLE;
}

static int count_devices(int *nr, struct error *err)
{
    cudaError_t rc = cudaGetDeviceCount(nr);

    cudaGetLastError(); /* it is told here, and shall not be found again later */
    if (rc == cudaErrorInsufficientDriver)
        return explain_driver(err);
    if (rc == cudaErrorNoDevice || (rc == cudaSuccess && *nr == 0))
        return explain_none(err);
    return CUDA_TRY(rc, err) ? DEVICE_UNAVAILABLE : 0;
}

/* "", "1", "graph" or "1,graph". */
static int parse_cuda_spec(const char *argument, int64_t *index, bool *graph, struct error *err)
{
    const char *word = argument;

    *index = 0;
    *graph = false;
    while (*word) {
        size_t length = strcspn(word, ",");
        char item[32];
        snprintf(item, sizeof(item), "%.*s", (int)length, word);
        if (strcmp(item, "graph") == 0)
            *graph = true;
        else if (text_parse_int(item, 0, 9999, "device", index, err))
            return error_set(err, "\"%s\" is neither a device number nor \"graph\"", item);
        word += length + (word[length] == ',');
    }
    return 0;
}

static int check_index(int64_t index, int nr, struct error *err)
{
    if (index < nr)
        return 0;
    return nr == 1 ? error_set(err, "there is 1 device: 0")
                   : error_set(err, "there are %d devices: 0..%d", nr, nr - 1);
}

static void print_uuid(const cudaDeviceProp &p, char text[48])
{
    char *to = text + snprintf(text, 48, "GPU");

    for (int i = 0; i < 16; i++) {
        bool dash = i == 0 || (i >= 4 && i <= 10 && i % 2 == 0);
        to += snprintf(to, 4, "%s%02x", dash ? "-" : "", (unsigned char)p.uuid.bytes[i]);
    }
}

static double clock_ghz(int index)
{
    int khz = 0;

    if (cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, index) != cudaSuccess || khz <= 0)
        return 2; /* only waits of some microseconds hang on it */
    return khz * 1e-6;
}

static void describe_cuda(struct device *d, struct cuda *cuda)
{
    const cudaDeviceProp &p = cuda->properties;
    int driver_number = 0, runtime_number = 0;
    char uuid[48], number[16] = "", memory[TEXT_UNIT_SIZE];

    cudaDriverGetVersion(&driver_number);
    cudaRuntimeGetVersion(&runtime_number);
    struct version driver = version_of(driver_number), runtime = version_of(runtime_number);
    if (cuda->index > 0)
        snprintf(number, sizeof(number), "%d", cuda->index);
    snprintf(d->label, sizeof(d->label), "cuda%s%s", number, cuda->graph_mode ? "-graph" : "");
    print_uuid(p, uuid);
    snprintf(d->describe, sizeof(d->describe),
             "%.63s, compute %d.%d, %d SMs at %.2f GHz, L2 %d MiB, %s%s, driver for CUDA %d.%d, "
             "runtime %d.%d, %s",
             p.name, p.major, p.minor, p.multiProcessorCount, cuda->ghz, p.l2CacheSize >> 20,
             text_bytes((double)p.totalGlobalMem, memory), p.ECCEnabled ? " with ECC" : "",
             driver.major, driver.minor, runtime.major, runtime.minor, uuid);
    snprintf(d->pci, sizeof(d->pci), "%08x:%02x:%02x.0", (unsigned)p.pciDomainID,
             (unsigned)p.pciBusID, (unsigned)p.pciDeviceID);
    snprintf(d->model, sizeof(d->model), "%.63s", p.name);
    snprintf(d->capability, sizeof(d->capability), "%d.%d", p.major, p.minor);
    d->clock_step = event_step;
    d->index = cuda->index;
}

int cuda_find(struct device *d, struct cuda *cuda, const char *argument, struct error *err)
{
    cudaDeviceProp &p = cuda->properties;
    int nr = 0, rc;
    int64_t index;

    if (parse_cuda_spec(argument, &index, &cuda->graph_mode, err))
        return -1;
    rc = count_devices(&nr, err);
    if (rc == 0)
        rc = check_index(index, nr, err);
    if (rc)
        return rc;
    cuda->index = (int)index;
    if (CUDA_TRY(cudaGetDeviceProperties(&p, cuda->index), err))
        return DEVICE_UNAVAILABLE;
    if (p.major < OLDEST_MAJOR) {
        error_set(err, "%s has compute capability %d.%d; this build has kernels for %d.0 and newer",
                  p.name, p.major, p.minor, OLDEST_MAJOR);
        return DEVICE_UNAVAILABLE;
    }
    cuda->ghz = clock_ghz(cuda->index);
    describe_cuda(d, cuda);
    return 0;
}

int cuda_explain_start(cudaError_t rc, struct error *err)
{
    if (rc == cudaErrorDevicesUnavailable)
        return error_prefix(err,
                            "it is busy: another process has it for itself (`nvidia-smi -q -d "
                            "COMPUTE,PIDS` tells)");
    if (rc == cudaErrorMemoryAllocation)
        return error_prefix(err,
                            "its memory is full: even a context does not fit (`nvidia-smi` "
                            "tells who has it)");
    return -1;
}
