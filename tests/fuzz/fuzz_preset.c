/* SPDX-License-Identifier: MIT */
/* chart/preset.h: a figure's preset, from a file or from the page. */
#include "fuzz.h"

#include "chart/preset.h"

#include <stdlib.h>
#include <string.h>

FUZZ_TARGET(preset)
{
    struct preset preset, again;
    struct error err;

    if (preset_parse(&preset, (const char *)data, size, "text", &err))
        return;
    preset_takes(&preset, "gemm/linear/simd/fp32/batch=1,seq=64/cpu-2t/warm");
    char *text = json_take_text(preset_to_json(&preset));
    FUZZ_OK(preset_parse(&again, text, strlen(text), "text", &err), &err);
    char *same = json_take_text(preset_to_json(&again));
    FUZZ_CHECK(strcmp(text, same) == 0);
    free(text);
    free(same);
    preset_release(&preset);
    preset_release(&again);
}
