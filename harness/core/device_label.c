/* SPDX-License-Identifier: MIT */
#include "core/device_label.h"

#include "core/names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char graph_suffix[] = "-graph";

/* How a kind is called, and what its labels have around their number. */
static const struct label_kind {
    const char *name;
    const char *before, *after; /* NULL: labels have no number */
    bool bare;                  /* a label may be the name alone */
} kinds[DEVICE_KIND_NR] = {
    [DEVICE_CPU] = { "cpu", "-", "t", false },
    [DEVICE_CUDA] = { "cuda", "", "", true },
    [DEVICE_FAKE] = { "fake", NULL, NULL, true },
    [DEVICE_PROCESS] = { "process", NULL, NULL, true },
    [DEVICE_HIP] = { "hip", "", "", true },
    [DEVICE_SYCL] = { "sycl", "", "", true },
};

const char *device_kind_name(enum device_kind kind)
{
    return kinds[kind].name;
}

/* The first one of a label; 0: there is none, or no device has it. */
static int label_number(const char *label)
{
    long number = strtol(label + strcspn(label, "0123456789"), NULL, 10);

    return number <= INT_MAX ? (int)number : 0;
}

/* Whether a device of the kind, with that number, would have written the hardware so. */
static bool label_is_of(const struct label_kind *kind, const char *label, size_t hardware,
                        int number)
{
    char text[64];

    if (strncmp(label, kind->name, strlen(kind->name)) != 0 ||
        (number == 0 ? !kind->bare : !kind->before))
        return false;
    if (number == 0)
        snprintf(text, sizeof(text), "%s", kind->name);
    else
        snprintf(text, sizeof(text), "%s%s%d%s", kind->name, kind->before, number, kind->after);
    return strlen(text) == hardware && strncmp(text, label, hardware) == 0;
}

struct device_label device_label_of(const char *label)
{
    struct device_label out = { .kind = -1, .graph = name_has_ending(label, graph_suffix) };
    int number = label_number(label);

    out.hardware = strlen(label) - (out.graph ? strlen(graph_suffix) : 0);
    for (int kind = 0; kind < DEVICE_KIND_NR; kind++)
        if (label_is_of(&kinds[kind], label, out.hardware, number))
            out.kind = kind;
    out.threads = out.kind == DEVICE_CPU ? number : 0;
    return out;
}

char *device_label_hardware(const char *label, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)device_label_of(label).hardware, label);
    return text;
}
