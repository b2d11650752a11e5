/* SPDX-License-Identifier: MIT */
/* What a tuned setting holds for. */
#ifndef HARNESS_SESSION_TUNE_TUNED_KEY_H
#define HARNESS_SESSION_TUNE_TUNED_KEY_H

#include "plugin/guests.h"
#include "store/tuned.h"

/* The name of the benchmark whose variant has that setting, as it is without one. */
void tuned_key_name(const struct benchmark *b, const struct device *d,
                    const struct guest_setting *setting, struct benchmark_name *name);
/* The driver of an accelerator and its model, "580.95.05, NVIDIA H200"; "" of what is none. */
void tuned_key_driver(const struct device *d, char driver[TUNED_DRIVER_SIZE]);
/* `code` of variants of this build. */
#define TUNED_BUILTIN "harness"
/* What such a variant is made of: its source, the compiler and its flags, and of the CPU's the
 * instruction set in use. */
void tuned_key_digest(const struct variant *v, char text[DIGEST_TEXT_SIZE]);
/* Fills key, driver, code and digest. The machine is the caller's. */
void tuned_key_fill(struct store_tuned *t, const struct benchmark *b, const struct device *d,
                    const struct guest_setting *setting);

/* Is it a setting of that code? */
bool tuned_key_same_code(const struct store_tuned *t, const char *code, const char *digest);
/* That of the list (of one machine) which holds for the same; NULL: none does. */
const struct store_tuned *tuned_key_find(const struct store_tuned_list *kept,
                                         const struct store_tuned *wanted);

#endif
