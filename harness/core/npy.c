/* SPDX-License-Identifier: MIT */
#include "core/npy.h"

#include "base/file.h"
#include "base/strbuf.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "floats are stored as they lie");

static const char magic[8] = { '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0 };

enum {
    PREFIX = 10, /* magic, version and a 16-bit length */
    ALIGN = 64,  /* data starts aligned */
    MAGIC = 6,   /* bytes, before the version */
    HEADER_MOST = 64 << 10,
};

/* Elements, or -1 where the file would be beyond counting. */
static int64_t count_elements(const int64_t *extent, int rank)
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
    int64_t elements = rank >= 1 && rank <= NPY_RANK ? count_elements(extent, rank) : -1;
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

/* ---- reading ---- */

/* The header, a literal of Python: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }. */
struct header {
    const char *at;   /* what is read next; a NUL ends it */
    const char *path; /* for messages */
    char descr[16];
    bool fortran;
    int64_t elements;
    bool has_descr, has_order, has_shape;
};

static int header_error(const struct header *h, struct error *err)
{
    return error_set(err, "%s: its header is not as numpy.save() writes it, near \"%.20s\"",
                     h->path, h->at);
}

static bool skip_token(struct header *h, const char *word)
{
    h->at += strspn(h->at, " \n\t");
    if (strncmp(h->at, word, strlen(word)) != 0)
        return false;
    h->at += strlen(word);
    return true;
}

/* What does not fit is cut: no longer one is known. */
static bool take_text(struct header *h, char *text, size_t size)
{
    char quote[2] = "'";

    if (!skip_token(h, quote) && !skip_token(h, strcpy(quote, "\"")))
        return false;
    size_t length = strcspn(h->at, quote);
    if (!h->at[length])
        return false;
    snprintf(text, size, "%.*s", (int)(length < size ? length : size - 1), h->at);
    h->at += length + 1;
    return true;
}

static bool take_shape(struct header *h)
{
    h->elements = 1;
    if (!skip_token(h, "("))
        return false;
    while (!skip_token(h, ")")) {
        char *end;
        h->at += strspn(h->at, " ");
        if (*h->at < '0' || *h->at > '9')
            return false;
        errno = 0;
        long long extent = strtoll(h->at, &end, 10);
        if (errno || __builtin_mul_overflow(h->elements, extent, &h->elements))
            h->elements = -1; /* and so it stays, or a file of that size is there */
        if (h->elements < 0)
            return false;
        h->at = end;
        if (!skip_token(h, ",") && *h->at != ')')
            return false;
    }
    return true;
}

static bool take_member(struct header *h)
{
    char key[16];

    if (!take_text(h, key, sizeof(key)) || !skip_token(h, ":"))
        return false;
    if (strcmp(key, "descr") == 0) {
        h->has_descr = true;
        return take_text(h, h->descr, sizeof(h->descr)) || skip_token(h, "[");
    }
    if (strcmp(key, "fortran_order") == 0) {
        h->has_order = true;
        h->fortran = skip_token(h, "True");
        return h->fortran || skip_token(h, "False");
    }
    h->has_shape |= strcmp(key, "shape") == 0;
    return strcmp(key, "shape") == 0 && take_shape(h);
}

static int parse_header(struct header *h, struct error *err)
{
    if (!skip_token(h, "{"))
        return header_error(h, err);
    while (!skip_token(h, "}")) {
        if (!take_member(h))
            return header_error(h, err);
        if (h->has_descr && !h->descr[0])
            return error_set(err, "%s: holds records of several fields: save one of them alone",
                             h->path);
        if (!skip_token(h, ",") && *h->at != '}')
            return header_error(h, err);
    }
    h->at += strspn(h->at, " \n");
    return *h->at || !h->has_descr || !h->has_order || !h->has_shape ? header_error(h, err) : 0;
}

static int find_dtype(const struct header *h, enum dtype *dtype, struct error *err)
{
    static const struct {
        const char *descr;
        enum dtype dtype;
    } known[] = { { "<f2", DTYPE_FP16 }, { "<f4", DTYPE_FP32 }, { "<f8", DTYPE_FP64 } };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].descr, h->descr) == 0) {
            *dtype = known[i].dtype;
            return 0;
        }
    return error_set(err,
                     "%s: its elements are '%s'; float16, float32 and float64 of this machine's "
                     "byte order are read: numpy.save(FILE, array.astype('float32'))",
                     h->path, h->descr);
}

/* The text of the header, which ends where the data begins: a NUL is put there for a moment. */
static int read_header(struct npy *a, struct header *h, char *text, size_t length,
                       struct error *err)
{
    char first = text[length];

    text[length] = '\0';
    h->at = text;
    int rc = memchr(text, '\0', length) ? header_error(h, err) : parse_header(h, err);
    if (rc == 0)
        rc = find_dtype(h, &a->dtype, err);
    text[length] = first;
    return rc;
}

/* Where the header's text begins and how long it is. */
static int find_header(const struct npy *a, const char *path, size_t *start, size_t *length,
                       struct error *err)
{
    const unsigned char *file = (const unsigned char *)a->file;

    if (a->bytes >= 2 && memcmp(file, "PK", 2) == 0)
        return error_set(err, "%s: is an archive of arrays (.npz): save one with numpy.save()",
                         path);
    if (a->bytes < PREFIX + 2 || memcmp(file, magic, MAGIC) != 0)
        return error_set(err, "%s: is no .npy file of NumPy's: numpy.save(FILE, array) writes one",
                         path);
    if (file[MAGIC] < 1 || file[MAGIC] > 3 || file[MAGIC + 1] != 0)
        return error_set(err, "%s: is of version %d.%d of the .npy format; 1.0 to 3.0 are read",
                         path, file[MAGIC], file[MAGIC + 1]);
    *start = file[MAGIC] == 1 ? PREFIX : PREFIX + 2;
    *length = (size_t)file[8] | (size_t)file[9] << 8;
    if (file[MAGIC] > 1)
        *length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (*length > HEADER_MOST)
        return error_set(err, "%s: its header would have %zu bytes, more than any array needs",
                         path, *length);
    return *length <= a->bytes - *start
               ? 0
               : error_set(err, "%s: ends within its header: it was cut off", path);
}

static int check_size(const struct npy *a, const char *path, size_t start, struct error *err)
{
    size_t has = a->bytes - start, size = dtype_size(a->dtype);

    if (a->elements == 0)
        return error_set(err, "%s: is an array without elements", path);
    if (has / size < (size_t)a->elements)
        return error_set(err,
                         "%s: is of %lld elements by its header and has bytes for %zu: it was cut "
                         "off",
                         path, (long long)a->elements, has / size);
    return has == (size_t)a->elements * size
               ? 0
               : error_set(err, "%s: has %zu bytes behind its array, which belong to nothing", path,
                           has - (size_t)a->elements * size);
}

static int check_finite(const struct npy *a, const char *path, struct error *err)
{
    const struct tensor t = { .dtype = a->dtype, .data = (void *)a->data };

    for (int64_t i = 0; i < a->elements; i++) {
        double x = tensor_get(&t, i);
        if (!isfinite(x))
            return error_set(err, "%s: element %lld is %s: numpy.nan_to_num(array) makes it finite",
                             path, (long long)i, isnan(x) ? "no number (NaN)" : "infinite");
    }
    return 0;
}

int npy_read(struct npy *a, const char *path, size_t most, struct error *err)
{
    struct header h = { .path = path };
    size_t start, length;

    *a = (struct npy) { .file = NULL };
    a->file = file_read(path, most, &a->bytes, err);
    if (!a->file)
        return -1;
    if (find_header(a, path, &start, &length, err) ||
        read_header(a, &h, a->file + start, length, err))
        return -1;
    if (h.fortran)
        return error_set(
            err, "%s: is in Fortran order: numpy.save(FILE, numpy.ascontiguousarray(array))", path);
    a->elements = h.elements;
    if (check_size(a, path, start + length, err))
        return -1;
    /* Where the header has another length than NumPy's own, the elements lie anywhere. */
    a->data = memmove(a->file, a->file + start + length, a->bytes - start - length);
    return check_finite(a, path, err);
}

void npy_release(struct npy *a)
{
    free(a->file);
    *a = (struct npy) { .file = NULL };
}
