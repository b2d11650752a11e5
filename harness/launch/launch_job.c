/* SPDX-License-Identifier: MIT */
#include "launch/launch_job.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *case_to_json(const struct job *job, size_t i)
{
    const struct benchmark *b = &job->cases[i];
    cJSON *json = cJSON_CreateObject(), *dims;

    cJSON_AddStringToObject(json, "kernel", b->variant->kernel->name);
    cJSON_AddStringToObject(json, "variant", b->variant->name);
    cJSON_AddBoolToObject(json, "cold", b->cache == CACHE_COLD);
    if (b->cache == CACHE_ROTATE) /* an older program measures it warm, and says so in its key */
        cJSON_AddStringToObject(json, "cache", cache_state_name(b->cache));
    if (b->inputs)
        cJSON_AddStringToObject(json, "fill", b->inputs->name);
    dims = cJSON_AddArrayToObject(json, "dims");
    for (int d = 0; d < SHAPE_MAX; d++)
        cJSON_AddItemToArray(dims, cJSON_CreateNumber((double)b->shape.dim[d]));
    if (job->plant && job->plant[i] > 0)
        json_add_number(json, "plant", job->plant[i]);
    if (job->secrets)
        cJSON_AddStringToObject(json, "secret", job->secrets[i].text);
    return json;
}

static cJSON *profiling_to_json(const struct profiling *p)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "iterations", p->iterations);
    cJSON_AddStringToObject(json, "folder", p->folder);
    cJSON_AddBoolToObject(json, "activity", p->activity);
    if (p->counters)
        cJSON_AddBoolToObject(json, "counters", true);
    if (p->plant) {
        cJSON_AddStringToObject(json, "plant", p->plant);
        json_add_number(json, "plant_share", p->plant_share);
    }
    return json;
}

static bool has_guests(const struct job *job)
{
    return job->settings.guests && guests_to_be_told(job->settings.guests);
}

/* In any case, or, where `each`, of single tensors. */
static bool has_fills(const struct job *job, bool each)
{
    bool has = false;

    for (size_t i = 0; i < job->nr; i++) {
        const struct input_fill *f = job->cases[i].inputs;
        has |= f && (!each || f->kind == INPUT_EACH);
    }
    return has;
}

static void add_file(cJSON *files, const struct input_fill *f)
{
    if (f && f->kind == INPUT_FILE && !cJSON_HasObjectItem(files, f->name))
        json_add_string(files, f->name, f->path);
}

/* The files that inputs hold, each once. */
static cJSON *files_to_json(const struct job *job)
{
    cJSON *files = cJSON_CreateObject();

    for (size_t i = 0; i < job->nr; i++) {
        const struct input_fill *f = job->cases[i].inputs;
        add_file(files, f);
        for (size_t j = 0; f && j < f->nr_parts; j++)
            add_file(files, f->parts[j].fill);
    }
    return files;
}

cJSON *job_fill_tensors(const struct input_fill *f)
{
    cJSON *tensors = cJSON_CreateObject();

    for (size_t i = 0; i < f->nr_parts; i++)
        json_add_string(tensors, f->parts[i].tensor,
                        f->parts[i].fill ? f->parts[i].fill->name : "normal");
    return tensors;
}

/* Those of single tensors: { "x=zeros": { "x": "zeros" } }. */
static cJSON *each_to_json(const struct job *job)
{
    cJSON *each = cJSON_CreateObject();

    for (size_t i = 0; i < job->nr; i++) {
        const struct input_fill *f = job->cases[i].inputs;
        if (f && f->kind == INPUT_EACH && !cJSON_HasObjectItem(each, f->name))
            cJSON_AddItemToObject(each, f->name, job_fill_tensors(f));
    }
    return each;
}

/* What an older program does not know, it is not asked for. */
static int protocol_of(const struct job *job)
{
    if (has_fills(job, true))
        return LAUNCH_PROTOCOL;
    if (has_fills(job, false))
        return LAUNCH_FILLS;
    if (has_guests(job))
        return LAUNCH_GUESTS;
    return job->settings.profiling ? LAUNCH_PROFILE : LAUNCH_PLAIN;
}

char *job_print(const struct job *job)
{
    cJSON *json = cJSON_CreateObject(), *cases;
    char seed[24];

    json_add_int(json, "protocol", protocol_of(job));
    if (job->secrets)
        cJSON_AddStringToObject(json, "secret", job->secrets[job->nr].text);
    cJSON_AddStringToObject(json, "device", job->device_spec);
    snprintf(seed, sizeof(seed), "%llu", (unsigned long long)job->settings.seed);
    cJSON_AddStringToObject(json, "seed", seed);
    cJSON_AddBoolToObject(json, "verify_only", job->settings.verify_only);
    cJSON_AddBoolToObject(json, "ceilings", job->roofs);
    if (job->settings.memory_limit > 0) /* for refusing what needs more; who asks will see to it */
        json_add_int(json, "memory_limit", job->settings.memory_limit);
    cJSON_AddItemToObject(json, "sampling", sampling_to_json(&job->settings.sampling));
    if (job->settings.profiling)
        cJSON_AddItemToObject(json, "profile", profiling_to_json(job->settings.profiling));
    if (has_guests(job))
        guests_to_job(job->settings.guests, json);
    if (has_fills(job, false))
        cJSON_AddItemToObject(json, "files", files_to_json(job));
    if (has_fills(job, true))
        cJSON_AddItemToObject(json, "each", each_to_json(job));
    cases = cJSON_AddArrayToObject(json, "cases");
    for (size_t i = 0; i < job->nr; i++)
        cJSON_AddItemToArray(cases, case_to_json(job, i));
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

static int read_files(const cJSON *json, struct owned_job *out, struct error *err)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, json)
    {
        struct input_fill *f = array_push(&out->files);
        *f = (struct input_fill) { .path = NULL };
        if (!cJSON_IsString(item))
            return error_set(err, "\"files\": %s is no text", item->string);
        if (input_fill_read(f, item->valuestring, err))
            return error_prefix(err, "--fill");
        if (strcmp(f->name, item->string) != 0)
            return error_set(err, "--fill: %s has other numbers than when the run began", f->path);
    }
    return 0;
}

static const struct input_fill *find_fill(const struct owned_job *out, const char *name)
{
    for (size_t i = 0; i < out->files.nr; i++)
        if (strcmp(out->files.items[i].name, name) == 0)
            return &out->files.items[i];
    for (size_t i = 0; i < out->each.nr; i++)
        if (strcmp(out->each.items[i].name, name) == 0)
            return &out->each.items[i];
    return input_fill_find(name);
}

static int read_tensors(const cJSON *json, struct owned_job *out, struct input_fill *f,
                        struct error *err)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, json)
    {
        const char *name = cJSON_IsString(item) ? item->valuestring : "";
        const struct input_fill *fill = find_fill(out, name);
        if ((!fill && strcmp(name, "normal") != 0) || (fill && fill->kind == INPUT_EACH))
            return error_set(err, "no inputs are called \"%s\"", name);
        if (input_fill_add(f, item->string, fill, err))
            return -1;
    }
    return strcmp(f->name, json->string) == 0 ? 0 : error_set(err, "is called \"%s\"", f->name);
}

/* Behind the files. */
static int read_each(const cJSON *json, struct owned_job *out, struct error *err)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, json)
    {
        struct input_fill *f = array_push(&out->each);
        *f = (struct input_fill) { .kind = INPUT_EACH };
        if (read_tensors(item, out, f, err))
            return error_prefix(err, "\"each\": %s", item->string);
    }
    return 0;
}

/* The last case of `out`. A variant that is not here costs that case alone: another program, built
 * from another commit, may ask for it. */
static int read_case(const cJSON *json, const struct registry *registry, struct owned_job *out,
                     struct error *err)
{
    size_t last = out->job.nr - 1;
    struct benchmark *b = &out->cases[last];
    const cJSON *dims = cJSON_GetObjectItemCaseSensitive(json, "dims");
    const char *kernel, *variant;

    if (json_get_string(json, "kernel", &kernel, err) ||
        json_get_string(json, "variant", &variant, err))
        return -1;
    *b = (struct benchmark) { .variant = registry_variant(registry, kernel, variant) };
    if (!b->variant) {
        struct strbuf name;
        strbuf_init(&name);
        strbuf_addf(&name, "%s/%s", kernel, variant);
        out->lacks[last] = strbuf_detach(&name);
    }
    out->plant[last] = json_number(json, "plant", 0);
    if (out->job.secrets && !job_secret(json, &out->secrets[last]))
        return error_set(err, "%s/%s: there is no secret", kernel, variant);
    const char *fill = json_string(json, "fill", "");
    b->inputs = find_fill(out, fill);
    if (*fill && !b->inputs)
        return error_set(err, "%s/%s: no inputs are called \"%s\"", kernel, variant, fill);
    int cache = cache_state_find(json_string(json, "cache", ""));
    b->cache = json_bool(json, "cold", false) ? CACHE_COLD
               : cache < 0                    ? CACHE_WARM
                                              : (enum cache_state)cache;
    for (int i = 0; i < SHAPE_MAX; i++) {
        const cJSON *dim = cJSON_GetArrayItem(dims, i);
        double size = cJSON_IsNumber(dim) ? dim->valuedouble : 0;
        if (!(size >= 0 && size <= DIM_LIMIT))
            return error_set(err, "%s/%s: a dim is no size from 0 to %d", kernel, variant,
                             DIM_LIMIT);
        b->shape.dim[i] = (int64_t)size;
    }
    return 0;
}

static int read_profiling(const cJSON *json, struct owned_job *out, struct error *err)
{
    enum { MOST = 1000000 };
    int64_t iterations;
    const char *folder;

    if (json_get_int(json, "iterations", &iterations, err) ||
        json_get_string(json, "folder", &folder, err))
        return error_prefix(err, "profile");
    if (iterations < 1 || iterations > MOST)
        return error_set(err, "profile: \"iterations\" must be 1 to %d", MOST);
    out->folder = memory_string(folder);
    out->profiling = (struct profiling) { .iterations = (int)iterations,
                                          .folder = out->folder,
                                          .activity = json_bool(json, "activity", false),
                                          .counters = json_bool(json, "counters", false) };
    if (cJSON_GetObjectItemCaseSensitive(json, "plant")) {
        const char *plant;
        if (json_get_string(json, "plant", &plant, err))
            return error_prefix(err, "profile");
        out->profiling.plant = out->planted = memory_string(plant);
        out->profiling.plant_share = json_number(json, "plant_share", 0);
    }
    out->job.settings.profiling = &out->profiling;
    return 0;
}

static int check_protocol(const cJSON *json, struct error *err)
{
    int64_t asked = json_int(json, "protocol", 1); /* the first one did not tell its number */

    if (asked >= 1 && asked <= LAUNCH_PROTOCOL)
        return 0;
    return error_set(err,
                     "this program understands jobs of protocol %d and older, this one is of "
                     "protocol %lld: use a newer program to measure with, or an older one to "
                     "start it",
                     LAUNCH_PROTOCOL, (long long)asked);
}

static int read_job(const cJSON *json, const struct registry *registry, struct owned_job *out,
                    struct error *err)
{
    const cJSON *cases = cJSON_GetObjectItemCaseSensitive(json, "cases"), *item;
    const cJSON *sampling = cJSON_GetObjectItemCaseSensitive(json, "sampling");
    const cJSON *profile = cJSON_GetObjectItemCaseSensitive(json, "profile");
    struct job *job = &out->job;
    const char *device, *seed;

    if (check_protocol(json, err) || json_get_string(json, "device", &device, err) ||
        json_get_string(json, "seed", &seed, err) ||
        sampling_from_json(sampling, &job->settings.sampling, err) ||
        (profile && read_profiling(profile, out, err)) ||
        read_files(cJSON_GetObjectItemCaseSensitive(json, "files"), out, err) ||
        read_each(cJSON_GetObjectItemCaseSensitive(json, "each"), out, err) ||
        guests_from_job(&out->guests, registry, json, err))
        return -1;
    job->settings.guests = &out->guests;
    snprintf(out->device_spec, sizeof(out->device_spec), "%s", device);
    job->device_spec = out->device_spec;
    job->settings.seed = strtoull(seed, NULL, 10);
    job->settings.memory_limit = json_int(json, "memory_limit", 0);
    job->settings.verify_only = json_bool(json, "verify_only", false);
    job->roofs = json_bool(json, "ceilings", false);
    size_t nr = (size_t)cJSON_GetArraySize(cases) + 1;
    out->cases = memory_zeroed(nr, sizeof(*out->cases));
    out->lacks = memory_zeroed(nr, sizeof(*out->lacks));
    out->plant = memory_zeroed(nr, sizeof(*out->plant));
    out->secrets = memory_zeroed(nr, sizeof(*out->secrets));
    job->cases = out->cases;
    job->plant = out->plant;
    job->secrets = job_secret(json, &out->secrets[nr - 1]) ? out->secrets : NULL;
    cJSON_ArrayForEach(item, cases)
    {
        job->nr++;
        if (read_case(item, &out->guests.all, out, err))
            return -1;
    }
    return 0;
}

bool job_secret(const cJSON *json, struct launch_secret *secret)
{
    const char *text = json_string(json, "secret", "");

    if (strlen(text) != sizeof(secret->text) - 1)
        return false;
    memcpy(secret->text, text, sizeof(secret->text));
    return true;
}

int job_from_json(const cJSON *json, const struct registry *registry, struct owned_job *out,
                  struct error *err)
{
    *out = (struct owned_job) { .job.settings.sampling = sampling_default };
    return read_job(json, registry, out, err);
}

int job_parse(const char *text, size_t length, const struct registry *registry,
              struct owned_job *out, struct error *err)
{
    cJSON *json = json_parse(text, length, "job", err);

    *out = (struct owned_job) { .device_spec = "" };
    int rc = json ? job_from_json(json, registry, out, err) : -1;
    cJSON_Delete(json);
    return rc;
}

void job_release(struct owned_job *job)
{
    for (size_t i = 0; i < job->job.nr; i++)
        free(job->lacks[i]);
    free(job->lacks);
    free(job->plant);
    free(job->secrets);
    free(job->folder);
    free(job->planted);
    free(job->cases);
    for (size_t i = 0; i < job->files.nr; i++)
        input_fill_release(&job->files.items[i]);
    array_release(&job->files);
    for (size_t i = 0; i < job->each.nr; i++)
        input_fill_release(&job->each.items[i]);
    array_release(&job->each);
    guests_close(&job->guests);
    *job = (struct owned_job) { 0 };
}
