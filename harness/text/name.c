/* SPDX-License-Identifier: MIT */
#include "text/name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* By value, not by locale. */
static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool fits_part(char c)
{
    return is_small(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
}

static int check_length(const char *name, const char *what, size_t most, struct error *err)
{
    if (!name || !*name)
        return error_set(err, "a %s has no name", what);
    if (strnlen(name, most + 1) > most)
        return error_set(err, "the %s name \"%.60s\" is longer than %zu characters", what, name,
                         most);
    return 0;
}

static int check_parts(const char *name, const char *what, bool slashes, struct error *err)
{
    bool empty = true; /* the part so far */

    for (const char *p = name; *p; p++) {
        if (!fits_part(*p) && !(slashes && *p == '/' && !empty))
            return error_set(err, "the %s name \"%s\" must be of letters, digits, _ . and -%s",
                             what, name, slashes ? ", in parts separated by single slashes" : "");
        empty = *p == '/';
    }
    return empty ? error_set(err, "the %s name \"%s\" ends with a slash", what, name) : 0;
}

int name_check_kernel(const char *name, struct error *err)
{
    return check_length(name, "kernel", NAME_KERNEL_MAX, err) ||
                   check_parts(name, "kernel", true, err)
               ? -1
               : 0;
}

int name_check_variant(const char *name, struct error *err)
{
    return check_length(name, "variant", NAME_VARIANT_MAX, err) ||
                   check_parts(name, "variant", false, err)
               ? -1
               : 0;
}

int name_check_dim(const char *name, struct error *err)
{
    if (check_length(name, "dim", NAME_DIM_MAX, err))
        return -1;
    for (const char *p = name; *p; p++)
        if (!is_small(*p) && (p == name || (!is_digit(*p) && *p != '_')))
            return error_set(err,
                             "the dim name \"%s\" must be of small letters, digits and _, the "
                             "first a letter",
                             name);
    return 0;
}

int name_check_key(const char *kernel, const char *variant, const char *const *dims, size_t nr_dims,
                   struct error *err)
{
    enum { DIGITS = 10, MATH = 5 };
    size_t length = strlen(kernel) + strlen(variant) + MATH + 3;

    for (size_t i = 0; i < nr_dims; i++)
        length += strlen(dims[i]) + DIGITS + 2;
    if (length <= NAME_KEY_MAX)
        return 0;
    return error_set(err,
                     "kernel %s, variant %s and the names of its dims make keys of %zu characters, "
                     "more than %d: use shorter names",
                     kernel, variant, length, NAME_KEY_MAX);
}

void name_sanitise(const char *text, char *name, size_t size)
{
    snprintf(name, size, "%s", text);
    for (char *p = name; *p; p++)
        if (!fits_part(*p))
            *p = '-';
}
