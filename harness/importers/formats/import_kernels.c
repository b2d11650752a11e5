/* SPDX-License-Identifier: MIT */
/*
 * A list of matrix products, as visualisers of GEMM kernels hold it:
 * [{"name", "M", "N", "K", "batch", "dtype", "model", "tflops"}, ...], or with a time instead of
 * the rate. FLOPs are 2 M N K; compulsory bytes each operand once in its dtype.
 */
#include "base/text.h"
#include "importers/base/import_base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Members that hold a time, and those that hold a rate. */
static const struct {
    const char *key;
    double ns;
} times[] = {
    { "time_ns", 1 },         { "time_us", 1e3 },          { "time_ms", 1e6 },
    { "time_s", 1e9 },        { "mean_microseconds", 1e3 }, { "microseconds", 1e3 },
    { "milliseconds", 1e6 },
}, rates[] = { { "tflops", 1e3 }, { "gflops", 1 } }; /* FLOP in a ns */

static bool kernels_is_among(const char *const *keys, const char *key)
{
    while (*keys && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

/* Of times and rates the first is read; the others say the same. */
static bool kernels_is_time(const char *key)
{
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (strcmp(times[i].key, key) == 0)
            return true;
    return strcmp(rates[0].key, key) == 0 || strcmp(rates[1].key, key) == 0;
}

/* What is a number, but no size. */
static bool kernels_is_measured(const char *key)
{
    static const char *const keys[] = {
        "arithmetic_intensity", "flops", "bytes", "gbps", "bandwidth", "samples", "ok", NULL
    };

    return kernels_is_among(keys, key) || kernels_is_time(key);
}

/* Numbers of the name. */
static bool kernels_is_size(const cJSON *item)
{
    double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;

    return !kernels_is_measured(item->string) && fabs(value) <= 1e15 && value == floor(value) &&
           !strpbrk(item->string, "/,=") && item->string[0];
}

/* Other numbers stand beside the time; of all else a note tells, sizes that are too many too. */
static void kernels_keep_others(struct import_build *b, const cJSON *entry, struct import_case *c)
{
    static const char *const known[] = {
        "name",  "kernel",  "dtype",
        "model", "variant", "device",
        "flops", "bytes",   "arithmetic_intensity", /* follows from the two before */
        NULL
    };
    const cJSON *item;
    int sizes = 0;

    cJSON_ArrayForEach(item, entry)
    {
        bool size = kernels_is_size(item);
        sizes += size;
        if (kernels_is_among(known, item->string) || kernels_is_time(item->string) ||
            (size && sizes <= SHAPE_MAX) || cJSON_IsNull(item) || cJSON_IsBool(item))
            continue;
        if (cJSON_IsNumber(item) && !size)
            import_beside(b, c, item->string, item->valuedouble);
        else
            import_left(b, item->string);
    }
}

/* "f32" and "float16" as we call them, with bytes of an element; 0: unknown. */
static int kernels_dtype_of(const char *text, char name[16])
{
    static const struct {
        const char *from, *to;
        int bytes;
    } rows[] = {
        { "f32", "fp32", 4 },      { "fp32", "fp32", 4 },    { "float32", "fp32", 4 },
        { "f16", "fp16", 2 },      { "fp16", "fp16", 2 },    { "float16", "fp16", 2 },
        { "bf16", "bf16", 2 },     { "tf32", "tf32", 4 },    { "f64", "fp64", 8 },
        { "i8", "int8", 1 },       { "int8", "int8", 1 },    { "f8", "fp8", 1 },
        { "bfloat16", "bf16", 2 }, { "float64", "fp64", 8 }, { "fp64", "fp64", 8 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].from, text) == 0) {
            snprintf(name, 16, "%s", rows[i].to);
            return rows[i].bytes;
        }
    }
    snprintf(name, 16, "%.15s", *text ? text : "-");
    return 0;
}

static double kernels_size_of(const cJSON *entry, const char *upper, const char *lower)
{
    double value = import_optional(entry, upper);

    return isnan(value) ? import_optional(entry, lower) : value;
}

static void kernels_read_work(const cJSON *entry, int bytes, struct import_case *c)
{
    double rows = kernels_size_of(entry, "M", "m"), columns = kernels_size_of(entry, "N", "n");
    double inner = kernels_size_of(entry, "K", "k"), flops = import_optional(entry, "flops");
    double moved = import_optional(entry, "bytes");
    double elements = rows * inner + inner * columns + rows * columns;

    if (isnan(flops))
        flops = 2 * rows * columns * inner;
    if (isnan(moved) && bytes > 0)
        moved = elements * bytes;
    c->m.flops = c->m.bytes = 0;
    import_work(c, flops, moved);
}

static int kernels_read_time(struct import_build *b, const cJSON *entry, struct import_case *c)
{
    double value;

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (import_member(entry, times[i].key))
            return import_statistic_of(b, c, entry, times[i].key, times[i].ns);
    }
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        const cJSON *at = import_member(entry, rates[i].key);
        if (!at)
            continue;
        if (import_number(b, entry, rates[i].key, 0, &value))
            return -1;
        if (!(value > 0 && c->m.flops > 0))
            return import_refuse(b, at, "a rate gives a time only with M, N and K, and above 0");
        return import_statistic(b, c, at, c->m.flops / (value * rates[i].ns));
    }
    return import_refuse(b, entry, "there is neither a time (\"time_us\" ...) nor \"tflops\"");
}

/* One part of a key: without what parts keys. */
static void kernels_add_part(struct strbuf *key, const char *text)
{
    strbuf_addc(key, '/');
    for (; *text; text++)
        strbuf_addc(key, *text == '/' ? '-' : *text);
}

static void kernels_add_sizes(const cJSON *entry, struct strbuf *out)
{
    const cJSON *item;
    int nr = 0;

    cJSON_ArrayForEach(item, entry)
    {
        if (kernels_is_size(item) && nr < SHAPE_MAX)
            strbuf_addf(out, "%s%.23s=%.0f", nr++ ? "," : "", item->string, item->valuedouble);
    }
}

/* The form of our own keys, so that roofs can be given by dtype and device. */
static void kernels_make_name(const cJSON *entry, const char *text, const char *math,
                              struct import_name *name)
{
    struct strbuf sizes;

    strbuf_init(&sizes);
    kernels_add_sizes(entry, &sizes);
    import_name_init(name, text);
    kernels_add_part(&name->text, json_string(entry, "model", json_string(entry, "variant", "-")));
    kernels_add_part(&name->text, math);
    if (sizes.length)
        kernels_add_part(&name->text, sizes.data);
    kernels_add_part(&name->text, json_string(entry, "device", "imported"));
    kernels_add_part(&name->text, "warm");
    strbuf_release(&sizes);
}

static int kernels_read_entry(void *context, const cJSON *entry)
{
    struct import_build *b = context;
    struct import_name name;
    const char *text;
    char math[16];

    if (import_text(b, entry, cJSON_HasObjectItem(entry, "name") ? "name" : "kernel", &text))
        return -1;
    int bytes = kernels_dtype_of(json_string(entry, "dtype", ""), math);
    kernels_make_name(entry, text, math, &name);
    struct import_case *c = import_case(b, &name);
    import_note_again(b, c);
    kernels_read_work(entry, bytes, c);
    kernels_keep_others(b, entry, c);
    return kernels_read_time(b, entry, c);
}

static int kernels_parse(struct import_build *b)
{
    b->clock = "a list";
    b->statistic = "the number that the list has";
    if (!cJSON_IsArray(b->source.root))
        return import_refuse(b, b->source.root, "this is no list of kernels");
    return import_each(b, b->source.root, "a kernel", kernels_read_entry, b);
}

const struct import_format_row import_kernels = {
    .signs = { "[].kernel", "[].name [].tflops", "[].name [].gflops", "[].name [].M",
               "[].name [].m", "[].name [].time_ns", "[].name [].time_us", "[].name [].time_ms",
               "[].name [].time_s", "[].name [].microseconds", "[].name [].mean_microseconds",
               "[].name [].milliseconds" },
    .parse = kernels_parse,
};
