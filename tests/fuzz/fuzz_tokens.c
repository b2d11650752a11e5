/* SPDX-License-Identifier: MIT */
/* models/gpt_tokens.h: sequences of tokens. */
#include "fuzz.h"

#include "models/gpt_tokens.h"

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
