/* SPDX-License-Identifier: MIT */
#include "models/safetensors.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are stored as they lie");

enum { LENGTH_BYTES = 8 };

static const struct {
    const char *name;
    int bytes;
} dtypes[] = {
    { "F32", 4 }, { "F16", 2 }, { "BF16", 2 },    { "F64", 8 },     { "I64", 8 }, { "I32", 4 },
    { "I16", 2 }, { "I8", 1 },  { "U8", 1 },      { "BOOL", 1 },    { "U16", 2 }, { "U32", 4 },
    { "U64", 8 }, { "C64", 8 }, { "F8_E4M3", 1 }, { "F8_E5M2", 1 },
};

/* What the checks below pass around. */
struct reading {
    struct safetensors *file;
    int64_t data_size;
    struct error *err;
};

static int read_at(const struct safetensors *file, void *to, size_t bytes, int64_t at,
                   struct error *err)
{
    char *next = to;

    while (bytes > 0) {
        ssize_t nr = pread(file->fd, next, bytes, at);
        if (nr < 0 && errno == EINTR)
            continue;
        if (nr < 0)
            return error_set(err, "%s: cannot read: %s", file->path, strerror(errno));
        if (nr == 0)
            return error_set(err, "%s: the file ended while it was read", file->path);
        next += nr;
        at += nr;
        bytes -= (size_t)nr;
    }
    return 0;
}

/* A JSON number as a whole number in [0, 2^53]; -1 otherwise. */
static int64_t whole(const cJSON *item)
{
    double value = cJSON_IsNumber(item) ? item->valuedouble : -1;

    return value >= 0 && value <= 0x1p53 && value == floor(value) ? (int64_t)value : -1;
}

static int check_dtype(const struct reading *r, struct safetensors_entry *entry, const cJSON *item,
                       int *bytes)
{
    for (size_t i = 0; cJSON_IsString(item) && i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (strcmp(item->valuestring, dtypes[i].name) == 0) {
            entry->dtype = dtypes[i].name;
            *bytes = dtypes[i].bytes;
            return 0;
        }
    return error_set(r->err, "%s: tensor \"%s\" has an unknown dtype (%s)", r->file->path,
                     entry->name, cJSON_IsString(item) ? item->valuestring : "none given");
}

static int check_shape(const struct reading *r, struct safetensors_entry *entry, const cJSON *item)
{
    const cJSON *extent;

    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) > SAFETENSORS_RANK)
        return error_set(r->err,
                         "%s: the shape of tensor \"%s\" is not an array of at most %d sizes",
                         r->file->path, entry->name, SAFETENSORS_RANK);
    entry->elements = 1;
    cJSON_ArrayForEach(extent, item)
    {
        int64_t size = whole(extent);
        if (size < 0)
            return error_set(r->err,
                             "%s: the shape of tensor \"%s\" has a size that is negative or "
                             "not a whole number",
                             r->file->path, entry->name);
        entry->extent[entry->rank++] = size;
        if (__builtin_mul_overflow(entry->elements, size, &entry->elements))
            return error_set(r->err, "%s: the sizes of tensor \"%s\" multiply beyond 63 bits",
                             r->file->path, entry->name);
    }
    return 0;
}

static int check_offsets(const struct reading *r, struct safetensors_entry *entry,
                         const cJSON *item, int bytes)
{
    char shape[SAFETENSORS_SHAPE_SIZE];
    int64_t size;

    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 2)
        return error_set(r->err, "%s: tensor \"%s\" lacks data_offsets [begin, end]", r->file->path,
                         entry->name);
    entry->begin = whole(cJSON_GetArrayItem(item, 0));
    entry->end = whole(cJSON_GetArrayItem(item, 1));
    if (entry->begin < 0 || entry->end < entry->begin)
        return error_set(r->err,
                         "%s: the data_offsets of tensor \"%s\" are negative, not whole or "
                         "not in order",
                         r->file->path, entry->name);
    if (entry->end > r->data_size)
        return error_set(r->err,
                         "%s: tensor \"%s\" ends at byte %lld of the data, but there are %lld "
                         "(is the file truncated?)",
                         r->file->path, entry->name, (long long)entry->end,
                         (long long)r->data_size);
    if (__builtin_mul_overflow(entry->elements, bytes, &size) || size != entry->end - entry->begin)
        return error_set(r->err, "%s: tensor \"%s\" of shape %s in %s does not fill its %lld bytes",
                         r->file->path, entry->name, safetensors_shape(entry, shape), entry->dtype,
                         (long long)(entry->end - entry->begin));
    return 0;
}

static int parse_entry(const struct reading *r, const cJSON *item)
{
    static const char *const keys[] = { "dtype", "shape", "data_offsets", NULL };
    struct safetensors_entry *entry = array_push(r->file);
    int bytes = 0;

    entry->name = memory_string(item->string);
    if (!cJSON_IsObject(item))
        return error_set(r->err, "%s: tensor \"%s\" is not described by an object", r->file->path,
                         entry->name);
    if (json_only_keys(item, keys, entry->name, r->err))
        return error_prefix(r->err, "%s", r->file->path);
    if (cJSON_GetArraySize(item) > 3)
        return error_set(r->err, "%s: tensor \"%s\" has a key twice", r->file->path, entry->name);
    if (check_dtype(r, entry, cJSON_GetObjectItemCaseSensitive(item, "dtype"), &bytes) ||
        check_shape(r, entry, cJSON_GetObjectItemCaseSensitive(item, "shape")))
        return -1;
    return check_offsets(r, entry, cJSON_GetObjectItemCaseSensitive(item, "data_offsets"), bytes);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_begin(const void *a, const void *b)
{
    const struct safetensors_entry *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static int check_unique(const struct reading *r)
{
    size_t nr = r->file->nr;
    char **names = memory_zeroed(nr + 1, sizeof(*names));
    int rc = 0;

    for (size_t i = 0; i < nr; i++)
        names[i] = r->file->items[i].name;
    qsort(names, nr, sizeof(*names), by_name);
    for (size_t i = 1; rc == 0 && i < nr; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            rc = error_set(r->err, "%s: tensor \"%s\" is described twice", r->file->path, names[i]);
    free(names);
    return rc;
}

/* The format wants the data covered exactly: neither holes, where something could hide, nor
 * overlaps. */
static int check_cover(const struct reading *r)
{
    struct safetensors *file = r->file;
    int64_t covered = 0;

    if (file->nr > 0) /* a header may list no tensor at all */
        qsort(file->items, file->nr, sizeof(*file->items), by_begin);
    for (size_t i = 0; i < file->nr; i++) {
        const struct safetensors_entry *e = &file->items[i];
        if (e->begin < covered)
            return error_set(r->err, "%s: tensors \"%s\" and \"%s\" overlap", file->path,
                             file->items[i - 1].name, e->name);
        if (e->begin > covered)
            return error_set(r->err, "%s: %lld bytes before tensor \"%s\" belong to no tensor",
                             file->path, (long long)(e->begin - covered), e->name);
        covered = e->end;
    }
    if (covered != r->data_size)
        return error_set(r->err, "%s: %lld bytes at the end belong to no tensor", file->path,
                         (long long)(r->data_size - covered));
    return 0;
}

static int parse_entries(const struct reading *r, const cJSON *header)
{
    const cJSON *item;

    if (!cJSON_IsObject(header))
        return error_set(r->err, "%s: the header is not a JSON object", r->file->path);
    cJSON_ArrayForEach(item, header)
    {
        bool metadata = strcmp(item->string, "__metadata__") == 0;
        if (metadata && !cJSON_IsObject(item))
            return error_set(r->err, "%s: __metadata__ is not an object", r->file->path);
        if (metadata)
            continue;
        if (parse_entry(r, item))
            return -1;
    }
    return check_unique(r) || check_cover(r) ? -1 : 0;
}

/* Reads the length and the header text; free() the text. */
static char *read_header(struct safetensors *file, int64_t size, uint64_t *length,
                         struct error *err)
{
    if (size < LENGTH_BYTES) {
        error_set(err, "%s: %lld bytes are too few for a safetensors file", file->path,
                  (long long)size);
        return NULL;
    }
    if (read_at(file, length, LENGTH_BYTES, 0, err))
        return NULL;
    if (*length > SAFETENSORS_HEADER_LIMIT) {
        error_set(err,
                  "%s: a header of %llu bytes is beyond the format's limit of %d; this is not a "
                  "safetensors file",
                  file->path, (unsigned long long)*length, SAFETENSORS_HEADER_LIMIT);
        return NULL;
    }
    if ((int64_t)*length > size - LENGTH_BYTES) {
        error_set(err,
                  "%s: the header is said to have %llu bytes, but only %lld follow (is the file "
                  "truncated?)",
                  file->path, (unsigned long long)*length, (long long)(size - LENGTH_BYTES));
        return NULL;
    }
    char *text = memory_zeroed((size_t)*length + 1, 1);
    if (read_at(file, text, (size_t)*length, LENGTH_BYTES, err)) {
        free(text);
        return NULL;
    }
    return text;
}

static int parse_header(struct safetensors *file, int64_t size, struct error *err)
{
    uint64_t length = 0;
    char *text = read_header(file, size, &length, err);

    if (!text)
        return -1;
    bool whole_text = strlen(text) == length;
    cJSON *header = whole_text ? json_parse(text, (size_t)length, file->path, err) : NULL;
    free(text);
    if (!whole_text)
        return error_set(err, "%s: the header holds NUL bytes, so it is not JSON", file->path);
    if (!header)
        return error_prefix(err, "safetensors header");
    file->data_start = LENGTH_BYTES + (int64_t)length;
    struct reading r = { .file = file, .data_size = size - file->data_start, .err = err };
    int rc = parse_entries(&r, header);
    cJSON_Delete(header);
    return rc;
}

int safetensors_open(struct safetensors *file, const char *path, struct error *err)
{
    struct stat st;

    *file = (struct safetensors) { .path = memory_string(path),
                                   .fd = open(path, O_RDONLY | O_CLOEXEC) };
    if (file->fd < 0 || fstat(file->fd, &st)) {
        error_set(err, "%s: cannot open: %s", path, strerror(errno));
        goto fail;
    }
    if (!S_ISREG(st.st_mode)) {
        error_set(err, "%s: not a regular file", path);
        goto fail;
    }
    if (parse_header(file, st.st_size, err))
        goto fail;
    return 0;
fail:
    safetensors_close(file);
    return -1;
}

void safetensors_close(struct safetensors *file)
{
    for (size_t i = 0; i < file->nr; i++)
        free(file->items[i].name);
    array_release(file);
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    free(file->path);
    file->path = NULL;
}

const struct safetensors_entry *safetensors_find(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->nr; i++)
        if (strcmp(file->items[i].name, name) == 0)
            return &file->items[i];
    return NULL;
}

char *safetensors_shape(const struct safetensors_entry *entry, char text[SAFETENSORS_SHAPE_SIZE])
{
    struct strbuf out;

    strbuf_init(&out);
    for (int i = 0; i < entry->rank; i++)
        strbuf_addf(&out, "%s%lld", i ? ", " : "", (long long)entry->extent[i]);
    snprintf(text, SAFETENSORS_SHAPE_SIZE, "[%s]", out.data);
    strbuf_release(&out);
    return text;
}

static float float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

float safetensors_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = (half >> 10) & 0x1f;
    uint32_t fraction = half & 0x3ff;

    if (exponent == 0x1f) /* infinities and NaN keep their payload */
        return float_of_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent > 0)
        return float_of_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
    float tiny = (float)fraction * 0x1p-24F; /* zero and subnormals, exact in a float */
    return sign ? -tiny : tiny;
}

static float brain_float(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

int safetensors_read(const struct safetensors *file, const struct safetensors_entry *entry,
                     float *out, struct error *err)
{
    bool wide = strcmp(entry->dtype, "F32") == 0, half = strcmp(entry->dtype, "F16") == 0;
    int64_t at = file->data_start + entry->begin;

    if (wide)
        return read_at(file, out, (size_t)(entry->end - entry->begin), at, err);
    if (!half && strcmp(entry->dtype, "BF16") != 0)
        return error_set(err, "%s: tensor \"%s\" is %s; F32, F16 and BF16 can be read", file->path,
                         entry->name, entry->dtype);
    uint16_t block[4096] = { 0 };
    for (int64_t done = 0; done < entry->elements;) {
        int64_t nr = entry->elements - done < 4096 ? entry->elements - done : 4096;
        if (read_at(file, block, (size_t)nr * sizeof(*block), at + done * 2, err))
            return -1;
        for (int64_t i = 0; i < nr; i++)
            out[done + i] = half ? safetensors_half(block[i]) : brain_float(block[i]);
        done += nr;
    }
    return 0;
}

static int64_t source_elements(const struct safetensors_source *source)
{
    int64_t elements = 1;

    for (int i = 0; i < source->rank; i++)
        elements *= source->extent[i];
    return elements;
}

/* Appends the header, padded with blanks to a multiple of 8, and returns the bytes of the data. */
static int64_t add_header(struct strbuf *out, const struct safetensors_source *sources, size_t nr)
{
    int64_t at = 0;

    strbuf_add(out, "\0\0\0\0\0\0\0", LENGTH_BYTES);
    strbuf_adds(out, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (size_t i = 0; i < nr; i++) {
        const struct safetensors_source *s = &sources[i];
        int64_t end = at + source_elements(s) * (int64_t)sizeof(float);
        strbuf_addf(out, ",\"%s\":{\"dtype\":\"F32\",\"shape\":[", s->name);
        for (int d = 0; d < s->rank; d++)
            strbuf_addf(out, "%s%lld", d ? "," : "", (long long)s->extent[d]);
        strbuf_addf(out, "],\"data_offsets\":[%lld,%lld]}", (long long)at, (long long)end);
        at = end;
    }
    strbuf_addc(out, '}');
    strbuf_pad(out, (out->length + 7) / 8 * 8, ' ');
    uint64_t length = out->length - LENGTH_BYTES;
    memcpy(out->data, &length, sizeof(length));
    return at;
}

int safetensors_write(const char *path, const struct safetensors_source *sources, size_t nr,
                      struct error *err)
{
    struct strbuf header;
    int rc = -1;

    strbuf_init(&header);
    size_t data = (size_t)add_header(&header, sources, nr);
    char *file = malloc(header.length + data);
    if (!file) {
        error_set(err, "%s: no memory for %zu bytes", path, header.length + data);
        goto out;
    }
    memcpy(file, header.data, header.length);
    /* The header is a multiple of 8 long, so the floats are aligned. */
    float *next = (float *)(void *)(file + header.length);
    for (size_t i = 0; i < nr; i++) {
        sources[i].fill(&sources[i], next);
        next += source_elements(&sources[i]);
    }
    rc = file_write(path, file, header.length + data, err);
out:
    free(file);
    strbuf_release(&header);
    return rc;
}
