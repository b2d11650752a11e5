/* SPDX-License-Identifier: MIT */
#include "gputrace/kernel_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char anonymous[] = "(anonymous namespace)";

static size_t anonymous_at(const char *p)
{
    return strncmp(p, anonymous, sizeof(anonymous) - 1) == 0 ? sizeof(anonymous) - 1 : 0;
}

/* The name itself within a declaration. */
struct name_span {
    const char *first, *end;
};

/* Up to the parameters, behind the last "::" or blank in front of them that is in no brackets. */
static struct name_span name_of(const char *declaration)
{
    struct name_span span = { declaration, declaration + strlen(declaration) };
    int depth = 0;

    for (const char *p = declaration; *p; p++) {
        size_t skip = anonymous_at(p);
        if (skip) {
            p += skip - 1;
        } else if (*p == '(' && depth == 0) {
            span.end = p;
            break;
        } else if (*p == '<' || *p == '(') {
            depth++;
        } else if ((*p == '>' && p > declaration && p[-1] != '-') || *p == ')') {
            depth -= depth > 0;
        } else if (depth == 0 && (*p == ' ' || (p[0] == ':' && p[1] == ':'))) {
            p += *p == ':';
            span.first = p + 1;
        }
    }
    return span;
}

/* It has parameters; text such as "Memset (Device)" and "memcpy HtoD" is none. */
static bool is_declaration(struct name_span span)
{
    return *span.end == '(' && span.first < span.end && span.end[-1] != ' ';
}

enum { PLAIN_MOST = 1024 }; /* of a name without namespaces; what is behind is cut anyway */

static size_t word_before(const char *text, size_t length)
{
    size_t word = 0;

    while (word < length &&
           (isalnum((unsigned char)text[length - word - 1]) || text[length - word - 1] == '_'))
        word++;
    return word;
}

/* Arguments have namespaces, too. */
static size_t drop_namespaces(struct name_span span, char plain[PLAIN_MOST])
{
    size_t length = 0;

    for (const char *p = span.first; p < span.end && length < PLAIN_MOST; p++) {
        size_t skip = anonymous_at(p);
        size_t word = p[0] == ':' && p[1] == ':' ? word_before(plain, length) : 0;
        if (skip && p[skip] == ':') {
            p += skip + 1;
        } else if (word) {
            length -= word;
            p++;
        } else {
            plain[length++] = *p;
        }
    }
    return length;
}

/* Whole characters of UTF-8. */
static size_t cut_at(const char *text, size_t length, size_t most)
{
    size_t characters = 0, i = 0;

    for (; i < length; i++) {
        characters += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (characters > most)
            break;
    }
    return i;
}

const char *kernel_name_short(const char *name, char buffer[KERNEL_NAME_SIZE])
{
    struct name_span span = name_of(name);
    char plain[PLAIN_MOST];

    if (!is_declaration(span) || strchr("([", *span.first))
        span = (struct name_span) { name, name + strlen(name) };
    size_t length = drop_namespaces(span, plain);
    if (cut_at(plain, length, KERNEL_NAME_MOST) == length && length < KERNEL_NAME_SIZE) {
        snprintf(buffer, KERNEL_NAME_SIZE, "%.*s", (int)length, plain);
        return buffer;
    }
    /* Bytes, too, have to fit. */
    size_t most = KERNEL_NAME_MOST - 1, kept = cut_at(plain, length, most);
    while (kept + sizeof("…") > KERNEL_NAME_SIZE)
        kept = cut_at(plain, length, --most);
    snprintf(buffer, KERNEL_NAME_SIZE, "%.*s…", (int)kept, plain);
    return buffer;
}
