/* SPDX-License-Identifier: MIT */
/* What hopper*.cc keep of a thread. */
#ifndef CUDA_ASM_HOPPER_STATE_H
#define CUDA_ASM_HOPPER_STATE_H

#include "hopper.h"

#include <deque>
#include <map>

namespace cuda_host
{

/* A thread's sums that the unit has. */
struct sums_away {
    std::vector<float *> place;
    std::vector<float> value;
    uint64_t last; /* product that adds to them */
};

/* One of a warpgroup, complete when all of its threads have called. */
struct product {
    struct product_call call; /* the first thread's */
    unsigned arrived;
    struct {
        std::shared_ptr<struct sums_away> sums;
        const uint32_t *a[4];
    } of[128];
};

/* A register that a product reads, and what is in it. */
struct lent {
    const void *place;
    uint32_t bits;
};

/* One that came back, where, and what was in it. */
struct returned {
    struct cuda_host_site site;
    uint32_t bits;
};

struct hopper {
    std::vector<void *> inits; /* of mbarriers, not published */
    uint64_t stores;           /* groups that were committed */
    /* Products: started, started when each group ended, registers that the unit may have. */
    uint64_t products;
    std::vector<uint64_t> groups;
    bool fenced;
    std::vector<std::shared_ptr<struct sums_away>> away;
    std::deque<std::pair<uint64_t, struct lent>> lent; /* A in registers, and to which product */
    std::map<const void *, struct returned> unkept;    /* registers that came back */
    /* Of a warpgroup's first thread: those that not all have called, and how many are done. */
    std::map<uint64_t, std::shared_ptr<struct product>> open;
    uint64_t complete, done;
    unsigned registers; /* setmaxnreg; 0: nothing said */
    /* How many .aligned instructions it has come to, and of a warp's first thread: behind which
     * waits the first lane came to each. */
    size_t aligned;
    std::vector<uint64_t> waits;
};

struct hopper *hopper_of(struct thread *t);

} // namespace cuda_host

#endif
