/* SPDX-License-Identifier: MIT */
/*
 * A libnvidia-ml.so.1 of two GPUs, for tests: the first by index lies at PCI place
 * 00000000:81:00.0, the second at 00000000:01:00.0, where the first GPU of tests/cuda_host is:
 * order and place disagree as CUDA_VISIBLE_DEVICES can make them. Their numbers differ.
 *
 * $NVML_STUB, words separated by commas, is read at every call:
 *   no-init     nvmlInit_v2 fails      refuse     every reading fails (not supported)
 *   no-events   events are refused     xid        two XID errors wait: 79, then 45
 *   idle        the energy counter stands still
 *   mixed       the second GPU is another model
 *
 * NVML_STUB_OLD leaves out what older drivers lack: field values, energy, XID events, and the newer
 * name of the clock limits.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    TIMEOUT = 10
};
enum { EVENT_XID = 8 };

struct gpu {
    const char *pci;
    unsigned mhz, milliwatts, celsius;
    unsigned long long millijoules;
    int looks;
};

static struct gpu gpus[] = {
    { .pci = "00000000:81:00.0", .mhz = 1000, .milliwatts = 50000, .celsius = 30 },
    { .pci = "00000000:01:00.0", .mhz = 1980, .milliwatts = 300000, .celsius = 61 },
};
static int started, xids_told;

static bool told(const char *word)
{
    const char *words = getenv("NVML_STUB");
    size_t length = strlen(word);

    for (const char *at = words; at && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

static int ready(void)
{
    return started <= 0 ? UNINITIALIZED : told("refuse") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    if (told("no-init"))
        return 9; /* driver not loaded */
    started++;
    xids_told = 0;
    return SUCCESS;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
    return started-- > 0 ? SUCCESS : UNINITIALIZED;
}

const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code)
{
    return code == NOT_FOUND ? "Not Found" : code == 9 ? "Driver Not Loaded" : "Error";
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, struct gpu **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, struct gpu **device)
{
    if (started <= 0)
        return UNINITIALIZED;
    for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++)
        if (strcmp(pci, gpus[i].pci) == 0) {
            *device = &gpus[i];
            return SUCCESS;
        }
    return NOT_FOUND;
}

int nvmlSystemGetDriverVersion(char *version, unsigned size);
int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    snprintf(version, size, "580.95.05");
    return ready();
}

int nvmlDeviceGetCount_v2(unsigned *nr);
int nvmlDeviceGetCount_v2(unsigned *nr)
{
    *nr = sizeof(gpus) / sizeof(*gpus);
    return ready();
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu **device)
{
    if (index >= sizeof(gpus) / sizeof(*gpus))
        return INVALID;
    *device = &gpus[index];
    return ready();
}

int nvmlDeviceGetName(const struct gpu *device, char *name, unsigned size);
int nvmlDeviceGetName(const struct gpu *device, char *name, unsigned size)
{
    snprintf(name, size, "%s", told("mixed") && device == &gpus[1] ? "NVIDIA L4" : "NVIDIA H200");
    return ready();
}

int nvmlDeviceGetUUID(const struct gpu *device, char *uuid, unsigned size);
int nvmlDeviceGetUUID(const struct gpu *device, char *uuid, unsigned size)
{
    snprintf(uuid, size, "GPU-%td", device - gpus);
    return ready();
}

int nvmlDeviceGetEccMode(const struct gpu *device, unsigned *now, unsigned *after_restart);
int nvmlDeviceGetEccMode(const struct gpu *device, unsigned *now, unsigned *after_restart)
{
    *now = device == &gpus[0];
    *after_restart = !*now;
    return ready();
}

/* The second one is of a kind that has no such mode. */
int nvmlDeviceGetMigMode(const struct gpu *device, unsigned *now, unsigned *after_restart);
int nvmlDeviceGetMigMode(const struct gpu *device, unsigned *now, unsigned *after_restart)
{
    *now = *after_restart = 0;
    return device == &gpus[0] ? ready() : NOT_SUPPORTED;
}

/* On for the first one alone. */
int nvmlDeviceGetPersistenceMode(const struct gpu *device, unsigned *on);
int nvmlDeviceGetPersistenceMode(const struct gpu *device, unsigned *on)
{
    *on = device == &gpus[0];
    return ready();
}

/* Two on the second one, for which the caller has no room. */
int nvmlDeviceGetComputeRunningProcesses_v3(const struct gpu *device, unsigned *nr, void *infos);
int nvmlDeviceGetComputeRunningProcesses_v3(const struct gpu *device, unsigned *nr, void *infos)
{
    bool room = device == &gpus[0] || (*nr >= 2 && infos);

    *nr = device == &gpus[0] ? 0 : 2;
    return ready() != SUCCESS ? ready() : room ? SUCCESS : 7;
}

/* 1: streaming multiprocessors, 2: memory */
int nvmlDeviceGetClockInfo(const struct gpu *device, int which, unsigned *mhz);
int nvmlDeviceGetClockInfo(const struct gpu *device, int which, unsigned *mhz)
{
    *mhz = which == 1 ? device->mhz : 2 * device->mhz;
    return which == 1 || which == 2 ? ready() : INVALID;
}

/* 1 W more at each look. */
int nvmlDeviceGetApplicationsClock(const struct gpu *device, int which, unsigned *mhz);
int nvmlDeviceGetApplicationsClock(const struct gpu *device, int which, unsigned *mhz)
{
    (void)device;
    *mhz = which == 1 ? 1410 : 0;
    return 0;
}

int nvmlDeviceGetPowerUsage(struct gpu *device, unsigned *milliwatts);
int nvmlDeviceGetPowerUsage(struct gpu *device, unsigned *milliwatts)
{
    *milliwatts = device->milliwatts + 1000 * (unsigned)device->looks++;
    return ready();
}

int nvmlDeviceGetEnforcedPowerLimit(const struct gpu *device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(const struct gpu *device, unsigned *milliwatts)
{
    *milliwatts = 2 * device->milliwatts;
    return ready();
}

int nvmlDeviceGetTemperature(const struct gpu *device, int sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(const struct gpu *device, int sensor, unsigned *celsius)
{
    *celsius = device->celsius;
    return sensor == 0 ? ready() : INVALID;
}

int nvmlDeviceGetUtilizationRates(const struct gpu *device, unsigned *gpu_then_memory);
int nvmlDeviceGetUtilizationRates(const struct gpu *device, unsigned *gpu_then_memory)
{
    gpu_then_memory[0] = device->celsius + 10;
    gpu_then_memory[1] = 5;
    return ready();
}

int nvmlDeviceGetMemoryInfo(const struct gpu *device, unsigned long long *total_free_used);
int nvmlDeviceGetMemoryInfo(const struct gpu *device, unsigned long long *total_free_used)
{
    total_free_used[0] = 1ULL << 34;
    total_free_used[1] = (1ULL << 34) - device->mhz;
    total_free_used[2] = device->mhz;
    return ready();
}

/* Held by power at every second look, and at the last one by the hardware and its heat. */
static int clock_limits(const struct gpu *device, unsigned long long *bits)
{
    *bits = device->looks % 2 ? 0x4 : 0x8 | 0x40;
    return ready();
}

#ifdef NVML_STUB_OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(const struct gpu *device, unsigned long long *bits);
int nvmlDeviceGetCurrentClocksThrottleReasons(const struct gpu *device, unsigned long long *bits)
{
    return clock_limits(device, bits);
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(const struct gpu *device, unsigned long long *bits);
int nvmlDeviceGetCurrentClocksEventReasons(const struct gpu *device, unsigned long long *bits)
{
    return clock_limits(device, bits);
}

/* 2 J more at each question. */
int nvmlDeviceGetTotalEnergyConsumption(struct gpu *device, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(struct gpu *device, unsigned long long *millijoules)
{
    device->millijoules += told("idle") ? 0 : 2000;
    *millijoules = device->millijoules;
    return ready();
}

struct field {
    unsigned id, scope;
    long long timestamp, latency;
    int type, status;
    unsigned long long value;
};

int nvmlDeviceGetFieldValues(const struct gpu *device, int nr, struct field *fields);
int nvmlDeviceGetFieldValues(const struct gpu *device, int nr, struct field *fields)
{
    for (int i = 0; i < nr; i++) {
        bool power = fields[i].id == 186;
        fields[i].status = power || fields[i].id == 82 ? SUCCESS : NOT_SUPPORTED;
        fields[i].type = 1;
        fields[i].value = power ? device->milliwatts - 50000 : device->celsius + 20;
    }
    return ready();
}

int nvmlEventSetCreate(int **set);
int nvmlEventSetCreate(int **set)
{
    *set = malloc(sizeof(**set)); /* so that a set that is not freed is a leak */
    return SUCCESS;
}

int nvmlEventSetFree(int *set);
int nvmlEventSetFree(int *set)
{
    free(set);
    return SUCCESS;
}

int nvmlDeviceRegisterEvents(const struct gpu *device, unsigned long long types, const int *set);
int nvmlDeviceRegisterEvents(const struct gpu *device, unsigned long long types, const int *set)
{
    return !set || types != EVENT_XID || !device ? INVALID
           : told("no-events")                   ? NOT_SUPPORTED
                                                 : SUCCESS;
}

struct event {
    const struct gpu *device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

int nvmlEventSetWait_v2(const int *set, struct event *event, unsigned timeout_ms);
int nvmlEventSetWait_v2(const int *set, struct event *event, unsigned timeout_ms)
{
    static const unsigned codes[] = { 79, 45 };

    (void)timeout_ms;
    if (!set || !told("xid") || xids_told == 2)
        return TIMEOUT;
    *event = (struct event) { .device = &gpus[1], .type = EVENT_XID, .data = codes[xids_told++] };
    return SUCCESS;
}
#endif
