/* SPDX-License-Identifier: MIT */
/*
 * Settings of a guest's parameters: "BM=64,stages=3", one value of each. A variant is measured once
 * with each setting, as a benchmark of its own: "tile:BM=64:stages=3".
 */
#ifndef HARNESS_PLUGIN_GUEST_SETTINGS_H
#define HARNESS_PLUGIN_GUEST_SETTINGS_H

#include "base/error.h"
#include "core/benchmark.h"

/* -1 and what is wrong: a name that no parameter can have, a value that a key cannot hold. */
int guest_setting_check(const char *setting, struct error *err);
/* Its parts, "BM=64", "stages=3", NULL-ended; release by guest_setting_free(). */
char **guest_setting_split(const char *setting);
void guest_setting_free(char **params);
/* The name of a variant with a setting. What has no room is cut, and a hash tells it from others.
 * "" is none: the name as it is. */
void guest_setting_name(const char *variant, const char *setting, char name[NAME_SIZE]);

#endif
