/* SPDX-License-Identifier: MIT */
#include "plugin/builtin_settings.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "plugin/guest_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t count_params(const struct variant *v)
{
    size_t nr = 0;

    while (v->params && v->params[nr])
        nr++;
    return nr;
}

static int read_value(const char *param, int64_t *value, struct error *err)
{
    const char *text = strchr(param, '=') + 1;
    char *end;

    errno = 0;
    *value = strtoll(text, &end, 10);
    if (*end || end == text || errno || *value < 0)
        return error_set(err, "--param %s: of this harness's own variants values are whole numbers",
                         param);
    return 0;
}

static int read_values(const struct variant *v, const char *setting, int64_t *values,
                       struct error *err)
{
    char **given = guest_setting_split(setting);
    int rc = 0;

    for (size_t i = 0; rc == 0 && given[i]; i++)
        for (size_t j = 0; rc == 0 && v->params[j]; j++)
            if (guest_param_same(given[i], v->params[j]))
                rc = read_value(given[i], &values[j], err);
    guest_setting_free(given);
    return rc;
}

static bool has_setting(const struct builtin_settings *b, const struct variant *v,
                        const char *setting)
{
    for (size_t i = 0; i < b->nr; i++)
        if (b->each[i].of == v && strcmp(b->each[i].setting, setting) == 0)
            return true;
    return false;
}

/* `v` has the parameters of `base`, see registry_forced(). */
static int add_setting(struct builtin_settings *b, const struct variant *base,
                       const struct variant *v, const char *setting, struct error *err)
{
    char name[NAME_SIZE];

    b->variants = memory_resize(b->variants, b->nr + 2, sizeof(*b->variants));
    b->each = memory_resize(b->each, b->nr + 1, sizeof(*b->each));
    guest_setting_name(v->name, setting, name);
    b->each[b->nr] = (struct builtin_setting) {
        base,
        memory_string(name),
        memory_string(setting),
        memory_zeroed(count_params(v), sizeof(int64_t)),
    };
    b->variants[b->nr] = *base;
    if (v != base) { /* its row of registry.forced */
        b->variants[b->nr].params = v->params;
        b->variants[b->nr].prepare = v->prepare;
        b->variants[b->nr].launch = v->launch;
    }
    b->variants[b->nr].name = b->each[b->nr].name;
    b->variants[b->nr].values = b->each[b->nr].values;
    b->variants[b->nr + 1] = (struct variant) { .name = NULL };
    b->nr++;
    return read_values(v, setting, b->each[b->nr - 1].values, err);
}

static int add_own(struct builtin_settings *b, const struct registry *base, const struct variant *v,
                   const char *setting, struct error *err)
{
    const struct variant *forced = registry_forced(base, v);
    char *own = guest_setting_of(setting, forced->params);
    int rc = 0;

    if (*own && !has_setting(b, v, own))
        rc = guest_setting_check(own, err) || add_setting(b, v, forced, own, err) ? -1 : 0;
    free(own);
    return rc;
}

/* Adds the settings that begin with `text` and go on with each value of the parameters from
 * `param` on: "tile=1", then "tile=1,split=2". */
static int add_every(struct builtin_settings *b, const struct registry *base,
                     const struct variant *v, const char *const *param, const char *text,
                     struct error *err)
{
    if (!*param)
        return add_own(b, base, v, text, err);
    int name = (int)strcspn(*param, "="), rc = 0;
    bool forced = registry_forced(base, v) != v;
    const char *at = *param + name;
    struct strbuf next;

    strbuf_init(&next);
    while (rc == 0 && *at) {
        int length = (int)strcspn(++at, ",");
        strbuf_clear(&next);
        strbuf_addf(&next, "%s%s%.*s=%.*s", text, *text ? "," : "", name, *param, length, at);
        if (!forced || length != 1 || *at != '0')
            rc = add_every(b, base, v, param + 1, next.data, err);
        at += length;
    }
    strbuf_release(&next);
    return rc;
}

int builtin_settings_open(struct builtin_settings *b, const struct registry *base,
                          const struct string_list *settings, struct error *err)
{
    const struct variant *v;
    int rc = 0;

    *b = (struct builtin_settings) { .variants = memory_zeroed(1, sizeof(*b->variants)) };
    for (size_t i = 0; rc == 0 && (v = registry_variant_at(base, i)); i++) {
        const char *const *params = registry_forced(base, v)->params;
        for (size_t s = 0; rc == 0 && params && s < settings->nr; s++)
            rc = strcmp(settings->items[s], BUILTIN_SETTINGS_EVERY) == 0
                     ? add_every(b, base, v, params, "", err)
                     : add_own(b, base, v, settings->items[s], err);
    }
    return rc;
}

void builtin_settings_close(struct builtin_settings *b)
{
    for (size_t i = 0; i < b->nr; i++) {
        free(b->each[i].name);
        free(b->each[i].setting);
        free(b->each[i].values);
    }
    free(b->each);
    free(b->variants);
    *b = (struct builtin_settings) { .variants = NULL };
}

bool builtin_settings_find(const struct builtin_settings *b, const struct variant *v,
                           struct guest_setting *out)
{
    if (v < b->variants || v >= b->variants + b->nr)
        return false;
    const struct builtin_setting *s = &b->each[v - b->variants];
    *out = (struct guest_setting) { NULL, NULL, s->of->name, s->setting, v->params };
    return true;
}

bool builtin_setting_none(const struct registry *base, const struct variant *v,
                          struct guest_setting *out)
{
    const char *const *params = registry_forced(base, v)->params;

    if (!params || registry_variant(base, v->kernel->name, v->name) != v)
        return false;
    *out = (struct guest_setting) { NULL, NULL, v->name, "", params };
    return true;
}
