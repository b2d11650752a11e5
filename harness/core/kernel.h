/* SPDX-License-Identifier: MIT */
/*
 * The contract of everything that is measured.
 *
 * A kernel says WHAT is computed: dims, work, inputs, a float64 oracle, a tolerance, shapes.
 * A variant says HOW: on which device, in which dtype, by which code.
 * A benchmark is kernel x variant x shape x device x cache state; see core/benchmark.h.
 *
 * Rows. An output tensor is a matrix of tensor_rows() x tensor_cols(). The oracle is asked for
 * some rows and fills them in float64: all of them where that is cheap, the edges and a random
 * choice where the whole would take minutes.
 */
#ifndef HARNESS_CORE_KERNEL_H
#define HARNESS_CORE_KERNEL_H

#include "base/error.h"
#include "core/device.h"
#include "core/tensor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of a kernel's dims, in the order of kernel.dims. Batch and sequence are dims like any
 * other; the dtype belongs to the variant, which decides how to compute. */
enum {
    SHAPE_MAX = 8,
    DIM_LIMIT = 1000000000, /* a larger extent is refused as a typing error */
};

struct shape {
    int64_t dim[SHAPE_MAX]; /* unused ones are 0 */
};

bool shape_equal(const struct shape *a, const struct shape *b);

/* FLOPs and compulsory bytes of one launch: each input read once, each output written once, in
 * the variant's dtype, and weights in what its arithmetic keeps of them. Causal attention counts
 * exact pairs, S(S+1)/2. */
struct work {
    double flops, bytes;
};

struct kernel {
    const char *name;            /* "gemm/linear": unique, parts separated by '/' */
    const char *summary;         /* one line for `harness list` */
    const char *dims[SHAPE_MAX]; /* "batch", "seq", ...; NULL-ended */
    const void *config;          /* the kernel's own constant data (a GPT configuration), or NULL */
    const char *model;           /* "nano": it is a forward pass of this model; or NULL */
    /* Somebody else's code, which may do anything: its callbacks run in measuring processes alone,
     * never in the one that keeps the history. */
    bool guest;

    struct work (*work)(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        enum math math);
    /* Tokens that one launch of a forward pass works on; NULL where it is none. */
    double (*tokens)(const struct kernel *k, const struct shape *s);
    /* Describes the tensors into t[0..TENSOR_MAX) and returns their number; data stays NULL.
     * `dtype` is the storage type of the floating-point tensors. */
    int (*layout)(const struct kernel *k, const struct shape *s, enum dtype dtype,
                  struct tensor *t);
    /* Fills a FILL_KERNEL tensor; may be NULL. `data` is host memory. */
    void (*fill)(const struct kernel *k, const struct shape *s, struct tensor *t, uint64_t seed);
    /* Rounds a TENSOR_WEIGHT on the host to what is kept of it by arithmetic for which
     * math_rounds_weights() is true. A variant's result is held against the oracle of these
     * weights, so that the tolerance tells a wrong kernel from a rounded one; how far it is from
     * the oracle of the weights as they were is measured beside it. NULL: the kernel has no variant
     * of such arithmetic. */
    void (*round_weight)(const struct kernel *k, const struct shape *s, struct tensor *t,
                         enum math math);
    /* Row rows[i] of output `out` in float64 to expected[i * cols]. Tensors are on the host and
     * hold the (rounded) inputs. Reads nothing from outputs. */
    void (*oracle)(const struct kernel *k, const struct shape *s, const struct tensor *t, int out,
                   const int64_t *rows, size_t nr_rows, double *expected);
    /* FLOPs that the oracle spends whatever the rows, and for each row: decides how many rows
     * are checked. */
    void (*oracle_cost)(const struct kernel *k, const struct shape *s, double *fixed,
                        double *per_row);
    /* Bound on max |out - expected| / rms(expected), for a variant of this storage type and
     * arithmetic. */
    double (*tolerance)(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        enum math math);
    /* NULL if the dims go together; else why not ("heads must divide width"). May be NULL. */
    const char *(*refuses)(const struct kernel *k, const struct shape *s);

    const struct shape *shapes; /* measured by default */
    size_t nr_shapes;
    const struct shape *test_shapes; /* odd sizes and edges, for `harness verify` and CTest */
    size_t nr_test_shapes;
};

enum variant_flags {
    VARIANT_VENDOR = 1 << 0, /* somebody else's library, for reference */
    VARIANT_PLAIN = 1 << 1,  /* simple code, kept to be understood */
    VARIANT_HIDDEN = 1 << 2, /* for tests of the harness: only on its own device */
    VARIANT_WHOLE = 1 << 3,  /* many kernels a launch (a forward): a CUDA graph holds one launch */
    /* Somebody else's program to compare with, perhaps not installed: measured only where its name
     * is given, see launch/selection.h. Goes with VARIANT_VENDOR. */
    VARIANT_PEER = 1 << 4,
    /* Somebody else's code, of a kernel of theirs or of one that is there: a launch of it may
     * change what the next one finds, where kernels of harness write the same again. */
    VARIANT_GUEST = 1 << 5,
};

/* One benchmark made ready on a device: what a variant's callbacks get. */
struct call {
    const struct variant *variant;
    const struct kernel *kernel;
    struct shape shape;
    struct device *device;
    struct tensor tensor[TENSOR_MAX]; /* data in device memory */
    int nr_tensors;
    bool cold; /* caches are emptied before each sample */
    /* Where copies of the tensors take turns: what is launched behind this one, in a ring; NULL:
     * this again. Where launches come one by one: on the CPU and with CUDA, not in a graph. */
    const struct call *next;
    const struct call
        *first;  /* of a copy: whose copy it is, prepared before it; NULL: it is none */
    void *state; /* the variant's own, from prepare() to release() */
};

struct measurement;

/* What prepare() gives where it found that the case cannot run here: UNSUPPORTED, not FAILED. */
enum { CALL_UNSUPPORTED = -2 };

/* In C++ a member that initialisers may leave out wants a value of its own. */
#ifdef __cplusplus
#define VARIANT_NONE = nullptr
#else
#define VARIANT_NONE
#endif

struct variant {
    const char *name;    /* "naive", "simd", "openblas", "cuda_tiled" */
    const char *summary; /* one line: the idea and the limit it should reach */
    const struct kernel *kernel;
    enum device_kind device;
    enum dtype dtype;
    enum math math;
    unsigned flags;
    /* NULL means that it always can. On false, `why` has the reason. */
    bool (*supports)(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why);
    /* Handles, packing, graphs; not timed. May be NULL. May allocate; sets call->state. */
    int (*prepare)(struct call *call, struct error *err);
    /* The timed part: no allocation, no synchronisation, no failure. */
    void (*launch)(const struct call *call);
    void (*release)(struct call *call); /* may be NULL */

    /* On a device of kind DEVICE_PROCESS in place of launch(), and nowhere else: runs it once as a
     * process of its own, and gives the ns from its start to its end. -1 where it failed. */
    int (*execute)(const struct call *call, uint64_t *ns, struct error *err) VARIANT_NONE;
    /* On the CPU and on CUDA in place of launch(), where code is in a process of its own: runs it
     * there so often, back to back, and gives the ns of that, without the way there and back; where
     * copies take turns, from this call on. With call->cold, on the CPU that process empties its
     * caches before. -1 where it failed. With `ns` NULL nothing is timed and the outputs are
     * wanted; else they are once facts() was called. Another process can be given the tensors: they
     * are device_shared(), or lie in one device_block_of(), which the device lends. */
    int (*repeat)(const struct call *call, unsigned times, uint64_t *ns,
                  struct error *err) VARIANT_NONE;
    /* What people should be told of outputs that are wrong; NULL or "": the elements tell. */
    const char *(*explain)(const struct call *call)VARIANT_NONE;
    /* Adds to m->telemetry what the variant knows of the last m->nr_samples launches. */
    void (*facts)(const struct call *call, struct measurement *m) VARIANT_NONE;
    /* What launch() met that no device can see, as an error of a runtime of the variant's own,
     * which is then forgotten. NULL: nothing. Called behind launches, untimed. */
    const char *(*fault)(const struct call *call)VARIANT_NONE;
    /* The variant's own constant data, as a guest's callbacks need it; or NULL. */
    const void *config VARIANT_NONE;

    /* What `--param` may set, NULL-ended, with the values that `harness tune` tries: "depth=0,128".
     * Whole numbers; 0 is what the variant does by itself. NULL: nothing. */
    const char *const *params VARIANT_NONE;
    /* Of each of these what is set; NULL: nothing is. See variant_param(). */
    const int64_t *values VARIANT_NONE;

    /* Bytes that a case takes beside its tensors, where they are many: packed weights, workspace,
     * what the oracle converts. What would not fit is refused before anything is allocated.
     * `call` has no data yet. NULL: few. */
    int64_t (*workspace)(const struct call *call) VARIANT_NONE;
};

/* The value of the i-th parameter, 0 where none is set. */
static inline int64_t variant_param(const struct variant *v, size_t i)
{
    return v->values ? v->values[i] : 0;
}

/* The extent of a dim by name, or `otherwise` where the kernel lacks that dim. */
int64_t kernel_dim(const struct kernel *k, const struct shape *s, const char *dim,
                   int64_t otherwise);
int kernel_dim_index(const struct kernel *k, const char *dim); /* -1 if there is none */
int kernel_nr_dims(const struct kernel *k);
/* Index of the first output tensor of a layout. */
int kernel_output(const struct tensor *t, int nr);
/* Bytes of all tensors together (the working set); INT64_MAX on overflow. */
int64_t kernel_footprint(const struct kernel *k, const struct shape *s, enum dtype dtype);

#endif
