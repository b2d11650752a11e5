/* SPDX-License-Identifier: MIT */
/*
 * Fibers: a stack and a place to go on. One thread of the operating system runs them, and control
 * passes from one to another only by context_switch().
 */
#ifndef CUDA_HOST_FIBER_H
#define CUDA_HOST_FIBER_H

#include <cstddef>
#include <cstdint>

/* Where there is no switch of our own; may be defined elsewhere too. */
#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(CUDA_HOST_UCONTEXT)
#define CUDA_HOST_UCONTEXT 1
#endif
#ifdef CUDA_HOST_UCONTEXT
#include <ucontext.h>
#endif

namespace cuda_host
{

/* Where a fiber, or the thread that started them, goes on. */
struct context {
#ifdef CUDA_HOST_UCONTEXT
    ucontext_t saved;
#else
    void *stack_pointer; /* the registers lie there */
#endif
    void *bottom;    /* lowest usable byte of the stack */
    size_t size;     /* usable bytes from there */
    void *fake;      /* AddressSanitizer's own frames of this stack */
    void *sanitizer; /* ThreadSanitizer's fiber */
};

/* Never returns: a fiber gives control away for the last time. */
typedef void fiber_entry(void);

/* The context of the calling thread itself. */
void context_of_thread(struct context *c);
/* Goes on at `to`; returns when something goes on at `from`. */
void context_switch(struct context *from, struct context *to);
/* The first thing that an entry calls. */
void context_entered(void);

/* A stack of its own; number `index` starts a little elsewhere in its pages, so that the tops of
 * many stacks do not fall on the same lines of the cache. Ends the program without memory. */
void fiber_create(struct context *fiber, unsigned index, fiber_entry *entry);
/* Forgets where it stood: it starts at `entry` again. */
void fiber_rewind(struct context *fiber, fiber_entry *entry);
void fiber_free(struct context *fiber);

} // namespace cuda_host

#endif
