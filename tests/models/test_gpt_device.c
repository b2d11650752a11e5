/* SPDX-License-Identifier: MIT */
/* Covers U-02, U-03, S0-01: logits and tokens by a variant of the prefill on a device. That is the
 * CPU here: it has all steps of a GPU, whose kernels are tested by themselves. */
#include "gpt_walk.h"

#include "device/devices.h"
#include "models/generation/gpt_device.h"
#include "models/gpt_model.h"

/* What the variants below share with their tests: one device, on which something may fail. */
static struct device device;
static struct device_class faulty;
static int runs_left = -1; /* runs until one fails; -1: none does */

static int run_or_fail(struct device *d, const struct call *call, struct error *err)
{
    if (runs_left == 0)
        return error_set(err, "the device fell off the bus");
    runs_left -= runs_left > 0;
    call->variant->launch(call);
    (void)d;
    return 0;
}

static int open_device(void **state)
{
    struct error err;

    (void)state;
    assert_ok(device_open(&device, "cpu:1", &err), &err);
    faulty = *device.ops;
    faulty.run = run_or_fail;
    device.ops = &faulty;
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    assert_int_equal(device.nr_blocks, 0); /* all is given back */
    device_close(&device);
    return 0;
}

/* The kernel and the variant of a small model: simd's own, with other sizes. */
struct small {
    struct kernel kernel;
    struct variant variant;
    struct gpt_model model;
};

static void small_init(struct small *s, const struct gpt_config *c, bool tied, uint64_t seed)
{
    struct error err;

    s->kernel = *registry_kernel(registry_builtin(), "gpt/nano/prefill");
    s->kernel.config = c;
    s->kernel.refuses = NULL;
    s->variant = *registry_variant(registry_builtin(), "gpt/nano/prefill", "simd");
    s->variant.kernel = &s->kernel;
    s->model = (struct gpt_model) { .config = c };
    assert_ok(gpt_weights_init(&s->model.weights, c, tied, &err), &err);
    noisy_weights(&s->model.weights, seed);
}

static void small_release(struct small *s)
{
    gpt_weights_release(&s->model.weights);
}

static float *small_logits(struct small *s, const struct gpt_tokens *t)
{
    int64_t nr = t->batch * t->seq * s->model.config->vocab;
    struct gpt_device g;
    struct error err;
    float *logits = poisoned(nr);

    assert_ok(gpt_device_open(&g, &s->model.weights, &s->variant, &device, t->batch, t->seq, &err),
              &err);
    assert_ok(gpt_device_logits(&g, t->ids, logits, &err), &err);
    gpt_device_close(&g);
    return logits;
}

static void check_logits(const struct gpt_config *c, bool tied, int64_t batch, int64_t seq)
{
    int32_t ids[3 * MAX_SEQ];
    const struct gpt_tokens t = { ids, batch, seq };
    struct small s;
    struct error err;

    small_init(&s, c, tied, 3);
    make_tokens(ids, batch * seq, c->vocab, 4);
    float *logits = small_logits(&s, &t);
    float *expected = gpt_model_logits(&s.model, &gpt_ops_simd, &t, 1, &err);
    assert_memory_equal(logits, expected, (size_t)(batch * seq * c->vocab) * sizeof(float));
    free(expected);
    free(logits);
    small_release(&s);
}

/* A tied head too, which the variants do not know. */
TEST_WITH(test_logits_on_device, open_device, close_device)
{
    for (size_t i = 0; i < NR(configs); i++) {
        check_logits(&configs[i], false, 3, 17);
        check_logits(&configs[i], true, 2, 5);
        check_logits(&configs[i], true, 1, configs[i].block);
    }
}

/* ---- another type ---- */

/* Of the host's forward, whatever the type of the call: parameters, then logits through it. */
static void launch_in_float(const struct call *call)
{
    const struct tensor *params = &call->tensor[GPT_PREFILL_PARAMS];
    const struct gpt_config *c = call->kernel->config;
    struct gpt_model m = { .config = c };
    struct tensor out = call->tensor[GPT_PREFILL_LOGITS];
    const struct gpt_tokens t = { call->tensor[GPT_PREFILL_TOKENS].data,
                                  call->shape.dim[GPT_DIM_BATCH], call->shape.dim[GPT_DIM_SEQ] };
    struct error err;

    assert_ok(gpt_weights_init(&m.weights, c, false, &err), &err);
    for (int64_t i = 0; i < tensor_elements(params); i++)
        m.weights.data[i] = (float)tensor_get(params, i);
    float *logits = gpt_model_logits(&m, &gpt_ops_simd, &t, 1, &err);
    for (int64_t i = 0; i < tensor_elements(&out); i++)
        tensor_set(&out, i, (double)logits[i]);
    free(logits);
    gpt_weights_release(&m.weights);
}

/* Weights are rounded to the variant's type, and its logits come back as floats. */
TEST_WITH(test_types_on_device, open_device, close_device)
{
    int32_t ids[14];
    const struct gpt_tokens t = { ids, 2, 7 };
    const struct gpt_config *c = &configs[2];
    int64_t vocab = c->vocab, nr = gpt_weights_count(c, false);
    struct small s;
    struct error err;

    small_init(&s, c, false, 5);
    make_tokens(ids, 14, vocab, 6);
    s.variant.dtype = DTYPE_BF16;
    s.variant.prepare = NULL;
    s.variant.release = NULL;
    s.variant.launch = launch_in_float;
    float *logits = small_logits(&s, &t);
    for (int64_t i = 0; i < nr; i++)
        s.model.weights.data[i] = bf16_to_float(bf16_from_float(s.model.weights.data[i]));
    float *expected = gpt_model_logits(&s.model, &gpt_ops_simd, &t, 1, &err);
    for (int64_t i = 0; i < 14 * vocab; i++)
        assert_float_equal(logits[i], bf16_to_float(bf16_from_float(expected[i])), 0);
    free(expected);
    free(logits);
    small_release(&s);
}

/* ---- generation ---- */

static int64_t generate_on_device(struct small *s, const struct gpt_tokens *prompt, int64_t nr,
                                  int32_t *out, struct error *err)
{
    const struct gpt_sampling greedy = { .temperature = 0 };
    struct gpt_device g;
    int64_t held = gpt_generate_held(s->model.config, prompt->seq, nr), done = -1;

    if (gpt_device_open(&g, &s->model.weights, &s->variant, &device, 1, held, err) == 0) {
        const struct gpt_predictor p = gpt_device_predictor(&g);
        done = gpt_generate_by(&p, s->model.config, prompt, &greedy, nr, out, NULL, NULL, err);
    }
    gpt_device_close(&g);
    return done;
}

/* The tokens of the host's cache: within the block, up to it, and beyond, where the context is
 * cropped. */
TEST_WITH(test_generate_on_device, open_device, close_device)
{
    static const struct {
        int64_t prompt, nr;
    } cases[] = { { 1, 1 }, { 1, 9 }, { 5, 90 }, { 65, 5 }, { 65, 6 }, { 65, 7 }, { 66, 4 } };
    const struct gpt_sampling greedy = { .temperature = 0 };
    const struct gpt_config *c = &configs[2]; /* a block of 66 */
    int32_t ids[66], out[90], expected[90];
    struct small s;
    struct error err;

    small_init(&s, c, true, 7);
    make_tokens(ids, 66, c->vocab, 8);
    for (size_t i = 0; i < NR(cases); i++) {
        const struct gpt_tokens prompt = { ids, 1, cases[i].prompt };
        int64_t nr = cases[i].nr;
        assert_int_equal(generate_on_device(&s, &prompt, nr, out, &err), nr);
        assert_int_equal(gpt_generate(&s.model, &gpt_ops_simd, 1, &prompt, &greedy, nr, expected,
                                      NULL, NULL, &err),
                         nr);
        assert_memory_equal(out, expected, (size_t)nr * sizeof(*out));
    }
    small_release(&s);
}

/* ---- what cannot be ---- */

static bool supports_short(const struct kernel *k, const struct shape *s, const struct device *d,
                           struct error *why)
{
    (void)k;
    (void)d;
    if (s->dim[GPT_DIM_SEQ] > 8)
        error_set(why, "seq %lld is too long", (long long)s->dim[GPT_DIM_SEQ]);
    return s->dim[GPT_DIM_SEQ] <= 8;
}

static int prepare_nowhere(struct call *call, struct error *err)
{
    (void)call;
    error_set(err, "no room for a cluster");
    return CALL_UNSUPPORTED;
}

TEST_WITH(test_unsupported_on_device, open_device, close_device)
{
    struct gpt_device g;
    struct small s;
    struct error err;

    small_init(&s, &configs[0], false, 9);
    s.variant.supports = supports_short;
    assert_int_equal(gpt_device_check(&s.variant, &device, 2, 8, &err), 0);
    assert_int_equal(gpt_device_check(&s.variant, &device, 2, 9, &err), CALL_UNSUPPORTED);
    assert_string_equal(err.message,
                        "simd cannot compute 2 x 9 tokens on cpu:1: seq 9 is too long");
    assert_int_equal(gpt_device_open(&g, &s.model.weights, &s.variant, &device, 1, 9, &err),
                     CALL_UNSUPPORTED);
    gpt_device_close(&g);
    s.variant.prepare = prepare_nowhere;
    assert_int_equal(gpt_device_open(&g, &s.model.weights, &s.variant, &device, 1, 8, &err),
                     CALL_UNSUPPORTED);
    assert_string_equal(err.message, "simd on cpu:1: no room for a cluster");
    gpt_device_close(&g);
    small_release(&s);
}

/* At the first token and at a later one. */
TEST_WITH(test_fault_on_device, open_device, close_device)
{
    int32_t ids[] = { 1, 2, 3 }, out[4];
    const struct gpt_tokens prompt = { ids, 1, 3 };
    struct small s;
    struct error err;

    small_init(&s, &configs[0], false, 10);
    for (int run = 0; run < 3; run++) {
        runs_left = run;
        assert_int_equal(generate_on_device(&s, &prompt, 4, out, &err), -1);
        assert_string_equal(err.message, "simd on cpu:1: the device fell off the bus");
    }
    runs_left = -1;
    assert_int_equal(generate_on_device(&s, &prompt, 4, out, &err), 4);
    small_release(&s);
}

RUN_TESTS(NULL, NULL)
