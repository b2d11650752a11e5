/* SPDX-License-Identifier: MIT */
#include "base/pack.h"

#include "base/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* what it reads it does not change */
#include <zlib.h>

/* ---- gzip ---- */

enum { GZIP_WINDOW = 15 + 16, BLOCK = 1 << 16 }; /* 16: with the header of gzip */

/* Out of memory ends the process there. */
static voidpf zlib_allocate(voidpf context, uInt nr, uInt size)
{
    (void)context;
    return memory_zeroed(nr, size);
}

static void zlib_release(voidpf context, voidpf p)
{
    (void)context;
    free(p);
}

/* The next part of the input, as large as zlib can count. */
static void feed_zlib(z_stream *z, const unsigned char **from, size_t *left)
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
    z_stream z = { .zalloc = zlib_allocate, .zfree = zlib_release };
    int rc = deflateInit2(&z, level, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY);
    unsigned char *block = memory_zeroed(BLOCK, 1);

    while (rc == Z_OK) {
        feed_zlib(&z, &from, &length);
        z.next_out = block;
        z.avail_out = BLOCK;
        rc = deflate(&z, length == 0 ? Z_FINISH : Z_NO_FLUSH);
        strbuf_add(out, block, BLOCK - z.avail_out);
    }
    deflateEnd(&z);
    free(block);
}

/* One member, block by block; Z_STREAM_END where it was whole. */
static int unpack_member(z_stream *z, struct strbuf *out, const unsigned char *from, size_t *left,
                         size_t most, struct error *err)
{
    unsigned char *block = memory_zeroed(BLOCK, 1);
    size_t room = most;
    int rc = Z_OK;

    while (rc == Z_OK) {
        feed_zlib(z, &from, left);
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
    z_stream z = { .zalloc = zlib_allocate, .zfree = zlib_release };

    if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
        return error_set(err, "zlib cannot unpack: %s", z.msg ? z.msg : "another version");
    int rc = unpack_member(&z, out, bytes, &length, most, err);
    if (rc == 0 && (z.avail_in > 0 || length > 0))
        rc = error_set(err, "has more bytes after its end");
    inflateEnd(&z);
    return rc;
}

/* ---- base64 ---- */

static const char base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Up to three bytes as four base64_letters. */
static void add_base64_group(struct strbuf *out, const unsigned char *bytes, size_t nr)
{
    uint32_t bits = (uint32_t)bytes[0] << 16;
    char group[4];

    if (nr > 1)
        bits |= (uint32_t)bytes[1] << 8;
    if (nr > 2)
        bits |= bytes[2];
    for (size_t i = 0; i < 4; i++)
        group[i] = i <= nr ? base64_letters[bits >> (18 - 6 * i) & 63] : '=';
    strbuf_add(out, group, sizeof(group));
}

void base64_add(struct strbuf *out, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;

    for (; length >= 3; from += 3, length -= 3)
        add_base64_group(out, from, 3);
    if (length > 0)
        add_base64_group(out, from, length);
}

static int letter_value(char c)
{
    const char *at = c ? strchr(base64_letters, c) : NULL;

    return at ? (int)(at - base64_letters) : -1;
}

/* Four base64_letters, of which the last `padding` are '='. False where they are no such group, or
 * have bits that no byte has put there. */
static bool undo_base64_group(struct strbuf *out, const char *group, size_t padding)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < 4; i++) {
        int value = i < 4 - padding ? letter_value(group[i]) : group[i] == '=' ? 0 : -1;
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
    }
    if (bits & ((1u << 8 * padding) - 1))
        return false;
    for (size_t i = 0; i < 3 - padding; i++)
        strbuf_addc(out, (char)(bits >> (16 - 8 * i) & 0xff));
    return true;
}

int base64_undo(struct strbuf *out, const char *text, size_t length, struct error *err)
{
    if (length % 4 != 0)
        return error_set(err, "not base64: its length is no multiple of four");
    for (size_t i = 0; i < length; i += 4) {
        bool last = i + 4 == length;
        size_t padding = !last || text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
        if (!undo_base64_group(out, text + i, padding))
            return error_set(err, "not base64: at character %zu", i + 1);
    }
    return 0;
}
