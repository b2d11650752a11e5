/* SPDX-License-Identifier: MIT */
#include "session/model_backend.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "core/npy.h"
#include "core/registry.h"
#include "device/devices.h"
#include "models/generation/gpt_device.h"
#include "models/generation/gpt_narrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first is the default. What needs OpenBLAS may not be built: then it is not in this table. */
static const struct gpt_ops *const host_backends[] = {
    &gpt_ops_simd,
    &gpt_ops_plain,
    &gpt_ops_simd_bf16_fp32,
    &gpt_ops_simd_int8,
#ifdef HARNESS_HAVE_OPENBLAS
    &gpt_ops_openblas,
#endif
    NULL,
};

static const struct gpt_ops *host_backend(const char *name)
{
    for (const struct gpt_ops *const *ops = host_backends; *ops; ops++)
        if (strcmp((*ops)->name, name) == 0)
            return *ops;
    return NULL;
}

/* ---- the variant ---- */

typedef ARRAY(const char *) backend_names;

/* Those of a model's prefill, on one kind of device or, with DEVICE_KIND_NR, on any; to `list` as a
 * text and, where wanted, to `names`. */
static void list_backends(const char *kernel, enum device_kind kind, struct strbuf *list,
                          backend_names *names)
{
    const struct registry *r = registry_builtin();
    const struct variant *v;

    for (size_t i = 0; (v = registry_variant_at(r, i)); i++) {
        if (strcmp(v->kernel->name, kernel) != 0 || (v->flags & VARIANT_HIDDEN) ||
            (kind != DEVICE_KIND_NR && v->device != kind))
            continue;
        strbuf_addf(list, "%s%s", list->length ? ", " : "", v->name);
        if (kind == DEVICE_KIND_NR)
            strbuf_addf(list, " (%s)", device_kind_name(v->device));
        if (names)
            *array_push(names) = v->name;
    }
}

static int no_such_backend(const char *kernel, const char *name, const char *model,
                           struct error *err)
{
    backend_names names = ARRAY_EMPTY;
    struct strbuf list;

    strbuf_init(&list);
    list_backends(kernel, DEVICE_KIND_NR, &list, &names);
    *array_push(&names) = NULL; /* ends the list for text_nearest() */
    const char *nearest = text_nearest(name, names.items);
    error_set(err, "no backend of %s is called \"%s\"%s%s%s; there are: %s", model, name,
              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "",
              list.data);
    strbuf_release(&list);
    array_release(&names);
    return -1;
}

static const char *missing_backend_why(const char *name)
{
    for (const struct missing_variant *m = registry_builtin()->missing; m && m->name; m++)
        if (strcmp(m->operation, "gpt") == 0 && strcmp(m->name, name) == 0)
            return m->why;
    return NULL;
}

static const struct variant *find_backend(const char *name, const char *model, struct error *err)
{
    const char *why = missing_backend_why(name);
    char kernel[64];

    snprintf(kernel, sizeof(kernel), "gpt/%s/prefill", model);
    const struct variant *v = registry_variant(registry_builtin(), kernel, name);
    if (v && !(v->flags & VARIANT_HIDDEN))
        return v;
    if (why)
        error_set(err, "backend %s is not in this build: %s", name, why);
    else
        no_such_backend(kernel, name, model, err);
    return NULL;
}

/* ---- the device ---- */

static int wrong_device(const struct variant *v, const char *device, enum device_kind kind,
                        struct error *err)
{
    struct strbuf list;

    strbuf_init(&list);
    list_backends(v->kernel->name, kind, &list, NULL);
    error_set(err, "backend %s runs on %s, not on %s%s%s%s%s", v->name, device_kind_name(v->device),
              device, list.length ? "; on " : "", list.length ? device_kind_name(kind) : "",
              list.length ? " there are: " : "", list.length ? list.data : "");
    strbuf_release(&list);
    return -1;
}

/* A spec that is none is left to device_open(), which says what there is. */
static int check_device(const struct variant *v, const struct model_backend_request *request,
                        struct error *err)
{
    int kind = request->device ? device_kind_of(request->device) : (int)v->device;

    if (kind >= 0 && kind != (int)v->device)
        return wrong_device(v, request->device, (enum device_kind)kind, err);
    if (request->threads && v->device != DEVICE_CPU)
        return error_set(err, "--threads are the CPU's, and backend %s runs on %s", v->name,
                         device_kind_name(v->device));
    if (request->threads && request->device && strchr(request->device, ':'))
        return error_set(err, "give --threads %d or --device %s, not both", request->threads,
                         request->device);
    return 0;
}

static int open_device(struct model_backend *b, const struct model_backend_request *request,
                       struct error *err)
{
    const char *kind = device_kind_name(b->variant->device);

    int rc = device_open(&b->device, request->device ? request->device : kind, err);
    if (rc)
        return rc;
    if (request->threads)
        b->device.threads = request->threads;
    if (device_start(&b->device, err) == 0)
        return 0;
    device_close(&b->device);
    return -1;
}

int model_backend_open(struct model_backend *b, const struct gpt_config *config,
                       const struct model_backend_request *request, struct error *err)
{
    const char *name = request->name ? request->name : host_backends[0]->name;

    *b = (struct model_backend) { .config = config, .ops = host_backend(name) };
    b->variant = find_backend(name, config->name, err);
    if (!b->variant || check_device(b->variant, request, err))
        return -1;
    return open_device(b, request, err);
}

void model_backend_close(struct model_backend *b)
{
    device_close(&b->device);
}

/* ---- logits ---- */

int model_backend_check_logits(const struct model_backend *b, const struct gpt_tokens *tokens,
                               struct error *err)
{
    return gpt_device_check(b->variant, &b->device, tokens->batch, tokens->seq, err);
}

static int device_logits(struct model_backend *b, const struct gpt_model *m,
                         const struct gpt_tokens *tokens, float *logits, struct error *err)
{
    struct gpt_device g;

    int rc =
        gpt_device_open(&g, &m->weights, b->variant, &b->device, tokens->batch, tokens->seq, err);
    if (rc == 0)
        rc = gpt_device_logits(&g, tokens->ids, logits, err);
    gpt_device_close(&g);
    return rc;
}

int model_backend_logits(struct model_backend *b, const struct gpt_model *m,
                         const struct gpt_tokens *tokens, float **logits, struct error *err)
{
    size_t bytes =
        (size_t)(tokens->batch * tokens->seq * (int64_t)m->config->vocab) * sizeof(**logits);
    char text[TEXT_UNIT_SIZE];

    *logits = b->ops ? gpt_model_logits(m, b->ops, tokens, b->device.threads, err) : malloc(bytes);
    if (b->ops)
        return *logits ? 0 : -1;
    if (!*logits)
        return error_set(err, "%s: no memory for %s of logits", m->config->name,
                         text_bytes((double)bytes, text));
    return device_logits(b, m, tokens, *logits, err);
}

int model_backend_write_logits(struct model_backend *b, const struct gpt_model *m,
                               const struct gpt_tokens *tokens, const char *path, struct error *err)
{
    const int64_t extent[] = { tokens->batch, tokens->seq, m->config->vocab };
    float *logits;

    int rc = model_backend_logits(b, m, tokens, &logits, err);
    if (rc == 0)
        rc = npy_write(path, logits, extent, 3, err);
    free(logits);
    return rc;
}

/* ---- generation ---- */

int model_backend_check_generation(const struct model_backend *b, const struct gpt_tokens *prompt,
                                   const struct model_generation *g, struct error *err)
{
    if (gpt_generate_check(b->config, prompt, &g->sampling, g->nr, err))
        return -1;
    int64_t held = gpt_generate_held(b->config, prompt->seq, g->nr);
    int rc = gpt_device_check(b->variant, &b->device, 1, held, err);
    if (rc)
        error_prefix(err, "%lld tokens and --length %lld", (long long)prompt->seq,
                     (long long)g->nr);
    return rc;
}

static int device_generate(struct model_backend *b, const struct gpt_model *m,
                           const struct gpt_tokens *prompt, const struct model_generation *g,
                           int32_t *out, struct error *err)
{
    struct gpt_device on;

    int rc = gpt_device_open(&on, &m->weights, b->variant, &b->device, 1,
                             gpt_generate_held(m->config, prompt->seq, g->nr), err);
    if (rc == 0) {
        const struct gpt_predictor predictor = gpt_device_predictor(&on);
        rc = gpt_generate_by(&predictor, m->config, prompt, &g->sampling, g->nr, out, g->sink,
                             g->context, err) < 0
                 ? -1
                 : 0;
    }
    gpt_device_close(&on);
    return rc;
}

int model_backend_generate(struct model_backend *b, const struct gpt_model *m,
                           const struct gpt_tokens *prompt, const struct model_generation *g,
                           struct error *err)
{
    int32_t *out = calloc((size_t)g->nr, sizeof(*out));
    int rc;

    if (!out)
        return error_set(err, "out of memory");
    if (b->ops)
        rc = gpt_generate(m, b->ops, b->device.threads, prompt, &g->sampling, g->nr, out, g->sink,
                          g->context, err) < 0
                 ? -1
                 : 0;
    else
        rc = device_generate(b, m, prompt, g, out, err);
    free(out);
    return rc;
}
