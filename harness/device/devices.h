/* SPDX-License-Identifier: MIT */
/*
 * The devices of this build. A new one is one file that defines a `struct device_class`
 * (core/device.h) and one row in devices.c; a new kind has a row in core/device_label.c, too.
 *
 * Device specs as typed by the user:
 *   cpu          all cores this process may use       cpu:2     two threads
 *   cpu:free     all but one, for the others
 *   cuda         first GPU                            cuda:1    second GPU
 *   cuda:graph   launches replayed as a CUDA graph    cuda:1,graph
 *   fake         a steady clock                       fake:base=2000,sd=0.01,launch=0.02,slow=1.1
 *
 * Several of them, as in cpu:1,cpu:2, are swept: a comma in front of the name of a kind starts the
 * next one, any other belongs to the device.
 */
#ifndef HARNESS_DEVICE_DEVICES_H
#define HARNESS_DEVICE_DEVICES_H

#include "core/device_label.h"

/* Opens a device from its spec. 0; -1 for a spec that says nothing and for kinds not built in, with
 * an error that lists what there is; DEVICE_UNAVAILABLE where the spec is right but this machine
 * lacks the device (no driver, no GPU). Close with device_close(). */
enum { DEVICE_UNAVAILABLE = -2 };
int device_open(struct device *d, const char *spec, struct error *err);

struct device_list {
    struct device *items;
    size_t nr, capacity;
};

/* Opens each device of a list as device_open() does, with its results. Two that would give
 * benchmarks the same keys, such as cpu and cpu:2 on a machine of two cores, are an error.
 * devices_close() whatever the result. */
int devices_open(struct device_list *devices, const char *specs, struct error *err);
void devices_close(struct device_list *devices);

/* NULL with the reason in `why` where this build lacks the kind. */
const struct device_class *device_class_of(enum device_kind kind, const char **why);
/* The kind a spec names, or -1. */
int device_kind_of(const char *spec);
/* That of the first of a list, and whether all others are of it, too. */
int devices_kind_of(const char *specs, bool *alone);

/* Memory of alloc() that a second process works on, as long as the first has it: one of this
 * program for a judge (judge/), which also asks what that process is left with where nearly nothing
 * is, or another program, such as an interpreter of Python, which opens the driver's own handle.
 * Nothing knows a device that has these by its name. A handle is told as its bytes. */
struct device_handle {
    unsigned char bytes[64];
};
enum { DEVICE_HANDLE_TEXT_SIZE = 2 * sizeof(struct device_handle) + 1 };
/* As hex digits. */
void device_handle_text(const struct device_handle *handle, char text[DEVICE_HANDLE_TEXT_SIZE]);
/* What a guest on the device can do that a judge neither prevents nor finds. */
struct beyond_reach {
    const char *name, *words; /* as JSON has them; NULL: the end of the list */
};
struct device_lending {
    int (*lend)(struct device *d, void *memory, struct device_handle *handle, struct error *err);
    /* The memory there; NULL and an error. It stays until the process ends. */
    void *(*borrow)(struct device *d, const struct device_handle *handle, struct error *err);
    /* Until nothing that this process has enqueued is running any more, on whatever queue. -1 and
     * an error: something of it was refused, or the device is lost. */
    int (*wait)(struct device *d, struct error *err);
    const struct beyond_reach *beyond;
    /* Of the environment what its driver and libraries go by: how the settings begin,
     * "CUDA_VISIBLE_DEVICES=". Files that its driver writes to, "/dev/nvidia*", which may be
     * patterns. NULL-ended; NULL: none. */
    const char *const *environment, *const *files;
};
/* Of a started device; NULL: its memory is the host's, or it cannot, or this build lacks it. */
const struct device_lending *device_lending_of(enum device_kind kind);

/* Bytes of the caches in which a launch may find its data, to be emptied twice over: of CUDA the
 * L2's, of a CPU those of the device's threads; 0: not known. */
int64_t device_cache_bytes(const struct device *d);

/* Version of the CUDA runtime in this build, "13.0"; "" where there is none. */
const char *device_cuda_runtime(void);

#endif
