/* SPDX-License-Identifier: MIT */
/* models/safetensors.h and models/gpt_checkpoint.h: weights from a file. */
#include "fuzz.h"

#include "base/memory.h"
#include "models/gpt_checkpoint.h"
#include "models/safetensors.h"

#include <stdlib.h>

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
