/* SPDX-License-Identifier: MIT */
/*
 * The instructions that one call of a CPU kernel's variant simd executes, for bound.py.
 *
 *   trace_call KERNEL FILE DIM...
 *       their addresses in this program, one a line, of one call that is single-stepped (ptrace)
 *       after others have warmed it up
 *
 *   trace_call KERNEL - DIM...
 *       ns of a call: the least of blocks of 50
 *
 * Exit status 77 where no process can be single-stepped.
 */
#include "kernel_testing.h"

#include "core/clock.h"
#include "core/device.h"
#include "core/registry.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WARM = 3, BLOCKS = 400, BLOCK = 50, BREAKPOINT = 0xcc, LINE = 64, SKIPPED = 77 };

extern const char __executable_start; /* the linker's: where the program lies */

static const struct variant *find_simd(const char *kernel)
{
    const struct registry *r = registry_builtin();

    for (size_t i = 0; registry_variant_at(r, i) != NULL; i++) {
        const struct variant *v = registry_variant_at(r, i);
        if (strcmp(v->kernel->name, kernel) == 0 && strcmp(v->name, "simd") == 0)
            return v;
    }
    return NULL;
}

/* As devices hand memory out: a vector that lies on two lines is read twice. */
static void align_tensors(struct call *call)
{
    for (int i = 0; i < call->nr_tensors; i++) {
        struct tensor *t = &call->tensor[i];
        size_t bytes = (size_t)tensor_bytes(t);
        void *aligned = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
        assert_non_null(aligned);
        memcpy(aligned, t->data, bytes);
        free(t->data);
        t->data = aligned;
    }
}

static void print_time(const struct call *call)
{
    uint64_t least = UINT64_MAX;

    for (int block = 0; block < BLOCKS; block++) {
        uint64_t start = clock_ns();
        for (int i = 0; i < BLOCK; i++)
            call->variant->launch(call);
        uint64_t ns = clock_ns() - start;
        least = ns < least ? ns : least;
    }
    printf("%.1f\n", (double)least / BLOCK);
}

static void breakpoint(void)
{
    __asm__ volatile("int3");
}

static _Noreturn void run_traced(const struct call *call)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(SKIPPED);
    breakpoint();
    call->variant->launch(call);
    breakpoint();
    _exit(0);
}

/* The next stop, which must be that of a step. */
static bool is_stepped(pid_t child)
{
    int status;

    return waitpid(child, &status, 0) >= 0 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

/* From one breakpoint to the other. */
static bool step(pid_t child, FILE *out)
{
    struct user_regs_struct registers;

    if (!is_stepped(child))
        return false;
    for (;;) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || !is_stepped(child) ||
            ptrace(PTRACE_GETREGS, child, NULL, &registers) != 0)
            return false;
        long word = ptrace(PTRACE_PEEKTEXT, child, registers.rip, NULL);
        if ((word & 0xff) == BREAKPOINT)
            return true;
        fprintf(out, "%" PRIxPTR "\n", (uintptr_t)registers.rip - (uintptr_t)&__executable_start);
    }
}

static int write_trace(const struct call *call, const char *path)
{
    FILE *out = fopen(path, "w");

    if (out == NULL) {
        perror(path);
        return 1;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_traced(call);
    bool stepped = child > 0 && step(child, out);
    if (child > 0)
        kill(child, SIGKILL);
    if (fclose(out) != 0) {
        perror(path);
        return 1;
    }
    if (!stepped)
        fprintf(stderr, "skipped: no process can be single-stepped here (ptrace)\n");
    return stepped ? 0 : SKIPPED;
}

int main(int argc, char **argv)
{
    struct device device = { .kind = DEVICE_CPU, .threads = 1 };
    struct shape shape = { { 0 } };
    struct call call;
    struct error err;
    const struct variant *v = argc > 3 ? find_simd(argv[1]) : NULL;

    if (v == NULL || argc - 3 != kernel_nr_dims(v->kernel)) {
        fprintf(stderr, "usage: trace_call KERNEL FILE|- DIM...   of a kernel that has simd\n");
        return 2;
    }
    for (int i = 3; i < argc; i++)
        shape.dim[i - 3] = atoll(argv[i]);
    call_init(&call, v->kernel, &shape, 1);
    align_tensors(&call);
    call.variant = v;
    call.device = &device;
    if (v->prepare != NULL && v->prepare(&call, &err) != 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (int i = 0; i < WARM; i++)
        v->launch(&call);
    int rc = 0;
    if (strcmp(argv[2], "-") == 0)
        print_time(&call);
    else
        rc = write_trace(&call, argv[2]);
    if (v->release != NULL)
        v->release(&call);
    call_release(&call);
    return rc;
}
