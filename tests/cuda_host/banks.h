/* SPDX-License-Identifier: MIT */
/* What cuda_host_banks.h counts with: the steps of threads, until their warp meets. */
#ifndef CUDA_HOST_BANKS_STEPS_H
#define CUDA_HOST_BANKS_STEPS_H

#include <cstddef>

namespace cuda_host
{

struct block;
struct thread;

/* Where a thread is in the code: the address behind a call, and the frame that the call is in. */
struct code_place {
    const void *at, *frame;
};

/* The place of who called the function that this stands in. Frames are chained where code is
 * compiled for it, as cuda_host_counted is. */
#define CODE_PLACE_OF_CALLER                                                                       \
    (cuda_host::code_place { __builtin_return_address(0),                                          \
                             *static_cast<void *const *>(__builtin_frame_address(0)) })

/* Whether steps are asked for at all: looked at first, as most runs count nothing. */
extern bool banks_on;

/* The running thread has come to a block of code; it touches memory, which counts if it is shared.
 */
void banks_step(const struct code_place &place);
void banks_touch(const struct code_place &place, const void *memory, size_t bytes);
/* All lanes of `nr` warps from number `first` on have met; of all warps: the blocks have ended. */
void banks_meet(const struct block *b, size_t first, size_t nr);

} // namespace cuda_host

#endif
