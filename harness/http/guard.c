/* SPDX-License-Identifier: MIT */
#include "http/guard.h"

#include "base/strbuf.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { NAME_MAX_LENGTH = 255 };

/* "name:port" or "[address]:port" without port, brackets and a dot at the end. */
static bool host_name(const char *host, char name[NAME_MAX_LENGTH + 1], bool *bracketed)
{
    const char *end = host + strcspn(host, ":");

    *bracketed = host[0] == '[';
    if (*bracketed) {
        host++;
        end = strchr(host, ']');
        if (!end || (end[1] && end[1] != ':'))
            return false;
    }
    size_t length = (size_t)(end - host);
    const char *port = *bracketed ? end + 1 : end;
    if (length == 0 || length > NAME_MAX_LENGTH)
        return false;
    if (*port == ':' && strspn(port + 1, "0123456789") != strlen(port + 1))
        return false;
    snprintf(name, NAME_MAX_LENGTH + 1, "%.*s", (int)length, host);
    if (name[length - 1] == '.')
        name[length - 1] = '\0';
    return true;
}

/* Is it an address, and one of this machine alone? */
static bool is_address(const char *name, bool bracketed, bool *loopback)
{
    struct in6_addr six;
    struct in_addr four;

    if (bracketed) {
        bool fits = inet_pton(AF_INET6, name, &six) == 1;
        *loopback = fits && IN6_IS_ADDR_LOOPBACK(&six);
        return fits;
    }
    bool fits = inet_pton(AF_INET, name, &four) == 1;
    *loopback = fits && (ntohl(four.s_addr) >> 24) == 127;
    return fits;
}

static bool is_own_name(const char *name)
{
    char own[NAME_MAX_LENGTH + 1] = "";

    return gethostname(own, sizeof(own) - 1) == 0 && strcasecmp(own, name) == 0;
}

bool guard_host_fits(const char *host, const struct guard_names *names)
{
    char name[NAME_MAX_LENGTH + 1];
    bool bracketed, loopback;

    if (!host || !host_name(host, name, &bracketed))
        return false;
    if (is_address(name, bracketed, &loopback))
        return loopback || !names->loopback;
    if (bracketed)
        return false;
    for (size_t i = 0; i < names->nr_names; i++)
        if (strcasecmp(names->names[i], name) == 0)
            return true;
    return strcasecmp(name, "localhost") == 0 || (!names->loopback && is_own_name(name));
}

bool guard_origin_fits(const char *origin, const char *host)
{
    static const char *const schemes[] = { "http://", "https://" };

    for (size_t i = 0; origin && host && i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t length = strlen(schemes[i]);
        if (strncmp(origin, schemes[i], length) == 0 && strcasecmp(origin + length, host) == 0)
            return true;
    }
    return false;
}

int guard_check_name(const char *name, struct error *err)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-._", *c))
            return error_set(err,
                             "--allow-host %.80s: that is no host name; take the name alone, "
                             "without http:// and port, such as bench.example.org",
                             name);
    if (!*name || strlen(name) > NAME_MAX_LENGTH)
        return error_set(err, "--allow-host: a host name has 1 to %d characters", NAME_MAX_LENGTH);
    return 0;
}

int guard_check_token(const char *token, struct error *err)
{
    size_t length = strlen(token);

    if (length < GUARD_TOKEN_MIN || length > GUARD_TOKEN_MAX)
        return error_set(err,
                         "a token has %d to %d characters; `openssl rand -hex 24` makes a good one",
                         GUARD_TOKEN_MIN, GUARD_TOKEN_MAX);
    for (const char *c = token; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-._~", *c))
            return error_set(err, "a token is made of letters, digits, - . _ and ~ alone");
    return 0;
}

bool guard_equal(const char *a, const char *b)
{
    size_t length = strlen(a);
    bool alike = strlen(b) == length;
    unsigned different = !alike;

    /* Reads all of `a` wherever the first difference is. */
    for (size_t i = 0; i < length; i++)
        different |= (unsigned)(a[i] ^ (alike ? b[i] : 0));
    return different == 0;
}

bool guard_uri_fits(const char *uri)
{
    if (uri[0] != '/' || uri[1] == '/')
        return false;
    for (const char *c = uri; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '\\' || strncmp(c, "%00", 3) == 0)
            return false;
    return true;
}

char *guard_uri_without_token(const char *uri)
{
    static const char name[] = "token=";
    const char *at = strchr(uri, '?');
    bool found = false;
    char separator = '?';
    struct strbuf out;

    if (!at)
        return NULL;
    strbuf_init(&out);
    strbuf_add(&out, uri, (size_t)(at - uri));
    while (*at) {
        at++; /* ? or & */
        size_t length = strcspn(at, "&");
        if (strncmp(at, name, sizeof(name) - 1) == 0) {
            found = true;
        } else if (length > 0) {
            strbuf_addc(&out, separator);
            strbuf_add(&out, at, length);
            separator = '&';
        }
        at += length;
    }
    if (found)
        return strbuf_detach(&out);
    strbuf_release(&out);
    return NULL;
}
