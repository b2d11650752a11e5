/* SPDX-License-Identifier: MIT */
/*
 * reporters/verdict_json.h: recorded verdicts, replayed. The first line is the settings, each
 * further one the evidence of a row.
 */
#include "fuzz.h"

#include "reporters/verdict_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 8 };

/* As a replay does it: one row that cannot be read, and nothing is decided. */
static int add_rows(struct kept_items *kept, char *rest)
{
    struct error err;
    char *line, key[64];
    int rc = 0;

    for (int i = 0; rc == 0 && i < ROWS && (line = strsep(&rest, "\n")); i++) {
        struct kept_result result;
        kept_result_read(line, &result, &err);
        snprintf(key, sizeof(key), "gemm/linear/simd/fp32/batch=%d/cpu-2t/warm", i + 1);
        rc = kept_items_add(kept, key, "class-a", i % 2 ? "p99" : "p50", line, &err);
    }
    return rc;
}

static void decide(struct kept_items *kept, const struct compare_settings *settings)
{
    struct comparison c = { 0 };
    struct error err;
    size_t nr = kept->nr;

    if (compare_decide(kept_items_take(kept), nr, settings, &c, &err) == 0)
        for (size_t i = 0; i < c.nr; i++) {
            char *text = evidence_text(c.rows[i].item), *made = result_text(&c.rows[i]);
            struct kept_result result;
            FUZZ_OK(kept_result_read(made, &result, &err), &err);
            free(text);
            free(made);
        }
    comparison_release(&c);
}

FUZZ_TARGET(verdicts)
{
    char *text = fuzz_text(data, size), *rest = text, *first = strsep(&rest, "\n");
    struct kept_settings settings;
    struct kept_items kept = { 0 };
    struct error err;

    int rc = kept_settings_init(&settings, first, &err);
    if (rc == 0 && add_rows(&kept, rest) == 0)
        decide(&kept, &settings.settings);
    kept_settings_release(&settings);
    kept_items_release(&kept);
    free(text);
}
