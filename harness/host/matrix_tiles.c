/* SPDX-License-Identifier: MIT */
#include "host/matrix_tiles.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux' arch_prctl(2), and the number of the tiles' data among the states of XSAVE. */
enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };

/* CPUID 7.0, EDX. */
enum { TILES_BF16 = 1 << 22, TILES = 1 << 24 };

static bool granted;

static bool processor_has_tiles(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & TILES_BF16) && (d & TILES);
}

static void ask(void)
{
    granted = processor_has_tiles() && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

bool matrix_tiles_granted(void)
{
    static pthread_once_t asked = PTHREAD_ONCE_INIT;

    pthread_once(&asked, ask);
    return granted;
}

#else

bool matrix_tiles_granted(void)
{
    return false;
}

#endif
