/* SPDX-License-Identifier: MIT */
/* github-action-benchmark's customSmallerIsBetter and customBiggerIsBetter: [{name, unit, value}].
 * Which of the two it is follows from the unit: a time, or something in a time. */
#include "importers/base/import_form.h"

#include <stdlib.h>
#include <string.h>

static const struct import_field fields[] = {
    { "name", FIELD_NAME, NULL },
    { "unit", FIELD_UNIT, NULL },
    { "value", FIELD_QUANTITY, NULL },
    FIELDS_END,
};

/* "± 300", "+/- 3.5": what the value may be off by, in its own unit. */
static int custom_read_range(struct import_entry *e)
{
    const cJSON *range = import_entry_at(e, "range");
    struct import_unit u = import_unit_of(e->unit);
    const char *digits = cJSON_IsString(range) ? strpbrk(range->valuestring, "0123456789.") : NULL;
    char *end = NULL;
    double value = digits ? strtod(digits, &end) : 0;

    if (!digits || *end)
        return 0; /* a note will tell of it */
    import_take(range);
    if (u.kind == IMPORT_UNIT_TIME)
        import_beside(e->b, e->c, "summary_range_ns", value * u.ns);
    else
        import_beside(e->b, e->c, "summary_range", value);
    return 0;
}

static const struct import_form form = {
    .entries = "[]",
    .clock = "a list",
    .statistic = "the one value",
    .fields = fields,
    .paths = true,
    .read_times = custom_read_range,
};

const struct import_format_row import_custom = {
    .signs = { "[].name [].unit [].value" },
    .form = &form,
};
