/* SPDX-License-Identifier: MIT */
#include "plugin/python_run.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "core/clock.h"
#include "core/record.h"
#include "host/host_cache.h"
#include "plugin/python_process.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls of nothing that tell what a call costs: the least of some rounds. */
enum { EMPTY_ROUNDS = 7, EMPTY_CALLS = 5000 };

/* Copies have no process of their own: they are calls of the first one's. */
struct python_state {
    struct python_process process;
    struct python_state *first; /* this, or whose copy it is */
    unsigned number;            /* among the copies, the first is 0 */
    unsigned copies;            /* of the first: how many there are beside it */
    int lent;                   /* of the first: the file in which they lie; -1: none yet */
};

/* ---- what it is told ---- */

static const char *role_name(enum tensor_role role)
{
    static const char *const names[] = {
        [TENSOR_IN] = "in",
        [TENSOR_OUT] = "out",
        [TENSOR_INOUT] = "inout",
        [TENSOR_WEIGHT] = "in",
    };

    return names[role];
}

cJSON *python_tensor(const struct tensor *t)
{
    cJSON *json = cJSON_CreateObject(), *extents = cJSON_AddArrayToObject(json, "extents");

    cJSON_AddStringToObject(json, "name", t->name);
    cJSON_AddStringToObject(json, "role", role_name(t->role));
    cJSON_AddStringToObject(json, "dtype", dtype_name(t->dtype));
    for (int i = 0; i < t->rank; i++)
        cJSON_AddItemToArray(extents, cJSON_CreateNumber((double)t->extent[i]));
    return json;
}

cJSON *python_job(const struct python_function *f, const struct kernel *k, const struct shape *s,
                  int threads)
{
    cJSON *json = cJSON_CreateObject(), *dims;

    cJSON_AddStringToObject(json, "path", f->file->path);
    cJSON_AddStringToObject(json, "function", f->function);
    cJSON_AddStringToObject(json, "kernel", k->name);
    json_add_int(json, "threads", threads > 0 ? threads : 1);
    dims = cJSON_AddObjectToObject(json, "dims");
    for (int i = 0; i < kernel_nr_dims(k); i++)
        json_add_int(dims, k->dims[i], s->dim[i]);
    return json;
}

static int not_shared(const struct tensor *t, struct error *err)
{
    return error_set(err, "tensor %s is not in memory that another process can be given", t->name);
}

static int add_tensors(const struct call *call, cJSON *json, int *files, struct error *err)
{
    cJSON *tensors = cJSON_AddArrayToObject(json, "tensors");
    struct device_file file;

    for (int i = 0; i < call->nr_tensors; i++) {
        const struct tensor *t = &call->tensor[i];
        if (!device_shared(call->device, t->data, &file))
            return not_shared(t, err);
        files[i] = file.fd;
        cJSON *one = python_tensor(t);
        json_add_int(one, "file", PYTHON_FILES + i);
        json_add_int(one, "offset", (int64_t)file.offset);
        json_add_int(one, "whole", (int64_t)file.whole);
        cJSON_AddItemToArray(tensors, one);
    }
    return 0;
}

static char *describe_call(const struct call *call, int *files, struct error *err)
{
    cJSON *json =
        python_job(call->variant->config, call->kernel, &call->shape, call->device->threads);
    char *text = NULL;

    json_add_int(json, "flush_bytes", (int64_t)host_cache_flush_bytes(1));
    if (add_tensors(call, json, files, err) == 0)
        text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

/* ---- the callbacks ---- */

static int begin_python(struct python_state *s, const struct call *call, struct error *err)
{
    const struct python_function *f = call->variant->config;
    int files[TENSOR_MAX];
    char *job = describe_call(call, files, err);
    const char *answer;

    if (!job)
        return -1;
    s->first = s;
    s->lent = -1;
    int rc =
        python_process_start(&s->process, f->interpreter, files, (size_t)call->nr_tensors, err);
    if (rc == 0)
        rc = python_process_ask(&s->process, job, &answer, err);
    free(job);
    if (rc)
        python_process_stop(&s->process);
    return rc;
}

/* The file in which copies lie. */
static int lend_memory(struct python_state *first, const struct device_file *file,
                       struct error *err)
{
    const char *answer;
    char line[40];

    if (file->fd == first->lent)
        return 0;
    snprintf(line, sizeof(line), "memory %zu", file->whole);
    if (python_process_hand(&first->process, line, file->fd, &answer, err))
        return -1;
    first->lent = file->fd;
    return 0;
}

static int tell_copy(struct python_state *first, const struct call *call, struct strbuf *line,
                     struct error *err)
{
    struct device_file file;
    const char *answer;

    strbuf_addf(line, "copy");
    for (int i = 0; i < call->nr_tensors; i++) {
        if (!device_shared(call->device, call->tensor[i].data, &file))
            return not_shared(&call->tensor[i], err);
        if (lend_memory(first, &file, err))
            return -1;
        strbuf_addf(line, " %zu", file.offset);
    }
    return python_process_ask(&first->process, line->data, &answer, err);
}

static int begin_copy(struct python_state *s, const struct call *call, struct error *err)
{
    struct strbuf line;

    s->first = call->first->state;
    strbuf_init(&line);
    int rc = tell_copy(s->first, call, &line, err);
    strbuf_release(&line);
    if (rc == 0)
        s->number = ++s->first->copies;
    return rc;
}

int python_prepare(struct call *call, struct error *err)
{
    const struct python_function *f = call->variant->config;
    struct python_state *s;

    if (!f->interpreter) {
        error_set(err, "%s", f->missing);
        return CALL_UNSUPPORTED;
    }
    s = memory_zeroed(1, sizeof(*s));
    int rc = call->first ? begin_copy(s, call, err) : begin_python(s, call, err);
    if (rc == 0)
        call->state = s;
    else
        free(s);
    return rc;
}

/* The two clocks are one: what it says to have taken lies within what it took to be told. */
static int time_of(const char *answer, uint64_t asked, uint64_t *ns, struct error *err)
{
    uint64_t start, end, now = clock_ns();

    if (sscanf(answer, "%" SCNu64 " %" SCNu64, &start, &end) != 2)
        return error_set(err, "Python says \"%.40s\" in place of two times", answer);
    if (asked > start || start > end || end > now)
        return error_set(err,
                         "Python's clock goes wrong: a call that was asked for at %" PRIu64
                         " and answered at %" PRIu64 " lasted from %" PRIu64 " to %" PRIu64
                         "; it looks so where a file writes to descriptor %d, which is not its own",
                         asked, now, start, end, PYTHON_CHANNEL);
    *ns = end - start;
    return 0;
}

static int ask_times(struct python_state *s, const char *verb, unsigned times, uint64_t *ns,
                     struct error *err)
{
    struct python_process *process = &s->first->process;
    char line[48];
    const char *answer;

    snprintf(line, sizeof(line), "%s %u %u", verb, times, s->number);
    uint64_t asked = clock_ns();
    if (python_process_ask(process, line, &answer, err))
        return -1;
    return time_of(answer, asked, ns, err);
}

int python_repeat(const struct call *call, unsigned times, uint64_t *ns, struct error *err)
{
    uint64_t ignored;

    if (!ns)
        return ask_times(call->state, "once", times, &ignored, err);
    return ask_times(call->state, call->cold ? "cold" : "run", times, ns, err);
}

void python_facts(const struct call *call, struct measurement *m)
{
    struct python_state *s = call->state;
    struct error ignored; /* a fact that cannot be had is absent */
    double least = INFINITY;
    const char *answer;
    char path[64];
    int64_t kib;
    uint64_t ns;

    for (int i = 0; i < EMPTY_ROUNDS; i++)
        if (ask_times(s, "empty", EMPTY_CALLS, &ns, &ignored) == 0)
            least = fmin(least, (double)ns / EMPTY_CALLS);
    if (isfinite(least))
        measurement_add_telemetry(m, TELEMETRY_EMPTY_CALL, least);
    if (python_process_ask(&s->process, "finish 1", &answer, &ignored) == 0 && *answer == '1')
        measurement_add_telemetry(m, TELEMETRY_COPY_TIMED, 1);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)s->process.pid);
    double flush = call->cold ? (double)host_cache_flush_bytes(1) : 0;
    if (file_field(path, "VmHWM", &kib))
        measurement_add_telemetry(m, "peak_rss_bytes", 1024 * (double)kib - flush);
}

void python_release(struct call *call)
{
    struct python_state *s = call->state;

    if (s->first == s)
        python_process_stop(&s->process);
    free(s);
    call->state = NULL;
}
