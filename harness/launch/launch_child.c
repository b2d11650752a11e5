/* SPDX-License-Identifier: MIT */
/* The child's side of a launch. */
#include "base/file.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "device/devices.h"
#include "device/memory_placement.h"
#include "host/thread_pinning.h"
#include "host/thread_team.h"
#include "launch/launch_job.h"
#include "machine/environment.h"
#include "machine/measured_roofs.h"
#include "process/counters.h"
#include "process/descriptors.h"
#include "process/process_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the parent hears: a descriptor that nobody else has, and what each line begins with. */
struct channel {
    int fd;
    const struct launch_secret *secrets; /* as in struct job; NULL: a parent that knows none */
    size_t nr;                           /* cases */
};

/* One line to the parent, of a case or of the process. Takes the tree. */
static int report(const struct channel *channel, size_t which, cJSON *json, struct error *err)
{
    const struct launch_secret *secrets = channel->secrets;
    char *text = cJSON_PrintUnformatted(json);
    struct strbuf line;
    size_t sent = 0;

    cJSON_Delete(json);
    strbuf_init(&line);
    strbuf_addf(&line, "%s%s%s\n", secrets ? secrets[which].text : "", secrets ? " " : "", text);
    free(text);
    while (sent < line.length) {
        ssize_t nr = write(channel->fd, line.data + sent, line.length - sent);
        if (nr < 0 && errno != EINTR)
            break;
        sent += nr > 0 ? (size_t)nr : 0;
    }
    bool told = sent == line.length;
    strbuf_release(&line);
    return told ? 0 : error_set(err, "cannot report to the parent: %s", strerror(errno));
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

struct pulse {
    const struct channel *channel;
    size_t which;
};

/* A program may take as long as a whole case of kernels, each time that it is run. */
static void tell_alive(void *context)
{
    const struct pulse *pulse = context;
    cJSON *json = cJSON_CreateObject();
    struct error ignored; /* a parent that is gone ends this process by itself */

    json_add_int(json, "alive", (int64_t)pulse->which);
    report(pulse->channel, pulse->which, json, &ignored);
}

/* The measurement, and of a profiled case its operations, go into `end`. */
static void measure_case(const struct job *job, size_t i, struct device *device,
                         const struct nvml *gpu, const struct channel *channel, cJSON *end)
{
    struct case_settings settings = job->settings;
    struct pulse pulse = { channel, i };
    struct profiled profiled = { 0 };
    struct measurement m;

    settings.seed = case_seed(settings.seed, &job->cases[i]);
    settings.plant = job->plant[i];
    settings.gpu = gpu;
    settings.alive = device->kind == DEVICE_PROCESS ? tell_alive : NULL;
    settings.alive_context = &pulse;
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

/* What a case has started and left behind ends with it: it might disturb the next one, or speak in
 * its time. All of it is below the guard (process/process_group.h), which an older parent is not.
 */
static void end_leftovers(const struct channel *channel)
{
    if (!channel->secrets)
        return;
    process_tree_kill(getppid());
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

static int serve_case(const struct owned_job *job, size_t i, struct device *device,
                      const struct nvml *gpu, const struct channel *channel, struct error *err)
{
    cJSON *begin = cJSON_CreateObject();

    json_add_int(begin, "begin", (int64_t)i);
    if (report(channel, i, begin, err))
        return -1;
    cJSON *end = cJSON_CreateObject();
    json_add_int(end, "end", (int64_t)i);
    if (job->lacks[i])
        cJSON_AddStringToObject(end, "lacks", job->lacks[i]);
    else
        measure_case(&job->job, i, device, gpu, channel, end);
    end_leftovers(channel);
    return report(channel, i, end, err);
}

static int serve_roofs(struct device *device, const struct channel *channel, struct error *err)
{
    struct roof roofs[ROOFS_MAX];
    struct machine machine;
    cJSON *json = cJSON_CreateObject(), *array = cJSON_AddArrayToObject(json, "ceilings");

    int nr = environment_machine(&machine, err) ? -1 : roofs_measure(device, &machine, roofs, err);
    if (nr < 0) {
        cJSON_Delete(json);
        return -1;
    }
    for (int i = 0; i < nr; i++)
        cJSON_AddItemToArray(array, roof_to_json(&roofs[i]));
    return report(channel, channel->nr, json, err);
}

/* Stops behind a case that broke the device, which is FAILED then: the parent starts a process anew
 * for what is left. */
static int serve_cases(const struct owned_job *job, struct device *device,
                       const struct channel *channel, struct error *err)
{
    struct error why; /* why there is no telemetry of the GPU: then it is absent */
    struct nvml *gpu = device->pci[0] ? nvml_open(device->pci, &why) : NULL;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < job->job.nr; i++) {
        rc = serve_case(job, i, device, gpu, channel, err);
        if (rc == 0 && device->broken && i + 1 < job->job.nr)
            rc = error_set(err, "the device is unusable after a fault; a new process goes on");
    }
    nvml_close(gpu);
    return rc;
}

static int serve(const struct owned_job *owned, const struct channel *channel, struct error *err)
{
    const struct job *job = &owned->job;
    struct device device;

    if (device_open(&device, job->device_spec, err))
        return -1;
    int rc = thread_team_check(device.threads, err) || device_start(&device, err) ? -1 : 0;
    pin_threads(device.threads);
    if (rc == 0)
        rc = job->roofs ? serve_roofs(&device, channel, err)
                        : serve_cases(owned, &device, channel, err);
    device_close(&device);
    return rc;
}

static int read_all(struct strbuf *text, struct error *err)
{
    char block[16384];
    ssize_t nr;

    while ((nr = read(STDIN_FILENO, block, sizeof(block))) != 0) {
        if (nr < 0 && errno == EINTR)
            continue;
        if (nr < 0)
            return error_set(err, "cannot read the job: %s", strerror(errno));
        strbuf_add(text, block, (size_t)nr);
        if (text->length > JOB_MAX)
            return error_set(err, "a job is at most %d bytes: measure less at a time", JOB_MAX);
    }
    return 0;
}

/* Before any code of a guest is loaded. */
static int say_hello(const struct channel *channel, const cJSON *json, struct error *err)
{
    struct launch_secret secret;
    struct channel own = { .fd = channel->fd, .secrets = &secret };
    cJSON *hello = cJSON_CreateObject();

    if (!job_secret(json, &secret)) { /* a parent that is older */
        cJSON_Delete(hello);
        return 0;
    }
    json_add_int(hello, "hello", 1);
    return report(&own, 0, hello, err);
}

/* Who may look into this process's memory finds the secrets there, and its descriptors: no program
 * of the same user may, as this one executes nobody's code. But where /proc hides what one may not
 * look into, the parent would not see it either. */
static void keep_to_oneself(void)
{
    size_t length;
    struct error ignored;
    char *mounts = file_read("/proc/mounts", FILE_RECORDS_MOST, &length, &ignored);

    if (mounts && !strstr(mounts, "hidepid="))
        prctl(PR_SET_DUMPABLE, 0);
    descriptors_close_on_exec(STDERR_FILENO + 1); /* what libraries have opened, too */
    free(mounts);
}

static int serve_job(const cJSON *json, const struct registry *registry, struct channel *channel,
                     struct error *err)
{
    struct owned_job owned = { .device_spec = "" };
    struct error why; /* nothing can be counted here: then counts are absent */

    if (say_hello(channel, json, err))
        return -1;
    int rc = job_from_json(json, registry, &owned, err);
    channel->secrets = owned.job.secrets;
    channel->nr = owned.job.nr;
    if (guests_run_apart(&owned.guests))
        keep_to_oneself();
    /* Before the threads of the device, so that these are counted, too. */
    if (rc == 0 && device_kind_of(owned.job.device_spec) == DEVICE_CPU)
        owned.job.settings.counters = counters_open(COUNT_THREADS, NULL, &why);
    if (rc == 0)
        rc = serve(&owned, channel, err);
    counters_close(owned.job.settings.counters);
    job_release(&owned);
    return rc;
}

int launch_serve(const struct registry *registry, struct error *err)
{
    void *first = placement_take();
    struct channel channel = { .fd = descriptors_hide(LAUNCH_FD) };
    struct strbuf text;
    cJSON *json = NULL;
    int rc = -1;

    strbuf_init(&text);
    if (channel.fd < 0)
        error_set(err, "there is no descriptor %d to report to", LAUNCH_FD);
    else if (read_all(&text, err) == 0)
        json = json_parse(text.data, text.length, "job", err);
    strbuf_release(&text);
    descriptors_empty(STDIN_FILENO);
    if (json)
        rc = serve_job(json, registry, &channel, err);
    cJSON_Delete(json);
    free(first);
    return rc;
}
