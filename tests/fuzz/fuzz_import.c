/* SPDX-License-Identifier: MIT */
/* importers/import.h: a target for each form, by the name that --format has for it. */
#include "fuzz.h"
#include "fuzz_records.h"

#include "base/utf8.h"
#include "importers/import.h"

#include <math.h>
#include <string.h>

struct input {
    const uint8_t *data;
    size_t size;
};

/* A file of raw samples beside that of NVBench: here the same bytes. */
static int samples_of(void *context, const char *name, struct strbuf *content)
{
    const struct input *input = context;

    if (name[0] == 'x')
        return -1;
    strbuf_add(content, input->data, input->size);
    return 0;
}

static void check_name(const char *key)
{
    uint32_t code;

    FUZZ_CHECK(*key);
    for (size_t length; *key; key += length) {
        length = utf8_decode(key, &code);
        FUZZ_CHECK(length > 0 && code >= ' ' && code != 0x7f);
    }
}

static void import(const struct input *input, const struct import_options *options)
{
    struct imported in;
    struct error err;

    if (import_parse((const char *)input->data, input->size, "text", options, &in, &err) == 0) {
        FUZZ_CHECK(in.format != IMPORT_ANY);
        for (size_t i = 0; i < in.records.nr; i++)
            check_name(in.records.items[i].m.bench.key);
        fuzz_use_records(&in.records);
    }
    imported_release(&in);
}

static void import_as(const char *name, const uint8_t *data, size_t size)
{
    struct input input = { data, size };
    struct import_options options = { .samples = samples_of, .context = &input };
    struct error err;

    FUZZ_OK(import_format_find(name, &options.format, &err), &err);
    import(&input, &options);
    options.format = IMPORT_ANY;
    options.project = "a project";
    options.cpu_time = options.repetitions = true;
    import(&input, &options);
}

FUZZ_TARGET(import_gbench)
{
    import_as("gbench", data, size);
}

FUZZ_TARGET(import_nvbench)
{
    import_as("nvbench", data, size);
}

FUZZ_TARGET(import_criterion)
{
    import_as("criterion", data, size);
}

FUZZ_TARGET(import_hyperfine)
{
    import_as("hyperfine", data, size);
}

FUZZ_TARGET(import_pytest)
{
    import_as("pytest", data, size);
}

FUZZ_TARGET(import_gbench_csv)
{
    import_as("gbench_csv", data, size);
}

FUZZ_TARGET(import_hyperfine_csv)
{
    import_as("hyperfine_csv", data, size);
}

FUZZ_TARGET(import_jmh)
{
    import_as("jmh", data, size);
}

FUZZ_TARGET(import_go)
{
    import_as("go", data, size);
}

FUZZ_TARGET(import_libtest)
{
    import_as("libtest", data, size);
}

FUZZ_TARGET(import_catch2)
{
    import_as("catch2", data, size);
}

FUZZ_TARGET(import_asv)
{
    import_as("asv", data, size);
}

FUZZ_TARGET(import_bmf)
{
    import_as("bmf", data, size);
}

FUZZ_TARGET(import_benchmarkdotnet)
{
    import_as("benchmarkdotnet", data, size);
}

FUZZ_TARGET(import_vitest)
{
    import_as("vitest", data, size);
}

FUZZ_TARGET(import_nanobench)
{
    import_as("nanobench", data, size);
}

FUZZ_TARGET(import_deno)
{
    import_as("deno", data, size);
}

FUZZ_TARGET(import_custom)
{
    import_as("custom", data, size);
}

FUZZ_TARGET(import_gungraun)
{
    import_as("gungraun", data, size);
}

FUZZ_TARGET(import_summary)
{
    import_as("summary", data, size);
}

FUZZ_TARGET(import_kernels)
{
    import_as("kernels", data, size);
}

FUZZ_TARGET(import_report)
{
    import_as("report", data, size);
}
