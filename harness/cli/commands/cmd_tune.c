/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/json.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/render/tune_report.h"
#include "cli/shared_options.h"
#include "core/names.h"
#include "machine/environment.h"
#include "session/tune/tuning.h"
#include "terminal/terminal.h"

struct tune_options {
    struct tuning_request request;
    const char *db, *output;
    bool json, kept;
};

/* Everything one `harness tune` holds. */
struct tune_session {
    struct tune_options *o;
    struct tuning tuning;
    struct store *store;
    struct progress progress;
};

/* ---- what is kept ---- */

static cJSON *kept_to_json(const struct store_tuned *k)
{
    cJSON *json = cJSON_CreateObject();

    json_add_string(json, "key", k->key);
    json_add_string(json, "code", k->code);
    json_add_string(json, "digest", k->digest);
    json_add_string(json, "driver", k->driver);
    json_add_string(json, "setting", k->setting);
    cJSON_AddBoolToObject(json, "decided", k->decided);
    json_add_int(json, "tuned_ms", k->tuned_ms);
    json_add_string(json, "run", k->run);
    cJSON_AddItemToObject(json, "result", cJSON_Parse(k->result ? k->result : "{}"));
    return json;
}

static int print_kept_json(const struct tune_options *o, const struct store_tuned_list *kept,
                           struct error *err)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "schema_version", 1);
    cJSON *array = cJSON_AddArrayToObject(json, "kept");
    for (size_t i = 0; i < kept->nr; i++)
        cJSON_AddItemToArray(array, kept_to_json(&kept->items[i]));
    return output_json(json, o->output, err);
}

static int print_kept(const struct tune_options *o, const struct store_tuned_list *kept,
                      struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    if (kept->nr == 0)
        strbuf_adds(&text,
                    "No setting is kept for this machine: `harness tune ./k.so` finds one.\n");
    else
        tune_report_kept(kept, output_width(o->output), output_colour(o->output), &text);
    int rc = output_page(&text, o->output, err);
    strbuf_release(&text);
    return rc;
}

/* The name of an option that is for a race; NULL: none is given. */
static const char *option_of_races(const struct tuning_request *r)
{
    const struct option_given options[] = {
        { "--param", r->what.params.nr },
        { "--tolerance", r->tolerance > 0 },
        { "--rounds", r->rounds },
        { "--label", r->label },
        { "--budget", r->measuring.budget > 0 },
        { "--timeout", r->measuring.timeout > 0 },
        { "--memory-limit", r->measuring.memory_limit },
        { "--seed", r->measuring.seed },
    };
    const char *given = options_first_given(options, sizeof(options) / sizeof(options[0]));

    return given ? given : workload_option(&r->what);
}

/* All of them are shown: nothing chooses among them. */
static int check_kept(const struct tune_options *o, int argc, char **argv, struct error *err)
{
    const char *given = option_of_races(&o->request);

    if (given)
        return error_set(err, "%s is for a race: --kept shows all that is kept for this machine",
                         given);
    return command_no_more(argc, argv, 0, err);
}

static int show_kept(struct tune_session *s, struct error *err)
{
    struct store_tuned_list kept = { 0 };
    struct machine machine;

    if (environment_machine(&machine, err))
        return -1;
    int rc = history_open(&s->store, s->o->db, STORE_READ, err);
    if (rc == 0)
        rc = store_tuned_newest(s->store, machine.id, &kept, err);
    if (rc == 0)
        rc = s->o->json ? print_kept_json(s->o, &kept, err) : print_kept(s->o, &kept, err);
    store_tuned_release(&kept);
    return rc;
}

/* ---- races ---- */

/* 77 where one was not decided, 1 where one has no right setting. */
static int tune_status(const struct tuning *t)
{
    int status = EXIT_SAME;

    for (size_t i = 0; i < t->races.nr; i++) {
        const struct tuning_race *r = &t->races.items[i];
        if (!tuning_race_has_winner(r))
            return EXIT_REGRESSION;
        status = r->race.decided ? status : EXIT_UNDECIDED;
    }
    return status;
}

static int print_tuning(struct tune_session *s, int status, struct error *err)
{
    const struct tune_options *o = s->o;
    struct strbuf text;

    if (o->json) {
        cJSON *json = tuning_to_json(&s->tuning);
        json_add_int(json, "exit_status", status);
        return output_json(json, o->output, err);
    }
    strbuf_init(&text);
    tune_report(&s->tuning, output_width(o->output), output_colour(o->output), &text);
    int rc = output_page(&text, o->output, err);
    strbuf_release(&text);
    return rc;
}

static int conclude_tuning(struct tune_session *s, struct error *err)
{
    const struct measuring *how = &s->o->request.measuring;
    bool interrupted = measuring_interrupted(how);
    int status = interrupted ? 128 + (int)*how->interrupted : tune_status(&s->tuning);

    if (print_tuning(s, status, err))
        return -1;
    history_tell(s->store);
    if (interrupted)
        terminal_note("interrupted: what was decided is kept\n");
    else if (s->tuning.end == SWEEP_BUDGET)
        terminal_note("the budget of %g s was spent before all was decided\n", how->budget);
    return status;
}

/* Plugins among the arguments, the rest are filters. */
static int take_tune_arguments(struct tune_options *o, int argc, char **argv, struct error *err)
{
    int nr = 0;

    for (int i = 0; i < argc; i++)
        if (name_has_ending(argv[i], ".so"))
            string_list_add(&o->request.what.plugins, argv[i]);
        else
            argv[nr++] = argv[i];
    o->request.filters = argv;
    o->request.nr_filters = nr;
    if (o->request.what.plugins.nr > 0 || nr > 0)
        return 0;
    return error_set(err,
                     "what is to be tuned? A plugin, `harness tune ./k.so --param BM=64,128`, "
                     "or variants of this build, `harness tune gemm/nn`; --kept shows what "
                     "was found");
}

static int run_races(struct tune_session *s, int argc, char **argv, struct error *err)
{
    struct tune_options *o = s->o;

    o->request.what.several_devices = true;
    progress_attach(&s->progress, &o->request.measuring, true);
    if (recording_check_label(o->request.label, 0, err) ||
        take_tune_arguments(o, argc, argv, err) || tuning_open(&s->tuning, &o->request, err) ||
        history_open(&s->store, o->db, STORE_WRITE, err) || tuning_run(&s->tuning, s->store, err))
        return -1;
    return conclude_tuning(s, err);
}

static int run_tune(int argc, char **argv, void *options, struct error *err)
{
    struct tune_session s = { .o = options };
    int rc = s.o->kept ? check_kept(s.o, argc, argv, err) : 0;

    if (rc == 0)
        rc = s.o->kept ? show_kept(&s, err) : run_races(&s, argc, argv, err);
    store_close(s.store);
    tuning_close(&s.tuning);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_ROW("plugin", 0, OPTION_TEXTS, struct tune_options, request.what.plugins, "FILE",
               "a shared object whose name does not end in .so; repeat for more"),
    OPTION_ROW("param", 0, OPTION_TEXTS, struct tune_options, request.what.params, "NAME=LIST",
               "values to be tried: BM=64,128,256 or stages=2:5 or n=1:64:*2 (default: those that "
               "the variants say); with several parameters all combinations"),
    OPTION_ROW("variant", 0, OPTION_STRINGS, struct tune_options, request.what.variants, "NAME,...",
               "with all their settings, or of one setting: tile:BM=64"),
    OPTION_ROW("dtype", 0, OPTION_STRINGS, struct tune_options, request.what.dtypes, "NAME,...",
               "arithmetic: fp32, ..."),
    OPTION_RANGE_ROW("batch", 'b', OPTION_INTS, struct tune_options, request.what.batch, 1,
                     DIM_LIMIT, "LIST", "batch sizes: each shape has a race of its own"),
    OPTION_RANGE_ROW("seq", 's', OPTION_INTS, struct tune_options, request.what.seq, 1, DIM_LIMIT,
                     "LIST", "sequence lengths"),
    OPTION_ROW("dim", 0, OPTION_STRINGS, struct tune_options, request.what.dims, "NAME=LIST",
               "any other dim (default: the kernel's sizes)"),
    OPTION_ROW("cache", 0, OPTION_STRINGS, struct tune_options, request.what.caches,
               "warm,cold,rotate", "state of the caches (default warm)"),
    FILL_ROW(struct tune_options, request.what.fills),
    CLOCK_ROWS(struct tune_options, request.what),
    OPTION_ROW("device", 'd', OPTION_STRING, struct tune_options, request.what.device, "DEVICE",
               "cpu (default, all cores), cpu:free, cpu:THREADS, cuda, cuda:N, cuda:graph"),
    OPTION_ROW("tolerance", 0, OPTION_FRACTION, struct tune_options, request.tolerance, "SHARE",
               "settings nearer than this are as good (default 1%)"),
    OPTION_RANGE_ROW("rounds", 0, OPTION_INT, struct tune_options, request.rounds, 2, 1000, "N",
                     "at most so many rounds, a fresh process each (default 40)"),
    OPTION_ROW("budget", 0, OPTION_DURATION, struct tune_options, request.measuring.budget, "TIME",
               "start no further round after this"),
    TIMEOUT_ROW(struct tune_options, request.measuring),
    MEMORY_LIMIT_ROW(struct tune_options, request.measuring),
    SEED_ROW(struct tune_options, request.measuring),
    OPTION_ROW("label", 0, OPTION_LINE, struct tune_options, request.label, "TEXT",
               "a name for the run, which is a trial (default tune)"),
    OPTION_ROW("kept", 0, OPTION_FLAG, struct tune_options, kept, NULL,
               "show what is kept for this machine, and measure nothing"),
    DB_ROW(struct tune_options, db),
    JSON_ROW(struct tune_options, json),
    OUTPUT_ROW(struct tune_options, output),
    OPTION_END,
};

extern const struct command cmd_tune;
const struct command cmd_tune = {
    .name = "tune",
    .arguments = "[PLUGIN] [FILTER...]",
    .summary = "find the fastest setting of a kernel's parameters, for each shape",
    .details =
        "  harness tune ./k.so --param BM=64,128,256 --param stages=2:5\n"
        "  harness tune ./k.so                       the values that its variants say\n"
        "  harness tune ./k.so --dim n=512,4096      a race for each shape\n"
        "  harness tune gemm/nn --dim k=4096         blocks of our own kernels\n"
        "\n"
        "The settings race: each round is a fresh process in which every setting that is still\n"
        "open is checked and measured once, in a fresh order. One leaves when it cannot be\n"
        "better than the fastest by more than 1 %, so that with all looks and settings\n"
        "together a better one is missed in at most 5 of 100 races. Winners are kept in the\n"
        "history for `run --tuned`, by benchmark, machine, driver and content of the plugin.\n"
        "\n"
        "Exit status: 0 all decided, 1 no setting of a kernel is right, 77 not decided within\n"
        "--rounds and --budget (the best so far is kept, unless one is that was decided), 2 usage\n"
        "or failure.",
    .options = rows,
    .options_size = sizeof(struct tune_options),
    .run = run_tune,
};
