/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/json.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "core/clock.h"
#include "device/devices.h"
#include "machine/environment.h"
#include "session/measure/roofs.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <string.h>

struct roofline_options {
    const char *db, *device;
    struct string_list specs;
    bool measure, json;
};

static void print_ceiling(const struct ceiling *c)
{
    char value[TEXT_UNIT_SIZE], low[TEXT_UNIT_SIZE], high[TEXT_UNIT_SIZE], spec[TEXT_UNIT_SIZE];
    bool time = strcmp(c->unit, "ns") == 0;

    if (time) {
        text_time(c->value, value);
        text_time(c->low, low);
        text_time(c->high, high);
    } else {
        text_rate(c->value, c->unit, value);
        text_rate(c->low, c->unit, low);
        text_rate(c->high, c->unit, high);
    }
    terminal_print("%-21s %-8s %14s   %14s to %14s", c->name, c->device, value, low, high);
    if (c->spec > 0)
        terminal_print("   data sheet %s",
                       time ? text_time(c->spec, spec) : text_rate(c->spec, c->unit, spec));
    terminal_print("\n");
}

static int print_ceilings(const struct records *r, const struct machine *machine,
                          const struct device *device, bool json, struct error *err)
{
    cJSON *array = cJSON_CreateArray();

    if (!json)
        terminal_print("%s (%s)\n%-21s %-8s %14s   %s\n",
                       device->kind == DEVICE_CPU ? machine->cpu : device->describe,
                       machine->class_name, "roof", "device", "roof", "range over repetitions");
    for (size_t i = 0; i < r->nr_ceilings; i++) {
        if (json)
            cJSON_AddItemToArray(array, ceiling_to_json(&r->ceilings[i]));
        else
            print_ceiling(&r->ceilings[i]);
    }
    if (json)
        return output_json(array, NULL, err);
    cJSON_Delete(array);
    return 0;
}

/* Cold times mean nothing where the flush leaves the data in the cache. */
static void note_flush(const struct records *r)
{
    static const double seen = 1.2;

    for (size_t i = 0; i < r->nr_ceilings; i++)
        if (strcmp(r->ceilings[i].name, "flush.cold_over_warm") == 0 && r->ceilings[i].value < seen)
            terminal_note(
                "cold times are not reliable here: after a flush of the L2, latency is only %.2f "
                "times that of a warm cache\n",
                r->ceilings[i].value);
}

/* "bandwidth.dram=460.8e9": kept with the roofs measured last. */
static int set_ceiling_spec(struct records *r, const char *text, struct error *err)
{
    char name[48];
    const char *equals = strchr(text, '=');
    double value;
    bool found = false;

    if (!equals || equals - text >= (long)sizeof(name))
        return error_set(err, "--spec: \"%s\" is not ROOF=VALUE", text);
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    if (text_parse_double(equals + 1, 0, 1e18, "--spec", &value, err))
        return -1;
    for (size_t i = 0; i < r->nr_ceilings; i++) {
        if (strcmp(r->ceilings[i].name, name) != 0)
            continue;
        r->ceilings[i].spec = value;
        found = true;
    }
    return found ? 0 : error_set(err, "--spec: no roof is called \"%s\"", name);
}

static int apply_ceiling_specs(struct store *store, const struct run *run, struct records *r,
                               const struct string_list *specs, struct error *err)
{
    char epoch[17];

    for (size_t i = 0; i < specs->nr; i++)
        if (set_ceiling_spec(r, specs->items[i], err))
            return -1;
    roofs_epoch(run, epoch);
    return specs->nr
               ? store_add_ceilings(store, &run->machine, epoch, r->ceilings, r->nr_ceilings, err)
               : 0;
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
        rc = apply_ceiling_specs(store, run, &r, &o->specs, err);
    if (rc == 0) {
        rc = print_ceilings(&r, &run->machine, device, o->json, err);
        note_flush(&r);
    }
    records_release(&r);
    return rc;
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
    if (device_open(&device, o->device ? o->device : "cpu", err))
        return -1;
    environment_machine(&current.machine);
    environment_build(&current.build);
    current.environment = environment_json();
    int rc = device_has_ceilings(&device)
                 ? history_open(&store, o->db, STORE_WRITE, err)
                 : error_set(err, "device %s has no roofs: cpu and cuda have", device.spec);
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
        "then gets its share of the roof and what binds it. `harness plot` draws them.",
    .options = rows,
    .options_size = sizeof(struct roofline_options),
    .run = run_roofline,
};
