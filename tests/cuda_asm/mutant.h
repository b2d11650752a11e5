/* SPDX-License-Identifier: MIT */
/* Whether this run has mutant `number` (mutants.py). */
#ifndef CUDA_ASM_MUTANT_H
#define CUDA_ASM_MUTANT_H

#include <stdio.h>
#include <stdlib.h>
#include <type_traits>

inline int cuda_host_mutant_of_run(void)
{
    static const int number = [] {
        const char *text = getenv("CUDA_ASM_MUTANT");
        return text ? atoi(text) : 0;
    }();

    return number;
}

/* Once, so that who reads the output knows that the run came there. */
inline bool cuda_host_mutant_reached(void)
{
    static const bool said = printf("mutant %d is reached\n", cuda_host_mutant_of_run()) > 0;

    return said;
}

constexpr bool cuda_host_mutant(int number)
{
    return !std::is_constant_evaluated() && cuda_host_mutant_of_run() == number &&
           cuda_host_mutant_reached();
}

#endif
