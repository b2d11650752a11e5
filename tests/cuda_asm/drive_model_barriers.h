/* SPDX-License-Identifier: MIT */
/* Rules of barriers, clusters and what comes from the kernel in front. */
#ifndef CUDA_ASM_DRIVE_MODEL_BARRIERS_H
#define CUDA_ASM_DRIVE_MODEL_BARRIERS_H

#include "drive_model.h"

/* ---- mbarriers ---- */

struct an_arrival_too_many {
    static constexpr const char *words = "has no room for it";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s);
        if (model_first()) {
            cuda_mbarrier_expect(&s.full, sizeof(s.row));
            if (!RIGHT)
                cuda_mbarrier_arrive(&s.full);
            cuda_bulk_load(s.row, in, sizeof(s.row), &s.full);
        }
        cuda_mbarrier_wait(&s.full, 0);
        out[model_place()] = s.row[threadIdx.x];
    }
};

struct an_arrival_too_few {
    static constexpr const char *words =
        " (and 63 more), whose phase will not end: 1 of 2 arrivals and 0 bytes are missing";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s, RIGHT ? 1 : 2);
        model_load(s, in);
        cuda_mbarrier_wait(&s.full, 0);
        out[model_place()] = s.row[threadIdx.x];
    }
};

struct bytes_that_do_not_come {
    static constexpr const char *words =
        " (and 63 more), whose phase will not end: 0 of 1 arrivals and 128 bytes are missing";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s);
        if (model_first()) {
            cuda_mbarrier_expect(&s.full, sizeof(s.row));
            cuda_bulk_load(s.row, in, sizeof(s.row) / (RIGHT ? 1 : 2), &s.full);
        }
        cuda_mbarrier_wait(&s.full, 0);
        out[model_place()] = s.row[threadIdx.x];
    }
};

/* Passes at once: the phase before the first one has ended. */
struct parity_of_the_phase_before {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s);
        model_load(s, in);
        cuda_mbarrier_wait(&s.full, RIGHT ? 0 : 1);
        out[model_place()] = s.row[threadIdx.x];
        cuda_mbarrier_wait(&s.full, 0);
    }
};

struct parity_of_the_phase_to_come {
    static constexpr const char *words =
        " (and 63 more), whose phase will not end: 1 of 1 arrivals and 0 bytes are missing";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s);
        model_load(s, in);
        cuda_mbarrier_wait(&s.full, 0);
        if (!RIGHT)
            cuda_mbarrier_wait(&s.full, 1);
        out[model_place()] = s.row[threadIdx.x];
    }
};

struct barrier_without_init {
    static constexpr const char *words = "is not initialised";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        if (RIGHT)
            model_begin(s, MODEL_ROW);
        cuda_mbarrier_arrive(&s.full);
        cuda_mbarrier_wait(&s.full, 0);
        out[model_place()] = 1;
    }
};

struct barrier_that_is_not_published {
    static constexpr const char *words =
        "ends on a barrier that fence.mbarrier_init has not published";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        if (model_first()) {
            cuda_mbarrier_init(&s.full, 1);
            if (RIGHT)
                cuda_mbarrier_publish();
        }
        __syncthreads();
        model_load(s, in);
        cuda_mbarrier_wait(&s.full, 0);
        out[model_place()] = s.row[threadIdx.x];
    }
};

/* ---- Named barriers ---- */

struct named_barrier_half_met {
    static constexpr const char *words =
        "ends with 32 of 64 threads at named barrier 1, for which nobody waits";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        unsigned number = 1;

        if (threadIdx.x < 32)
            model_asm("bar.arrive %0, 64;", "r", number);
        else if (RIGHT)
            model_asm("bar.sync %0, 64;", "r", number);
        out[model_place()] = 1;
    }
};

struct named_barrier_of_two_sizes {
    static constexpr const char *words = "threads, while others made it one of";
    static constexpr struct model_shape shape = { MODEL_ROW };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        unsigned number = 1;

        if (RIGHT || threadIdx.x < 32)
            model_asm("bar.sync %0, 64;", "r", number);
        else
            model_asm("bar.sync %0, 32;", "r", number);
        out[model_place()] = 1;
    }
};

/* ---- Clusters ---- */

/* Each block has a row of ones, which the other one gets 16 bytes a thread. */
struct block_that_leaves_early {
    static constexpr const char *words = "reaches the shared memory of a block that has returned";
    static constexpr struct model_shape shape = { MODEL_ROW, 2 };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();
        unsigned peer = cuda_cluster_rank() ^ 1, t = threadIdx.x;

        model_begin(s);
        model_load(s, in);
        cuda_mbarrier_wait(&s.full, 0);
        if (t < MODEL_ROW / 4)
            cuda_cluster_store16(cuda_cluster_address(s.other + 4 * t, peer),
                                 *reinterpret_cast<uint4 *>(s.row + 4 * t));
        if (RIGHT)
            cuda_cluster_barrier();
        out[model_place()] = s.other[t];
    }
};

struct cluster_barrier_half_met {
    static constexpr const char *words = "returns between arriving and waiting";
    static constexpr struct model_shape shape = { 32, 2 };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        cuda_cluster_arrive();
        if (RIGHT)
            cuda_cluster_wait();
        out[model_place()] = 1;
    }
};

/* One lane waits by itself. */
struct lane_that_is_not_in_step {
    static constexpr const char *words = "comes to an .aligned instruction at cluster.h:";
    static constexpr struct model_shape shape = { 32, 2 };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();

        model_begin(s);
        model_load(s, in);
        if (model_first())
            cuda_mbarrier_wait(&s.full, 0);
        if (RIGHT)
            __syncwarp();
        cuda_cluster_barrier();
        out[model_place()] = s.row[threadIdx.x];
    }
};

/* Each block's barrier has one arrival, the other block's. */
template <bool PUBLISHED, bool CLUSTER> static void model_arrive_there(float *out)
{
    model_shared &s = cuda_shared<model_shared>();

    if (model_first()) {
        cuda_mbarrier_init(&s.full, 1);
        if (PUBLISHED)
            cuda_mbarrier_publish();
    }
    cuda_cluster_barrier();
    if (model_first())
        cuda_mbarrier_arrive_at(&s.full, cuda_cluster_rank() ^ 1);
    if (CLUSTER)
        cuda_mbarrier_wait_cluster(&s.full, 0);
    else
        cuda_mbarrier_wait(&s.full, 0);
    out[model_place()] = 1;
    cuda_cluster_barrier();
}

struct arrival_at_what_is_not_published {
    static constexpr const char *words = "at a barrier of another block that fence.mbarrier_init";
    static constexpr struct model_shape shape = { 32, 2 };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_arrive_there<RIGHT, true>(out);
    }
};

struct wait_of_too_small_a_scope {
    static constexpr const char *words = "without acquiring at the scope of the cluster";
    static constexpr struct model_shape shape = { 32, 2 };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_arrive_there<true, RIGHT>(out);
    }
};

/* Each block's row goes to the other one by the engine. */
struct copy_there_without_a_fence {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_ROW, 2 };
    template <bool RIGHT> static void kernel(const float *, float *out, const CUtensorMap &)
    {
        model_shared &s = cuda_shared<model_shared>();
        unsigned peer = cuda_cluster_rank() ^ 1;

        model_begin(s);
        s.row[threadIdx.x] = 1;
        if (RIGHT)
            cuda_cluster_publish();
        cuda_cluster_barrier();
        if (model_first()) {
            cuda_mbarrier_expect(&s.full, sizeof(s.other));
            cuda_cluster_copy(cuda_cluster_address(s.other, peer), s.row, sizeof(s.row),
                              cuda_cluster_address(&s.full, peer));
        }
        cuda_mbarrier_wait_cluster(&s.full, 0);
        out[model_place()] = s.other[threadIdx.x];
        cuda_cluster_barrier();
    }
};

/* ---- The kernel in front ---- */

struct read_of_the_kernel_in_front {
    static constexpr const char *words = nullptr;
    static constexpr struct model_shape shape = { MODEL_ROW, 1, true };
    template <bool RIGHT> static void kernel(const float *in, float *out, const CUtensorMap &)
    {
        if (RIGHT)
            cuda_pdl_wait();
        out[model_place()] = in[threadIdx.x];
        if (!RIGHT)
            cuda_pdl_wait();
    }
};

#endif
