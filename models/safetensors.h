/* SPDX-License-Identifier: MIT */
/*
 * The safetensors file format: 8 bytes little-endian header length, a JSON object that gives each
 * tensor's dtype, shape and [begin, end) in the data that follows, then the data. Source: the
 * format's published description (huggingface.co/docs/safetensors).
 *
 * A file is believed only after everything in its header agrees with everything else and with the
 * file's size: as the format demands, the tensors cover the data without holes or overlaps.
 */
#ifndef HARNESS_MODELS_SAFETENSORS_H
#define HARNESS_MODELS_SAFETENSORS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
    SAFETENSORS_RANK = 8,
    SAFETENSORS_HEADER_LIMIT = 100000000, /* bytes; the format's own limit */
};

struct safetensors_entry {
    char *name;        /* owned by the file */
    const char *dtype; /* "F32", "F16", "BF16", "I64", ... */
    int rank;
    int64_t extent[SAFETENSORS_RANK];
    int64_t elements;
    int64_t begin, end; /* bytes from the start of the data */
};

struct safetensors {
    char *path;
    int fd;
    int64_t data_start;              /* byte offset of the data in the file */
    struct safetensors_entry *items; /* in the order of their data */
    size_t nr, capacity;
};

/* Opens and validates; on error nothing is left open. Close with safetensors_close(). */
int safetensors_open(struct safetensors *file, const char *path, struct error *err);
void safetensors_close(struct safetensors *file);

/* NULL if there is none. */
const struct safetensors_entry *safetensors_find(const struct safetensors *file, const char *name);
/* "[768, 2304]" into `text`, which is returned. */
enum { SAFETENSORS_SHAPE_SIZE = 192 };
char *safetensors_shape(const struct safetensors_entry *entry, char text[SAFETENSORS_SHAPE_SIZE]);
/* Reads a tensor of dtype F32, F16 or BF16 as floats to out[entry->elements]. */
int safetensors_read(const struct safetensors *file, const struct safetensors_entry *entry,
                     float *out, struct error *err);

/* Half precision (IEEE 754 binary16) widened; exact. */
float safetensors_half(uint16_t half);

/* What a writer is told of one F32 tensor. `fill` stores its elements to `out`. */
struct safetensors_source {
    const char *name;
    int rank;
    int64_t extent[SAFETENSORS_RANK];
    void (*fill)(const struct safetensors_source *source, float *out);
    const void *context;
};

/* Writes the tensors in the given order, in one step: the file is either complete or untouched. */
int safetensors_write(const char *path, const struct safetensors_source *sources, size_t nr,
                      struct error *err);

#endif
