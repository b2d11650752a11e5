/* SPDX-License-Identifier: MIT */
/* The forwards on CUDA against those on the CPU, and what no benchmark looks at: the caches that a
 * decode step leaves behind, whether a second launch finds all as the first did, and how many
 * kernels it takes. Features: U-03. */
extern "C" {
#include "testing.h"

#include "device/devices.h"
#include "models/gpt_common.h"
#include "stats/random.h"

extern const struct variant gpt_plain[], gpt_cuda_fp32[], gpt_cuda_tf32[], gpt_cuda_bf16[],
    gpt_cuda_cluster_bf16[];
}

#include "cuda_host.h"

#include <vector>

/* A forward on a device, whose memory the host can read and write: the CPU, or CUDA's host layer.
 */
struct forward {
    struct device device;
    struct call call;

    forward(const char *spec, const struct variant *table, const struct kernel *k,
            const struct shape *s)
        : device(), call()
    {
        struct error err;

        while (table->kernel != k)
            table++;
        assert_ok(device_open(&device, spec, &err), &err);
        call.variant = table, call.kernel = k, call.shape = *s, call.device = &device;
        call.nr_tensors = k->layout(k, s, table->dtype, call.tensor);
        for (int i = 0; i < call.nr_tensors; i++) {
            struct tensor *t = &call.tensor[i];
            t->data = device_alloc(&device, (size_t)tensor_bytes(t), &err);
            assert_non_null(t->data);
        }
    }
    forward(const forward &) = delete;
    forward &operator=(const forward &) = delete;
    ~forward(void)
    {
        call.variant->release(&call);
        for (int i = 0; i < call.nr_tensors; i++)
            device_free(&device, call.tensor[i].data);
        assert_int_equal(device.memory_live, 0);
        device_close(&device);
    }
    void prepare(void)
    {
        struct error err;

        assert_ok(call.variant->prepare(&call, &err), &err);
    }
    void run(void)
    {
        struct error err;

        assert_ok(device.ops->run(&device, &call, &err), &err);
    }
    const struct tensor *output(void) const
    {
        return &call.tensor[kernel_output(call.tensor, call.nr_tensors)];
    }
};

static std::vector<double> values_of(const struct tensor *t)
{
    struct cuda_host_access reach; /* of device memory, which host code has not otherwise */
    std::vector<double> values((size_t)tensor_elements(t));

    for (size_t i = 0; i < values.size(); i++)
        values[i] = tensor_get(t, (int64_t)i);
    return values;
}

static void fill(const struct call *call, struct tensor *t, struct random *r)
{
    if (t->fill == FILL_KERNEL)
        call->kernel->fill(call->kernel, &call->shape, t, 17);
    else
        for (int64_t i = 0; i < tensor_elements(t); i++)
            tensor_set(t, i,
                       t->fill == FILL_TOKENS ? (double)random_below(r, (uint64_t)t->limit)
                                              : t->scale * random_normal(r));
}

/* The position that a decode step is to write. */
static void poison_last(const struct call *call, struct tensor *cache)
{
    int64_t seq = call->shape.dim[GPT_DIM_SEQ], width = cache->extent[3];

    for (int64_t i = 0; i < tensor_elements(cache); i++)
        if (i / width % seq == seq - 1)
            tensor_set(cache, i, (double)NAN);
}

/* The same inputs for both, rounded to what the one on CUDA stores. */
static void fill_both(struct forward *cuda, struct forward *cpu)
{
    struct cuda_host_access reach;
    struct random r;

    random_seed(&r, 5);
    for (int i = 0; i < cuda->call.nr_tensors; i++) {
        struct tensor *from = &cuda->call.tensor[i], *to = &cpu->call.tensor[i];
        if (from->role == TENSOR_OUT)
            continue;
        fill(&cuda->call, from, &r);
        if (from->role == TENSOR_INOUT)
            poison_last(&cuda->call, from);
        for (int64_t j = 0; j < tensor_elements(from); j++)
            tensor_set(to, j, tensor_get(from, j));
    }
}

static double rms_of(const std::vector<double> &values)
{
    double squares = 0;

    for (double v : values)
        squares += v * v;
    return sqrt(squares / (double)values.size());
}

static void assert_all_close(const struct tensor *t, const struct tensor *expected, double bound)
{
    std::vector<double> a = values_of(t), b = values_of(expected);
    double tolerance = bound * rms_of(b);

    for (size_t i = 0; i < a.size(); i++)
        assert_close(a[i], b[i], tolerance);
}

/* A forward of so many kernels a layer and around them. */
struct kernels {
    int64_t layer, rest;
};

/* Once more, with the same bits, where the model is small: a CPU plays the GPU here. */
static void check(const struct variant *table, const struct kernel *k, struct shape s,
                  struct kernels nr)
{
    struct forward cuda("cuda", table, k, &s), cpu("cpu:1", gpt_plain, k, &s);
    const struct variant *v = cuda.call.variant;
    double bound = 2 * k->tolerance(k, &s, v->dtype, v->math);

    fill_both(&cuda, &cpu);
    cuda.prepare(), cpu.prepare();
    uint64_t kernels = cuda_host_launches();
    cuda.run(), cpu.run();
    const struct gpt_config *c = static_cast<const struct gpt_config *>(k->config);
    assert_int_equal(cuda_host_launches() - kernels, nr.layer * c->layers + nr.rest);
    assert_all_close(cuda.output(), cpu.output(), bound);
    for (int i = 0; i < cuda.call.nr_tensors; i++)
        if (cuda.call.tensor[i].role == TENSOR_INOUT)
            assert_all_close(&cuda.call.tensor[i], &cpu.call.tensor[i], bound);
    if (c != gpt_prefill_nano.config)
        return;
    std::vector<double> first = values_of(cuda.output());
    cuda.run();
    assert_true(values_of(cuda.output()) == first);
}

static void check_all(const struct kernel *k, struct shape s)
{
    check(gpt_cuda_fp32, k, s, { 7, 3 });
    check(gpt_cuda_tf32, k, s, { 7, 3 });
    check(gpt_cuda_bf16, k, s, { 7, 3 });
}

TEST(prefills_are_those_of_the_cpu)
{
    check_all(&gpt_prefill_nano, { { 2, 9 } });
}

TEST(clusters_do_a_prefill_in_two_kernels)
{
    check(gpt_cuda_cluster_bf16, &gpt_prefill_nano, { { 2, 9 } }, { 0, 2 });
    check(gpt_cuda_cluster_bf16, &gpt_prefill_nano, { { 1, 64 } }, { 0, 2 });
}

TEST(what_no_cluster_holds_is_refused)
{
    const struct variant *v = gpt_cuda_cluster_bf16;
    struct shape s = { { 1, 65 } };
    struct error why;

    assert_false(v->supports(&gpt_prefill_nano, &s, nullptr, &why));
    assert_non_null(strstr(why.message, "seq 65"));
    s.dim[GPT_DIM_SEQ] = 64;
    assert_true(v->supports(&gpt_prefill_nano, &s, nullptr, &why));
    assert_false(v->supports(&gpt_prefill_gpt2, &s, nullptr, &why));
    assert_non_null(strstr(why.message, "width 768"));
}

TEST(decode_steps_leave_the_caches_of_the_cpu)
{
    check_all(&gpt_decode_nano, { { 3, 1 } });
    check_all(&gpt_decode_nano, { { 2, 70 } });
    check_all(&gpt_decode_tile_medium, { { 1, 130 } });
}

static void check_step(const struct kernel *k, int64_t seq)
{
    check(gpt_cuda_cluster_bf16, k, { { 1, seq } }, { 0, 1 });
}

TEST(clusters_do_a_decode_step_in_one_kernel)
{
    for (int64_t seq : { 1, 2, 47, 128 })
        check_step(&gpt_decode_nano, seq);
    check_step(&gpt_decode_tile_medium, 130);
    check_step(&gpt_decode_mini, 33);
}

TEST(steps_that_no_cluster_holds_are_refused)
{
    struct shape s = { { 2, 65 } };
    struct error why;

    const struct variant *v = gpt_cuda_cluster_bf16;
    while (v->kernel != &gpt_decode_nano)
        v++;
    assert_false(v->supports(&gpt_decode_nano, &s, nullptr, &why));
    assert_non_null(strstr(why.message, "batch 2"));
    s.dim[GPT_DIM_BATCH] = 1;
    assert_true(v->supports(&gpt_decode_nano, &s, nullptr, &why));
    s.dim[GPT_DIM_SEQ] = 129;
    assert_false(v->supports(&gpt_decode_nano, &s, nullptr, &why));
    assert_non_null(strstr(why.message, "seq 129"));
}

TEST(too_many_tokens_are_refused)
{
    struct shape s = { { 4, 1 << 20 } };
    struct error why;

    assert_false(gpt_cuda_fp32->supports(&gpt_prefill_nano, &s, nullptr, &why));
    assert_non_null(strstr(why.message, "4194304 tokens"));
    assert_true(gpt_cuda_fp32->supports(&gpt_decode_nano, &s, nullptr, &why));
}

RUN_TESTS(NULL, NULL)
