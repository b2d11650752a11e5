/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/json.h"
#include "device/devices.h"
#include "models/gpt_model.h"
#include "session/model_agreement.h"
#include "session/model_backend.h"
#include "terminal/terminal.h"
#include "text/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct model_options {
    const char *model, *weights, *tokens, *output, *backend, *device;
    int64_t seed, nr, top_k, threads;
    double temperature;
    bool json;
};

static int need_model(const struct model_options *o, struct error *err)
{
    return o->model ? 0 : error_set(err, "give --model NAME; `harness list models` shows them");
}

static int open_named_model(const struct model_options *o, struct gpt_model *m, struct error *err)
{
    if (need_model(o, err))
        return -1;
    if (o->weights)
        return gpt_model_open_file(m, o->model, o->weights, err);
    return gpt_model_open_seed(m, o->model, (uint64_t)o->seed, err);
}

static int need_option(const char *value, const char *option, struct error *err)
{
    return value ? 0 : error_set(err, "give --%s", option);
}

/* Tokens of the sequence whose forward is told as work a token. */
enum { MODEL_SEQUENCE = 64 };

static cJSON *model_to_json(const struct gpt_config *g)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "name", g->name);
    json_add_int(json, "layers", g->layers);
    json_add_int(json, "heads", g->heads);
    json_add_int(json, "width", g->width);
    json_add_int(json, "block", g->block);
    json_add_int(json, "vocab", g->vocab);
    json_add_int(json, "parameters", gpt_config_parameters(g));
    json_add_int(json, "parameters_with_head",
                 gpt_config_parameters(g) + gpt_config_head_parameters(g));
    json_add_number(json, "flops_per_token", gpt_config_flops_per_token(g, MODEL_SEQUENCE));
    return json;
}

static int write_models(const struct gpt_config *only, struct error *err)
{
    cJSON *array = cJSON_CreateArray();

    for (const struct gpt_config *g = only ? only : gpt_configs; g->name; g++) {
        cJSON_AddItemToArray(array, model_to_json(g));
        if (only)
            break;
    }
    return output_json(array, NULL, err);
}

static void add_model_row(struct table *t, const struct gpt_config *g)
{
    const int64_t numbers[] = {
        g->layers,
        g->heads,
        g->width,
        g->block,
        g->vocab,
        gpt_config_parameters(g),
        gpt_config_parameters(g) + gpt_config_head_parameters(g),
    };

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", g->name);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        table_cell(t, TABLE_PLAIN, "%" PRId64, numbers[i]);
    table_cell(t, TABLE_PLAIN, "%.1f", gpt_config_flops_per_token(g, MODEL_SEQUENCE) * 1e-6);
}

static int print_models(const struct gpt_config *only, struct error *err)
{
    static const struct table_column columns[] = {
        { "model", TABLE_LEFT, TABLE_NAME, 0 },
        { "layers", TABLE_RIGHT, TABLE_FIRM, 1 },
        { "heads", TABLE_RIGHT, TABLE_FIRM, 1 },
        { "width", TABLE_RIGHT, TABLE_FIRM, 1 },
        { "block", TABLE_RIGHT, TABLE_FIRM, 2 },
        { "vocab", TABLE_RIGHT, TABLE_FIRM, 3 },
        { "parameters", TABLE_RIGHT, TABLE_FIRM, 0 },
        { "with its head", TABLE_RIGHT, TABLE_FIRM, 3 },
        { "MFLOP a token", TABLE_RIGHT, TABLE_FIRM, 2 },
    };
    struct strbuf page;
    struct table t;

    strbuf_init(&page);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (const struct gpt_config *g = only ? only : gpt_configs; g->name; g++) {
        add_model_row(&t, g);
        if (only)
            break;
    }
    table_text(&t, terminal_width(), terminal_colour(), &page);
    table_release(&t);
    terminal_add(&page,
                 "\nMFLOP a token: forward of a sequence of %d, multiply-adds counted twice.\n",
                 MODEL_SEQUENCE);
    int rc = output_page(&page, NULL, err);
    strbuf_release(&page);
    return rc;
}

static int show_models(const struct model_options *o, struct error *err)
{
    const struct gpt_config *c = o->model ? gpt_config_find(o->model, err) : NULL;

    if (o->model && !c)
        return -1;
    return (o->json ? write_models(c, err) : print_models(c, err)) ? -1 : EXIT_SAME;
}

static int export_weights(const struct model_options *o, struct error *err)
{
    struct gpt_model m;

    if (need_option(o->output, "output FILE", err) || open_named_model(o, &m, err))
        return -1;
    int rc = gpt_model_export(&m, output_file(o->output), err);
    gpt_model_close(&m);
    if (rc == 0 && !output_is_standard(o->output))
        terminal_print("%s\n", o->output);
    return rc;
}

/* What logits and generate have in common. */
struct model_job {
    const struct model_options *o;
    struct model_backend backend;
    struct gpt_tokens tokens;
    struct gpt_model model;
};

/* By the backend, which is open; what can be refused is, before the weights are read. */
typedef int model_work_fn(struct model_job *job, struct error *err);

static int compute_logits(struct model_job *job, struct error *err)
{
    const struct model_options *o = job->o;

    int rc = model_backend_check_logits(&job->backend, &job->tokens, err);
    if (rc || open_named_model(o, &job->model, err))
        return rc ? rc : -1;
    rc = model_backend_write_logits(&job->backend, &job->model, &job->tokens,
                                    output_file(o->output), err);
    gpt_model_close(&job->model);
    if (rc == 0 && !output_is_standard(o->output))
        terminal_print("%s\n", o->output);
    return rc;
}

static int print_token(int32_t token, void *context)
{
    bool *first = context;

    terminal_print("%s%d", *first ? "[" : ", ", token);
    *first = false;
    return fflush(stdout);
}

static int compute_tokens(struct model_job *job, struct error *err)
{
    const struct model_options *o = job->o;
    bool first = true;
    const struct model_generation generation = {
        .sampling = { o->temperature, o->top_k, (uint64_t)o->seed },
        .nr = o->nr ? o->nr : 16,
        .sink = print_token,
        .context = &first,
    };

    int rc = model_backend_check_generation(&job->backend, &job->tokens, &generation, err);
    if (rc || open_named_model(o, &job->model, err))
        return rc ? rc : -1;
    rc = model_backend_generate(&job->backend, &job->model, &job->tokens, &generation, err);
    gpt_model_close(&job->model);
    if (!first)
        terminal_print(rc ? "\n" : "]\n");
    return rc;
}

static int run_backend(const struct model_options *o, model_work_fn *work, struct error *err)
{
    const struct model_backend_request request = { o->backend, o->device, (int)o->threads };
    const struct gpt_config *config = gpt_config_find(o->model, err);
    struct model_job job = { .o = o };

    if (!config)
        return -1;
    int rc = model_backend_open(&job.backend, config, &request, err);
    if (rc)
        return rc;
    if (o->tokens)
        rc = gpt_tokens_read(&job.tokens, config, o->tokens, err);
    else
        agreement_tokens(&job.tokens, config, (uint64_t)o->seed);
    if (rc == 0) {
        rc = work(&job, err);
        gpt_tokens_release(&job.tokens);
    }
    model_backend_close(&job.backend);
    return rc;
}

/* A device that is not here, or cannot do this, is no failure of the program. */
static int conclude_backend(int rc, struct error *err)
{
    if (rc != DEVICE_UNAVAILABLE && rc != CALL_UNSUPPORTED)
        return rc;
    terminal_error(err);
    return EXIT_UNDECIDED;
}

static int write_logits(const struct model_options *o, struct error *err)
{
    if (need_model(o, err) || need_option(o->tokens, "tokens FILE", err) ||
        need_option(o->output, "output FILE", err))
        return -1;
    return conclude_backend(run_backend(o, compute_logits, err), err);
}

static int generate_tokens(const struct model_options *o, struct error *err)
{
    if (need_model(o, err) || need_option(o->tokens, "tokens FILE", err))
        return -1;
    return conclude_backend(run_backend(o, compute_tokens, err), err);
}

static void agreement_row(struct table *t, const char *what, const struct agreement *a)
{
    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", what);
    table_cell(t, TABLE_PLAIN, "%" PRId64, a->tokens);
    table_cell(t, TABLE_PLAIN, "%.1f %%", 100 * (double)a->same / (double)a->tokens);
    table_cell(t, TABLE_PLAIN, "%.2f %%", 100 * a->error);
    table_cell(t, TABLE_PLAIN, "%" PRId64 " of %" PRId64, a->clear_same, a->clear);
}

static int print_agreement(const struct model_options *o, const struct model_agreement *a,
                           struct error *err)
{
    static const struct table_column columns[] = {
        { "beside fp32", TABLE_LEFT, TABLE_NAME, 0 },
        { "tokens", TABLE_RIGHT, TABLE_FIRM, 1 },
        { "same largest logit", TABLE_RIGHT, TABLE_FIRM, 0 },
        { "rms error", TABLE_RIGHT, TABLE_FIRM, 0 },
        { "same where clear", TABLE_RIGHT, TABLE_FIRM, 1 },
    };
    struct strbuf page;
    struct table t;

    strbuf_init(&page);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    agreement_row(&t, o->backend ? o->backend : "simd", &a->backend);
    if (a->weights.tokens)
        agreement_row(&t, "rounded weights in fp32", &a->weights);
    table_text(&t, terminal_width(), terminal_colour(), &page);
    table_release(&t);
    terminal_add(&page, "\nClear: the largest logit of fp32 leads by more than %d rms errors.\n",
                 AGREEMENT_CLEAR);
    int rc = output_page(&page, NULL, err);
    strbuf_release(&page);
    return rc;
}

static cJSON *agreement_to_json(const struct agreement *a)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "tokens", a->tokens);
    json_add_int(json, "same", a->same);
    json_add_int(json, "clear", a->clear);
    json_add_int(json, "clear_same", a->clear_same);
    json_add_number(json, "rms_error", a->error);
    return json;
}

static int write_agreement(const struct model_options *o, const struct model_agreement *a,
                           struct error *err)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "model", o->model);
    cJSON_AddStringToObject(json, "backend", o->backend ? o->backend : "simd");
    cJSON_AddItemToObject(json, "agreement", agreement_to_json(&a->backend));
    if (a->weights.tokens)
        cJSON_AddItemToObject(json, "rounded_weights", agreement_to_json(&a->weights));
    return output_json(json, NULL, err);
}

static int compute_agreement(struct model_job *job, struct error *err)
{
    const struct model_options *o = job->o;
    struct model_agreement a;

    int rc = model_agreement_check(&job->backend, &job->tokens, err);
    if (rc || open_named_model(o, &job->model, err))
        return rc ? rc : -1;
    rc = model_agreement_measure(&job->backend, &job->model, &job->tokens, &a, err);
    gpt_model_close(&job->model);
    if (rc)
        return rc;
    return o->json ? write_agreement(o, &a, err) : print_agreement(o, &a, err);
}

static int measure_agreement(const struct model_options *o, struct error *err)
{
    if (need_model(o, err))
        return -1;
    return conclude_backend(run_backend(o, compute_agreement, err), err);
}

static const struct {
    struct command_action is;
    int (*run)(const struct model_options *o, struct error *err);
} actions[] = {
    { { "info", "sizes of the models" }, show_models },
    { { "list", "the same as info" }, show_models },
    { { "export", "weights as safetensors" }, export_weights },
    { { "logits", "of given tokens, as npy" }, write_logits },
    { { "agree", "how often a backend has fp32's largest logit" }, measure_agreement },
    { { "generate", "continue given tokens" }, generate_tokens },
};

enum { NR_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static const struct command_action *model_action_at(size_t i)
{
    return i < NR_ACTIONS ? &actions[i].is : NULL;
}

static const struct command_owned owned[] = {
    { "weights", "export, logits, agree, generate" },
    { "seed", "export, logits, agree, generate" },
    { "tokens", "logits, agree, generate" },
    { "output", "export, logits" },
    { "backend", "logits, agree, generate" },
    { "device", "logits, agree, generate" },
    { "threads", "logits, agree, generate" },
    { "length", "generate" },
    { "temperature", "generate" },
    { "top-k", "generate" },
    { "json", "info, list, agree" },
    { NULL, NULL },
};

extern const struct command cmd_model;

static int run_model(int argc, char **argv, void *options, struct error *err)
{
    const char *action = argc > 0 ? argv[0] : "info";
    const struct model_options *o = options;

    if (command_no_more(argc, argv, 1, err))
        return -1;
    for (size_t i = 0; i < NR_ACTIONS; i++) {
        if (strcmp(actions[i].is.name, action) != 0)
            continue;
        if (command_action_options(&cmd_model, &actions[i].is, o, err))
            return -1;
        return actions[i].run(o, err);
    }
    return command_no_action(&cmd_model, action, err);
}

static const struct option_row rows[] = {
    OPTION_ROW("model", 'm', OPTION_STRING, struct model_options, model, "NAME",
               "a GPT configuration, see `harness list models`"),
    OPTION_ROW("weights", 'w', OPTION_STRING, struct model_options, weights, "FILE",
               "safetensors in GPT-2's layout; without it, seeded weights"),
    OPTION_RANGE_ROW("seed", 0, OPTION_INT, struct model_options, seed, 0, INT64_MAX, "N",
                     "of seeded weights, and of sampling (default 0)"),
    OPTION_ROW("tokens", 't', OPTION_STRING, struct model_options, tokens, "FILE",
               "JSON: a list of token numbers, or a list of such lists (agree: 1,000 random ones)"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct model_options, output, "FILE",
               "where export (safetensors) and logits (npy) go"),
    OPTION_ROW(
        "backend", 0, OPTION_STRING, struct model_options, backend, "NAME",
        "simd (default), or any variant of the model's prefill: simd_bf16, simd_int8, plain, "
        "openblas, cuda_bf16, ..."),
    OPTION_ROW("device", 'd', OPTION_STRING, struct model_options, device, "DEVICE",
               "cpu, cpu:THREADS, cuda, cuda:N (default: what the backend is for)"),
    OPTION_RANGE_ROW("threads", 0, OPTION_INT, struct model_options, threads, 1, 4096, "N",
                     "of the CPU (default: all cores)"),
    OPTION_RANGE_ROW("length", 'n', OPTION_INT, struct model_options, nr, 1, 1000000, "N",
                     "tokens to generate (default 16)"),
    OPTION_RANGE_ROW("temperature", 0, OPTION_DOUBLE, struct model_options, temperature, 0, 1000,
                     "T", "of sampling; 0, the default, takes the likeliest token"),
    OPTION_RANGE_ROW("top-k", 0, OPTION_INT, struct model_options, top_k, 0, INT32_MAX, "K",
                     "sample among the K likeliest only"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct model_options, json, NULL, "info, agree: print JSON"),
    OPTION_END,
};

const struct command cmd_model = {
    .name = "model",
    .arguments = "info|list|export|logits|agree|generate",
    .summary = "GPT models: sizes, weights out, logits and tokens for checking elsewhere",
    .details =
        "  harness model export --model nano --seed 7 -o w.safetensors\n"
        "  harness model logits --weights w.safetensors --model nano --tokens t.json \\\n"
        "      -o logits.npy\n"
        "  harness model generate --model nano --tokens t.json --length 8\n"
        "  harness model logits --model nano --tokens t.json -o logits.npy --backend cuda_bf16\n"
        "  harness model agree --model nano --backend simd_int8\n"
        "\n"
        "On the CPU simd, simd_bf16, simd_int8, plain and openblas keep the keys and values of a\n"
        "generation. By any other backend, as on a GPU, each token costs a prefill of all tokens\n"
        "held: those given and --length, at most the model's block. Weights are rounded once to "
        "the\n"
        "backend's type (by simd_bf16 and simd_int8 the matrices alone), logits are written as\n"
        "float32.\n"
        "\n"
        "agree compares a backend's logits with those of simd, which are fp32's; where the "
        "backend\n"
        "rounds weights, also those of simd with weights so rounded: what the type alone costs.\n"
        "\n"
        "Exit status: 0 done, 77 the device is not there or the backend cannot do this on it, 2\n"
        "usage or failure.",
    .action = model_action_at,
    .owned = owned,
    .options = rows,
    .options_size = sizeof(struct model_options),
    .run = run_model,
};
