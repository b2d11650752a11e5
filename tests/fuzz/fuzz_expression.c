/* SPDX-License-Identifier: MIT */
/* metrics/expression.h: arithmetic over metrics, from presets and from the page. */
#include "fuzz.h"

#include "metrics/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double value_of(void *context, const char *name)
{
    (void)context;
    FUZZ_CHECK(strlen(name) < EXPRESSION_NAME_SIZE);
    return name[0] == 'n' ? (double)NAN : (double)strlen(name) - 3;
}

FUZZ_TARGET(expression)
{
    char *text = fuzz_text(data, size);
    struct error err;
    struct expression *e = expression_parse(text, NULL, NULL, &err);

    if (e) {
        double value = expression_value(e, value_of, NULL);
        FUZZ_CHECK(isnan(value) || isfinite(value));
    }
    expression_is_plain(text);
    expression_free(e);
    free(text);
}
