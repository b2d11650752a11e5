/* SPDX-License-Identifier: MIT */
/* The arguments of a prepared call, for the CPU variants' launch(). */
#ifndef HARNESS_KERNELS_EMBEDDING_CALL_H
#define HARNESS_KERNELS_EMBEDDING_CALL_H

#include "kernels/embedding/embedding.h"

struct embedding embedding_of(const struct call *call);

#endif
