/* SPDX-License-Identifier: MIT */
#include "fiber.h"

#include "sanitizer.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#if CUDA_HOST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if CUDA_HOST_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace cuda_host
{

/* Ample for a kernel that is compiled without optimisation and with a sanitizer; pages that are not
 * touched cost nothing. */
enum : size_t { STACK_BYTES = 512 * 1024, COLOUR_BYTES = 64 * 1024 };

#ifndef CUDA_HOST_UCONTEXT

/* Saves the registers that a call preserves on the old stack, and takes those on the new one. */
extern "C" void cuda_host_switch(void **save, void *restore);

#ifdef __x86_64__
asm(R"(
    .text
    .globl cuda_host_switch
    .type cuda_host_switch, @function
cuda_host_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size cuda_host_switch, .-cuda_host_switch
)");

/* Six registers, the return address, and above it the place of a caller's, which is none. */
enum { FRAME_WORDS = 8, FRAME_RETURN = 6 };
#else
asm(R"(
    .text
    .globl cuda_host_switch
    .type cuda_host_switch, %function
cuda_host_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size cuda_host_switch, .-cuda_host_switch
)");

/* Twenty registers; the return address is x30. */
enum { FRAME_WORDS = 20, FRAME_RETURN = 11 };
#endif

static void jump(struct context *from, struct context *to)
{
    cuda_host_switch(&from->stack_pointer, to->stack_pointer);
}

/* A frame as cuda_host_switch() leaves one, that returns to `entry`. */
static void set_up(struct context *fiber, fiber_entry *entry)
{
    auto *top = reinterpret_cast<uintptr_t *>(static_cast<char *>(fiber->bottom) + fiber->size);
    uintptr_t *frame = top - FRAME_WORDS;

    memset(frame, 0, FRAME_WORDS * sizeof(*frame));
    frame[FRAME_RETURN] = reinterpret_cast<uintptr_t>(entry);
    fiber->stack_pointer = frame;
}

#else

static void jump(struct context *from, struct context *to)
{
    swapcontext(&from->saved, &to->saved);
}

static void set_up(struct context *fiber, fiber_entry *entry)
{
    getcontext(&fiber->saved);
    fiber->saved.uc_stack.ss_sp = fiber->bottom;
    fiber->saved.uc_stack.ss_size = fiber->size;
    fiber->saved.uc_link = nullptr;
    makecontext(&fiber->saved, entry, 0);
}

#endif

void context_of_thread(struct context *c)
{
    pthread_attr_t attributes;

    *c = {};
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &c->bottom, &c->size);
        pthread_attr_destroy(&attributes);
    }
#if CUDA_HOST_TSAN
    c->sanitizer = __tsan_get_current_fiber();
#endif
}

void context_switch(struct context *from, struct context *to)
{
#if CUDA_HOST_ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->size);
#endif
#if CUDA_HOST_TSAN
    __tsan_switch_to_fiber(to->sanitizer, 0);
#endif
    jump(from, to);
#if CUDA_HOST_ASAN
    __sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
#endif
}

void context_entered(void)
{
#if CUDA_HOST_ASAN
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

static size_t page_size(void)
{
    return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void fiber_create(struct context *fiber, unsigned index, fiber_entry *entry)
{
    size_t guard = page_size(), whole = guard + STACK_BYTES + COLOUR_BYTES;
    void *map = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (map == MAP_FAILED || mprotect(map, guard, PROT_NONE)) {
        perror("CUDA host layer: cannot map the stack of a fiber");
        abort();
    }
    *fiber = {};
    fiber->bottom = static_cast<char *>(map) + guard;
    /* 17 lines apart: that visits all sets before it comes back. */
    fiber->size = STACK_BYTES + COLOUR_BYTES - index * 17 * 64 % COLOUR_BYTES;
#if CUDA_HOST_TSAN
    fiber->sanitizer = __tsan_create_fiber(0);
#endif
    set_up(fiber, entry);
}

void fiber_rewind(struct context *fiber, fiber_entry *entry)
{
#if CUDA_HOST_ASAN
    __asan_unpoison_memory_region(fiber->bottom, fiber->size);
#endif
    fiber->fake = nullptr;
    set_up(fiber, entry);
}

void fiber_free(struct context *fiber)
{
    size_t guard = page_size();

#if CUDA_HOST_TSAN
    __tsan_destroy_fiber(fiber->sanitizer);
#endif
    munmap(static_cast<char *>(fiber->bottom) - guard, guard + STACK_BYTES + COLOUR_BYTES);
}

} // namespace cuda_host
