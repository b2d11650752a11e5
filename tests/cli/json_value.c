/* SPDX-License-Identifier: MIT */
/*
 * json_value --value|--length FILE KEY...: what json.cmake prints of a JSON file, of which tests
 * ask thousands of times: CMake takes fifteen times as long, most of it to start. Exit status 3,
 * and nothing said: an array or an object is asked for, or this is no JSON; json.cmake knows more.
 * In a length twins count as two.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_CMAKE = 3 };

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* Behind the string that begins here; NULL where it has no end. */
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && !*++p)
            return NULL;
    return *p ? p + 1 : NULL;
}

static const char *skip_value(const char *p);

/* Behind a member of an object or an element of an array, at a comma or the end. */
static const char *skip_item(const char *p, bool named)
{
    if (named) {
        p = *p == '"' ? skip_string(p) : NULL;
        p = p ? skip_space(p) : NULL;
        p = p && *p == ':' ? skip_space(p + 1) : NULL;
    }
    p = p ? skip_value(p) : NULL;
    return p ? skip_space(p) : NULL;
}

static const char *skip_items(const char *p)
{
    bool named = *p == '{';
    char end = named ? '}' : ']';

    p = skip_space(p + 1);
    if (*p == end)
        return p + 1;
    while ((p = skip_item(p, named)) && *p == ',')
        p = skip_space(p + 1);
    return p && *p == end ? p + 1 : NULL;
}

/* Behind the value that begins here; NULL where it is none. */
static const char *skip_value(const char *p)
{
    size_t word = strspn(p, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");

    if (*p == '{' || *p == '[')
        return skip_items(p);
    if (*p == '"')
        return skip_string(p);
    return word ? p + word : NULL;
}

static unsigned code_unit(const char *digits)
{
    char hex[5] = { 0 };

    memcpy(hex, digits, 4);
    return (unsigned)strtoul(hex, NULL, 16);
}

static char *put_utf8(char *to, unsigned code)
{
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned first[] = { 0, 0xc0, 0xe0, 0xf0 };

    *to++ = (char)(first[more] | code >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return to;
}

/* \uXXXX at p, with the second half of a pair; behind it. */
static const char *unescape_unit(const char *p, char **to)
{
    unsigned code = code_unit(p + 2);

    p += 6;
    if (code >> 10 == 0xd800 >> 10 && p[0] == '\\' && p[1] == 'u') {
        code = 0x10000 + ((code & 0x3ff) << 10 | (code_unit(p + 2) & 0x3ff));
        p += 6;
    }
    *to = put_utf8(*to, code);
    return p;
}

/* What the string that begins here says. Free it. */
static char *string_at(const char *p)
{
    static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *end = skip_string(p) - 1;
    char *text = malloc((size_t)(end - p) + 1), *to = text;

    if (!text)
        abort();
    for (p++; p < end;) {
        if (*p != '\\') {
            *to++ = *p++;
        } else if (p[1] == 'u' && end - p >= 6) {
            p = unescape_unit(p, &to);
        } else {
            const char *name = strchr(names, p[1]);
            *to++ = name ? meant[name - names] : p[1];
            p += 2;
        }
    }
    *to = '\0';
    return text;
}

/* The value behind the name, if it is this one; else NULL. */
static const char *value_of_member(const char *p, const char *key)
{
    char *name = string_at(p);
    bool found = strcmp(name, key) == 0;

    free(name);
    return found ? skip_space(skip_space(skip_string(p)) + 1) : NULL;
}

/* The item of this name or place, of twins the last; NULL where there is none. `nr`: of all. */
static const char *item(const char *p, const char *key, size_t *nr)
{
    bool named = *p == '{';
    size_t place = strtoul(key, NULL, 10);
    const char *found = NULL;

    *nr = 0;
    if (!named && *p != '[')
        return NULL;
    if (!named && strspn(key, "0123456789") != strlen(key))
        return NULL;
    for (p = skip_space(p + 1); *p != '}' && *p != ']'; ++*nr) {
        const char *value = named ? value_of_member(p, key) : *nr == place ? p : NULL;
        found = value ? value : found;
        p = skip_item(p, named);
        if (*p == ',')
            p = skip_space(p + 1);
    }
    return found;
}

/* As CMake's jsoncpp writes them. */
static void print_number(const char *p)
{
    size_t length = strspn(p, "-0123456789");
    char text[64];

    errno = 0;
    if (*p == '-' && !strchr(".eE", p[length])) {
        long long whole = strtoll(p, NULL, 10);
        if (errno == 0 && printf("%lld\n", whole) > 0)
            return;
    } else if (p[length] == '\0' || !strchr(".eE", p[length])) {
        unsigned long long whole = strtoull(p, NULL, 10);
        if (errno == 0 && printf("%llu\n", whole) > 0)
            return;
    }
    snprintf(text, sizeof(text), "%.17g", strtod(p, NULL));
    printf("%s%s\n", text, strpbrk(text, ".e") ? "" : ".0");
}

static int print_value(const char *p)
{
    if (*p == '{' || *p == '[')
        return ASK_CMAKE;
    if (*p == '"') {
        char *text = string_at(p);
        puts(text);
        free(text);
    } else if (*p == 't' || *p == 'f') {
        puts(*p == 't' ? "ON" : "OFF");
    } else if (*p == 'n') {
        puts("");
    } else {
        print_number(p);
    }
    return 0;
}

static char *content_of(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (!f)
        return NULL;
    if (getdelim(&text, &size, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    fclose(f);
    return text;
}

/* `keys` ends with NULL. */
static int answer(const char *p, char *const *keys, bool length)
{
    const char *end = skip_value(p);
    size_t nr;

    if (!end || *skip_space(end))
        return ASK_CMAKE;
    for (; *keys; keys++)
        if (!**keys || !(p = item(p, *keys, &nr))) {
            fprintf(stderr, "there is no %s\n", *keys);
            return 1;
        }
    if (!length)
        return print_value(p);
    if (*p != '{' && *p != '[')
        return 1;
    item(p, "", &nr);
    printf("%zu\n", nr);
    return 0;
}

int main(int argc, char **argv)
{
    bool length = argc > 2 && strcmp(argv[1], "--length") == 0;
    char *text = argc > 2 ? content_of(argv[2]) : NULL;
    int status = text ? answer(skip_space(text), argv + 3, length) : ASK_CMAKE;

    free(text);
    return fflush(stdout) == 0 ? status : 1;
}
