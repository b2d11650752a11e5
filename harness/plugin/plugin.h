/* SPDX-License-Identifier: MIT */
/*
 * Kernels of your own for `harness run --plugin ./mine.so`: this file alone, in C or C++, makes a
 * plugin. harness checks each variant against the kernel's oracle before it times it, in processes
 * of their own; a crash or a hang is a row of the table.
 *
 *     cc -shared -fPIC -O2 -o mine.so mine.c
 *     harness run --plugin ./mine.so
 *
 * A kernel says what is computed: its dims, tensors, work and the right result. A variant says how.
 * examples/plugin/template.c is the least, axpy.c beside it has more, docs/plugins.md tells the
 * rest.
 *
 * Sizes (`size` below) are the values of the kernel's dims, in their order. Tensors are dense and
 * row-major. An output is looked at as a matrix: its last extent is the columns, all before it
 * together are the rows; one dimension is one row.
 *
 * Callbacks may be called from one thread at a time, in measuring processes only. They must not
 * keep what they are given beyond the call, but for what `prepare` gets, until `release`.
 */
#ifndef HARNESS_PLUGIN_H
#define HARNESS_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of this ABI: it grows when anything below changes its meaning or its place. A harness
 * loads plugins of its own number and of older ones. 2 is 1 with `like`, `math`, HARNESS_CUDA, and
 * what a call says of its device and its parameters; 3 is 2 with the parameters of a variant. */
#define HARNESS_PLUGIN_ABI 3

enum { HARNESS_DIMS_MAX = 8, HARNESS_TENSORS_MAX = 16, HARNESS_RANK_MAX = 4 };

enum harness_device {
    HARNESS_CPU = 0,
    HARNESS_CUDA = 1, /* tensors in device memory; launch() enqueues on call->stream */
    HARNESS_FAKE = 2, /* a scripted clock, `--device fake`: to test what stands around a kernel */
    HARNESS_HIP = 4,  /* as CUDA, with the hipStream_t; no harness has a device of it yet */
    HARNESS_SYCL = 5, /* as CUDA, with the address of the sycl::queue; the same */
};

enum harness_dtype {
    HARNESS_FP32 = 0,
    HARNESS_BF16 = 1, /* upper half of a float */
    HARNESS_FP16 = 2, /* IEEE binary16 */
    HARNESS_INT32 = 3,
    HARNESS_FP64 = 4,
};

/* What is computed with: keys have it, and it is what a result's tolerance is for. */
enum harness_math {
    HARNESS_MATH_DTYPE = 0, /* as the dtype says */
    HARNESS_MATH_TF32 = 1,  /* fp32 in memory, of which the matrix units read 10 bits of mantissa */
};

enum harness_role {
    HARNESS_IN = 0,     /* read only: a variant that changes it is WRONG */
    HARNESS_OUT = 1,    /* NaN (all bits set) before, of int32 a number near INT32_MIN; compared
                         * with the oracle after */
    HARNESS_INOUT = 2,  /* read and written; not compared */
    HARNESS_WEIGHT = 3, /* like IN, but never changes: `prepare` may repack it */
};

enum harness_fill {
    HARNESS_NORMAL = 0, /* random, N(mean, scale^2); scale must be above 0 */
    HARNESS_CONST = 1,  /* `mean` everywhere */
    HARNESS_TOKENS = 2, /* int32, uniform in [0, limit) */
    HARNESS_OWN = 3,    /* by the kernel's `fill` */
};

struct harness_tensor {
    const char *name; /* for messages */
    int32_t role, dtype, rank, fill;
    int64_t extent[HARNESS_RANK_MAX];
    double mean, scale;
    int64_t limit;
    void *data; /* set by harness, aligned to 64 bytes or better; NULL in `layout` */
};

/* For `layout`: `n` elements in one dimension, normal random numbers where it is no output. */
static inline struct harness_tensor harness_vector(const char *name, int32_t role, int32_t dtype,
                                                   int64_t n)
{
    struct harness_tensor t = {
        name, role, dtype, 1, HARNESS_NORMAL, { n, 0, 0, 0 }, 0, 1, 0, NULL
    };

    return t;
}

/* One benchmark made ready. */
struct harness_call {
    const int64_t *size;
    const struct harness_tensor *tensor; /* as `layout` put them, with their data */
    int32_t nr_tensors;
    int32_t threads; /* to be used: of `--device cpu:THREADS`, else all processors */
    void *state;     /* the variant's own, from `prepare` to `release` */

    /* Of CUDA the cudaStream_t on which `launch` enqueues all its work, and on which `prepare` does
     * what it does: it does not wait for the legacy default stream. Else NULL. */
    void *stream;
    int32_t device;            /* enum harness_device */
    int32_t device_index;      /* which of its kind: 1 of `--device cuda:1` */
    const char *const *params; /* of --param: "NAME=VALUE", NULL-ended; may be NULL */
};

/* The value of a parameter as text, or `otherwise` where it is not given. */
static inline const char *harness_param_text(const struct harness_call *call, const char *name,
                                             const char *otherwise)
{
    size_t length = strlen(name);

    for (const char *const *p = call->params; p && *p; p++)
        if (strncmp(*p, name, length) == 0 && (*p)[length] == '=')
            return *p + length + 1;
    return otherwise;
}

/* The same as a whole number; text that is none counts as its leading digits, as of strtoll(). */
static inline int64_t harness_param(const struct harness_call *call, const char *name,
                                    int64_t otherwise)
{
    const char *text = harness_param_text(call, name, NULL);

    return text ? (int64_t)strtoll(text, NULL, 10) : otherwise;
}

/* What `prepare` may give beside 0 (ready) and -1 (failed): this variant cannot run here. */
#define HARNESS_UNSUPPORTED (-2)

struct harness_variant {
    const char *name;    /* letters, digits, '_', '.', '-'; at most 31 */
    const char *summary; /* one line: the idea; may be NULL */
    int32_t device;      /* enum harness_device */
    int32_t dtype;       /* of the tensors: what `layout` gets */
    int32_t vendor;      /* not 0: somebody else's library, for reference */
    int32_t math;        /* enum harness_math */
    /* Handles, packing, scratch memory: not timed. May be NULL. Where it does not give 0, it writes
     * why into `why`, at most `room` bytes with the NUL. */
    int (*prepare)(struct harness_call *call, char *why, size_t room);
    /* The timed part, called again and again: no allocation, and the same result each time. */
    void (*launch)(const struct harness_call *call);
    void (*release)(struct harness_call *call); /* may be NULL */
    /* What `--param` may set, NULL-ended: "BM", or "BM=32,64,128", with the values that `harness
     * tune` tries where nobody says others. The code asks harness_param(). NULL: nothing. */
    const char *const *params;
};

struct harness_kernel {
    const char *name;        /* "axpy", "blas/axpy": parts as of a variant's name; at most 47 */
    const char *summary;     /* one line; may be NULL */
    const char *const *dims; /* "n": 1 to HARNESS_DIMS_MAX names, small letters, digits, '_' */
    size_t nr_dims;
    const int64_t *sizes; /* what is measured by default: nr_sizes times nr_dims numbers */
    size_t nr_sizes;
    const int64_t *test_sizes; /* odd ones, for `harness verify --test-shapes`; may be NULL */
    size_t nr_test_sizes;

    /* Describes the tensors (which are zeroed before) and gives their number. At least one is
     * HARNESS_OUT. `dtype` is that of the variant. */
    int32_t (*layout)(const int64_t *size, int32_t dtype, struct harness_tensor *tensor);
    /* FLOPs of one launch, and compulsory bytes: each input read once, each output written once.
     * May be NULL: then there are no rates. */
    void (*work)(const int64_t *size, int32_t dtype, double *flops, double *bytes);
    /* The right result, computed in double: row rows[i] of tensor[output] to expected[i * columns].
     * The inputs are as the variants get them. Reads nothing from outputs. */
    void (*oracle)(const int64_t *size, const struct harness_tensor *tensor, int32_t output,
                   const int64_t *rows, size_t nr_rows, double *expected);
    /* Bound on max |out - expected| / rms(expected), from 0 on, which is exact. NULL: 16 unit
     * roundoffs of the dtype (fp32: 9.5e-7), for a few operations an element; int32 exactly. Sums
     * need more. */
    double (*tolerance)(const int64_t *size, int32_t dtype);
    /* FLOPs that the oracle spends whatever the rows, and for each row: where it is dear, a random
     * choice of rows is compared. May be NULL: then all are. */
    void (*oracle_cost)(const int64_t *size, double *fixed, double *per_row);
    /* NULL if the sizes go together; else why not ("heads must divide width"). May be NULL. */
    const char *(*refuses)(const int64_t *size);
    /* Fills a tensor of HARNESS_OWN; the same seed, the same content. NULL if there is none. */
    void (*fill)(const int64_t *size, struct harness_tensor *tensor, uint64_t seed);

    const struct harness_variant *variants; /* at least one */
    size_t nr_variants;

    /* The name of a kernel of harness, "gemm/nn" (`harness list kernels`): the variants join that
     * kernel. Dims, sizes, tensors, oracle, tolerance and work are its own, and so are the results
     * that stand beside them, a vendor's too. All members above stay empty but `variants`, and, for
     * messages, name and summary. NULL: this is a kernel of its own. */
    const char *like;
};

/* What harness looks up in the shared object, by the name `harness_plugin`. The sizes tell a plugin
 * that was compiled against something else. */
struct harness_plugin {
    uint32_t abi, size;
    uint32_t kernel_size, variant_size, tensor_size, call_size;
    const struct harness_kernel *kernels; /* at least one */
    size_t nr_kernels;
    /* The words of the last error of a runtime that the plugin brings along, as nvcc links one into
     * each, and forgets it; NULL: there was none. Asked behind launches, never in what is timed. No
     * function: there is no such runtime. */
    const char *(*fault)(void);
};

/* Initialisers for what most need, in C and in C++, where members cannot be named. */
#define HARNESS_VARIANT(name_, summary_, device_, dtype_, launch_)                                 \
    {                                                                                              \
        (name_), (summary_), (device_), (dtype_), 0, 0, NULL, (launch_), NULL, NULL                \
    }
/* The same with parameters: an array as `params` has it. */
#define HARNESS_TUNABLE(name_, summary_, device_, dtype_, launch_, params_)                        \
    {                                                                                              \
        (name_), (summary_), (device_), (dtype_), 0, 0, NULL, (launch_), NULL, (params_)           \
    }
#define HARNESS_KERNEL(name_, summary_, dims_, sizes_, layout_, work_, oracle_, variants_)         \
    {                                                                                              \
        (name_), (summary_), (dims_), HARNESS_COUNT(dims_), (sizes_),                              \
            HARNESS_COUNT(sizes_) / HARNESS_COUNT(dims_), NULL, 0, (layout_), (work_), (oracle_),  \
            NULL, NULL, NULL, NULL, (variants_), HARNESS_COUNT(variants_), NULL                    \
    }
#define HARNESS_LIKE(kernel_, variants_)                                                           \
    {                                                                                              \
        NULL, NULL, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,           \
            (variants_), HARNESS_COUNT(variants_), (kernel_)                                       \
    }
#define HARNESS_COUNT(array_) (sizeof(array_) / sizeof((array_)[0]))

#ifdef CUDART_VERSION /* of <cuda_runtime.h>, which nvcc includes by itself */
static inline const char *harness_cuda_fault(void)
{
    cudaError_t rc = cudaGetLastError();

    return rc == cudaSuccess ? NULL : cudaGetErrorString(rc);
}
#define HARNESS_FAULT harness_cuda_fault
#else
#define HARNESS_FAULT NULL
#endif

/* Once a plugin, at file level, with an array of struct harness_kernel. */
#define HARNESS_PLUGIN(kernels_)                                                                   \
    HARNESS_PLUGIN_EXPORT const struct harness_plugin harness_plugin;                              \
    const struct harness_plugin harness_plugin = {                                                 \
        HARNESS_PLUGIN_ABI,                                                                        \
        sizeof(struct harness_plugin),                                                             \
        sizeof(struct harness_kernel),                                                             \
        sizeof(struct harness_variant),                                                            \
        sizeof(struct harness_tensor),                                                             \
        sizeof(struct harness_call),                                                               \
        (kernels_),                                                                                \
        HARNESS_COUNT(kernels_),                                                                   \
        HARNESS_FAULT,                                                                             \
    }

#ifdef __cplusplus
#define HARNESS_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
}
#else
#define HARNESS_PLUGIN_EXPORT extern __attribute__((visibility("default")))
#endif

#endif
