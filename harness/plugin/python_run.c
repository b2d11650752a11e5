/* SPDX-License-Identifier: MIT */
#include "plugin/python_run.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "core/clock.h"
#include "core/device_block.h"
#include "core/device_label.h"
#include "core/record.h"
#include "device/devices.h"
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
    const void *lent;           /* of the first: the block in which they lie; NULL: none yet */
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

/* Where a tensor lies: in a file that both processes map, of so many bytes, or in a block of the
 * device, which this one lends. */
struct place {
    const struct device_block *block;
    size_t offset, whole;
};

static bool is_file(const struct place *p)
{
    return p->block->file.fd >= 0;
}

static int not_shared(const struct tensor *t, struct error *err)
{
    return error_set(err, "tensor %s is not in memory that another process can be given", t->name);
}

static int find_place(const struct call *call, int i, struct place *p, struct error *err)
{
    const struct tensor *t = &call->tensor[i];
    const struct device_block *b = device_block_of(call->device, t->data);

    if (!b || (b->file.fd < 0 && !call->device->ops->own_memory))
        return not_shared(t, err);
    size_t inside = (size_t)((const char *)t->data - (const char *)b->memory);
    *p = (struct place) { b, b->file.offset + inside, b->file.fd < 0 ? b->bytes : b->file.whole };
    return 0;
}

static int lend_block(const struct call *call, const struct device_block *block,
                      char text[DEVICE_HANDLE_TEXT_SIZE], struct error *err)
{
    const struct device_lending *lending = device_lending_of(call->device->kind);
    struct device_handle handle = { { 0 } };

    if (lending->lend(call->device, block->memory, &handle, err))
        return error_prefix(err, "memory for another process");
    device_handle_text(&handle, text);
    return 0;
}

static int add_device(const struct call *call, const struct place *p, cJSON *json,
                      struct error *err)
{
    char text[DEVICE_HANDLE_TEXT_SIZE];
    cJSON *device = cJSON_AddObjectToObject(json, "device");

    if (lend_block(call, p->block, text, err))
        return -1;
    cJSON_AddStringToObject(device, "kind", device_kind_name(call->device->kind));
    json_add_int(device, "index", call->device->index);
    cJSON_AddStringToObject(device, "memory", text);
    json_add_int(device, "whole", (int64_t)p->whole);
    return 0;
}

/* Its files, where these are such: the tensors of a device lie in one block. */
static int add_tensors(const struct call *call, cJSON *json, int *files, size_t *nr_files,
                       struct error *err)
{
    cJSON *tensors = cJSON_AddArrayToObject(json, "tensors");
    const struct device_block *lent = NULL;
    struct place p;

    *nr_files = 0;
    for (int i = 0; i < call->nr_tensors; i++) {
        if (find_place(call, i, &p, err))
            return -1;
        if (!is_file(&p) && !lent && add_device(call, &p, json, err))
            return -1;
        if (lent && p.block != lent)
            return not_shared(&call->tensor[i], err);
        lent = is_file(&p) ? NULL : p.block;
        cJSON *one = python_tensor(&call->tensor[i]);
        json_add_int(one, "offset", (int64_t)p.offset);
        if (is_file(&p)) {
            json_add_int(one, "file", PYTHON_FILES + i);
            json_add_int(one, "whole", (int64_t)p.whole);
            files[(*nr_files)++] = p.block->file.fd;
        }
        cJSON_AddItemToArray(tensors, one);
    }
    return 0;
}

static char *describe_call(const struct call *call, int *files, size_t *nr_files, struct error *err)
{
    cJSON *json =
        python_job(call->variant->config, call->kernel, &call->shape, call->device->threads);
    char *text = NULL;

    json_add_int(json, "flush_bytes", (int64_t)host_cache_flush_bytes(1));
    if (add_tensors(call, json, files, nr_files, err) == 0)
        text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

/* ---- the callbacks ---- */

static int begin_python(struct python_state *s, const struct call *call, struct error *err)
{
    const struct python_function *f = call->variant->config;
    int files[TENSOR_MAX];
    size_t nr_files;
    char *job = describe_call(call, files, &nr_files, err);
    const char *answer;

    if (!job)
        return -1;
    s->first = s;
    int rc = python_process_start(&s->process, f->interpreter, files, nr_files, err);
    if (rc == 0)
        rc = python_process_ask(&s->process, job, &answer, err);
    free(job);
    if (rc)
        python_process_stop(&s->process);
    return rc;
}

/* What copies lie in. */
static int give_memory(struct python_state *first, const struct call *call, const struct place *p,
                       struct error *err)
{
    char line[40 + DEVICE_HANDLE_TEXT_SIZE], text[DEVICE_HANDLE_TEXT_SIZE] = "";
    const char *answer;

    if (p->block->memory == first->lent)
        return 0;
    if (!is_file(p) && lend_block(call, p->block, text, err))
        return -1;
    snprintf(line, sizeof(line), "memory %zu%s%s", p->whole, *text ? " 0x" : "", text);
    if (python_process_hand(&first->process, line, p->block->file.fd, &answer, err))
        return -1;
    first->lent = p->block->memory;
    return 0;
}

static int tell_copy(struct python_state *first, const struct call *call, struct strbuf *line,
                     struct error *err)
{
    const char *answer;
    struct place p;

    strbuf_addf(line, "copy");
    for (int i = 0; i < call->nr_tensors; i++) {
        if (find_place(call, i, &p, err) || give_memory(first, call, &p, err))
            return -1;
        strbuf_addf(line, " %zu", p.offset);
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

/* A device's caches are emptied from here. */
static bool empties_caches(const struct call *call)
{
    return call->cold && !call->device->ops->own_memory;
}

int python_repeat(const struct call *call, unsigned times, uint64_t *ns, struct error *err)
{
    uint64_t ignored;

    if (!ns)
        return ask_times(call->state, "once", times, &ignored, err);
    return ask_times(call->state, empties_caches(call) ? "cold" : "run", times, ns, err);
}

/* On a device it is with the wait for that, of which a call of many has a small share: as many as
 * were timed. */
static double empty_call_ns(const struct call *call, unsigned batch)
{
    unsigned times = call->device->ops->own_memory && batch > 0 ? batch : EMPTY_CALLS;
    struct error ignored; /* a fact that cannot be had is absent */
    double least = INFINITY;
    uint64_t ns;

    for (int i = 0; i < EMPTY_ROUNDS; i++)
        if (ask_times(call->state, "empty", times, &ns, &ignored) == 0)
            least = fmin(least, (double)ns / times);
    return least;
}

void python_facts(const struct call *call, struct measurement *m)
{
    struct python_state *s = call->state;
    double empty = empty_call_ns(call, m->batch), flush;
    struct error ignored;
    const char *answer;
    char path[64];
    int64_t kib;

    if (isfinite(empty))
        measurement_add_telemetry(m, TELEMETRY_EMPTY_CALL, empty);
    if (python_process_ask(&s->process, "finish 1", &answer, &ignored) == 0 && *answer == '1')
        measurement_add_telemetry(m, TELEMETRY_COPY_TIMED, 1);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)s->process.pid);
    flush = empties_caches(call) ? (double)host_cache_flush_bytes(1) : 0;
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
