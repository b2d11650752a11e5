/* SPDX-License-Identifier: MIT */
/* Files of models: tokens, arrays, weights. */
#include "fuzz.h"

#include "base/memory.h"
#include "core/npy.h"
#include "models/gpt_checkpoint.h"
#include "models/gpt_tokens.h"
#include "models/safetensors.h"

#include <stdlib.h>

/* models/gpt_tokens.h: sequences of tokens. */
FUZZ_TARGET(tokens)
{
    struct gpt_tokens tokens;
    struct error err;

    if (gpt_tokens_parse(&tokens, &gpt_configs[0], (const char *)data, size, "text", &err))
        return;
    FUZZ_CHECK(tokens.batch > 0 && tokens.seq > 0 && tokens.seq <= gpt_configs[0].block);
    for (int64_t i = 0; i < tokens.batch * tokens.seq; i++)
        FUZZ_CHECK(tokens.ids[i] >= 0 && tokens.ids[i] < gpt_configs[0].vocab);
    gpt_tokens_release(&tokens);
}

/* core/npy.h: an array of NumPy's. */
FUZZ_TARGET(npy)
{
    struct npy a;
    struct error err;

    if (npy_read(&a, fuzz_file(data, size), (size_t)1 << 30, &err) == 0) {
        const struct tensor t = { .dtype = a.dtype, .data = (void *)a.data };
        volatile double last;
        FUZZ_CHECK(a.elements > 0 && (size_t)a.elements * dtype_size(a.dtype) <= size);
        for (int64_t i = 0; i < a.elements; i++)
            last = tensor_get(&t, i);
        (void)last;
    }
    npy_release(&a);
}

enum { ELEMENTS_MOST = 1 << 16 };

static void read_tensors(const char *path)
{
    struct safetensors file;
    struct error err;

    if (safetensors_open(&file, path, &err))
        return;
    for (size_t i = 0; i < file.nr; i++) {
        const struct safetensors_entry *entry = &file.items[i];
        FUZZ_CHECK(safetensors_find(&file, entry->name) == entry);
        FUZZ_CHECK(entry->elements >= 0 && entry->begin <= entry->end);
        if (entry->elements > ELEMENTS_MOST)
            continue;
        float *values = memory_zeroed((size_t)entry->elements + 1, sizeof(*values));
        safetensors_read(&file, entry, values, &err);
        free(values);
    }
    safetensors_close(&file);
}

/* models/safetensors.h and models/gpt_checkpoint.h: weights from a file. */
FUZZ_TARGET(safetensors)
{
    static const struct gpt_config tiny = { "tiny", 1, 1, 1, 1, 2 };
    const char *path = fuzz_file(data, size);
    struct gpt_weights weights;
    struct error err;

    read_tensors(path);
    if (gpt_checkpoint_read(&weights, &tiny, path, &err) == 0)
        gpt_weights_release(&weights);
}
