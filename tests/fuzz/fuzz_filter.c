/* SPDX-License-Identifier: MIT */
/* base/text.h: a filter (first line) over a key (second line), and the nearest name to it. */
#include "fuzz.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

FUZZ_TARGET(filter)
{
    static const char *const names[] = { "gemm/linear", "attention", "layernorm", "gpt", NULL };
    char *text = fuzz_text(data, size), *key = text;
    const char *filter = strsep(&key, "\n");

    text_filter_matches(filter, key ? key : "gemm/linear/simd/fp32/batch=1,seq=64/cpu-2t/warm");
    text_nearest(filter, names);
    free(text);
}
