/* SPDX-License-Identifier: MIT */
/*
 * Results of other benchmark programs as records of ours. docs/import.md says what becomes of each.
 *
 * Nothing is trusted: names lose control characters and what is not UTF-8, numbers must be finite,
 * what makes no sense is refused with file, line, column and reason. All of it is thread-safe.
 */
#ifndef HARNESS_IMPORTERS_IMPORT_H
#define HARNESS_IMPORTERS_IMPORT_H

#include "base/error.h"
#include "importers/base/import_formats.h"

#include <stdbool.h>
#include <stddef.h>

/* A text in memory; `what` stands in messages. */
int import_parse(const char *text, size_t length, const char *what,
                 const struct import_options *options, struct imported *out, struct error *err);
/* A file, "-" for standard input, or a folder of criterion's (target/criterion, or a part of it, or
 * one of its files). Raw samples of NVBench are looked for beside the file. */
int import_file(const char *path, const struct import_options *options, struct imported *out,
                struct error *err);
void imported_release(struct imported *imported);

/* "gbench", for --format; -1 and an error that lists them. */
int import_format_find(const char *name, enum import_format *format, struct error *err);
const char *import_format_name(enum import_format format);  /* "gbench" */
const char *import_format_title(enum import_format format); /* "Google Benchmark" */
const char *import_format_reads(enum import_format format); /* "--benchmark_out, JSON" */

/* Does a file of that format hold runs of harness itself, with their names and numbers? */
bool import_is_ours(enum import_format format);
/* Launches of a run: 1 + the largest number of a launch among its records; 0 without records. */
int import_launches(const struct records *records, int run);

#endif
