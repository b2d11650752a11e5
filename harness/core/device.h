/* SPDX-License-Identifier: MIT */
/*
 * A device owns memory and a clock and runs calls. Four kinds have a class: cpu (OpenMP threads),
 * cuda, process (programs, each run a process of its own), and fake (a scripted clock, for tests of
 * everything above it). This is what all of them have in common; which there are says
 * device/devices.h.
 *
 * Opening a device finds and describes it; starting it takes hold of the hardware. So a process
 * that only names benchmarks does not occupy a GPU which its children are to use.
 */
#ifndef HARNESS_CORE_DEVICE_H
#define HARNESS_CORE_DEVICE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Plugins say kinds by these numbers, which stay (plugin/plugin.h). HIP and SYCL are names so far.
 */
enum device_kind {
    DEVICE_CPU,
    DEVICE_CUDA,
    DEVICE_FAKE,
    DEVICE_PROCESS,
    DEVICE_HIP,
    DEVICE_SYCL,
    DEVICE_KIND_NR
};

/* The spec of the device that is used where none is named: it is not told in commands. */
#define DEVICE_SPEC_USUAL "cpu"

struct call;
struct device;
struct device_lending; /* device/devices.h */

/* What others ask of a kind of device is a member here: none is asked for by its name where another
 * could be as it is. */
struct device_class {
    const char *name;  /* "cpu" */
    const char *clock; /* "CLOCK_MONOTONIC_RAW", stored with each measurement */
    /* `argument` is what follows the colon of the spec, or "". Fills device->state, label. */
    int (*open)(struct device *d, const char *argument, struct error *err);
    /* Takes hold of the hardware, see device_start(). NULL: there is nothing to do. */
    int (*start)(struct device *d, struct error *err);
    void (*close)(struct device *d);
    /* Memory aligned to 64 bytes or better; NULL and an error that tells the bytes asked for. */
    void *(*alloc)(struct device *d, size_t bytes, struct error *err);
    void (*free)(struct device *d, void *memory);
    int (*upload)(struct device *d, void *to, const void *from, size_t bytes, struct error *err);
    int (*download)(struct device *d, void *to, const void *from, size_t bytes, struct error *err);
    /* Before the first and after the last run of a prepared call, outside all timing; may be NULL.
     * What a device makes for a call (a CUDA graph) lives in between. end() also finds faults that
     * came late: it sets `broken`. */
    int (*begin)(struct device *d, const struct call *call, struct error *err);
    void (*end)(struct device *d, const struct call *call);
    /* Empties the caches, so that the next launch is cold; may go on while the host does not wait:
     * time() and run() come after it. What it needs for that goes with end(). */
    int (*flush)(struct device *d, struct error *err);
    /* Runs the call `batch` times back to back and gives the whole time in ns. */
    int (*time)(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
                struct error *err);
    /* Runs it once, untimed, and waits until nothing is running any more. */
    int (*run)(struct device *d, const struct call *call, struct error *err);
    /* Bytes that can still be allocated, for refusing what would not fit. */
    int64_t (*available)(struct device *d);
    /* The queue on which launches enqueue, once it is started: a cudaStream_t. NULL: there is none.
     */
    void *(*stream)(const struct device *d);
    /* Bytes of the caches in which a launch may find its data; not known: 0. NULL: the host's are
     * those, or, with memory of its own, they are not known. */
    int64_t (*cache_bytes)(const struct device *d);
    /* Memory that a second process works on: a judge's, a Python function's. NULL: none can be. */
    const struct device_lending *lending;
    bool own_memory; /* what alloc() gives the host cannot follow, and keeps a copy of */
    bool rotates;    /* time() goes from a call to its `next`, where it has one (core/kernel.h) */
    bool has_roofs;  /* see device_has_roofs() */
    bool nvidia;     /* its driver is the one that machine/environment.h tells of */
};

struct device {
    const struct device_class *ops;
    enum device_kind kind;
    char spec[256];              /* as typed */
    char label[64];              /* in keys: "cpu-2t", "cuda", "fake"; see core/device_label.h */
    char describe[256];          /* for people: "AMD EPYC, 2 threads" */
    int threads;                 /* CPU threads in use; 0 for other kinds */
    int index;                   /* which of its kind: 1 of "cuda:1" */
    double clock_step;           /* smallest measurable time in ns */
    char pci[20];                /* a GPU's place, "00000000:1b:00.0"; "" for other kinds */
    char model[64];              /* a GPU's name, "NVIDIA H200"; "" for other kinds */
    char capability[8];          /* and compute capability, "9.0" */
    char driver[32];             /* version of an accelerator's driver, where open() can tell it */
    bool started;                /* see device_start() */
    bool broken;                 /* a fault that only a fresh process mends: nothing more can run */
    double planted;              /* share of a launch that a fake device adds, measure/plant.h */
    double disturbed;            /* by how much a fake device is slowed, as its probe tells */
    bool probed;                 /* whether a fake device has a probe */
    bool shares;                 /* what device_alloc() gives from now on another process can be
                                  * given: see device_shared(), or else `lending` */
    void *state;                 /* the class's own */
    struct device_block *blocks; /* what device_alloc() gave and has not got back */
    size_t nr_blocks, blocks_capacity;
    int64_t memory_live, memory_peak; /* bytes of those, now and at most */
    int64_t flush_held;               /* bytes of this process that flush() needs besides */
};

void device_close(struct device *d);
/* Takes hold of the hardware (a CUDA context, a stream), once; device_alloc() does so too. Fails
 * where the device is busy or out of memory. */
int device_start(struct device *d, struct error *err);

/* Memory of the device, tracked: see ops->alloc. Free by device_free() before device_close(). */
void *device_alloc(struct device *d, size_t bytes, struct error *err);
void device_free(struct device *d, void *memory); /* NULL is allowed */
/* Where memory, of a block or inside one, lies in a file without a name, of which `whole` bytes are
 * to be mapped; the descriptor stays the device's. False: it was not allocated as shared. */
struct device_file {
    int fd;
    size_t offset, whole;
};
bool device_shared(const struct device *d, const void *memory, struct device_file *file);

/* What launches enqueue on, as a plugin is told it; NULL where that is nothing. */
void *device_stream(const struct device *d);

/* Whether it has roofs (core/record.h) to be measured: not a scripted clock, nor processes. */
bool device_has_roofs(const struct device *d);

/* Cores this process may run on. */
int device_cpu_cores(void);

#endif
