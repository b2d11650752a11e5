/* SPDX-License-Identifier: MIT */
/* Records that came from a stranger's file, put to use. */
#ifndef HARNESS_TESTS_FUZZ_RECORDS_H
#define HARNESS_TESTS_FUZZ_RECORDS_H

#include "core/record.h"

/* As JSON and back they are the same, and all forms of export take them. */
void fuzz_use_records(const struct records *records);

#endif
