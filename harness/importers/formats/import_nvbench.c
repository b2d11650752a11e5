/* SPDX-License-Identifier: MIT */
/* NVBench's --json and --jsonbin. Its numbers are texts mostly. */
#include "importers/base/import_base.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ns = 1e9; /* in a second, NVBench's unit */

struct nvbench {
    struct import_build *b;
    bool devices;      /* there are several: the device is a part of names */
    size_t unreadable; /* files with raw samples that cannot be had */
};

/* ---- summaries ---- */

static const cJSON *nvbench_summary(const cJSON *state, const char *tag)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, import_member(state, "summaries"))
    {
        if (strcmp(json_string(item, "tag", ""), tag) == 0)
            return item;
    }
    return NULL;
}

/* A named value among the data of a summary. */
static const cJSON *nvbench_datum(const cJSON *of, const char *name)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, import_member(of, "data"))
    {
        if (strcmp(json_string(item, "name", ""), name) == 0)
            return import_member(item, "value");
    }
    return NULL;
}

static double nvbench_number(const cJSON *state, const char *tag)
{
    double value;

    return import_value(nvbench_datum(nvbench_summary(state, tag), "value"), &value) ? value : NAN;
}

/* ---- raw samples ---- */

/* Only below the folder of the JSON file: a file from elsewhere must not name others of ours. */
static bool nvbench_is_below(const char *name)
{
    if (name[0] == '/' || name[0] == '\0')
        return false;
    for (const char *p = name; p; p = strchr(p, '/'), p += p != NULL)
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
            return false;
    return true;
}

static int nvbench_read_beside(const char *json, const char *name, struct strbuf *content)
{
    const char *slash = strrchr(json, '/');
    struct strbuf path;
    struct error ignored;
    size_t length;

    strbuf_init(&path);
    strbuf_addf(&path, "%.*s%s", slash ? (int)(slash - json + 1) : 0, json, name);
    char *bytes = file_read(path.data, FILE_RECORDS_MOST, &length, &ignored);
    if (bytes)
        strbuf_add(content, bytes, length);
    free(bytes);
    strbuf_release(&path);
    return bytes ? 0 : -1;
}

/* NVBench names the file as seen from where it ran: "out/a.json-bin/0.bin". Its last two parts are
 * beside the JSON file, wherever both were taken. */
static int nvbench_find_samples(const char *json, const char *name, struct strbuf *content)
{
    const char *last = strrchr(name, '/'), *two = name;

    for (const char *p = name; last && p < last; p++)
        if (*p == '/')
            two = p + 1;
    if (nvbench_is_below(name) && nvbench_read_beside(json, name, content) == 0)
        return 0;
    return nvbench_is_below(two) && strcmp(two, name) != 0 ? nvbench_read_beside(json, two, content)
                                                           : -1;
}

static float nvbench_float_at(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    uint32_t bits = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static int nvbench_add_samples(struct nvbench *v, struct import_case *c, const cJSON *at,
                               const struct strbuf *content)
{
    double size;
    size_t nr = content->length / 4;

    if (content->length % 4 || !import_value(nvbench_datum(at, "size"), &size) ||
        size != (double)nr)
        return import_refuse(v->b, at, "its file holds %zu bytes, not the samples that it names",
                             content->length);
    for (size_t i = 0; i < nr; i++)
        if (import_time(v->b, c, at, (double)nvbench_float_at(content->data + 4 * i) * ns, 1))
            return -1;
    return 0;
}

/* 1: they are in; 0: there are none; -1: refused. */
static int nvbench_read_samples(struct nvbench *v, const cJSON *state, struct import_case *c)
{
    static const char *const tags[] = { "nv/json/bin:nv/cold/sample_times",
                                        "nv/json/bin:sample_times" };
    const struct import_options *o = v->b->options;
    const cJSON *at = nvbench_summary(state, tags[0]);
    struct strbuf content;

    if (!at)
        at = nvbench_summary(state, tags[1]);
    const cJSON *file = nvbench_datum(at, "filename");
    if (!cJSON_IsString(file))
        return 0;
    strbuf_init(&content);
    /* analyzer: cJSON_IsString() refuses NULL */
    int rc = o->samples   ? o->samples(o->context, file->valuestring, &content)
             : v->b->path ? nvbench_find_samples(v->b->path, file->valuestring, &content)
                          : -1;
    v->unreadable += rc != 0;
    if (rc == 0)
        rc = nvbench_add_samples(v, c, at, &content) ? -1 : 1;
    else
        rc = 0;
    strbuf_release(&content);
    return rc;
}

/* ---- states ---- */

/* Whole numbers are sizes; all else, fractions too, is said in the name. */
static void nvbench_read_axis(struct import_name *name, const char *axis, const char *type,
                              const cJSON *at)
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

static void nvbench_read_axes(struct import_name *name, const cJSON *state)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, import_member(state, "axis_values"))
    {
        nvbench_read_axis(name, json_string(item, "name", "axis"), json_string(item, "type", ""),
                          import_member(item, "value"));
    }
}

static void nvbench_read_work(struct import_build *b, const cJSON *state, struct import_case *c)
{
    double seconds = nvbench_number(state, "nv/cold/time/gpu/mean");
    double bytes = nvbench_number(state, "nv/cold/bw/global/bytes_per_second") * seconds;

    import_work(c, NAN, bytes);
    import_beside(b, c, "items_per_second", nvbench_number(state, "nv/cold/bw/item_rate"));
    import_beside(b, c, "cpu_time_ns", nvbench_number(state, "nv/cold/time/cpu/mean") * ns);
    import_beside(b, c, "batch_time_ns", nvbench_number(state, "nv/batch/time/gpu/mean") * ns);
}

/* What is said of the times that one of them stands for: under "nv/cold/time/gpu/", if that is
 * "nv/cold/time/gpu/mean". */
static void nvbench_keep_summary(struct import_build *b, const cJSON *state, const char *tag,
                                 struct import_case *c)
{
    static const char *const rows[][2] = {
        { "mean", "mean" },          { "min", "min" }, { "max", "max" },
        { "stdev/absolute", "std" }, { "q1", "p25" },  { "q3", "p75" },
    };
    int length = (int)(strrchr(tag, '/') - tag);
    char whole[80], name[32];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(whole, sizeof(whole), "%.*s/%s", length, tag, rows[i][0]);
        snprintf(name, sizeof(name), "summary_%s_ns", rows[i][1]);
        import_beside(b, c, name, nvbench_number(state, whole) * ns);
    }
    snprintf(whole, sizeof(whole), "%.*s/stdev/absolute", length, tag);
    if (isnan(nvbench_number(state, whole))) { /* of older versions */
        snprintf(whole, sizeof(whole), "%.*s/mean", length, tag);
        double mean = nvbench_number(state, whole);
        snprintf(whole, sizeof(whole), "%.*s/stdev/relative", length, tag);
        import_beside(b, c, "summary_std_ns", nvbench_number(state, whole) * mean * ns);
    }
    snprintf(whole, sizeof(whole), "%.*s/sample_size", (int)strcspn(tag + 3, "/") + 3, tag);
    import_beside(b, c, "summary_samples", nvbench_number(state, whole));
}

/* NVBench's own: taken, or it follows from the times, the work and the axes, or is the spread of
 * the processor's time, whose mean alone is taken. Those that end in '/' are all that begin so. */
static bool nvbench_is_known(const char *tag)
{
    static const char *const known[] = {
        "nv/cold/time/gpu/",
        "nv/cpu_only/time/cpu/",
        "nv/cold/time/cpu/",
        "nv/batch/time/gpu/mean",
        "nv/cold/bw/item_rate",
        "nv/cold/bw/global/",
        "nv/gmem/",
        "nv/element_count/",
        "nv/cold/sample_size",
        "nv/cpu_only/sample_size",
        "nv/batch/sample_size",
        "nv/cold/walltime",
        "nv/cpu_only/walltime",
        "nv/batch/walltime",
        "nv/json/bin:nv/cold/sample_times",
        "nv/json/bin:sample_times",
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t length = strlen(known[i]);
        if (known[i][length - 1] == '/' ? strncmp(known[i], tag, length) == 0
                                        : strcmp(known[i], tag) == 0)
            return true;
    }
    return false;
}

/* A benchmark may add summaries of its own, and versions do. */
static void nvbench_keep_others(struct import_build *b, const cJSON *state, struct import_case *c)
{
    const cJSON *item;
    double value;

    cJSON_ArrayForEach(item, import_member(state, "summaries"))
    {
        const char *tag = json_string(item, "tag", "");
        if (nvbench_is_known(tag))
            continue;
        if (*tag && import_value(nvbench_datum(item, "value"), &value))
            import_beside(b, c, tag, value);
        else
            import_left(b, *tag ? tag : "a summary");
    }
}

static int nvbench_read_statistic(struct nvbench *v, const cJSON *state, struct import_case *c)
{
    static const char *const tags[] = { "nv/cold/time/gpu/median", "nv/cold/time/gpu/mean",
                                        "nv/cold/time/cpu/mean", "nv/cpu_only/time/cpu/mean",
                                        "nv/batch/time/gpu/mean" };

    v->b->statistic = "the median or mean of the samples";
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        double seconds = nvbench_number(state, tags[i]);
        if (isnan(seconds))
            continue;
        nvbench_keep_summary(v->b, state, tags[i], c);
        return import_statistic(v->b, c, nvbench_summary(state, tags[i]), seconds * ns);
    }
    import_fail(c, OUTCOME_FAILED, "the file has no time for it");
    return 0;
}

static int nvbench_read_state(struct nvbench *v, const char *benchmark, const cJSON *state)
{
    double device = import_optional(state, "device");
    struct import_name name;

    if (!cJSON_IsObject(state))
        return import_refuse(v->b, state, "a state is no object");
    import_name_init(&name, benchmark);
    nvbench_read_axes(&name, state);
    if (v->devices && device >= 0 && device < 1e6)
        import_name_dim(&name, "device", (int64_t)device);
    struct import_case *c = import_case(v->b, &name);
    if (json_bool(state, "is_skipped", false)) {
        import_fail(c, OUTCOME_UNSUPPORTED, json_string(state, "skip_reason", "skipped"));
        return 0;
    }
    nvbench_read_work(v->b, state, c);
    int rc = nvbench_read_samples(v, state, c);
    if (rc == 0)
        rc = nvbench_read_statistic(v, state, c);
    nvbench_keep_others(v->b, state, c);
    return rc < 0 ? -1 : 0;
}

static int nvbench_read_benchmark(void *context, const cJSON *benchmark)
{
    struct nvbench *v = context;
    const cJSON *states, *state;
    const char *name;

    if (import_text(v->b, benchmark, "name", &name) ||
        import_list(v->b, benchmark, "states", &states))
        return -1;
    cJSON_ArrayForEach(state, states)
    {
        if (nvbench_read_state(v, name, state))
            return -1;
    }
    return 0;
}

static void nvbench_read_devices(struct nvbench *v, const cJSON *devices)
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

static int nvbench_parse(struct import_build *b)
{
    const cJSON *root = b->source.root, *benchmarks;
    const cJSON *version = import_member(import_member(root, "meta"), "version");
    struct nvbench v = { .b = b };

    b->clock = "NVBench, cold";
    if (import_list(b, root, "benchmarks", &benchmarks))
        return -1;
    nvbench_read_devices(&v, import_member(root, "devices"));
    import_fact_of(b, "tool_version", import_member(version, "nvbench"), "string");
    if (import_each(b, benchmarks, NULL, nvbench_read_benchmark, &v))
        return -1;
    if (v.unreadable)
        import_note(b, "%zu file%s with raw samples cannot be read: they belong beside the JSON",
                    v.unreadable, v.unreadable == 1 ? "" : "s");
    return 0;
}

const struct import_format_row import_nvbench = {
    .signs = { "benchmarks[].states", "meta.version.nvbench" }, .parse = nvbench_parse
};
