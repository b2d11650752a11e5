/* SPDX-License-Identifier: MIT */
/* chart/config.h: harness.json. What it says, merged, is a valid one again. */
#include "fuzz.h"

#include "chart/config.h"

#include <stdlib.h>
#include <string.h>

FUZZ_TARGET(config)
{
    struct config config, again;
    struct error err;

    FUZZ_OK(config_init(&config, &err), &err);
    if (config_parse(&config, (const char *)data, size, "text", &err) == 0 && !config.alone) {
        FUZZ_CHECK(config.delta >= 0 && config.delta < 10);
        char *text = json_take_text(config_to_json(&config));
        FUZZ_OK(config_init(&again, &err), &err);
        FUZZ_OK(config_parse(&again, text, strlen(text), "text", &err), &err);
        config_release(&again);
        free(text);
    }
    config_release(&config);
}
