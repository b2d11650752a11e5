/* SPDX-License-Identifier: MIT */
/* What is wrong with the tables of a plugin, in words for whoever wrote it. */
#include "plugin/plugin_parts.h"

#include "plugin/guest_settings.h"
#include "text/name.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SIZES_MAX = 10000, PARAMS_MAX = 64 };

static int check_count(size_t nr, const void *items, size_t most, const char *what,
                       struct error *err)
{
    if (nr == 0 || !items)
        return error_set(err, "it has no %s", what);
    return nr <= most ? 0 : error_set(err, "it has %zu %s, more than %zu", nr, what, most);
}

static int check_dims(const struct harness_kernel *k, struct error *err)
{
    if (check_count(k->nr_dims, k->dims, HARNESS_DIMS_MAX, "dims", err))
        return -1;
    for (size_t i = 0; i < k->nr_dims; i++) {
        if (name_check_dim(k->dims[i], err))
            return -1;
        for (size_t j = 0; j < i; j++)
            if (strcmp(k->dims[i], k->dims[j]) == 0)
                return error_set(err, "two dims are called \"%s\"", k->dims[i]);
    }
    return 0;
}

static int check_sizes(const struct harness_kernel *k, const int64_t *sizes, size_t nr,
                       const char *what, struct error *err)
{
    for (size_t i = 0; i < nr * k->nr_dims; i++)
        if (sizes[i] < 1 || sizes[i] > DIM_LIMIT)
            return error_set(err, "%s %zu has %s=%lld: 1 to %d is allowed", what, i / k->nr_dims,
                             k->dims[i % k->nr_dims], (long long)sizes[i], DIM_LIMIT);
    return 0;
}

static int check_functions(const struct harness_kernel *k, struct error *err)
{
    if (!k->layout)
        return error_set(err, "it has no layout(): nothing says what its tensors are");
    if (!k->oracle)
        return error_set(err, "it has no oracle(): nothing is timed that was not checked");
    return 0;
}

static int check_params(const char *const *params, struct error *err)
{
    for (size_t i = 0; params && params[i]; i++) {
        if (i == PARAMS_MAX)
            return error_set(err, "it has more than %d parameters", PARAMS_MAX);
        if (guest_param_check(params[i], err))
            return -1;
        for (size_t j = 0; j < i; j++)
            if (guest_param_same(params[i], params[j]))
                return error_set(err, "the parameter of \"%s\" is there twice", params[i]);
    }
    return 0;
}

static int check_variant(const struct harness_variant *v, struct error *err)
{
    if (v->device < HARNESS_CPU || v->device > HARNESS_SYCL || v->device == DEVICE_PROCESS)
        return error_set(err, "its device is %d: HARNESS_CPU to HARNESS_SYCL are known",
                         (int)v->device);
    if (v->dtype < HARNESS_FP32 || v->dtype > HARNESS_FP64)
        return error_set(err, "its dtype is %d: HARNESS_FP32 to HARNESS_FP64 are known",
                         (int)v->dtype);
    if (v->math != HARNESS_MATH_DTYPE && (v->math != HARNESS_MATH_TF32 || v->dtype != HARNESS_FP32))
        return error_set(err,
                         "its math is %d: 0, or for HARNESS_FP32 HARNESS_MATH_TF32, is known "
                         "(of ABI 1 it is `reserved`, and 0)",
                         (int)v->math);
    if (!v->launch)
        return error_set(err, "it has no launch(): nothing would be timed");
    return check_params(v->params, err);
}

static int check_variants(const struct harness_kernel *k, struct error *err)
{
    if (check_count(k->nr_variants, k->variants, PLUGIN_VARIANTS_MAX, "variants", err))
        return -1;
    for (size_t i = 0; i < k->nr_variants; i++) {
        const struct harness_variant *v = &k->variants[i];
        if (name_check_variant(v->name, err))
            return error_prefix(err, "variant %zu", i);
        if (check_variant(v, err))
            return error_prefix(err, "variant %s", v->name);
        if (!k->like && name_check_key(k->name, v->name, k->dims, k->nr_dims, err))
            return -1;
        for (size_t j = 0; j < i; j++)
            if (strcmp(v->name, k->variants[j].name) == 0)
                return error_set(err, "two variants are called \"%s\"", v->name);
    }
    return 0;
}

/* What it would say beside is that kernel's: a plugin that says both means something else. */
static int check_like(const struct harness_kernel *k, struct error *err)
{
    const struct {
        const char *name;
        bool said;
    } members[] = {
        { "dims", k->nr_dims > 0 },
        { "sizes", k->nr_sizes > 0 },
        { "test_sizes", k->nr_test_sizes > 0 },
        { "layout", k->layout != NULL },
        { "work", k->work != NULL },
        { "oracle", k->oracle != NULL },
        { "tolerance", k->tolerance != NULL },
        { "oracle_cost", k->oracle_cost != NULL },
        { "refuses", k->refuses != NULL },
        { "fill", k->fill != NULL },
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (members[i].said)
            return error_set(err, "it is like another, whose `%s` it has: leave it out",
                             members[i].name);
    return check_variants(k, err);
}

static int check_kernel(const struct harness_kernel *k, struct error *err)
{
    if (check_dims(k, err) || check_count(k->nr_sizes, k->sizes, SIZES_MAX, "sizes", err) ||
        check_sizes(k, k->sizes, k->nr_sizes, "size", err))
        return -1;
    if (k->nr_test_sizes > 0 &&
        (check_count(k->nr_test_sizes, k->test_sizes, SIZES_MAX, "test_sizes", err) ||
         check_sizes(k, k->test_sizes, k->nr_test_sizes, "test size", err)))
        return -1;
    return check_functions(k, err) || check_variants(k, err) ? -1 : 0;
}

/* "kernel mine/axpy", "kernel 2 (like gemm/nn)" */
static int check_named_kernel(const struct harness_kernel *k, size_t which, struct error *err)
{
    if (k->like)
        return check_like(k, err) ? error_prefix(err, "kernel %zu (like %s)", which, k->like) : 0;
    if (name_check_kernel(k->name, err))
        return error_prefix(err, "kernel %zu", which);
    return check_kernel(k, err) ? error_prefix(err, "kernel %s", k->name) : 0;
}

int plugin_check(const struct harness_plugin *t, struct error *err)
{
    if (check_count(t->nr_kernels, t->kernels, PLUGIN_KERNELS_MAX, "kernels", err))
        return -1;
    for (size_t i = 0; i < t->nr_kernels; i++) {
        const struct harness_kernel *k = &t->kernels[i];
        if (check_named_kernel(k, i, err))
            return -1;
        for (size_t j = 0; j < i && !k->like; j++)
            if (!t->kernels[j].like && strcmp(k->name, t->kernels[j].name) == 0)
                return error_set(err, "two kernels are called \"%s\"", k->name);
    }
    return 0;
}

/* ---- what layout() describes: only known once it is called ---- */

static int check_fill(const struct harness_kernel *k, const struct harness_tensor *t,
                      struct error *err)
{
    if (t->role == HARNESS_OUT)
        return 0;
    if (t->fill < HARNESS_NORMAL || t->fill > HARNESS_OWN)
        return error_set(err, "its fill is %d, which is none of HARNESS_NORMAL ...", (int)t->fill);
    if (t->fill == HARNESS_NORMAL && !(isfinite(t->scale) && t->scale > 0 && isfinite(t->mean)))
        return error_set(err,
                         "it is HARNESS_NORMAL with a scale of %g: set .scale = 1, or another "
                         "above 0",
                         t->scale);
    if (t->fill == HARNESS_TOKENS && (t->limit < 1 || t->dtype != HARNESS_INT32))
        return error_set(err, "HARNESS_TOKENS is for HARNESS_INT32 with a limit above 0");
    if (t->fill == HARNESS_OWN && !k->fill)
        return error_set(err, "it is HARNESS_OWN, but the kernel has no fill()");
    return 0;
}

static int check_tensor(const struct harness_kernel *k, const struct harness_tensor *t,
                        struct error *err)
{
    if (!t->name)
        return error_set(err, "it has no name");
    if (t->role < HARNESS_IN || t->role > HARNESS_WEIGHT)
        return error_set(err, "its role is %d, which is none of HARNESS_IN ...", (int)t->role);
    if (t->dtype < HARNESS_FP32 || t->dtype > HARNESS_FP64)
        return error_set(err, "its dtype is %d, which is none of HARNESS_FP32 ...", (int)t->dtype);
    if (t->rank < 1 || t->rank > HARNESS_RANK_MAX)
        return error_set(err, "its rank is %d: 1 to %d is allowed", (int)t->rank, HARNESS_RANK_MAX);
    for (int i = 0; i < t->rank; i++)
        if (t->extent[i] < 1)
            return error_set(err, "extent %d is %lld", i, (long long)t->extent[i]);
    return check_fill(k, t, err);
}

int plugin_layout(const struct harness_kernel *k, const int64_t *size, int32_t dtype,
                  struct harness_tensor *t, struct error *err)
{
    int nr = k->layout(size, dtype, t);
    bool any = false;

    if (nr < 1 || nr > HARNESS_TENSORS_MAX)
        return error_set(err, "layout() describes %d tensors: 1 to %d are allowed", nr,
                         HARNESS_TENSORS_MAX);
    for (int i = 0; i < nr; i++) {
        if (check_tensor(k, &t[i], err))
            return error_prefix(err, "layout(): tensor %d (%.40s)", i,
                                t[i].name ? t[i].name : "without a name");
        any |= t[i].role == HARNESS_OUT;
    }
    return any ? nr : error_set(err, "layout() describes no HARNESS_OUT: nothing can be checked");
}
