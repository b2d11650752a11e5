/* SPDX-License-Identifier: MIT */
#include "models/gpt_model.h"

#include "models/gpt_checkpoint.h"

#include <stdlib.h>

int gpt_model_open_seed(struct gpt_model *m, const char *name, uint64_t seed, struct error *err)
{
    *m = (struct gpt_model) { .config = gpt_config_find(name, err) };
    if (!m->config || gpt_weights_init(&m->weights, m->config, false, err))
        return -1;
    gpt_weights_seed(&m->weights, seed);
    return 0;
}

int gpt_model_open_file(struct gpt_model *m, const char *name, const char *path, struct error *err)
{
    *m = (struct gpt_model) { .config = gpt_config_find(name, err) };
    return m->config ? gpt_checkpoint_read(&m->weights, m->config, path, err) : -1;
}

void gpt_model_close(struct gpt_model *m)
{
    gpt_weights_release(&m->weights);
}

int gpt_model_export(const struct gpt_model *m, const char *path, struct error *err)
{
    return gpt_checkpoint_write(&m->weights, path, err);
}

float *gpt_model_logits(const struct gpt_model *m, const struct gpt_ops *ops,
                        const struct gpt_tokens *tokens, int threads, struct error *err)
{
    size_t bytes = (size_t)(tokens->batch * tokens->seq * m->config->vocab) * sizeof(float);
    struct gpt_forward f;
    void *logits = NULL;

    if (gpt_forward_init(&f, m->config, &m->weights, ops, tokens->batch * tokens->seq, tokens->seq,
                         threads, err))
        goto out;
    if (posix_memalign(&logits, 64, bytes)) {
        logits = NULL;
        error_set(err, "%s: no memory for %zu bytes of logits", m->config->name, bytes);
        goto out;
    }
    gpt_prefill(&f, tokens->ids, tokens->batch, tokens->seq, NULL, GPT_LOGITS_ALL, logits);
out:
    gpt_forward_release(&f);
    return logits;
}
