/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/resource.h"
#include "base/text.h"
#include "cli/shared_options.h"
#include "device/devices.h"
#include "machine/environment.h"
#include "measure/verified_variants.h"
#include "metrics/metric.h"
#include "models/gpt_config.h"
#include "plugin/guests.h"
#include "process/process_group.h"
#include "session/history_file.h"
#include "session/viewing.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the child says of a variant, in memory that both see. */
enum answer { ANSWER_NONE, ANSWER_YES, ANSWER_NO };
struct answers {
    enum answer answer;
    struct error why;
};

static bool is_variant_asked(const struct variant *v)
{
    const unsigned flags = v->flags & (VARIANT_VENDOR | VARIANT_PEER | VARIANT_HIDDEN);

    return v->device == DEVICE_CPU && flags == VARIANT_VENDOR && v->supports != NULL &&
           v->kernel->nr_shapes > 0;
}

static void ask_variants(const struct registry *r, size_t nr, struct answers *answers)
{
    struct device device;
    struct error err;

    if (device_open(&device, "cpu", &err) != 0)
        return;
    for (size_t i = 0; i < nr; i++) {
        const struct variant *v = registry_variant_at(r, i);
        if (!is_variant_asked(v))
            continue;
        bool yes = v->supports(v->kernel, &v->kernel->shapes[0], &device, &answers[i].why);
        answers[i].answer = yes ? ANSWER_YES : ANSWER_NO;
    }
}

struct question {
    const struct registry *registry;
    size_t nr;
    struct answers *answers;
};

static int ask_variants_and_exit(const void *context)
{
    const struct question *q = context;

    ask_variants(q->registry, q->nr, q->answers);
    _exit(0);
}

/* Some seconds are enough for any library. */
static void ask_variants_in_child(const struct question *q)
{
    enum { LONGEST = 5 };
    struct process_group g;
    struct error ignored; /* then nothing is known of any */

    if (process_group_start(&g, 0, ask_variants_and_exit, q, &ignored))
        return;
    process_group_wait(&g, LONGEST);
    process_group_kill(&g);
    process_group_close(&g);
}

/* Which variants can run on this machine, as far as it depends on a library that they open at run
 * time. Asked in a child: a library may start threads, reserve memory or end its process.
 *
 * Fills why[i] of the i-th of the registry's `nr` variants: NULL where it runs as far as is known,
 * else the reason, for free(). Only vendor variants of the CPU are asked, and of them no peers,
 * which say it where they are measured. */
static void available_ask(const struct registry *r, size_t nr, char **why)
{
    const size_t size = nr * sizeof(struct answers);
    struct answers *answers =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (answers == MAP_FAILED)
        return;
    ask_variants_in_child(&(struct question) { r, nr, answers });
    for (size_t i = 0; i < nr; i++) {
        const struct variant *v = registry_variant_at(r, i);
        if (answers[i].answer == ANSWER_NO)
            why[i] = memory_string(answers[i].why.message);
        else if (answers[i].answer == ANSWER_NONE && is_variant_asked(v))
            why[i] = memory_string("its library ends the process that opens it");
    }
    munmap(answers, size);
}

/* ---- sections ---- */

struct list_options {
    struct string_list plugins;
    const char *db;
    bool json, names;
};

/* One thing: a name and what is to be known of it. */
static void add_listed(cJSON *section, const char *name, const char *summary)
{
    cJSON *item = cJSON_CreateObject();

    cJSON_AddStringToObject(item, "name", name);
    json_add_string(item, "summary", summary);
    cJSON_AddItemToArray(section, item);
}

static cJSON *last_listed(cJSON *section)
{
    return cJSON_GetArrayItem(section, cJSON_GetArraySize(section) - 1);
}

static void list_kernels(cJSON *section, const struct registry *r)
{
    const struct kernel *k;

    for (size_t i = 0; (k = registry_kernel_at(r, i)); i++) {
        add_listed(section, k->name, k->summary);
        cJSON *dims = cJSON_AddArrayToObject(last_listed(section), "dims");
        for (int d = 0; d < kernel_nr_dims(k); d++)
            cJSON_AddItemToArray(dims, cJSON_CreateString(k->dims[d]));
    }
}

/* A CUDA variant says whether a real device has verified it. */
static void add_verification(cJSON *item, const struct verification_list *record,
                             const struct variant *v)
{
    const char *source = registry_variant_source(registry_builtin(), v);
    const struct verification *entry = verification_find(record, v->kernel->name, v->name);
    char text[VERIFICATION_TEXT];

    if (v->device != DEVICE_CUDA)
        return;
    json_add_string(item, "source", source);
    json_add_string(item, "verification", verification_describe(entry, source, text));
    if (entry)
        cJSON_AddItemToObject(item, "verified", verification_to_json(entry));
}

/* Names what it lacks here, if anything: "unavailable" is a reason. */
static void add_availability(cJSON *item, const char *why)
{
    cJSON_AddBoolToObject(item, "available", why == NULL);
    json_add_string(item, "unavailable", why);
}

static void list_variants(cJSON *section, const struct registry *r)
{
    const struct variant *v;
    size_t nr = 0;
    char name[2 * NAME_SIZE], **why;
    struct verification_list record = { 0 };
    struct error ignored; /* the record in the binary is one that a test has read */

    while (registry_variant_at(r, nr) != NULL)
        nr++;
    why = memory_zeroed(nr + 1, sizeof(*why));
    available_ask(r, nr, why);
    verification_builtin(&record, &ignored);
    for (size_t i = 0; (v = registry_variant_at(r, i)); i++) {
        if (v->flags & VARIANT_HIDDEN)
            continue;
        snprintf(name, sizeof(name), "%s/%s", v->kernel->name, v->name);
        add_listed(section, name, v->summary);
        cJSON_AddStringToObject(last_listed(section), "device", device_kind_name(v->device));
        cJSON_AddStringToObject(last_listed(section), "math", math_name(v->math));
        cJSON_AddBoolToObject(last_listed(section), "vendor", (v->flags & VARIANT_VENDOR) != 0);
        cJSON_AddBoolToObject(last_listed(section), "peer", (v->flags & VARIANT_PEER) != 0);
        cJSON_AddBoolToObject(last_listed(section), "built", true);
        if (v->device == DEVICE_CPU && !(v->flags & VARIANT_PEER))
            add_availability(last_listed(section), why[i]);
        add_verification(last_listed(section), &record, v);
    }
    for (size_t i = 0; i < nr; i++)
        free(why[i]);
    free(why);
    verification_release(&record);
    for (const struct missing_variant *m = r->missing; m->name; m++) {
        snprintf(name, sizeof(name), "%s/?/%s", m->operation, m->name);
        add_listed(section, name, m->why);
        cJSON_AddBoolToObject(last_listed(section), "built", false);
    }
}

static void list_models(cJSON *section)
{
    char summary[160];

    for (const struct gpt_config *c = gpt_configs; c->name; c++) {
        snprintf(summary, sizeof(summary),
                 "%lld layers, %lld heads, width %lld, block %lld, %.1f M parameters",
                 (long long)c->layers, (long long)c->heads, (long long)c->width,
                 (long long)c->block, (double)gpt_config_parameters(c) * 1e-6);
        add_listed(section, c->name, summary);
    }
}

/* Those of programs are of the history. */
static void list_metrics(cJSON *section)
{
    static const char *const betters[] = {
        [LOWER_IS_BETTER] = "lower",
        [HIGHER_IS_BETTER] = "higher",
        [NO_DIRECTION] = "none",
    };
    const struct metric *m;

    for (size_t i = 0; (m = metric_at(i)); i++) {
        add_listed(section, m->id, m->number ? "what a program says of itself" : m->label);
        cJSON *item = last_listed(section);
        json_add_string(item, "unit", m->unit);
        cJSON_AddStringToObject(item, "better", betters[m->direction]);
        if (m->floor > 0)
            json_add_number(item, "floor", m->floor);
    }
}

/* Suites and figures are data files; their own summary stands in them. */
static void list_resources(cJSON *section, const char *folder, const char *summary_key)
{
    size_t length = strlen(folder);
    char name[96];

    for (const struct resource *r = resource_all(); r->name; r++) {
        if (strncmp(r->name, folder, length) != 0)
            continue;
        cJSON *json = cJSON_ParseWithLength(r->data, r->length);
        snprintf(name, sizeof(name), "%s", json_string(json, "name", r->name + length));
        add_listed(section, name, json_string(json, summary_key, ""));
        cJSON_Delete(json);
    }
}

static void list_suites(cJSON *section)
{
    list_resources(section, "suites/", "summary");
}

static void add_figure_modes(cJSON *item, unsigned modes)
{
    cJSON *array = cJSON_AddArrayToObject(item, "modes");

    for (int bit = 0; bit < PLOT_MODE_NR; bit++)
        if (modes & 1u << bit)
            cJSON_AddItemToArray(array,
                                 cJSON_CreateString(plot_mode_name((enum plot_mode)(1u << bit))));
}

static void list_figure(cJSON *section, const struct preset *preset)
{
    add_listed(section, preset->name, preset->description ? preset->description : preset->title);
    cJSON_AddStringToObject(last_listed(section), "type", preset->type->name);
    add_figure_modes(last_listed(section), preset->modes);
    cJSON_AddStringToObject(last_listed(section), "section", preset->section);
    cJSON_AddStringToObject(last_listed(section), "title", preset->title);
    json_add_string(last_listed(section), "from", preset->from);
}

/* Those of harness.json too. Without it the others are there all the same. */
static void list_figures(cJSON *section)
{
    static const struct viewing_options none = { .db = NULL };
    struct viewing v;
    struct error err;

    viewing_init(&v);
    if (viewing_configure(&v, &none, &err))
        terminal_note("harness: the figures of your own are not all here: %s\n", err.message);
    for (size_t i = 0; i < v.config.presets.nr; i++)
        list_figure(section, &v.config.presets.items[i]);
    viewing_release(&v);
}

static void list_devices(cJSON *section)
{
    struct device d;
    struct error err;

    for (int kind = 0; kind < DEVICE_KIND_NR; kind++) {
        if (kind == DEVICE_FAKE)
            continue;
        const char *name = device_kind_name((enum device_kind)kind);
        bool opened = device_open(&d, name, &err) == 0;
        add_listed(section, name, opened ? d.describe : err.message);
        cJSON_AddBoolToObject(last_listed(section), "available", opened);
        if (opened)
            device_close(&d);
    }
}

static void list_machine(cJSON *section)
{
    struct machine m;
    char summary[256];

    environment_machine(&m);
    snprintf(summary, sizeof(summary), "%s, %d cores, %s, %lld GiB; id %s", m.cpu, m.cores, m.isa,
             (long long)(m.memory >> 30), m.id);
    add_listed(section, m.class_name, summary);
}

/* One row a section; `of` is for what the registry holds, which plugins add to. */
static const struct {
    const char *name;
    void (*fill)(cJSON *section);
    void (*of)(cJSON *section, const struct registry *r);
} sections[] = {
    { .name = "kernels", .of = list_kernels },   { .name = "variants", .of = list_variants },
    { .name = "models", .fill = list_models },   { .name = "suites", .fill = list_suites },
    { .name = "metrics", .fill = list_metrics }, { .name = "figures", .fill = list_figures },
    { .name = "devices", .fill = list_devices }, { .name = "machines", .fill = list_machine },
};
enum { NR_SECTIONS = sizeof(sections) / sizeof(sections[0]) };

static int is_section_chosen(const char *section, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], section) == 0)
            return 1;
    return argc == 0;
}

static int check_sections(int argc, char **argv, struct error *err)
{
    for (int i = 0; i < argc; i++) {
        const char *names[NR_SECTIONS + 1] = { NULL };
        int known = 0;
        for (int s = 0; s < NR_SECTIONS; s++) {
            names[s] = sections[s].name;
            known |= strcmp(names[s], argv[i]) == 0;
        }
        const char *nearest = text_nearest(argv[i], names);
        if (!known)
            return error_set(err,
                             "cannot list \"%s\"%s%s%s; there are kernels, variants, models, "
                             "suites, metrics, figures, devices, machines",
                             argv[i], nearest ? "; did you mean " : "", nearest ? nearest : "",
                             nearest ? "?" : "");
    }
    return 0;
}

/* Columns for the names of a section. */
static int listed_width(const cJSON *section)
{
    const cJSON *item;
    int width = 28;

    cJSON_ArrayForEach(item, section)
    {
        int length = 1 + (int)strlen(json_string(item, "name", ""));
        width = length > width ? length : width;
    }
    return width;
}

/* What a figure has beside its summary: "[bars; single, multi; in speed]". */
static void add_figure_facts(const cJSON *item, struct strbuf *page)
{
    const cJSON *modes = cJSON_GetObjectItemCaseSensitive(item, "modes"), *mode;
    const char *comma = "; ";

    if (!modes)
        return;
    terminal_add(page, " [%s", json_string(item, "type", ""));
    cJSON_ArrayForEach(mode, modes)
    {
        terminal_add(page, "%s%s", comma, mode->valuestring);
        comma = ", ";
    }
    terminal_add(page, "; in %s]", json_string(item, "section", ""));
}

/* Of a metric that is judged: "[GFLOP/s, higher is better]", "[lower is better, floor 0.5 %]". */
static void add_metric_facts(const cJSON *item, struct strbuf *page)
{
    const char *better = json_string(item, "better", "none"), *unit = json_string(item, "unit", "");
    char text[TEXT_UNIT_SIZE] = "";
    const cJSON *floor = cJSON_GetObjectItemCaseSensitive(item, "floor");

    if (strcmp(better, "none") == 0)
        return;
    if (floor)
        snprintf(text, sizeof(text), ", floor %g %%", 100 * strtod(floor->valuestring, NULL));
    terminal_add(page, " [%s%s%s is better%s]", unit, *unit ? ", " : "", better, text);
}

static void add_list_section(const char *name, const cJSON *section, struct strbuf *page)
{
    int width = listed_width(section);
    const cJSON *item;

    terminal_add(page, "%s\n", name);
    cJSON_ArrayForEach(item, section)
    {
        const cJSON *built = cJSON_GetObjectItemCaseSensitive(item, "built");
        const char *verification = json_string(item, "verification", NULL);
        const char *lacks = json_string(item, "unavailable", NULL);
        terminal_add(page, "  %-*s %s%s", width, json_string(item, "name", ""),
                     cJSON_IsFalse(built) ? "not built: " : "", json_string(item, "summary", ""));
        add_metric_facts(item, page);
        add_figure_facts(item, page);
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "peer")))
            terminal_add(page, " [peer: measured only by name]");
        if (lacks)
            terminal_add(page, " [not here: %s]", lacks);
        if (verification)
            terminal_add(page, " [%s]", verification);
        strbuf_addc(page, '\n');
    }
    strbuf_addc(page, '\n');
}

static void print_listed_names(const cJSON *section)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, section) terminal_name(json_string(item, "name", ""));
}

static int list_sections(const struct list_options *o, const struct registry *r, int argc,
                         char **argv, struct error *err)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf page;

    strbuf_init(&page);
    for (int s = 0; s < NR_SECTIONS; s++) {
        if (!is_section_chosen(sections[s].name, argc, argv))
            continue;
        cJSON *section = cJSON_AddArrayToObject(json, sections[s].name);
        if (sections[s].of)
            sections[s].of(section, r);
        else
            sections[s].fill(section);
        if (o->names)
            print_listed_names(section);
        else if (!o->json)
            add_list_section(sections[s].name, section, &page);
    }
    int rc = o->json ? output_json(json, NULL, err) : output_page(&page, NULL, err);
    if (!o->json)
        cJSON_Delete(json);
    strbuf_release(&page);
    return rc;
}

static int run_list(int argc, char **argv, void *options, struct error *err)
{
    const struct list_options *o = options;
    struct guests guests;

    if (check_sections(argc, argv, err))
        return -1;
    if (o->names && o->json)
        return error_set(err, "--names and --json: one of the two");
    history_meet_metrics(o->db);
    int rc = guests_open(&guests, registry_builtin(), &o->plugins, NULL, err);
    if (rc)
        error_prefix(err, "--plugin");
    else
        rc = list_sections(o, o->plugins.nr ? &guests.own : &guests.all, argc, argv, err);
    guests_close(&guests);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("plugin", 0, OPTION_TEXTS, struct list_options, plugins, "FILE",
               "kernels and variants of a plugin alone"),
    DB_ROW(struct list_options, db),
    JSON_ROW(struct list_options, json),
    OPTION_ROW("names", 0, OPTION_FLAG, struct list_options, names, NULL,
               "the names alone, one a line"),
    OPTION_END,
};

extern const struct command cmd_list;
const struct command cmd_list = {
    .name = "list",
    .arguments = "[kernels|variants|models|suites|metrics|figures|devices|machines]...",
    .summary = "what there is: kernels, variants (those not built too, and why), models, ...",
    .options = rows,
    .options_size = sizeof(struct list_options),
    .run = run_list,
};
