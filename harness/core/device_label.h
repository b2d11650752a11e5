/* SPDX-License-Identifier: MIT */
/*
 * The device in keys, and what it says. Each device writes its label when it is opened; here is the
 * one place that reads it. (What is typed is a spec, device/devices.h has its grammar.)
 *
 *     label    = hardware, or hardware "-graph": launches are replayed as a graph
 *     hardware = "cpu-2t": so many threads
 *              | "cuda", "cuda1": the first GPU and the second
 *              | "fake" | "process"
 *
 * Results of other programs have any text there: it is of no kind then.
 */
#ifndef HARNESS_CORE_DEVICE_LABEL_H
#define HARNESS_CORE_DEVICE_LABEL_H

#include "core/device.h"

struct device_label {
    int kind;        /* enum device_kind; -1: of none */
    int threads;     /* of a CPU; 0 for other kinds */
    bool graph;      /* of any text that ends so */
    size_t hardware; /* bytes of the label's beginning that name hardware: that is what has roofs */
};

struct device_label device_label_of(const char *label);
/* That beginning, "cuda" of "cuda-graph". Returns `text`. */
char *device_label_hardware(const char *label, char *text, size_t size);

/* "cpu": labels and specs begin with it. */
const char *device_kind_name(enum device_kind kind);

#endif
