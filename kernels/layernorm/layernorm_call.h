/* SPDX-License-Identifier: MIT */
/* The arguments of a prepared call, for the CPU variants' launch(). */
#ifndef HARNESS_KERNELS_LAYERNORM_CALL_H
#define HARNESS_KERNELS_LAYERNORM_CALL_H

#include "kernels/layernorm/layernorm.h"

struct layernorm layernorm_of(const struct call *call);

#endif
