/* SPDX-License-Identifier: MIT */
/* The child's side of a launch. */
#include "base/json.h"
#include "base/strbuf.h"
#include "core/spread.h"
#include "measure/ceilings.h"
#include "measure/environment.h"
#include "measure/launch_job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line to the parent. Takes the tree. */
static int report(cJSON *json, struct error *err)
{
    char *text = cJSON_PrintUnformatted(json);
    size_t length = strlen(text), sent = 0;

    cJSON_Delete(json);
    text[length++] = '\n'; /* in the NUL's place */
    while (sent < length) {
        ssize_t nr = write(LAUNCH_FD, text + sent, length - sent);
        if (nr < 0 && errno != EINTR)
            break;
        sent += nr > 0 ? (size_t)nr : 0;
    }
    free(text);
    return sent == length ? 0 : error_set(err, "cannot report to the parent: %s", strerror(errno));
}

/* The case's own seed: the same inputs for a kernel and its sizes in all jobs of one seed, whatever
 * else is in the job and in what order. FNV-1a (Fowler, Noll, Vo). */
static uint64_t case_seed(uint64_t seed, const struct benchmark *b)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (const char *p = b->variant->kernel->name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3U;
    for (int i = 0; i < SHAPE_MAX; i++)
        hash = (hash ^ (uint64_t)b->shape.dim[i]) * 0x100000001b3U;
    return seed + hash;
}

/* A program may take as long as a whole case of kernels, each time that it is run. */
static void tell_alive(void *context)
{
    const size_t *which = context;
    cJSON *json = cJSON_CreateObject();
    struct error ignored; /* a parent that is gone ends this process by itself */

    json_add_int(json, "alive", (int64_t)*which);
    report(json, &ignored);
}

/* The measurement, and of a profiled case its operations, go into `end`. */
static void measure_case(const struct job *job, size_t i, struct device *device,
                         const struct nvml *gpu, cJSON *end)
{
    struct case_settings settings = job->settings;
    struct profiled profiled = { 0 };
    struct measurement m;

    settings.seed = case_seed(settings.seed, &job->cases[i]);
    settings.plant = job->plant[i];
    settings.gpu = gpu;
    settings.alive = device->kind == DEVICE_PROCESS ? tell_alive : NULL;
    settings.alive_context = &i;
    settings.profiled = &profiled;
    case_measure(&job->cases[i], device, &settings, &m);
    cJSON_AddItemToObject(end, "measurement", measurement_to_json(&m));
    cJSON *operations = settings.profiling ? cJSON_AddArrayToObject(end, "operations") : NULL;
    for (size_t o = 0; m.outcome == OUTCOME_OK && o < profiled.nr; o++) {
        struct measurement one;
        profiled_measurement(&profiled, o, &m, &one);
        cJSON_AddItemToArray(operations, measurement_to_json(&one));
        measurement_release(&one);
    }
    profiled_release(&profiled);
    measurement_release(&m);
}

static int serve_case(const struct owned_job *job, size_t i, struct device *device,
                      const struct nvml *gpu, struct error *err)
{
    cJSON *begin = cJSON_CreateObject();

    json_add_int(begin, "begin", (int64_t)i);
    if (report(begin, err))
        return -1;
    cJSON *end = cJSON_CreateObject();
    json_add_int(end, "end", (int64_t)i);
    if (job->lacks[i])
        cJSON_AddStringToObject(end, "lacks", job->lacks[i]);
    else
        measure_case(&job->job, i, device, gpu, end);
    return report(end, err);
}

static int serve_ceilings(struct device *device, struct error *err)
{
    struct ceiling ceilings[CEILINGS_MAX];
    struct machine machine;
    cJSON *json = cJSON_CreateObject(), *array = cJSON_AddArrayToObject(json, "ceilings");

    environment_machine(&machine);
    int nr = ceilings_measure(device, &machine, ceilings, err);
    if (nr < 0) {
        cJSON_Delete(json);
        return -1;
    }
    for (int i = 0; i < nr; i++)
        cJSON_AddItemToArray(array, ceiling_to_json(&ceilings[i]));
    return report(json, err);
}

/* Stops behind a case that broke the device, which is FAILED then: the parent starts a process anew
 * for what is left. */
static int serve_cases(const struct owned_job *job, struct device *device, struct error *err)
{
    struct error why; /* why there is no telemetry of the GPU: then it is absent */
    struct nvml *gpu = device->pci[0] ? nvml_open(device->pci, &why) : NULL;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < job->job.nr; i++) {
        rc = serve_case(job, i, device, gpu, err);
        if (rc == 0 && device->broken && i + 1 < job->job.nr)
            rc = error_set(err, "the device is unusable after a fault; a new process goes on");
    }
    nvml_close(gpu);
    return rc;
}

static int serve(const struct owned_job *owned, struct error *err)
{
    const struct job *job = &owned->job;
    struct device device;

    if (device_open(&device, job->device_spec, err))
        return -1;
    int rc = device_start(&device, err);
    spread_threads(device.threads);
    if (rc == 0)
        rc = job->ceilings ? serve_ceilings(&device, err) : serve_cases(owned, &device, err);
    device_close(&device);
    return rc;
}

static void read_all(struct strbuf *text)
{
    char block[65536];
    size_t nr;

    while ((nr = fread(block, 1, sizeof(block), stdin)) > 0)
        strbuf_add(text, block, nr);
}

int launch_serve(const struct registry *registry, struct error *err)
{
    struct strbuf text;
    struct owned_job owned;

    fcntl(LAUNCH_FD, F_SETFD, FD_CLOEXEC); /* what a case starts has no business with it */
    strbuf_init(&text);
    read_all(&text);
    int rc = job_parse(text.data, text.length, registry, &owned, err);
    if (rc == 0)
        rc = serve(&owned, err);
    job_release(&owned);
    strbuf_release(&text);
    return rc;
}
