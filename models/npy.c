/* SPDX-License-Identifier: MIT */
#include "models/npy.h"

#include "base/file.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "floats are stored as they lie");

static const char magic[8] = { '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0 };

enum { PREFIX = 10, ALIGN = 64 }; /* magic, version and a 16-bit length; data starts aligned */

/* Elements, or -1 where the file would be beyond counting. */
static int64_t count(const int64_t *extent, int rank)
{
    int64_t elements = 1;

    for (int i = 0; i < rank; i++)
        if (extent[i] < 0 || __builtin_mul_overflow(elements, extent[i], &elements))
            return -1;
    return elements < INT64_MAX / 8 ? elements : -1;
}

static void add_header(struct strbuf *out, const int64_t *extent, int rank)
{
    strbuf_add(out, magic, sizeof(magic));
    strbuf_add(out, "\0", 2); /* the length, known below */
    strbuf_adds(out, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < rank; i++)
        strbuf_addf(out, "%s%lld", i ? ", " : "", (long long)extent[i]);
    strbuf_adds(out, rank == 1 ? ",), }" : "), }");
    strbuf_pad(out, (out->length / ALIGN + 1) * ALIGN - 1, ' ');
    strbuf_addc(out, '\n');
    size_t length = out->length - PREFIX;
    out->data[8] = (char)(length & 0xff);
    out->data[9] = (char)(length >> 8);
}

int npy_write(const char *path, const float *data, const int64_t *extent, int rank,
              struct error *err)
{
    int64_t elements = rank >= 1 && rank <= NPY_RANK ? count(extent, rank) : -1;
    struct strbuf header;
    int rc = -1;

    if (elements < 0)
        return error_set(err, "%s: a .npy file of this rank or size is not supported", path);
    strbuf_init(&header);
    add_header(&header, extent, rank);
    size_t bytes = (size_t)elements * sizeof(*data);
    char *file = malloc(header.length + bytes);
    if (!file) {
        error_set(err, "%s: no memory for %zu bytes", path, header.length + bytes);
        goto out;
    }
    memcpy(file, header.data, header.length);
    if (bytes)
        memcpy(file + header.length, data, bytes);
    rc = file_write(path, file, header.length + bytes, err);
out:
    free(file);
    strbuf_release(&header);
    return rc;
}

/* The numbers of a Python tuple that starts after "'shape': (". */
static int parse_shape(const char *text, int64_t extent[NPY_RANK], int *rank)
{
    *rank = 0;
    while (*text && *text != ')') {
        char *end;
        long long value = strtoll(text, &end, 10);
        if (end == text || value < 0 || *rank == NPY_RANK)
            return -1;
        extent[(*rank)++] = value;
        text = end + strspn(end, ", ");
    }
    return *text == ')' && *rank > 0 ? 0 : -1;
}

/* Where the data begins, or 0 for a file that is not what npy_write() writes. */
static size_t parse_header(const char *file, size_t length, int64_t extent[NPY_RANK], int *rank)
{
    if (length < PREFIX || memcmp(file, magic, sizeof(magic)) != 0)
        return 0;
    size_t header = (size_t)(unsigned char)file[8] | (size_t)(unsigned char)file[9] << 8;
    if (header > length - PREFIX)
        return 0;
    char *text = strndup(file + PREFIX, header);
    const char *shape = text ? strstr(text, "'shape': (") : NULL;
    bool good = shape && strstr(text, "'descr': '<f4'") && strstr(text, "'fortran_order': False") &&
                parse_shape(shape + strlen("'shape': ("), extent, rank) == 0;
    free(text);
    return good ? PREFIX + header : 0;
}

float *npy_read(const char *path, int64_t extent[NPY_RANK], int *rank, struct error *err)
{
    size_t length;
    char *file = file_read(path, FILE_ARRAYS_MOST, &length, err);

    if (!file)
        return NULL;
    size_t start = parse_header(file, length, extent, rank);
    int64_t elements = start ? count(extent, *rank) : -1;
    if (elements < 0 || (size_t)elements * sizeof(float) != length - start) {
        error_set(err, "%s: not a .npy file (version 1.0) of float32 in C order, or truncated",
                  path);
        free(file);
        return NULL;
    }
    memmove(file, file + start, length - start);
    return (float *)(void *)file;
}
