/* SPDX-License-Identifier: MIT */
/*
 * Settings of a guest's parameters: "BM=64,stages=3", one value of each. A variant is measured once
 * with each setting, as a benchmark of its own: "tile:BM=64:stages=3".
 */
#ifndef HARNESS_PLUGIN_GUEST_SETTINGS_H
#define HARNESS_PLUGIN_GUEST_SETTINGS_H

#include "base/error.h"
#include "core/benchmark.h"

#include <stdbool.h>

/* -1 and what is wrong: a name that no parameter can have, a value that a key cannot hold. */
int guest_setting_check(const char *setting, struct error *err);
/* Parameters that a variant has: "BM", or "BM=32,64,128" with usual values. -1 and what is wrong.
 */
int guest_param_check(const char *param, struct error *err);
/* Are two texts, each "NAME" or "NAME=...", of one name? */
bool guest_param_same(const char *a, const char *b);
/* Of a setting what is of parameters that are had (NULL-ended): "stages=3" of "BM=64,stages=3".
 * free() it; "" where none is. */
char *guest_setting_of(const char *setting, const char *const *params);

/* Its parts, "BM=64", "stages=3", NULL-ended; release by guest_setting_free(). */
char **guest_setting_split(const char *setting);
void guest_setting_free(char **params);
/* The name of a variant with a setting. What has no room is cut, and a hash tells it from others.
 * "" is none: the name as it is. */
void guest_setting_name(const char *variant, const char *setting, char name[NAME_SIZE]);

#endif
