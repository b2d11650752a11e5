/* SPDX-License-Identifier: MIT */
/* Keys of benchmarks, names of guests, specs of devices: a line each (core/benchmark.h,
 * metrics/label.h, text/name.h, core/device.h). */
#include "fuzz.h"

#include "device/devices.h"
#include "metrics/label.h"
#include "text/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 4 };

static void guest_names(const char *text)
{
    char clean[NAME_VARIANT_MAX + 1];
    const char *dims[] = { text };
    struct error err;

    name_check_kernel(text, &err);
    if (name_check_dim(text, &err) == 0)
        name_check_key("command/a", "exec", dims, 1, &err);
    name_sanitise(text, clean, sizeof(clean));
    FUZZ_CHECK(strlen(clean) < sizeof(clean));
    if (clean[0])
        FUZZ_OK(name_check_variant(clean, &err), &err);
}

/* What is typed, and what stands in keys. Opening a GPU is no matter of parsing. */
static void device(const char *text)
{
    struct device d;
    struct error err;
    int kind = device_kind_of(text);

    if ((kind == DEVICE_CPU || kind == DEVICE_FAKE) && device_open(&d, text, &err) == 0) {
        FUZZ_CHECK(d.threads >= 0 && d.label[0]);
        FUZZ_CHECK(device_label_of(d.label).kind == kind);
        FUZZ_CHECK(device_label_of(d.label).threads == d.threads);
        device_close(&d);
    }
    FUZZ_CHECK(device_label_of(text).hardware <= strlen(text));
}

FUZZ_TARGET(key)
{
    struct benchmark_name names[LINES];
    const struct benchmark_name *all[LINES];
    char *text = fuzz_text(data, size), *rest = text, *line, common[64];
    struct error err;
    size_t nr = 0;

    while (nr < LINES && (line = strsep(&rest, "\n"))) {
        guest_names(line);
        device(line);
        if (benchmark_name_parse(line, &names[nr], &err))
            continue;
        FUZZ_CHECK(strcmp(names[nr].key, line) == 0);
        FUZZ_CHECK(names[nr].nr_dims >= 0 && names[nr].nr_dims <= SHAPE_MAX);
        all[nr] = &names[nr];
        nr++;
    }
    labels_free(labels_create(all, nr), nr);
    labels_common(all, nr, common, sizeof(common));
    FUZZ_CHECK(strlen(common) < sizeof(common));
    for (size_t i = 0; i < nr; i++)
        benchmark_name_operation(&names[i], "layers/attention of 3");
    free(text);
}
