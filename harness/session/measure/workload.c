/* SPDX-License-Identifier: MIT */
#include "session/measure/workload.h"

#include "base/array.h"
#include "command/command_words.h"
#include "machine/host_sensors.h"
#include "text/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIM_NAME_SIZE = 32 };

/* "heads=8,16": dims of kernels that have no option of their own. The list of options was split at
 * commas: what has no name, "16", is one more value of the dim before it, whose name `name` holds.
 */
static int add_dim_option(struct selection *s, const char *text, char name[DIM_NAME_SIZE],
                          struct error *err)
{
    const char *equals = strchr(text, '=');
    struct int_list values = { 0 };

    if (equals == text || equals - text >= DIM_NAME_SIZE || (!equals && !*name))
        return error_set(err, "--dim: \"%s\" is not NAME=LIST", text);
    if (equals)
        snprintf(name, DIM_NAME_SIZE, "%.*s", (int)(equals - text), text);
    int rc = text_parse_ints(equals ? equals + 1 : text, 1, DIM_LIMIT, name, &values, err);
    if (rc == 0)
        rc = selection_add_dim(s, name, &values, err);
    array_release(&values);
    return rc;
}

int workload_add_dims(struct selection *s, const struct string_list *dims, struct error *err)
{
    char name[DIM_NAME_SIZE] = "";

    for (size_t i = 0; i < dims->nr; i++)
        if (add_dim_option(s, dims->items[i], name, err))
            return -1;
    return 0;
}

static int set_caches(struct selection *s, const struct string_list *caches, struct error *err)
{
    for (size_t i = 0; i < caches->nr; i++) {
        if (selection_add_cache(s, caches->items[i], err))
            return error_prefix(err, "--cache");
    }
    return 0;
}

static void copy_strings(struct string_list *to, const struct string_list *from)
{
    for (size_t i = 0; i < from->nr; i++)
        string_list_add(to, from->items[i]);
}

const char *workload_option(const struct workload_options *o)
{
    const struct option_given options[] = {
        { "--suite", o->suite },         { "--device", o->device },
        { "--variant", o->variants.nr }, { "--dtype", o->dtypes.nr },
        { "--cache", o->caches.nr },     { "--fill", o->fills.nr },
        { "--dim", o->dims.nr },         { "--batch", o->batch.nr },
        { "--seq", o->seq.nr },          { "--test-shapes", o->test_shapes },
        { "--plugin", o->plugins.nr },   { "--python", o->python.nr },
        { "--like", o->like },           { "--warm-up", o->warm_up > 0 },
        { "--clock", o->clock },
    };

    return options_first_given(options, sizeof(options) / sizeof(options[0]));
}

/* Whether anything but a filter narrows what is chosen. */
static bool has_selection_options(const struct workload_options *o)
{
    return o->models.nr || o->variants.nr || o->dtypes.nr || o->caches.nr || o->fills.nr ||
           o->dims.nr || o->batch.nr || o->seq.nr || o->test_shapes;
}

static int select_by_options(struct workload *c, const struct workload_options *o, char **filters,
                             int nr, struct error *err)
{
    struct selection *selection;

    c->suite = (struct suite) { .sampling = sampling_default, .launches = 3 };
    selection = c->suite.selections = memory_zeroed(1, sizeof(*selection));
    c->suite.nr = c->suite.capacity = 1;
    for (int i = 0; i < nr; i++)
        string_list_add(&selection->filters, filters[i]);
    copy_strings(&selection->models, &o->models);
    copy_strings(&selection->variants, &o->variants);
    copy_strings(&selection->maths, &o->dtypes);
    selection->test_shapes = o->test_shapes;
    selection->fills = &c->fills;
    if (set_caches(selection, &o->caches, err) ||
        fill_list_parse(&c->fills, "--fill", &o->fills, err) ||
        (o->batch.nr && selection_add_dim(selection, "batch", &o->batch, err)) ||
        (o->seq.nr && selection_add_dim(selection, "seq", &o->seq, err)))
        return -1;
    return workload_add_dims(selection, &o->dims, err);
}

/* True where the text is the whole key of a benchmark that this program has for the device. */
static bool find_benchmark_by_key(const char *key, struct workload *c, const struct device *device,
                                  struct benchmark *b)
{
    struct benchmark_name name, found;
    struct error ignored;

    if (strpbrk(key, "*?[") || benchmark_name_parse(key, &name, &ignored))
        return false;
    *b = (struct benchmark) { .variant =
                                  registry_variant(&c->guests.all, name.kernel, name.variant) };
    if (!b->variant)
        return false;
    for (int i = 0; i < SHAPE_MAX && b->variant->kernel->dims[i]; i++)
        b->shape.dim[i] = benchmark_name_dim(&name, b->variant->kernel->dims[i], 0);
    b->inputs = fill_list_take(&c->fills, name.fill);
    int cache = cache_state_find(name.cache);
    b->cache = cache < 0 ? CACHE_WARM : (enum cache_state)cache;
    benchmark_name_of(b, device, &found);
    return strcmp(found.key, key) == 0;
}

static int device_with_key(struct workload *c, const char *key, struct benchmark *b)
{
    for (size_t i = 0; i < c->devices.nr; i++)
        if (find_benchmark_by_key(key, c, &c->devices.items[i], b))
            return (int)i;
    return -1;
}

/* Until workload_drop_twins() some may be there twice. */
static void add_to_workload(struct workload *c, const struct benchmark *b, int device)
{
    c->device_of = array_grow(c->device_of, c->list.nr, &c->device_capacity, sizeof(*c->device_of));
    c->device_of[c->list.nr] = device;
    *array_push(&c->list) = *b;
}

/* The same with each setting of the variant that there is, but for what another filter leaves out.
 */
static void add_settings_to_workload(struct workload *c, const struct selection *s,
                                     const struct benchmark *b, int device)
{
    struct benchmark_name name;
    const struct variant *v;

    for (size_t i = 0; (v = registry_variant_at(&c->guests.all, i)); i++) {
        struct benchmark set = *b;
        set.variant = v;
        if (v->kernel != b->variant->kernel || !selection_word_names(b->variant->name, v))
            continue;
        benchmark_name_of(&set, &c->devices.items[device], &name);
        if (selection_takes(s, v, name.key))
            add_to_workload(c, &set, device);
    }
}

/* Takes whole keys out of the filters; where nothing is left of these, nothing else is chosen. */
static void take_keys(struct workload *c)
{
    struct selection *s = &c->suite.selections[0];
    struct string_list rest = { 0 };
    struct benchmark b;

    for (size_t i = 0; i < s->filters.nr; i++) {
        int device = device_with_key(c, s->filters.items[i], &b);
        if (device < 0)
            string_list_add(&rest, s->filters.items[i]);
        else
            add_settings_to_workload(c, s, &b, device);
    }
    s->beside_keys = rest.nr < s->filters.nr;
    string_list_release(&s->filters);
    s->filters = rest;
    if (rest.nr == 0)
        selection_release(&c->suite.selections[--c->suite.nr]);
}

static int expand_on_device(struct workload *c, const struct registry *registry, int device,
                            struct error *err)
{
    const struct device *d = &c->devices.items[device];
    struct benchmark_list all = { 0 };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->suite.nr; i++)
        rc = selection_expand(&c->suite.selections[i], registry, d, &all, err);
    for (size_t i = 0; rc == 0 && i < all.nr; i++)
        add_to_workload(c, &all.items[i], device);
    array_release(&all);
    return rc;
}

static int expand_workload(struct workload *c, const struct registry *registry, bool by_key,
                           struct error *err)
{
    int rc = 0;

    if (by_key)
        take_keys(c);
    for (size_t i = 0; rc == 0 && i < c->devices.nr; i++)
        rc = expand_on_device(c, registry, (int)i, err);
    workload_drop_twins(c); /* selections of a suite may overlap */
    if (rc == 0 && by_key && c->list.nr == 0)
        rc =
            error_set(err, "nothing is selected: filters with ! leave out every key that is given");
    return rc;
}

static int open_workload_devices(struct workload *c, const char *specs, bool several,
                                 struct error *err)
{
    if (devices_open(&c->devices, specs, err))
        return -1;
    if (c->devices.nr > 1 && !several)
        return error_set(err,
                         "--device: one device, not the %zu of \"%s\"; `harness run` sweeps "
                         "several",
                         c->devices.nr, specs);
    c->device = c->devices.items[0];
    return 0;
}

bool workload_has_guests(const struct workload_options *o)
{
    return o->plugins.nr > 0 || o->python.nr > 0;
}

int workload_python_device(const struct workload_options *o, enum device_kind *kind,
                           struct error *err)
{
    bool alone;
    int found = devices_kind_of(o->device ? o->device : DEVICE_SPEC_USUAL, &alone);

    *kind = found < 0 ? DEVICE_CPU : (enum device_kind)found;
    return alone || o->python.nr == 0
               ? 0
               : error_set(err,
                           "--python: a function is called on one kind of device at a time, not on "
                           "those of --device %s",
                           o->device);
}

int workload_open_guests(struct guests *g, const struct workload_options *o, struct error *err)
{
    struct param_list parameters = { 0 };
    struct string_list settings = { 0 };
    struct python_request python = { &o->python, o->like, &o->dtypes, NULL, DEVICE_CPU };
    const struct guests_asked asked = {
        .plugins = &o->plugins, .confine = o->confine, .settings = &settings, .python = &python
    };

    *g = (struct guests) { .command_guest = NULL };
    int rc = workload_python_device(o, &python.device, err);
    rc = rc ? rc : param_parse(&o->params, &parameters, err);
    if (rc == 0) {
        param_list_settings(&parameters, &settings);
        copy_strings(&settings, &o->settings);
        rc = guests_open(g, registry_builtin(), &asked, err);
        if (rc && strncmp(err->message, "--", 2) != 0) /* that says itself of which option it is */
            error_prefix(err, o->plugins.nr ? "--plugin" : "--python");
    }
    param_release(&parameters);
    string_list_release(&settings);
    return rc;
}

int plugins_check_device(const struct guests *g, const struct device *d, struct error *err)
{
    const struct variant *v;
    enum device_kind has = d->kind;

    for (size_t i = 0; (v = registry_variant_at(&g->own, i)); i++) {
        if (v->device == d->kind)
            return 0;
        has = v->device;
    }
    return error_set(err, "what the plugins have is for device %s: give --device %s",
                     device_kind_name(has), device_kind_name(has));
}

static void look_at_clock(const struct device *d, struct clock_hold *h)
{
    struct nvml_gpu gpu;
    char driver[32];
    struct processors own;

    *h = (struct clock_hold) { .how = "this device has no clock that can be seen" };
    if (d->kind == DEVICE_CPU) {
        host_own_cpus(&own);
        clock_hold_cpu("", &own, h);
    } else if (d->ops->nvidia) {
        clock_hold_gpu(nvml_list(&gpu, 1, driver) > 0 ? &gpu : NULL, h);
    }
}

/* How long warm-up may take, and which clock is meant. What cannot be seen cannot be steady. */
static int set_clock(struct workload *c, const struct workload_options *o, struct error *err)
{
    if (o->warm_up > 0)
        c->suite.sampling.warmup_limit = o->warm_up;
    if (!o->clock)
        return 0;
    c->asks_clock = true;
    c->suite.sampling.steady = strcmp(o->clock, "steady") == 0;
    if (!c->suite.sampling.steady && strcmp(o->clock, "free") != 0)
        return error_set(err, "--clock: \"%s\" is neither free nor steady", o->clock);
    look_at_clock(&c->device, &c->hold);
    if (!c->suite.sampling.steady || c->hold.seen)
        return 0;
    return error_set(err, "--clock steady cannot be had: %s. --clock free measures without it",
                     c->hold.how);
}

/* A suite is a complete statement of what to measure; mixing it with a selection would make runs
 * of the "same" suite incomparable. */
int workload_make(struct workload *c, const struct workload_options *o, char **filters, int nr,
                  const char *otherwise, struct error *err)
{
    bool guests = workload_has_guests(o),
         selects = nr > 0 || has_selection_options(o) || (guests && !o->suite);

    *c = (struct workload) { 0 };
    if (o->suite && selects)
        return error_set(err,
                         "--suite says what to measure: leave out filters, --model, "
                         "--variant, --dtype, --cache, --fill, --batch, --seq and --dim");
    if (workload_open_guests(&c->guests, o, err))
        return -1;
    if (selects ? select_by_options(c, o, filters, nr, err)
                : suite_load(&c->suite, o->suite ? o->suite : otherwise, err))
        return -1;
    if (open_workload_devices(c, o->device ? o->device : DEVICE_SPEC_USUAL, o->several_devices,
                              err) ||
        set_clock(c, o, err))
        return -1;
    bool theirs = guests && nr == 0 && !o->suite;
    for (size_t i = 0; theirs && i < c->devices.nr; i++)
        if (plugins_check_device(&c->guests, &c->devices.items[i], err))
            return -1;
    const struct registry *registry = o->beside ? &c->guests.joined.beside : &c->guests.own;
    if (expand_workload(c, theirs ? registry : &c->guests.all, nr > 0 && !has_selection_options(o),
                        err))
        return -1;
    return o->settle ? o->settle(o->settle_context, c, err) : 0;
}

/* What says how a kernel is to be computed says nothing of a program. */
static const char *option_of_kernels(const struct workload_options *o)
{
    const struct option_given options[] = {
        { "--suite", o->suite },
        { "--device", o->device },
        { "--model", o->models.nr },
        { "--variant", o->variants.nr },
        { "--dtype", o->dtypes.nr },
        { "--cache", o->caches.nr },
        { "--fill", o->fills.nr },
        { "--warm-up", o->warm_up > 0 },
        { "--clock", o->clock },
        { "--plugin", o->plugins.nr },
        { "--test-shapes", o->test_shapes },
        { "--python", o->python.nr },
        { "--like", o->like },
    };

    return options_first_given(options, sizeof(options) / sizeof(options[0]));
}

static void name_dims(struct string_list *dims, const struct workload_options *o)
{
    char name[NAME_SIZE];

    if (o->batch.nr)
        string_list_add(dims, "batch");
    if (o->seq.nr)
        string_list_add(dims, "seq");
    for (size_t i = 0; i < o->dims.nr; i++) { /* "n=1", "2", "n=3": more values of the same */
        bool known = !strchr(o->dims.items[i], '=');
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(o->dims.items[i], "="), o->dims.items[i]);
        for (size_t d = 0; d < dims->nr; d++)
            known |= strcmp(dims->items[d], name) == 0;
        if (!known)
            string_list_add(dims, name);
    }
}

/* At least ten samples, if three seconds are enough for them; a longer program is run three times a
 * launch. */
static const struct sampling command_sampling = {
    .min_time = 0.1,
    .max_time = 3,
    .warmup = 0.02,
    .precision = 0.01,
    .min_samples = 10,
    .max_samples = 10000,
};

/* The name and the parameters of the first are those of all: by them the benchmarks are paired. */
static void share_parameters(struct command_spec *specs, size_t nr)
{
    for (size_t i = 1; i < nr; i++) {
        snprintf(specs[i].name, sizeof(specs[i].name), "%s", specs[0].name);
        command_spec_copy_parameters(&specs[i], &specs[0]);
    }
}

int workload_make_command(struct workload *c, const struct workload_options *o,
                          const struct param_list *parameters, struct command_spec *specs,
                          size_t nr, struct error *err)
{
    const struct guests_asked asked = { .command = &specs[0] };
    const char *option = option_of_kernels(o);

    *c = (struct workload) { 0 };
    if (option)
        return error_set(err, "%s is about kernels: it does not go with a command", option);
    name_dims(&specs[0].dims, o);
    if (select_by_options(c, o, NULL, 0, err) ||
        param_give(parameters, &specs[0], &c->suite.selections[0], err))
        return -1;
    share_parameters(specs, nr);
    if (command_spec_check_use(specs, nr, err) ||
        guests_open(&c->guests, registry_builtin(), &asked, err) ||
        open_workload_devices(c, "process", false, err))
        return -1;
    c->suite.sampling = command_sampling;
    return expand_workload(c, &c->guests.own, false, err);
}

void workload_release(struct workload *c)
{
    array_release(&c->list);
    free(c->device_of);
    devices_close(&c->devices);
    suite_release(&c->suite);
    fill_list_release(&c->fills);
    guests_close(&c->guests);
}

const struct device *workload_device(const struct workload *c, size_t i)
{
    return &c->devices.items[c->device_of[i]];
}

void workload_devices(const struct workload *c, struct strbuf *text)
{
    for (size_t i = 0; i < c->devices.nr; i++)
        strbuf_addf(text, "%s%s", i ? "," : "", c->devices.items[i].spec);
}

/* ---- a command ---- */

int command_options_unused(const struct command_options *o, bool plugins, const char *verb,
                           struct error *err)
{
    const struct option_given options[] = {
        { "--name", o->names.nr },
        { "--prepare", o->prepare.nr },
        { "--conclude", o->conclude.nr },
        { "--expect", o->expect },
        { "--input", o->input },
        { "--shell", o->shell },
        { "--param", o->params.nr && !plugins },
        { "--ignore-codes", o->ignored.nr },
        { "--ignore-status", o->ignore_status },
        { number_options_given(&o->numbers), number_options_given(&o->numbers) != NULL },
    };

    const char *given = options_first_given(options, sizeof(options) / sizeof(options[0]));

    if (given)
        return error_set(err, "%s is of a command: harness %s %s ... -- COMMAND", given, verb,
                         given);
    return 0;
}

/* As one line for a shell, which takes it apart itself. */
static void wrap_in_shell(const char *shell, struct command_spec *spec)
{
    struct string_list argv = { 0 };
    struct strbuf line;

    strbuf_init(&line);
    for (size_t i = 0; i < spec->argv.nr; i++)
        strbuf_addf(&line, "%s%s", i ? " " : "", spec->argv.items[i]);
    string_list_add(&argv, shell);
    string_list_add(&argv, "-c");
    string_list_add(&argv, line.data);
    strbuf_release(&line);
    string_list_release(&spec->argv);
    spec->argv = argv;
}

static int split_commands(const struct command_options *o, bool several,
                          struct command_spec specs[COMMANDS_MAX], size_t *nr, struct error *err)
{
    *nr = 1;
    for (int i = 0; i < o->argv.argc; i++) {
        if (!several || strcmp(o->argv.argv[i], "--versus") != 0) {
            string_list_add(&specs[*nr - 1].argv, o->argv.argv[i]);
            continue;
        }
        if (*nr == COMMANDS_MAX)
            return error_set(err, "at most %d commands are compared at a time", COMMANDS_MAX);
        ++*nr;
    }
    for (size_t i = 0; i < *nr; i++)
        if (specs[i].argv.nr == 0)
            return error_set(err, "there is no command behind %s", i ? "--versus" : "--");
    return 0;
}

/* NULL where there is none. */
static const char *one_for(const struct string_list *texts, size_t which)
{
    return texts->nr == 0 ? NULL : texts->items[texts->nr == 1 ? 0 : which];
}

static int check_each(const char *option, const struct string_list *texts, size_t nr,
                      struct error *err)
{
    if (texts->nr <= 1 || texts->nr == nr)
        return 0;
    if (nr == 1)
        return error_set(err, "%s is there %zu times, but there is one command", option, texts->nr);
    return error_set(err, "%s is there %zu times: give one for all %zu commands, or one for each",
                     option, texts->nr, nr);
}

static void name_by_default(const struct command_options *o, const struct workload_options *what,
                            struct command_spec *spec)
{
    struct string_list parameters = { 0 };
    char name[NAME_SIZE];

    name_dims(&parameters, what);
    for (size_t i = 0; i < o->params.nr; i++) {
        const char *text = o->params.items[i];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
        string_list_add(&parameters, name);
    }
    command_default_name(spec, &parameters);
    string_list_release(&parameters);
}

static int name_command(const struct command_options *o, const struct workload_options *what,
                        struct command_spec *spec, struct error *err)
{
    if (o->names.nr != 1) {
        name_by_default(o, what, spec);
        return 0;
    }
    if (strlen(o->names.items[0]) >= sizeof(spec->name))
        return error_set(err, "--name: at most %d characters", NAME_VARIANT_MAX);
    snprintf(spec->name, sizeof(spec->name), "%s", o->names.items[0]);
    return 0;
}

static void fill_command(const struct command_options *o, size_t which, struct command_spec *spec)
{
    if (o->shell)
        wrap_in_shell(o->shell, spec);
    spec->prepare = memory_string(one_for(&o->prepare, which));
    spec->conclude = memory_string(one_for(&o->conclude, which));
    spec->input = memory_string(o->input);
    spec->expect = memory_string(o->expect);
    spec->ignore_status = o->ignore_status;
    for (size_t i = 0; i < o->ignored.nr; i++)
        *array_push(&spec->ignored) = o->ignored.items[i];
}

int command_options_specs(const struct command_options *o, const struct workload_options *what,
                          bool several, struct command_spec specs[COMMANDS_MAX], size_t *nr,
                          struct error *err)
{
    if (split_commands(o, several, specs, nr, err) || check_each("--name", &o->names, *nr, err) ||
        check_each("--prepare", &o->prepare, *nr, err) ||
        check_each("--conclude", &o->conclude, *nr, err))
        return -1;
    for (size_t i = 0; i < *nr; i++) {
        fill_command(o, i, &specs[i]);
        if (name_command(o, what, &specs[i], err) ||
            number_options_parse(&o->numbers, &specs[i].numbers, err))
            return -1;
    }
    return 0;
}

/* ---- what is no filter ---- */

void command_options_hint(char **filters, int nr, const char *verb, const char *behind,
                          struct error *err)
{
    struct strbuf first;
    struct error ignored;

    if (nr == 0)
        return;
    strbuf_init(&first);
    strbuf_add(&first, filters[0], strcspn(filters[0], " "));
    char *program = command_find_program(first.data, &ignored);
    if (program) {
        size_t length = strlen(err->message);
        snprintf(err->message + length, sizeof(err->message) - length,
                 "\n%s is a program: put what is to be timed behind --, as in: harness %s -- %s%s",
                 first.data, verb, filters[0], behind);
    }
    free(program);
    strbuf_release(&first);
}
