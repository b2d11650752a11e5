/* SPDX-License-Identifier: MIT */
#include "session/bench/bench.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "command/command.h"
#include "core/clock.h"
#include "device/devices.h"
#include "process/process.h"
#include "session/bench/bench_out.h"
#include "session/measure/number_options.h"
#include "verdict/compare.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BENCH_TIMEOUT = 1800, SAID_SHOWN = 600, NAME_MOST = 60 };

/* ---- the list ---- */

static bool is_bench_name_char(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_.+-", c));
}

/* The length of NAME in "NAME: COMMAND"; 0: there is none. */
static size_t bench_name_length(const char *text)
{
    size_t length = 0;

    while (is_bench_name_char(text[length]))
        length++;
    return text[length] == ':' && text[length + 1] == ' ' && length <= NAME_MOST ? length : 0;
}

/* The last part of the first word that is no variable of the command's environment. */
static char *bench_name_of_command(const char *command)
{
    char name[NAME_MOST + 1] = "";
    size_t nr = 0;

    for (const char *word = command; *word;) {
        size_t length = strcspn(word, " \t\n");
        const char *equals = memchr(word, '=', length);
        if (length > 0 && !equals) {
            for (const char *c = word; c < word + length; c++) {
                if (*c == '/')
                    nr = 0;
                else if (is_bench_name_char(*c) && nr < NAME_MOST)
                    name[nr++] = *c;
            }
            break;
        }
        word += length + strspn(word + length, " \t\n");
    }
    name[nr] = '\0';
    return memory_string(nr && isalnum((unsigned char)name[0]) ? name : "bench");
}

int bench_list_add(struct bench_list *list, const char *text, struct error *err)
{
    size_t length = bench_name_length(text);
    const char *command = length ? text + length + 1 : text;

    command += strspn(command, " \t\n");
    if (!*command)
        return error_set(err, "--bench: there is no command in \"%.60s\"", text);
    struct bench *b = array_push(list);
    b->named = length > 0;
    b->command = memory_string(command);
    b->name = b->named ? memory_zeroed(length + 1, 1) : bench_name_of_command(command);
    if (b->named)
        memcpy(b->name, text, length);
    for (size_t i = 0; i + 1 < list->nr; i++)
        if (strcmp(list->items[i].name, b->name) == 0)
            return error_set(err,
                             "--bench: two are called \"%s\"; give each a name: --bench 'NAME: "
                             "COMMAND'",
                             b->name);
    return 0;
}

static void bench_release(struct bench *b)
{
    for (size_t i = 0; i < b->aliases.nr; i++)
        free(b->aliases.items[i].name);
    array_release(&b->aliases);
    free(b->name);
    free(b->command);
}

void bench_list_release(struct bench_list *list)
{
    for (size_t i = 0; i < list->nr; i++)
        bench_release(&list->items[i]);
    array_release(list);
}

static bool has_bench(const struct bench_list *list, const char *name)
{
    for (size_t i = 0; i < list->nr; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

/* `asked` is "NAME:METRIC", `more` what stood behind it. */
static int refuse_unknown_bench(const struct bench_list *list, const char *asked, const char *more,
                                struct error *err)
{
    struct strbuf names;

    strbuf_init(&names);
    for (size_t i = 0; i < list->nr; i++)
        strbuf_addf(&names, "%s%s", i ? ", " : "", list->items[i].name);
    error_set(err, "--metric %s%s: no --bench is called \"%.*s\"; there is %s", asked, more,
              (int)(compare_asked_id(asked) - asked) - 1, asked,
              names.length ? names.data : "none");
    strbuf_release(&names);
    return -1;
}

/* Keys of a bench with a name begin with it, or with "command/" and it; those of others with
 * whatever their results have. */
static bool can_have_asked(const struct bench_list *list, const char *asked)
{
    size_t of = (size_t)(compare_asked_id(asked) - asked);
    size_t first = strcspn(asked, "/:");

    if (of == 0 || strcspn(asked, "*?[\\!") < of)
        return true;
    for (size_t i = 0; i < list->nr; i++) {
        const char *name = list->items[i].name;
        if (!list->items[i].named || (strlen(name) == first && strncmp(name, asked, first) == 0))
            return true;
    }
    return strncmp(asked, "command/", strlen("command/")) == 0;
}

/* How many numbers that bench is asked for; `judged`: of those of which one way is better. */
static size_t count_bench_numbers(const struct bench *b, const struct number_specs *numbers,
                                  bool judged)
{
    struct number_specs own;
    size_t nr = 0;

    number_specs_of(numbers, b->name, &own);
    for (size_t i = 0; i < own.nr; i++)
        nr += !judged || own.items[i].better != BETTER_NONE;
    array_release(&own);
    return nr;
}

bool bench_any_without_judged(const struct bench_list *list, const struct number_specs *numbers)
{
    for (size_t i = 0; i < list->nr; i++)
        if (count_bench_numbers(&list->items[i], numbers, true) == 0)
            return true;
    return false;
}

static int check_asked_benches(const struct bench_list *list, const struct number_specs *numbers,
                               const struct string_list *judged, struct error *err)
{
    for (size_t i = 0; i < numbers->nr; i++) {
        const struct number_spec *spec = &numbers->items[i];
        char asked[NUMBER_OF_SIZE + NUMBER_NAME_SIZE];
        snprintf(asked, sizeof(asked), "%s:%s", spec->of, spec->name);
        if (spec->of[0] && !has_bench(list, spec->of))
            return refuse_unknown_bench(list, asked, "=...", err);
    }
    for (size_t i = 0; list->nr > 0 && i < judged->nr; i++)
        if (!can_have_asked(list, judged->items[i]))
            return refuse_unknown_bench(list, judged->items[i], "", err);
    return 0;
}

int bench_check_numbers(const struct bench_list *list, const struct number_specs *numbers,
                        const struct string_list *judged, enum import_format format,
                        struct error *err)
{
    if (check_asked_benches(list, numbers, judged, err))
        return -1;
    if (numbers->nr == 0 || format == IMPORT_ANY)
        return 0;
    for (size_t i = 0; i < list->nr; i++)
        if (count_bench_numbers(&list->items[i], numbers, false) == 0)
            return 0;
    return error_set(err,
                     "--format is of results that are read as a whole, --metric %s=... of a number "
                     "in what is printed: give one of them",
                     numbers->items[0].name);
}

/* ---- Google Benchmark's own names ---- */

static const char *bench_alias_of(const struct bench *b, const char *key)
{
    for (size_t i = 0; i < b->aliases.nr; i++)
        if (strcmp(b->aliases.items[i].key, key) == 0)
            return b->aliases.items[i].name;
    return NULL;
}

/* Learns from a result which name belongs to which key. */
static void learn_bench_aliases(struct bench *b, const char *text, size_t length)
{
    struct error ignored;
    struct benchmark_name name;
    cJSON *json = json_parse(text, length, "result", &ignored);
    const cJSON *entry;

    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(json, "benchmarks"))
    {
        const char *said = json_string(entry, "run_name", json_string(entry, "name", ""));
        import_path_key(said, b->named ? b->name : NULL, &name);
        if (!*said || bench_alias_of(b, name.key))
            continue;
        struct bench_alias *alias = array_push(&b->aliases);
        snprintf(alias->key, sizeof(alias->key), "%s", name.key);
        alias->name = memory_string(said);
    }
    cJSON_Delete(json);
}

/* Linux takes no text of the environment beyond 128 KiB, and no program starts with one. */
enum { FILTER_MOST = 100000 };

/* BENCHMARK_FILTER=^(A|B)$ of what is wanted; false: it cannot be said. */
static bool bench_filter(const struct bench_call *call, struct strbuf *out)
{
    const struct bench *b = call->bench;

    if (!call->wanted || b->heeds_no_filter || b->aliases.nr == 0)
        return false;
    strbuf_adds(out, "BENCHMARK_FILTER=^(");
    for (size_t i = 0; call->wanted[i]; i++) {
        const char *name = bench_alias_of(b, call->wanted[i]);
        if (!name)
            return false;
        strbuf_adds(out, i ? "|" : "");
        for (; *name; name++) {
            if (strchr("\\^$.|?*+()[]{}", *name))
                strbuf_addc(out, '\\');
            strbuf_addc(out, *name);
        }
    }
    strbuf_adds(out, ")$");
    return out->length <= FILTER_MOST;
}

/* ---- a call ---- */

/* What one call has left. */
struct bench_said {
    struct bench_out out;
    struct strbuf text, errors;
    uint64_t ns;
    bool filtered;
};

static int bench_said_init(struct bench_said *s, const struct bench_call *call, struct error *err)
{
    *s = (struct bench_said) { .ns = 0 };
    strbuf_init(&s->text);
    strbuf_init(&s->errors);
    return bench_out_begin(&s->out, call->place->folder, call->bench->name, err);
}

static bool bench_left_file(const struct bench_said *s)
{
    struct stat info;

    return stat(s->out.path, &info) == 0 && (S_ISDIR(info.st_mode) || info.st_size > 0);
}

/* `unread`: its result could not be used; a message may name the file, so it stays. */
static void bench_said_release(struct bench_said *s, bool unread)
{
    bench_out_end(&s->out, unread && bench_left_file(s));
    strbuf_release(&s->text);
    strbuf_release(&s->errors);
}

/* The end of what it said, its errors first. */
static const char *bench_last_words(struct bench_said *s)
{
    struct strbuf *words = s->errors.length ? &s->errors : &s->text;

    while (words->length && isspace((unsigned char)words->data[words->length - 1]))
        words->data[--words->length] = '\0';
    strbuf_keep_last(words, SAID_SHOWN);
    return words->length ? words->data : "it said nothing";
}

static int judge_bench_end(const struct bench_call *call, const struct process_result *result,
                           double timeout, struct bench_said *s, struct error *err)
{
    const char *who = call->place->who, *command = call->bench->command;

    if (result->end == PROCESS_INTERRUPTED)
        return BENCH_INTERRUPTED;
    if (result->end == PROCESS_TIMED_OUT)
        return error_set(err,
                         "%s: `%s` took longer than %g s and was ended; --timeout gives it more",
                         who, command, timeout);
    if (result->end == PROCESS_EXITED && result->status == 0)
        return 0;
    return error_set(err, "%s: `%s` ended with %s %d:\n%s", who, command,
                     result->end == PROCESS_EXITED ? "status" : "signal", result->status,
                     bench_last_words(s));
}

static int start_bench(const struct bench_call *call, struct bench_said *s, struct error *err)
{
    const struct measuring *m = call->measuring;
    const char *argv[] = { "sh", "-c", call->bench->command, NULL };
    struct strbuf source, build, out, gbench, filter;
    struct process_result result;

    strbuf_init(&source);
    strbuf_init(&build);
    strbuf_init(&out);
    strbuf_init(&gbench);
    strbuf_init(&filter);
    strbuf_addf(&source, "SOURCE=%s", call->place->source);
    strbuf_addf(&build, "BUILD=%s", call->place->build);
    strbuf_addf(&out, "OUT=%s", s->out.path);
    strbuf_addf(&gbench, "BENCHMARK_OUT=%s", s->out.path);
    s->filtered = bench_filter(call, &filter);
    const char *changes[] = { source.data,
                              build.data,
                              out.data,
                              gbench.data,
                              "BENCHMARK_OUT_FORMAT=json",
                              s->filtered ? filter.data : NULL,
                              NULL };
    struct process p = {
        .argv = argv,
        .folder = call->place->source,
        .changes = changes,
        .timeout = m->timeout > 0 ? m->timeout : BENCH_TIMEOUT,
        .interrupted = m->interrupted,
    };
    uint64_t start = clock_ns();
    int rc = process_run(&p, &s->text, &s->errors, &result, err);
    s->ns = clock_ns() - start;
    rc = rc ? error_prefix(err, "%s", call->place->who)
            : judge_bench_end(call, &result, p.timeout, s, err);
    strbuf_release(&source);
    strbuf_release(&build);
    strbuf_release(&out);
    strbuf_release(&gbench);
    strbuf_release(&filter);
    return rc;
}

/* ---- what it says ---- */

/* The whole command, as `harness run --name NAME -- COMMAND` names it. */
static int take_bench_time(const struct bench_call *call, uint64_t ns, struct imported *out,
                           struct error *err)
{
    struct command_spec spec = { .name = "" };
    struct command_guest guest;
    struct device device;

    snprintf(spec.name, sizeof(spec.name), "%s", call->bench->name);
    if (device_open(&device, "process", err))
        return -1;
    records_add_run(&out->records);
    struct measurement *m = &records_add(&out->records, 0, 0)->m;
    command_guest_init(&guest, &spec);
    const struct benchmark b = { .variant = &guest.variants[0], .shape = guest.shape };
    benchmark_name_of(&b, &device, &m->bench);
    *m = (struct measurement) {
        .bench = m->bench,
        .outcome = OUTCOME_OK,
        .max_error = NAN,
        .tokens = NAN,
        .batch = 1,
        .samples = memory_zeroed(1, sizeof(uint64_t)),
        .nr_samples = 1,
        .seconds = (double)ns * 1e-9,
    };
    m->samples[0] = ns;
    snprintf(m->clock, sizeof(m->clock), CLOCK_NS_NAME);
    command_guest_release(&guest);
    device_close(&device);
    return 0;
}

/* What the numbers are looked for in: a file that it left, else what it printed. free() it. */
static char *bench_words(const struct bench_said *s, size_t *length, struct error *err)
{
    struct stat info;

    if (stat(s->out.path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
        return file_read(s->out.path, FILE_IMPORT_MOST, length, err);
    char *copy = memory_zeroed(s->text.length + 1, 1);
    *length = s->text.length;
    memcpy(copy, s->text.data, s->text.length);
    return copy;
}

static int hear_bench_numbers(const struct bench_call *call, const struct bench_said *s,
                              double values[NUMBERS_MAX], struct error *err)
{
    size_t length = 0;
    char *words = bench_words(s, &length, err);
    struct number_hearing *hearing = words ? number_hearing_create(call->numbers, err) : NULL;
    int rc = -1;

    if (hearing) {
        number_hearing_begin(hearing);
        number_hearing_add(hearing, NUMBER_OUTPUT, words, length);
        number_hearing_add(hearing, NUMBER_ERRORS, s->errors.data, s->errors.length);
        rc = number_hearing_end(hearing, values, err);
    }
    number_hearing_free(hearing);
    free(words);
    return rc;
}

static int take_bench_numbers(const struct bench_call *call, const struct bench_said *s,
                              struct imported *out, struct error *err)
{
    double values[NUMBERS_MAX];

    if (take_bench_time(call, s->ns, out, err))
        return -1;
    if (hear_bench_numbers(call, s, values, err))
        return error_prefix(err, "%s: `%s`", call->place->who, call->bench->command);
    struct measurement *m = &out->records.items[0].m;
    for (size_t i = 0; i < call->numbers->nr; i++) {
        const struct number_spec *spec = &call->numbers->items[i];
        struct number *number = &m->numbers[m->nr_numbers];
        number->kind = number_kind_of(spec->name, spec->unit, spec->better, err);
        if (!number->kind)
            return -1;
        m->nr_numbers++;
        number->nr = 1;
        number->values = memory_zeroed(1, sizeof(*number->values));
        number->values[0] = values[i];
    }
    return 0;
}

static int read_bench_file(const struct bench_call *call, const struct import_options *how,
                           struct bench_said *s, struct imported *out, struct error *err)
{
    struct error ignored;
    size_t length = 0;

    if (import_file(s->out.path, how, out, err))
        return error_prefix(err, "%s: the result of `%s` cannot be read", call->place->who,
                            call->bench->command);
    if (out->format == IMPORT_GBENCH) {
        char *text = file_read(s->out.path, FILE_IMPORT_MOST, &length, &ignored);
        if (text)
            learn_bench_aliases(call->bench, text, length);
        free(text);
    }
    return 0;
}

/* What it wrote to its standard output, where that is a result. */
static int read_bench_words(const struct bench_call *call, const struct import_options *how,
                            struct bench_said *s, struct imported *out, struct error *err)
{
    bool must = how->format != IMPORT_ANY || call->bench->form == BENCH_SAID;

    if (import_parse(s->text.data, s->text.length, "its output", how, out, err) == 0) {
        if (out->format == IMPORT_GBENCH)
            learn_bench_aliases(call->bench, s->text.data, s->text.length);
        return 0;
    }
    return must ? error_prefix(err, "%s: `%s` wrote no $OUT, and", call->place->who,
                               call->bench->command)
                : -1;
}

static int take_bench_form(const struct bench_call *call, const struct import_options *how,
                           struct bench_said *s, struct imported *out, enum bench_form *form,
                           struct error *err)
{
    bool must = how->format != IMPORT_ANY || call->bench->form == BENCH_SAID;

    *form = BENCH_NUMBERS;
    if (call->numbers->nr > 0)
        return take_bench_numbers(call, s, out, err);
    *form = BENCH_FILE;
    if (bench_left_file(s))
        return read_bench_file(call, how, s, out, err);
    *form = BENCH_SAID;
    if (read_bench_words(call, how, s, out, err) == 0)
        return 0;
    if (must)
        return -1;
    imported_release(out);
    *out = (struct imported) { .format = IMPORT_ANY };
    *form = BENCH_TIME;
    return take_bench_time(call, s->ns, out, err);
}

static int check_bench_result(const struct bench_call *call, const struct imported *out,
                              enum bench_form form, struct error *err)
{
    static const char *const forms[] = { "", "a result in $OUT", "a result on its standard output",
                                         "no result, so its time counted", "numbers" };
    struct bench *b = call->bench;
    const char *who = call->place->who;

    if (b->form != BENCH_UNKNOWN && b->form != form)
        return error_set(err, "%s: `%s` gave %s before, and %s now", who, b->command,
                         forms[b->form], forms[form]);
    b->form = form;
    if (out->records.nr_runs != 1 || import_launches(&out->records, 0) > 1)
        return error_set(err,
                         "%s: `%s` gives several launches in one result; a call is to be one, so "
                         "that both sides can take turns",
                         who, b->command);
    if (out->records.nr == 0)
        return error_set(err, "%s: `%s` measured nothing", who, b->command);
    return 0;
}

/* Did it measure all that it was asked for, and no more? */
static bool bench_heeded(const struct bench_call *call, const struct imported *out)
{
    size_t nr = 0, there = 0;

    for (; call->wanted[nr]; nr++)
        for (size_t i = 0; i < out->records.nr; i++)
            there += strcmp(out->records.items[i].m.bench.key, call->wanted[nr]) == 0;
    return there == nr && out->records.nr == nr;
}

static int call_and_read_bench(const struct bench_call *call, struct imported *out,
                               struct error *err)
{
    const struct import_options how = {
        .format = call->format,
        .project = call->bench->named ? call->bench->name : NULL,
        .betters = call->betters,
        .is_word = number_is_word,
    };
    enum bench_form form = BENCH_UNKNOWN;
    struct bench_said s;

    *out = (struct imported) { .format = IMPORT_ANY };
    int rc = bench_said_init(&s, call, err);
    if (rc == 0)
        rc = start_bench(call, &s, err);
    bool ran = rc == 0;
    if (ran)
        rc = take_bench_form(call, &how, &s, out, &form, err);
    if (rc == 0 && s.filtered && !bench_heeded(call, out))
        call->bench->heeds_no_filter = true;
    if (rc == 0)
        rc = check_bench_result(call, out, form, err);
    bench_said_release(&s, ran && rc);
    return rc;
}

int bench_run(const struct bench_call *call, struct imported *out, struct error *err)
{
    static const struct number_specs none = { .nr = 0 };
    struct bench_call own = *call;
    struct number_specs numbers;

    number_specs_of(call->numbers ? call->numbers : &none, call->bench->name, &numbers);
    own.numbers = &numbers;
    int rc = call_and_read_bench(&own, out, err);
    array_release(&numbers);
    return rc;
}
