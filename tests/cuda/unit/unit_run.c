/* SPDX-License-Identifier: MIT */
#include "cmocka.h"

#include <cuda_runtime_api.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum { PASSED, FAILED, SKIPPED };

static jmp_buf end_of_test;

void unit_fail(int line, const char *format, ...)
{
    va_list arguments;

    printf("  line %d: ", line);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    longjmp(end_of_test, FAILED);
}

void unit_skip(int line)
{
    printf("  skipped at line %d\n", line);
    longjmp(end_of_test, SKIPPED);
}

static int outcome_of(const struct CMUnitTest *test)
{
    void *state = NULL;
    int ended = setjmp(end_of_test);

    if (ended == PASSED)
        test->function(&state);
    return ended;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Whether it failed. */
static int run_one(const struct CMUnitTest *test)
{
    static const char *const words[] = { "ok", "WRONG", "skipped" };
    double start = seconds();
    int outcome = outcome_of(test);

    printf("%-48s %-8s %6.2f s\n", test->name, words[outcome], seconds() - start);
    fflush(stdout);
    return outcome == FAILED;
}

int unit_run(const struct CMUnitTest *tests, size_t nr)
{
    struct cudaDeviceProp device;
    int wrong = 0;

    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9 ||
        device.minor != 0) {
        printf("no device of compute capability 9.0\n");
        return 77;
    }
    for (size_t i = 0; i < nr && tests[i].name != NULL; i++) {
        wrong += run_one(&tests[i]);
        cudaError_t rc = cudaDeviceSynchronize();
        if (rc == cudaSuccess)
            continue;
        printf("%s; nothing further can be said\n", cudaGetErrorString(rc));
        return 3;
    }
    printf(wrong ? "%d WRONG\n" : "all right\n", wrong);
    return wrong > 0;
}
