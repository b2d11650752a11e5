/* SPDX-License-Identifier: MIT */
#include "session/measure/judging.h"

#include "core/device_label.h"
#include "judge/sandbox.h"
#include "measure/case.h"
#include "metrics/roofline.h"
#include "process/own_folder.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Of a guest's, where there are any. */
static bool is_guest(const struct guests *guests, const struct variant *v)
{
    if (!guests_any(guests) || python_function_of(&guests->python, v))
        return true;
    for (size_t i = 0; i < guests->plugins.nr; i++)
        for (const struct variant *own = guests->plugins.items[i].variants; own->name; own++)
            if (own == v)
                return true;
    return false;
}

static struct judging_variant *add_judged(struct judging *g, const struct variant *v)
{
    for (size_t i = 0; i < g->variants.nr; i++)
        if (g->variants.items[i].variant == v)
            return &g->variants.items[i];
    struct judging_variant *judged = array_push(&g->variants);
    judged->variant = v;
    return judged;
}

static void add_once(struct judging *g, const struct benchmark *b)
{
    struct judging_variant *v = add_judged(g, b->variant);

    for (size_t i = 0; i < v->shapes.nr; i++)
        if (shape_equal(&v->shapes.items[i], &b->shape))
            return;
    *array_push(&v->shapes) = b->shape;
}

static int find_spec(struct judging *g, struct error *err)
{
    const struct judging_options *o = g->options;

    if (!o->spec)
        return error_set(err,
                         "--spec is missing, of a function of Python --like: the kernel that is "
                         "computed, such as gemm/nt (`harness list kernels`)");
    g->spec = registry_kernel(registry_builtin(), o->spec);
    if (g->spec)
        return 0;
    return error_set(err,
                     "--spec: this harness has no kernel \"%s\" (`harness list kernels`). A "
                     "plugin's own kernel cannot be judged: who is judged would bring the oracle",
                     o->spec);
}

static int check_device(struct workload *w, struct error *err)
{
    struct device *d = w->devices.items;

    if (d->kind != DEVICE_CPU && !device_lending_of(d->kind))
        return error_set(err,
                         "nobody is judged on the device %s, which lends no memory to a second "
                         "process: `harness verify` and `harness run` check results there, and "
                         "trust who brought the kernel (docs/judge.md)",
                         d->spec);
    if (device_label_of(d->label).graph)
        return error_set(err, "the judge has launches one by one: use --device %s, not %s",
                         device_kind_name(d->kind), d->spec);
    if (d->kind != DEVICE_CPU && w->guests.python.functions.nr)
        return error_set(err, "functions of Python are judged on the CPU alone, not on %s",
                         d->spec);
    return d->kind == DEVICE_CPU ? 0 : device_start(d, err);
}

/* Where plugins tell their tables; it is there as long as they do. */
static char *folder_of_tables;

/* What it may not do in a cell, and does not see there, it does not where it tells its tables. */
static int confine_process(struct error *err)
{
    environ = sandbox_environment(folder_of_tables);
    return sandbox_enter(SANDBOX_STAYS, err);
}

int judging_begin(struct judging_options *o, struct error *err)
{
    sandbox_keep_out();
    folder_of_tables = own_folder_make(err);
    o->workload.confine = confine_process;
    return folder_of_tables ? 0 : -1;
}

void judging_opened(void)
{
    own_folder_remove(folder_of_tables);
    folder_of_tables = NULL;
}

int judging_open(struct judging *g, const struct judging_options *o, struct error *err)
{
    char *filters[] = { (char *)o->spec };

    *g = (struct judging) { .options = o };
    if (find_spec(g, err) || workload_make(&g->workload, &o->workload, filters, 1, "", err))
        return -1;
    if (check_device(&g->workload, err))
        return -1;
    if (python_guest_settle(&g->workload.guests.python, err))
        return -1;
    const struct guests *guests = &g->workload.guests;
    for (size_t i = 0; i < g->workload.list.nr; i++) {
        const struct benchmark *b = &g->workload.list.items[i];
        if (strcmp(b->variant->kernel->name, o->spec) == 0 && is_guest(guests, b->variant))
            add_once(g, b);
    }
    if (guests->plugins.nr)
        g->plugin = guests->plugins.items[0].path;
    if (g->variants.nr)
        return 0;
    return error_set(err,
                     "the plugin has no variant of %s for this device: its kernel says .like = "
                     "\"%s\" (docs/judge.md)",
                     o->spec, o->spec);
}

void judging_close(struct judging *g)
{
    for (size_t i = 0; i < g->variants.nr; i++)
        array_release(&g->variants.items[i].shapes);
    array_release(&g->variants);
    workload_release(&g->workload);
}

/* ---- who stands beside it ---- */

static bool is_wanted(const struct judging *g, const struct variant *v)
{
    const struct string_list *names = &g->options->against;

    return string_list_has(names, v->name) ||
           (names->nr == 0 && !(v->flags & (VARIANT_PLAIN | VARIANT_PEER | VARIANT_HIDDEN)));
}

static int check_references(const struct judging *g, const struct judge_job *job, struct error *err)
{
    const struct string_list *names = &g->options->against;

    for (size_t i = 0; i < names->nr; i++) {
        bool found = false;
        for (int r = 0; r < job->nr_references; r++)
            found |= strcmp(job->references[r]->name, names->items[i]) == 0;
        if (!found)
            return error_set(err,
                             "--against: %s has no other variant %s of this device and of the "
                             "arithmetic of %s, which is %s",
                             g->spec->name, names->items[i], job->variant->name,
                             math_name(job->variant->math));
    }
    return 0;
}

/* The textbook's is on the CPU whatever the device: what it gives is the measure. */
static void find_references(const struct judging *g, struct judge_job *job)
{
    const struct registry *r = registry_builtin();
    const struct variant *v;

    for (size_t i = 0; (v = registry_variant_at(r, i)); i++) {
        if (v->kernel != g->spec || v->dtype != job->dtype || v->math != job->math)
            continue;
        if ((v->flags & VARIANT_PLAIN) && v->device == DEVICE_CPU)
            job->textbook = v;
        if (v != job->variant && v->device == job->device->kind && is_wanted(g, v) &&
            job->nr_references < JUDGE_REFERENCES)
            job->references[job->nr_references++] = v;
    }
}

/* Guests are held to fp32, whatever they say of themselves, unless another arithmetic is asked for,
 * by which variants were chosen then. Those of this build have what they have. */
static void choose_arithmetic(const struct judging *g, struct judge_job *job)
{
    bool chosen = !guests_any(&g->workload.guests) || g->options->workload.dtypes.nr > 0;

    job->dtype = chosen ? job->variant->dtype : DTYPE_FP32;
    job->math = chosen ? job->variant->math : MATH_FP32;
}

int judging_run(struct judging *g, const struct judging_variant *v, struct judgement *j,
                struct error *err)
{
    const struct judging_options *o = g->options;
    struct guest_setting setting = { .setting = "" };
    struct judge_job job = {
        .guests = guests_to_be_told(&g->workload.guests) ? &g->workload.guests : NULL,
        .spec = g->spec,
        .variant = v->variant,
        .shapes = v->shapes.items,
        .nr_shapes = v->shapes.nr,
        .device = g->workload.devices.items,
        .sampling = o->sampling,
        .rounds = (int)o->rounds,
        .other_shapes = (int)o->other_shapes,
        .lot = (uint64_t)o->measuring.seed,
        .timeout = o->measuring.timeout,
        .plugin = g->plugin,
        .interrupted = o->measuring.interrupted,
    };

    *j = (struct judgement) { .shapes = ARRAY_EMPTY };
    guests_setting(&g->workload.guests, v->variant, &setting);
    job.setting = setting.setting;
    job.tuned = o->tuned && *setting.setting;
    choose_arithmetic(g, &job);
    find_references(g, &job);
    return check_references(g, &job, err) || judge_run(&job, j, err) ? -1 : 0;
}

double judging_roof(const struct judging *g, const struct judgement *j, size_t shape,
                    const struct records *roofs, const struct machine *machine)
{
    const struct judged_shape *s = &j->shapes.items[shape];
    const struct metric_context context = { machine, roofs->roofs, roofs->nr_roofs };
    struct variant like = *j->job.variant;
    struct measurement m;
    struct binding_roof roof;

    if (!s->timed)
        return NAN;
    like.kernel = g->spec; /* the work is that of the spec, whatever a plugin says of it */
    const struct benchmark bench = { .variant = &like, .shape = s->shape };
    case_describe(&bench, &g->workload.device, &m);
    binding_roof_of(&m, s->own.ns, &context, &roof);
    measurement_release(&m);
    return roof.fraction;
}
