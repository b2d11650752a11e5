/* SPDX-License-Identifier: MIT */
/* The registry's callbacks over those of a plugin. */
#include "plugin/plugin_parts.h"

#include "base/memory.h"
#include "core/record.h"
#include "plugin/guest_settings.h"
#include "plugin/registry_join.h"
#include "text/name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for a layout() that describes too many: it shall be told, not crash. */
enum { ROOM = 4 * HARNESS_TENSORS_MAX };

_Static_assert((int)HARNESS_DIMS_MAX == (int)SHAPE_MAX &&
                   (int)HARNESS_TENSORS_MAX == (int)TENSOR_MAX &&
                   (int)HARNESS_RANK_MAX == (int)TENSOR_RANK,
               "limits of plugins");
_Static_assert((int)HARNESS_CPU == (int)DEVICE_CPU && (int)HARNESS_CUDA == (int)DEVICE_CUDA &&
                   (int)HARNESS_FAKE == (int)DEVICE_FAKE && (int)HARNESS_HIP == (int)DEVICE_HIP &&
                   (int)HARNESS_SYCL == (int)DEVICE_SYCL,
               "devices of plugins");
_Static_assert((int)HARNESS_BF16 == (int)DTYPE_BF16 && (int)HARNESS_FP16 == (int)DTYPE_FP16 &&
                   (int)HARNESS_INT32 == (int)DTYPE_INT32 && (int)HARNESS_FP64 == (int)DTYPE_FP64,
               "dtypes of plugins");
_Static_assert((int)HARNESS_OUT == (int)TENSOR_OUT && (int)HARNESS_INOUT == (int)TENSOR_INOUT &&
                   (int)HARNESS_WEIGHT == (int)TENSOR_WEIGHT,
               "roles of plugins");
_Static_assert((int)HARNESS_CONST == (int)FILL_CONST && (int)HARNESS_TOKENS == (int)FILL_TOKENS &&
                   (int)HARNESS_OWN == (int)FILL_KERNEL,
               "fills of plugins");

static const struct harness_kernel *their_kernel(const struct kernel *k)
{
    return ((const struct plugin_kernel *)k->config)->theirs;
}

static struct harness_tensor to_theirs(const struct tensor *t)
{
    struct harness_tensor out = {
        .name = t->name,
        .role = (int32_t)t->role,
        .dtype = (int32_t)t->dtype,
        .rank = t->rank,
        .fill = (int32_t)t->fill,
        .mean = t->mean,
        .scale = t->scale,
        .limit = t->limit,
        .data = t->data,
    };

    memcpy(out.extent, t->extent, sizeof(out.extent));
    return out;
}

static struct tensor to_ours(const struct harness_tensor *t)
{
    struct tensor out = {
        .name = t->name,
        .role = (enum tensor_role)t->role,
        .dtype = (enum dtype)t->dtype,
        .rank = t->rank,
        .fill = t->role == HARNESS_OUT ? FILL_CONST : (enum tensor_fill)t->fill,
        .mean = t->mean,
        .scale = t->scale,
        .limit = t->limit,
    };

    memcpy(out.extent, t->extent, sizeof(out.extent));
    return out;
}

/* What a plugin says of its work; 0, not known, where that is no amount of anything. */
static double amount_or_0(double x)
{
    return record_amount_is_sane(x) ? x : 0;
}

static struct work adapt_work(const struct kernel *k, const struct shape *s, enum dtype dtype,
                              enum math math)
{
    (void)math;
    double flops = 0, bytes = 0;

    if (their_kernel(k)->work)
        their_kernel(k)->work(s->dim, (int32_t)dtype, &flops, &bytes);
    return (struct work) { amount_or_0(flops), amount_or_0(bytes) };
}

/* None where they are malformed: adapt_prepare() looks again, and says so. */
static int adapt_layout(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        struct tensor *t)
{
    struct harness_tensor described[ROOM] = { { .name = NULL } };
    struct error ignored;
    int nr = plugin_layout(their_kernel(k), s->dim, (int32_t)dtype, described, &ignored);

    for (int i = 0; i < nr; i++)
        t[i] = to_ours(&described[i]);
    return nr > 0 ? nr : 0;
}

static void adapt_fill(const struct kernel *k, const struct shape *s, struct tensor *t,
                       uint64_t seed)
{
    struct harness_tensor tensor = to_theirs(t);

    their_kernel(k)->fill(s->dim, &tensor, seed);
}

static void adapt_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                         int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    struct harness_tensor tensor[TENSOR_MAX];

    for (int i = 0; i < TENSOR_MAX; i++)
        tensor[i] = to_theirs(&t[i]);
    their_kernel(k)->oracle(s->dim, tensor, out, rows, nr_rows, expected);
}

static void adapt_oracle_cost(const struct kernel *k, const struct shape *s, double *fixed,
                              double *per_row)
{
    *fixed = *per_row = 0; /* all rows */
    if (their_kernel(k)->oracle_cost)
        their_kernel(k)->oracle_cost(s->dim, fixed, per_row);
}

/* NaN where it is no bound: adapt_prepare() says so. */
static double adapt_tolerance(const struct kernel *k, const struct shape *s, enum dtype dtype,
                              enum math math)
{
    (void)math;
    if (!their_kernel(k)->tolerance)
        return 16 * dtype_roundoff(dtype);
    double bound = their_kernel(k)->tolerance(s->dim, (int32_t)dtype);
    return isfinite(bound) && bound >= 0 ? bound : (double)NAN;
}

static const char *adapt_refuses(const struct kernel *k, const struct shape *s)
{
    return their_kernel(k)->refuses ? their_kernel(k)->refuses(s->dim) : NULL;
}

/* ---- variants ---- */

/* call->state: what theirs get. */
struct ready {
    struct harness_call call;
    const struct harness_variant *variant;
    struct harness_tensor tensor[TENSOR_MAX];
    int64_t size[SHAPE_MAX];
};

static const struct plugin_variant *variant_of(const struct call *call)
{
    return call->variant->config;
}

static struct ready *make_ready(const struct call *call)
{
    struct ready *r = memory_zeroed(1, sizeof(*r));

    memcpy(r->size, call->shape.dim, sizeof(r->size));
    for (int i = 0; i < call->nr_tensors; i++)
        r->tensor[i] = to_theirs(&call->tensor[i]);
    r->variant = variant_of(call)->theirs;
    r->call = (struct harness_call) {
        .size = r->size,
        .tensor = r->tensor,
        .nr_tensors = call->nr_tensors,
        .threads = call->device->threads > 0 ? call->device->threads : 1,
        .stream = device_stream(call->device),
        .device = (int32_t)call->device->kind,
        .device_index = call->device->index,
        .params = variant_of(call)->params,
    };
    return r;
}

static int check_layout(const struct call *call, struct error *err)
{
    const struct harness_kernel *kernel = variant_of(call)->kernel;
    struct harness_tensor described[ROOM] = { { .name = NULL } };

    return kernel && plugin_layout(kernel, call->shape.dim, (int32_t)call->variant->dtype,
                                   described, err) < 0
               ? -1
               : 0;
}

static int check_tolerance(const struct call *call, struct error *err)
{
    const struct variant *v = call->variant;

    return variant_of(call)->kernel &&
                   isnan(adapt_tolerance(call->kernel, &call->shape, v->dtype, v->math))
               ? error_set(err, "its tolerance() gives no number from 0 on")
               : 0;
}

static int adapt_prepare(struct call *call, struct error *err)
{
    char why[512] = "";

    if (check_layout(call, err) || check_tolerance(call, err))
        return -1;
    struct ready *r = make_ready(call);
    int rc = r->variant->prepare ? r->variant->prepare(&r->call, why, sizeof(why)) : 0;
    if (rc == 0) {
        call->state = r;
        return 0;
    }
    why[sizeof(why) - 1] = '\0';
    free(r);
    error_set(err, "%s", why[0] ? why : "the plugin does not say why");
    return rc == HARNESS_UNSUPPORTED ? CALL_UNSUPPORTED : -1;
}

static void adapt_launch(const struct call *call)
{
    const struct ready *r = call->state;

    r->variant->launch(&r->call);
}

static const char *adapt_fault(const struct call *call)
{
    return variant_of(call)->plugin->fault();
}

static void adapt_release(struct call *call)
{
    struct ready *r = call->state;

    if (r->variant->release)
        r->variant->release(&r->call);
    free(r);
    call->state = NULL;
}

/* ---- tables ---- */

static enum math math_of(const struct harness_variant *v)
{
    return v->math == HARNESS_MATH_TF32 ? MATH_TF32 : dtype_math((enum dtype)v->dtype);
}

static struct shape *copy_shapes(const int64_t *sizes, size_t nr, size_t nr_dims)
{
    struct shape *shapes = memory_zeroed(nr + 1, sizeof(*shapes));

    for (size_t i = 0; i < nr; i++)
        memcpy(shapes[i].dim, sizes + i * nr_dims, nr_dims * sizeof(*sizes));
    return shapes;
}

static void adapt_kernel(struct plugin_kernel *to, const struct harness_kernel *from)
{
    bool tests = from->nr_test_sizes > 0;

    to->theirs = from;
    to->shapes = copy_shapes(from->sizes, from->nr_sizes, from->nr_dims);
    to->test_shapes = copy_shapes(from->test_sizes, from->nr_test_sizes, from->nr_dims);
    to->kernel = (struct kernel) {
        .name = from->name,
        .summary = from->summary ? from->summary : "",
        .config = to,
        .guest = true,
        .work = adapt_work,
        .layout = adapt_layout,
        .fill = from->fill ? adapt_fill : NULL,
        .oracle = adapt_oracle,
        .oracle_cost = adapt_oracle_cost,
        .tolerance = adapt_tolerance,
        .refuses = adapt_refuses,
        .shapes = to->shapes,
        .nr_shapes = from->nr_sizes,
        .test_shapes = tests ? to->test_shapes : to->shapes,
        .nr_test_shapes = tests ? from->nr_test_sizes : from->nr_sizes,
    };
    memcpy(to->kernel.dims, from->dims, from->nr_dims * sizeof(*from->dims));
}

static void adapt_variant(struct plugin_own *own, const struct kernel *kernel,
                          const struct plugin_variant *config, const char *name)
{
    const struct harness_variant *from = config->theirs;
    struct plugin_variant *kept = &own->theirs[own->nr_variants];

    *kept = *config;
    own->variants[own->nr_variants++] = (struct variant) {
        .name = name,
        .summary = from->summary ? from->summary : "",
        .kernel = kernel,
        .device = (enum device_kind)from->device,
        .dtype = (enum dtype)from->dtype,
        .math = math_of(from),
        .flags = VARIANT_GUEST | (from->vendor ? VARIANT_VENDOR : 0),
        .prepare = adapt_prepare,
        .launch = adapt_launch,
        .release = adapt_release,
        .fault = config->plugin->fault ? adapt_fault : NULL,
        .config = kept,
    };
}

/* The variant with what of a setting is its own; once, whatever else the settings say. */
static void adapt_setting(struct plugin_own *own, const struct kernel *kernel,
                          struct plugin_variant *config, char *setting, size_t first)
{
    char name[NAME_SIZE];

    for (size_t i = first; i < own->nr_variants; i++)
        if (strcmp(own->theirs[i].setting, setting) == 0)
            return;
    guest_setting_name(config->theirs->name, setting, name);
    own->params[own->texts.nr] = guest_setting_split(setting);
    config->params = (const char *const *)own->params[own->texts.nr];
    string_list_add(&own->names, name);
    string_list_add(&own->texts, setting);
    config->setting = own->texts.items[own->texts.nr - 1];
    adapt_variant(own, kernel, config, own->names.items[own->names.nr - 1]);
}

/* Does a plugin of its ABI say which parameters its variants have? */
static bool table_tells_params(const struct harness_plugin *table)
{
    return table->abi >= 3;
}

/* Once with each setting; without any, or with none that is its own, once as it is. */
static void adapt_settings(struct plugin_own *own, const struct kernel *kernel,
                           struct plugin_variant *config, const struct string_list *settings)
{
    size_t nr = settings ? settings->nr : 0, first = own->nr_variants;

    config->setting = "";
    if (nr == 0)
        adapt_variant(own, kernel, config, config->theirs->name);
    for (size_t i = 0; i < nr; i++) {
        char *mine = table_tells_params(own->table)
                         ? guest_setting_of(settings->items[i], config->theirs->params)
                         : memory_string(settings->items[i]);
        adapt_setting(own, kernel, config, mine, first);
        free(mine);
    }
}

/* The oracles of harness know how these are rounded. */
static int check_like_dtype(const struct harness_variant *v, struct error *err)
{
    if (v->dtype == HARNESS_FP32 || v->dtype == HARNESS_BF16 || v->dtype == HARNESS_FP16)
        return 0;
    return error_set(err, "variant %s is of dtype %s: kernels of harness are fp32, bf16 or fp16",
                     v->name, dtype_name((enum dtype)v->dtype));
}

static const struct kernel *find_like(const struct registry *base, const struct harness_kernel *k,
                                      struct error *err)
{
    const struct kernel *like = registry_like(base, k->like, err);

    for (size_t v = 0; like && v < k->nr_variants; v++)
        if (check_like_dtype(&k->variants[v], err) ||
            name_check_key(like->name, k->variants[v].name, like->dims,
                           (size_t)kernel_nr_dims(like), err))
            like = NULL;
    if (!like)
        error_prefix(err, "like");
    return like;
}

static int adapt_table(struct plugin_own *own, const struct registry *base,
                       const struct string_list *settings, struct error *err)
{
    size_t nr = 0;

    for (size_t i = 0; i < own->table->nr_kernels; i++) {
        const struct harness_kernel *k = &own->table->kernels[i];
        const struct kernel *kernel = &own->kernels[i].kernel;
        if (k->like) {
            kernel = find_like(base, k, err);
        } else {
            adapt_kernel(&own->kernels[i], k);
            own->list[nr++] = kernel;
        }
        if (!kernel)
            return -1;
        for (size_t v = 0; v < k->nr_variants; v++) {
            struct plugin_variant config = { .theirs = &k->variants[v],
                                             .kernel = k->like ? NULL : k,
                                             .plugin = own->table };
            adapt_settings(own, kernel, &config, settings);
        }
    }
    return 0;
}

static int adapt_params(struct plugin_own *own, const struct string_list *settings,
                        struct error *err)
{
    size_t nr = settings ? settings->nr : 0;

    if (nr > 0 && own->table->abi < 2)
        return error_set(err,
                         "it speaks plugin ABI 1, whose calls have no parameters: rebuild it "
                         "against the <harness/plugin.h> of this harness");
    for (size_t i = 0; i < nr; i++)
        if (guest_setting_check(settings->items[i], err))
            return -1;
    return 0;
}

/* ---- what others ask of their parameters ---- */

bool plugin_setting(const struct plugin *p, const struct variant *v, struct guest_setting *out)
{
    const struct plugin_own *own = p->own;

    if (v < own->variants || v >= own->variants + own->nr_variants)
        return false;
    const struct plugin_variant *config = v->config;
    *out = (struct guest_setting) { p->file, p->digest, config->theirs->name, config->setting,
                                    config->theirs->params };
    return true;
}

/* `list` gets the names of the parameters of all variants, each once: "BM". */
bool plugin_param_names(const struct plugin *p, struct string_list *list)
{
    const struct plugin_own *own = p->own;
    const char *const *param;

    for (size_t i = 0; i < own->nr_variants; i++)
        for (param = own->theirs[i].theirs->params; param && *param; param++) {
            char name[NAME_SIZE];
            bool known = false;
            snprintf(name, sizeof(name), "%.*s", (int)strcspn(*param, "="), *param);
            for (size_t j = 0; j < list->nr; j++)
                known |= strcmp(list->items[j], name) == 0;
            if (!known)
                string_list_add(list, name);
        }
    return table_tells_params(own->table);
}

int plugin_adapt(struct plugin *p, const struct registry *base, const struct string_list *settings,
                 struct error *err)
{
    struct plugin_own *own = p->own;
    const struct harness_plugin *table = own->table;
    size_t nr = 0, each = settings && settings->nr ? settings->nr : 1;

    for (size_t i = 0; i < table->nr_kernels; i++)
        nr += table->kernels[i].nr_variants * each;
    own->kernels = memory_zeroed(table->nr_kernels, sizeof(*own->kernels));
    own->list = memory_zeroed(table->nr_kernels + 1, sizeof(*own->list));
    own->variants = memory_zeroed(nr + 1, sizeof(*own->variants));
    own->theirs = memory_zeroed(nr + 1, sizeof(*own->theirs));
    own->params = memory_zeroed(nr + 1, sizeof(*own->params));
    p->kernels = own->list;
    p->variants = own->variants;
    return adapt_params(own, settings, err) || adapt_table(own, base, settings, err) ? -1 : 0;
}

void plugin_drop(struct plugin *p)
{
    struct plugin_own *own = p->own;

    for (size_t i = 0; own->kernels && i < own->table->nr_kernels; i++) {
        free(own->kernels[i].shapes);
        free(own->kernels[i].test_shapes);
    }
    for (size_t i = 0; i < own->texts.nr; i++)
        guest_setting_free(own->params[i]);
    free(own->params);
    string_list_release(&own->names);
    string_list_release(&own->texts);
    free(own->kernels);
    free(own->list);
    free(own->variants);
    free(own->theirs);
    plugin_table_drop(own);
    plugin_taken_drop(own);
}
