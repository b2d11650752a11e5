/* SPDX-License-Identifier: MIT */
#include "command/command_run.h"

#include "base/array.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "command/command_output.h"
#include "command/command_words.h"
#include "command/output_check.h"
#include "core/clock.h"
#include "core/record.h"
#include "process/counters.h"
#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The program ---- */

static bool is_program(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

/* The first of the folders of $PATH that has it; an empty one is the current folder. */
static char *search_path(const char *name)
{
    const char *path = getenv("PATH");
    char *copy = memory_string(path ? path : "/usr/local/bin:/usr/bin:/bin"), *rest = copy, *folder;
    char *found = NULL;
    struct strbuf candidate;

    strbuf_init(&candidate);
    while (!found && (folder = strsep(&rest, ":"))) {
        strbuf_clear(&candidate);
        strbuf_addf(&candidate, "%s/%s", *folder ? folder : ".", name);
        if (is_program(candidate.data))
            found = memory_string(candidate.data);
    }
    strbuf_release(&candidate);
    free(copy);
    return found;
}

char *command_find_program(const char *name, struct error *err)
{
    char *found = NULL;

    if (!*name) {
        error_set(err, "the name of the program is empty");
    } else if (!strchr(name, '/')) {
        found = search_path(name);
        if (!found)
            error_set(err, "there is no program \"%s\" on the PATH%s", name,
                      strchr(name, ' ') ? "; a whole line is for a shell: --shell sh" : "");
    } else if (access(name, F_OK)) {
        error_set(err, "%s: %s", name, strerror(errno));
    } else if (!is_program(name)) {
        error_set(err, "%s is no program, or may not be executed", name);
    } else {
        found = memory_string(name);
    }
    return found;
}

/* ---- A run ---- */

/* What a run cost beside its time. */
struct cost {
    double user_ms, system_ms;
    double preempted; /* times that it lost its processor to others */
    double rss;       /* bytes at most; 0: not known */
    double counts[COUNTER_NR];
};

struct running {
    const struct command_spec *spec;
    char **argv; /* with sizes in place; owned, as is the rest */
    char *program, *prepare, *conclude, *input;
    char *expect;   /* file name */
    char *expected; /* its content */
    size_t expected_length;
    struct command_output output;
    struct command_output_listener listener;
    struct number_hearing *hearing; /* NULL: no number is asked for */
    ARRAY(double) said;             /* of each run so far, a value for each metric */
    struct counters *counters;      /* NULL: nothing can be counted here */
    bool wrong;                     /* some run so far */
    struct error why;
    ARRAY(struct cost) costs; /* of each run so far */
};

/* ---- making ready ---- */

static char *with_parameters(const char *text, const struct call *call)
{
    return command_fill_all(call->kernel->config, call->variant, &call->shape, text);
}

static void fill_arguments(struct running *r, const struct call *call)
{
    const struct command_spec *spec = r->spec;

    r->argv = memory_zeroed(spec->argv.nr + 1, sizeof(*r->argv));
    for (size_t i = 0; i < spec->argv.nr; i++)
        r->argv[i] = with_parameters(spec->argv.items[i], call);
    r->prepare = with_parameters(spec->prepare, call);
    r->conclude = with_parameters(spec->conclude, call);
    r->input = with_parameters(spec->input, call);
    r->expect = with_parameters(spec->expect, call);
}

static void hear_numbers(void *context, bool errors, const char *bytes, size_t nr)
{
    struct running *r = context;

    number_hearing_add(r->hearing, errors ? NUMBER_ERRORS : NUMBER_OUTPUT, bytes, nr);
}

static int listen_for_numbers(struct running *r, struct error *err)
{
    if (r->spec->numbers.nr == 0)
        return 0;
    r->listener = (struct command_output_listener) { hear_numbers, r };
    r->hearing = number_hearing_create(&r->spec->numbers, err);
    return r->hearing ? 0 : -1;
}

static int fill_running(struct running *r, const struct call *call, struct error *err)
{
    fill_arguments(r, call);
    r->program = command_find_program(r->argv[0], err);
    if (!r->program)
        return -1;
    if (r->expect) {
        r->expected = output_expected(r->expect, &r->expected_length, err);
        if (!r->expected)
            return -1;
    }
    return listen_for_numbers(r, err) ||
                   command_output_open(&r->output, r->expect ? &r->expected_length : NULL,
                                       r->hearing ? &r->listener : NULL, err)
               ? -1
               : 0;
}

static void let_go(struct running *r)
{
    for (size_t i = 0; r->argv && r->argv[i]; i++)
        free(r->argv[i]);
    free(r->argv);
    free(r->program);
    free(r->prepare);
    free(r->conclude);
    free(r->input);
    free(r->expect);
    free(r->expected);
    command_output_close(&r->output);
    number_hearing_free(r->hearing);
    counters_close(r->counters);
    array_release(&r->said);
    array_release(&r->costs);
    free(r);
}

int command_prepare(struct call *call, struct error *err)
{
    struct running *r = memory_zeroed(1, sizeof(*r));
    struct error why; /* then counts are absent */

    r->spec = ((const struct command_guest *)call->kernel->config)->spec;
    r->output = command_output_none;
    if (fill_running(r, call, err)) {
        let_go(r);
        return -1;
    }
    r->counters = counters_open(COUNT_PROGRAMS, NULL, &why);
    call->state = r;
    return 0;
}

void command_release(struct call *call)
{
    let_go(call->state);
    call->state = NULL;
}

/* ---- one run ---- */

/* A process to be. It stays in the process group of the launch, so that whoever ends that ends it,
 * too. What this program ignores or holds back is nothing for it to inherit. */
struct start {
    const char *program;
    char *const *argv;
    const char *input; /* NULL: empty */
    int out, errors;   /* out -1: nobody looks */
};

/* Its descriptors; 0, or the error's number. */
static int set_descriptors(const struct start *s, posix_spawn_file_actions_t *actions)
{
    int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
                                              s->input ? s->input : "/dev/null", O_RDONLY, 0);

    if (rc)
        return rc;
    rc = s->out >= 0
             ? posix_spawn_file_actions_adddup2(actions, s->out, STDOUT_FILENO)
             : posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    return rc ? rc : posix_spawn_file_actions_adddup2(actions, s->errors, STDERR_FILENO);
}

/* 0, or the error's number: without one of its descriptors it would have those of the launch, and
 * be timed at other work. */
static int prepare_spawn(const struct start *s, posix_spawn_file_actions_t *actions,
                         posix_spawnattr_t *attributes)
{
    int rc = process_signals_as_usual(attributes);
    int made = posix_spawn_file_actions_init(actions);

    if (made == 0)
        made = set_descriptors(s, actions);
    return rc ? rc : made;
}

static int time_process(const struct start *s, struct command_output *output, uint64_t *ns,
                        int *status, struct rusage *usage, struct error *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int ended = 0;
    pid_t pid;

    int rc = prepare_spawn(s, &actions, &attributes);
    uint64_t start = clock_ns();
    if (rc == 0)
        rc = posix_spawn(&pid, s->program, &actions, &attributes, s->argv, environ);
    if (rc == 0)
        ended = command_output_wait(output, pid, status, usage);
    *ns = clock_ns() - start;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (rc)
        return error_set(err, "cannot start %s: %s", s->argv[0], strerror(rc));
    return ended < 0 ? error_set(err, "cannot tell how %s ended: %s", s->argv[0], strerror(errno))
                     : 0;
}

/* May a run end with this status? `spec` NULL: with 0 alone. */
static bool is_fine(const struct command_spec *spec, int status)
{
    bool fine = status == 0 || (spec && spec->ignore_status);

    for (size_t i = 0; spec && i < spec->ignored.nr; i++)
        fine |= spec->ignored.items[i] == status;
    return fine;
}

static int check_end(const char *who, int status, struct command_output *output,
                     const struct command_spec *spec, struct error *err)
{
    if (WIFEXITED(status) && is_fine(spec, WEXITSTATUS(status)))
        return 0;
    const char *words = command_output_last_words(output);
    if (WIFSIGNALED(status))
        return error_set(err, "%s died by signal %d (%s)%s%s", who, WTERMSIG(status),
                         strsignal(WTERMSIG(status)), *words ? ": " : "", words);
    return error_set(err, "%s exited with status %d%s%s", who, WEXITSTATUS(status),
                     *words ? ": " : "", words);
}

/* Before a run or behind it; `line` NULL: nothing. */
static int run_beside(struct running *r, const char *option_name, char *line, struct error *err)
{
    char shell[] = "sh", option[] = "-c";
    char *argv[] = { shell, option, line, NULL };
    const struct start start = { "/bin/sh", argv, NULL, -1, r->output.errors[1] };
    struct rusage usage;
    uint64_t ns;
    int status;

    if (!line)
        return 0;
    command_output_clear(&r->output);
    if (time_process(&start, &r->output, &ns, &status, &usage, err))
        return -1;
    return check_end(option_name, status, &r->output, NULL, err);
}

/* One that was ended for what it said has not failed: that is wrong. */
static int run_program(struct running *r, uint64_t *ns, struct rusage *usage,
                       double counts[COUNTER_NR], struct error *err)
{
    const struct start start = { r->program, r->argv, r->input, r->output.out[1],
                                 r->output.errors[1] };
    int status;

    command_output_clear(&r->output);
    if (r->hearing)
        number_hearing_begin(r->hearing);
    counters_begin(r->counters);
    int rc = time_process(&start, &r->output, ns, &status, usage, err);
    counters_end(r->counters, counts);
    if (rc)
        return -1;
    if (r->output.too_much)
        return 0;
    return check_end(r->argv[0], status, &r->output, r->spec, err);
}

static double timeval_ms(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec * 1e-3;
}

/* Until it executes the program a child counts as large as this process, and the largest stays: a
 * smaller one's size is not known. */
static void keep_cost(struct running *r, const struct rusage *usage,
                      const double counts[COUNTER_NR])
{
    struct rusage own;
    struct cost *cost = array_push(&r->costs);

    getrusage(RUSAGE_SELF, &own);
    *cost = (struct cost) {
        .user_ms = timeval_ms(usage->ru_utime),
        .system_ms = timeval_ms(usage->ru_stime),
        .preempted = (double)usage->ru_nivcsw,
        .rss = usage->ru_maxrss > own.ru_maxrss ? 1024 * (double)usage->ru_maxrss : 0,
    };
    memcpy(cost->counts, counts, sizeof(cost->counts));
}

static void check_output(struct running *r)
{
    const struct strbuf *said = command_output_said(&r->output);

    r->wrong = r->expect && !output_check(said->data, said->length, r->expected, r->expected_length,
                                          r->expect, &r->why);
}

/* What is wrong anyway need not say anything. */
static int keep_numbers(struct running *r, struct error *err)
{
    double values[NUMBERS_MAX];

    if (!r->hearing || r->wrong)
        return 0;
    command_output_said(&r->output);
    command_output_last_words(&r->output);
    if (number_hearing_end(r->hearing, values, err))
        return -1;
    for (size_t i = 0; i < r->spec->numbers.nr; i++)
        *array_push(&r->said) = values[i];
    return 0;
}

int command_execute(const struct call *call, uint64_t *ns, struct error *err)
{
    struct running *r = call->state;
    double counts[COUNTER_NR];
    struct rusage usage;

    if (run_beside(r, "--prepare", r->prepare, err) || run_program(r, ns, &usage, counts, err))
        return -1;
    if (!r->wrong)
        check_output(r);
    if (keep_numbers(r, err))
        return -1;
    keep_cost(r, &usage, counts);
    if (run_beside(r, "--conclude", r->conclude, err))
        return -1;
    *(float *)call->tensor[0].data = r->wrong ? 1 : 0;
    return 0;
}

const char *command_explain(const struct call *call)
{
    const struct running *r = call->state;

    return r->why.message;
}

/* The last runs are the timed ones. */
static void add_numbers(const struct running *r, struct measurement *m)
{
    size_t nr = r->spec->numbers.nr, runs = nr ? r->said.nr / nr : 0;
    struct error ignored; /* the spec was checked */

    for (size_t i = 0; i < nr && runs >= m->nr_samples; i++) {
        const struct number_spec *spec = &r->spec->numbers.items[i];
        struct number *number = &m->numbers[m->nr_numbers];
        number->kind = number_kind_of(spec->name, spec->unit, spec->better, &ignored);
        if (!number->kind)
            continue;
        m->nr_numbers++;
        number->nr = m->nr_samples;
        number->values = memory_zeroed(number->nr ? number->nr : 1, sizeof(*number->values));
        for (size_t v = 0; v < number->nr; v++)
            number->values[v] = r->said.items[(runs - number->nr + v) * nr + i];
        number_keep(number);
    }
}

/* The mean of the timed runs, where each was counted. */
static void add_counts(const struct running *r, struct measurement *m)
{
    for (int c = 0; c < COUNTER_NR; c++) {
        double sum = 0;
        for (size_t i = r->costs.nr - m->nr_samples; i < r->costs.nr; i++)
            sum += r->costs.items[i].counts[c];
        measurement_add_telemetry(m, counter_name((enum counter)c), sum / (double)m->nr_samples);
    }
}

void command_facts(const struct call *call, struct measurement *m)
{
    const struct running *r = call->state;
    double nr = (double)m->nr_samples, user = 0, system = 0, preempted = 0, rss = 0;

    for (size_t i = r->costs.nr - m->nr_samples; i < r->costs.nr; i++) {
        const struct cost *c = &r->costs.items[i];
        user += c->user_ms / nr;
        system += c->system_ms / nr;
        preempted += c->preempted / nr;
        rss = c->rss > rss ? c->rss : rss;
    }
    measurement_add_telemetry(m, "command_user_ms", user);
    measurement_add_telemetry(m, "command_system_ms", system);
    measurement_add_telemetry(m, "command_involuntary_switches", preempted);
    if (rss > 0)
        measurement_add_telemetry(m, "command_max_rss_bytes", rss);
    add_counts(r, m);
    add_numbers(r, m);
}
