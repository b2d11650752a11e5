/* SPDX-License-Identifier: MIT */
/* Variants of this build with settings of their parameters: guests like those of a plugin, one for
 * each variant and setting. Values are whole numbers; 0 is what the variant does by itself. A CUDA
 * variant has the parameters that registry_forced() knows. */
#ifndef HARNESS_PLUGIN_BUILTIN_SETTINGS_H
#define HARNESS_PLUGIN_BUILTIN_SETTINGS_H

#include "base/options.h"
#include "core/registry.h"
#include "plugin/plugin_load.h"

/* In the place of a setting: each combination of the values that a variant's parameters name, of
 * each variant. Of parameters that registry_forced() knows without 0, by which the variant's own
 * plan chooses: that is the variant as it is. */
#define BUILTIN_SETTINGS_EVERY "*"

struct builtin_settings {
    struct variant *variants; /* ended by a NULL name; never NULL once opened */
    struct builtin_setting {
        const struct variant *of; /* the variant without a setting */
        char *name, *setting;
        int64_t *values;
    } * each; /* of each of these */
    size_t nr;
};

/* Of each variant of `base` with parameters what of the settings is its own, once. -1 where a value
 * is no whole number. builtin_settings_close() whatever the result. */
int builtin_settings_open(struct builtin_settings *b, const struct registry *base,
                          const struct string_list *settings, struct error *err);
void builtin_settings_close(struct builtin_settings *b);
/* false: it is none of them. */
bool builtin_settings_find(const struct builtin_settings *b, const struct variant *v,
                           struct guest_setting *out);
/* Of a variant of the build as it is; false: it has no parameters. */
bool builtin_setting_none(const struct registry *base, const struct variant *v,
                          struct guest_setting *out);

#endif
