/* SPDX-License-Identifier: MIT */
/* What a test asks of the stand-in for CUPTI, beside CUPTI's own functions. */
#ifndef HARNESS_TESTS_CUPTI_STUB_H
#define HARNESS_TESTS_CUPTI_STUB_H

#include <stddef.h>
#include <stdint.h>

/* Launches a kernel of this (mangled) name so often: a runtime call of 20 ns, then after 5 ns a
 * kernel of 100 ns. Any thread. */
void cupti_stub_run(const char *name, int launches);

/* The same by a driver's call, as libraries do. */
void cupti_stub_run_by_driver(const char *name, int launches);

/* The number behind `word` in CUPTI_STUB. */
long cupti_stub_told(const char *word, long otherwise);

#endif
