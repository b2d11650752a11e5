/* SPDX-License-Identifier: MIT */
#include "base/strbuf.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve_room(struct strbuf *sb, size_t extra)
{
    size_t need = sb->length + extra + 1;

    if (need <= sb->capacity)
        return;
    size_t capacity = sb->capacity ? sb->capacity * 2 : 64;
    sb->capacity = capacity > need ? capacity : need;
    sb->data = memory_resize(sb->data, sb->capacity, 1);
}

void strbuf_init(struct strbuf *sb)
{
    *sb = (struct strbuf) { 0 };
    reserve_room(sb, 0);
    sb->data[0] = '\0';
}

void strbuf_release(struct strbuf *sb)
{
    free(sb->data);
    *sb = (struct strbuf) { 0 };
}

void strbuf_clear(struct strbuf *sb)
{
    sb->length = 0;
    sb->data[0] = '\0';
}

void strbuf_add(struct strbuf *sb, const void *bytes, size_t nr)
{
    reserve_room(sb, nr);
    if (nr > 0)
        memcpy(sb->data + sb->length, bytes, nr);
    sb->length += nr;
    sb->data[sb->length] = '\0';
}

void strbuf_adds(struct strbuf *sb, const char *text)
{
    strbuf_add(sb, text, strlen(text));
}

void strbuf_addc(struct strbuf *sb, char c)
{
    strbuf_add(sb, &c, 1);
}

void strbuf_addf(struct strbuf *sb, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        reserve_room(sb, (size_t)length);
        vsnprintf(sb->data + sb->length, (size_t)length + 1, format, again);
        sb->length += (size_t)length;
    }
    va_end(again);
}

void strbuf_keep_last(struct strbuf *sb, size_t nr)
{
    if (sb->length <= nr)
        return;
    memmove(sb->data, sb->data + sb->length - nr, nr + 1);
    sb->length = nr;
}

void strbuf_trim_end(struct strbuf *sb)
{
    while (sb->length > 0 && strchr(" \t\r\n", sb->data[sb->length - 1])) /* finds '\0', too */
        sb->data[--sb->length] = '\0';
}

void strbuf_pad(struct strbuf *sb, size_t width, char c)
{
    while (sb->length < width)
        strbuf_addc(sb, c);
}

char *strbuf_detach(struct strbuf *sb)
{
    char *data = sb->data;

    *sb = (struct strbuf) { 0 };
    return data;
}
