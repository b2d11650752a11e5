/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "core/clock.h"
#include "core/roof_name.h"
#include "device/devices.h"
#include "machine/environment.h"
#include "session/measure/roofs.h"
#include "terminal/terminal.h"
#include "text/table.h"

#include <stdio.h>
#include <string.h>

struct roofline_options {
    const char *db, *device;
    struct string_list specs;
    bool measure, json;
};

static const char *roof_value(const struct roof *c, double value, char text[TEXT_UNIT_SIZE])
{
    bool is_time = roof_family_of(c)->quantity == ROOF_TIME;

    return is_time ? text_time(value, text) : text_rate(value, c->unit, text);
}

static void add_roof_row(struct table *t, const struct roof *c)
{
    char value[TEXT_UNIT_SIZE], low[TEXT_UNIT_SIZE], high[TEXT_UNIT_SIZE];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", c->name);
    table_cell(t, TABLE_PLAIN, "%s", c->device);
    table_cell(t, TABLE_PLAIN, "%s", roof_value(c, c->value, value));
    table_cell(t, TABLE_PLAIN, "%s to %s", roof_value(c, c->low, low),
               roof_value(c, c->high, high));
    if (c->spec > 0)
        table_cell(t, TABLE_PLAIN, "%s", roof_value(c, c->spec, value));
}

static int print_roofs(const struct records *r, const struct machine *machine,
                       const struct device *device, struct error *err)
{
    static const struct table_column columns[] = {
        { "roof", TABLE_LEFT, TABLE_NAME, 0 },
        { "device", TABLE_LEFT, TABLE_FIRM, 3 },
        { "measured", TABLE_RIGHT, TABLE_FIRM, 0 },
        { "range over repetitions", TABLE_RIGHT, TABLE_FIRM, 1 },
        { "data sheet", TABLE_RIGHT, TABLE_FIRM, 2 },
    };
    struct strbuf page;
    struct table t;

    strbuf_init(&page);
    terminal_add(&page, "%s (%s)\n", device->kind == DEVICE_CPU ? machine->cpu : device->describe,
                 machine->class_name);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < r->nr_roofs; i++)
        add_roof_row(&t, &r->roofs[i]);
    table_text(&t, terminal_width(), terminal_colour(), &page);
    table_release(&t);
    int rc = output_page(&page, NULL, err);
    strbuf_release(&page);
    return rc;
}

static int write_roofs(const struct records *r, struct error *err)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < r->nr_roofs; i++)
        cJSON_AddItemToArray(array, roof_to_json(&r->roofs[i]));
    return output_json(array, NULL, err);
}

/* Cold times mean nothing where the flush leaves the data in the cache. */
static void note_flush(const struct records *r)
{
    static const double seen = 1.2;

    for (size_t i = 0; i < r->nr_roofs; i++)
        if (strcmp(r->roofs[i].name, "flush.cold_over_warm") == 0 && r->roofs[i].value < seen)
            terminal_note(
                "cold times are not reliable here: after a flush of the L2, latency is only %.2f "
                "times that of a warm cache\n",
                r->roofs[i].value);
}

struct roof_spec {
    char name[48];
    double value;
};

/* "bandwidth.dram=460.8e9", of a roof that some device has. */
static int parse_roof_spec(const char *text, struct roof_spec *spec, struct error *err)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals - text >= (long)sizeof(spec->name))
        return error_set(err, "--spec: \"%s\" is not ROOF=VALUE", text);
    snprintf(spec->name, sizeof(spec->name), "%.*s", (int)(equals - text), text);
    if (!roof_is_name(spec->name))
        return error_set(err, "--spec: no roof is called \"%s\"; `harness roofline` shows them",
                         spec->name);
    return text_parse_double(equals + 1, 0, 1e18, "--spec", &spec->value, err);
}

/* Before the roofs are measured, which takes its time. */
static int check_roof_specs(const struct string_list *specs, struct error *err)
{
    struct roof_spec spec;

    for (size_t i = 0; i < specs->nr; i++)
        if (parse_roof_spec(specs->items[i], &spec, err))
            return -1;
    return 0;
}

/* It is kept with the roofs measured last. */
static int set_roof_spec(struct records *r, const char *text, struct error *err)
{
    struct roof_spec spec;
    bool found = false;

    if (parse_roof_spec(text, &spec, err))
        return -1;
    for (size_t i = 0; i < r->nr_roofs; i++) {
        if (strcmp(r->roofs[i].name, spec.name) != 0)
            continue;
        r->roofs[i].spec = spec.value;
        found = true;
    }
    return found ? 0 : error_set(err, "--spec: there is no roof \"%s\" here", spec.name);
}

static int apply_roof_specs(struct store *store, const struct run *run, struct records *r,
                            const struct string_list *specs, struct error *err)
{
    char epoch[17];

    for (size_t i = 0; i < specs->nr; i++)
        if (set_roof_spec(r, specs->items[i], err))
            return -1;
    roofs_epoch(run, epoch);
    return specs->nr ? store_add_roofs(store, &run->machine, epoch, r->roofs, r->nr_roofs, err) : 0;
}

static int show_roofline(struct store *store, const struct run *run, const struct device *device,
                         const struct roofline_options *o, struct error *err)
{
    struct records r = { 0 };
    struct measuring how = { .timeout = 0 };
    struct progress progress;

    progress_attach(&progress, &how, true);
    if (roofs_ensure(store, run, device, o->measure, &how, err))
        return -1;
    int rc = roofs_load(store, run, device, &r, err);
    if (rc == 0)
        rc = apply_roof_specs(store, run, &r, &o->specs, err);
    if (rc == 0) {
        rc = o->json ? write_roofs(&r, err) : print_roofs(&r, &run->machine, device, err);
        note_flush(&r);
    }
    records_release(&r);
    return rc;
}

/* Roofs that are there are read: their history may lie where nobody can write. */
static int open_roofs(struct store **store, const struct run *run, const struct device *device,
                      const struct roofline_options *o, struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    history_path(o->db, &path);
    bool reads = !o->measure && o->specs.nr == 0 && file_exists(path.data);
    strbuf_release(&path);
    /* What cannot be read is told by who opens it for writing. */
    if (reads && history_open(store, o->db, STORE_READ, err) == 0) {
        if (roofs_there(*store, run, device))
            return 0;
        store_close(*store);
    }
    return history_open(store, o->db, STORE_WRITE, err);
}

static int run_roofline(int argc, char **argv, void *options, struct error *err)
{
    const struct roofline_options *o = options;
    struct run current = { 0 };
    struct device device;
    struct store *store;

    (void)argv;
    if (argc > 0)
        return error_set(err, "harness roofline takes no arguments; `harness plot` draws");
    if (check_roof_specs(&o->specs, err))
        return -1;
    if (device_open(&device, o->device ? o->device : DEVICE_SPEC_USUAL, err))
        return -1;
    environment_build(&current.build);
    current.environment = environment_json();
    int rc = device_has_roofs(&device)
                 ? environment_machine(&current.machine, err)
                 : error_set(err, "device %s has no roofs: cpu and cuda have", device.spec);
    if (rc == 0)
        rc = open_roofs(&store, &current, &device, o, err);
    if (rc == 0) {
        rc = show_roofline(store, &current, &device, o, err);
        store_close(store);
    }
    run_release(&current);
    device_close(&device);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("device", 'd', OPTION_STRING, struct roofline_options, device, "DEVICE",
               "cpu (default, all cores), cpu:THREADS, cuda, cuda:N"),
    OPTION_ROW("measure", 0, OPTION_FLAG, struct roofline_options, measure, NULL,
               "measure again, even if the history has roofs of this machine"),
    OPTION_ROW("spec", 0, OPTION_STRINGS, struct roofline_options, specs, "ROOF=VALUE",
               "data-sheet value of a roof, in B/s, FLOP/s or ns"),
    DB_ROW(struct roofline_options, db),
    JSON_ROW(struct roofline_options, json),
    OPTION_END,
};

extern const struct command cmd_roofline;
const struct command cmd_roofline = {
    .name = "roofline",
    .arguments = "",
    .summary = "the measured roofs of this machine: bandwidths, FLOP rate, launch cost",
    .details =
        "`harness run` measures them once for a machine, compiler and kernel; every result\n"
        "then shows its share of the roof, and what limits it. `harness plot` draws them.",
    .options = rows,
    .options_size = sizeof(struct roofline_options),
    .run = run_roofline,
};
