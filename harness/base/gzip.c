/* SPDX-License-Identifier: MIT */
#include "base/gzip.h"

#include "base/memory.h"

#include <limits.h>
#include <stdlib.h>
#define ZLIB_CONST /* what it reads it does not change */
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16, BLOCK = 1 << 16 }; /* 16: with the header of gzip */

/* Out of memory ends the process there. */
static voidpf allocate(voidpf context, uInt nr, uInt size)
{
    (void)context;
    return memory_zeroed(nr, size);
}

static void release(voidpf context, voidpf p)
{
    (void)context;
    free(p);
}

/* The next part of the input, as large as zlib can count. */
static void feed(z_stream *z, const unsigned char **from, size_t *left)
{
    if (z->avail_in > 0 || *left == 0)
        return;
    z->avail_in = *left < UINT_MAX ? (uInt)*left : UINT_MAX;
    z->next_in = *from;
    *from += z->avail_in;
    *left -= z->avail_in;
}

void gzip_add(struct strbuf *out, const void *bytes, size_t length, int level)
{
    const unsigned char *from = bytes;
    z_stream z = { .zalloc = allocate, .zfree = release };
    int rc = deflateInit2(&z, level, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY);
    unsigned char *block = memory_zeroed(BLOCK, 1);

    while (rc == Z_OK) {
        feed(&z, &from, &length);
        z.next_out = block;
        z.avail_out = BLOCK;
        rc = deflate(&z, length == 0 ? Z_FINISH : Z_NO_FLUSH);
        strbuf_add(out, block, BLOCK - z.avail_out);
    }
    deflateEnd(&z);
    free(block);
}

/* One member, block by block; Z_STREAM_END where it was whole. */
static int unpack(z_stream *z, struct strbuf *out, const unsigned char *from, size_t *left,
                  size_t most, struct error *err)
{
    unsigned char *block = memory_zeroed(BLOCK, 1);
    size_t room = most;
    int rc = Z_OK;

    while (rc == Z_OK) {
        feed(z, &from, left);
        z->next_out = block;
        z->avail_out = BLOCK;
        rc = inflate(z, Z_NO_FLUSH);
        size_t got = BLOCK - z->avail_out;
        if (got > room) {
            free(block);
            return error_set(err, "unpacks to more than %zu bytes", most);
        }
        room -= got;
        strbuf_add(out, block, got);
        if (rc == Z_BUF_ERROR || (rc == Z_OK && got == 0 && z->avail_in == 0 && *left == 0))
            break; /* the end is missing */
    }
    free(block);
    if (rc == Z_STREAM_END)
        return 0;
    return error_set(err, rc == Z_OK || rc == Z_BUF_ERROR ? "not whole: its end is missing"
                                                          : "not gzip, or damaged");
}

int gzip_undo(struct strbuf *out, const void *bytes, size_t length, size_t most, struct error *err)
{
    z_stream z = { .zalloc = allocate, .zfree = release };

    if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
        return error_set(err, "zlib cannot unpack: %s", z.msg ? z.msg : "another version");
    int rc = unpack(&z, out, bytes, &length, most, err);
    if (rc == 0 && (z.avail_in > 0 || length > 0))
        rc = error_set(err, "has more bytes after its end");
    inflateEnd(&z);
    return rc;
}
