/* SPDX-License-Identifier: MIT */
/* The child's side of a launch. */
#include "base/json.h"
#include "base/strbuf.h"
#include "measure/ceilings.h"
#include "measure/environment.h"
#include "measure/launch_job.h"

#include <errno.h>
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

static int serve_case(const struct job *job, size_t i, struct device *device,
                      const struct nvml *gpu, struct error *err)
{
    struct case_settings settings = job->settings;
    struct measurement m;
    cJSON *begin = cJSON_CreateObject(), *end = cJSON_CreateObject();

    json_add_int(begin, "begin", (int64_t)i);
    if (report(begin, err)) {
        cJSON_Delete(end);
        return -1;
    }
    settings.seed += i * 0x2545f4914f6cdd1dU;
    settings.gpu = gpu;
    case_measure(&job->cases[i], device, &settings, &m);
    json_add_int(end, "end", (int64_t)i);
    cJSON_AddItemToObject(end, "measurement", measurement_to_json(&m));
    measurement_release(&m);
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
static int serve_cases(const struct job *job, struct device *device, struct error *err)
{
    struct error why; /* why there is no telemetry of the GPU: then it is absent */
    struct nvml *gpu = device->pci[0] ? nvml_open(device->pci, &why) : NULL;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < job->nr; i++) {
        rc = serve_case(job, i, device, gpu, err);
        if (rc == 0 && device->broken && i + 1 < job->nr)
            rc = error_set(err, "the device is unusable after a fault; a new process goes on");
    }
    nvml_close(gpu);
    return rc;
}

static int serve(const struct job *job, struct error *err)
{
    struct device device;

    if (device_open(&device, job->device_spec, err))
        return -1;
    int rc = device_start(&device, err);
    if (rc == 0)
        rc = job->ceilings ? serve_ceilings(&device, err) : serve_cases(job, &device, err);
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

    strbuf_init(&text);
    read_all(&text);
    int rc = job_parse(text.data, text.length, registry, &owned, err);
    if (rc == 0)
        rc = serve(&owned.job, err);
    job_release(&owned);
    strbuf_release(&text);
    return rc;
}
