/* SPDX-License-Identifier: MIT */
/* Which files a process has code of, by the text of its /proc/PID/maps. */
#ifndef HARNESS_JUDGE_MAPS_H
#define HARNESS_JUDGE_MAPS_H

#include "base/options.h"

#include <stdbool.h>

/* Files with code in `maps` that were not mapped in `before`, each once; appends to `files`. A file
 * is itself whatever it is called by now: what was mapped before and is replaced since, by an
 * upgrade, is not new. One that is gone, or never had a name, is told as the system calls it:
 * "/tmp/a.so (deleted)", "/memfd:a (deleted)". `before` may be NULL. */
void maps_new_code(const char *maps, const char *before, struct string_list *files);
/* Appends it unless it is there. */
void maps_tell_once(struct string_list *files, const char *file);
/* Is it one of those that are gone? */
bool maps_is_gone(const char *file);

#endif
