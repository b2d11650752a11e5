/* SPDX-License-Identifier: MIT */
/* The scopes of models/gpt_scopes.h in C++: for .cu files only. */
#ifndef HARNESS_MODELS_GPT_CUDA_SCOPES_H
#define HARNESS_MODELS_GPT_CUDA_SCOPES_H

extern "C" {
#include "models/gpt_scopes.h"
}

/* An operation, or a layer, from here to the end of the block. Off, as it is while a graph is
 * captured, it costs a load and a branch. */
class gpt_cuda_scope
{
  public:
    gpt_cuda_scope(const struct gpt_scopes *scopes, enum gpt_op op, const struct gpt_op_size *size)
        : scope_()
    {
        if (prof_is_on(prof_global()))
            scope_ = gpt_scope_begin(scopes, op, size);
    }
    gpt_cuda_scope(const struct gpt_scopes *scopes, int64_t layer, const struct gpt_op_size *size)
        : scope_()
    {
        if (prof_is_on(prof_global()))
            scope_ = gpt_scope_layer(scopes, layer, size, size, false);
    }
    ~gpt_cuda_scope()
    {
        gpt_scope_end(&scope_);
    }
    gpt_cuda_scope(const gpt_cuda_scope &) = delete;
    gpt_cuda_scope &operator=(const gpt_cuda_scope &) = delete;

  private:
    struct prof_scope scope_;
};

#endif
