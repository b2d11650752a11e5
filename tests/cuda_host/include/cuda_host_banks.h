/* SPDX-License-Identifier: MIT */
/*
 * Bank conflicts of shared memory, counted from what threads do, not from index maps: a source that
 * is compiled as cuda_host_counted says where each of its basic blocks begins and what it loads and
 * stores, by calls that compilers have for sanitizers.
 *
 * Lanes of a warp are played in step, from one place at which all of them meet to the next: those
 * that are furthest behind in the code go on, as on a device, so that a lane that leaves out an
 * access, or goes round a loop less often, does not come to be compared with another round of the
 * others. What lanes do at one place at one time is one access. It takes as many passes as the most
 * words that any of the 32 banks is asked for; of 8 and 16 bytes a lane, half and quarter warps are
 * looked at each by itself, and the worst one counts.
 *
 * Counted are accesses as the source has them. A compiler for a device may make one of several
 * neighbours, which are counted one by one here.
 */
#ifndef CUDA_HOST_BANKS_H
#define CUDA_HOST_BANKS_H

#include <cstdint>
#include <vector>

/* An access, at a place of the machine code, of so many bytes a lane. */
struct cuda_host_bank_access {
    const void *place; /* behind it */
    unsigned bytes;
    uint64_t times, passes;
    unsigned worst; /* passes of one time */
};

/* Begins to count, with nothing counted. With CUDA_HOST_BANKS=FILE in the environment it has begun
 * when the program starts, and when that ends FILE has a line for each access: the program's file,
 * the place in it, bytes, times, passes and the worst. */
void cuda_host_banks_begin(void);
/* Ends it. */
std::vector<cuda_host_bank_access> cuda_host_banks_end(void);

#endif
