/* SPDX-License-Identifier: MIT */
/*
 * A kernel's name for a table. Compilers give names of hundreds of characters:
 *
 *     void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, bool)
 *     vectorized_gather_kernel<16, long>
 *
 * What is left out are the type of the result, all namespaces and the parameters, and the end of
 * what is longer than KERNEL_NAME_MOST even so. Two kernels may look alike then: files keep
 * whole names.
 */
#ifndef HARNESS_GPUTRACE_KERNEL_NAME_H
#define HARNESS_GPUTRACE_KERNEL_NAME_H

enum { KERNEL_NAME_MOST = 64, KERNEL_NAME_SIZE = KERNEL_NAME_MOST + 4 }; /* characters, bytes */

/* `buffer` is returned. Names of another form are only cut. */
const char *kernel_name_short(const char *name, char buffer[KERNEL_NAME_SIZE]);

#endif
