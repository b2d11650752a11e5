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

/*
 * A kernel at a shape: its tensors as they were filled, and what the outputs should be. Filling and
 * the oracle take far longer than any variant, so that all of them share one.
 */
struct problem {
    struct call call;
    void *first[TENSOR_MAX];      /* each tensor's bytes, outputs poisoned */
    double *expected[TENSOR_MAX]; /* NULL of what is no output */
};

static void problem_init(struct problem *q, const struct kernel *k, const struct shape *s,
                         uint64_t seed)
{
    memset(q, 0, sizeof(*q));
    call_init(&q->call, k, s, seed);
    for (int i = 0; i < q->call.nr_tensors; i++) {
        const struct tensor *t = &q->call.tensor[i];
        size_t bytes = (size_t)tensor_bytes(t);
        q->first[i] = malloc(bytes);
        assert_non_null(q->first[i]);
        memcpy(q->first[i], t->data, bytes);
        q->expected[i] = t->role == TENSOR_OUT ? call_expected(&q->call, i) : NULL;
    }
}

static void problem_release(struct problem *q)
{
    for (int i = 0; i < q->call.nr_tensors; i++) {
        free(q->first[i]);
        free(q->expected[i]);
    }
    call_release(&q->call);
}

static void describe(const struct call *call, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "%s/%s", call->kernel->name, call->variant->name);

    for (int i = 0; i < kernel_nr_dims(call->kernel); i++)
        at += (size_t)snprintf(text + at, size - at, " %s=%lld", call->kernel->dims[i],
                               (long long)call->shape.dim[i]);
}

/* What a launch left: inputs as they were, outputs right. The largest error in units of the
 * tolerance. */
static double problem_check(const struct problem *q)
{
    const struct call *call = &q->call;
    double tolerance = call->kernel->tolerance(call->kernel, &call->shape, DTYPE_FP32, MATH_FP32);
    double worst = 0;
    char text[256];

    describe(call, text, sizeof(text));
    for (int i = 0; i < call->nr_tensors; i++) {
        const struct tensor *t = &call->tensor[i];
        if (t->role != TENSOR_OUT && memcmp(q->first[i], t->data, (size_t)tensor_bytes(t)) != 0)
            fail_msg("%s changed its input %s", text, t->name);
        if (q->expected[i] == NULL)
            continue;
        double error = error_of(t->data, q->expected[i], tensor_elements(t));
        double share = error / tolerance;
        if (!(share <= 1))
            fail_msg("%s, %d threads, output %s: error %g is %.3g of what is allowed", text,
                     call->device->threads, t->name, error, share);
        worst = fmax(worst, share);
    }
    return worst;
}

/* Runs twice on the same prepared state; the error in units of the tolerance. */
static double problem_run(struct problem *q, const struct variant *v, int threads)
{
    struct device device = { .kind = DEVICE_CPU, .threads = threads };
    struct call *call = &q->call;
    struct error err;

    for (int i = 0; i < call->nr_tensors; i++)
        memcpy(call->tensor[i].data, q->first[i], (size_t)tensor_bytes(&call->tensor[i]));
    call->variant = v;
    call->device = &device;
    call->state = NULL;
    if (v->prepare != NULL)
        assert_ok(v->prepare(call, &err), &err);
    v->launch(call);
    v->launch(call);
    if (v->release != NULL)
        v->release(call);
    return problem_check(q);
}

enum { MOST_VARIANTS = 16 };

/* Those of a kernel that run on a CPU and are ours, in fp32: of other arithmetic kernel.* has
 * tests. */
static int variants_of(const struct kernel *k, const struct variant *found[MOST_VARIANTS])
{
    const struct registry *r = registry_builtin();
    int n = 0;

    for (size_t i = 0; registry_variant_at(r, i) != NULL; i++) {
        const struct variant *v = registry_variant_at(r, i);
        if (v->kernel != k || v->device != DEVICE_CPU || v->math != MATH_FP32 ||
            (v->flags & VARIANT_PEER))
            continue;
        assert_true(n < MOST_VARIANTS);
        found[n++] = v;
    }
    return n;
}

/* All variants of a kernel, at each shape with 1 and with 3 threads. */
static void check_kernel(const struct kernel *k)
{
    const struct variant *variants[MOST_VARIANTS];
    double worst[MOST_VARIANTS] = { 0 };
    const int n = variants_of(k, variants);

    assert_true(n >= 2); /* at least plain and simd */
    for (size_t j = 0; j < k->nr_test_shapes; j++) {
        struct problem q;
        problem_init(&q, k, &k->test_shapes[j], 100 + j);
        for (int i = 0; i < n; i++)
            for (int threads = 1; threads <= 3; threads += 2)
                worst[i] = fmax(worst[i], problem_run(&q, variants[i], threads));
        problem_release(&q);
    }
    for (int i = 0; i < n; i++)
        print_message("%s/%s: worst error %.2f of the tolerance\n", k->name, variants[i]->name,
                      worst[i]);
}

static void operation(const struct kernel *const *kernels)
{
    for (size_t i = 0; kernels[i] != NULL; i++)
        check_kernel(kernels[i]);
}

TEST(test_gemm)
{
    operation(gemm_kernels);
}

/* `verify --test-shapes` reaches all tilings of the head by wgmma, which has one for each number of
 * chunks of 64 in its depth, to 256, and takes whole groups of 8. */
TEST(test_depths_of_the_head)
{
    const struct kernel *k = &gemm_nt_kernel;
    unsigned chunks = 0;

    for (size_t i = 0; i < k->nr_test_shapes; i++) {
        const int64_t n = k->test_shapes[i].dim[2], depth = k->test_shapes[i].dim[3];
        if (n % 2 == 1 && depth % 8 == 0 && depth <= 256)
            chunks |= 1u << (depth - 1) / 64;
    }
    assert_int_equal(chunks, 0xf);
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

/* What they tell that they take beside their tensors, in bytes a weight: packed weights. */
TEST(test_workspaces)
{
    static const struct {
        const char *variant;
        double least, most;
    } rows[] = { { "simd", 4, 4.5 }, { "simd_bf16", 2, 2.5 }, { "simd_int8", 1, 1.5 } };
    const struct kernel *k = &gemm_linear_kernel;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct variant *v = registry_variant(registry_builtin(), k->name, rows[i].variant);
        struct call call = { .variant = v, .kernel = k, .shape = { { 1, 1, 4096, 4096 } } };
        call.nr_tensors = k->layout(k, &call.shape, v->dtype, call.tensor);
        assert_non_null(v->workspace);
        double each =
            (double)v->workspace(&call) / (double)tensor_elements(&call.tensor[GEMM_LINEAR_W]);
        if (!(each >= rows[i].least && each <= rows[i].most))
            fail_msg("%s: %g bytes a weight", v->name, each);
    }
}

/* The same of what grows with the sequence or the product, in bytes for a device of two threads. */
TEST(test_workspaces_of_launches)
{
    static const struct {
        const char *kernel, *variant;
        struct shape shape;
        double least, most;
    } rows[] = {
        { "attention/causal",
          "naive",
          { { 1, 4096, 1, 64 } },
          2 * 8.0 * 4096 * 64,
          2 * 8.5 * 4096 * 64 },
        { "attention/full",
          "simd",
          { { 1, 4096, 1, 64 } },
          2 * 8.0 * 4096 * 64,
          2 * 8.5 * 4096 * 64 },
        { "attention/full",
          "simd_bf16",
          { { 1, 4096, 1, 64 } },
          2 * 24.0 * 4096 * 64,
          2 * 24.5 * 4096 * 64 },
        { "attention/causal",
          "openblas",
          { { 1, 4096, 1, 64 } },
          2 * 4.0 * 512 * 4097,
          2 * 4.1 * 512 * 4097 },
        { "gemm/nn", "onednn_bf16", { { 2, 64, 96, 8 } }, 4.0 * 128 * 96, 4.0 * 128 * 96 },
        { "gemm/linear", "ggml_bf16", { { 2, 64, 96, 8 } }, 4.0 * 129 * 96, 4.1 * 129 * 96 },
        { "gemm/linear", "ggml", { { 2, 64, 96, 8 } }, 0, 0 },
    };
    struct device two = { .kind = DEVICE_CPU, .threads = 2 };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct variant *v =
            registry_variant(registry_builtin(), rows[i].kernel, rows[i].variant);
        if (v == NULL)
            continue; /* built without that library */
        struct call call = {
            .variant = v, .kernel = v->kernel, .shape = rows[i].shape, .device = &two
        };
        call.nr_tensors = v->kernel->layout(v->kernel, &call.shape, v->dtype, call.tensor);
        assert_non_null(v->workspace);
        double bytes = (double)v->workspace(&call);
        if (!(bytes >= rows[i].least && bytes <= rows[i].most))
            fail_msg("%s/%s: %g bytes", rows[i].kernel, v->name, bytes);
    }
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
