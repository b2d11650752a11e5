/* SPDX-License-Identifier: MIT */
/* The table of instructions, and what an executing one has at hand. */
#ifndef CUDA_ASM_RUN_H
#define CUDA_ASM_RUN_H

#include "banks.h"
#include "block.h"
#include "program.h"

namespace cuda_host
{

struct frame {
    const struct program *program;
    const struct instruction *now;
    const cuda_host_register *operands;
    uint64_t *locals;
    struct thread *thread;   /* null outside of kernels */
    struct code_place where; /* the statement is */

    /* Argument i of the instruction, counted without brackets. */
    uint64_t get(size_t i) const;
    uint32_t r(size_t i) const
    {
        return static_cast<uint32_t>(get(i));
    }
    float f(size_t i) const;
    void *pointer(size_t i) const
    {
        return reinterpret_cast<void *>(get(i));
    }
    void set(size_t i, uint64_t value) const;
    void set_f(size_t i, float value) const;
    /* Of an operand that is a variable; null. */
    void *place(size_t i) const;
};

typedef void instruction_fn(struct frame &f);

enum : unsigned {
    PURE = 0,   /* registers alone */
    MEMORY = 1, /* the statement says "memory" and is volatile */
    ORDER = 2,  /* it is volatile */
};

/*
 * `shape` has a letter for each argument: r, l, h 32, 64, 16 bits, f float, p predicate, n a
 * number known at compile time, _ the sink; capitals are written; D is any number of floats that
 * are read and written.
 */
struct operation {
    const char *name, *shape;
    unsigned needs;
    instruction_fn *run;
};

/* Of these arguments, or else of this name; null: there is no such instruction. A name that ends in
 * '*' goes on in any way. */
const struct operation *operation_find(const struct instruction &i);

extern const struct operation operations_of_registers[], operations_of_memory[],
    operations_of_hopper[];

} // namespace cuda_host

#endif
