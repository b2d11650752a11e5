/* SPDX-License-Identifier: MIT */
#include "kernels/torch/torch.h"

#include "base/memory.h"
#include "host/thread_pinning.h"
#include "kernels/host.h"
#include "kernels/openblas_core.h"
#include "kernels/torch/python.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "torch/peer.py";

struct torch {
    struct python python;
    struct python_object *callable;
};

/* peer.py says what is missing, "" if nothing is. */
bool torch_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                    struct error *why)
{
    struct python py;
    struct python_object *missing;

    (void)k, (void)s, (void)d;
    if (python_open(&py, why) != 0)
        return false;
    missing = python_run(&py, source, "missing", "torch", why);
    if (missing == NULL)
        return false;
    int state = py.ensure();
    const char *text = py.utf8(missing);
    bool there = text != NULL && *text == '\0';
    if (!there)
        error_set(why, "%s", text != NULL ? text : "peer.py does not say what is missing");
    py.release(state);
    python_forget(&py, missing);
    return there;
}

static cJSON *tensor_json(const struct tensor *t)
{
    cJSON *json = cJSON_CreateObject(), *extents = cJSON_AddArrayToObject(json, "extents");

    json_add_string(json, "dtype", dtype_name(t->dtype));
    json_add_int(json, "address", (int64_t)(intptr_t)t->data);
    for (int i = 0; i < t->rank; i++)
        cJSON_AddItemToArray(extents, cJSON_CreateNumber((double)t->extent[i]));
    return json;
}

/* All that peer.py knows of the call. */
static char *describe(const struct call *call, cJSON *json)
{
    cJSON *dims = cJSON_AddObjectToObject(json, "dims");
    cJSON *tensors = cJSON_AddObjectToObject(json, "tensors");

    json_add_string(json, "kernel", call->kernel->name);
    json_add_int(json, "threads", host_threads(call));
    for (int i = 0; i < kernel_nr_dims(call->kernel); i++)
        json_add_int(dims, call->kernel->dims[i], call->shape.dim[i]);
    for (int i = 0; i < call->nr_tensors; i++)
        cJSON_AddItemToObject(tensors, call->tensor[i].name, tensor_json(&call->tensor[i]));
    return json_take_text(json);
}

int torch_prepare_with(struct call *call, cJSON *details, struct error *err)
{
    char *text = describe(call, details);
    struct torch *t = memory_zeroed(1, sizeof(*t));
    struct pinning_pause pause;

    /* The threads of PyTorch, and of the BLAS that it loads, would all be where this one is bound.
     */
    pinning_pause(&pause);
    openblas_choose_core(); /* of the one that PyTorch loads */
    int rc = python_open(&t->python, err);

    if (rc == 0) {
        t->callable = python_run(&t->python, source, "prepare", text, err);
        rc = t->callable != NULL ? 0 : -1;
    }
    pinning_resume(&pause);
    free(text);
    if (rc != 0)
        free(t);
    else
        call->state = t;
    return rc;
}

int torch_prepare(struct call *call, struct error *err)
{
    return torch_prepare_with(call, cJSON_CreateObject(), err);
}

static void spoil_outputs(const struct call *call)
{
    for (int i = 0; i < call->nr_tensors; i++)
        if (call->tensor[i].role == TENSOR_OUT)
            memset(call->tensor[i].data, 0xff, (size_t)tensor_bytes(&call->tensor[i]));
}

void torch_launch(const struct call *call)
{
    const struct torch *t = call->state;

    if (!python_call(&t->python, t->callable))
        spoil_outputs(call);
}

void torch_release(struct call *call)
{
    struct torch *t = call->state;

    if (t == NULL)
        return;
    python_forget(&t->python, t->callable);
    free(t);
    call->state = NULL;
}
