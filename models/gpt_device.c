/* SPDX-License-Identifier: MIT */
#include "models/generation/gpt_device.h"

#include "base/text.h"
#include "models/gpt_common.h"

#include <stdlib.h>
#include <string.h>

int gpt_device_check(const struct variant *v, const struct device *device, int64_t batch,
                     int64_t seq, struct error *err)
{
    const struct shape shape = { { batch, seq } };
    const char *refusal = v->kernel->refuses ? v->kernel->refuses(v->kernel, &shape) : NULL;

    if (refusal)
        error_set(err, "%s", refusal);
    else if (!v->supports || v->supports(v->kernel, &shape, device, err))
        return 0;
    error_prefix(err, "%s cannot compute %lld x %lld tokens on %s", v->name, (long long)batch,
                 (long long)seq, device->spec);
    return CALL_UNSUPPORTED;
}

/* ---- made ready ---- */

static int take_tensors(struct gpt_device *g, struct error *err)
{
    struct call *call = &g->call;

    call->nr_tensors =
        call->kernel->layout(call->kernel, &call->shape, call->variant->dtype, call->tensor);
    for (int i = 0; i < call->nr_tensors; i++) {
        struct tensor *t = &call->tensor[i];
        t->data = device_alloc(call->device, (size_t)tensor_bytes(t), err);
        if (!t->data)
            return error_prefix(err, "%s", t->name);
    }
    return 0;
}

static int take_host_memory(struct gpt_device *g, struct error *err)
{
    const struct tensor *logits = &g->call.tensor[GPT_PREFILL_LOGITS];
    int64_t vocab = tensor_cols(logits);

    g->row = (struct tensor) {
        .name = logits->name, .dtype = logits->dtype, .rank = 1, .extent = { vocab }
    };
    g->row.data = malloc((size_t)tensor_bytes(&g->row));
    g->tokens =
        calloc((size_t)tensor_elements(&g->call.tensor[GPT_PREFILL_TOKENS]), sizeof(*g->tokens));
    return g->row.data && g->tokens ? 0 : error_set(err, "no memory for tokens and logits");
}

/* As the variants take them: of its type, and with a head of its own, which is wte again where the
 * model's is tied. */
static int upload_weights(const struct gpt_device *g, const struct gpt_weights *w,
                          struct error *err)
{
    const struct device_class *ops = g->call.device->ops;
    struct tensor host = g->call.tensor[GPT_PREFILL_PARAMS];
    void *on_device = host.data;
    size_t bytes = (size_t)tensor_bytes(&host);
    int64_t nr = tensor_elements(&host);
    int64_t head = gpt_weight_offset(w->config, false, GPT_LM_HEAD, 0);
    const float *head_data = gpt_weight(w, GPT_LM_HEAD, 0);
    char text[TEXT_UNIT_SIZE];

    host.data = malloc(bytes);
    if (!host.data)
        return error_set(err, "no memory for %s of weights", text_bytes((double)bytes, text));
    for (int64_t i = 0; i < nr; i++)
        tensor_set(&host, i, (double)(i < head ? w->data[i] : head_data[i - head]));
    int rc = ops->upload(g->call.device, on_device, host.data, bytes, err);
    free(host.data);
    return rc;
}

static int upload_tokens(const struct gpt_device *g, struct error *err)
{
    const struct tensor *t = &g->call.tensor[GPT_PREFILL_TOKENS];

    return g->call.device->ops->upload(g->call.device, t->data, g->tokens, (size_t)tensor_bytes(t),
                                       err);
}

/* Tokens lie there before a variant prepares, which may already run the call. */
static int prepare_call(struct gpt_device *g, struct error *err)
{
    const struct device_class *ops = g->call.device->ops;
    const struct variant *v = g->call.variant;

    if (upload_tokens(g, err))
        return -1;
    int rc = v->prepare ? v->prepare(&g->call, err) : 0;
    if (rc)
        return rc;
    g->prepared = true;
    if (ops->begin && ops->begin(g->call.device, &g->call, err))
        return -1;
    g->begun = true;
    return 0;
}

int gpt_device_open(struct gpt_device *g, const struct gpt_weights *w, const struct variant *v,
                    struct device *device, int64_t batch, int64_t seq, struct error *err)
{
    *g = (struct gpt_device) {
        .call = { .variant = v, .kernel = v->kernel, .shape = { { batch, seq } }, .device = device }
    };
    int rc = gpt_device_check(v, device, batch, seq, err);
    if (rc)
        return rc;
    rc = take_tensors(g, err) || take_host_memory(g, err) || upload_weights(g, w, err)
             ? -1
             : prepare_call(g, err);
    if (rc)
        error_prefix(err, "%s on %s", v->name, device->spec);
    return rc;
}

void gpt_device_close(struct gpt_device *g)
{
    struct call *call = &g->call;

    if (g->begun && call->device->ops->end)
        call->device->ops->end(call->device, call);
    if (g->prepared && call->variant->release)
        call->variant->release(call);
    for (int i = 0; i < call->nr_tensors; i++)
        if (call->tensor[i].data)
            device_free(call->device, call->tensor[i].data);
    free(g->tokens);
    free(g->row.data);
    *g = (struct gpt_device) { 0 };
}

/* ---- run ---- */

static int compute(const struct gpt_device *g, struct error *err)
{
    struct device *d = g->call.device;

    if (upload_tokens(g, err) || d->ops->run(d, &g->call, err))
        return error_prefix(err, "%s on %s", g->call.variant->name, d->spec);
    return 0;
}

/* One row of the logits to floats. */
static int take_row(struct gpt_device *g, int64_t row, float *to, struct error *err)
{
    struct device *d = g->call.device;
    const char *from = g->call.tensor[GPT_PREFILL_LOGITS].data;
    size_t bytes = (size_t)tensor_bytes(&g->row);

    if (d->ops->download(d, g->row.data, from + (size_t)row * bytes, bytes, err))
        return error_prefix(err, "%s on %s", g->call.variant->name, d->spec);
    for (int64_t i = 0; i < tensor_elements(&g->row); i++)
        to[i] = (float)tensor_get(&g->row, i);
    return 0;
}

int gpt_device_logits(struct gpt_device *g, const int32_t *tokens, float *logits, struct error *err)
{
    int64_t rows = tensor_rows(&g->call.tensor[GPT_PREFILL_LOGITS]);
    int64_t vocab = tensor_elements(&g->row);

    memcpy(g->tokens, tokens, (size_t)rows * sizeof(*tokens));
    if (compute(g, err))
        return -1;
    for (int64_t i = 0; i < rows; i++)
        if (take_row(g, i, logits + i * vocab, err))
            return -1;
    return 0;
}

static int device_start_at(void *context, const int32_t *tokens, int64_t seq, float *logits,
                           struct error *err)
{
    struct gpt_device *g = context;
    int64_t held = g->call.shape.dim[GPT_DIM_SEQ];

    memset(g->tokens, 0, (size_t)held * sizeof(*g->tokens));
    memcpy(g->tokens, tokens, (size_t)seq * sizeof(*tokens));
    g->length = seq;
    return compute(g, err) ? -1 : take_row(g, seq - 1, logits, err);
}

static int device_advance(void *context, int32_t token, float *logits, struct error *err)
{
    struct gpt_device *g = context;

    g->tokens[g->length++] = token;
    return compute(g, err) ? -1 : take_row(g, g->length - 1, logits, err);
}

struct gpt_predictor gpt_device_predictor(struct gpt_device *g)
{
    return (
        struct gpt_predictor) { .context = g, .start = device_start_at, .advance = device_advance };
}
