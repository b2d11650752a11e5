/* SPDX-License-Identifier: MIT */
/*
 * Every CPU variant of every kernel in kernels/ at its odd sizes against its float64 oracle: one
 * row, one column, one off each tile, vocabulary 50257. Outputs are poisoned, inputs must come
 * back untouched. The instruction set is the environment's HARNESS_ISA, or the best one.
 * Peers have tests of their own, where they are installed.
 * Features: U-03, U-04 (kernels).
 */
#include "kernel_testing.h"

#include "core/device.h"
#include "core/registry.h"
#include "kernels/attention/attention.h"
#include "kernels/embedding/embedding.h"
#include "kernels/gemm/gemm.h"
#include "kernels/layernorm/layernorm.h"
#include "kernels/pointwise/pointwise.h"
#include "kernels/simd.h"

struct inputs {
    void *copy[TENSOR_MAX];
};

static void inputs_keep(struct inputs *in, const struct call *call)
{
    for (int i = 0; i < call->nr_tensors; i++) {
        size_t bytes = (size_t)tensor_bytes(&call->tensor[i]);
        in->copy[i] = malloc(bytes);
        assert_non_null(in->copy[i]);
        memcpy(in->copy[i], call->tensor[i].data, bytes);
    }
}

static void inputs_check(struct inputs *in, const struct call *call)
{
    for (int i = 0; i < call->nr_tensors; i++) {
        const struct tensor *t = &call->tensor[i];
        if (t->role != TENSOR_OUT && memcmp(in->copy[i], t->data, (size_t)tensor_bytes(t)) != 0)
            fail_msg("%s changed its input %s", call->kernel->name, t->name);
        free(in->copy[i]);
    }
}

static void describe(const struct call *call, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "%s/%s", call->kernel->name, call->variant->name);

    for (int i = 0; i < kernel_nr_dims(call->kernel); i++)
        at += (size_t)snprintf(text + at, size - at, " %s=%lld", call->kernel->dims[i],
                               (long long)call->shape.dim[i]);
}

/* Runs twice on the same prepared state; the error in units of the tolerance. */
static double run(const struct variant *v, const struct shape *s, int threads, uint64_t seed)
{
    struct device device = { .kind = DEVICE_CPU, .threads = threads };
    const struct kernel *k = v->kernel;
    struct inputs in = { { NULL } };
    struct call call;
    struct error err;
    double worst = 0;

    call_init(&call, k, s, seed);
    call.variant = v;
    call.device = &device;
    inputs_keep(&in, &call);
    if (v->prepare != NULL)
        assert_ok(v->prepare(&call, &err), &err);
    v->launch(&call);
    v->launch(&call);
    if (v->release != NULL)
        v->release(&call);
    inputs_check(&in, &call);
    for (int i = 0; i < call.nr_tensors; i++) {
        if (call.tensor[i].role != TENSOR_OUT)
            continue;
        double *expected = call_expected(&call, i);
        double error = error_of(call.tensor[i].data, expected, tensor_elements(&call.tensor[i]));
        double share = error / k->tolerance(k, s, DTYPE_FP32, MATH_FP32);
        char text[256];
        describe(&call, text, sizeof(text));
        if (!(share <= 1))
            fail_msg("%s, %d threads, output %s: error %g is %.3g of what is allowed", text,
                     threads, call.tensor[i].name, error, share);
        worst = fmax(worst, share);
        free(expected);
    }
    call_release(&call);
    return worst;
}

/* All variants of an operation's kernels; each shape alternates between 1 and 3 threads. */
static void operation(const struct kernel *const *kernels)
{
    const struct registry *r = registry_builtin();
    int checked = 0;

    for (size_t i = 0; registry_variant_at(r, i) != NULL; i++) {
        const struct variant *v = registry_variant_at(r, i);
        double worst = 0;
        int mine = 0;
        for (size_t j = 0; kernels[j] != NULL && !(v->flags & VARIANT_PEER); j++)
            mine |= v->kernel == kernels[j] && v->device == DEVICE_CPU;
        for (size_t j = 0; mine && j < v->kernel->nr_test_shapes; j++)
            for (int threads = 1; threads <= 3; threads += 2)
                worst = fmax(worst, run(v, &v->kernel->test_shapes[j], threads, 100 + j));
        if (mine)
            print_message("%s/%s: worst error %.2f of the tolerance\n", v->kernel->name, v->name,
                          worst);
        checked += mine;
    }
    assert_true(checked >= 2); /* at least plain and simd */
}

TEST(test_gemm)
{
    operation(gemm_kernels);
}

TEST(test_attention)
{
    operation(attention_kernels);
}

TEST(test_layernorm)
{
    operation(layernorm_kernels);
}

TEST(test_pointwise)
{
    operation(pointwise_kernels);
}

TEST(test_embedding)
{
    operation(embedding_kernels);
}

/* All, or the one that is named: an emulator takes minutes, and two of them share the work. */
int main(int argc, char **argv)
{
    const char *wish = getenv("HARNESS_ISA");

    if (wish != NULL && strcmp(wish, simd_isa_name(simd_isa())) != 0)
        return 77; /* not on this machine */
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
