/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/resource.h"
#include "base/text.h"
#include "cli/shared_options.h"
#include "device/devices.h"
#include "machine/environment.h"
#include "metrics/metric.h"
#include "metrics/metric_limit.h"
#include "models/gpt_config.h"
#include "process/process_group.h"
#include "session/history_file.h"
#include "session/measure/workload.h"
#include "session/verified_variants.h"
#include "session/viewing.h"
#include "terminal/terminal.h"
#include "text/table.h"

#include <errno.h>
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

/* With one thread, which every build of a library has: whether it is here is asked, not whether it
 * has a thread for each processor. */
static void ask_variants(const struct registry *r, size_t nr, struct answers *answers)
{
    struct device device;
    struct error err;

    if (device_open(&device, "cpu:1", &err) != 0)
        return;
    for (size_t i = 0; i < nr; i++) {
        const struct variant *v = registry_variant_at(r, i);
        if (!is_variant_asked(v))
            continue;
        bool yes = v->supports(v->kernel, &v->kernel->shapes[0], &device, &answers[i].why);
        answers[i].answer = yes ? ANSWER_YES : ANSWER_NO;
    }
}

struct support_question {
    const struct registry *registry;
    size_t nr;
    struct answers *answers;
};

static int ask_variants_and_exit(const void *context)
{
    const struct support_question *q = context;

    ask_variants(q->registry, q->nr, q->answers);
    _exit(0);
}

/* Some seconds are enough for any library. */
enum { ANSWER_LONGEST = 5 };

/* 1: it has ended, 0: it was ended, -1: it could not be asked. */
static int ask_variants_in_child(const struct support_question *q, struct error *err)
{
    struct process_group g;

    if (process_group_start(&g, 0, ask_variants_and_exit, q, err))
        return -1;
    bool ended = process_group_wait(&g, ANSWER_LONGEST);
    process_group_kill(&g);
    process_group_close(&g);
    return ended;
}

static char *why_no_answer(bool ended)
{
    char text[80];

    snprintf(text, sizeof(text), "its library did not answer within %d s", ANSWER_LONGEST);
    return memory_string(ended ? "its library ends the process that opens it" : text);
}

/* Which variants can run on this machine, as far as it depends on a library that they open at run
 * time. Asked in a child: a library may start threads, reserve memory or end its process.
 *
 * Fills why[i] of the i-th of the registry's `nr` variants: NULL where it runs as far as is known,
 * else the reason, for free(). Only vendor variants of the CPU are asked, and of them no peers,
 * which say it where they are measured. -1: of these nothing is known. */
static int available_ask(const struct registry *r, size_t nr, char **why, struct error *err)
{
    const size_t size = nr * sizeof(struct answers);
    struct answers *answers =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (answers == MAP_FAILED)
        return error_set(err, "%s", strerror(errno));
    int ended = ask_variants_in_child(&(struct support_question) { r, nr, answers }, err);
    for (size_t i = 0; ended >= 0 && i < nr; i++) {
        const struct variant *v = registry_variant_at(r, i);
        if (answers[i].answer == ANSWER_NO)
            why[i] = memory_string(answers[i].why.message);
        else if (answers[i].answer == ANSWER_NONE && is_variant_asked(v))
            why[i] = why_no_answer(ended > 0);
    }
    munmap(answers, size);
    return ended < 0 ? -1 : 0;
}

/* ---- sections ---- */

struct list_options {
    struct workload_options guests; /* of these those that bring guests */
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
    struct error unknown, ignored; /* the record in the binary is one that a test has read */

    while (registry_variant_at(r, nr) != NULL)
        nr++;
    why = memory_zeroed(nr + 1, sizeof(*why));
    bool asked = available_ask(r, nr, why, &unknown) == 0;
    if (!asked)
        terminal_note("harness: whether the libraries of vendors are here is not known: %s\n",
                      unknown.message);
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
        if (v->device == DEVICE_CPU && !(v->flags & VARIANT_PEER) &&
            (asked || !is_variant_asked(v)))
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

static void list_metric(cJSON *section, const struct metric *m, const char *summary)
{
    static const char *const betters[] = {
        [LOWER_IS_BETTER] = "lower",
        [HIGHER_IS_BETTER] = "higher",
        [NO_DIRECTION] = "none",
    };

    add_listed(section, m->id, summary);
    cJSON *item = last_listed(section);
    json_add_string(item, "unit", m->unit);
    cJSON_AddStringToObject(item, "better", betters[m->direction]);
    if (m->floor > 0)
        json_add_number(item, "floor", m->floor);
}

/* Those of programs are of the history. */
static void list_metrics(cJSON *section)
{
    const struct metric *m;
    char summary[128];

    for (size_t i = 0; (m = metric_at(i)); i++)
        list_metric(section, m, m->number ? "what a program says of itself" : m->label);
    for (size_t i = 0; (m = metric_limit_example(i)); i++) {
        snprintf(summary, sizeof(summary), "%s, or another limit", m->label);
        list_metric(section, m, summary);
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
        bool nobodys = kind > DEVICE_PROCESS && !device_class_of((enum device_kind)kind, NULL);
        if (kind == DEVICE_FAKE || nobodys)
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
    struct error err;
    char summary[256];

    if (environment_machine(&m, &err)) {
        add_listed(section, "unknown", err.message);
        return;
    }
    snprintf(summary, sizeof(summary), "%s, %d cores, %s, %lld GiB; id %s", m.cpu, m.cores, m.isa,
             (long long)(m.memory >> 30), m.id);
    add_listed(section, m.class_name, summary);
}

/* A column beside the name: what it shows of each thing; the state has no member of its own. */
struct shown {
    const char *title, *member;
    enum table_fit fit;
    int rank;
};

/* clang-format off */
#define WHAT { "what", "summary", TABLE_PROSE, 1 }
/* clang-format on */

/* One row a section; `of` is for what the registry holds, which plugins add to. */
static const struct section {
    const char *name;
    void (*fill)(cJSON *section);
    void (*of)(cJSON *section, const struct registry *r);
    struct shown shown[5]; /* up to one without title */
} sections[] = {
    { "kernels", NULL, list_kernels, { { "dims", "dims", TABLE_PROSE, 2 }, WHAT } },
    { "variants",
      NULL,
      list_variants,
      { { "device", "device", TABLE_FIRM, 3 },
        { "math", "math", TABLE_FIRM, 4 },
        WHAT,
        { "state", NULL, TABLE_PROSE, 2 } } },
    { "models", list_models, NULL, { WHAT } },
    { "suites", list_suites, NULL, { WHAT } },
    { "metrics",
      list_metrics,
      NULL,
      { { "unit", "unit", TABLE_FIRM, 3 },
        { "better", "better", TABLE_FIRM, 2 },
        { "floor", "floor", TABLE_FIRM, 4 },
        WHAT } },
    { "figures",
      list_figures,
      NULL,
      { { "type", "type", TABLE_FIRM, 2 },
        { "for", "modes", TABLE_PROSE, 4 },
        { "in", "section", TABLE_FIRM, 3 },
        WHAT } },
    { "devices", list_devices, NULL, { WHAT } },
    { "machines", list_machine, NULL, { WHAT } },
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

/* ---- as tables ---- */

/* What is to be known before one uses it: a peer, not built, not here, not verified. */
static void add_state(const cJSON *item, struct strbuf *text)
{
    const char *lacks = json_string(item, "unavailable", NULL);

    if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(item, "built")))
        strbuf_adds(text, "not built");
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "peer")))
        strbuf_adds(text, "peer: measured only by name");
    if (lacks)
        strbuf_addf(text, "not here: %s", lacks);
    strbuf_adds(text, json_string(item, "verification", ""));
}

/* A text as it is, a list with commas, a number (a metric's floor) as a share. */
static void add_member(const cJSON *item, const char *key, struct strbuf *text)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(item, key), *part;

    if (cJSON_IsArray(member))
        cJSON_ArrayForEach(part, member)
            strbuf_addf(text, "%s%s", text->length ? ", " : "", part->valuestring);
    else if (cJSON_IsString(member))
        strbuf_adds(text, member->valuestring);
    else if (member)
        strbuf_addf(text, "%g %%", 100 * strtod(member->valuestring, NULL));
}

static void add_listed_row(const struct section *section, const cJSON *item, struct table *t)
{
    struct strbuf text;

    strbuf_init(&text);
    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", json_string(item, "name", ""));
    for (const struct shown *shown = section->shown; shown->title; shown++) {
        strbuf_clear(&text);
        if (shown->member)
            add_member(item, shown->member, &text);
        else
            add_state(item, &text);
        table_cell(t, TABLE_PLAIN, "%s", text.data);
    }
    strbuf_release(&text);
}

static void add_list_section(const struct section *section, const cJSON *items, struct strbuf *page)
{
    struct table_column columns[1 + sizeof(section->shown) / sizeof(section->shown[0])] = {
        { section->name, TABLE_LEFT, TABLE_NAME, 0 },
    };
    const cJSON *item;
    struct table t;
    size_t nr = 1;

    for (const struct shown *shown = section->shown; shown->title; shown++)
        columns[nr++] = (struct table_column) { shown->title, TABLE_LEFT, shown->fit, shown->rank };
    table_init(&t, columns, nr);
    t.indent = 2;
    cJSON_ArrayForEach(item, items) add_listed_row(section, item, &t);
    table_text(&t, terminal_width(), terminal_colour(), page);
    table_release(&t);
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
            add_list_section(&sections[s], section, &page);
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
    int rc = workload_open_guests(&guests, &o->guests, err);
    if (rc == 0)
        rc = list_sections(o, workload_has_guests(&o->guests) ? &guests.own : &guests.all, argc,
                           argv, err);
    guests_close(&guests);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("plugin", 0, OPTION_TEXTS, struct list_options, guests.plugins, "FILE",
               "kernels and variants of a plugin alone"),
    PYTHON_ROWS(struct list_options, guests),
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
