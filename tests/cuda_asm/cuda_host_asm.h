/* SPDX-License-Identifier: MIT */
/*
 * What calls.py writes in place of asm statements. The text is parsed once and interpreted: just
 * the instructions of kernels/cuda and models, each by its exact spelling, with operands of the
 * kinds that PTX wants. What they do to memory is told in hopper.h.
 *
 * Beyond what the host layer finds (cuda_host.h) a launch fails, with a message, for
 *   - an instruction, qualifier, operand or constraint that is not in the table of run.cc;
 *   - a statement that lacks `volatile` or the "memory" that its instructions need;
 *   - what hopper.h refuses.
 */
#ifndef CUDA_HOST_ASM_H
#define CUDA_HOST_ASM_H

#include <cuda_runtime.h>

#include <initializer_list>
#include <memory>
#include <string.h>
#include <type_traits>

struct cuda_host_register {
    const char *constraint; /* "=r", "+f", "l", ... */
    void *place;            /* of the variable; null: a value */
    uint64_t value;
    unsigned bytes;
    bool is_float;
};

/* Of registers: no access that would be looked at (order.h). */
template <class T>
__attribute__((no_sanitize_thread)) inline cuda_host_register cuda_host_register_of(
    const char *constraint, T &&x)
{
    using plain = std::remove_cv_t<std::remove_reference_t<T>>;
    static_assert(sizeof(plain) <= 8 && std::is_trivially_copyable_v<plain>, "a register");
    cuda_host_register o = { constraint, nullptr, 0, sizeof(plain),
                             std::is_floating_point_v<plain> };

    if (*constraint != '=')
        memcpy(&o.value, &x, sizeof(plain));
    if constexpr (std::is_lvalue_reference_v<T>)
        o.place = const_cast<plain *>(&x);
    return o;
}

namespace cuda_host
{
struct program;
}

/* A statement's text, parsed. */
struct cuda_host_program {
    std::unique_ptr<const cuda_host::program> code;

    cuda_host_program(const char *text, const char *clobbers, bool is_volatile,
                      struct cuda_host_site site = cuda_host_site::here());
    ~cuda_host_program();
};

void cuda_host_asm_run(const cuda_host_program &program, const cuda_host_register *operands,
                       size_t nr);

/* Always inlined: a statement is at a place of the kernel's own code (cuda_host_banks.h). */
template <class P>
[[gnu::always_inline]] inline void cuda_host_asm(const P &program,
                                                 std::initializer_list<cuda_host_register> operands)
{
    cuda_host_asm_run(program(), operands.begin(), operands.size());
}

/* Whether a thread that gets sums back from wgmma.wait_group has to name each of their registers in
 * an empty asm statement behind it, as kernels do; true. */
extern bool cuda_host_sums_are_kept;

/* Whether mma.sync has to be volatile, so that the compiler does not move it to where not all lanes
 * come; true. In layernorm_cuda_rows.h it is not, and a device has verified it so. */
extern bool cuda_host_mma_is_volatile;

/* Matrices of 8 rows that ldmatrix and stmatrix have moved, and how many of them had two rows on
 * the same four banks of shared memory, which takes a pass more. */
extern uint64_t cuda_host_matrices, cuda_host_matrix_conflicts;

/* Of the runtime, which the rest of the layer does without. */
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream);
/* As CUDA has it: the address of shared memory as PTX counts it. */
size_t __cvta_generic_to_shared(const void *shared);
/* Of two registers' bytes 0..7 the four that `select` names. */
unsigned __byte_perm(unsigned low, unsigned high, unsigned select);

#endif
