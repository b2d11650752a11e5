/* SPDX-License-Identifier: MIT */
/*
 * A list of matrix products, as visualisers of GEMM kernels hold it:
 * [{"name", "M", "N", "K", "batch", "dtype", "model", "tflops"}, ...], or with a time instead of
 * the rate. FLOPs are 2 M N K; compulsory bytes each operand once in its dtype.
 */
#include "base/text.h"
#include "output/import_parts.h"

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

/* What is a number, but no size. */
static bool is_measured(const char *key)
{
    static const char *const keys[] = {
        "arithmetic_intensity", "flops", "bytes", "gbps", "bandwidth", "samples", "ok"
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (strcmp(times[i].key, key) == 0)
            return true;
    return strcmp(rates[0].key, key) == 0 || strcmp(rates[1].key, key) == 0;
}

/* "f32" and "float16" as we call them, with bytes of an element; 0: unknown. */
static int dtype_of(const char *text, char name[16])
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

static double size_of(const cJSON *entry, const char *upper, const char *lower)
{
    double value = import_optional(entry, upper);

    return isnan(value) ? import_optional(entry, lower) : value;
}

static void read_work(const cJSON *entry, int bytes, struct measurement *m)
{
    double rows = size_of(entry, "M", "m"), columns = size_of(entry, "N", "n");
    double inner = size_of(entry, "K", "k"), flops = import_optional(entry, "flops");
    double moved = import_optional(entry, "bytes");
    double elements = rows * inner + inner * columns + rows * columns;

    if (isnan(flops))
        flops = 2 * rows * columns * inner;
    if (isnan(moved) && bytes > 0)
        moved = elements * bytes;
    m->flops = flops > 0 && isfinite(flops) ? flops : 0;
    m->bytes = moved > 0 && isfinite(moved) ? moved : 0;
}

static int read_time(struct import_build *b, const cJSON *entry, struct import_case *c)
{
    double value;

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        const cJSON *at = cJSON_GetObjectItemCaseSensitive(entry, times[i].key);
        if (at)
            return import_number(b, entry, times[i].key, 0, &value) ||
                           import_statistic(b, c, at, value * times[i].ns)
                       ? -1
                       : 0;
    }
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        const cJSON *at = cJSON_GetObjectItemCaseSensitive(entry, rates[i].key);
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
static void add_part(struct strbuf *key, const char *text)
{
    strbuf_addc(key, '/');
    for (; *text; text++)
        strbuf_addc(key, *text == '/' ? '-' : *text);
}

static void add_sizes(const cJSON *entry, struct strbuf *out)
{
    const cJSON *item;
    int nr = 0;

    cJSON_ArrayForEach(item, entry)
    {
        double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
        if (is_measured(item->string) || !(fabs(value) <= 1e15) || value != floor(value) ||
            strpbrk(item->string, "/,=") || !item->string[0] || nr == SHAPE_MAX)
            continue;
        strbuf_addf(out, "%s%.23s=%.0f", nr++ ? "," : "", item->string, value);
    }
}

/* The form of our own keys, so that roofs can be given by dtype and device. */
static void make_name(const cJSON *entry, const char *text, const char *math,
                      struct import_name *name)
{
    struct strbuf sizes;

    strbuf_init(&sizes);
    add_sizes(entry, &sizes);
    import_name_init(name, text);
    add_part(&name->text, json_string(entry, "model", json_string(entry, "variant", "-")));
    add_part(&name->text, math);
    if (sizes.length)
        add_part(&name->text, sizes.data);
    add_part(&name->text, json_string(entry, "device", "imported"));
    add_part(&name->text, "warm");
    strbuf_release(&sizes);
}

static int read_kernel(struct import_build *b, const cJSON *entry)
{
    struct import_name name;
    const char *text;
    char math[16];

    if (!cJSON_IsObject(entry))
        return import_refuse(b, entry, "a kernel is no object");
    if (import_text(b, entry, cJSON_HasObjectItem(entry, "name") ? "name" : "kernel", &text))
        return -1;
    int bytes = dtype_of(json_string(entry, "dtype", ""), math);
    make_name(entry, text, math, &name);
    struct import_case *c = import_case(b, &name, 0);
    import_name_release(&name);
    if (c->times.nr)
        import_note(b, "\"%.80s\" is there more than once: its times are put together",
                    c->m.bench.key);
    read_work(entry, bytes, &c->m);
    return read_time(b, entry, c);
}

int import_kernels(struct import_build *b)
{
    const cJSON *item;

    b->clock = "a list";
    b->statistic = "the number that the list has";
    if (!cJSON_IsArray(b->source.root))
        return import_refuse(b, b->source.root, "this is no list of kernels");
    cJSON_ArrayForEach(item, b->source.root)
    {
        if (read_kernel(b, item))
            return -1;
    }
    return 0;
}
