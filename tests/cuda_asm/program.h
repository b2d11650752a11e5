/* SPDX-License-Identifier: MIT */
/* The text of an asm statement as instructions: { .reg .pred p; again: @!p op a, [b, {c, d}]; } */
#ifndef CUDA_ASM_PROGRAM_H
#define CUDA_ASM_PROGRAM_H

#include "cuda_host_asm.h"

#include <string>
#include <vector>

namespace cuda_host
{

struct argument {
    enum kind { OPERAND, LOCAL, IMMEDIATE, SPECIAL, SINK } kind;
    unsigned index; /* of the operand or local register */
    uint64_t value;
};

struct instruction {
    std::string name;  /* with all its qualifiers; "" is a branch */
    std::string shape; /* of its arguments: "[.],[.,{.,.}],." */
    std::vector<struct argument> arguments;
    int guard; /* local register; -1: none */
    bool guard_negated;
    size_t target; /* of a branch */
    const struct operation *operation;
};

struct local {
    std::string name, type; /* "done", "pred" */
};

/* `wrong`: "" where all was understood. */
struct program {
    std::string text, wrong;
    struct cuda_host_site site;
    bool is_volatile, memory; /* the statement says so */
    mutable bool looked_at;   /* found right by run.cc */
    std::vector<struct local> locals;
    std::vector<struct instruction> code;
};

/* Fills all but the flags; operations are looked up by run.cc. */
void program_parse(struct program *p, const char *text);

} // namespace cuda_host

#endif
