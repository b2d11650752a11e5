/* SPDX-License-Identifier: MIT */
#include "plugin/guest_settings.h"

#include "base/digest.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HASH = 8 }; /* hex digits */

/* By value, not by locale. */
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char of_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
static const char of_values[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.+-";

static int check_param(const char *param, struct error *err)
{
    size_t name = strspn(param, of_names);

    if (name == 0 || param[name] != '=' || !strchr(letters, param[0]))
        return error_set(err,
                         "the parameter \"%s\" is not NAME=VALUE with a name of letters, digits "
                         "and _",
                         param);
    const char *value = param + name + 1;
    if (!*value || value[strspn(value, of_values)])
        return error_set(err,
                         "the value \"%s\" of parameter %.*s must be of letters, digits, _ . + "
                         "and -, since it stands in keys",
                         value, (int)name, param);
    return 0;
}

static bool is_value(const char *value, size_t length)
{
    return length > 0 && strspn(value, of_values) >= length;
}

int guest_param_check(const char *param, struct error *err)
{
    size_t name = strspn(param, of_names), length;

    if (name == 0 || !strchr(letters, param[0]) || (param[name] && param[name] != '='))
        return error_set(err,
                         "the parameter \"%s\" is not NAME or NAME=VALUE,... with a name of "
                         "letters, digits and _",
                         param);
    for (const char *value = param + name; *value; value += length) {
        length = strcspn(++value, ",");
        if (!is_value(value, length))
            return error_set(err,
                             "the values of the parameter \"%s\" must be of letters, digits, _ . "
                             "+ and -, since they stand in keys",
                             param);
    }
    return 0;
}

bool guest_param_same(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");

    return length == strcspn(b, "=") && strncmp(a, b, length) == 0;
}

static bool has_param(const char *const *params, const char *name)
{
    for (; params && *params; params++)
        if (guest_param_same(*params, name))
            return true;
    return false;
}

char *guest_setting_of(const char *setting, const char *const *params)
{
    char **parts = guest_setting_split(setting);
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; parts[i]; i++)
        if (has_param(params, parts[i]))
            strbuf_addf(&text, "%s%s", text.length ? "," : "", parts[i]);
    char *result = memory_string(text.data ? text.data : "");
    strbuf_release(&text);
    guest_setting_free(parts);
    return result;
}

int guest_setting_check(const char *setting, struct error *err)
{
    char **params = guest_setting_split(setting);
    int rc = 0;

    for (size_t i = 0; rc == 0 && params[i]; i++) {
        rc = check_param(params[i], err);
        for (size_t j = 0; rc == 0 && j < i; j++)
            if (strncmp(params[i], params[j], strcspn(params[i], "=") + 1) == 0)
                rc = error_set(err, "the parameter of \"%s\" is there twice", params[i]);
    }
    guest_setting_free(params);
    return rc;
}

char **guest_setting_split(const char *setting)
{
    size_t nr = 0, most = strlen(setting) + 2;
    char **params = memory_zeroed(most, sizeof(*params));
    char *copy = memory_string(setting), *rest = *copy ? copy : NULL, *item;

    while ((item = strsep(&rest, ",")))
        params[nr++] = memory_string(item);
    free(copy);
    return params;
}

void guest_setting_free(char **params)
{
    for (size_t i = 0; params && params[i]; i++)
        free(params[i]);
    free(params);
}

void guest_setting_name(const char *variant, const char *setting, char name[NAME_SIZE])
{
    char hash[DIGEST_TEXT_SIZE];
    struct digest digest;
    int length = snprintf(name, NAME_SIZE, "%s%s%s", variant, *setting ? ":" : "", setting);

    for (char *p = name + strlen(variant); *p; p++)
        if (*p == ',')
            *p = ':';
    if (length < NAME_SIZE)
        return;
    digest_init(&digest);
    digest_add_text(&digest, setting);
    digest_text(&digest, hash);
    snprintf(name + NAME_SIZE - HASH - 2, HASH + 2, "-%.*s", HASH, hash);
}
