/* SPDX-License-Identifier: MIT */
/* The cell's own side. Whatever it says or does, nobody believes it. */
#include "judge/cell.h"

#include "base/json.h"
#include "base/strbuf.h"
#include "device/devices.h"
#include "host/thread_team.h"
#include "judge/cell_python.h"
#include "judge/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_FD = 3, JOB_MOST = 1 << 20 };

struct inmate {
    const struct registry *registry;
    cJSON *job;
    struct arena arena;
    struct device device;
    struct guests guests;
    const struct kernel *spec;
    struct shape shape;
    const struct variant *variant;
    struct call *calls;                   /* of each slot */
    const struct device_lending *lending; /* of its device, where it has memory of its own */
};

static cJSON *read_job(struct error *err)
{
    char block[4096];
    struct strbuf text;
    ssize_t nr;

    strbuf_init(&text);
    while (text.length < JOB_MOST && (nr = read(STDIN_FILENO, block, sizeof(block))) > 0)
        strbuf_add(&text, block, (size_t)nr);
    cJSON *job = json_parse(text.data, text.length, "job", err);
    strbuf_release(&text);
    return job;
}

static void publish_state(const struct inmate *in, enum board_state state, const char *words)
{
    struct board *board = arena_board(&in->arena);

    snprintf(board->words, sizeof(board->words), "%.511s", words);
    board->state = state;
}

static int find_variant(struct inmate *in, struct error *err)
{
    const char *name = json_string(in->job, "variant", "");

    if (guests_from_job(&in->guests, in->registry, in->job, err))
        return -1;
    in->variant = registry_variant(&in->guests.all, in->spec->name, name);
    return in->variant ? 0 : error_set(err, "it has no variant %s", name);
}

/* 0, CALL_UNSUPPORTED or -1. */
static int prepare_slot(struct inmate *in, int slot, struct error *err)
{
    const struct variant *v = in->variant;
    struct call *call = &in->calls[slot];

    *call = (struct call) { .variant = v,
                            .kernel = v->kernel,
                            .shape = in->shape,
                            .device = &in->device,
                            .nr_tensors = in->arena.nr_tensors };
    arena_tensors(&in->arena, slot, call->tensor);
    return v->prepare ? v->prepare(call, err) : 0;
}

/* What this process has enqueued is over; of a guest with a runtime of its own it has the words. */
static int wait_for_device(const struct inmate *in, struct error *err)
{
    const struct variant *v = in->variant;

    if (!in->lending)
        return 0;
    int rc = in->lending->wait((struct device *)&in->device, err);
    const char *fault = v && v->fault && in->calls ? v->fault(&in->calls[0]) : NULL;
    return fault ? error_set(err, "launch(): %s", fault) : rc;
}

/* All that lasts from one window to the next is made here, behind the filter. */
static void load_variant(struct inmate *in)
{
    struct error err = { "" };
    int rc = find_variant(in, &err);

    if (rc == 0 && in->variant->supports &&
        !in->variant->supports(in->variant->kernel, &in->shape, &in->device, &err))
        rc = CALL_UNSUPPORTED;
    for (int slot = 0; rc == 0 && slot < in->arena.slots; slot++)
        rc = prepare_slot(in, slot, &err);
    if (rc == 0 && wait_for_device(in, &err))
        rc = -1;
    publish_state(in,
                  rc == 0                  ? BOARD_READY
                  : rc == CALL_UNSUPPORTED ? BOARD_UNSUPPORTED
                                           : BOARD_FAILED,
                  err.message);
}

/* The window of a device ends when it has nothing left to do. */
static void launch_all(struct inmate *in, struct board *board)
{
    struct error err;

    for (uint32_t i = 0; i < board->nr; i++) {
        in->variant->launch(&in->calls[board->slot[i]]);
        __atomic_store_n(&board->done, i + 1, __ATOMIC_RELEASE);
    }
    if (wait_for_device(in, &err)) {
        publish_state(in, BOARD_FAILED, err.message);
        _exit(1);
    }
}

static void carry_out_order(struct inmate *in)
{
    struct board *board = arena_board(&in->arena);
    struct error ignored;

    switch ((enum order)board->order) {
    case ORDER_NOTHING:
        wait_for_device(in, &ignored);
        break;
    case ORDER_LOAD:
        load_variant(in);
        break;
    case ORDER_LAUNCH:
        launch_all(in, board);
        break;
    case ORDER_WAIT:
        usleep(10000);
        wait_for_device(in, &ignored);
        break;
    }
}

static int set_up_job(struct inmate *in, struct error *err)
{
    const cJSON *dims = cJSON_GetObjectItemCaseSensitive(in->job, "shape");
    int slots = (int)json_int(in->job, "slots", 0);

    for (int i = 0; i < SHAPE_MAX; i++) {
        const cJSON *dim = cJSON_GetArrayItem(dims, i);
        in->shape.dim[i] = cJSON_IsNumber(dim) ? (int64_t)dim->valuedouble : 0;
    }
    in->spec = registry_kernel(in->registry, json_string(in->job, "spec", ""));
    if (!in->spec || slots < 1 || slots > SLOTS_MAX)
        return error_set(err, "this is no job of a judge");
    return device_open(&in->device, json_string(in->job, "device", DEVICE_SPEC_USUAL), err);
}

/* What a driver needs beyond the filter it does before there is one: a context, threads, the
 * judge's memory. */
static int start_device(struct inmate *in, struct error *err)
{
    const char *text = json_string(in->job, "device_memory", "");
    struct device_handle handle;

    if (device_start(&in->device, err))
        return -1;
    if (!*text)
        return 0;
    for (size_t i = 0; i < sizeof(handle.bytes); i++)
        if (sscanf(text + 2 * i, "%2hhx", &handle.bytes[i]) != 1)
            return error_set(err, "this is no job of a judge");
    in->lending = device_lending_of(in->device.kind);
    if (!in->lending)
        return error_set(err, "device %s lends no memory", in->device.spec);
    return arena_borrow(&in->arena, &in->device, &handle, err);
}

/* A function of Python is told by the job; its file is read for its digest, and nothing of it runs
 * here. 0 where it is none. */
static int become_another(struct inmate *in, struct error *err)
{
    const struct python_function *f;

    if (!cJSON_HasObjectItem(in->job, "python"))
        return 0;
    if (thread_team_check(in->device.threads, err) || find_variant(in, err))
        return -1;
    f = python_function_of(&in->guests.python, in->variant);
    if (!f)
        return error_set(err, "%s is no function of Python", in->variant->name);
    return cell_become_python(f, in->spec, &in->shape, &in->arena, in->device.threads, err);
}

/* A filter is for the thread that enters it and for those that it makes: OpenMP's, which work for
 * whoever is judged, are made behind it. */
static int confine_inmate(struct inmate *in, struct error *err)
{
    return sandbox_enter(SANDBOX_STAYS, err) || thread_team_check(in->device.threads, err) ? -1 : 0;
}

int cell_serve(const struct registry *registry, struct error *err)
{
    struct inmate in = { .registry = registry, .job = read_job(err) };

    if (!in.job)
        return -1;
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(in.job, "reference")))
        sandbox_keep_out();
    if (set_up_job(&in, err))
        return -1;
    /* The dtype is that of the tensors, which a layout needs: the variant is not loaded yet. */
    arena_plan(&in.arena, in.spec, &in.shape, (enum dtype)json_int(in.job, "dtype", 0),
               (int)json_int(in.job, "slots", 0));
    if (arena_map(&in.arena, ARENA_FD, cJSON_HasObjectItem(in.job, "device_memory"), err))
        return -1;
    if (start_device(&in, err) || become_another(&in, err) || confine_inmate(&in, err)) {
        publish_state(&in, BOARD_FAILED, err->message);
        _exit(1); /* behind the filter exit() may make a call that ends it in other words */
    }
    in.calls = memory_zeroed((size_t)in.arena.slots, sizeof(*in.calls));
    for (;;) {
        if (kill(getpid(), SIGSTOP))
            return error_set(err, "cannot stop: %s", strerror(errno));
        carry_out_order(&in);
    }
}
