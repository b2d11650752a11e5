/* SPDX-License-Identifier: MIT */
/*
 * Which variants can run on this machine, as far as it depends on a library that they open at run
 * time. Asked in a child: a library may start threads, reserve memory or end its process.
 */
#ifndef HARNESS_CLI_AVAILABLE_H
#define HARNESS_CLI_AVAILABLE_H

#include "core/registry.h"

/* Fills why[i] of the i-th of the registry's `nr` variants: NULL where it runs as far as is known,
 * else the reason, for free(). Only vendor variants of the CPU are asked, and of them no peers,
 * which say it where they are measured. */
void available_ask(const struct registry *r, size_t nr, char **why);

#endif
