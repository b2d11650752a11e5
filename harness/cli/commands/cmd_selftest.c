/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/render/selftest_report.h"
#include "cli/shared_options.h"
#include "core/clock.h"
#include "machine/environment.h"
#include "session/history_file.h"
#include "session/measure/ab_session.h"
#include "session/measure/selftest_trials.h"
#include "stats/random.h"
#include "store/verdicts.h"
#include "terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct selftest_options {
    struct workload_options what;
    const char *db;
    struct string_list sizes;
    int64_t aa, repeats, launches, iterations, seed;
    double delta, max_time;
    bool power, ab, cost, placement, json;
    struct measuring measuring;
};

enum { TESTS = 2, REPEATS = 3 };

struct testing {
    struct selftest_options *o;
    struct workload workload;
    struct store *history, *planted;
    struct machine machine;
    struct trials trials;
    struct selftest tests[TESTS];
    size_t nr_tests, kept;
    struct selftest_cost *costs; /* of each benchmark of the workload, with --cost */
    struct progress progress;
};

static int check_selftest_options(const struct selftest_options *o, struct error *err)
{
    if (!o->aa && !o->power && !o->cost && !o->placement)
        return error_set(
            err,
            "give --aa N (comparisons with nothing changed), --power (with "
            "planted slow-downs), or both; or --cost (the time of a decision), or --placement "
            "(what moves by luck)");
    if ((o->cost || o->placement) && (o->aa || o->power || o->ab || (o->cost && o->placement)))
        return error_set(err, "%s is a test of its own: leave out the others",
                         o->cost ? "--cost" : "--placement");
    if (o->repeats && !o->power)
        return error_set(err, "--repeats is of --power");
    if (o->sizes.nr && !o->power && !o->cost)
        return error_set(err, "--plant is of --power");
    if (o->measuring.budget > 0 && !o->ab && !o->cost && !o->placement)
        return error_set(err, "--budget is of --ab: without it all launches are made");
    return 0;
}

static int choose_selftest_workload(struct testing *s, char **filters, int nr, struct error *err)
{
    const struct selftest_options *o = s->o;
    struct suite *suite = &s->workload.suite;

    if (workload_make(&s->workload, &o->what, filters, nr, o->cost ? "cost" : "ci", err))
        return -1;
    if ((o->power || o->cost) && s->workload.device.kind == DEVICE_CUDA)
        return error_set(err, "--power plants its slow-downs on the CPU alone; use --aa on %s",
                         s->workload.device.label);
    if (o->launches)
        suite->launches = (int)o->launches;
    else if (o->ab)
        suite->launches = AB_BLOCKS_MAX * AB_LAUNCHES;
    if (o->iterations)
        suite->sampling.iterations = o->iterations;
    if (o->max_time > 0) {
        suite->sampling.max_time = o->max_time;
        if (suite->sampling.min_time > o->max_time)
            suite->sampling.min_time = o->max_time;
    }
    return 0;
}

/* Runs in which something is planted go into a file of their own: they are nobody's history. */
static int open_selftest_files(struct testing *s, struct error *err)
{
    const struct store_teller tell = history_teller(&terminal_notes);
    struct strbuf path, sibling;
    int rc = 0;

    strbuf_init(&path);
    strbuf_init(&sibling);
    history_path(s->o->db, &path);
    history_sibling(path.data, "selftest.db", &sibling);
    if ((s->o->power || s->o->cost) &&
        (strcmp(path.data, sibling.data) == 0 || file_is_same(path.data, sibling.data)))
        rc = error_set(err,
                       "%s is where --power puts its planted runs, so it cannot be the history, "
                       "too: give another --db",
                       path.data);
    if (rc == 0)
        rc = history_open(&s->history, s->o->db, STORE_WRITE, err);
    if (rc == 0 && (s->o->power || s->o->cost))
        rc = store_open_telling(&s->planted, sibling.data, STORE_WRITE, &tell, err);
    strbuf_release(&path);
    strbuf_release(&sibling);
    return rc;
}

static bool has_planted_size(const struct trials *t, double size)
{
    for (size_t i = 0; i < t->nr_sizes; i++)
        if (t->sizes[i] == size)
            return true;
    return false;
}

static int set_planted_sizes(struct trials *t, const struct string_list *sizes, struct error *err)
{
    if (sizes->nr == 0)
        trials_usual_sizes(t);
    for (size_t i = 0; i < sizes->nr; i++) {
        double size;
        if (text_parse_fraction(sizes->items[i], "--plant", &size, err))
            return -1;
        if (!(size > 0))
            return error_set(err, "--plant: a slow-down of 0 cannot be found; --aa plants nothing");
        if (has_planted_size(t, size))
            continue;
        if (t->nr_sizes == SELFTEST_SIZES_MAX)
            return error_set(err, "--plant: at most %d sizes", SELFTEST_SIZES_MAX);
        t->sizes[t->nr_sizes++] = size;
    }
    return 0;
}

static int set_selftest_trials(struct testing *s, struct error *err)
{
    const struct selftest_options *o = s->o;

    s->trials = (struct trials) {
        .workload = &s->workload,
        .compare = COMPARE_DEFAULTS,
        .interleaved = o->ab,
        .measuring = o->measuring,
        .seed = o->seed ? (uint64_t)o->seed : random_fresh_seed(),
    };
    if (o->delta > 0)
        s->trials.compare.delta = o->delta;
    return set_planted_sizes(&s->trials, &o->sizes, err);
}

static int selftest_repeats(const struct testing *s)
{
    return s->o->repeats ? (int)s->o->repeats : REPEATS;
}

static void tell_selftest_plan(const struct testing *s)
{
    int aa = (int)s->o->aa, power = s->o->power ? (int)s->trials.nr_sizes * selftest_repeats(s) : 0;
    int runs = 2 * power + (aa ? s->o->ab ? 2 * aa : aa + 1 : 0);
    char time[TRIALS_TIME_SIZE];

    size_t nr = s->workload.list.nr;
    terminal_note("%d comparison%s of %zu benchmark%s with %s%d launches a side: %sabout %s\n",
                  aa + power, aa + power == 1 ? "" : "s", nr, nr == 1 ? "" : "s",
                  s->o->ab ? "at most " : "", trials_launches(&s->trials),
                  s->o->ab ? "at most " : "", trials_time(trials_seconds(&s->trials, runs), time));
}

static void describe_selftest(const struct testing *s, char **filters, int nr, struct selftest *t)
{
    struct strbuf text;

    strbuf_init(&text);
    if (s->workload.suite.name[0])
        strbuf_addf(&text, "suite %s", s->workload.suite.name);
    for (int i = 0; i < nr; i++)
        strbuf_addf(&text, "%s%s", i ? " " : "", filters[i]);
    snprintf(t->what, sizeof(t->what), "%s", text.length ? text.data : "a selection");
    strbuf_release(&text);
}

/* What was shown holds for this machine and device, and for the rule of this program. Takes the
 * tree. */
static int keep_selftest_result(struct testing *s, const char *kind, cJSON *result,
                                struct error *err)
{
    struct store_selftest row = { .tested_ms = clock_epoch_ms(), .rule = COMPARE_RULE };

    snprintf(row.machine, sizeof(row.machine), "%s", s->machine.class_name);
    snprintf(row.device, sizeof(row.device), "%s", s->workload.device.label);
    snprintf(row.kind, sizeof(row.kind), "%s", kind);
    row.result = json_take_text(result);
    int rc = store_selftest_add(s->history, &row, err);
    store_selftest_release(&row);
    s->kept += rc == 0;
    return rc;
}

/* Where nothing was judged, nothing was shown: an earlier test still stands. */
static int keep_selftest(struct testing *s, const struct selftest *t, struct error *err)
{
    return selftest_tells(t) ? keep_selftest_result(s, t->kind, selftest_to_json(t), err) : 0;
}

static int measure_selftests(struct testing *s, char **filters, int nr, struct error *err)
{
    tell_selftest_plan(s);
    for (int i = 0; i < TESTS; i++) {
        struct selftest *t = &s->tests[s->nr_tests];
        bool power = i == 1;
        if (power ? !s->o->power : s->o->aa == 0)
            continue;
        describe_selftest(s, filters, nr, t);
        s->trials.store = power ? s->planted : s->history;
        int rc = power ? trials_power(&s->trials, selftest_repeats(s), t, err)
                       : trials_aa(&s->trials, (int)s->o->aa, t, err);
        s->nr_tests += rc == 0 || (*s->o->measuring.interrupted && selftest_tells(t));
        if (rc || keep_selftest(s, t, err))
            return -1;
    }
    return 0;
}

/* The gate is judged by the last test: by what was planted, if anything was. */
static int selftest_exit_status(const struct testing *s)
{
    char text[SELFTEST_TEXT_SIZE];
    const struct selftest *last = &s->tests[s->nr_tests - 1];
    bool fine = selftest_gate(last, last->delta, text) == SELFTEST_CARRIES;

    for (size_t i = 0; i < s->nr_tests; i++)
        fine = fine && selftest_quiet(&s->tests[i]);
    return fine ? EXIT_SAME : EXIT_UNDECIDED;
}

static int print_selftests_json(const struct testing *s, int status, struct error *err)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "schema_version", 1);
    json_add_int(json, "rule", COMPARE_RULE);
    json_add_string(json, "machine", s->machine.class_name);
    json_add_string(json, "device", s->workload.device.label);
    cJSON *tests = cJSON_AddArrayToObject(json, "tests");
    for (size_t i = 0; i < s->nr_tests; i++)
        cJSON_AddItemToArray(tests, selftest_to_json(&s->tests[i]));
    json_add_int(json, "exit_status", status);
    return output_json(json, NULL, err);
}

static void tell_where_kept(const struct testing *s, struct strbuf *out)
{
    strbuf_addf(out, "Kept for %s, %s in %s\n", s->machine.class_name, s->workload.device.label,
                store_path(s->history));
}

static int print_selftest_tables(const struct testing *s, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < s->nr_tests; i++) {
        selftest_report(&s->tests[i], terminal_width(), terminal_colour(), &text);
        strbuf_addc(&text, '\n');
    }
    if (*s->o->measuring.interrupted)
        strbuf_adds(&text, "Not kept: the last test was interrupted.\n");
    else if (s->kept)
        tell_where_kept(s, &text);
    else
        strbuf_adds(&text, "Not kept: nothing was judged.\n");
    int rc = output_page(&text, NULL, err);
    strbuf_release(&text);
    return rc;
}

static int conclude_selftests(const struct testing *s, int status, struct error *err)
{
    int rc = s->o->json ? print_selftests_json(s, status, err) : print_selftest_tables(s, err);

    return rc ? -1 : status;
}

/* What was compared until then is shown: an earlier test that ended says more. A program that reads
 * JSON gets some in any case. */
static int conclude_interrupted(const struct testing *s, struct error *err)
{
    int status = 128 + (int)*s->o->measuring.interrupted;

    terminal_note("interrupted: the runs are kept, the rates of this test are not%s\n",
                  s->nr_tests ? "; what was compared shows:" : "");
    return s->nr_tests || s->o->json ? conclude_selftests(s, status, err) : status;
}

static int print_costs_json(const struct testing *s, struct error *err)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "schema_version", 1);
    json_add_int(json, "rule", COMPARE_RULE);
    json_add_string(json, "machine", s->machine.class_name);
    json_add_string(json, "device", s->workload.device.label);
    cJSON *costs = cJSON_AddArrayToObject(json, "costs");
    for (size_t i = 0; i < s->workload.list.nr; i++)
        cJSON_AddItemToArray(costs, selftest_cost_to_json(&s->costs[i]));
    return output_json(json, NULL, err);
}

static int print_cost_tables(const struct testing *s, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    costs_report(s->costs, s->workload.list.nr, terminal_width(), terminal_colour(), &text);
    int rc = output_page(&text, NULL, err);
    strbuf_release(&text);
    return rc;
}

/* What is planted goes where the planted runs of --power go. */
static int run_costs(struct testing *s, struct error *err)
{
    size_t nr = s->workload.list.nr;

    s->costs = memory_zeroed(nr, sizeof(*s->costs));
    s->trials.store = s->planted;
    if (costs_measure(&s->trials, s->costs, err))
        return -1;
    int rc = s->o->json ? print_costs_json(s, err) : print_cost_tables(s, err);
    if (rc)
        return -1;
    return costs_fine(s->costs, nr) ? EXIT_SAME : EXIT_UNDECIDED;
}

static int print_placement_parts(const struct testing *s, const struct placement_part *parts,
                                 size_t nr, struct error *err)
{
    struct strbuf text;

    if (s->o->json) {
        cJSON *json = placement_to_json(parts, nr);
        json_add_int(json, "schema_version", 1);
        json_add_string(json, "machine", s->machine.class_name);
        json_add_string(json, "device", s->workload.device.label);
        return output_json(json, NULL, err);
    }
    strbuf_init(&text);
    placements_report(parts, nr, terminal_width(), terminal_colour(), &text);
    strbuf_addc(&text, '\n');
    tell_where_kept(s, &text);
    int rc = output_page(&text, NULL, err);
    strbuf_release(&text);
    return rc;
}

static int run_placement(struct testing *s, struct error *err)
{
    struct placement_part *parts = memory_zeroed(s->workload.list.nr, sizeof(*parts));
    size_t nr = 0;

    s->trials.store = s->history;
    int rc = placements_measure(&s->trials, parts, &nr, err);
    if (rc == 0)
        rc = keep_selftest_result(s, PLACEMENTS_KIND, placement_to_json(parts, nr), err);
    if (rc == 0)
        rc = print_placement_parts(s, parts, nr, err);
    free(parts);
    return rc ? -1 : EXIT_SAME;
}

static int run_selftests(struct testing *s, int argc, char **argv, struct error *err)
{
    if (check_selftest_options(s->o, err) || choose_selftest_workload(s, argv, argc, err) ||
        set_selftest_trials(s, err) || open_selftest_files(s, err) ||
        environment_machine(&s->machine, err))
        return -1;
    if (s->o->cost || s->o->placement) {
        int rc = s->o->cost ? run_costs(s, err) : run_placement(s, err);
        if (rc >= 0 || !*s->o->measuring.interrupted)
            return rc;
        terminal_note("interrupted: nothing is told\n");
        return 128 + (int)*s->o->measuring.interrupted;
    }
    if (measure_selftests(s, argv, argc, err))
        return *s->o->measuring.interrupted ? conclude_interrupted(s, err) : -1;
    return conclude_selftests(s, selftest_exit_status(s), err);
}

static int run_selftest(int argc, char **argv, void *options, struct error *err)
{
    struct testing s = { .o = options };

    progress_attach(&s.progress, &s.o->measuring, true);
    int rc = run_selftests(&s, argc, argv, err);

    store_close(s.history);
    store_close(s.planted);
    free(s.costs);
    workload_release(&s.workload);
    return rc;
}

static const struct option_row rows[] = {
    OPTION_RANGE_ROW("aa", 0, OPTION_INT, struct selftest_options, aa, 1, 1000, "N",
                     "N comparisons of this program with itself: the rate of false alarms"),
    OPTION_ROW("power", 0, OPTION_FLAG, struct selftest_options, power, NULL,
               "slow-downs of 1, 2, 5 and 10 % planted in a tenth of the benchmarks: are they "
               "found?"),
    OPTION_RANGE_ROW("repeats", 0, OPTION_INT, struct selftest_options, repeats, 1, 1000, "N",
                     "comparisons of each size with --power (default 3)"),
    OPTION_ROW("plant", 0, OPTION_STRINGS, struct selftest_options, sizes, "SHARE,...",
               "the slow-downs of --power and --cost (default 1%,2%,5%,10%)"),
    OPTION_ROW("cost", 0, OPTION_FLAG, struct selftest_options, cost, NULL,
               "how long until `compare --build` calls a slow-down of 1, 2, 5, 10 %"),
    OPTION_ROW("placement", 0, OPTION_FLAG, struct selftest_options, placement, NULL,
               "how much results change when only the placement in memory changes"),
    OPTION_ROW("ab", 0, OPTION_FLAG, struct selftest_options, ab, NULL,
               "both sides in turn, as `compare --build` does; else run after run"),
    OPTION_ROW("delta", 0, OPTION_FRACTION, struct selftest_options, delta, "SHARE",
               "the gate asked of this machine (default 3%)"),
    OPTION_RANGE_ROW("launches", 'l', OPTION_INT, struct selftest_options, launches, 1, 1000, "N",
                     "fresh processes a side (default: the suite's, else 3; with --ab at most 80)"),
    OPTION_ROW("budget", 0, OPTION_DURATION, struct selftest_options, measuring.budget, "TIME",
               "most time of one comparison with --ab (default none) or --cost (1m)"),
    OPTION_RANGE_ROW("iterations", 0, OPTION_INT, struct selftest_options, iterations, 1, 1000000,
                     "N", "exactly N samples each, instead of the adaptive stop"),
    OPTION_ROW("max-time", 0, OPTION_DURATION, struct selftest_options, max_time, "TIME",
               "most measured time a benchmark and launch"),
    TIMEOUT_ROW(struct selftest_options, measuring),
    NO_REPEAT_ROW(struct selftest_options, measuring),
    MEMORY_LIMIT_ROW(struct selftest_options, measuring),
    OPTION_RANGE_ROW("seed", 0, OPTION_INT, struct selftest_options, seed, 1, INT64_MAX, "N",
                     "of what is planted where (default: fresh)"),
    WORKLOAD_OPTION_ROWS(struct selftest_options, what, "ci", 'b'),
    PARAM_ROW(struct selftest_options, what),
    DB_ROW(struct selftest_options, db),
    JSON_ROW(struct selftest_options, json),
    OPTION_END,
};

extern const struct command cmd_selftest;
const struct command cmd_selftest = {
    .name = "selftest",
    .arguments = "[FILTER...]",
    .summary = "measure the false alarms of comparisons here, and the changes they find",
    .details =
        "  harness selftest --aa 20\n"
        "  harness selftest --power --delta 2%\n"
        "  harness selftest --aa 5 --power --ab --budget 120s 'gemm/*'\n"
        "  harness selftest --cost                       kernels of 10 us, 1 ms and 100 ms\n"
        "\n"
        "Real runs on this machine. --aa compares runs in which nothing changed, consecutive\n"
        "ones of N + 1, labelled \"selftest\" in the history. --power plants slow-downs of known\n"
        "size by extra arithmetic after each launch; those runs go to selftest.db beside the\n"
        "history. Rates have intervals of 95 % (Clopper and Pearson). The rates are kept for\n"
        "this machine class and device, and `compare` warns where it is asked for a gate that\n"
        "the machine cannot carry: one where a change of twice the floor is not found 4 times\n"
        "in 5.\n"
        "\n"
        "--cost measures each benchmark of suite cost alone, or of yours: blocks of the same\n"
        "against itself, from which comparisons are simulated until 9 in 10 call a slow-down,\n"
        "and one real comparison of each size, with a floor of half of it.\n"
        "\n"
        "--placement measures each benchmark in blocks twice: with fixed addresses, and with new\n"
        "addresses of stack, heap and code in each launch, as all other commands do. The part\n"
        "of the noise that the second adds is kept. `compare` calls no change below twice of it.\n"
        "\n"
        "Exit status: 0 the machine carries the gate and raises no more false alarms than it\n"
        "may, 77 it cannot, or nobody can tell, 2 usage or failure.",
    .options = rows,
    .options_size = sizeof(struct selftest_options),
    .run = run_selftest,
};
