/* SPDX-License-Identifier: MIT */
#include "machine/nvml.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INSUFFICIENT_SIZE = 7 };
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_CHIP = 0 };
enum { FIELD_MEMORY_TEMPERATURE = 82, FIELD_POWER_INSTANT = 186 };
enum { VALUE_UNSIGNED = 1, EVENT_XID = 8 };

typedef void *handle; /* NVML's devices and event sets are opaque pointers */

struct utilisation {
    unsigned gpu, memory;
};

struct memory {
    unsigned long long total, free, used;
};

struct field {
    unsigned id, scope;
    long long timestamp, latency;
    int type, status;
    union {
        double number;
        unsigned value;
        unsigned long long wide;
    } value;
};

struct event {
    handle device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

/* Each returns SUCCESS or an error code; NULL where the library lacks it. */
struct functions {
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_text)(int code);
    int (*device_at)(const char *pci, handle *device);
    int (*clock)(handle device, int which, unsigned *mhz);
    int (*application_clock)(handle device, int which, unsigned *mhz);
    int (*power)(handle device, unsigned *milliwatts);
    int (*power_limit)(handle device, unsigned *milliwatts);
    int (*energy)(handle device, unsigned long long *millijoules);
    int (*temperature)(handle device, int which, unsigned *celsius);
    int (*fields)(handle device, int nr, struct field *fields);
    int (*utilisation)(handle device, struct utilisation *u);
    int (*memory)(handle device, struct memory *m);
    int (*clock_limits)(handle device, unsigned long long *bits);
    int (*event_set_create)(handle *set);
    int (*event_set_free)(handle set);
    int (*register_events)(handle device, unsigned long long types, handle set);
    int (*event_wait)(handle set, struct event *event, unsigned timeout_ms);
    int (*driver)(char *version, unsigned size);
    int (*count)(unsigned *nr);
    int (*device_nr)(unsigned index, handle *device);
    int (*name)(handle device, char *text, unsigned size);
    int (*uuid)(handle device, char *text, unsigned size);
    int (*ecc)(handle device, unsigned *now, unsigned *after_restart);
    int (*mig)(handle device, unsigned *now, unsigned *after_restart);
    int (*persistence)(handle device, unsigned *on);
    int (*processes)(handle device, unsigned *nr, void *infos);
};

struct nvml {
    void *library;
    struct functions call;
    handle device, events;
};

/* A second name is an older one for the same. */
static const struct {
    const char *name, *older;
    size_t at;
} symbols[] = {
    { "nvmlInit_v2", NULL, offsetof(struct functions, init) },
    { "nvmlShutdown", NULL, offsetof(struct functions, shutdown) },
    { "nvmlErrorString", NULL, offsetof(struct functions, error_text) },
    { "nvmlDeviceGetHandleByPciBusId_v2", NULL, offsetof(struct functions, device_at) },
    { "nvmlDeviceGetClockInfo", NULL, offsetof(struct functions, clock) },
    { "nvmlDeviceGetApplicationsClock", NULL, offsetof(struct functions, application_clock) },
    { "nvmlDeviceGetPowerUsage", NULL, offsetof(struct functions, power) },
    { "nvmlDeviceGetEnforcedPowerLimit", NULL, offsetof(struct functions, power_limit) },
    { "nvmlDeviceGetTotalEnergyConsumption", NULL, offsetof(struct functions, energy) },
    { "nvmlDeviceGetTemperature", NULL, offsetof(struct functions, temperature) },
    { "nvmlDeviceGetFieldValues", NULL, offsetof(struct functions, fields) },
    { "nvmlDeviceGetUtilizationRates", NULL, offsetof(struct functions, utilisation) },
    { "nvmlDeviceGetMemoryInfo", NULL, offsetof(struct functions, memory) },
    { "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",
      offsetof(struct functions, clock_limits) },
    { "nvmlEventSetCreate", NULL, offsetof(struct functions, event_set_create) },
    { "nvmlEventSetFree", NULL, offsetof(struct functions, event_set_free) },
    { "nvmlDeviceRegisterEvents", NULL, offsetof(struct functions, register_events) },
    { "nvmlEventSetWait_v2", NULL, offsetof(struct functions, event_wait) },
    { "nvmlSystemGetDriverVersion", NULL, offsetof(struct functions, driver) },
    { "nvmlDeviceGetCount_v2", NULL, offsetof(struct functions, count) },
    { "nvmlDeviceGetHandleByIndex_v2", NULL, offsetof(struct functions, device_nr) },
    { "nvmlDeviceGetName", NULL, offsetof(struct functions, name) },
    { "nvmlDeviceGetUUID", NULL, offsetof(struct functions, uuid) },
    { "nvmlDeviceGetEccMode", NULL, offsetof(struct functions, ecc) },
    { "nvmlDeviceGetMigMode", NULL, offsetof(struct functions, mig) },
    { "nvmlDeviceGetPersistenceMode", NULL, offsetof(struct functions, persistence) },
    { "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
      offsetof(struct functions, processes) },
};

static int load_library(struct nvml *n, struct error *why)
{
    const char *path = getenv("HARNESS_NVML");

    n->library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->library)
        return error_set(why, "NVML cannot be opened: %s", dlerror());
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
        void *symbol = dlsym(n->library, symbols[i].name);
        if (!symbol && symbols[i].older)
            symbol = dlsym(n->library, symbols[i].older);
        /* C has no cast from an object pointer to a function's; POSIX makes them the same. */
        memcpy((char *)&n->call + symbols[i].at, &symbol, sizeof(symbol));
    }
    if (!n->call.init || !n->call.shutdown || !n->call.device_at)
        return error_set(why, "NVML is too old: it cannot find a GPU by its PCI place");
    return 0;
}

static int refused_call(const struct nvml *n, const char *what, int code, struct error *why)
{
    return error_set(why, "NVML: %s: %s", what,
                     n->call.error_text ? n->call.error_text(code) : "no reason given");
}

/* XID errors need rights and a GPU that reports events: without them there are none to read. */
static void listen_for_xid(struct nvml *n)
{
    const struct functions *call = &n->call;

    if (!call->event_set_create || !call->event_set_free || !call->register_events ||
        !call->event_wait || call->event_set_create(&n->events) != SUCCESS) {
        n->events = NULL;
        return;
    }
    if (call->register_events(n->device, EVENT_XID, n->events) != SUCCESS) {
        call->event_set_free(n->events);
        n->events = NULL;
    }
}

/* From the initialised library to the device. */
static int find_device(struct nvml *n, const char *pci, struct error *why)
{
    int code = n->call.device_at(pci, &n->device);

    if (code == SUCCESS) {
        listen_for_xid(n);
        return 0;
    }
    refused_call(n, pci, code, why);
    n->call.shutdown();
    return -1;
}

static int start_library(struct nvml *n, const char *pci, struct error *why)
{
    if (load_library(n, why))
        return -1;
    int code = n->call.init();
    return code == SUCCESS ? find_device(n, pci, why) : refused_call(n, "start", code, why);
}

struct nvml *nvml_open(const char *pci, struct error *why)
{
    struct nvml *n = memory_zeroed(1, sizeof(*n));

    if (start_library(n, pci, why) == 0)
        return n;
    if (n->library)
        dlclose(n->library);
    free(n);
    return NULL;
}

void nvml_close(struct nvml *n)
{
    if (!n)
        return;
    if (n->events)
        n->call.event_set_free(n->events);
    n->call.shutdown();
    dlclose(n->library);
    free(n);
}

static double clock_mhz(const struct nvml *n, int which)
{
    unsigned mhz;

    return n->call.clock && n->call.clock(n->device, which, &mhz) == SUCCESS ? mhz : (double)NAN;
}

static double application_mhz(const struct nvml *n)
{
    unsigned mhz;

    if (!n->call.application_clock ||
        n->call.application_clock(n->device, CLOCK_SM, &mhz) != SUCCESS)
        return NAN;
    return mhz;
}

static double sm_mhz(const struct nvml *n)
{
    return clock_mhz(n, CLOCK_SM);
}

static double memory_mhz(const struct nvml *n)
{
    return clock_mhz(n, CLOCK_MEMORY);
}

static double read_watts(const struct nvml *n, int (*read)(handle device, unsigned *milliwatts))
{
    unsigned milliwatts;

    return read && read(n->device, &milliwatts) == SUCCESS ? milliwatts * 1e-3 : (double)NAN;
}

static double power_watts(const struct nvml *n)
{
    return read_watts(n, n->call.power);
}

static double power_limit(const struct nvml *n)
{
    return read_watts(n, n->call.power_limit);
}

static double energy_joules(const struct nvml *n)
{
    unsigned long long mj;

    return n->call.energy && n->call.energy(n->device, &mj) == SUCCESS ? (double)mj * 1e-3
                                                                       : (double)NAN;
}

static double chip_temperature(const struct nvml *n)
{
    unsigned celsius;

    if (!n->call.temperature ||
        n->call.temperature(n->device, TEMPERATURE_CHIP, &celsius) != SUCCESS)
        return NAN;
    return celsius;
}

static double field_value(const struct nvml *n, unsigned id)
{
    struct field field = { .id = id };

    if (!n->call.fields || n->call.fields(n->device, 1, &field) != SUCCESS ||
        field.status != SUCCESS || field.type != VALUE_UNSIGNED)
        return NAN;
    return field.value.value;
}

static double memory_temperature(const struct nvml *n)
{
    return field_value(n, FIELD_MEMORY_TEMPERATURE);
}

static double power_now(const struct nvml *n)
{
    return field_value(n, FIELD_POWER_INSTANT) * 1e-3;
}

static double gpu_utilisation(const struct nvml *n)
{
    struct utilisation u;

    if (!n->call.utilisation || n->call.utilisation(n->device, &u) != SUCCESS)
        return NAN;
    return u.gpu;
}

static double memory_used(const struct nvml *n)
{
    struct memory m;

    return n->call.memory && n->call.memory(n->device, &m) == SUCCESS ? (double)m.used
                                                                      : (double)NAN;
}

double nvml_read(const struct nvml *n, enum nvml_number number)
{
    static double (*const readers[NVML_NUMBER_NR])(const struct nvml *n) = {
        [NVML_SM_MHZ] = sm_mhz,
        [NVML_MEMORY_MHZ] = memory_mhz,
        [NVML_POWER_WATTS] = power_watts,
        [NVML_POWER_NOW_WATTS] = power_now,
        [NVML_POWER_LIMIT_WATTS] = power_limit,
        [NVML_ENERGY_JOULES] = energy_joules,
        [NVML_TEMPERATURE] = chip_temperature,
        [NVML_MEMORY_TEMPERATURE] = memory_temperature,
        [NVML_UTILISATION] = gpu_utilisation,
        [NVML_MEMORY_USED] = memory_used,
    };

    return readers[number](n);
}

static int64_t read_clock_limits(const struct nvml *n, handle device)
{
    unsigned long long bits;

    if (!n->call.clock_limits || n->call.clock_limits(device, &bits) != SUCCESS)
        return -1;
    return (int64_t)(bits & INT64_MAX);
}

int64_t nvml_clock_limits(const struct nvml *n)
{
    return read_clock_limits(n, n->device);
}

int64_t nvml_xid(const struct nvml *n, unsigned wait_ms)
{
    struct event event;

    if (!n->events || n->call.event_wait(n->events, &event, wait_ms) != SUCCESS ||
        event.type != EVENT_XID)
        return -1;
    return (int64_t)(event.data & INT64_MAX);
}

static int read_mode(handle device,
                     int (*read)(handle device, unsigned *now, unsigned *after_restart))
{
    unsigned now, after_restart;

    return read && read(device, &now, &after_restart) == SUCCESS ? (int)now : -1;
}

static int read_persistence(const struct nvml *n, handle device)
{
    unsigned on;

    return n->call.persistence && n->call.persistence(device, &on) == SUCCESS ? (int)on : -1;
}

/* With no room for any, the answer is their number. */
static int count_processes(const struct nvml *n, handle device)
{
    unsigned nr = 0;

    if (!n->call.processes)
        return -1;
    int code = n->call.processes(device, &nr, NULL);
    return code == SUCCESS || code == INSUFFICIENT_SIZE ? (int)nr : -1;
}

static bool fill_gpu(const struct nvml *n, unsigned index, struct nvml_gpu *gpu)
{
    const struct functions *call = &n->call;
    handle device;

    *gpu = (struct nvml_gpu) { 0 };
    if (call->device_nr(index, &device) != SUCCESS ||
        call->name(device, gpu->name, sizeof(gpu->name)) != SUCCESS)
        return false;
    if (!call->uuid || call->uuid(device, gpu->uuid, sizeof(gpu->uuid)) != SUCCESS)
        gpu->uuid[0] = '\0';
    gpu->ecc = read_mode(device, call->ecc);
    gpu->mig = read_mode(device, call->mig);
    gpu->persistence = read_persistence(n, device);
    gpu->processes = count_processes(n, device);
    gpu->limits = read_clock_limits(n, device);
    const struct nvml one = { .call = *call, .device = device };
    gpu->application_mhz = application_mhz(&one);
    gpu->power_limit_watts = power_limit(&one);
    return true;
}

static int fill_gpus(const struct nvml *n, struct nvml_gpu *out, int most, char driver[32])
{
    const struct functions *call = &n->call;
    unsigned nr = 0;
    int filled = 0;

    if (!call->count || !call->device_nr || !call->name || call->count(&nr) != SUCCESS)
        return 0;
    for (unsigned i = 0; i < nr && filled < most; i++)
        filled += fill_gpu(n, i, &out[filled]);
    if (!call->driver || call->driver(driver, 32) != SUCCESS)
        driver[0] = '\0';
    return filled;
}

int nvml_list(struct nvml_gpu *out, int most, char driver[32])
{
    struct nvml n = { 0 };
    struct error ignored;
    int nr = 0;

    driver[0] = '\0';
    if (load_library(&n, &ignored) == 0 && n.call.init() == SUCCESS) {
        nr = fill_gpus(&n, out, most, driver);
        n.call.shutdown();
    }
    if (n.library)
        dlclose(n.library);
    return nr;
}
