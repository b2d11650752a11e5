/* SPDX-License-Identifier: MIT */
/* NVBench's --json and --jsonbin. Its numbers are texts mostly. */
#include "output/import_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ns = 1e9; /* in a second, NVBench's unit */

struct nvbench {
    struct import_build *b;
    bool devices;      /* there are several: the device is a part of names */
    size_t unreadable; /* files with raw samples that cannot be had */
};

/* ---- summaries ---- */

static const cJSON *summary(const cJSON *state, const char *tag)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(state, "summaries"))
    {
        if (strcmp(json_string(item, "tag", ""), tag) == 0)
            return item;
    }
    return NULL;
}

/* A named value among the data of a summary. */
static const cJSON *datum(const cJSON *of, const char *name)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(of, "data"))
    {
        if (strcmp(json_string(item, "name", ""), name) == 0)
            return cJSON_GetObjectItemCaseSensitive(item, "value");
    }
    return NULL;
}

static double number(const cJSON *state, const char *tag)
{
    double value;

    return import_value(datum(summary(state, tag), "value"), &value) ? value : NAN;
}

/* ---- raw samples ---- */

static float float_at(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    uint32_t bits = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static int add_samples(struct nvbench *v, struct import_case *c, const cJSON *at,
                       const struct strbuf *content)
{
    double size;
    size_t nr = content->length / 4;

    if (content->length % 4 || !import_value(datum(at, "size"), &size) || size != (double)nr)
        return import_refuse(v->b, at, "its file holds %zu bytes, not the samples that it names",
                             content->length);
    for (size_t i = 0; i < nr; i++)
        if (import_time(v->b, c, at, (double)float_at(content->data + 4 * i) * ns, 1))
            return -1;
    return 0;
}

/* 1: they are in; 0: there are none; -1: refused. */
static int read_samples(struct nvbench *v, const cJSON *state, struct import_case *c)
{
    static const char *const tags[] = { "nv/json/bin:nv/cold/sample_times",
                                        "nv/json/bin:sample_times" };
    const struct import_options *o = v->b->options;
    const cJSON *at = summary(state, tags[0]);
    struct strbuf content;

    if (!at)
        at = summary(state, tags[1]);
    const cJSON *file = datum(at, "filename");
    if (!cJSON_IsString(file))
        return 0;
    strbuf_init(&content);
    /* analyzer: cJSON_IsString() refuses NULL */
    int rc = o->samples ? o->samples(o->context, file->valuestring, &content) : -1;
    v->unreadable += rc != 0;
    if (rc == 0)
        rc = add_samples(v, c, at, &content) ? -1 : 1;
    else
        rc = 0;
    strbuf_release(&content);
    return rc;
}

/* ---- states ---- */

/* Whole numbers are sizes; all else, fractions too, is said in the name. */
static void read_axis(struct import_name *name, const char *axis, const char *type, const cJSON *at)
{
    char text[64];
    double value;

    if (strcmp(type, "int64") == 0 && import_value(at, &value) && fabs(value) < 1e15) {
        snprintf(text, sizeof(text), "%.0f", value);
        import_name_parameter(name, axis, text);
        return;
    }
    struct strbuf part;
    strbuf_init(&part);
    if (strcmp(type, "float64") == 0 && import_value(at, &value))
        strbuf_addf(&part, "%s=%.9g", axis, value);
    else
        strbuf_addf(&part, "%s=%s", axis, cJSON_IsString(at) ? at->valuestring : "?");
    import_name_part(name, part.data);
    strbuf_release(&part);
}

static void read_axes(struct import_name *name, const cJSON *state)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(state, "axis_values"))
    {
        read_axis(name, json_string(item, "name", "axis"), json_string(item, "type", ""),
                  cJSON_GetObjectItemCaseSensitive(item, "value"));
    }
}

static void read_work(const cJSON *state, struct import_case *c)
{
    double seconds = number(state, "nv/cold/time/gpu/mean");
    double bytes = number(state, "nv/cold/bw/global/bytes_per_second") * seconds;

    if (bytes > 0 && isfinite(bytes))
        c->m.bytes = bytes;
    import_beside(c, "items_per_second", number(state, "nv/cold/bw/item_rate"));
    import_beside(c, "cpu_time_ns", number(state, "nv/cold/time/cpu/mean") * ns);
    import_beside(c, "batch_time_ns", number(state, "nv/batch/time/gpu/mean") * ns);
}

static int read_statistic(struct nvbench *v, const cJSON *state, struct import_case *c)
{
    static const char *const tags[] = { "nv/cold/time/gpu/median", "nv/cold/time/gpu/mean",
                                        "nv/cold/time/cpu/mean", "nv/cpu_only/time/cpu/mean",
                                        "nv/batch/time/gpu/mean" };

    v->b->statistic = "the median or mean of the samples";
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        double seconds = number(state, tags[i]);
        if (!isnan(seconds))
            return import_statistic(v->b, c, summary(state, tags[i]), seconds * ns);
    }
    import_fail(c, OUTCOME_FAILED, "the file has no time for it");
    return 0;
}

static int read_state(struct nvbench *v, const char *benchmark, const cJSON *state)
{
    double device = import_optional(state, "device");
    struct import_name name;

    if (!cJSON_IsObject(state))
        return import_refuse(v->b, state, "a state is no object");
    import_name_init(&name, benchmark);
    read_axes(&name, state);
    if (v->devices && device >= 0 && device < 1e6)
        import_name_dim(&name, "device", (int64_t)device);
    struct import_case *c = import_case(v->b, &name, 0);
    import_name_release(&name);
    if (json_bool(state, "is_skipped", false)) {
        import_fail(c, OUTCOME_UNSUPPORTED, json_string(state, "skip_reason", "skipped"));
        return 0;
    }
    read_work(state, c);
    int rc = read_samples(v, state, c);
    if (rc == 0)
        rc = read_statistic(v, state, c);
    return rc < 0 ? -1 : 0;
}

static int read_benchmark(struct nvbench *v, const cJSON *benchmark)
{
    const cJSON *states = cJSON_GetObjectItemCaseSensitive(benchmark, "states"), *state;
    const char *name;

    if (import_text(v->b, benchmark, "name", &name))
        return -1;
    if (!cJSON_IsArray(states))
        return import_refuse(v->b, benchmark, "\"states\" is missing or no list");
    cJSON_ArrayForEach(state, states)
    {
        if (read_state(v, name, state))
            return -1;
    }
    return 0;
}

static void read_devices(struct nvbench *v, const cJSON *devices)
{
    struct machine *m = &v->b->run->machine;
    struct strbuf names;
    const cJSON *item;
    size_t nr = 0;

    strbuf_init(&names);
    cJSON_ArrayForEach(item, devices)
    {
        strbuf_addf(&names, "%s%s", nr++ ? ", " : "", json_string(item, "name", "GPU"));
    }
    import_copy(m->gpu, sizeof(m->gpu), names.data);
    v->devices = nr > 1;
    strbuf_release(&names);
}

int import_nvbench(struct import_build *b)
{
    const cJSON *root = b->source.root, *item;
    const cJSON *benchmarks = cJSON_GetObjectItemCaseSensitive(root, "benchmarks");
    const cJSON *version =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(root, "meta"), "version");
    struct nvbench v = { .b = b };

    b->clock = "NVBench, cold";
    if (!cJSON_IsArray(benchmarks))
        return import_refuse(b, root, "\"benchmarks\" is missing or no list");
    read_devices(&v, cJSON_GetObjectItemCaseSensitive(root, "devices"));
    import_fact(b, "tool_version",
                json_string(cJSON_GetObjectItemCaseSensitive(version, "nvbench"), "string", ""));
    cJSON_ArrayForEach(item, benchmarks)
    {
        if (read_benchmark(&v, item))
            return -1;
    }
    if (v.unreadable)
        import_note(b, "%zu file%s with raw samples cannot be read: they belong beside the JSON",
                    v.unreadable, v.unreadable == 1 ? "" : "s");
    return 0;
}
