/* SPDX-License-Identifier: MIT */
/* What is in a folder. Not by glob() nor fts: where memory is short glibc's crash, and they leave
 * out what cannot be read without a word. */
#ifndef HARNESS_HOST_FOLDER_H
#define HARNESS_HOST_FOLDER_H

#include "base/error.h"
#include "base/options.h"

/* The names that begin so, sorted, without "." and "..": of an empty list, which is released after
 * use. -1: the folder cannot be read to its end, and the list is empty. */
int folder_names(const char *folder, const char *prefix, struct string_list *names,
                 struct error *err);

#endif
