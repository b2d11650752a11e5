/* SPDX-License-Identifier: MIT */
/*
 * minGPT's forward in eager PyTorch, a peer (kernels/torch/torch.h). Its weights are the call's own
 * parameters, so that the oracle verifies it like the others.
 *
 *   torch         the head's product goes into the call's logits (out=)
 *   torch_alloc   as models are usually written: it makes a new tensor, which is then copied. The
 *                 system hands out the pages of a large one anew each time: 51 MB of logits cost
 *                 30 ms of page faults, and the copy 5
 *   torch_bf16    weights, products and attention of bfloat16, the residual stream and layer norms
 *                 fp32: what torch.autocast makes of it, without its conversions of weights
 */
#include "kernels/torch/torch.h"
#include "models/gpt_common.h"

static void add_weight(cJSON *weights, const struct gpt_config *c, enum gpt_tensor which,
                       int64_t layer)
{
    cJSON *place = cJSON_CreateArray();
    char name[GPT_NAME_SIZE];
    int64_t numbers[3] = { gpt_weight_offset(c, false, which, layer) };

    gpt_weight_extents(c, which, &numbers[1], &numbers[2]);
    for (int i = 0; i < 3; i++)
        cJSON_AddItemToArray(place, cJSON_CreateNumber((double)numbers[i]));
    cJSON_AddItemToObject(weights, gpt_weight_name(which, layer, name), place);
}

/* { "config": sizes, "weights": { name: [offset, rows, cols] }, "alloc": logits in a new tensor }
 */
static cJSON *details_of(const struct gpt_config *c, bool alloc)
{
    cJSON *details = cJSON_CreateObject(), *config = cJSON_AddObjectToObject(details, "config");
    cJSON *weights = cJSON_AddObjectToObject(details, "weights");

    cJSON_AddBoolToObject(details, "alloc", alloc);
    json_add_int(config, "layers", c->layers);
    json_add_int(config, "heads", c->heads);
    json_add_int(config, "width", c->width);
    for (int which = 0; which < GPT_TENSOR_NR; which++) {
        int64_t layers = gpt_weight_in_layer((enum gpt_tensor)which) ? c->layers : 1;
        for (int64_t layer = 0; layer < layers; layer++)
            add_weight(weights, c, (enum gpt_tensor)which, layer);
    }
    return details;
}

static int prepare(struct call *call, struct error *err)
{
    return torch_prepare_with(call, details_of(call->kernel->config, false), err);
}

static int prepare_alloc(struct call *call, struct error *err)
{
    return torch_prepare_with(call, details_of(call->kernel->config, true), err);
}

#define GPT_TORCH_ROWS(id, ...)                                                                    \
    TORCH_VARIANT(gpt_prefill_##id, "torch", "minGPT's forward, logits written in place",          \
                  torch_supports, prepare),                                                        \
        TORCH_VARIANT(gpt_prefill_##id, "torch_alloc",                                             \
                      "minGPT's forward, logits in a new tensor each time and copied",             \
                      torch_supports, prepare_alloc),                                              \
        TORCH_VARIANT_IN(BF16, gpt_prefill_##id, "torch_bf16",                                     \
                         "minGPT's forward of bfloat16, residual stream fp32", torch_supports,     \
                         prepare),                                                                 \
        TORCH_VARIANT_IN(BF16, gpt_decode_##id, "torch_bf16",                                      \
                         "minGPT's step of bfloat16, residual stream fp32", torch_supports,        \
                         prepare),                                                                 \
        TORCH_VARIANT(gpt_decode_##id, "torch", "minGPT's step, logits written in place",          \
                      torch_supports, prepare),

const struct variant gpt_torch[] = { GPT_MODELS(GPT_TORCH_ROWS) /* the rest is the end mark */
                                     { .name = NULL } };
